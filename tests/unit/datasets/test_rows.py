"""Certificates as rows of Parquet, in storage of several kinds, and the commands that pack and unpack them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from click.testing import CliRunner
from support.cases import every
from support.commands import in_process

from verale.cli.audit import command as audit
from verale.cli.export import certificates
from verale.datasets import storage
from verale.datasets.rows import (
    ParquetRows,
    _group,
    certificates_schema,
    load_parquet,
    packed_certificates,
    row_of,
    write_rows,
)
from verale.errors import InputError
from verale.files import is_dataset
from verale.head import as_patches


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(certificates, [str(one) for one in arguments], catch_exceptions=False)
    return done.exit_code, done.stderr


@pytest.fixture
def files(given, tmp_path: Path) -> Path:
    """The certificates as files, and one that is invalid."""
    folder = tmp_path / "files"
    folder.mkdir()
    for number, data in enumerate(given.certificates):
        (folder / f"{number:06d}.ale.json").write_bytes(data)
    (folder / "bad.ale.json").write_bytes(b"\xff{")
    return folder


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "files.json"}


def test_packed_and_unpacked_every_byte_is_the_same(files, tmp_path):
    assert run("pack", files, "--out", tmp_path / "all.parquet") == (0, f"41 certificates in {tmp_path}/all.parquet\n")
    assert run("unpack", tmp_path / "all.parquet", "--out", tmp_path / "again") == (
        0,
        f"41 certificates in {tmp_path}/again\n",
    )
    assert content(tmp_path / "again") == content(files)
    table = pq.read_table(tmp_path / "all.parquet").to_pydict()
    assert table["index"] == [*range(40), None]
    assert table["predicted"][:40] != [None] * 40 and table["predicted"][40] is None
    assert pq.ParquetFile(tmp_path / "all.parquet").metadata.num_row_groups == 2


def test_nothing_is_replaced_unless_it_is_said(files, tmp_path):
    out = tmp_path / "all.parquet"
    run("pack", files, "--out", out)
    with pytest.raises(InputError, match=r"all\.parquet: already exists"):
        run("pack", files, "--out", out)
    (files / "bad.ale.json").unlink()
    assert run("pack", files, "--out", out, "--overwrite") == (0, f"40 certificates in {out}\n")
    with pytest.raises(InputError, match=r"already exists; verale did not write it, or"):
        run("unpack", out, "--out", files)
    assert run("unpack", out, "--out", files, "--overwrite")[0] == 0, "they have the same bytes"
    (files / "000007.ale.json").write_bytes(b"mine")
    with pytest.raises(
        InputError, match=r"000007\.ale\.json: already exists; verale did not write it, or it was changed"
    ):
        run("unpack", out, "--out", files, "--overwrite")
    assert (files / "000007.ale.json").read_bytes() == b"mine"


@every("field", [("predicted", 2**70), ("paradigm", "\ud800"), ("statements", 1), ("margins", [])])
def test_what_parquet_cannot_hold_is_left_out(field, given):
    certificate = json.loads(given.certificates[0])
    certificate["predicate"] |= dict([field])
    data = json.dumps(certificate).encode()
    row = row_of("a.ale.json", data)
    assert row.keys() == {"name", "sha256", "certificate"} and row["certificate"] == data


@every(
    "name",
    [
        *("../a.ale.json", "/tmp/a.ale.json", "a/b.ale.json", "a\\b.ale.json", "c:a.ale.json", "..", "."),
        *(".ale.json", ".a.ale.json", "-a.ale.json", "--head=a.ale.json"),
        *("multiprocessing.py", ".envrc", "a.ale.json.py", "a.ale.jsoN", "a"),
        *("a\n.ale.json", "a\0.ale.json", "\u202ea.ale.json", "x" * 192 + ".ale.json", "é" * 97 + ".ale.json"),
    ],
)
def test_a_name_that_no_certificate_has_is_refused_before_anything_is_written(name, tmp_path):
    write_rows(str(tmp_path / "all.parquet"), [row_of("good.ale.json", b""), row_of(name, b"")])
    with pytest.raises(
        InputError, match="expected the plain name of a file, short and printable, that ends in"
    ) as said:
        run("unpack", tmp_path / "all.parquet", "--out", tmp_path / "out")
    assert len(str(said.value)) < 400 + len(str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["all.parquet"]


@pytest.mark.parametrize("names", [("a.ale.json", "A.ale.json"), ("\u00e9.ale.json", "e\u0301.ale.json")])
def test_names_that_are_one_on_some_systems_are_refused(names, tmp_path):
    write_rows(str(tmp_path / "all.parquet"), [row_of(name, b"") for name in names])
    with pytest.raises(InputError, match="which would replace each other"):
        run("unpack", tmp_path / "all.parquet", "--out", tmp_path / "out")
    for name in names:
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match="is not the only"):
        run("pack", *(tmp_path / name for name in names), "--out", tmp_path / "packed.parquet")
    (tmp_path / "a.py").write_bytes(b"{}")
    with pytest.raises(InputError, match=r"a\.py: has a name that nobody can unpack"):
        run("pack", tmp_path / "a.py", "--out", tmp_path / "packed.parquet")
    with pytest.raises(InputError, match="nowhere: there is no such file; expected a certificate"):
        run("pack", tmp_path / "nowhere", "--out", tmp_path / "packed.parquet")
    assert not (tmp_path / "out").exists() and not (tmp_path / "packed.parquet").exists()


def test_what_lies_beside_is_not_replaced_unless_it_is_said(tmp_path):
    (tmp_path / "set").mkdir()
    write_rows(str(tmp_path / "set" / "a.parquet"), [{"name": "a.ale.json", "certificate": b"{}"}])
    (tmp_path / "set" / "head.safetensors").write_bytes(b"head")
    out, name = tmp_path / "out", "head.safetensors"
    out.mkdir()
    (out / name).write_bytes(b"mine")
    with pytest.raises(InputError, match=f"{name}: already exists"):
        run("unpack", tmp_path / "set", "--out", out)
    with pytest.raises(InputError, match=f"{name}: already exists; verale did not write it, or it was changed since"):
        run("unpack", tmp_path / "set", "--out", out, "--overwrite")
    assert content(out) == {name: b"mine"}
    (out / name).unlink()
    assert run("unpack", tmp_path / "set", "--out", out)[0] == 0
    again = content(out)
    assert again["head.safetensors"] == b"head" and set(again) == {"a.ale.json", "head.safetensors"}
    (out / "a.ale.json").unlink()
    assert run("unpack", tmp_path / "set", "--out", out)[0] == 0 and content(out) == again


def test_a_dataset_is_audited_as_a_folder_is(files, given, tmp_path):
    run("pack", files, "--out", tmp_path / "all.parquet")
    log = tmp_path / "report.json"
    printed = []
    for path in (files, tmp_path / "all.parquet"):
        options = [str(path), "--head", given.head, "--log", str(log)]
        done = CliRunner().invoke(audit, options, catch_exceptions=False)
        assert done.exit_code == 5
        assert done.stdout.count("  taken from the audit log\n") == (41 if printed else 0)
        printed.append(done.stdout.replace(str(path), "").replace("  taken from the audit log", "").splitlines())
    assert printed[0] == printed[1]
    assert len(printed[0]) == 41
    assert done.stderr == f"41 of 41 verdicts are taken from {log}\n"
    again = CliRunner().invoke(audit, [*options[:3], "--jobs", "2"], catch_exceptions=False)
    assert again.stdout.replace(str(path), "").splitlines() == printed[0], "without the log"


def test_no_two_rows_are_called_alike(tmp_path):
    """Neither by a name that several have, nor by one that looks like a label, nor by a path."""
    given = [["a", None, "a"], ["a#0", "/b", "b"], ["000001.ale.json", "c", "x#9"]]
    write_rows(f"{tmp_path}/twice.parquet", [{"name": "a.ale.json", "certificate": b""}] * 2)
    (tmp_path / "set").mkdir()
    for number, names in enumerate(given):
        rows = [{"name": name, "certificate": b""} for name in names]
        write_rows(f"{tmp_path}/set/{number}.parquet", rows)
    packed, _ = packed_certificates(f"{tmp_path}/set")
    assert [(len(one.rows.groups), one.read()) for one in packed] == [(1, b"")] * 9, "a process gets no more than that"
    labels = [one.name.removeprefix(f"{tmp_path}/set/") for one in packed]
    assert labels[:5] == ["a#0", "000001.ale.json#1", "a#2", "a#0#3", "b#4"]
    assert labels[5:] == ["b#5", "000001.ale.json#6", "c", "x#9#8"]
    with pytest.raises(InputError, match=r"has several certificates called 'a\.ale\.json', which would replace"):
        run("unpack", tmp_path / "twice.parquet", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_rows_are_found_across_files_and_groups(tmp_path):
    for number, sizes in enumerate([(3, 0, 2), (0,), (4,)]):
        with pq.ParquetWriter(tmp_path / f"{number}.parquet", pa.schema({"n": pa.int64()})) as writer:
            for size in sizes:
                writer.write_table(pa.table({"n": pa.array([number] * size, pa.int64())}))
    rows = ParquetRows.open(str(tmp_path), "n")
    assert len(rows) == 9
    assert [group[1:] for group in rows.groups] == [(0, 0, 3), (2, 3, 5), (0, 5, 9)]
    assert rows.take(0, 9, ("n",))["n"].to_pylist() == [0] * 5 + [2] * 4
    assert rows.take(4, 6, ("n",))["n"].to_pylist() == [0, 2]
    with pytest.raises(InputError, match="has 9 rows"):
        rows.take(9, 12, ("n",))


def test_other_file_systems(given, tmp_path):
    rows = [row_of(f"{n:06d}.ale.json", data) for n, data in enumerate(given.certificates)]
    for path in (f"file://{tmp_path}/a.parquet", "memory://verale/a.parquet"):
        assert storage.info_of(path).type.name == "NotFound"
        write_rows(path, iter(rows))
        assert [one.read() for one in packed_certificates(path)[0]] == given.certificates
        assert packed_certificates(path)[0][0].name == f"{path}/000000.ale.json"
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.write(given.packed, "inside/a.parquet")
    path = f"zip://inside::{tmp_path}/all.zip"
    assert [one.read() for one in packed_certificates(path)[0]] == given.certificates
    with pytest.raises(InputError, match="cannot be reached"):
        storage.resolve("nowhere://a")
    with pytest.raises(InputError, match="cannot be written"):
        write_rows(f"{given.head}/a.parquet", [])


def test_what_is_taken_for_a_dataset(given, tmp_path, files):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "a.parquet").touch()
    (tmp_path / "both").mkdir()
    (tmp_path / "both" / "a.parquet").touch()
    (tmp_path / "both" / "a.ale.json").touch()
    paths = ["set", "both", "files", "files/000001.ale.json", "none", "none.parquet"]
    assert [is_dataset(str(tmp_path / path)) for path in paths] == [True, False, False, False, False, True]
    assert is_dataset("s3://bucket/certificates")


SHAPES = {"N L D": (7, 3, 2), "N D H W": (7, 2, 3, 1)}


def latents(shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    values = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=dtype)
    values.flatten()[:2] = torch.tensor([-0.0, torch.finfo(dtype).tiny / 2])
    return values


def column_of(values: torch.Tensor) -> pa.Array:
    kind = pa.fixed_shape_tensor(pa.from_numpy_dtype(values.numpy().dtype), tuple(values.shape[1:]))
    flat = pa.array(values.flatten().numpy())
    return pa.ExtensionArray.from_storage(kind, pa.FixedSizeListArray.from_arrays(flat, values[0].numel()))


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.dtype == other.dtype and one.shape == other.shape and one.numpy().tobytes() == other.numpy().tobytes()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_latents_are_read_bit_by_bit(shape, dtype, tmp_path):
    values = latents(shape, dtype)
    (tmp_path / "z.parquet").mkdir()
    for start, stop in ((0, 4), (4, 7)):
        part = pa.table({"latents": column_of(values[start:stop])})
        pq.write_table(part, tmp_path / "z.parquet" / f"{start}.parquet", row_group_size=3)
    files = {"z.parquet": dtype}
    if len(shape) == 3:
        pq.write_table(pa.table({"latents": values.numpy().tolist()}), tmp_path / "nested.parquet")
        files["nested.parquet"] = torch.float64
    for name, kind in files.items():
        found, labels = load_parquet(str(tmp_path / name))
        assert same(found, values.to(kind)) and labels is None
        assert torch.equal(as_patches(found), as_patches(values.to(kind)))


def test_labels_are_found_where_there_are_some(tmp_path):
    labels = [3, 0, -1, 2, 1, 0, 70000]
    pq.write_table(pa.table({"latents": column_of(latents((7, 3, 2))), "label": labels}), tmp_path / "z.parquet")
    assert load_parquet(str(tmp_path / "z.parquet"))[1] == labels
    for wrong in ([None] * 7, [0.5] * 7, [*labels[1:], None]):
        pq.write_table(pa.table({"latents": column_of(latents((7, 3, 2))), "label": wrong}), tmp_path / "z.parquet")
        with pytest.raises(InputError, match=r"column 'label' is \w+, expected a whole number for each image, or none"):
            load_parquet(str(tmp_path / "z.parquet"))


PERMUTED = pa.ExtensionArray.from_storage(
    pa.fixed_shape_tensor(pa.float32(), (3, 2), permutation=[1, 0]),
    pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(6, np.float32)), 6),
)


@every(
    ("column", "said"),
    [
        (pa.array([[[0.0]], [[0.0], [1.0]]]), "expected float tensors or lists of one shape"),
        (pa.array([[[0.0]], None]), "expected float tensors or lists of one shape"),
        (pa.array(["a", "b"]), "expected float tensors or lists of one shape"),
        (PERMUTED, "expected float tensors or lists of one shape .*permuted"),
        (pa.array([], pa.list_(pa.float32())), "has no rows"),
    ],
)
def test_rows_of_several_shapes_or_without_latents_are_refused(column, said, tmp_path):
    pq.write_table(pa.table({"latents": column}), tmp_path / "z.parquet")
    with pytest.raises(InputError, match=said):
        load_parquet(str(tmp_path / "z.parquet"))


SCHEMA = certificates_schema()


def rows(**columns: pa.Array) -> pa.Table:
    return pa.table(columns)


def empty_groups() -> bytes:
    stream = pa.BufferOutputStream()
    with pq.ParquetWriter(stream, SCHEMA) as writer:
        for _ in range(3):
            writer.write_table(SCHEMA.empty_table())
    return stream.getvalue().to_pybytes()


def data_of(table: pa.Table, **options: object) -> bytes:
    stream = pa.BufferOutputStream()
    pq.write_table(table, stream, **options)
    return stream.getvalue().to_pybytes()


NAMES = pa.array(["a.ale.json", "b.ale.json"])
BYTES = pa.array([b"{", b"{}"], pa.binary())
NO_TEXT = pa.StringArray.from_buffers(2, *pa.array([b"\xff", b"\xfe"], pa.binary()).buffers()[1:])


WITHOUT: dict[str, tuple[bytes, str]] = {
    "an empty file": (b"", "cannot be read as a Parquet file"),
    "not Parquet": (b"PROVED\n" * 100, "cannot be read as a Parquet file"),
    "only the mark": (b"PAR1PAR1", "cannot be read as a Parquet file"),
    "cut short": (data_of(rows(name=NAMES, certificate=BYTES))[:-40], "cannot be read as a Parquet file"),
    "no rows": (data_of(SCHEMA.empty_table()), "holds no certificate"),
    "empty row groups": (empty_groups(), "holds no certificate"),
    "no columns": (data_of(pa.table({})), "expected one named 'certificate'"),
    "no such column": (data_of(rows(name=NAMES, x=NAMES)), "has the columns name, x; expected one named 'certificate'"),
    "nulls only": (data_of(rows(name=NAMES, certificate=pa.nulls(2, pa.binary()))), "holds no certificate"),
    "nulls without a type": (data_of(rows(certificate=pa.nulls(2))), "holds no certificate"),
    "numbers": (data_of(rows(certificate=pa.array([1, 2]))), "column 'certificate' is int64, expected binary"),
    "texts": (data_of(rows(certificate=pa.array(["{}", "{"]))), "column 'certificate' is string, expected binary"),
    "lists": (data_of(rows(certificate=pa.array([[b"{"], []]))), "column 'certificate' is list<"),
    "names as numbers": (data_of(rows(certificate=BYTES, name=pa.array([1, 2]))), "column 'name' is int64, expected"),
    "names of other bytes": (data_of(rows(certificate=BYTES, name=NO_TEXT)), "cannot be read"),
    "indices as texts": (data_of(rows(certificate=BYTES, index=NAMES)), "column 'index' is string, expected int"),
    "two columns of that name": (
        data_of(pa.table([BYTES, BYTES], names=["certificate", "certificate"])), "expected one named 'certificate'"
    ),
}  # fmt: skip
"""Files, and what is said of them."""


def read_by(command: str, path: Path, given, folder: Path) -> tuple[int, str]:
    """What a command that reads certificates from Parquet says of a path."""
    options = ("--head", given.head, "--latents", given.latents)
    more = ("--out", "unpacked") if command == "certificates unpack" else options
    done = in_process(*command.split(), path, *more, merged=True, cwd=folder)
    return done.returncode, done.stdout


@pytest.mark.parametrize("command", ["audit", "certificates unpack"])
@pytest.mark.parametrize("kind", WITHOUT)
def test_a_file_without_certificates_is_one_line(kind: str, command: str, given, tmp_path: Path) -> None:
    data, problem = WITHOUT[kind]
    (tmp_path / "p.parquet").write_bytes(data)
    code, text = read_by(command, tmp_path / "p.parquet", given, tmp_path)
    assert (code, text.count("\n")) == (9, 1), text
    assert text.startswith(f"error: {tmp_path}/p.parquet: ") and problem in text
    assert not (tmp_path / "unpacked").exists()


@pytest.mark.parametrize("kind", ["no rows", "not Parquet", "numbers"])
def test_nothing_of_a_folder_is_proved_where_a_file_is_of_another_kind(kind: str, given, tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "a.parquet").write_bytes(Path(given.packed).read_bytes())
    (tmp_path / "set" / "b.parquet").write_bytes(WITHOUT[kind][0])
    code, text = read_by("audit", tmp_path / "set", given, tmp_path)
    assert (code, text.count("PROVED")) == ((0, 40) if kind == "no rows" else (9, 0))
    assert code == 0 or text.startswith(f"error: {tmp_path}/set/b.parquet: ")


@pytest.mark.parametrize("kind", ["not Parquet", "no rows", "no such column", "nulls only", "texts"])
def test_a_file_that_changes_while_it_is_read_is_an_error_that_names_it(kind: str, tmp_path: Path) -> None:
    write_rows(f"{tmp_path}/a.parquet", [row_of(f"{name}.ale.json", b"{}") for name in "ab"])
    _, second = packed_certificates(f"{tmp_path}/a.parquet")[0]
    _group.cache_clear()
    (tmp_path / "a.parquet").write_bytes(WITHOUT[kind][0])
    with pytest.raises(InputError, match=r"a\.parquet: (cannot be read|changed while it was read: row 1 holds no)"):
        second.read()


# Storage: paths and URIs behave alike; nobody sees half a file


def write(path: str, data: bytes) -> None:
    with storage.open_output(path) as stream:
        stream.write(data)


def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path) -> None:
    write(str(tmp_path / "x"), b"before")
    with pytest.raises(ZeroDivisionError), storage.open_output(str(tmp_path / "x")) as stream:
        stream.write(b"half")
        raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_bytes() == b"before"


def test_files_are_listed_by_path_without_hidden_ones(tmp_path) -> None:
    for name in ("b.PARQUET", "a/z.parquet", "a/.hidden.parquet", "_attempts/c.parquet", "a/text.txt"):
        write(str(tmp_path / name), b"")
    listed = storage.files_under(str(tmp_path))
    assert [info.path.removeprefix(f"{tmp_path}/") for info in listed] == ["a/z.parquet", "b.PARQUET"]
    (single,) = storage.files_under(str(tmp_path / "a" / "text.txt"))
    assert single.path.endswith("text.txt"), "a file that is named is taken whatever its suffix"
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match=r"holds no \*\.parquet"):
        storage.files_under(str(tmp_path / "none"))
    with pytest.raises(InputError, match=r"there is no such file or folder; expected \*\.parquet"):
        storage.files_under(str(tmp_path / "nowhere"))
