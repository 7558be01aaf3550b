"""A Parquet file whose columns are pickles runs nothing; one that claims too much is refused; none ends the process."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import verale
from verale.datasets import footer as limits
from verale.datasets.footer import Chunk, _names_what_runs, chunks_of, column_chunks, decoded, require_proportionate
from verale.datasets.rows import load_parquet, packed_certificates
from verale.errors import InputError


class Running:
    """Its pickle makes a folder."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self):
        return os.makedirs, (str(self.marker), 0o777, True)


class Unpickling(pa.ExtensionType):
    """What Ray does: the type, or each of its values, is unpickled when it is read."""

    def __init__(self, name: str, state: bytes = b"") -> None:
        self.state = state
        super().__init__(pa.binary(), name)

    def __arrow_ext_serialize__(self) -> bytes:
        return self.state

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, state):
        if state:
            pickle.loads(state)
        return cls("ray.data.arrow_tensor_v9", state)

    def __arrow_ext_scalar_class__(self):
        return Unpickled


class Unpickled(pa.ExtensionScalar):
    def as_py(self, **options):
        return pickle.loads(self.value.as_py())


@pytest.fixture
def registered():
    pa.register_extension_type(Unpickling("ray.data.arrow_tensor_v9"))
    yield
    pa.unregister_extension_type("ray.data.arrow_tensor_v9")


def written(path: Path, marker: Path, in_type: bool, **columns: object) -> None:
    """A file with these columns; None stands for one that runs what it holds."""
    state = pickle.dumps(Running(marker))
    kind = Unpickling("ray.data.arrow_tensor_v9", state if in_type else b"")
    running = pa.ExtensionArray.from_storage(kind, pa.array([state], pa.binary()))
    pq.write_table(pa.table({name: running if one is None else one for name, one in columns.items()}), path)


FILES = {
    "certificate": (packed_certificates, {"certificate": None}),
    "name": (packed_certificates, {"certificate": [b"{}"], "name": None}),
    "another": (packed_certificates, {"certificate": [b"{}"], "else": None}),
    "latents": (load_parquet, {"latents": None}),
    "label": (load_parquet, {"latents": [[1.0]], "label": None}),
}


@pytest.mark.parametrize("in_type", [False, True], ids=["values", "type"])
@pytest.mark.parametrize("column", FILES)
def test_a_column_of_pickles_is_refused(column, in_type, registered, tmp_path) -> None:
    read, columns = FILES[column]
    path, marker = tmp_path / "x.parquet", tmp_path / "ran"
    written(path, marker, in_type, **columns)
    with pytest.raises(InputError, match=r"x\.parquet: has a column of Ray's own types"):
        read(str(path))
    assert not marker.exists()
    pq.read_table(path)[next(name for name in columns if columns[name] is None)].to_pylist()
    assert marker.exists(), "nothing in the file would have run"


@pytest.mark.parametrize("pad", ["", "x", "xx", "xxx"])
@pytest.mark.parametrize("first", [b"A", b"AB", b"ABC", b"ABCD"])
def test_it_is_found_wherever_it_begins(first, pad, registered, tmp_path) -> None:
    """The bytes before it may be of base64 too, such as its length."""
    written(tmp_path / "x.parquet", tmp_path / "ran", False, **{f"label{pad}": None})
    types = pq.read_metadata(tmp_path / "x.parquet").metadata[b"ARROW:schema"]
    assert _names_what_runs(b"\x00" + first + types + b"\x00") and _names_what_runs(first + types.rstrip(b"=") + b"BCD")
    assert not _names_what_runs(b"ARROW:schema" + first)


def test_no_other_module_opens_a_parquet_file() -> None:
    package = Path(verale.__file__).parent
    opens = re.compile(r"\bpq\.(ParquetFile|ParquetDataset|read_)|\bread_parquet\(|pyarrow\.dataset")
    found = {path.name for path in package.rglob("*.py") if opens.search(path.read_text(encoding="utf-8"))}
    assert found == {"footer.py", "rows.py"}, "rows.py opens again what is opened"


def test_chunks_that_pyarrow_counts_otherwise_are_refused(tmp_path: Path) -> None:
    """A list of row groups that is not the file's own would hide how much that file holds."""
    for rows in (1, 2):
        pq.write_table(pa.table({"x": range(rows)}), tmp_path / f"{rows}.parquet", row_group_size=1)
    footers = {rows: pq.read_metadata(tmp_path / f"{rows}.parquet") for rows in (1, 2)}
    with pa.OSFile(str(tmp_path / "1.parquet")) as stream:
        assert len(chunks_of(stream, footers[1])) == 1
        with pytest.raises(ValueError, match="does not say what its columns hold"):
            chunks_of(stream, footers[2])


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
from verale.datasets.rows import ParquetRows
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


def written_footer(path: Path, table: pa.Table, **options: object) -> tuple[pq.FileMetaData, list[list[Chunk]]]:
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
    claimed, chunks = written_footer(tmp_path / "a.parquet", table, row_group_size=100 if limit == "_WORK" else 1000)
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
