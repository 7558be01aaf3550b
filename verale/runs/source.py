"""`source.json`: where latents come from, that is the network, the images, their classes and the prototypes' images."""

from __future__ import annotations

import hashlib
import json
import os
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from os.path import lexists
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from verale.adapters.fields import Axis, Origin, ReceptiveFields
from verale.errors import InputError
from verale.files import SentFile, followed, read
from verale.runs.inputs import SOURCE

if TYPE_CHECKING:
    from torch import Tensor

_LARGEST = 2**53  # indices and labels are below this: every reader of JSON has them exactly
_HERE = Path()
_LONGEST = 4096  # the most characters of a file's or a class's name
_MOST_ORIGINS = 2**16
"""The most patches that prototypes were copied from. Each may be of another file, whose links are followed."""
_MOST_FIELDS, _MOST_UNKNOWN, _WIDEST = 2**12, 100, 2**20
"""The most rows or columns of a grid, modules of unknown reach, and pixels a side of a network's input."""


@dataclass(frozen=True)
class SourceImage:
    """An image as `source.json` lists it: its path in the images' folder, and SHA-256 of the file, if noted."""

    file: str
    label: int | None
    sha256: str | None = None

    @classmethod
    def of(cls, path: Path, file: str, label: int | None) -> SourceImage:
        """The image at a path. Raises InputError: it cannot be read."""
        return cls(file, label, hashlib.sha256(read(path, "an image")).hexdigest())


@dataclass(frozen=True)
class Source:
    """What is known about where latents come from; by default nothing. `files` are the images in the latents' order; as
    many are their true `labels`, the `digests` (SHA-256) of the files that were captured, each None where unknown; and,
    or none, the digests of each image's `latents`, and of its `pictures`, as the network sees it.

    The steps from image to tensor are as CaBRNet's dataset.yml states them. `origins` are, by prototype, the patches
    that they were copied from. `decoded` says in words which of the pictures were made from other files, and how. Of
    files only those in `roots` may be read, folders without links in their paths; None for all. Who writes
    `source.json` may name any file of the reader's machine in it.
    """

    folder: Path | None = None
    files: tuple[Path, ...] = ()
    labels: tuple[int | None, ...] = ()
    digests: tuple[str | None, ...] = ()
    latents: tuple[str, ...] = ()
    latents_digest: str | None = None
    pictures: tuple[str, ...] = ()
    classes: tuple[str, ...] | None = None
    preprocessing: Any = None
    origins: Mapping[int, Origin] = field(default_factory=dict)
    fields: ReceptiveFields | None = None
    decoded: str = ""
    roots: tuple[Path, ...] | None = None

    def within(self, *folders: Path) -> Source:
        """The same, of which only files in these folders may be read."""
        return replace(self, roots=tuple(filter(None, map(followed, folders))))

    def admits(self, file: Path) -> bool:
        """Whether a file may be read: wherever links lead, it lies in one of the roots."""
        return self.admitted(file) is not None

    def admitted(self, file: Path) -> str | Path | None:
        """The file as it is opened, in one of the roots; None where it may not be read."""
        if self.roots is None:
            return file
        real = followed(file)
        around = [root for root in self.roots if real is not None and real.is_relative_to(root)]
        return SentFile(real, around[0]) if around and real is not None else None

    def outside(self, *more: Path) -> list[Path]:
        """The folders of the files that are named here, or in `more`, and may not be read, sorted."""
        known = None if self.folder is None or self.admits(self.folder) else followed(self.folder)
        folders: set[Path] = set()
        origins = [origin.file for origin in self.origins.values() if origin.file is not None]
        for file in dict.fromkeys((*self.files, *origins, *more)):
            if not self.admits(file):
                real = followed(file) or file
                folders.add(known if known is not None and real.is_relative_to(known) else real.parent)
        # Of several in one that holds nothing else, such as those of the classes, that one.
        filled = set()
        for parent in {each.parent for each in folders}:
            with suppress(OSError):
                if sum(each.parent == parent for each in folders) > 1 and folders.issuperset(parent.iterdir()):
                    filled.add(parent)
        return sorted({each.parent if each.parent in filled else each for each in folders})


def allowing(folder: Path) -> str:
    """The options with which `verale report` shows the images that a run's folder names; empty if it needs none."""
    path = folder / SOURCE
    outside = load_source(path).within(folder).outside() if path.exists() else []
    return "".join(f" --allow {quote(str(each))}" for each in outside)


