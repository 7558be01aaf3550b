"""Pictures of a run: read from picture files or a tensor, kept beside the certificates with the network that sees them.

PNG files are kept as they are. What is no PNG file of the size that the network takes is decoded, by Pillow, into the
PNG files that certificates are about. Which pixels a JPEG file stands for depends on who decodes it, and how a picture
is scaled on the library. No proof is about either. They are done here, before anything is explained; the pixels are
kept as a PNG file, which is what the network sees, what certificates name and what is proved. `source.json` says which
file it was made from, and by what.
"""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.metadata import version
from os.path import lexists
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from verale.bounds.network import Arithmetic
from verale.checker.errors import PictureError
from verale.checker.read.pictures import LARGEST as LARGEST_PICTURES
from verale.checker.read.pictures import LARGEST_PNG, SIGNATURE, PictureFile, StoredPictures, UnreadFile, opened_files
from verale.errors import InputError, NetworkError, UsageError, naming, option
from verale.files import followed, read
from verale.head import Head, digest_of_all, load_latents, patches_of
from verale.network import LARGEST_NETWORK, FrozenNetwork, picture_digest, pictures_of
from verale.pictures import is_turned, opened
from verale.runs.images import (
    IMAGE_SUFFIXES,
    FolderClasses,
    classes_of_folders,
    image_files,
    tell_left_out,
    tell_turned,
)
from verale.runs.inputs import LATENTS, NETWORK, PICTURES, SOURCE, run_of
from verale.runs.source import SourceFile, SourceImage, how_decoded
from verale.search.through import ThroughNetwork

_PNG = ".png"
_MISNAMED = "expected the suffix .png of a PNG file, and of nothing else: give it another name"
_GREY = ("1", "L")  # Pillow's modes of pictures in black and white, and in grey


