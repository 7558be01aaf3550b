"""What lies in a folder, at any depth: compared before and after, and what others may have put there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["OBSTACLES", "put", "tree"]

Tree = dict[str, tuple[str, object]]


def tree(root: Path) -> Tree:
    """By path below a folder: a file's bytes, where a link leads, a folder."""
    found: Tree = {}
    for path in _below(root):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            found[name] = ("link", os.readlink(path))
        elif path.is_dir():
            found[name] = ("folder", None)
        else:
            found[name] = ("file", path.read_bytes())
    return found


def _below(root: Path) -> Iterator[Path]:
    for path in sorted(root.iterdir()):
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _below(path)


def _file(path: Path, outside: Path) -> None:
    path.write_bytes(b"mine")


def _hard_link(path: Path, outside: Path) -> None:
    (outside / "shared").write_bytes(b"mine, twice")
    path.hardlink_to(outside / "shared")


def _link(path: Path, outside: Path) -> None:
    (outside / "file").write_bytes(b"mine, elsewhere")
    path.symlink_to(outside / "file")


def _link_nowhere(path: Path, outside: Path) -> None:
    path.symlink_to(outside / "nowhere")


def _link_to_folder(path: Path, outside: Path) -> None:
    (outside / "folder").mkdir()
    (outside / "folder" / "0.png").write_bytes(b"mine, elsewhere")
    path.symlink_to(outside / "folder")


def _folder(path: Path, outside: Path) -> None:
    path.mkdir()
    (path / "notes.txt").write_bytes(b"mine, within")


OBSTACLES: dict[str, Callable[[Path, Path], None]] = {
    "a file": _file,
    "a hard link": _hard_link,
    "a link": _link,
    "a link that leads nowhere": _link_nowhere,
    "a link to a folder": _link_to_folder,
    "a folder": _folder,
}
"""What may stand where a file has to go: put there, with what it leads to outside."""


def put(kind: str, path: Path, outside: Path) -> None:
    """Put something where a file has to go; what it leads to goes into a folder outside."""
    path.parent.mkdir(parents=True, exist_ok=True)
    outside.mkdir(exist_ok=True)
    OBSTACLES[kind](path, outside)