@dataclass(frozen=True)
class SourceFile:
    """The content of `source.json`: built, written, read and compared here and nowhere else.

    Its keys, of which the first five are required:

    - `preprocessing`: the steps from image to tensor, as in CaBRNet's `dataset.yml`; null where the images are the
      network's input.
    - `prototypes`: null, or for each prototype `prototype`, and `image`, `file`, `row`, `column` of the training patch
      that it was copied from.
    - `classes`: the names of the classes, or null.
    - `images_folder`: absolute, or relative to the file's own folder.
    - `images`: in the order of the latents, `file` (relative to `images_folder`), `label` (the true class or null),
      `sha256` of the file's bytes.
    - `decoded`, where pictures were made from other files: `by`, the library; `scaled`, how, or null; `files`, for each
      PNG file the `file` that it was made from, and its `sha256`.
    - `image_pictures`: for each image the digest of its picture, as certificates name it.
    - `image_latents`, `latents_digest`: for each image the digest of its latents (`verale.head.digest` of the patches
      (L, D)); SHA-256 of these digests, joined.
    - `head_sha256`: SHA-256 of the head's file.
    - `receptive_fields`: null, or `size` ([H, W] of the network's input), `rows` and `columns` (for each of the grid
      the first pixel and the one after the last), `unknown` (layers that are taken to see the whole image).
    - `state_sha256`, `versions`, `run`, `architecture`, `model`, `layer`, `arch`, `largest_difference_of_logits`: for
      people, where the network is from, and how nearly the head computes its logits.
    - `tensors`, of `explain_model` with a tensor: for each image SHA-256 of type and shape (`float32 [3, 8, 8]` and a
      line end) and the values' bytes, little-endian.
    - `prototype_images`, of `explain_model`: SHA-256 of each prototype's image as a file, or null.
    """

    record: Mapping[str, Any]

    @classmethod
    def build(
        cls, network: Mapping[str, object], folder: str, classes: list[str] | None, images: Iterable[SourceImage]
    ) -> SourceFile:
        """The source of latents that a network makes of images, in their order; what JSON cannot hold becomes text."""
        listed = [
            {"file": image.file, "label": image.label} | ({} if image.sha256 is None else {"sha256": image.sha256})
            for image in images
        ]
        record = {**network, "classes": classes, "images": listed, "images_folder": folder}
        return cls(json.loads(json.dumps(record, default=str)))

    def noting(self, **results: object) -> SourceFile:
        """The same with further entries, such as the digest of the latents."""
        return SourceFile({**self.record, **results})

    def of_latents(self, latents: Tensor) -> SourceFile:
        """The same, bound to latents (N, D, H, W) or (N, L, D) by the digest of all, and of each that has an image."""
        from verale.head import image_digests

        digests = image_digests(latents)
        whole = hashlib.sha256("".join(digests).encode()).hexdigest()
        return self.noting(latents_digest=whole, image_latents=digests if self.record.get("images") else [])

    def to_bytes(self) -> bytes:
        """The bytes of the file. File names that are not UTF-8 survive."""
        return f"{json.dumps(self.record, indent=1, ensure_ascii=False)}\n".encode("utf-8", "surrogatepass")

    @classmethod
    def read(cls, path: str | Path, remedy: str) -> SourceFile:
        """Read a file. Raises InputError, which ends with the remedy, for anything but a JSON object."""
        try:
            record = json.loads(read(path, "what verale explain writes about its source"))
            if not isinstance(record, dict):
                raise TypeError("no JSON object")
        except (TypeError, ValueError, RecursionError) as error:
            raise _invalid(path, error, remedy) from error
        return cls(record)

    @property
    def latents_digest(self) -> str | None:
        """The digest of the latents, where noted."""
        digest: str | None = self.record.get("latents_digest")
        return digest

    def is_of(self, head: str, latents: str) -> bool:
        """Whether it describes the head and the latents with these digests."""
        return (self.record.get("head_sha256"), self.latents_digest) == (head, latents)

    def differences(self, other: SourceFile) -> list[str]:
        """The keys of this record that the other one lacks or has with another value."""
        return [key for key in self.record if other.record.get(key) != self.record[key]]

    def source(self, images: Path | None = None, beside: Path = _HERE) -> Source:
        """What the record says about images, in the folder noted or in `images`, and prototypes. Paths that are noted
        are relative to the folder of the file, `beside`, or absolute. Raises KeyError, TypeError, ValueError,
        AttributeError: the record lacks an entry, or has one of another type."""
        noted = beside / _text(self.record["images_folder"])
        folder = noted if images is None else images
        entries = self.record.get("images") or ()
        latents = self.record.get("image_latents") or ()
        pictures = self.record.get("image_pictures") or ()
        for digests, of in ((latents, "latents"), (pictures, "pictures")):
            if digests and len(digests) != len(entries):
                raise ValueError(f"it has {len(entries)} images and {len(digests)} digests of their {of}")
        return Source(
            folder=folder,
            files=tuple(folder / _inside(image["file"]) for image in entries),
            labels=tuple(None if (label := image["label"]) is None else _index(label) for image in entries),
            digests=tuple(None if (own := image.get("sha256")) is None else _text(own) for image in entries),
            latents=tuple(map(_text, latents)),
            latents_digest=None if self.latents_digest is None else _text(self.latents_digest),
            pictures=tuple(map(_text, pictures)),
            classes=None if self.record["classes"] is None else tuple(map(_text, self.record["classes"])),
            preprocessing=self.record["preprocessing"],
            origins=_origins(self.record["prototypes"] or [], beside),
            fields=_fields(self.record.get("receptive_fields")),
            decoded=_decoded(self.record.get("decoded")),
        )


