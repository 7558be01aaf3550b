"""What a Parquet file claims and holds, compared with its size."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from verale.datasets import footer as limits
from verale.datasets.footer import Chunk, chunks_of, decoded, is_bytes, require_proportionate
from verale.errors import InputError


def footer(path: Path, table: pa.Table, **options: object) -> tuple[pq.FileMetaData, list[list[Chunk]]]:
    pq.write_table(table, path, **options)
    with pa.OSFile(str(path)) as stream:
        read = pq.ParquetFile(path).metadata
        return read, chunks_of(stream, read)


@pytest.mark.parametrize(
    ("limit", "problem"),
    [
        ("_ROWS", "has 1000 rows in 100 bytes, expected at most 999"),
        ("_WORK", "has 10 row groups of 1 columns in 100 bytes, expected fewer, larger groups"),
        ("_BYTES", "row group 0 holds [0-9]+ bytes in column x of a file of 100 bytes"),
    ],
)
def test_what_a_file_claims_is_limited_by_its_size(limit, problem, tmp_path, monkeypatch) -> None:
    """At the limit it is taken, below it is refused by name."""
    table = pa.table({"x": pa.array(range(1000), pa.int64())})
    claimed, chunks = footer(tmp_path / "a.parquet", table, row_group_size=100 if limit == "_WORK" else 1000)
    held = chunks[0][0].size
    at = {"_ROWS": 900, "_WORK": 0, "_BYTES": max(held, 8000) - 64 * 100}[limit]
    monkeypatch.setattr(limits, limit, at)
    monkeypatch.setattr(limits, "_WORK_A_BYTE", 1 if limit == "_WORK" else 16)
    require_proportionate("a", 100, claimed, chunks)
    monkeypatch.setattr(limits, limit, at - 1)
    with pytest.raises(InputError, match=f"a: {problem}"):
        require_proportionate("a", 100, claimed, chunks)


def test_a_value_that_many_rows_share_counts_for_each(monkeypatch) -> None:
    """1,000 rows of 100 bytes are 100,000 bytes, however little the file takes."""
    column = pa.array(["x" * 100] * 1000).dictionary_encode()
    table = pa.table({"name": column, "index": pa.array(range(1000))})
    monkeypatch.setattr(limits, "_BYTES", 100_000 - 64)
    assert decoded("a", 1, table)["name"].to_pylist() == ["x" * 100] * 1000
    monkeypatch.setattr(limits, "_BYTES", 100_000 - 65)
    with pytest.raises(InputError, match="a: a row group holds 100000 bytes in column name of a file of 1 bytes"):
        decoded("a", 1, table)


def test_bytes_and_texts_are_what_is_shared() -> None:
    assert is_bytes(pa.string()) and is_bytes(pa.binary())
    assert not is_bytes(pa.int64())