@dataclass(frozen=True)
class Decoder:
    """Makes PNG files that a network can see, whose pictures are (C, H, W). `resize` scales each picture, so that its
    shorter side has so many pixels, and takes H x W from its middle, as torchvision's `Resize` and `CenterCrop` do;
    None takes only pictures of H x W. Raises UsageError: a side that is not above 0."""

    shape: tuple[int, int, int]
    resize: int | None = None

    def __post_init__(self) -> None:
        if self.resize is not None and self.resize < 1:
            raise UsageError(f"{option('resize')} is {self.resize}, expected a number of pixels above 0")

    @property
    def in_words(self) -> str:
        """How PNG files are made, after "pictures are"."""
        return how_decoded(self.record({}))

    def png(self, path: Path, data: bytes) -> tuple[bytes, bool]:
        """The bytes of a PNG file of what a file shows, and whether it notes that it is to be turned, which nothing
        does. Raises InputError."""
        if data.startswith(SIGNATURE) and path.suffix.lower() != _PNG:
            raise InputError(path, _MISNAMED)
        with opened(path, data) as picture:
            if "A" in picture.getbands() or "transparency" in picture.info:
                raise InputError(path, "has transparent pixels, expected none: save it on a background of your choice")
            turned = is_turned(picture)
            seen = self._of_size(path, picture.convert("L" if picture.mode in _GREY else "RGB"))
            stream = io.BytesIO()
            Image.frombytes(seen.mode, seen.size, seen.tobytes()).save(stream, "PNG")  # without notes or profiles
        return stream.getvalue(), turned

    def _of_size(self, path: Path, picture: Image.Image) -> Image.Image:
        """The picture, scaled where that is asked for. Raises InputError: it has another size than the network's."""
        _, rows, columns = self.shape
        if self.resize is None:
            if picture.size != (columns, rows):
                raise InputError(
                    path,
                    f"has {picture.height} rows and {picture.width} columns, expected the network's {rows} and"
                    f" {columns}: scale and crop it before, as the network was trained, or give {option('resize')}",
                )
            return picture
        short = min(picture.size)
        wide, high = (self.resize * side // short for side in picture.size)
        if wide < columns or high < rows:
            raise InputError(
                path,
                f"has {high} rows and {wide} columns after it is scaled, expected the network's {rows} and {columns} at"
                f" least: give a greater {option('resize')}",
            )
        left, top = round((wide - columns) / 2), round((high - rows) / 2)
        scaled = picture.resize((wide, high), Image.Resampling.BILINEAR)
        return scaled.crop((left, top, left + columns, top + rows))

    def record(self, decoded: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
        """What `source.json` says of the PNG files, by name, that were made."""
        scaled = None if self.resize is None else {"shorter_side": self.resize, "by": "bilinear", "then": "centre crop"}
        return {"by": f"Pillow {version('pillow')}", "scaled": scaled, "files": decoded}


class PictureFiles:
    """The files of pictures (C, H, W) for a network: those of a folder, a single one, or a safetensors file. `names`
    are those of the PNG files that they are, or are made into, relative to `folder`; `decoded` is what PNG files were
    made from, of the files that were read, and `turned` names those that note that they are to be turned, which nothing
    does. Raises InputError: a folder without pictures, or two files that would be PNG files of one name; UsageError: a
    size that cannot be had."""

    def __init__(self, path: Path, shape: tuple[int, int, int], resize: int | None) -> None:
        self.decoder, self.is_folder = Decoder(shape, resize), path.is_dir()
        self.paths = image_files(path) if self.is_folder else [path]
        self.folder = path if self.is_folder else path.parent
        if self.is_folder:
            tell_left_out(path)
        of_png = [each.suffix.lower() == _PNG or not self._is_decoded(each) for each in self.paths]
        named = [each if own else each.with_suffix(_PNG) for each, own in zip(self.paths, of_png, strict=True)]
        self.names = [each.relative_to(self.folder).as_posix() for each in named]
        twice = [name for name, count in Counter(self.names).items() if count > 1]
        if twice:
            raise InputError(self.folder / twice[0], "would be two pictures of this name: rename one of the files")
        self.are_decoded = any(map(self._is_decoded, self.paths))
        if resize is not None and not self.are_decoded:
            raise UsageError(f"{option('resize')} is for picture files, expected none with a tensor of pictures")
        self.decoded: dict[str, dict[str, str]] = {}
        self.turned: dict[str, None] = {}

    def opened(
        self, numbers: Iterable[int] | None = None, keep: dict[str, bytes] | None = None
    ) -> Iterator[StoredPictures | UnreadFile]:
        """The pictures of each of these files, of all by default, or why it cannot be used; `keep` gets the bytes that
        are read, by name.

        A PNG file with another suffix, or something else with that of one, is refused: an audit of the run's folder
        finds PNG files by their suffix.
        """
        chosen = range(len(self.paths)) if numbers is None else list(numbers)
        files = (PictureFile(str(self.paths[number]), partial(self.read, number, keep)) for number in chosen)
        for number, stored in zip(chosen, opened_files(files, self.decoder.shape), strict=True):
            name = Path(self.names[number])
            if isinstance(stored, UnreadFile) or (stored.size is None) != (name.suffix.lower() == _PNG):
                yield stored
            else:
                yield UnreadFile(str(self.folder / name), _MISNAMED)

    def read(self, number: int, keep: dict[str, bytes] | None = None) -> bytes:
        """The bytes of a file as the checker reads them. Raises PictureError: it cannot be read or decoded."""
        path, name = self.paths[number], self.names[number]
        try:
            data = read(path, "a file of pictures", most=LARGEST_PNG if self.is_folder else LARGEST_PICTURES)
            if self._is_decoded(path):
                file, digest = path.relative_to(self.folder).as_posix(), hashlib.sha256(data).hexdigest()
                data, turned = self.decoder.png(path, data)
                self.decoded[name] = {"file": file, "sha256": digest}
                self.turned |= {file: None} if turned else {}
            elif data.startswith(SIGNATURE) and b"eXIf" in data:
                # A PNG file may note that it is to be turned; the checker reads pixels alone.
                with suppress(InputError), opened(path, data) as picture:
                    self.turned |= {name: None} if is_turned(picture) else {}
        except InputError as error:
            raise PictureError(error.problem) from error
        if keep is not None:
            keep[name] = data
        return data

    def tell_turned(self) -> None:
        """Say which of the files that were read note that they are to be turned."""
        tell_turned(list(self.turned))

    def _is_decoded(self, path: Path) -> bool:
        """Whether a file is decoded: PNG files of the network's size are taken as they are."""
        suffix = path.suffix.lower()
        return suffix in IMAGE_SUFFIXES and (suffix != _PNG or self.decoder.resize is not None)


@dataclass(frozen=True, eq=False)
class SeenPictures:
    """The pictures of a run, uint8 (N, C, H, W), and the network that gives their latents. `files` are the bytes of the
    network's file and of theirs, by name in a run's folder. PNG files, none of a tensor, have `names` relative to their
    `folder`, all of whose images these are, or None where one was given; `listed` names those among them too that
    cannot be used. The `decoder` made the `decoded` ones."""

    through: ThroughNetwork
    pictures: Tensor
    files: dict[str, bytes]
    paths: tuple[Path, ...]
    names: tuple[str, ...] = ()
    folder: Path | None = None
    listed: tuple[str, ...] = ()
    refused: tuple[UnreadFile, ...] = ()
    decoder: Decoder | None = None
    decoded: dict[str, dict[str, str]] = field(default_factory=dict)

    @classmethod
    def load(
        cls, network: str | Path, path: str | Path, arithmetic: Arithmetic = "real", resize: int | None = None
    ) -> SeenPictures:
        """A network's file; and pictures from a folder of picture files, from one, or from a safetensors file. Raises
        InputError, UsageError."""
        data = read(network, "a network file (safetensors)", most=LARGEST_NETWORK)
        with naming(network, NetworkError):
            through = ThroughNetwork(FrozenNetwork.from_bytes(data), arithmetic)
        seen = cls.of(through, data, path, resize)
        return replace(seen, paths=(Path(network), *seen.paths))

    @classmethod
    def of(cls, through: ThroughNetwork, network: bytes, path: str | Path, resize: int | None = None) -> SeenPictures:
        """The same of a network whose file has these bytes. Raises InputError, UsageError."""
        read: dict[str, bytes] = {}
        files = PictureFiles(Path(path), through.network.shape, resize)
        opened = dict(zip(files.names, files.opened(keep=read), strict=True))
        used = {name: each for name, each in opened.items() if isinstance(each, StoredPictures)}
        refused = tuple(each for each in opened.values() if isinstance(each, UnreadFile))
        if not used:
            others = f"; nor can {len(refused) - 1} other files" if len(refused) > 1 else ""
            raise InputError(refused[0].name, f"{refused[0].why}{others}")
        pictures = torch.cat(list(map(pictures_of, used.values())))
        paths, kept = tuple(files.paths), {name: read[name] for name in used}
        if next(iter(used.values())).size is None:
            (data,) = kept.values()
            return cls(through, pictures, {NETWORK: network, f"{PICTURES}.safetensors": data}, paths)
        files.tell_turned()
        files_of_run = {NETWORK: network} | {f"{PICTURES}/{name}": data for name, data in kept.items()}
        decoded = {name: made for name, made in files.decoded.items() if name in kept}
        folder = files.folder if files.is_folder else None
        about = tuple(kept), folder, tuple(files.names), refused, files.decoder, decoded
        return cls(through, pictures, files_of_run, paths, *about)

    def classes_of(self, head: Head) -> FolderClasses:
        """What the subfolders say of the pictures' classes. Raises InputError."""
        return classes_of_folders(self.folder, self.listed, head.classes, head.labels)

    def labels(self, head: Head) -> list[int] | None:
        """The true classes, where subfolders say them; how these were read is told. Raises InputError."""
        return self.classes_of(head).tell().labels(self.names)

    @cached_property
    def digests(self) -> list[str]:
        """Of each picture, by value."""
        return list(map(picture_digest, self.pictures))

    def latents(self, folder: Path | None = None) -> Tensor:
        """(N, D, H', W') or (N, 1, D) float64: as the network gives them in float64, an estimate. They are for pages
        and comparisons, and no certificate is about them. Rounded to float32 they would lie outside of what
        certificates in real arithmetic state. Latents of these pictures that the folder of a run notes, which may be
        continued, are kept: their last bits depend on the machine and on its threads. Raises InputError: the folder's
        files cannot be read; a picture for which the network overflows float64."""
        kept = None if folder is None else self._noted(folder)
        if kept is not None:
            return kept
        parts, network = [], self.through.network
        for number, picture in enumerate(self.pictures):
            parts.append(self.through.latents(picture))
            if not bool(parts[-1].isfinite().all()):
                layers = (
                    name
                    for name, given in network.outputs_of(network.normalised(picture[None]))
                    if not bool(given.isfinite().all())
                )
                raise InputError(
                    self.names[number] if self.names else f"picture {number}",
                    f"has no latents: in layer {next(layers)} the network's numbers are beyond float64; scale the"
                    " weights before it down, and export the network again",
                )
        return torch.cat(parts) if parts else torch.empty(0, self.through.patches, network.output_shape[0]).double()

    def _noted(self, folder: Path) -> Tensor | None:
        """The latents of a folder, if its `run.json` notes them as those of these pictures."""
        run = run_of(folder)
        if any(run.get(name) != value for name, value in self.describe().items()) or not lexists(folder / LATENTS):
            return None
        latents = load_latents(folder / LATENTS)
        return latents if digest_of_all(patches_of(latents)) == run.get("latents") else None

    def describe(self) -> dict[str, str]:
        """What the results of a run depend on."""
        return {
            "network": self.through.network.digest,
            "pictures": hashlib.sha256("".join(self.digests).encode()).hexdigest(),
            "arithmetic": self.through.arithmetic,
        }

    def source(self, head: Head, latents: Tensor, labels: Sequence[int] | None) -> SourceFile | None:
        """What `source.json` says of PNG files, which lie in `pictures` beside it; None of a tensor."""
        if not self.names:
            return None
        about = described(self.through.network)
        known: Sequence[int | None] = labels or [None] * len(self.names)
        entries = [
            SourceImage(name, label, hashlib.sha256(self.files[f"{PICTURES}/{name}"]).hexdigest())
            for name, label in zip(self.names, known, strict=True)
        ]
        if self.decoder is not None and self.decoded:
            about["decoded"] = self.decoder.record(self.decoded)
        source = SourceFile.build(about, PICTURES, self.classes_of(head).names, entries)
        return source.noting(head_sha256=head.digest).of_latents(latents).noting(image_pictures=self.digests)

    def require_apart(self, out: Path) -> None:
        """Raise InputError if copies in this folder of a run would lie among the pictures: they would be further
        ones."""
        real = None if self.folder is None else followed(self.folder)
        if real is None:
            return
        own = [name for name in self.names if name not in self.decoded]
        for copy in (followed(out / PICTURES / name) for name in self.names):
            among = copy.relative_to(real) if copy is not None and copy.is_relative_to(real) else None
            if among is not None and len(among.parts) <= 2 and among.as_posix() not in own:
                raise InputError(out, f"lies in {self.folder}, which would get copies of its pictures: choose another")

    def beside(self, head: Head, latents: Tensor, labels: Sequence[int] | None) -> dict[str, bytes]:
        """The files of a run's folder, by name: `source.json`, where there are PNG files, network and pictures."""
        source = self.source(head, latents, labels)
        return ({} if source is None else {SOURCE: source.to_bytes()}) | self.files


def described(network: FrozenNetwork) -> dict[str, object]:
    """What `source.json` says of a network."""
    normalised = {"mean": list(network.mean), "std": list(network.std)}
    return {
        "network_sha256": network.digest,
        "preprocessing": [{"type": "ToTensor"}, {"type": "Normalize", "params": normalised}],
        "prototypes": None,
    }
