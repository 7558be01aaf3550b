"""The files of a folder that verale wrote there, where the folder is elsewhere than on this machine."""

from __future__ import annotations

import hashlib
from pathlib import Path

from verale.datasets import storage
from verale.errors import InputError
from verale.files import LARGEST_LATENTS
from verale.runs.written import FILES, HeldFolder, WrittenFiles

__all__ = ["files_in"]


def files_in(out: str, held: HeldFolder | None = None) -> WrittenFiles:
    """The files that verale wrote into a folder, given by its path or URI. Raises InputError."""
    folder = storage.local_path(out)
    return _StoredFiles(out) if folder is None else WrittenFiles(Path(out) if "://" not in out else folder, held)


class _StoredFiles(WrittenFiles):
    """Of a URI: there are no links, and lines cannot be added to a file, so `files.json` is written anew for each."""

    def __init__(self, out: str) -> None:
        self._out = out
        super().__init__(Path(out))

    def path(self, name: str) -> str:
        return storage.join(self._out, name)

    def exists(self, name: str) -> bool:
        return storage.exists(self.path(name))

    def obstacle(self, name: str) -> tuple[object, str] | None:
        is_folder = self.exists(name) and storage.is_folder(self.path(name))
        return (self.path(name), "is a folder, expected a file or nothing") if is_folder else None

    def holds(self, name: str, data: bytes) -> bool:
        return self.exists(name) and self._read(name) == data

    def remove_temporaries(self) -> None:
        """Storage has its own."""

    def _read(self, name: str) -> bytes:
        return storage.read_bytes(self.path(name), "a file of a run", LARGEST_LATENTS)

    def _has_one_name(self, name: str) -> bool:
        return True

    def _add_lines(self, lines: bytes) -> None:
        self._put(FILES, self._read(FILES) + lines, "")

    def _digest(self, name: str) -> str:
        return hashlib.sha256(self._read(name)).hexdigest()

    def _put(self, name: str, data: bytes, temporary: str) -> None:
        """There are no stamps."""
        storage.write_bytes(self.path(name), data)

    def _unlink(self, name: str) -> None:
        files, inner = storage.resolve(self.path(name))
        try:
            files.delete_file(inner)
        except OSError as error:
            raise InputError(self.path(name), f"cannot be removed ({error})") from error