def load_source(path: Path | None, images: Path | None = None) -> Source:
    """What `source.json` says, where there is one, with the images looked for in `images` where that is given; where it
    lists none, they are those of this folder, sorted by name. Raises InputError: a file that `verale explain` has not
    written; a folder without images."""
    if path is None or not lexists(path):
        return Source() if images is None else _in_order(Source(), images)
    remedy = "remove it, or explain the images again"
    try:
        source = SourceFile.read(SentFile(path), remedy).source(images, path.parent)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _invalid(path, error, remedy) from error
    return source if source.files or images is None else _in_order(source, images)


def _in_order(source: Source, images: Path) -> Source:
    """The source with the images of a folder, sorted by name, of which nothing else is known."""
    from verale.runs.images import image_files

    files = tuple(image_files(images))
    return replace(source, folder=images, files=files, labels=(None,) * len(files), digests=(None,) * len(files))


def _invalid(path: str | Path, error: Exception, remedy: str) -> InputError:
    return InputError(path, f"is not what verale explain writes ({error}); {remedy}")


def _origins(entries: Sequence[Mapping[str, object]], beside: Path) -> dict[int, Origin]:
    """By prototype; where a prototype has several (PIP-Net's channels do), the first."""
    if len(entries) > _MOST_ORIGINS:
        raise ValueError(f"'prototypes' has {len(entries)} entries, expected at most {_MOST_ORIGINS}")
    origins: dict[int, Origin] = {}
    for entry in entries:
        file, row, column = entry["file"], _index(entry["row"]), _index(entry["column"])
        named = None if file is None else beside / _text(file)
        origin = Origin(_index(entry["prototype"]), _index(entry["image"]), named, row, column)
        origins.setdefault(origin.prototype, origin)
    return origins


def _fields(entry: Mapping[str, object] | None) -> ReceptiveFields | None:
    if entry is None:
        return None
    height, width = (_index(side) for side in _listed(entry["size"], 2))
    if not (0 < height <= _WIDEST and 0 < width <= _WIDEST):
        raise ValueError(f"the network's input has {height} x {width} pixels")
    unknown = tuple(map(_text, _listed(entry["unknown"], _MOST_UNKNOWN)))
    return ReceptiveFields(_axis(entry["rows"], height), _axis(entry["columns"], width), (height, width), unknown)


def _decoded(entry: Mapping[str, Any] | None) -> str:
    """What is said of pictures that were made from other files (`verale.runs.seen`)."""
    if entry is None:
        return ""
    count = len(entry["files"])
    return f"{count} picture{' was' if count == 1 else 's were'} {how_decoded(entry)}"


def how_decoded(entry: Mapping[str, Any]) -> str:
    """How pictures were made from other files, in words, after "pictures are"."""
    how, scaled = f"decoded by {_text(entry['by'])}", entry["scaled"]
    if scaled is not None:
        how += f", scaled to a shorter side of {_index(scaled['shorter_side'])} and cropped to the middle"
    return how


def _axis(entry: object, length: int) -> Axis:
    """For every row, or every column, of the grid its pixels, of so many in a line."""
    axis = []
    for interval in _listed(entry, _MOST_FIELDS):
        first, after = (_index(end) for end in _listed(interval, 2))
        if not first <= after <= length:
            raise ValueError(f"a receptive field reaches from pixel {first} to {after} of {length}")
        axis.append((first, after))
    return tuple(axis)


def _listed(value: object, most: int) -> list[object]:
    if not isinstance(value, list) or len(value) > most:
        raise TypeError(f"{reprlib.repr(value)} is not a list of at most {most}")
    return value


def _inside(value: object) -> Path:
    """A path that stays inside its folder."""
    path = Path(_text(value))
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{reprlib.repr(value)} leads out of the images' folder")
    return path


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{reprlib.repr(value)} is not a string")
    if len(value) > _LONGEST:
        raise ValueError(f"a name has {len(value)} characters, expected at most {_LONGEST}")
    if "\0" in value:
        raise ValueError("a name holds a null character")
    os.fsencode(value)  # a ValueError where no file can have that name
    return value


def _index(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _LARGEST:
        raise TypeError(f"{reprlib.repr(value)} is not an index")
    return value
