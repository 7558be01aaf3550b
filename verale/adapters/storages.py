"""The storages of a checkpoint: numbers that tensors share, of exactly the size that the file has for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["DTYPES", "ExcessError", "ForeignError", "Storage", "Storages"]

DTYPES = {
    "torch.BoolStorage": torch.bool,
    "torch.ByteStorage": torch.uint8,
    "torch.CharStorage": torch.int8,
    "torch.ShortStorage": torch.int16,
    "torch.HalfStorage": torch.float16,
    "torch.BFloat16Storage": torch.bfloat16,
    "torch.IntStorage": torch.int32,
    "torch.FloatStorage": torch.float32,
    "torch.LongStorage": torch.int64,
    "torch.DoubleStorage": torch.float64,
    "torch.ComplexFloatStorage": torch.complex64,
    "torch.ComplexDoubleStorage": torch.complex128,
}


class ForeignError(Exception):
    """The file holds something that verale does not read."""


class ExcessError(Exception):
    """The file claims more than it holds, or than verale reads; with what to do about it."""

    def __init__(self, problem: str, remedy: str = "save it again, with tensor.contiguous().clone() of each tensor"):
        super().__init__(f"{problem}; {remedy}")


@dataclass(frozen=True, eq=False)
class Storage:
    """Numbers that tensors share, as bytes that are filled in later."""

    type: str
    data: Tensor

    @property
    def numbers(self) -> Tensor:
        return self.data.view(DTYPES[self.type])


class Storages:
    """The storages of a file, by their keys; empty until they are filled.

    Args:
        size: bytes of the file.
        entries: bytes of each storage's entry in an archive; None if storages follow one another.
    """

    def __init__(self, size: int, entries: Mapping[str, int] | None = None) -> None:
        self.size = size
        self._entries = entries
        self._stored = 0
        self._known: dict[str, Storage] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def find(self, key: str, type_: str, count: int) -> Storage:
        """The storage of so many numbers. Raises ExcessError if it is not of the file's size."""
        size = count * DTYPES[type_].itemsize
        if self._entries is not None and self._entries.get(key) != size:
            raise ExcessError(f"claims {size} bytes for storage {key[:40]!r}, another size than its entry")
        if key not in self._known:
            self._stored += size
            if self._stored > self.size:
                raise ExcessError(f"claims storages of {self._stored} bytes in a file of {self.size}")
            self._known[key] = Storage(type_, torch.zeros(size, dtype=torch.uint8))
        storage = self._known[key]
        if (storage.type, storage.data.numel()) != (type_, size):
            raise ExcessError(f"claims two sizes or types for storage {key[:40]!r}")
        return storage

    def count(self, key: str) -> tuple[int, int]:
        """How many numbers a storage has, and of how many bytes each. Raises KeyError."""
        storage = self._known[key]
        item = DTYPES[storage.type].itemsize
        return storage.data.numel() // item, item

    def fill(self, key: str, data: bytes) -> None:
        """Write the numbers of a storage. Raises ValueError unless the data have its size."""
        storage = self._known[key]
        if len(data) != storage.data.numel():
            raise ValueError("a storage is truncated")
        if data:
            storage.data.copy_(torch.frombuffer(bytearray(data), dtype=torch.uint8))
