"""Parquet that holds no certificates, or is none: every command that reads it says so, and none says "proved"."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.commands import in_process

from verale.checker import most_severe
from verale.datasets.certificates import certificates_schema

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
    "indices as texts": (data_of(rows(certificate=BYTES, index=NAMES)), "column 'index' is string, expected int"),
    "two columns of that name": (
        data_of(pa.table([BYTES, BYTES], names=["certificate", "certificate"])), "expected one named 'certificate'"
    ),
}  # fmt: skip
"""Files, and what is said of them."""


@pytest.fixture
def read_by(given, tmp_path: Path, without_ray) -> dict[str, Callable[[Path], tuple[int, str]]]:
    """Commands that read certificates from Parquet."""

    def of(*arguments: object) -> Callable[[Path], tuple[int, str]]:
        def run(path: Path) -> tuple[int, str]:
            done = in_process(*(path if each is None else each for each in arguments), merged=True, cwd=tmp_path)
            return done.returncode, done.stdout

        return run

    options = ("--head", given.head, "--latents", given.latents)
    return {
        "audit": of("audit", None, *options),
        "with a log": of("audit", None, *options, "--log", "log.json"),
        "unpack": of("certificates", "unpack", None, "--out", "unpacked"),
        "ray": of("audit", None, *options, "--engine", "ray", "--log", "log.json"),
    }


@pytest.mark.parametrize("command", ["audit", "with a log", "unpack", "ray"])
@pytest.mark.parametrize("kind", WITHOUT)
def test_a_file_without_certificates_is_one_line(kind: str, command: str, read_by, tmp_path: Path) -> None:
    data, problem = WITHOUT[kind]
    (tmp_path / "p.parquet").write_bytes(data)
    code, text = read_by[command](tmp_path / "p.parquet")
    assert (code, text.count("\n")) == (9, 1), text
    assert text.startswith(f"error: {tmp_path}/p.parquet: ") and problem in text
    assert not (tmp_path / "unpacked").exists()


@pytest.mark.parametrize("command", ["audit", "unpack", "ray"])
@pytest.mark.parametrize("kind", [kind for kind, (_, problem) in WITHOUT.items() if "holds no" not in problem])
def test_a_folder_with_one_such_file_is_refused_whole(kind: str, command: str, read_by, given, tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "a.parquet").write_bytes(Path(given.packed).read_bytes())
    (tmp_path / "set" / "b.parquet").write_bytes(WITHOUT[kind][0])
    code, text = read_by[command](tmp_path / "set")
    assert (code, text.count("\n")) == (9, 1), text
    assert text.startswith(f"error: {tmp_path}/set/b.parquet: ")


@pytest.mark.parametrize("command", ["audit", "ray"])
def test_files_without_rows_beside_others_count_for_nothing(command: str, read_by, given, tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "a.parquet").write_bytes(WITHOUT["no rows"][0])
    (tmp_path / "set" / "b.parquet").write_bytes(Path(given.packed).read_bytes())
    code, text = read_by[command](tmp_path / "set")
    assert code == 0 and text.count("PROVED") == 40


@pytest.mark.parametrize("command", ["audit", "unpack", "ray"])
def test_names_that_are_no_text_are_one_line(command: str, read_by, tmp_path: Path) -> None:
    names = pa.array([b"\xff", b"\xfe"], pa.binary()).view(pa.string())
    (tmp_path / "p.parquet").write_bytes(data_of(rows(certificate=BYTES, name=names)))
    code, text = read_by[command](tmp_path / "p.parquet")
    assert (code, text.count("\n")) == (9, 1)
    assert "p.parquet: cannot be read" in text


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.dictionary(pa.int32(), pa.binary())])
def test_binary_of_every_kind_is_read(kind: pa.DataType, read_by, given, tmp_path: Path) -> None:
    table = rows(certificate=pa.array([given.certificates[0]], pa.binary()).cast(kind))
    (tmp_path / "p.parquet").write_bytes(data_of(table))
    code, text = read_by["audit"](tmp_path / "p.parquet")
    assert code == 0 and text.startswith("PROVED")


def test_nothing_audited_is_not_proved() -> None:
    assert most_severe([]) == 9
