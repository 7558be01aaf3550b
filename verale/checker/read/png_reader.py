"""A strict PNG reader: 8 bits, grey or red-green-blue, not interlaced (certificates/network-v1.md, "Pictures").

No more is inflated than the header's size asks for, and that size is compared with what is expected before. CRCs are
compared. Everything else is refused by name.

**Filters** (ISO/IEC 15948, 9.2). With a the byte of the pixel to the left, b the one above and c the one above to the
left, 0 outside the picture, a filtered byte x stands for x, x + a, x + b, x + floor((a + b) / 2) or x + the nearest of
a, b and c to a + b - c (the first of these where several are), all modulo 256.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from ..errors import FormatError
from .formats import brief

LARGEST = 64 * 2**20
"""Bytes of a file."""
SIGNATURE = b"\x89PNG\r\n\x1a\n"
_LONGEST_CHUNK = 2**31 - 1
_COLOURS = {0: 1, 2: 3}
"""The channels of each colour type that is read."""
_REFUSED = {3: "a palette", 4: "grey with alpha", 6: "colours with alpha"}
_ANCILLARY = 0x20
"""The bit of the first letter of a type: the chunk may be left out of account."""


@dataclass(frozen=True)
class Png:
    """A PNG file whose chunks and header keep every rule; nothing is inflated yet.

    Attributes:
        shape: (C, H, W).
        channels: how many are stored: C, or 1 of a grey one.
        stream: what its IDAT chunks hold.
    """

    shape: tuple[int, int, int]
    channels: int
    stream: bytes

    def values(self, passed: Callable[[], None] = lambda: None) -> bytes:
        """The C H W bytes of the picture, in the order (c, y, x). Raises FormatError, which names the fault.

        Args:
            passed: called at each row; may raise.
        """
        channels, rows, columns = self.shape
        length = 1 + self.channels * columns
        lines = _inflated(self.stream, rows * length)
        filters = lines[::length]
        wrong = filters.translate(None, bytes(range(len(_FILTERS))))
        if wrong:
            y = filters.index(wrong[0])
            raise FormatError(f"row {y} has the filter {wrong[0]}, expected 0 to {len(_FILTERS) - 1}")
        planes = [bytearray() for _ in range(self.channels)]
        above = [bytes(columns)] * self.channels
        for start, kind in zip(range(1, len(lines), length), filters, strict=True):
            passed()
            for channel, plane in enumerate(planes):
                filtered = lines[start + channel : start + length - 1 : self.channels]
                above[channel] = _FILTERS[kind](filtered, above[channel])
                plane += above[channel]
        return b"".join(planes * (channels // self.channels))


def read_png(data: bytes, shape: tuple[int, int, int]) -> Png:
    """The PNG file of these bytes. Raises FormatError, which names the fault.

    Args:
        data: the file's bytes.
        shape: (C, H, W), which the picture has to have; a grey one may stand for three channels.
    """
    if len(data) > LARGEST:
        raise FormatError(f"it has more than {LARGEST} bytes, the most that are allowed")
    if not data.startswith(SIGNATURE):
        raise FormatError("it does not begin as a PNG file does")
    chunks = _chunks(data)
    kind, header = next(chunks)
    if kind != b"IHDR" or len(header) != 13:
        raise FormatError(f"its first chunk is {brief(kind)} of {len(header)} bytes, expected IHDR of 13")
    return Png(shape, _channels(header, shape), _stream(chunks))


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The type and the data of every chunk, the last of which is IEND, without data."""
    at = len(SIGNATURE)
    while at < len(data):
        length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        end = at + 8 + length
        if length > _LONGEST_CHUNK or end + 4 > len(data):
            raise FormatError(f"the chunk at byte {at} claims {length} bytes, more than are left")
        if not kind.isalpha():
            raise FormatError(f"the chunk at byte {at} has the type {brief(kind)}, expected four letters")
        if zlib.crc32(data[at + 4 : end]) != int.from_bytes(data[end : end + 4], "big"):
            raise FormatError(f"the chunk {kind.decode()} at byte {at} has a wrong CRC: the file is damaged")
        yield kind, data[at + 8 : end]
        at = end + 4
        if kind == b"IEND":
            if length or at != len(data):
                raise FormatError("something follows its chunk IEND, expected the end of the file")
            return
    raise FormatError("it ends without the chunk IEND: it is cut short")


