"""Which image belongs to a certificate, and what says so.

A certificate that names a picture names the digest of its values: an image is verified where its file holds that
picture, as the checker reads it, and no other image is shown with such a certificate. Whoever shows it draws these
values: another program may see another picture in the same bytes, by what a PNG file holds beside them (frames of an
animation, a colour profile, transparency, an orientation). A certificate that names latents names no image. There
`source.json` may note the latents' digest for an image, and the digest of its file; or else only the order speaks for
it. Nothing checks the one nor the other, and every report says which it is. Order that contradicts the folders of the
images, or their labels, is refused.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

from verale.checker.errors import FormatError
from verale.checker.read.pictures import LARGEST_PNG, SIGNATURE, Picture, read_png
from verale.errors import InputError
from verale.files import read
from verale.runs.images import IMAGE_SUFFIXES, classes_named
from verale.runs.inputs import PICTURES as KEPT
from verale.runs.source import Source

AS_GIVEN = "as given, which nothing checks"
"""What goes with an image that a caller gives, and that is no picture that the certificate names."""
AS_NOTED = "as source.json says, which nothing checks"
"""What goes with an image that the digest of its latents binds to a certificate, by the word of `source.json`."""
BY_ORDER = "matched by order, not verified"
"""What goes with an image that nothing but its place among the others binds to a certificate."""
OTHER = "not shown: no picture here has the digest that the certificate names"
"""What goes with a certificate whose picture is not at hand, where `source.json` names another one."""
GONE = "not shown: the file is gone, or has other bytes now"
"""What goes with an image that was explained, and of which only the digest is left."""
OUTSIDE = "not shown: the file is outside of the certificates' folder"
"""What goes with an image that `source.json` names anywhere else on this machine, and nobody has allowed."""
PICTURES = "prototypes"
"""The folder of the prototypes' pictures, beside the certificates."""
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)


_CHANNELS = (1, 3)
"""Of pictures that networks see: a grey PNG file may stand for either."""
_LARGEST = 2**24
"""The most values of a picture (certificates/network-v1.md, "Limits")."""
_SEARCHED = 2**28
"""Of more values in all, files are not looked through for a picture that does not lie where it is noted."""
_LAST = 4
"""So many files are at hand that were read last: whoever asks where a picture lies mostly asks of one file."""
_KEPT = 2**26
"""The most bytes of pictures and files that are kept to be drawn: of those beyond, the files are read again."""
_HEADER = 33
"""Bytes up to the end of the first chunk."""


def prototype_pictures(folder: Path, given: Path | None = None) -> dict[int, Path]:
    """The pictures of prototypes, by number, as `verale latents --prototype-pictures` names them, such as 0005.png; of
    equal numbers the last in order. They lie in the folder `given`, or in `prototypes` of that of the certificates.
    Raises InputError: there is no such folder as given, or it holds no such picture."""
    where = folder / PICTURES if given is None else given
    files = sorted(where.iterdir()) if where.is_dir() else []
    images = [file for file in files if file.suffix.lower() in IMAGE_SUFFIXES and _NUMBER.fullmatch(file.stem)]
    pictures = {int(file.stem): file for file in images}
    if given is not None and not pictures:
        problem = "holds no picture whose name is a prototype's number" if where.is_dir() else "no such folder"
        raise InputError(given, f"{problem}; expected pictures such as 0005.png")
    return pictures


@dataclass(frozen=True)
class Match:
    """The image of a certificate.

    Attributes:
        file: its file; None where no file can be it (`OTHER`).
        sha256: of the file that was explained, where known.
        label: its true class, where known: nothing checks it.
        note: empty where the file holds the picture that the certificate names; otherwise `AS_NOTED`, `BY_ORDER`,
            `GONE`, `OUTSIDE` or `OTHER`. Whoever shows the file compares its bytes with `sha256` again, or its picture
            with `picture`.
        picture: the digest of that picture, where the note is empty.
        held: that picture, or the bytes of the file, where they are kept to be drawn.
        contradicted: whether `source.json` names another picture's file, and what it says of it is left out.
    """

    file: Path | None
    sha256: str | None
    label: int | None
    note: str
    picture: str | None = None
    contradicted: bool = False
    held: Picture | bytes | None = field(default=None, repr=False, compare=False)

    @property
    def is_shown(self) -> bool:
        """Whether the file may be shown with the certificate."""
        return self.file is not None and self.note in ("", AS_NOTED, BY_ORDER)


