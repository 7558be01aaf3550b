"""A strict safetensors reader: an 8-byte little-endian length, a JSON header, the tensors' bytes without gap or
overlap.

Nothing is allocated because the header says so: a claimed shape must fit the bytes of the file.
"""

from __future__ import annotations

import sys
from array import array
from dataclasses import dataclass
from math import isfinite, prod
from typing import Any

from ..errors import FormatError
from .json_reader import brief, fields, index, read_object, text

__all__ = ["Entry", "Tensor", "header_length", "read_described", "read_header", "read_tensors"]

_LONGEST_HEADER = 4 * 2**20
_MOST_DIMENSIONS = 8
_PART = 2**20
"""Bytes that are looked at together; whole entries."""
_ITEM_BYTES = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2"), 1),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 2),
    **dict.fromkeys(("U32", "I32", "F32"), 4),
    **dict.fromkeys(("U64", "I64", "F64"), 8),
}


@dataclass(frozen=True)
class Entry:
    """Where a tensor lies in a safetensors file: from byte `begin` to before byte `end`, from the file's first one."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class Tensor:
    """A tensor of a safetensors file: its bytes, not yet converted."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    data: memoryview

    def check_finite(self, start: int = 0, stop: int | None = None) -> None:
        """Raises FormatError unless the entries start..stop are finite floats. Nothing is converted or kept.

        The last byte of a stored float has its sign and the seven upper bits of its exponent. All seven are 1 where a
        number is not finite, and beside that only in numbers of 2^127 and more, or 2^1009 of F64: these are looked at
        one by one.
        """
        if self.dtype not in ("F32", "F64"):
            raise FormatError(f"tensor {brief(self.name)} has dtype {self.dtype}, expected F32 or F64")
        size = _ITEM_BYTES[self.dtype]
        entries = self.data[start * size : None if stop is None else stop * size]
        for begin in range(0, len(entries), _PART):
            part = bytes(entries[begin : begin + _PART])
            uppermost = part[size - 1 :: size]
            if b"\x7f" in uppermost or b"\xff" in uppermost:
                self._check_each(part, start + begin // size)

    def _check_each(self, part: bytes, first: int) -> None:
        for number, value in enumerate(self._native(part), first):
            if not isfinite(value):
                where = f"tensor {brief(self.name)}"
                raise FormatError(f"{where} holds {value} at entry {number}, expected finite numbers")

    def floats(self, start: int = 0, stop: int | None = None) -> array[float]:
        """The entries start..stop, in the order of storage, as binary64. Raises FormatError unless finite floats."""
        self.check_finite(start, stop)
        size = _ITEM_BYTES[self.dtype]
        return array("d", self._native(self.data[start * size : None if stop is None else stop * size]))

    def _native(self, data: bytes | memoryview) -> array[float]:
        """Stored floats in the byte order of this machine."""
        values: array[float] = array("f") if self.dtype == "F32" else array("d")
        values.frombytes(data)
        if sys.byteorder == "big":
            values.byteswap()
        return values


def read_described(
    data: bytes | bytearray, most: int, key: str, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The description and the tensors of a file whose one entry of metadata, `key`, is a JSON object of version 1.

    Raises:
        FormatError: more than `most` bytes, other metadata, another version, or other fields of the description.
    """
    if len(data) > most:
        raise FormatError(f"it has more than {most} bytes, the most that are allowed")
    metadata, tensors = read_tensors(data)
    if set(metadata) != {key}:
        raise FormatError(f"__metadata__ has the entries {brief(sorted(metadata))}, expected one: {key!r}")
    description = read_object(metadata[key].encode("utf-8"), key)
    fields(description, key, required, optional)
    if type(description["version"]) is not int or description["version"] != 1:
        raise FormatError(f"version is {brief(description['version'])}, expected 1")
    return description, tensors


def read_tensors(data: bytes | bytearray) -> tuple[dict[str, str], dict[str, Tensor]]:
    """The metadata and the tensors of a safetensors file. Raises FormatError, which names the tensor and the fault."""
    metadata, entries = read_header(data, len(data))
    whole = memoryview(data)
    tensors = {each.name: Tensor(each.name, each.dtype, each.shape, whole[each.begin : each.end]) for each in entries}
    return metadata, tensors


def header_length(data: bytes | bytearray, size: int) -> int:
    """How many bytes the header of a safetensors file takes, its own length included. Raises FormatError.

    Args:
        data: the file's first 8 bytes, or more.
        size: of the file.
    """
    if size < 8 or len(data) < 8:
        raise FormatError(f"the file has {size} bytes, expected a safetensors file: at least 8, its header's length")
    length = int.from_bytes(data[:8], "little")
    if length > min(_LONGEST_HEADER, size - 8):
        raise FormatError(f"the header claims {length} bytes, expected at most {min(_LONGEST_HEADER, size - 8)}")
    return 8 + length


def read_header(data: bytes | bytearray, size: int) -> tuple[dict[str, str], list[Entry]]:
    """The metadata and the tensors' places. Raises FormatError, which names the tensor and the fault.

    Args:
        data: the file's bytes, up to the end of its header or farther.
        size: of the file.
    """
    start = header_length(data, size)
    if data[8:9] != b"{":
        raise FormatError("the header does not begin with '{', expected a safetensors file")
    header = read_object(bytes(data[8:start]), "the header")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise FormatError(f"__metadata__ is {brief(metadata)}, expected an object of strings")
    entries = [_entry(name, value, start) for name, value in header.items()]
    _check_places(entries, start, size)
    return metadata, entries


def _entry(name: str, value: Any, start: int) -> Entry:
    where = f"tensor {brief(name)}"
    fields(value, where, ("dtype", "shape", "data_offsets"))
    dtype, shape, offsets = text(value["dtype"], f"dtype of {where}"), value["shape"], value["data_offsets"]
    if dtype not in _ITEM_BYTES:
        raise FormatError(f"{where} has dtype {brief(dtype)}, expected one of {', '.join(_ITEM_BYTES)}")
    if not isinstance(shape, list) or len(shape) > _MOST_DIMENSIONS:
        raise FormatError(f"{where} has shape {brief(shape)}, expected a list of at most {_MOST_DIMENSIONS} sizes")
    if not isinstance(offsets, list) or len(offsets) != 2:
        raise FormatError(f"{where} has data_offsets {brief(offsets)}, expected [begin, end]")
    sizes = tuple(index(size, f"shape of {where}") for size in shape)
    begin, end = (index(offset, f"data_offsets of {where}") for offset in offsets)
    expected = prod(sizes) * _ITEM_BYTES[dtype]
    if end - begin != expected:
        raise FormatError(f"{where} spans {end - begin} bytes, expected {expected} for {dtype} {list(sizes)}")
    return Entry(name, dtype, sizes, start + begin, start + end)


def _check_places(entries: list[Entry], start: int, size: int) -> None:
    """Raises FormatError unless the tensors lie one after the other, from the header to the end of the file."""
    at = start
    for begin, end, name in sorted((each.begin, each.end, each.name) for each in entries):
        if begin != at or end > size:
            where = f"tensor {brief(name)}"
            raise FormatError(
                f"{where} lies at bytes {begin - start} to {end - start} of {size - start}, expected to begin at"
                f" {at - start}"
            )
        at = end
    if at != size:
        raise FormatError(
            f"the tensors end at byte {at - start}, the file at byte {size - start}: it is cut short or has a tail"
        )
