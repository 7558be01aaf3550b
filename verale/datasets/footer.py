"""Parquet files are opened here, and nowhere else: what a file's footer says of its columns may be run.

A column can have an extension type, which a library has registered with pyarrow under a name. Whoever opens the file
has that library read the type, and later its values. Ray registers types, some of which are pickles: a file could then
run anything. So a footer that names one is refused before pyarrow reads it.
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

from verale.datasets.chunks import Chunk, column_chunks
from verale.errors import InputError

if TYPE_CHECKING:
    from pyarrow import NativeFile
    from pyarrow.parquet import FileMetaData, ParquetFile

_RUN = (b"ray.data.", b"arrow.py_extension_type")
"""How the names of types begin that unpickle, in some version of Ray or pyarrow."""

_BASE64 = re.compile(rb"[A-Za-z0-9+/]{12,}")


def open_parquet(path: str, stream: NativeFile) -> ParquetFile:
    """A Parquet file.

    Args:
        path: for messages.
        stream: the file; nothing of it is read but its footer.

    Raises:
        InputError: a column has a type that is, or may be, a pickle.
        OSError, ValueError, ArrowException: it is not a Parquet file.
    """
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
    if size < 8:
        return b""
    length = int.from_bytes(stream.read_at(4, size - 8), "little")
    footer: bytes = stream.read_at(min(length, size - 8), max(0, size - 8 - length))
    return footer


def _names_what_runs(footer: bytes) -> bool:
    """Whether a type of these names is among the Arrow types of the columns.

    They are a flatbuffer, in which strings are written out, and that stands in the footer in base64. Where it begins is
    not asked: a file may hold it twice, or behind what looks like its beginning. All that can be base64 is decoded.
    """
    for run in _BASE64.findall(footer):
        for begin in range(4):
            types = base64.b64decode(run[begin:] + b"A" * ((begin - len(run)) % 4))
            if any(name in types for name in _RUN):
                return True
    return False
