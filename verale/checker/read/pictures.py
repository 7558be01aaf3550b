"""Pictures (certificates/network-v1.md, "Pictures"): tensor and PNG files, by the digest of their values.

Of PNG files those are read with 8 bits, grey or red-green-blue, not interlaced. No more is inflated than the header's
size asks for, and that size is compared with what is expected before. CRCs are compared. Everything else is refused by
name.

**Filters** (ISO/IEC 15948, 9.2). With a the byte of the pixel to the left, b the one above and c the one above to the
left, 0 outside the picture, a filtered byte x stands for x, x + a, x + b, x + floor((a + b) / 2) or x + the nearest of
a, b and c to a + b - c (the first of these where several are), all modulo 256.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import prod

from ..errors import FormatError, PictureError, UnprovedError
from ..limit import LIMIT, Clock, allowed
from .formats import brief, read_tensors

LARGEST = 16 * 2**30
"""Bytes of a tensor file."""
LARGEST_PNG = 64 * 2**20
"""Bytes of a PNG file."""
SIGNATURE = b"\x89PNG\r\n\x1a\n"
_LONGEST_CHUNK = 2**31 - 1
_COLOURS = {0: 1, 2: 3}
"""The channels of each colour type that is read."""
_REFUSED = {3: "a palette", 4: "grey with alpha", 6: "colours with alpha"}
_ANCILLARY = 0x20
"""The bit of the first letter of a type: the chunk may be left out of account."""
CHANGED = "was changed meanwhile; start again"
_KEPT, _AROUND = 2**25, 2**10
"""Bytes of pictures that are kept, to be found again, each with what is around it."""


@dataclass(frozen=True)
class Picture:
    """One picture.

    Attributes:
        shape: (C, H, W).
        values: C H W bytes in the order (c, y, x).
        size: how many bytes of a file it was read from.
        taken: seconds of processor time that it took to read its file.
    """

    shape: tuple[int, int, int]
    values: bytes
    size: int = field(default=0, compare=False)
    taken: float = field(default=0.0, compare=False)

    @property
    def key(self) -> bytes:
        """SHA-256."""
        return hashlib.sha256(b"verale.picture.v1 %d %d %d\n" % self.shape + self.values).digest()

    @property
    def digest(self) -> str:
        """The same in hex."""
        return self.key.hex()


@dataclass(frozen=True)
class PictureFile:
    """A file of pictures: its name for messages, "" where none is needed; and what gives its bytes, whenever they are
    needed, which may raise OSError, and PictureError, if they are others by now."""

    name: str
    read: Callable[[], bytes]


@dataclass(frozen=True, eq=False)
class StoredPictures:
    """The pictures of a file.

    Attributes:
        shape: (C, H, W).
        data: their values, one after the other.
        size: of the file, in bytes, if it is a PNG file; its only picture is read from all of it.
        taken: seconds of processor time that it took to read them.
    """

    shape: tuple[int, int, int]
    data: bytes | memoryview
    size: int | None = None
    taken: float = 0.0

    def __len__(self) -> int:
        return len(self.data) // prod(self.shape)

    def picture(self, row: int) -> Picture:
        """One of them."""
        length = prod(self.shape)
        values = bytes(self.data[row * length : (row + 1) * length])
        return Picture(self.shape, values, length if self.size is None else self.size, self.taken)


@dataclass(frozen=True)
class UnreadFile:
    """A file that is left out of account: its name, what is wrong with it, for a message, and whether that is the time
    alone that it takes to read it."""

    name: str
    why: str
    limited: bool = False

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.name, self.why)))


_PARTS = 3
"""Of the limit of an audit, one is for reading pictures."""


def opened_files(
    files: Iterable[PictureFile], shape: tuple[int, int, int], limit: float = LIMIT
) -> Iterator[StoredPictures | UnreadFile]:
    """The pictures of each file, in order, or why it is left out of account.

    All files up to any one of them take no more time than a third of what `limit` allows for their bytes; one that
    would is left out. The rest is for proofs about them.

    Args:
        files: tensor and PNG files.
        shape: (C, H, W) of the network.
        limit: seconds for each megabyte.
    """
    size, taken, clock = 0, 0.0, Clock()
    for file in files:
        try:
            data = file.read()
            size += len(data)
            clock.start(max(0.0, allowed(limit / _PARTS, size) - taken))
            stored = _opened(data, shape, clock)
        except OSError as error:
            yield UnreadFile(file.name, f"cannot be read ({error.strerror})")
        except PictureError as error:
            yield UnreadFile(file.name, str(error))
        except MemoryError:
            yield UnreadFile(file.name, "takes more memory than there is")
        except FormatError as error:
            yield UnreadFile(file.name, f"{'PNG' if data.startswith(SIGNATURE) else 'pictures'} file: {error}")
        except UnprovedError as error:
            taken += clock.taken
            yield UnreadFile(file.name, str(error), limited=True)
        else:
            taken += stored.taken
            yield stored


def _opened(data: bytes, shape: tuple[int, int, int], clock: Clock) -> StoredPictures:
    """The pictures of a file's bytes. Raises FormatError: a file that breaks a rule; UnprovedError: one that takes
    longer than the clock allows, or more memory."""
    if data.startswith(SIGNATURE):
        clock.keep(3 * prod(shape), 1)
        return StoredPictures(shape, read_png(data, shape, clock.look), len(data), clock.taken)
    _, tensors = read_tensors(data)
    if "pictures" not in tensors:
        raise FormatError(
            f"holds {', '.join(map(ascii, tensors)) or 'no tensor'}, expected a tensor 'pictures', or a PNG file"
        )
    tensor = tensors["pictures"]
    if tensor.dtype != "U8":
        raise FormatError(f"tensor 'pictures' has dtype {brief(tensor.dtype)}, expected U8")
    if len(tensor.shape) != 4 or tensor.shape[1:] != shape:
        raise FormatError(
            f"tensor 'pictures' has shape {list(tensor.shape)}, expected (N, C, H, W) with the network's {list(shape)}"
        )
    return StoredPictures(shape, tensor.data, taken=clock.taken)


class Pictures:
    """The pictures of some files, each read when it is looked for, in this order (`opened_files`). Files that cannot be
    used are left out of account. Raises PictureError, which names the first, if none of them can."""

    def __init__(self, files: Sequence[PictureFile], shape: tuple[int, int, int], limit: float = LIMIT) -> None:
        self._files, self._shape = files, shape
        self._place_of: dict[bytes, int] = {}  # of a row: its number times as many as there are files, and its file's
        self._kept: OrderedDict[bytes, Picture] = OrderedDict()
        self._unread: list[UnreadFile] = []
        self._remaining = self._read(limit)
        if next(self._remaining, None) is None and any(not each.limited for each in self._unread):
            raise PictureError(self._left_out())

    def find(self, digest: str) -> Picture | None:
        """The picture with that digest; None if there is none.

        Raises:
            PictureError: there is none among the files that can be used; or a file was changed meanwhile.
            UnprovedError: there is none among those that can be read within the limit.
        """
        key = bytes.fromhex(digest)
        if key in self._place_of or any(each == key for each in self._remaining):
            return self._kept.get(key) or self._again(key)
        if not self._unread:
            return None
        message = f"{self._left_out()}; no picture that can be read has the digest {digest[:16]}..."
        raise UnprovedError("limit", message) if any(each.limited for each in self._unread) else PictureError(message)

    def _left_out(self) -> str:
        """Which files are left out of account, and why the first of them is, or the first that takes too much work."""
        named = next((each for each in self._unread if each.limited), self._unread[0])
        others = len(self._unread) - 1
        return f"{named}" + (f"; nor can {others} other file{'s' * (others > 1)} be read" if others else "")

    def _read(self, limit: float) -> Iterator[bytes]:
        """The digests of all pictures, once. What was read last is kept."""
        for number, stored in enumerate(opened_files(self._files, self._shape, limit)):
            if isinstance(stored, UnreadFile):
                self._unread.append(stored)
                continue
            for row in range(len(stored)):
                picture = stored.picture(row)
                key = picture.key
                self._place_of.setdefault(key, row * len(self._files) + number)
                self._keep(key, picture)
                yield key

    def _keep(self, key: bytes, picture: Picture) -> None:
        self._kept[key] = picture
        if len(self._kept) * (len(picture.values) + _AROUND) > _KEPT:
            self._kept.popitem(last=False)

    def _again(self, key: bytes) -> Picture:
        """A picture that was read before, and is kept no longer."""
        row, number = divmod(self._place_of[key], len(self._files))
        file = self._files[number]
        try:
            picture = _opened(file.read(), self._shape, Clock()).picture(row)
        except FormatError:
            picture = None
        if picture is None or picture.key != key:
            raise PictureError(f"{file.name}: {CHANGED}")
        self._keep(key, picture)
        return picture


def read_png(data: bytes, shape: tuple[int, int, int], passed: Callable[[], None] = lambda: None) -> bytes:
    """The C H W bytes of the picture of a PNG file, in the order (c, y, x). It has to have the shape (C, H, W); a grey
    one may stand for three channels. At each row `passed` is called, which may raise. Raises FormatError, which names
    the fault."""
    if len(data) > LARGEST_PNG:
        raise FormatError(f"it has more than {LARGEST_PNG} bytes, the most that are allowed")
    if not data.startswith(SIGNATURE):
        raise FormatError("it does not begin as a PNG file does")
    chunks = _chunks(data)
    kind, header = next(chunks)
    if kind != b"IHDR" or len(header) != 13:
        raise FormatError(f"its first chunk is {brief(kind)} of {len(header)} bytes, expected IHDR of 13")
    stored, (channels, rows, columns) = _channels(header, shape), shape
    length = 1 + stored * columns
    lines = _inflated(_stream(chunks), rows * length)
    filters = lines[::length]
    wrong = filters.translate(None, bytes(range(len(_FILTERS))))
    if wrong:
        y = filters.index(wrong[0])
        raise FormatError(f"row {y} has the filter {wrong[0]}, expected 0 to {len(_FILTERS) - 1}")
    planes = [bytearray() for _ in range(stored)]
    above = [bytes(columns)] * stored
    for start, kind_of_filter in zip(range(1, len(lines), length), filters, strict=True):
        passed()
        for channel, plane in enumerate(planes):
            filtered = lines[start + channel : start + length - 1 : stored]
            above[channel] = bytes(_FILTERS[kind_of_filter](filtered, above[channel]))
            plane += above[channel]
    return b"".join(planes * (channels // stored))


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


def _plus_above(row: bytes, above: bytes) -> Iterable[int]:
    """All bytes at once, as digits of one integer: their lower seven bits are added, which carries into no other byte,
    and the eighth ones are added without a carry."""
    lower = int.from_bytes(b"\x7f" * len(row), "big")
    x, b = int.from_bytes(row, "big"), int.from_bytes(above, "big")
    return ((x & lower) + (b & lower) ^ (x ^ b) & ~lower).to_bytes(len(row), "big")


def _plus_mean(row: bytes, above: bytes) -> Iterable[int]:
    a = 0
    for x, b in zip(row, above, strict=True):
        a = x + (a + b) // 2 & 255
        yield a


def _plus_nearest(row: bytes, above: bytes) -> Iterable[int]:
    a = c = 0
    for x, b in zip(row, above, strict=True):
        left, up, corner = abs(b - c), abs(a - c), abs(a + b - c - c)
        if left > up or left > corner:
            a = b if up <= corner else c
        a = x + a & 255
        c = b
        yield a


_FILTERS: tuple[Callable[[bytes, bytes], Iterable[int]], ...] = (
    lambda row, above: row,
    lambda row, above: map((255).__and__, accumulate(row)),
    _plus_above,
    _plus_mean,
    _plus_nearest,
)
"""By the number of a filter what undoes it: of a row of one channel, and the row above, without its filter."""
