"""What lies in a folder, at any depth: compared before and after, and what others may have put there."""

from __future__ import annotations

import os
from pathlib import Path

OBSTACLES = ("a file", "a hard link", "a link", "a link that leads nowhere", "a link to a folder", "a folder")
"""What may stand where a file has to go."""


def tree(root: Path) -> dict[str, tuple[str, object]]:
    """By path below a folder: a file's bytes, where a link leads, a folder. No link is followed."""
    found: dict[str, tuple[str, object]] = {}
    for path in sorted(root.iterdir()):
        if path.is_symlink():
            found[path.name] = ("link", os.readlink(path))
        elif path.is_dir():
            found[path.name] = ("folder", None)
            found |= {f"{path.name}/{name}": what for name, what in tree(path).items()}
        else:
            found[path.name] = ("file", path.read_bytes())
    return found


def put(kind: str, path: Path, outside: Path) -> None:
    """Put something where a file has to go; what it leads to goes into a folder outside."""
    path.parent.mkdir(parents=True, exist_ok=True)
    outside.mkdir(exist_ok=True)
    match kind:
        case "a file":
            path.write_bytes(b"mine")
        case "a hard link":
            (outside / "shared").write_bytes(b"mine, twice")
            path.hardlink_to(outside / "shared")
        case "a link":
            (outside / "file").write_bytes(b"mine, elsewhere")
            path.symlink_to(outside / "file")
        case "a link that leads nowhere":
            path.symlink_to(outside / "nowhere")
        case "a link to a folder":
            (outside / "folder").mkdir()
            (outside / "folder" / "0.png").write_bytes(b"mine, elsewhere")
            path.symlink_to(outside / "folder")
        case "a folder":
            path.mkdir()
            (path / "notes.txt").write_bytes(b"mine, within")
