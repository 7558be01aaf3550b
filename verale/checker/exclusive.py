"""What only one thread at a time may use: questions to one program, counted steps, a precision that is global."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from weakref import WeakSet


class Exclusive:
    """Lets one thread in. A child of a fork has it free, whatever thread of its parent was in; so has a copy."""

    def __init__(self) -> None:
        self._lock = RLock()
        _ALL.add(self)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until no other thread is in."""
        with self._lock:
            yield

    def __reduce__(self) -> tuple[type[Exclusive], tuple[()]]:
        return Exclusive, ()


_ALL: WeakSet[Exclusive] = WeakSet()


def _free_all() -> None:
    """In the child of a fork, which has one thread."""
    for each in list(_ALL):
        each._lock = RLock()


if hasattr(os, "register_at_fork"):  # pragma: no branch (Windows does not fork)
    os.register_at_fork(after_in_child=_free_all)
