"""A process that is killed between two steps, or within one, of what `verale.files` does to a disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

from verale import files

__all__ = ["Stopped", "stopping"]

_STEPS = ("write", "replace", "unlink", "rmdir", "chmod")


class Stopped(BaseException):
    """Replaces SIGKILL: after it, nothing changes any more."""


class _System:
    """The module `os`, until one of its steps."""

    def __init__(self, last: int) -> None:
        self.steps, self._last = 0, last

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name) if name not in _STEPS else partial(self._step, name)

    def open(self, path: Any, flags: int, *mode: int, dir_fd: int | None = None) -> int:
        opened = partial(self._step, "open") if flags & (os.O_CREAT | os.O_APPEND) else os.open
        return int(opened(path, flags, *mode, dir_fd=dir_fd))

    def _step(self, name: str, *arguments: Any, **options: Any) -> Any:
        self.steps += 1
        if self.steps > self._last:
            if name == "write" and self.steps == self._last + 1:
                handle, data = arguments
                os.write(handle, data[: len(data) // 2])
            raise Stopped
        return getattr(os, name)(*arguments, **options)


@contextmanager
def stopping(after: int) -> Iterator[_System]:
    """Let `verale.files` do so many steps. Of a write that comes next, half is done. `steps` counts them."""
    system = _System(after)
    with patch.object(files, "os", system):
        yield system