class Matcher:
    """Finds the images of certificates, by what the source knows about them, the digests of the latents at hand, image
    by image, and the pictures that a run keeps in the folder of the certificates."""

    def __init__(self, source: Source, stored: Sequence[str] | None, folder: Path) -> None:
        self._source, self._pictures = source, folder / KEPT
        self._last: dict[str, bytes] = {}
        self._held: dict[str, Picture] = {}
        self._file_of: dict[str, Path] = {}
        self._room, self._left = _KEPT, _SEARCHED
        self._knows = stored is not None or bool(source.latents or source.pictures)
        self._indices: dict[str, list[int]] = {}
        for index, digest in (*enumerate(source.latents or stored or ()), *enumerate(source.pictures)):
            self._indices.setdefault(digest, []).append(index)
        whole = None if stored is None else hashlib.sha256("".join(stored).encode()).hexdigest()
        self._noted = bool(source.latents) or (whole is not None and whole == source.latents_digest)

    def matched(self, latents: str | None, picture: str | None, number: int | None) -> tuple[int | None, Match | None]:
        """The index of a certificate's image among the latents, and the image, by the digests that it names and the
        number in the name of its file; None for what is not known."""
        if picture is not None:
            return self._of_picture(picture, number)
        index = self.index_of(latents, number)
        return index, self.image(index, latents is not None)

    def _of_picture(self, picture: str, number: int | None) -> tuple[int | None, Match | None]:
        """The same of a picture. `source.json`, or a number, proposes a file; that this holds the picture is compared.

        Where it holds another one, an entry of `source.json` contradicts itself: nothing that it says is used. The
        picture is then looked for among the pictures of the run and the images.
        """
        source = self._source
        index = self.index_of(picture, number)
        proposed = number if index is None else index
        if proposed is None or not proposed < len(source.files):
            file = self._find(picture)
            match = None if file is None and not source.files else self._unnoted(file, picture, False)
            return None if source.files else index, match
        noted, sha256, label = source.files[proposed], source.digests[proposed], source.labels[proposed]
        places = [noted]  # where the file may lie
        if source.folder is not None and noted.is_relative_to(source.folder):
            places.append(self._pictures / noted.relative_to(source.folder))
        if source.admits(noted) and sha256 is not None and (moved := self._file(noted, sha256)) is not None:
            places.append(moved)
        places = [file for file in dict.fromkeys(places) if source.admits(file)]
        file = self._find(picture, places)
        is_noted = proposed < len(source.pictures) and source.pictures[proposed] == picture
        is_there = (digest := self._digest(noted)) is not None and sha256 in (None, digest)
        if (file in places and (is_noted or not source.pictures)) or (is_noted and not is_there):
            note = "" if file is not None else GONE if source.admits(noted) else OUTSIDE
            shown = None if file is None else picture
            held = self._held.get(picture)
            return proposed, Match(file or noted, sha256, label, note, shown, held=None if file is None else held)
        return None, self._unnoted(file, picture, is_noted or file in places)

    def _find(self, digest: str, noted: Sequence[Path] = ()) -> Path | None:
        """A file that holds the picture with this digest: of those that are noted, or else of the pictures of the run
        and the images, each of which is looked through once, if at all; None if none is found."""
        for file in noted:
            picture = named_picture(self._bytes(file), digest)
            if picture is not None:
                if self._has_room(len(picture.values)):
                    self._held[digest] = picture
                return file
        while digest not in self._file_of:
            other = next(self._others, None)
            if other is None:
                return None
            data = self._bytes(other)
            size = sum(map(prod, _shapes(data)))
            if size <= self._left:
                self._left -= size
                for picture in pictures_in(data):
                    self._file_of.setdefault(picture.digest, other)
        return self._file_of[digest]

    @cached_property
    def _others(self) -> Iterator[Path]:
        """The PNG files that may hold pictures that do not lie where they are noted."""
        files = [*sorted(self._pictures.rglob("*")), *self._inside()]
        return (file for file in dict.fromkeys(files) if file.suffix.lower() == ".png" and self._source.admits(file))

    def _read(self, file: str | Path) -> bytes:
        """The bytes of a file; of those that were read last they are at hand. Raises InputError."""
        if str(file) not in self._last:
            self._last[str(file)] = read(file, "an image")
            if len(self._last) > _LAST:
                del self._last[next(iter(self._last))]
        return self._last[str(file)]

    def _bytes(self, file: Path) -> bytes:
        """The bytes of a PNG file; none where it cannot be read, or is too large."""
        try:
            data = self._read(file)
        except InputError:
            return b""
        return data if len(data) <= LARGEST_PNG else b""

    def _has_room(self, size: int) -> bool:
        """Whether what is to be drawn is kept, of so many bytes."""
        kept = size <= self._room
        self._room -= size if kept else 0
        return kept

    def index_of(self, named: str | None, number: int | None) -> int | None:
        """The index of a certificate's image among the latents, by the digest that it names; None where it is none of
        them. The number in the name of its file counts where several images have this digest, and where no latents are
        known."""
        if not self._knows:
            return number
        indices = self._indices.get(named or "", [])
        return number if number in indices else indices[0] if indices else None

    def image(self, index: int | None, by_latents: bool) -> Match | None:
        """The image with an index, which is that of latents that are named, or just a number; None where there is
        none."""
        source = self._source
        if index is None or not index < len(source.files):
            return None
        noted, sha256, label = source.files[index], source.digests[index], source.labels[index]
        if not source.admits(noted):
            return Match(noted, sha256, label, OUTSIDE)
        if sha256 is None:
            return Match(noted, None, label, BY_ORDER)
        file = self._file(noted, sha256)
        if file is None:
            return Match(noted, sha256, label, GONE)
        data = self._read(self._source.admitted(file) or file)
        note = AS_NOTED if by_latents and self._noted else BY_ORDER
        return Match(file, sha256, label, note, held=data if self._has_room(len(data)) else None)

    def _file(self, noted: Path, sha256: str) -> Path | None:
        """The file with a digest: where it is noted, or wherever in the folder it lies now."""
        if self._digest(noted) == sha256:
            return noted
        equal = self._by_digest.get(sha256, [])
        return min(
            equal, key=lambda file: (file.parent.name != noted.parent.name, file.name != noted.name), default=None
        )

    @cached_property
    def _by_digest(self) -> Mapping[str | None, list[Path]]:
        files: dict[str | None, list[Path]] = {}
        for file in self._inside():
            if file.suffix.lower() in IMAGE_SUFFIXES and self._source.admits(file):
                files.setdefault(self._digest(file), []).append(file)
        return files

    def _inside(self) -> list[Path]:
        """What lies in the folder of the images, and in its folders."""
        folder = self._source.folder
        return [] if folder is None else [*sorted(folder.glob("*")), *sorted(folder.glob("*/*"))]

    def _unnoted(self, file: Path | None, picture: str, contradicted: bool) -> Match:
        """The image of a certificate that names a picture of which nothing else is known; None where no file holds
        it."""
        if file is None:
            return Match(None, None, None, OTHER, contradicted=contradicted)
        return Match(file, None, None, "", picture, contradicted, self._held.get(picture))

    def _digest(self, file: Path) -> str | None:
        admitted = self._source.admitted(file)
        try:
            return None if admitted is None else hashlib.sha256(self._read(admitted)).hexdigest()
        except InputError:
            return None


