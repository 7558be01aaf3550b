"""What the footer of a Parquet file says of its column chunks, read here: pyarrow's accessor may end the process.

`FileMetaData.row_group(g).column(c)` throws where a chunk contradicts itself, through code that cannot be thrown
through, and nothing in Python can catch that. Reading a chunk fails as it should, but sizes have to be known before.

A footer is a struct in Thrift's compact protocol (Apache Thrift, doc/specs/thrift-compact-protocol.md), whose fields
are those of parquet.thrift (Apache Parquet). A field of another type than there is not that field, and of two fields
alike the last counts, as for whoever reads the file later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)

_Field = tuple[int, int]
"""Number and type."""

_ROW_GROUPS, _COLUMNS, _META = (4, _LIST), (1, _LIST), (3, _STRUCT)
_TYPE, _PATH, _VALUES, _SIZE = (1, _I32), (3, _LIST), (5, _I64), (6, _I64)

_DEEPEST = 32
"""Structs and lists within each other; a footer has about ten."""


@dataclass(frozen=True)
class Chunk:
    """One column of one row group, by the footer: its path, the number of its physical type, its values with nulls, and
    its bytes before compression."""

    path: str
    physical_type: int
    values: int
    size: int


def column_chunks(footer: bytes) -> list[list[Chunk]]:
    """The column chunks of each row group.

    Args:
        footer: the bytes of a file's footer, without the length and the mark behind it.

    Raises:
        ValueError: it is no footer, or a chunk in it does not say how large it is.
    """
    try:
        file = _Reader(footer).value(_STRUCT, 0)
        return [[_chunk(column[_META]) for column in group[_COLUMNS]] for group in file.get(_ROW_GROUPS, [])]
    except (IndexError, KeyError, TypeError) as error:
        raise ValueError("its footer does not say what its columns hold") from error


def _chunk(meta: dict[_Field, Any]) -> Chunk:
    path = b".".join(meta[_PATH]).decode("utf-8", "replace")
    return Chunk(path, meta[_TYPE], meta[_VALUES], meta[_SIZE])


class _Reader:
    """Takes values from the front of bytes. Each takes at least one, so it ends however many a list claims to have."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0

    def value(self, kind: int, depth: int, in_list: bool = False) -> Any:
        """A value of a type: a number, bytes, a list or, of a struct, its fields; None of what is passed over."""
        if depth > _DEEPEST:
            raise IndexError
        if kind in (_TRUE, _FALSE):  # of a field, the type is the value
            return self._byte() if in_list else None
        if kind == _BYTE:
            return self._byte()
        if kind in (_I16, _I32, _I64):
            return self._signed()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._unsigned())
        if kind in (_LIST, _SET):
            head = self._byte()
            count, of = head >> 4, head & 15
            return [self.value(of, depth + 1, True) for _ in range(self._unsigned() if count == 15 else count)]
        if kind == _MAP:
            count = self._unsigned()
            kinds = self._byte() if count else 0
            return [self.value(of, depth + 1, True) for _ in range(count) for of in (kinds >> 4, kinds & 15)]
        if kind == _STRUCT:
            return self._struct(depth)
        raise IndexError

    def _struct(self, depth: int) -> dict[_Field, Any]:
        fields: dict[_Field, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            fields[number, head & 15] = self.value(head & 15, depth + 1)
        return fields

    def _byte(self) -> int:
        self._place += 1
        return self._data[self._place - 1]

    def _bytes(self, count: int) -> bytes:
        self._place += count
        if self._place > len(self._data):
            raise IndexError
        return self._data[self._place - count : self._place]

    def _unsigned(self) -> int:
        number = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise IndexError

    def _signed(self) -> int:
        coded = self._unsigned()
        return coded >> 1 ^ -(coded & 1)
