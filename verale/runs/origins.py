"""Origins: the patch of the given pictures that lies nearest to each prototype, and a distance that can be proved.

The nearest patch is found in float32, some pictures at a time; only the best of each prototype so far is kept, so the
memory does not grow with the number of PNG files. Then the network is enclosed for the pictures that were found, and
the end of the observable's range is rounded outward. Nothing rests on the search: another patch is only a worse origin.

A search that was interrupted goes on where it ended: beside the file that is to be written it keeps what it has found,
and of which pictures, by their digests. What is stated is computed again, since anybody may have written that file.

Files that are no PNG files of the network's size are decoded (`seen`) each time that they are read. Then the PNG
files of the pictures that an origins file names are kept in a folder beside it: what they show is what is proved.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from verale.bounds.domain import box_leaves_domain, box_ranges
from verale.bounds.network import latent_ranges
from verale.checker.origins import TYPE
from verale.checker.read.pictures import CHANGED, StoredPictures, UnreadFile
from verale.errors import InputError, UsageError, option
from verale.files import read, remove_file, write_atomically
from verale.head import Cosine, Euclidean, Head, as_patches, observables
from verale.network import FrozenNetwork, picture_digest, pictures_of
from verale.runs.arguments import HeadFile
from verale.runs.folder import PATIENCE, locked, require_output, write_output
from verale.runs.inputs import PICTURES, SOURCE
from verale.runs.seen import PictureFiles, described
from verale.runs.source import SourceFile, SourceImage
from verale.runs.written import WrittenFiles

_log = logging.getLogger(__name__)

_BY = "origins"
_DIGITS = 3  # of a stated distance, and of what is missing to the cosine 1
_SLACK = 1 + Fraction(1, 2**20)  # the checker's ranges may be a little wider than those of the search
_MOST_PICTURES, _MOST_ENTRIES = 64, 2**25
"""Of pictures that are computed together: how many, and the most numbers of a layer."""
_SECONDS = 5.0  # so often is noted what was found
_SEARCH = "urn:verale:origins-search:v1"


class SearchedPictures:
    """Pictures for a network, by file and row. Raises InputError, UsageError: as of `PictureFiles`."""

    def __init__(self, path: Path, network: FrozenNetwork, resize: int | None) -> None:
        self._given, self._network = path, network
        self.files = PictureFiles(path, network.shape, resize)
        self.refused: list[UnreadFile] = []
        self._last: tuple[int, StoredPictures | UnreadFile] | None = None
        """The file that was read again last: many pictures may be in one."""

    @property
    def total(self) -> int:
        """How many pictures there are at most."""
        return len(self.files.paths) if self.files.is_folder else sum(1 for _ in self._all())

    def _all(self) -> Iterator[tuple[int, int, StoredPictures]]:
        """File and row of each picture, in order, and the pictures of its file; of one that cannot be used there are
        none."""
        self.refused = []
        for file, stored in enumerate(self.files.opened()):
            if isinstance(stored, UnreadFile):
                self.refused.append(stored)
            else:
                yield from ((file, row, stored) for row in range(len(stored)))

    def batches(self, after: int, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Files and rows (B, 2), and pictures (B, C, H, W), but for the first ones; B is at most `size`."""
        left = islice(self._all(), after, None)
        while some := [((file, row), _picture(stored, row)) for file, row, stored in islice(left, size)]:
            places, pictures = zip(*some, strict=True)
            yield torch.tensor(places), torch.stack(pictures)

    def seen(self, count: int) -> tuple[int, Any]:
        """How many of the first pictures there are, and SHA-256 over their digests."""
        seen, number = hashlib.sha256(), 0
        for _, row, stored in islice(self._all(), count):
            seen.update(stored.picture(row).digest.encode())
            number += 1
        return number, seen

    def picture(self, file: int, row: int) -> tuple[Tensor, str]:
        """A picture, which is read again, and its name. Raises InputError: it is there no longer."""
        if self._last is None or self._last[0] != file:
            self._last = file, next(self.files.opened([file]))
        stored, path = self._last[1], self.files.paths[file]
        if isinstance(stored, UnreadFile) or row >= len(stored):
            raise InputError(path, CHANGED)
        return _picture(stored, row), str(path) if stored.size is not None else f"{path}, picture {row}"

    def require_room(self, folder: Path, by: str) -> None:
        """Raise InputError unless a command may write PNG files into a folder, which does not lie among the
        pictures."""
        if self.files.is_folder and folder.resolve().is_relative_to(self._given.resolve()):
            raise InputError(
                folder, f"lies in {self._given}, which would get copies of its pictures: choose another {option('out')}"
            )
        WrittenFiles(folder).require_own([*self.files.names, SOURCE], by)

    def keep(self, folder: Path, named: Mapping[int, str], head: str, by: str) -> None:
        """Write the PNG files of pictures and `source.json`; those of the command that were there go. Raises
        InputError."""
        files: dict[str, bytes] = {}
        for file in sorted(named):
            shown = next(self.files.opened([file], files))
            if isinstance(shown, UnreadFile):
                raise InputError(shown.name, shown.why)
            if shown.picture(0).digest != named[file]:
                raise InputError(self.files.paths[file], CHANGED)
        decoded = {name: made for name, made in self.files.decoded.items() if name in files}
        about = {**described(self._network), "decoded": self.files.decoder.record(decoded)}
        entries = [SourceImage(name, None, hashlib.sha256(data).hexdigest()) for name, data in files.items()]
        source = SourceFile.build(about, ".", None, entries).noting(head_sha256=head)
        files[SOURCE] = source.noting(image_pictures=[named[file] for file in sorted(named)]).to_bytes()
        with locked(folder, PATIENCE) as held:
            written = WrittenFiles(folder, held)
            written.require_own(files, by)
            for name, data in files.items():
                written.write(name, data, by)
            for name in set(written.names(by)) - files.keys():
                written.remove(name, by)
            written.settle()