def _expected(item: Any) -> int | None:
    """The class of the folder that an item's image has to lie in: the true one. Where that is unknown, and the image is
    matched by order alone, the certificate's."""
    known: int | None = item.predicted if item.label is None and item.image_note == BY_ORDER else item.label
    return known


def require_consistent(items: Iterable[Any], source: Source, names: Sequence[str] | None, classes: int | None) -> None:
    """Raise InputError if the images of some items lie in folders of other classes than what is known about them; the
    names and the number of the classes count, where known."""
    root = source.folder
    if root is None:
        return
    placed = [item for item in items if item.file is not None]
    by_order = [file for file, digest in zip(source.files, source.digests, strict=True) if digest is None]
    folders = {_folder(file, root) for file in (*by_order, *(item.file for item in placed))}
    if None in folders:
        return
    checked = [item for item in placed if _expected(item) is not None]
    named = sorted(filter(None, folders))
    matched, meanings = classes_named(names or (), named), list[Mapping[str, int]]()
    if all(len(found) == 1 for found in matched.values()):
        meanings = [{folder: found[0] for folder, found in matched.items()}]
    else:
        # Folders without names of classes can mean the classes in their order, if there is one for each class; or by
        # their numbers, from 0 on or from 1 on. Known bytes may lie in folders that are no classes.
        checked = [item for item in checked if item.image_note == BY_ORDER]
        meanings += [{folder: index for index, folder in enumerate(named)}] if len(named) == classes else []
        if all(folder.isascii() and folder.isdigit() for folder in named):
            meanings += [{folder: int(folder) - first for folder in named} for first in (0, 1)]
    if not meanings:  # then all that is known is that images of a folder have one class
        checked = [item for item in checked if item.label is not None]
        meanings = [{_folder(item.file, root) or "": _expected(item) or 0 for item in reversed(checked)}]
    wrong = [
        [item for item in checked if meaning.get(_folder(item.file, root) or "") != _expected(item)]
        for meaning in meanings
    ]
    if not all(wrong):
        return
    first = min(wrong, key=len)[0]
    what = "the true class" if first.label is not None else "the certificate's class"
    remedy, expected = "give the folder that was explained", _expected(first)
    if first.image_note == BY_ORDER:
        remedy = (
            "images are matched by order here: give those that were explained, in their order, with source.json, or"
            " true labels in the latents file"
        )
    called = str(expected)
    if names is not None and expected is not None and expected < len(names):
        called += f" ({names[expected]})"
    raise InputError(
        first.file,
        f"lies in the folder {_folder(first.file, root)!r}, but {what} of {first.name} is"
        f" {called}, so this is another image, or it was moved to another class; {remedy}",
    )


def _folder(file: Path | None, root: Path) -> str | None:
    """The subfolder in which an image lies; None where it lies in the folder itself."""
    if file is None or not file.is_relative_to(root):
        return None
    parts = file.relative_to(root).parts
    return parts[0] if len(parts) == 2 else None


def pictures_in(data: bytes) -> Iterator[Picture]:
    """The pictures that the checker reads from a PNG file, for networks of one channel and of three; none where it
    refuses the file."""
    for shape in _shapes(data):
        try:
            yield Picture(shape, read_png(data, shape))
        except FormatError:
            continue


def named_picture(data: bytes, digest: str) -> Picture | None:
    """The picture with this digest among those that a PNG file with these bytes holds."""
    return next((picture for picture in pictures_in(data) if picture.digest == digest), None)


def _shapes(data: bytes) -> Iterator[tuple[int, int, int]]:
    """The shapes that the picture of a PNG file may have, by its header, where they are not too large."""
    if data.startswith(SIGNATURE) and len(data) >= _HEADER:
        columns, rows = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
        yield from ((channels, rows, columns) for channels in _CHANNELS if 0 < channels * rows * columns <= _LARGEST)