def _channels(header: bytes, shape: tuple[int, int, int]) -> int:
    """How many bytes a pixel has. Raises FormatError unless the header fits the shape."""
    columns, rows = int.from_bytes(header[:4], "big"), int.from_bytes(header[4:8], "big")
    depth, colour, compression, filtering, interlaced = header[8:]
    if (rows, columns) != shape[1:]:
        raise FormatError(f"it has {rows} rows and {columns} columns, expected the network's {shape[1]} and {shape[2]}")
    if colour not in _COLOURS:
        found = _REFUSED.get(colour, f"the colour type {colour}")
        raise FormatError(f"it has {found}, expected grey or red, green and blue: convert it before it is explained")
    if depth != 8:
        raise FormatError(f"it has {depth} bits a channel, expected 8: convert it before it is explained")
    if interlaced:
        raise FormatError("it is interlaced, expected a picture that is not: save it without")
    if compression or filtering:
        raise FormatError(f"it has compression {compression} and filter {filtering}, expected 0 and 0")
    if _COLOURS[colour] > shape[0]:
        raise FormatError(f"it has {_COLOURS[colour]} channels, expected the network's {shape[0]}")
    return _COLOURS[colour]


def _stream(chunks: Iterator[tuple[bytes, bytes]]) -> bytes:
    """What the IDAT chunks hold, together."""
    parts: list[bytes] = []
    done = False
    for kind, data in chunks:
        if kind == b"IDAT":
            if done:
                raise FormatError("a chunk stands between two IDAT chunks, expected these to follow one another")
            parts.append(data)
            continue
        done = bool(parts)
        if kind != b"IEND" and not kind[0] & _ANCILLARY:
            raise FormatError(f"it has the chunk {kind.decode()}, expected IHDR, IDAT and IEND, and lower-case ones")
    return b"".join(parts)


def _inflated(stream: bytes, size: int) -> bytes:
    """The zlib stream's `size` bytes, no more of which are made."""
    inflating = zlib.decompressobj()
    try:
        lines = inflating.decompress(stream, size + 1)
    except zlib.error as error:
        raise FormatError(f"its IDAT chunks cannot be inflated ({error})") from None
    if len(lines) != size or not inflating.eof or inflating.unused_data:
        raise FormatError(f"its IDAT chunks are no zlib stream of {size} bytes from their beginning to their end")
    return lines


def _as_stored(row: bytes, above: bytes) -> bytes:
    return row


def _plus_left(row: bytes, above: bytes) -> bytes:
    return bytes(map((255).__and__, accumulate(row)))


def _plus_above(row: bytes, above: bytes) -> bytes:
    """All bytes at once, as digits of one integer: their lower seven bits are added, which carries into no other byte,
    and the eighth ones are added without a carry."""
    lower = int.from_bytes(b"\x7f" * len(row), "big")
    x, b = int.from_bytes(row, "big"), int.from_bytes(above, "big")
    return ((x & lower) + (b & lower) ^ (x ^ b) & ~lower).to_bytes(len(row), "big")


def _plus_mean(row: bytes, above: bytes) -> bytes:
    def unfiltered() -> Iterator[int]:
        a = 0
        for x, b in zip(row, above, strict=True):
            a = x + (a + b) // 2 & 255
            yield a

    return bytes(unfiltered())


def _plus_nearest(row: bytes, above: bytes) -> bytes:
    def unfiltered() -> Iterator[int]:
        a = c = 0
        for x, b in zip(row, above, strict=True):
            left, up, corner = abs(b - c), abs(a - c), abs(a + b - c - c)
            if left > up or left > corner:
                a = b if up <= corner else c
            a = x + a & 255
            c = b
            yield a

    return bytes(unfiltered())


_FILTERS: tuple[Callable[[bytes, bytes], bytes], ...] = (
    _as_stored,
    _plus_left,
    _plus_above,
    _plus_mean,
    _plus_nearest,
)
"""By the number of a filter what undoes it: of a row of one channel, and the row above, without its filter."""
