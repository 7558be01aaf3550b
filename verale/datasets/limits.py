"""What a Parquet file may hold for its size: a few bytes can stand for many rows, and for many bytes in each.

Row counts and sizes are read from the file's footer, before anything is allocated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from verale.datasets.chunks import Chunk
from verale.errors import InputError

if TYPE_CHECKING:
    from pyarrow import DataType, Table
    from pyarrow.parquet import FileMetaData

_ROWS = 2**20
"""Rows that any file may have; a larger file may have one more for each byte."""
_BYTES = 2**27
"""Bytes that a row group of any file may hold in a column; 128 MiB."""
_EXPANSION = 64
"""Further bytes that a row group may hold for each byte of the file."""
_WORK, _WORK_A_BYTE = 2**24, 16
"""Row groups times row groups times columns: reading a group takes a look at all of them."""
_WIDTHS = {1: 4, 2: 8, 3: 12, 4: 4, 5: 8}
"""Bytes of a value, by the number of its physical type: INT32, INT64, INT96, FLOAT, DOUBLE; of others, at least one."""


def require_proportionate(path: str, size: int, footer: FileMetaData, chunks: Sequence[Sequence[Chunk]]) -> None:
    """Raise InputError, which names the limit, if a file of `size` bytes claims too much.

    Args:
        path: the file, for messages.
        size: in bytes.
        footer: its metadata.
        chunks: what its footer says of each column of each row group.
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


def is_bytes(kind: DataType) -> bool:
    """Whether values of a type are bytes or text, of any length."""
    import pyarrow as pa

    return any(is_one(kind) for is_one in (pa.types.is_binary, pa.types.is_string))


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
