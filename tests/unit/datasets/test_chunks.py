"""What a Parquet file's footer says of its column chunks: as pyarrow reads it, and never the end of the process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from verale.datasets.footer import column_chunks

NUMBERS = {"BOOLEAN": 0, "INT32": 1, "INT64": 2, "INT96": 3, "FLOAT": 4, "DOUBLE": 5, "BYTE_ARRAY": 6}
NUMBERS["FIXED_LEN_BYTE_ARRAY"] = 7


def footer_of(path: Path) -> bytes:
    data = path.read_bytes()
    return data[-8 - int.from_bytes(data[-8:-4], "little") : -8]


@pytest.mark.parametrize("options", [{}, {"compression": "zstd", "row_group_size": 2}, {"version": "1.0"}])
def test_chunks_are_what_pyarrow_reads(options, tmp_path: Path) -> None:
    table = pa.table(
        {
            "flag": [True, None, False],
            "small": pa.array([1, 2, 3], pa.int32()),
            "large": [2**40, -1, None],
            "half": pa.array([0.5, None, 1], pa.float32()),
            "number": [0.5, 1.5, 2.5],
            "text": ["a" * 1000, "b", None],
            "fixed": pa.array([b"abc", b"def", b"ghi"], pa.binary(3)),
            "list": [[1.0, 2.0], [], None],
            "struct": [{"x": 1, "y": "é"}, None, {"x": 2, "y": ""}],
        }
    )
    pq.write_table(table, tmp_path / "a.parquet", **options)
    footer = pq.read_metadata(tmp_path / "a.parquet")
    groups = [[footer.row_group(g).column(c) for c in range(footer.num_columns)] for g in range(footer.num_row_groups)]
    expected = [
        [(c.path_in_schema, NUMBERS[c.physical_type], c.num_values, c.total_uncompressed_size) for c in group]
        for group in groups
    ]
    found = [
        [(c.path, c.physical_type, c.values, c.size) for c in group]
        for group in column_chunks(footer_of(tmp_path / "a.parquet"))
    ]
    assert found == expected


CHANGED = """
import sys
from pathlib import Path
from verale.datasets.certificates import ParquetRows
from verale.errors import InputError

path, answers = Path(sys.argv[1]), set()
data = path.read_bytes()
length = int.from_bytes(data[-8:-4], "little")
for place in range(len(data) - 8 - length, len(data) - 8):
    for other in (0, data[place] ^ 1, data[place] ^ 8, data[place] ^ 128):
        path.write_bytes(data[:place] + bytes([other]) + data[place + 1 :])
        try:
            ParquetRows.open(str(path), "certificate")
            answers.add("opened")
        except InputError as error:
            assert str(error).startswith(str(path))
            answers.add("refused")
print(*sorted(answers))
"""


def test_a_footer_that_contradicts_itself_does_not_end_the_process(tmp_path: Path) -> None:
    """Each byte of one changed: the levels of null values among them, which pyarrow cannot report (version 26)."""
    pq.write_table(pa.table({"certificate": [b"x", None]}), tmp_path / "a.parquet", store_schema=False)
    done = subprocess.run(
        [sys.executable, "-c", CHANGED, tmp_path / "a.parquet"], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout) == (0, "opened refused\n"), done.stderr


def test_what_is_no_footer_is_refused(tmp_path: Path) -> None:
    """Cut off anywhere, nested without end, or with lists that claim more than there is."""
    pq.write_table(pa.table({"x": [1]}), tmp_path / "a.parquet", store_schema=False)
    footer = footer_of(tmp_path / "a.parquet")
    for data in [footer[:stop] for stop in range(len(footer))] + [b"\x1c" * 10_000, b"\x49\xfc" + b"\xff" * 9]:
        with pytest.raises(ValueError, match="does not say what its columns hold"):
            column_chunks(data)
