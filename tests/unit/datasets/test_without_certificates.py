"""Parquet that holds no certificates, or is none: every command that reads it says so, and none says "proved"."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.commands import in_process

from verale.checker import most_severe
from verale.datasets.rows import certificates_schema

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
def test_a_folder_is_read_unless_one_of_its_files_is_another_kind(kind: str, given, tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "a.parquet").write_bytes(Path(given.packed).read_bytes())
    (tmp_path / "set" / "b.parquet").write_bytes(WITHOUT[kind][0])
    code, text = read_by("audit", tmp_path / "set", given, tmp_path)
    if kind == "no rows":
        assert code == 0 and text.count("PROVED") == 40
    else:
        assert code == 9 and text.startswith(f"error: {tmp_path}/set/b.parquet: ")


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.dictionary(pa.int32(), pa.binary())])
def test_binary_of_every_kind_is_read(kind: pa.DataType, given, tmp_path: Path) -> None:
    table = rows(certificate=pa.array([given.certificates[0]], pa.binary()).cast(kind))
    (tmp_path / "p.parquet").write_bytes(data_of(table))
    code, text = read_by("audit", tmp_path / "p.parquet", given, tmp_path)
    assert code == 0 and text.startswith("PROVED")


def test_nothing_audited_is_not_proved() -> None:
    assert most_severe([]) == 9
