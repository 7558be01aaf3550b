"""Archives of `torch.save` that can be read in one way only.

A ZIP file has a directory at its end, and readers differ in where they look for it and for what it lists: torch takes
the offset that the last record states, Python's `zipfile` moves it where bytes stand before the archive. So of two
archives in one file each reads another. Here the entries have to fill the file from its first byte to the directory,
and the directory the rest, so that both see the same.
"""

from __future__ import annotations

import struct
import zipfile

from verale.adapters.storages import ExcessError

__all__ = ["require_one_reading"]

_END = struct.Struct("<4s4H2LH")
"""The last record: signature, two disks, entries on this disk, entries, bytes and offset of the directory, comment."""
_LARGE_END = struct.Struct("<4sQ2H2L4Q")
"""The same of large archives: signature, its size, two versions, two disks, then as above."""
_LOCATOR = struct.Struct("<4sLQL")
"""Where that is: signature, disk, offset, disks. It stands before the last record."""
_LOCAL = struct.Struct("<4s5H3L2H")
"""What stands before the bytes of an entry: ..., the lengths of its name and of what follows that."""

_DESCRIPTORS = (0, 16, 24)
"""Bytes that may follow those of an entry: its sizes once more."""

_REMEDY = "save it again, with torch.save"


def require_one_reading(data: bytes, archive: zipfile.ZipFile) -> None:
    """Raise ExcessError unless entries and directory fill the file, each where it says. Other errors: broken bytes.

    Args:
        data: the whole file.
        archive: the same, as `zipfile` reads it.
    """
    entries = sorted(archive.infolist(), key=lambda entry: entry.header_offset)
    at = 0
    for entry in entries:
        if entry.header_offset not in {at + more for more in (_DESCRIPTORS if at else (0,))}:
            raise _several(f"entry {entry.filename[:40]!r} lies at byte {entry.header_offset}, expected {at}")
        signature, *_, name, extra = _LOCAL.unpack_from(data, entry.header_offset)
        start = entry.header_offset + _LOCAL.size
        stated = data[start : start + name]
        if (
            signature != b"PK\x03\x04"
            or stated != entry.orig_filename.encode()
            or entry.filename != entry.orig_filename
        ):
            raise _several(f"entry {entry.filename[:40]!r} has two names")
        at = start + name + extra + entry.file_size
    begin, end = _directory(data, len(entries))
    if begin not in {at + more for more in _DESCRIPTORS} or end != begin + _size(data, begin, len(entries)):
        raise _several(f"its directory lies at bytes {begin} to {end}, its entries end at byte {at}")


def _directory(data: bytes, entries: int) -> tuple[int, int]:
    """Where the directory begins and ends. Raises ExcessError."""
    last = len(data) - _END.size
    signature, *_, count, size, begin, comment = _END.unpack_from(data, last)
    if signature != b"PK\x05\x06" or comment:
        raise _several("something follows its last record")
    if data[last - _LOCATOR.size :][:4] == b"PK\x06\x07":
        large = last - _LOCATOR.size - _LARGE_END.size
        _, _, offset, _ = _LOCATOR.unpack_from(data, last - _LOCATOR.size)
        signature, *_, of_large, wide, start = _LARGE_END.unpack_from(data, large)
        same = all(
            short in (long, 2**bits - 1)
            for short, long, bits in ((count, of_large, 16), (size, wide, 32), (begin, start, 32))
        )
        if signature != b"PK\x06\x06" or offset != large or not same:
            raise _several("its last records differ")
        last, count, size, begin = large, of_large, wide, start
    if count != entries or begin + size != last:
        raise _several(f"its directory of {size} bytes and {count} entries does not lie before its last record")
    return begin, last


def _size(data: bytes, begin: int, entries: int) -> int:
    """The bytes of a directory of so many entries."""
    at = begin
    for _ in range(entries):
        signature, *lengths = struct.unpack_from("<4s24x3H", data, at)
        if signature != b"PK\x01\x02":
            raise _several("its directory does not lie where its last record says")
        at += 46 + sum(lengths)
    return at - begin


def _several(problem: str) -> ExcessError:
    return ExcessError(f"can be read in several ways ({problem})", _REMEDY)
