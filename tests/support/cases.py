"""Many cases in one test, where each alone would take less time than pytest takes for a test."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import pytest


@contextmanager
def case(*names: object) -> Iterator[None]:
    """Whatever fails says in which case."""
    try:
        yield
    except BaseException as error:  # pytest.fail raises no Exception
        error.add_note(f"in the case {', '.join(map(repr, names))}")
        raise


def every(names: str | tuple[str, ...], values: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Like `pytest.mark.parametrize`, but one test for all values: the first that fails ends it, and is named.

    For functions that leave nothing behind: all values have the same fixtures. `-k` finds a test by those of its
    values that are printable texts.
    """
    fields, given = (names,) if isinstance(names, str) else names, list(values)
    if not given:
        raise ValueError(f"there are no values of {fields}: such a test could not fail")

    def of_all(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def looped(**others: Any) -> None:
            for value in given:
                own = (value,) if isinstance(names, str) else value
                with case(*own):
                    test(**dict(zip(fields, own, strict=True)), **others)

        signature = inspect.signature(test)
        left = [each for name, each in signature.parameters.items() if name not in fields]
        if len(left) + len(fields) != len(signature.parameters):
            raise ValueError(f"{test.__name__} lacks a parameter of {fields}")
        looped.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        texts = (each for value in given for each in _tuple(value) if isinstance(each, str))
        return named(*filter(str.isprintable, texts))(looped)  # the processes cannot send one another half a character

    return of_all


def named(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let `-k` find a test by names that are not in its own: `make test-backends` asks for those of a kernel."""

    def of_these(test: Callable[..., None]) -> Callable[..., None]:
        test.__dict__.update(dict.fromkeys(names, True))
        return test

    return of_these


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def grouped(cases: Iterable[Any]) -> Any:
    """Parametrizes a test with cases of the corpora in groups, each named after what its names begin with."""
    groups: dict[str, list[Any]] = {}
    for each in cases:
        groups.setdefault(each.name.partition("-")[0], []).append(each)
    return pytest.mark.parametrize("group", groups.values(), ids=groups)
