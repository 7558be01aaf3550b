"""Which files `os.open` opens, also in a folder that is given by its descriptor; and a link that leads elsewhere the
next time, as whoever owns a folder can make one do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch


@contextmanager
def opening(before: Callable[[Path], object] = lambda path: None) -> Iterator[list[str]]:
    """Yields the real paths of all that is opened. `before` is called with each path, just before it is opened."""
    real, opened, folders = os.open, list[str](), dict[int | None, Path]()

    def watched(name: Any, *rest: Any, dir_fd: int | None = None) -> int:
        path = folders.get(dir_fd, Path.cwd()) / os.fsdecode(name)
        before(path)
        handle = real(name, *rest, dir_fd=dir_fd)
        folders[handle] = path
        opened.append(os.path.realpath(path))
        return handle

    with patch("os.open", watched):
        yield opened


@contextmanager
def flipping(link: Path, *targets: Path) -> Iterator[list[Path]]:
    """Openings of `link` find the targets one after the other, the last one again and again; yields what they found."""
    left, found = list(targets), []

    def flip(path: Path) -> None:
        if path == link.absolute():
            link.unlink()
            link.symlink_to(left[0].absolute())
            found.append(left.pop(0) if len(left) > 1 else left[0])

    link.unlink(missing_ok=True)
    link.symlink_to(targets[0].absolute())
    with opening(flip):
        yield found
