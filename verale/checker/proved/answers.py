"""The numbers in an answer of the program. `proofs/rocq/theories/Numbers.v` says what is proved of them, and
`proofs/rocq/front/numbers.ml` how they are written. What is not as it should be is no answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from ..numbers import Interval, Numbers

_T = TypeVar("_T")
_INTEGER = re.compile(r"0|-?[1-9a-f][0-9a-f]{0,8191}", re.ASCII)
"""As long as the numbers of any head or network make it."""


class NotNumbersError(ValueError):
    """A text that is none of the numbers asked for."""


class Items:
    """The text of an answer, item by item. Every method raises NotNumbersError where something else stands there."""

    def __init__(self, text: str) -> None:
        self._items = text.split(" ")
        self._at = 0

    def _next(self) -> str:
        if self._at == len(self._items):
            raise NotNumbersError("it ends too early")
        self._at += 1
        return self._items[self._at - 1]

    def integer(self) -> int:
        item = self._next()
        if not _INTEGER.fullmatch(item):
            raise NotNumbersError(f"expected an integer, found {item[:40]!r}")
        return int(item, 16)

    def unit(self) -> int:
        unit = self.integer()
        if unit <= 0:
            raise NotNumbersError("expected a positive unit")
        return unit

    def end(self, unit: int) -> Fraction | None:
        if self._items[self._at : self._at + 1] == ["none"]:
            self._at += 1
            return None
        return Fraction(self.integer(), unit)

    def ends(self, unit: int) -> Interval:
        return Interval(Fraction(self.integer(), unit), Fraction(self.integer(), unit))

    def numbers_below(self, most: int) -> tuple[int, ...]:
        """A list of numbers of statements, of which there are so many."""
        count = self.integer()
        if not 0 <= count <= most:
            raise NotNumbersError("expected fewer statements")
        listed = tuple(self.integer() for _ in range(count))
        if any(not 0 <= each < most for each in listed):
            raise NotNumbersError("expected statements of the certificate")
        return listed

    def so_many(self, count: int, item: Callable[[], _T]) -> tuple[_T, ...]:
        """A list of this length."""
        if self.integer() != count:
            raise NotNumbersError(f"expected a list of {count}")
        return tuple(item() for _ in range(count))

    def finish(self) -> None:
        if self._at != len(self._items):
            raise NotNumbersError("it goes on")


def numbers_of(text: str, count: int, classes: int, predicted: int, statements: int) -> Numbers:
    """The numbers of a text, for a head and a certificate of this kind. Raises NotNumbersError."""
    items = Items(text)
    unit = items.unit()
    activations, domain = (items.so_many(count, lambda: items.ends(unit)) for _ in range(2))
    over = items.unit()
    margins = items.so_many(classes, lambda: items.end(over))
    givers = items.so_many(count, lambda: (items.numbers_below(statements), items.numbers_below(statements)))
    items.finish()
    if margins[predicted] is not None:
        raise NotNumbersError("expected no margin of the predicted class")
    return Numbers(activations, domain, margins, givers)
