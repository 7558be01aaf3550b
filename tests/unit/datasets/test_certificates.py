"""Certificates as rows of Parquet, in storage of several kinds, and the commands that pack and unpack them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from verale.cli.audit import command as audit
from verale.cli.export import certificates
from verale.datasets import storage
from verale.datasets.rows import GROUP, ParquetRows, packed_certificates, row_of, write_rows
from verale.errors import InputError
from verale.files import is_dataset


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


def test_what_was_unpacked_is_replaced_if_it_is_said(files, tmp_path):
    out, folder = tmp_path / "all.parquet", tmp_path / "unpacked"
    run("pack", files, "--out", out)
    run("unpack", out, "--out", folder)
    (files / "000003.ale.json").write_bytes(b"another")
    run("pack", files, "--out", out, "--overwrite")
    with pytest.raises(InputError, match="already exists; choose another out, or say overwrite=True"):
        run("unpack", out, "--out", folder)
    assert run("unpack", out, "--out", folder, "--overwrite")[0] == 0
    assert content(folder) == content(files)


@pytest.mark.parametrize("certificate", ["files", "files/000003.ale.json"])
def test_a_certificate_is_not_replaced_by_what_is_packed(certificate, files, tmp_path):
    before = content(files)
    with pytest.raises(InputError, match=r"000003\.ale\.json: (is read by|would be taken for a file of the run)"):
        run("pack", tmp_path / certificate, "--out", files / "000003.ale.json", "--overwrite")
    assert content(files) == before


@pytest.mark.parametrize("field", [("predicted", 2**70), ("paradigm", "\ud800"), ("statements", 1), ("margins", [])])
def test_what_parquet_cannot_hold_is_left_out(field, given, tmp_path):
    certificate = json.loads(given.certificates[0])
    certificate["predicate"] |= dict([field])
    (tmp_path / "a.ale.json").write_text(json.dumps(certificate))
    assert run("pack", tmp_path, "--out", tmp_path / "all.parquet")[0] == 0
    row = pq.read_table(tmp_path / "all.parquet").to_pylist()[0]
    assert (row["predicted"], row["paradigm"], row["size"], row["margin"]) == (None, None, None, None)
    assert row["certificate"] == (tmp_path / "a.ale.json").read_bytes()


@pytest.mark.parametrize(
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
    assert not (tmp_path / "out").exists() and not (tmp_path / "packed.parquet").exists()


def test_what_cannot_be_unpacked_is_not_packed(tmp_path):
    (tmp_path / "a.py").write_bytes(b"{}")
    with pytest.raises(InputError, match=r"a\.py: has a name that nobody can unpack"):
        run("pack", tmp_path / "a.py", "--out", tmp_path / "all.parquet")
    longest = "x" * 191 + ".ale.json"
    (tmp_path / longest).write_bytes(b"{}")
    assert run("pack", tmp_path / longest, "--out", tmp_path / "all.parquet")[0] == 0
    assert run("unpack", tmp_path / "all.parquet", "--out", tmp_path / "out")[0] == 0
    assert content(tmp_path / "out") == {longest: b"{}"}


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
    for path, arguments in ((files, ()), (tmp_path / "all.parquet", ()), (tmp_path / "all.parquet", ("--jobs", "2"))):
        options = [str(path), "--head", given.head, "--log", str(log), *arguments]
        done = CliRunner().invoke(audit, options, catch_exceptions=False)
        assert done.exit_code == 5
        assert done.stdout.count("  taken from the audit log\n") == (41 if printed else 0)
        printed.append(done.stdout.replace(str(path), "").replace("  taken from the audit log", "").splitlines())
    assert printed[0] == printed[1] == printed[2]
    assert len(printed[0]) == 41
    assert done.stderr == f"41 of 41 verdicts are taken from {log}\n"
    log.unlink()
    again = CliRunner().invoke(audit, options, catch_exceptions=False)
    assert again.stdout.replace(str(path), "").splitlines() == printed[0]


def test_what_is_no_dataset_is_refused(given, tmp_path):
    with pytest.raises(InputError, match="there is no such file or folder"):
        ParquetRows.open(str(tmp_path / "nothing.parquet"), "certificate")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"holds no \*\.parquet"):
        ParquetRows.open(str(tmp_path / "empty"), "certificate")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"bad\.parquet: cannot be read as a Parquet file"):
        ParquetRows.open(str(tmp_path / "bad.parquet"), "certificate")
    with pytest.raises(InputError, match="expected one named 'latents'"):
        ParquetRows.open(given.packed, "latents")


def test_no_two_rows_are_called_alike(tmp_path):
    """Neither by a name that several have, nor by one that looks like a label, nor by a path."""
    given = [["a", None, "a"], ["a#0", "/b", "b"], ["000001.ale.json", "c", "x#9"]]
    write_rows(f"{tmp_path}/twice.parquet", [{"name": "a.ale.json", "certificate": b""}] * 2)
    (tmp_path / "set").mkdir()
    for number, names in enumerate(given):
        rows = [{"name": name, "certificate": b""} for name in names]
        write_rows(f"{tmp_path}/set/{number}.parquet", rows)
    labels = [one.name.removeprefix(f"{tmp_path}/set/") for one in packed_certificates(f"{tmp_path}/set")[0]]
    assert labels[:5] == ["a#0", "000001.ale.json#1", "a#2", "a#0#3", "b#4"]
    assert labels[5:] == ["b#5", "000001.ale.json#6", "c", "x#9#8"]
    with pytest.raises(InputError, match=r"has several certificates called 'a\.ale\.json', which would replace"):
        run("unpack", tmp_path / "twice.parquet", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_name_that_is_not_text_is_one_error(tmp_path):
    binary = pa.array([b"\xff"], pa.binary())
    not_text = pa.StringArray.from_buffers(1, binary.buffers()[1], binary.buffers()[2])
    pq.write_table(pa.table({"name": not_text, "certificate": binary}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet: cannot be read"):
        packed_certificates(str(tmp_path / "a.parquet"))


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


def test_a_failed_write_leaves_nothing(tmp_path):
    def rows():
        yield from ({"name": str(n)} for n in range(2 * GROUP))
        raise InputError("a certificate", "cannot be read")

    with pytest.raises(InputError, match="a certificate"):
        write_rows(str(tmp_path / "all.parquet"), rows())
    assert list(tmp_path.iterdir()) == []
