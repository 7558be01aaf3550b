"""The pictures among which origins are searched: picture files or a tensor, read one file at a time.

Files that are no PNG files of the network's size are decoded (`decoded`) each time that they are read. Then the PNG
files of the pictures that an origins file names are kept in a folder beside it: what they show is what is proved.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from verale.checker.read.pictures import CHANGED, StoredPictures, UnreadFile
from verale.errors import InputError, option
from verale.network import FrozenNetwork, pictures_of
from verale.runs.decoded import PictureFiles
from verale.runs.folder import PATIENCE, locked
from verale.runs.inputs import SOURCE
from verale.runs.seen import described
from verale.runs.source import SourceFile, SourceImage
from verale.runs.written import WrittenFiles

__all__ = ["SearchedPictures"]

_log = logging.getLogger(__name__)


class SearchedPictures:
    """Pictures for a network, by file and row.

    Args:
        path: a folder of picture files, one of them, or a safetensors file of pictures.

    Raises:
        InputError, UsageError: as of `PictureFiles`.
    """

    def __init__(self, path: Path, network: FrozenNetwork, resize: int | None) -> None:
        self._given, self._network = path, network
        self.files = PictureFiles(path, network.shape, resize)
        self._refused: list[UnreadFile] = []

    @property
    def total(self) -> int:
        """How many pictures there are at most."""
        return len(self.files.paths) if self.files.is_folder else sum(map(len, self._opened()))

    def batches(self, after: int, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Files and rows (B, 2), and pictures (B, C, H, W), but for the first ones; B is at most `size`."""
        places: list[tuple[int, int]] = []
        pictures: list[Tensor] = []
        number = 0
        for file, stored in enumerate(self._opened()):
            for row in range(len(stored)):
                number += 1
                if number <= after:
                    continue
                places.append((file, row))
                pictures.append(_picture(stored, row))
                if len(places) == size:
                    yield torch.tensor(places), torch.stack(pictures)
                    places, pictures = [], []
        if places:
            yield torch.tensor(places), torch.stack(pictures)

    def tell_refused(self, pictures: int) -> None:
        """Say which files were left out, and which note that they are to be turned. Raises InputError where no picture
        could be read."""
        if self._refused and not pictures:
            raise InputError(self._refused[0].name, self._refused[0].why)
        if not pictures:
            raise InputError(self._given, "holds no picture")
        for each in self._refused:
            _log.warning("%s is left out: %s", each.name, each.why)
        self.files.tell_turned()

    def seen(self, count: int) -> tuple[int, Any]:
        """How many of the first pictures there are, and SHA-256 over their digests."""
        seen, number = hashlib.sha256(), 0
        if count:
            for stored in self._opened():
                for row in range(min(len(stored), count - number)):
                    seen.update(stored.picture(row).digest.encode())
                    number += 1
                if number == count:
                    break
        return number, seen

    def of_file(self, file: int) -> StoredPictures:
        """The pictures of a file, read again."""
        return self._used(next(self.files.opened([file])))

    def picture(self, stored: StoredPictures, file: int, row: int) -> tuple[Tensor, str]:
        """A picture of a file, and its name. Raises InputError: it is there no longer."""
        if row >= len(stored):
            raise InputError(self.files.paths[file], CHANGED)
        return _picture(stored, row), str(self.files.paths[file]) + (
            "" if stored.size is not None else f", picture {row}"
        )

    def require_room(self, folder: Path, by: str) -> None:
        """Raise InputError unless a command may write PNG files into a folder: it lies among the pictures, where they
        would be further ones, or holds other files of their names."""
        if self.files.is_folder and folder.resolve().is_relative_to(self._given.resolve()):
            raise InputError(
                folder, f"lies in {self._given}, which would get copies of its pictures: choose another {option('out')}"
            )
        WrittenFiles(folder).require_own([*self.files.names, SOURCE], by)

    def keep(self, folder: Path, named: Mapping[int, str], head: str, by: str) -> None:
        """Write the PNG files of pictures and `source.json`, and remove those that the command wrote there before.
        Raises InputError: a file that cannot be written, or a picture that was changed meanwhile."""
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

    def _opened(self) -> Iterator[StoredPictures]:
        """The pictures of each file, in order; of one that cannot be used there are none."""
        self._refused = []
        yield from map(self._used, self.files.opened())

    def _used(self, opened: StoredPictures | UnreadFile) -> StoredPictures:
        if isinstance(opened, StoredPictures):
            return opened
        self._refused.append(opened)
        return StoredPictures(self._network.shape, b"")


def _picture(stored: StoredPictures, row: int) -> Tensor:
    return pictures_of(StoredPictures(stored.shape, stored.picture(row).values))[0]
