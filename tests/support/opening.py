"""Which files `os.open` opens, also in a folder that is given by its descriptor."""

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
