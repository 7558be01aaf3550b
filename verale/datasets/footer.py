"""Parquet files are opened here, and nowhere else: what a file's footer says of its columns may be run, and a few bytes
can stand for many rows, and for many bytes in each.

A column can have an extension type, which a library has registered with pyarrow: whoever opens the file has it read the
type, and later its values. Ray registers types, some of which are pickles: a file could run anything. So a footer that
names one is refused before pyarrow reads it.

Row counts and sizes are read before anything is allocated, and here: pyarrow's `FileMetaData.row_group(g).column(c)`
throws where a chunk contradicts itself, which ends the process. A footer is a struct in Thrift's compact protocol
(Apache Thrift, doc/specs/thrift-compact-protocol.md), whose fields are those of parquet.thrift (Apache Parquet). A
field of another type than there is not that field, and of two fields alike the last counts, as for whoever reads the
file later.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verale.errors import InputError

if TYPE_CHECKING:
    from pyarrow import NativeFile, Table
    from pyarrow.parquet import FileMetaData, ParquetFile

_RUN = (b"ray.data.", b"arrow.py_extension_type")
"""How the names of types begin that unpickle, in some version of Ray or pyarrow."""


def open_parquet(path: str, stream: NativeFile) -> ParquetFile:
    """A Parquet file, of which nothing is read but its footer. Raises InputError: a column has a type that is, or may
    be, a pickle; OSError, ValueError, ArrowException: it is not a Parquet file."""
    import pyarrow.parquet as pq

    if _names_what_runs(_footer(stream)):
        raise InputError(
            path,
            "has a column of Ray's own types, which may run what they hold when they are read: write numbers as lists"
            " or with pyarrow.fixed_shape_tensor, and texts as strings",
        )
    return pq.ParquetFile(stream)


def chunks_of(stream: NativeFile, footer: FileMetaData) -> list[list[Chunk]]:
    """What the footer of a file says of each column of each row group. Raises ValueError where it does not."""
    chunks = column_chunks(_footer(stream))
    if [len(group) for group in chunks] != [footer.num_columns] * footer.num_row_groups:
        raise ValueError("its footer does not say what its columns hold")
    return chunks


def _footer(stream: NativeFile) -> bytes:
    """The footer's bytes. The file ends with them, their length in four bytes, and a mark of four."""
    size = stream.size()
    length = int.from_bytes(stream.read_at(4, size - 8), "little") if size >= 8 else 0
    footer: bytes = stream.read_at(min(length, size - 8), max(0, size - 8 - length)) if length else b""
    return footer


def _names_what_runs(footer: bytes) -> bool:
    """Whether a type of these names is among the Arrow types of the columns.

    They are a flatbuffer, in which strings are written out, and that stands in the footer in base64. Where it begins is
    not asked: a file may hold it twice, or behind what looks like its beginning. All that can be base64 is decoded.
    """
    for run in re.findall(rb"[A-Za-z0-9+/]{12,}", footer):
        for begin in range(4):
            types = base64.b64decode(run[begin:] + b"A" * ((begin - len(run)) % 4))
            if any(name in types for name in _RUN):
                return True
    return False


_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _, _, _STRUCT = range(1, 13)

# Fields: number and type.
_ROW_GROUPS, _COLUMNS, _META = (4, _LIST), (1, _LIST), (3, _STRUCT)
_TYPE, _PATH, _VALUES, _SIZE = (1, _I32), (3, _LIST), (5, _I64), (6, _I64)

_DEEPEST = 32  # structs and lists within each other; a footer has about ten


@dataclass(frozen=True)
class Chunk:
    """One column of one row group, by the footer: its path, the number of its physical type, its values with nulls, and
    its bytes before compression."""

    path: str
    physical_type: int
    values: int
    size: int


