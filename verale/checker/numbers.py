"""Numbers beside a verdict: what statements prove of each activation and of each rival. They are exact; who shows one
rounds it outward."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, TypeVar

_T = TypeVar("_T")
Givers = tuple[tuple[int, ...], tuple[int, ...]]
"""Statements, by their numbers, that give a lower and an upper end."""
Margins: TypeAlias = tuple[Fraction | None, ...]
"""(C,) how much higher the predicted class's logit is at least than each other's; None at the predicted class."""
_INTEGER = re.compile(r"0|-?[1-9a-f][0-9a-f]{0,8191}", re.ASCII)
"""As long as the numbers of any head or network make it."""


@dataclass(frozen=True)
class Interval:
    """Where a number lies, both ends included.

    Attributes:
        low, high: None where there is no end. Where statements contradict each other, low may be above high.
    """

    low: Fraction | None
    high: Fraction | None


@dataclass(frozen=True)
class Numbers:
    """What a certificate's statements prove, whatever margins it states.

    Attributes:
        activations: (P,) where each activation lies, for all latents that satisfy the statements. Both ends are there,
            but where the kernel encloses nothing of a head.
        domain: (P,) the same of all latents of the head's domain.
        margins: (C,) how much higher the predicted class's logit is at least than each other's; below 0 where it may be
            lower. None at the predicted class, and where nothing is proved.
        givers: (P,) the statements that give the ends: those that say of an activation what its end is, or those about
            patches and its prototype. Empty where an end is the domain's, or follows from statements about others
            together. Not proved: told to people, and nothing else.
    """

    activations: tuple[Interval, ...]
    domain: tuple[Interval, ...]
    margins: tuple[Fraction | None, ...]
    givers: tuple[Givers, ...]


@dataclass(frozen=True)
class LatentsBox:
    """How exactly the latents of a picture were enclosed, told to people.

    Attributes:
        width: the greatest interval of a latent.
        layer: which layer of sums widened intervals most; empty where none did.
        factor: how many times wider than those that it reads its intervals are at most.
    """

    width: Fraction
    layer: str
    factor: Fraction


@dataclass(frozen=True)
class StatementAt:
    """A statement at the latents of an image.

    Attributes:
        true: whether it is true; None where that is not decided.
        value: where what it bounds lies; None where it is true, or that is not computed.
    """

    true: bool | None
    value: Interval | None = None


def agreed(first: StatementAt, *others: StatementAt) -> StatementAt:
    """What all of several kernels say of one statement."""
    return first if all(each.true == first.true for each in others) else StatementAt(None)


def least_of(every: Iterable[Margins]) -> Margins:
    """The margins that all of some kernels prove; none where one of them did not get that far."""
    return tuple(_of_all(min, same) for same in zip(*every, strict=False))


def shared(first: Numbers, *others: Numbers) -> Numbers:
    """What several kernels prove, each of them; givers are those of the first."""
    every = (first, *others)
    activations, domain = (
        tuple(
            Interval(_of_all(min, [each.low for each in same]), _of_all(max, [each.high for each in same]))
            for same in zip(*ends, strict=True)
        )
        for ends in ([each.activations for each in every], [each.domain for each in every])
    )
    return Numbers(activations, domain, least_of(each.margins for each in every), first.givers)


def _of_all(choose: Callable[[Iterable[Fraction]], Fraction], numbers: Sequence[Fraction | None]) -> Fraction | None:
    """One of them; None where one is missing."""
    present = [each for each in numbers if each is not None]
    return choose(present) if len(present) == len(numbers) else None


class NotNumbersError(ValueError):
    """A text that is none of the numbers asked for."""


class Items:
    """The text of an answer, item by item. Every method raises NotNumbersError where something else stands there."""

    def __init__(self, text: str) -> None:
        self._items = deque(text.split(" "))

    def integer(self) -> int:
        item = self._items.popleft() if self._items else ""
        if not _INTEGER.fullmatch(item):
            raise NotNumbersError(f"expected an integer, found {item[:40]!r}")
        return int(item, 16)

    def unit(self) -> int:
        unit = self.integer()
        if unit <= 0:
            raise NotNumbersError("expected a positive unit")
        return unit

    def end(self, unit: int) -> Fraction | None:
        if self._items and self._items[0] == "none":
            self._items.popleft()
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
        if self._items:
            raise NotNumbersError("it goes on")


def numbers_of(text: str, count: int, classes: int, predicted: int, statements: int) -> Numbers:
    """The numbers in an answer of the program, for a head and a certificate of this kind. Raises NotNumbersError: what
    is not as it should be is no answer.

    `proofs/rocq/theories/Numbers.v` says what is proved of them, and `proofs/rocq/front/numbers.ml` how they are
    written.
    """
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