def _picture(stored: StoredPictures, row: int) -> Tensor:
    return pictures_of(StoredPictures(stored.shape, stored.picture(row).values))[0]


@dataclass(frozen=True)
class FoundOrigin:
    """A patch near a prototype; a distance or a cosine is stated."""

    prototype: int
    picture: str
    patch: int
    name: str
    distance: float | None = None
    cosine: float | None = None

    def record(self) -> dict[str, object]:
        """As the origins file has it."""
        stated = {"distance": self.distance, "cosine": self.cosine}
        ends = {name: end.hex() for name, end in stated.items() if end is not None}
        return {"prototype": self.prototype, "picture": self.picture, "patch": self.patch, **ends}


@dataclass(frozen=True)
class Unstated:
    """A prototype of which nothing is stated, and why."""

    prototype: int
    why: str


@dataclass(frozen=True)
class _Nearest:
    """The best of each prototype so far: (P,) observables, turned so that less is nearer; files, rows and patches; how
    many pictures were looked at, and SHA-256 (hex) of their digests, in order."""

    turned: Tensor
    places: Tensor
    pictures: int = 0
    seen: str = ""


class OriginSearch:
    """Finds an origin for each prototype of a head, whose geometry is euclidean or a cosine, among the pictures of a
    folder, of one file, or of a safetensors file, and writes the file. `pictures` is the folder that gets the PNG files
    of pictures that are named; None where the pictures are taken as they are given. Raises InputError: a file that
    cannot be used or written; UsageError: a head of another geometry, or another network's; a size that cannot be
    had."""

    def __init__(
        self,
        head: str | Path | HeadFile,
        network: str | Path,
        images: str | Path,
        out: str | Path,
        overwrite: bool,
        resize: int | None = None,
    ) -> None:
        self._file, self._out = HeadFile.of(head), Path(out)
        self._head: Head = self._file.head
        if not isinstance(self._head.geometry, Euclidean | Cosine):
            raise UsageError(
                f"the head's geometry is {self._head.geometry.kind}, for which no origins are defined; expected"
                " euclidean, cosine or rooted_cosine"
            )
        self._network = FrozenNetwork.load(network)
        if self._network.output_shape[0] != self._head.depth:
            raise UsageError(
                f"the network gives {self._network.output_shape[0]} channels, the head receives {self._head.depth}: is"
                " it its network?"
            )
        self._given, self._searched = images, SearchedPictures(Path(images), self._network, resize)
        self._partial = self._out.with_name(f"{self._out.name}.partial")
        for path in (self._out, self._partial):
            inputs = (self._file.path, network, *self._searched.files.paths)
            require_output(path, inputs, overwrite or path is self._partial, _BY)
        self.decoder = self._searched.files.decoder
        self.pictures: Path | None = None
        if self._searched.files.are_decoded:
            self.pictures = self._out.with_name(f"{self._out.name}.{PICTURES}")
            self._searched.require_room(self.pictures, _BY)
        self._noted = time.monotonic()

    @cached_property
    def total(self) -> int:
        return self._searched.total

    def run(self, advance: Callable[[int], object] = lambda done: None) -> list[FoundOrigin | Unstated]:
        """Search, write the file, and return what it states of each prototype, in order. `advance` is called with the
        number of pictures done since the last call."""
        nearest, seen = self._resumed()
        advance(nearest.pictures)
        widest = max(map(math.prod, self._network.shapes.values()))
        size = max(1, min(_MOST_PICTURES, _MOST_ENTRIES // widest))
        for places, pictures in self._searched.batches(nearest.pictures, size):
            with torch.no_grad():
                latents = as_patches(self._network.latents(pictures, torch.float32)).double()
                observed = observables(self._head, latents)
            turned = observed if self._head.geometry.is_distance else -observed  # (B, L, P)
            best, at = turned.nan_to_num(nan=math.inf).flatten(0, 1).min(0)
            found_at = torch.cat([places[at // turned.shape[1]], (at % turned.shape[1])[:, None]], 1)
            better = best < nearest.turned
            for picture in pictures:
                seen.update(picture_digest(picture).encode())
            nearest = _Nearest(
                torch.where(better, best, nearest.turned),
                torch.where(better[:, None], found_at, nearest.places),
                nearest.pictures + len(pictures),
                seen.hexdigest(),
            )
            self._note(nearest)
            advance(len(pictures))
        refused = self._searched.refused
        if not nearest.pictures:
            raise InputError(*(refused[0].name, refused[0].why) if refused else (self._given, "holds no picture"))
        for each in refused:
            _log.warning("%s is left out: %s", each.name, each.why)
        self._searched.files.tell_turned()
        found = self._stated(nearest)
        origins = [each for each in found if isinstance(each, FoundOrigin)]
        if origins and self.pictures is not None:
            named = {int(nearest.places[each.prototype, 0]): each.picture for each in origins}
            self._searched.keep(self.pictures, named, self._file.sha256, _BY)
        if origins:
            document = {
                "_type": TYPE,
                "head": self._file.sha256,
                "network": self._network.digest,
                "origins": [each.record() for each in origins],
            }
            write_output(self._out, (json.dumps(document, indent=1) + "\n").encode(), _BY)
        if self._partial.is_file():
            remove_file(self._partial)
        return found

    # What was found before

    def _note(self, nearest: _Nearest) -> None:
        """Write what is found so far, where that was not done just now."""
        if time.monotonic() - self._noted < _SECONDS:
            return
        found = {"turned": nearest.turned.tolist(), "places": nearest.places.tolist()}
        of = {"head": self._file.sha256, "network": self._network.digest}
        noted = {"_type": _SEARCH, **of, "pictures": nearest.pictures, "seen": nearest.seen, **found}
        write_atomically(self._partial, json.dumps(noted).encode())
        self._noted = time.monotonic()

    def _resumed(self) -> tuple[_Nearest, Any]:
        """What a search that was interrupted has found, if it was of the same head, network and pictures; and SHA-256
        over their digests. Raises InputError: something else has the name of its file."""
        count = self._head.size
        nothing = _Nearest(torch.full((count,), math.inf, dtype=torch.float64), torch.full((count, 3), -1))
        if not self._partial.is_file():
            return nothing, hashlib.sha256()

        document: Any = None
        with suppress(ValueError, RecursionError):
            document = json.loads(read(self._partial, "an unfinished search"))
        try:
            if document["_type"] != _SEARCH:
                raise KeyError
            same = (document["head"], document["network"]) == (self._file.sha256, self._network.digest)
            found = _Nearest(
                torch.tensor(document["turned"], dtype=torch.float64),
                torch.tensor(document["places"]),
                document["pictures"],
                document["seen"],
            )
            same = same and found.turned.shape == nothing.turned.shape and self._are_places(found.places)
            count, seen = self._searched.seen(found.pictures if same else 0)
            same = same and (count, seen.hexdigest()) == (found.pictures, found.seen)
        except (KeyError, TypeError, ValueError, RuntimeError, OverflowError):
            raise InputError(
                self._partial, "is no unfinished search of this command, and in its way; move it away"
            ) from None
        if not same:
            _log.warning("%s is of another head, network or other pictures: the search begins again", self._partial)
            return nothing, hashlib.sha256()
        return found, seen

    def _are_places(self, places: Tensor) -> bool:
        """Whether these are (P, 3) a file, a row and a patch of each prototype, or -1 of one without."""
        if places.shape != (self._head.size, 3) or places.dtype != torch.int64:
            return False
        patches = math.prod(self._network.output_shape[1:])
        inside = (places >= 0).all(1) & (places[:, 0] < len(self._searched.files.paths)) & (places[:, 2] < patches)
        return bool((inside | (places == -1).all(1)).all())

    # What is stated

    def _stated(self, nearest: _Nearest) -> list[FoundOrigin | Unstated]:
        """Of each prototype; each picture is read again and its latents are enclosed once."""
        found: dict[int, FoundOrigin | Unstated] = {}
        by_picture: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for prototype, (file, row, patch) in enumerate(nearest.places.tolist()):
            by_picture.setdefault((file, row), []).append((prototype, patch))
        for (file, row), pairs in sorted(by_picture.items()):
            if file < 0:
                why = "no patch has a distance to it that is a number"
                found |= {prototype: Unstated(prototype, why) for prototype, _ in pairs}
                continue
            stated = self._of_picture(*self._searched.picture(file, row), pairs)
            found |= {each.prototype: each for each in stated}
        return [found[prototype] for prototype in sorted(found)]

    def _of_picture(self, picture: Tensor, name: str, pairs: list[tuple[int, int]]) -> Iterator[FoundOrigin | Unstated]:
        """What is stated of prototypes and patches of one picture."""
        known = latent_ranges(self._network, picture)
        why = box_leaves_domain(self._head, known.ends)
        observed = None if why else box_ranges(self._head, known.ends)
        for prototype, patch in pairs:
            if observed is None:
                yield Unstated(prototype, f"{name}: {why}")
                continue
            least, most = float(observed.lower[patch, prototype]), float(observed.upper[patch, prototype])
            if not (math.isfinite(least) and math.isfinite(most)):
                yield Unstated(prototype, f"{name}: its latents are not bounded; {known.roughly}")
                continue
            found = FoundOrigin(prototype, picture_digest(picture), patch, name)
            yield (
                replace(found, distance=_distance(most))
                if self._head.geometry.is_distance
                else replace(found, cosine=_cosine(least))
            )


def _rounded_up(value: Fraction) -> Fraction:
    """A decimal of few digits that is no less than a number that is not negative."""
    context = Context(prec=_DIGITS, rounding=ROUND_CEILING)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def _distance(square: float) -> float:
    """d of few digits, with d^2 no less than an upper end of the squared distance."""
    least = Fraction(square) * _SLACK**2
    decimal = _rounded_up(Fraction(math.sqrt(square)) * _SLACK)
    stated = float(decimal)
    if stated > decimal:  # so that it is told in as few digits
        stated = math.nextafter(stated, 0.0)
    while Fraction(stated) ** 2 < least:
        stated = math.nextafter(stated, math.inf)
    return stated


def _cosine(least: float) -> float:
    """c with 1 - c of few digits, no greater than a lower end of the cosine."""
    missing = max(Fraction(0), 1 - Fraction(least)) * _SLACK
    stated = float(1 - _rounded_up(missing))
    while Fraction(stated) > 1 - missing:
        stated = math.nextafter(stated, -math.inf)
    return stated