def column_chunks(footer: bytes) -> list[list[Chunk]]:
    """The column chunks of each row group, from a footer's bytes, without the length and the mark behind it. Raises
    ValueError: it is no footer, or a chunk in it does not say how large it is."""
    try:
        file = _Reader(footer).value(_STRUCT, 0)
        metas = [[column[_META] for column in group[_COLUMNS]] for group in file.get(_ROW_GROUPS, [])]
        return [
            [Chunk(b".".join(m[_PATH]).decode("utf-8", "replace"), m[_TYPE], m[_VALUES], m[_SIZE]) for m in group]
            for group in metas
        ]
    except (IndexError, KeyError, TypeError) as error:
        raise ValueError("its footer does not say what its columns hold") from error


class _Reader:
    """Takes values from the front of bytes. Each takes at least one, so it ends however many a list claims to have."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0

    def value(self, kind: int, depth: int, in_list: bool = False) -> Any:
        """A value of a type: a number, bytes, a list or, of a struct, its fields; None of what is passed over."""
        if depth > _DEEPEST:
            raise IndexError
        if kind in (_TRUE, _FALSE) and not in_list:  # of a field, the type is the value
            return None
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if kind in (_I16, _I32, _I64):
            return self._signed()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._unsigned())
        if kind == _LIST:
            head = self._byte()
            count, of = head >> 4, head & 15
            return [self.value(of, depth + 1, True) for _ in range(self._unsigned() if count == 15 else count)]
        if kind == _STRUCT:
            fields: dict[tuple[int, int], Any] = {}
            number = 0
            while head := self._byte():
                number = number + (head >> 4) if head >> 4 else self._signed()
                fields[number, head & 15] = self.value(head & 15, depth + 1)
            return fields
        raise IndexError

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


_ROWS = 2**20  # rows that any file may have; a larger file may have one more for each byte
_BYTES = 2**27  # bytes that a row group of any file may hold in a column; 128 MiB
_EXPANSION = 64  # further bytes that a row group may hold for each byte of the file
_WORK, _WORK_A_BYTE = 2**24, 16
"""Row groups times row groups times columns: reading a group takes a look at all of them."""
_WIDTHS = {1: 4, 2: 8, 3: 12, 4: 4, 5: 8}
"""Bytes of a value, by the number of its physical type: INT32, INT64, INT96, FLOAT, DOUBLE; of others, at least one."""


def require_proportionate(path: str, size: int, footer: FileMetaData, chunks: Sequence[Sequence[Chunk]]) -> None:
    """Raise InputError, which names the limit, if a file of `size` bytes claims too much.

    `chunks` are what its footer says of each column of each row group.
    """
    if footer.num_rows > _ROWS + size:
        raise InputError(path, f"has {footer.num_rows} rows in {size} bytes, expected at most {_ROWS + size}")
    groups, columns = footer.num_row_groups, footer.num_columns
    if groups * groups * columns > _WORK + _WORK_A_BYTE * size:
        raise InputError(
            path,
            f"has {groups} row groups of {columns} columns in {size} bytes, expected fewer, larger groups: groups x"
            f" groups x columns at most {_WORK + _WORK_A_BYTE * size}",
        )
    most = _BYTES + _EXPANSION * size
    for group, columns_of in enumerate(chunks):
        for chunk in columns_of:
            held = max(chunk.size, chunk.values * _WIDTHS.get(chunk.physical_type, 1))
            if held > most:
                raise InputError(
                    path,
                    f"row group {group} holds {held} bytes in column {chunk.path} of a file of {size} bytes,"
                    f" expected at most {most}",
                )


def decoded(path: str, size: int, table: Table) -> Table:
    """A row group whose columns of bytes were read as dictionaries, decoded. Raises InputError if it is too large.

    A value that many rows share is stored once, and would be copied for each of them.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    most = _BYTES + _EXPANSION * size
    for number, field in enumerate(table.schema):
        if not pa.types.is_dictionary(field.type):
            continue
        column = table.column(number)
        held = sum(
            pc.sum(pc.take(pc.binary_length(chunk.dictionary), chunk.indices)).as_py() or 0 for chunk in column.chunks
        )
        if held > most:
            raise InputError(
                path,
                f"a row group holds {held} bytes in column {field.name} of a file of {size} bytes, expected at most"
                f" {most}",
            )
        plain = pa.field(field.name, field.type.value_type, field.nullable, field.metadata)
        table = table.set_column(number, plain, column.cast(field.type.value_type))
    return table
