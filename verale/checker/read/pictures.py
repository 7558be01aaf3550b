"""Pictures (certificates/network-v1.md, "Pictures"): tensor and PNG files, by the digest of their values."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

from ..errors import FormatError, PictureError, UnprovedError
from ..limit import LIMIT, Clock, allowed
from .formats import Tensor, brief, read_tensors
from .png_reader import SIGNATURE, read_png

LARGEST = 16 * 2**30
"""Bytes of a tensor file."""
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
    def digest(self) -> str:
        """SHA-256, in hex."""
        return _digest(self.shape, self.values).hex()


def _digest(shape: tuple[int, int, int], values: bytes) -> bytes:
    return hashlib.sha256(b"verale.picture.v1 %d %d %d\n" % shape + values).digest()


@dataclass(frozen=True)
class PictureFile:
    """A file of pictures.

    Attributes:
        name: for messages; "" where none is needed.
        read: gives its bytes, whenever they are needed. May raise OSError; PictureError, if they are others by now.
    """

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

    def values(self, row: int) -> bytes:
        """Those of one picture."""
        length = prod(self.shape)
        return bytes(self.data[row * length : (row + 1) * length])

    def picture(self, values: bytes) -> Picture:
        """A picture of this file with these values."""
        return Picture(self.shape, values, len(values) if self.size is None else self.size, self.taken)


@dataclass(frozen=True)
class UnreadFile:
    """A file that is left out of account.

    Attributes:
        name: the file's.
        why: what is wrong with it, for a message.
        limited: whether all that is wrong is the time that it takes to read it.
    """

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
            yield UnreadFile(file.name, f"{_kind(data)}: {error}")
        except UnprovedError as error:
            taken += clock.taken
            yield UnreadFile(file.name, str(error), limited=True)
        else:
            taken += stored.taken
            yield stored


def _kind(data: bytes) -> str:
    return "PNG file" if data[: len(SIGNATURE)] == SIGNATURE else "pictures file"


def _opened(data: bytes, shape: tuple[int, int, int], clock: Clock) -> StoredPictures:
    """The pictures of a file's bytes.

    Args:
        clock: what reading them may take.

    Raises:
        FormatError: a file that breaks a rule.
        UnprovedError: one that takes longer, or more memory.
    """
    if data[: len(SIGNATURE)] != SIGNATURE:
        return StoredPictures(shape, _tensor(data, shape).data, taken=clock.taken)
    png = read_png(data, shape)
    clock.keep(3 * prod(shape), 1)
    return StoredPictures(shape, png.values(clock.look), len(data), clock.taken)


def _tensor(data: bytes, shape: tuple[int, int, int]) -> Tensor:
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
    return tensor


class Pictures:
    """The pictures of some files, each read when it is looked for. A file that cannot be used is left out of account.
    Raises PictureError, which names the first, if none of them can.

    Args:
        files: tensor and PNG files, in the order in which they are searched.
        shape: (C, H, W) of the network.
        limit: seconds for each megabyte (`opened_files`).
    """

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
                values = stored.values(row)
                key = _digest(self._shape, values)
                self._place_of.setdefault(key, row * len(self._files) + number)
                self._keep(key, stored.picture(values))
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
            stored = _opened(file.read(), self._shape, Clock())
            picture = stored.picture(stored.values(row))
        except FormatError:
            picture = None
        if picture is None or _digest(self._shape, picture.values) != key:
            raise PictureError(f"{file.name}: {CHANGED}")
        self._keep(key, picture)
        return picture
