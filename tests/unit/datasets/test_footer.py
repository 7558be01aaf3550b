"""A Parquet file whose columns are pickles runs nothing, whatever is imported."""

from __future__ import annotations

import os
import pickle
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import verale
from verale.datasets.certificates import packed_certificates
from verale.datasets.footer import chunks_of
from verale.datasets.latents import load_parquet
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
    from verale.datasets.footer import _names_what_runs

    written(tmp_path / "x.parquet", tmp_path / "ran", False, **{f"label{pad}": None})
    types = pq.read_metadata(tmp_path / "x.parquet").metadata[b"ARROW:schema"]
    assert _names_what_runs(b"\x00" + first + types + b"\x00") and _names_what_runs(first + types.rstrip(b"=") + b"BCD")
    assert not _names_what_runs(b"ARROW:schema" + first)


def test_other_types_are_read(tmp_path) -> None:
    shaped = pa.fixed_shape_tensor(pa.float32(), (2, 3))
    flat = pa.FixedSizeListArray.from_arrays(pa.array([float(n) for n in range(6)], pa.float32()), 6)
    pq.write_table(pa.table({"latents": pa.ExtensionArray.from_storage(shaped, flat)}), tmp_path / "x.parquet")
    assert load_parquet(str(tmp_path / "x.parquet"))[0].shape == (1, 2, 3)


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1PAR1", b"PAR1" + b"\xff" * 4 + b"PAR1", b"\x00" * 100])
def test_what_is_no_parquet_is_refused(data, tmp_path) -> None:
    (tmp_path / "x.parquet").write_bytes(data)
    with pytest.raises(InputError, match="cannot be read as a Parquet file"):
        load_parquet(str(tmp_path / "x.parquet"))


def test_no_other_module_opens_a_parquet_file() -> None:
    package = Path(verale.__file__).parent
    opens = re.compile(r"\bpq\.(ParquetFile|ParquetDataset|read_)|\bread_parquet\(|pyarrow\.dataset")
    found = {path.name for path in package.rglob("*.py") if opens.search(path.read_text(encoding="utf-8"))}
    assert found == {"footer.py", "certificates.py"}, "certificates.py opens again what is opened"


def test_chunks_that_pyarrow_counts_otherwise_are_refused(tmp_path: Path) -> None:
    """A list of row groups that is not the file's own would hide how much that file holds."""
    for rows in (1, 2):
        pq.write_table(pa.table({"x": range(rows)}), tmp_path / f"{rows}.parquet", row_group_size=1)
    footers = {rows: pq.read_metadata(tmp_path / f"{rows}.parquet") for rows in (1, 2)}
    with pa.OSFile(str(tmp_path / "1.parquet")) as stream:
        assert len(chunks_of(stream, footers[1])) == 1
        with pytest.raises(ValueError, match="does not say what its columns hold"):
            chunks_of(stream, footers[2])
