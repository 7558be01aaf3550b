"""Latents by their place: rows of a safetensors file or of Parquet, of which only what is asked for is read."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from verale.datasets import storage
from verale.datasets.certificates import Rows
from verale.errors import InputError

if TYPE_CHECKING:
    from pyarrow import Array, ChunkedArray, DataType
    from torch import Tensor

__all__ = ["Latents", "column_of", "latents_type", "open_latents"]

_COLUMN = "latents"
_SIZES = {"F32": 4, "F64": 8}
_LABELS = {"I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1}


class Latents(Protocol):
    """Latents in a file: their number, some of them, and what names all of them."""

    @property
    def path(self) -> str:
        """As given."""

    def __len__(self) -> int: ...

    def take(self, start: int, stop: int) -> Tensor:
        """(N, D, H, W) or (N, L, D), as stored."""

    def labels(self, start: int, stop: int) -> list[int] | None:
        """The true classes of some, where they are known: tensor `labels` (N,), or column `label`."""

    def whole(self) -> Tensor:
        """All there are; rows of a dataset of certificates that have none are left out."""

    def digest(self) -> str:
        """SHA-256 of the file; of several, of what `sha256sum` says of them, sorted by name."""


def open_latents(path: str) -> Latents:
    """Latents in a safetensors file, or in Parquet with a column `latents`. Raises InputError."""
    if path.endswith(".parquet") or storage.is_folder(path):
        return _InParquet(path, Rows.open(path, _COLUMN))
    return _opened(path)


def latents_in(path: str) -> Tensor | None:
    """The latents (N, ...) of a dataset of certificates, None if it has none."""
    try:
        rows = Rows.open(path, _COLUMN)
    except InputError:
        return None
    return _InParquet(path, rows).whole()


def latents_type(latents: Tensor) -> DataType:
    """The type of a column of latents (N, ...): tensors of one shape."""
    import pyarrow as pa

    return pa.fixed_shape_tensor(pa.from_numpy_dtype(latents.numpy().dtype), tuple(latents.shape[1:]))


def column_of(latents: Tensor) -> Array:
    """Latents (N, ...) as a column, bit by bit."""
    import pyarrow as pa

    flat = pa.array(latents.contiguous().flatten().numpy())
    size = math.prod(latents.shape[1:])
    return pa.ExtensionArray.from_storage(latents_type(latents), pa.FixedSizeListArray.from_arrays(flat, size))


@dataclass(frozen=True)
class _InTensor:
    """The tensor `latents` of a safetensors file."""

    path: str
    offset: int
    shape: tuple[int, ...]
    dtype: str
    labels_at: tuple[int, str] | None

    def __len__(self) -> int:
        return self.shape[0]

    def take(self, start: int, stop: int) -> Tensor:
        import torch

        data = self._read(self.offset, math.prod(self.shape[1:]) * _SIZES[self.dtype], start, stop)
        dtype = {"F32": torch.float32, "F64": torch.float64}[self.dtype]
        values = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
        return values.reshape(stop - start, *self.shape[1:])

    def labels(self, start: int, stop: int) -> list[int] | None:
        if self.labels_at is None:
            return None
        offset, dtype = self.labels_at
        size = _LABELS[dtype]
        data = self._read(offset, size, start, stop)
        parts = (data[at : at + size] for at in range(0, len(data), size))
        return [int.from_bytes(part, "little", signed=dtype != "U8") for part in parts]

    def whole(self) -> Tensor:
        return self.take(0, len(self))

    def _read(self, offset: int, size: int, start: int, stop: int) -> bytearray:
        with storage.opened(self.path) as stream:
            data = bytearray(stream.read_at(size * (stop - start), offset + size * start))
        if len(data) != size * (stop - start):
            raise InputError(self.path, "is shorter than its header says; copy it again")
        return data

    def digest(self) -> str:
        return _digest(self.path)


def _opened(path: str) -> _InTensor:
    with storage.opened(path) as stream:
        length = int.from_bytes(stream.read_at(8, 0), "little")
        try:
            if not 0 < length <= stream.size() - 8:
                raise ValueError("no header")
            header = json.loads(stream.read_at(length, 8))
            entry = header.get(_COLUMN)
            if entry is None:
                found = ", ".join(sorted(set(header) - {"__metadata__"})) or "nothing"
                raise InputError(path, f"holds {found}, expected a tensor named 'latents'")
            shape, dtype, (begin, end) = tuple(map(int, entry["shape"])), str(entry["dtype"]), entry["data_offsets"]
            if dtype not in _SIZES:
                raise InputError(path, f"latents have dtype {dtype}, expected float32 or float64")
            if len(shape) not in (3, 4) or 0 in shape[1:]:
                raise InputError(path, f"latents have shape {shape}, expected (N, D, H, W) or (N, L, D)")
            if begin < 0 or end - begin != math.prod(shape) * _SIZES[dtype] or 8 + length + end > stream.size():
                raise ValueError("offsets beyond the file")
            labels = header.get("labels")
            if labels is not None and (labels["dtype"] not in _LABELS or labels["shape"] != [shape[0]]):
                found = f"{labels['dtype']} {labels['shape']}"
                raise InputError(path, f"holds labels {found}, expected an integer an image, or no labels")
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(path, f"is not a readable safetensors file ({error})") from error
    beside = None if labels is None else (8 + length + int(labels["data_offsets"][0]), str(labels["dtype"]))
    return _InTensor(path, 8 + length + begin, shape, dtype, beside)


@dataclass(frozen=True)
class _InParquet:
    """The column `latents` of Parquet: tensors of one shape, or lists of lists."""

    path: str
    rows: Rows

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
                raise ValueError("some rows have none")
            return torch.as_tensor(_array(column))
        except (ValueError, TypeError, RuntimeError) as error:
            raise InputError(
                self.path, f"column 'latents' is {column.type}, expected float tensors or lists of one shape ({error})"
            ) from error

    def digest(self) -> str:
        named = [(file, _digest_of(self.path, file)) for file, _ in self.rows.files]
        if len(named) == 1:
            return named[0][1]
        root = storage.at(self.path)[1]
        lines = sorted((file[len(root) :].lstrip("/"), digest) for file, digest in named)
        return hashlib.sha256("".join(f"{digest}  {name}\n" for name, digest in lines).encode()).hexdigest()


def _array(column: ChunkedArray) -> Any:
    """Tensors, or lists of lists, one a row, as a writable array (N, ...). Raises ValueError: of several shapes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = column.combine_chunks()
    rows, stated = len(values), getattr(values.type, "shape", ())
    if list(getattr(values.type, "permutation", None) or range(len(stated))) != list(range(len(stated))):
        raise ValueError("its dimensions are permuted")
    values = values.storage if isinstance(values.type, pa.BaseExtensionType) else values
    found = []
    while pa.types.is_nested(values.type):
        lengths = pc.unique(pc.list_value_length(values)).to_pylist()
        if len(lengths) != 1 or lengths[0] is None:
            raise ValueError("its rows have several lengths")
        found += lengths
        values = values.flatten()
    return values.to_numpy(zero_copy_only=False).reshape(rows, *(stated or found)).copy()


def _digest(path: str) -> str:
    with storage.opened(path) as stream:
        return _digest_stream(stream)


def _digest_of(path: str, file: str) -> str:
    with storage.at(path)[0].open_input_file(file) as stream:
        return _digest_stream(stream)


def _digest_stream(stream: Any) -> str:
    found = hashlib.sha256()
    while block := stream.read(1 << 22):
        found.update(block)
    return found.hexdigest()
