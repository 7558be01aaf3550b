"""Latents by index: rows of a safetensors file or of Parquet, of which only those asked for are read."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from verale.checker.errors import FormatError
from verale.checker.read.formats import Entry, header_length, read_header
from verale.checker.read.latents import latents_among
from verale.datasets import storage
from verale.datasets.certificates import ParquetRows
from verale.errors import InputError
from verale.files import checksums

if TYPE_CHECKING:
    from pyarrow import Array, ChunkedArray, DataType
    from torch import Tensor

__all__ = ["Latents", "column_of", "has_latents", "images_in", "latents_in", "latents_type", "open_latents"]

_COLUMN = "latents"
_LABELS = {"I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1}


class Latents(Protocol):
    """Latents in a file: how many, some of them, and the digest of all."""

    @property
    def path(self) -> str:
        """As given."""

    def __len__(self) -> int: ...

    def take(self, start: int, stop: int) -> Tensor:
        """The latents of some images, (N, D, H, W) or (N, L, D), as stored."""

    def labels(self, start: int, stop: int) -> list[int] | None:
        """The true classes of some images, where known: tensor `labels` (N,), or column `label`."""

    def whole(self) -> Tensor:
        """The latents of all images; rows of a dataset without latents are left out."""

    def digest(self) -> str:
        """SHA-256 of the file; of several files, of the output of `sha256sum` for them, sorted by name."""


def open_latents(path: str) -> Latents:
    """Latents in a safetensors file, or in Parquet with a column `latents`. Raises InputError."""
    if path.endswith(".parquet") or storage.is_folder(path):
        return _InParquet(path, ParquetRows.open(path, _COLUMN))
    return _open_tensor(path)


def latents_in(path: str) -> Tensor | None:
    """The latents (N, ...) in a dataset of certificates; None if it has no latents."""
    rows = _rows_with_latents(path)
    return None if rows is None else _InParquet(path, rows).whole()


def images_in(path: str) -> list[tuple[str, int | None, str]] | None:
    """File, true class and SHA-256 of each image whose latents `latents_in` gives; None if they are not all known."""
    columns = (_COLUMN, "image", "label", "image_sha256")
    rows = _rows_with_latents(path)
    if rows is None or not len(rows):
        return None
    table = rows.take(0, len(rows), columns)
    if not set(columns) <= set(table.column_names):
        return None
    values = table.filter(table[_COLUMN].is_valid()).select(columns[1:]).to_pylist()
    images = [(row["image"], row["label"], row["image_sha256"]) for row in values]
    known = all(isinstance(name, str) and isinstance(digest, str) for name, _, digest in images)
    return images if known else None


def has_latents(path: str) -> bool:
    """Whether a dataset has a column of latents."""
    return _rows_with_latents(path) is not None


def _rows_with_latents(path: str) -> ParquetRows | None:
    """The rows of a dataset; None if it has no column of latents, or cannot be used."""
    try:
        return ParquetRows.open(path, _COLUMN)
    except InputError:
        return None


def latents_type(latents: Tensor) -> DataType:
    """The type of a column that holds latents (N, ...): tensors of one shape."""
    import pyarrow as pa

    return pa.fixed_shape_tensor(pa.from_numpy_dtype(latents.numpy().dtype), tuple(latents.shape[1:]))


def column_of(latents: Tensor) -> Array:
    """Latents (N, ...) as a column, unchanged to the last bit."""
    import pyarrow as pa

    flat = pa.array(latents.contiguous().flatten().numpy())
    size = math.prod(latents.shape[1:])
    return pa.ExtensionArray.from_storage(latents_type(latents), pa.FixedSizeListArray.from_arrays(flat, size))


@dataclass(frozen=True)
class _InTensor:
    """The tensor `latents` of a safetensors file, and `labels` where it has them: of these only what is asked for is
    read."""

    path: str
    tensor: Entry
    label: Entry | None

    def __len__(self) -> int:
        return self.tensor.shape[0]

    def take(self, start: int, stop: int) -> Tensor:
        import torch

        data = self._read(self.tensor, start, stop)
        dtype = {"F32": torch.float32, "F64": torch.float64}[self.tensor.dtype]
        values = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
        return values.reshape(stop - start, *self.tensor.shape[1:])

    def labels(self, start: int, stop: int) -> list[int] | None:
        if self.label is None:
            return None
        size = _LABELS[self.label.dtype]
        data = self._read(self.label, start, stop)
        parts = (data[at : at + size] for at in range(0, len(data), size))
        return [int.from_bytes(part, "little", signed=self.label.dtype != "U8") for part in parts]

    def whole(self) -> Tensor:
        return self.take(0, len(self))

    def _read(self, entry: Entry, start: int, stop: int) -> bytearray:
        """The bytes of some rows of a tensor."""
        size = (entry.end - entry.begin) // max(1, len(self))
        with storage.open_input(self.path) as stream:
            data = bytearray(stream.read_at(size * (stop - start), entry.begin + size * start))
        if len(data) != size * (stop - start):
            raise InputError(self.path, "is shorter than its header says; copy it again")
        return data

    def digest(self) -> str:
        with storage.open_input(self.path) as stream:
            return _digest(stream)


def _open_tensor(path: str) -> _InTensor:
    with storage.open_input(path) as stream:
        size = stream.size()
        try:
            length = header_length(stream.read_at(min(8, size), 0), size)
            _, entries = read_header(stream.read_at(length, 0), size)
            by_name = {each.name: each for each in entries}
            tensor = latents_among(by_name)
        except FormatError as error:
            raise InputError(path, f"latents file: {error}") from error
    labels = by_name.get("labels")
    if labels is not None and (labels.dtype not in _LABELS or labels.shape != tensor.shape[:1]):
        kind = f"{labels.dtype} {list(labels.shape)}"
        raise InputError(path, f"holds labels {kind}, expected one integer for each image, or no labels")
    return _InTensor(path, tensor, labels)


@dataclass(frozen=True)
class _InParquet:
    """The column `latents` of Parquet: tensors of one shape, or nested lists."""

    path: str
    rows: ParquetRows

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, start: int, stop: int) -> Tensor:
        return self._tensor(self.rows.take(start, stop, (_COLUMN,))[_COLUMN])

    def labels(self, start: int, stop: int) -> list[int] | None:
        table = self.rows.take(start, stop, ("label",))
        return table["label"].to_pylist() if "label" in table.column_names else None

    def whole(self) -> Tensor:
        return self._tensor(self.rows.take(0, len(self), (_COLUMN,))[_COLUMN].drop_null())

    def _tensor(self, column: ChunkedArray) -> Tensor:
        import torch

        try:
            if column.null_count:
                raise ValueError("some rows have no latents")
            return torch.as_tensor(_array(column))
        except (ValueError, TypeError, RuntimeError) as error:
            raise InputError(
                self.path, f"column 'latents' is {column.type}, expected float tensors or lists of one shape ({error})"
            ) from error

    def digest(self) -> str:
        digests = []
        for file, _ in self.rows.files:
            with storage.open_file(storage.resolve(self.path)[0], file) as stream:
                digests.append((file, _digest(stream)))
        if len(digests) == 1:
            return digests[0][1]
        root = storage.resolve(self.path)[1]
        named = {file[len(root) :].lstrip("/"): digest for file, digest in digests}
        return hashlib.sha256(checksums(named)).hexdigest()


def _array(column: ChunkedArray) -> object:
    """Tensors or nested lists, one a row, as a writable array (N, ...). Raises ValueError: shapes differ."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = column.combine_chunks()
    rows, stated = len(values), getattr(values.type, "shape", ())
    if list(getattr(values.type, "permutation", None) or range(len(stated))) != list(range(len(stated))):
        raise ValueError("the dimensions are permuted")
    values = values.storage if isinstance(values.type, pa.BaseExtensionType) else values
    shape: list[int] = []
    while pa.types.is_nested(values.type):
        lengths = pc.unique(pc.list_value_length(values)).to_pylist()
        if len(lengths) != 1 or lengths[0] is None:
            raise ValueError("the rows differ in length")
        shape += lengths
        values = values.flatten()
    return values.to_numpy(zero_copy_only=False).reshape(rows, *(stated or shape)).copy()


def _digest(stream: Any) -> str:
    return hashlib.file_digest(stream, "sha256").hexdigest()
