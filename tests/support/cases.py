"""Many cases in one test, where each alone would take less time than pytest takes for a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["case"]


@contextmanager
def case(*names: object) -> Iterator[None]:
    """Whatever fails says in which case."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in the case {', '.join(map(repr, names))}")
        raise
