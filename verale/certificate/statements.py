"""Statements and prices. Each class checks its fields and owns its JSON form (`to_json`).

Statements bound the prototypes, and the pairs of a patch and a prototype, of which they say anything. A clause is one
statement, and may bound every prototype of the head; or name a hundred of them. A statement about a patch has two names
and two numbers. So the number of statements tells neither how much they bound nor how much there is to read.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, get_args

from verale.certificate.words import between, enumerated, meant_by
from verale.checker import certificate as read
from verale.errors import CertificateError


@dataclass(frozen=True)
class PatchStatement:
    """The observable m(z_patch, p_prototype) lies in [lower, upper].

    `lower` -inf, or `upper` inf: the statement has no bound on that side. It has one on at least one side.
    """

    patch: int
    prototype: int
    lower: float
    upper: float

    def __post_init__(self) -> None:
        check_indices(self.patch, self.prototype)
        _check_interval(self.lower, self.upper)

    def to_json(self) -> dict[str, Any]:
        return {"patch": self.patch, "prototype": self.prototype, "interval": _ends(self.lower, self.upper)}


@dataclass(frozen=True)
class ActivationStatement:
    """The activation a_prototype lies in [lower, upper]; -inf and inf as in `PatchStatement`."""

    prototype: int
    lower: float
    upper: float

    def __post_init__(self) -> None:
        check_indices(self.prototype)
        _check_interval(self.lower, self.upper)

    def to_json(self) -> dict[str, Any]:
        return {"prototype": self.prototype, "interval": _ends(self.lower, self.upper)}


@dataclass(frozen=True)
class OrderStatement:
    """The order clause, or ceiling: no activation of a prototype outside `exempt` exceeds `upper`."""

    exempt: tuple[int, ...]
    upper: float

    def __post_init__(self) -> None:
        _check_clause(self.exempt, self.upper)

    def to_json(self) -> dict[str, Any]:
        return {"except": list(self.exempt), "upper": self.upper.hex()}


@dataclass(frozen=True)
class FloorStatement:
    """The floor: no activation of a prototype outside `exempt` is below `lower`."""

    exempt: tuple[int, ...]
    lower: float

    def __post_init__(self) -> None:
        _check_clause(self.exempt, self.lower)

    def to_json(self) -> dict[str, Any]:
        return {"except": list(self.exempt), "lower": self.lower.hex()}


@dataclass(frozen=True)
class SumStatement:
    """What all prototypes that do not belong to the predicted class take back is at most `upper`, for every rival that
    is listed; for all rivals where `rivals` is None.

    A prototype belongs to each class that has the greatest weight for it. What the others take back for a rival c is
    the sum of (weight[c, j] - weight[predicted, j]) a_j over them.
    """

    rivals: tuple[int, ...] | None
    upper: float

    def __post_init__(self) -> None:
        if self.rivals is not None:
            check_indices(*self.rivals)
            check_increasing(self.rivals, "the sum's rivals")
            if not self.rivals:
                raise CertificateError("a sum is about no rival, expected some, or None for all")
        _check_finite(self.upper)
        if self.upper < 0:
            raise CertificateError(f"a sum is at most {self.upper}, expected at least 0")

    def to_json(self) -> dict[str, Any]:
        return {"rivals": None if self.rivals is None else list(self.rivals), "upper": self.upper.hex()}


Statement = PatchStatement | ActivationStatement | OrderStatement | FloorStatement | SumStatement

_CLASSES: dict[str, tuple[Callable[..., Statement], tuple[str, ...]]] = {
    each.__name__: (each, tuple(one.name for one in fields(each))) for each in get_args(Statement)
}
"""The classes, and the names of their fields, by their names, which are those that the checker's have."""
_UNBOUNDED = {"lower": -math.inf, "upper": math.inf}
_KINDS = {
    "PatchStatement": ("about a patch", "about patches"),
    "ActivationStatement": ("about an activation", "about activations"),
    "OrderStatement": ("ceiling", "ceilings"),
    "FloorStatement": ("floor", "floors"),
    "SumStatement": ("sum", "sums"),
}
"""What one statement of a kind, and several, are called."""


def statement_in_words(statement: Any, prototypes: int | None = None, both: str = "[{}, {}]") -> tuple[str, str]:
    """The subject of a statement, of `verale.certificate` or as the checker reads it, and its bounds for people, in the
    statement's own numbers; `both` is the form of an interval with two ends."""
    if hasattr(statement, "exempt"):
        subject = meant_by(statement.exempt, prototypes)
    elif hasattr(statement, "patch"):
        subject = f"patch {statement.patch}, prototype {statement.prototype}"
    elif hasattr(statement, "prototype"):
        subject = f"activation of prototype {statement.prototype}"
    else:
        of, rivals = "any other class", statement.rivals
        if rivals is not None:
            of = f"class{'' if len(rivals) == 1 else 'es'} {enumerated(list(map(str, rivals)))}"
        subject = f"points that all prototypes of other classes give {of}"
    lower, upper = (getattr(statement, side, None) for side in ("lower", "upper"))
    return subject, between(lower, upper, both)


def subjects_of(statement: Any) -> list[tuple[str, int | None]]:
    """What a statement, as `statement_in_words` takes it, is about: a prototype and perhaps a patch, by their numbers;
    or what a clause is called."""
    named = [(name, getattr(statement, name)) for name in ("prototype", "patch") if hasattr(statement, name)]
    return named or [(_KINDS[type(statement).__name__][0], None)]


def activations_bounded(statement: Statement, prototypes: int) -> list[tuple[int, float, float]]:
    """Each activation that a statement bounds, by its prototype, and its ends; infinite where there is none."""
    match statement:
        case ActivationStatement(prototype, lower, upper):
            return [(prototype, lower, upper)]
        case OrderStatement(exempt, upper):
            lower = -math.inf
        case FloorStatement(exempt, lower):
            upper = math.inf
        case _:
            return []
    return [(prototype, lower, upper) for prototype in sorted(set(range(prototypes)).difference(exempt))]


def bounds_in_words(statement: Any) -> str:
    """The bounds of a statement: "at least 0.43", "at most 0.36" or "from 0.1 to 0.36"."""
    return statement_in_words(statement, both="from {} to {}")[1]


def counted(statements: Sequence[object]) -> str:
    """How many statements there are of which kind, for people; statements as `statement_in_words` takes them."""
    numbers = Counter(type(each).__name__ for each in statements)
    kinds = [f"{numbers[kind]} {_KINDS[kind][numbers[kind] > 1]}" for kind in _KINDS if numbers[kind]]
    if not kinds:
        return "no statement, for all latents of the head's domain"
    total = f"{len(statements)} statement{'s' if len(statements) > 1 else ''}"
    if len(kinds) == 1 and "about" in kinds[0]:
        return f"{total} {kinds[0].split(' ', 1)[1]}"
    return f"{total}: {enumerated(kinds)}"


def statement_of(given: read.Statement) -> Statement:
    """A statement that the checker has read, with floats for ends."""
    kind, names = _CLASSES[type(given).__name__]
    values = [getattr(given, name) for name in names]
    return kind(
        *(
            float(value) if type(value) is Fraction else _UNBOUNDED.get(name) if value is None else value
            for name, value in zip(names, values, strict=True)
        )
    )


@dataclass(frozen=True)
class Prices:
    """A hint of the paradigm `assignment`: what each prototype pays for a patch's remainder, for one rival.

    Attributes:
        rival: the class.
        prototypes: those that pay, in increasing order.
        values: the price of each, positive.
    """

    rival: int
    prototypes: tuple[int, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        check_indices(self.rival, *self.prototypes)
        check_increasing(self.prototypes, "the prices' prototypes")
        if len(self.values) != len(self.prototypes):
            raise CertificateError(f"{len(self.values)} prices are given for {len(self.prototypes)} prototypes")
        for value in self.values:
            if not 0 < value < math.inf:
                raise CertificateError(f"the price {value} is not positive and finite")

    def to_json(self) -> dict[str, Any]:
        prices = [value.hex() for value in self.values]
        return {"rival": self.rival, "prototypes": list(self.prototypes), "prices": prices}


def check_indices(*indices: int) -> None:
    """Raises CertificateError unless all are at least 0."""
    for index in indices:
        if index < 0:
            raise CertificateError(f"index {index} is negative")


def check_increasing(indices: Sequence[int], what: str) -> None:
    """Raises CertificateError unless each is greater than the one before."""
    if list(indices) != sorted(set(indices)):
        raise CertificateError(f"{what} are not strictly increasing")


def _check_clause(exempt: Sequence[int], end: float) -> None:
    check_indices(*exempt)
    check_increasing(exempt, "a clause's exempt prototypes")
    _check_finite(end)


def _check_interval(lower: float, upper: float) -> None:
    """Raises CertificateError unless lower <= upper and a bound is left: at most one end is infinite, outward."""
    if lower == -math.inf:
        _check_finite(upper)
    elif upper == math.inf:
        _check_finite(lower)
    elif not (math.isfinite(lower) and math.isfinite(upper) and lower <= upper):
        raise CertificateError(f"[{lower}, {upper}] is not an interval")


def _check_finite(end: float) -> None:
    if not math.isfinite(end):
        raise CertificateError(f"{end} is not finite: a statement needs a bound")


def _ends(lower: float, upper: float) -> list[str | None]:
    """An interval in JSON; null where there is no bound."""
    return [None if lower == -math.inf else lower.hex(), None if upper == math.inf else upper.hex()]


AT_A_GLANCE = 14
"""Numbers and names that are read at a glance: what has no more is not shortened, and of more a page says so."""


@dataclass(frozen=True)
class Bounded:
    """What statements bound: of how many prototypes the activation, or the comparison with some patch, and how many
    pairs of a patch and a prototype."""

    prototypes: int
    pairs: int


def bounded(statements: Iterable[object], prototypes: int, patches: int) -> Bounded:
    """What some statements, of `verale.certificate` or as the checker reads them, bound of so many prototypes and
    patches. A clause bounds every prototype that it does not exempt."""
    about: set[int] = set()
    pairs: set[tuple[int, int]] = set()
    for each in statements:
        exempt, prototype, patch = (getattr(each, name, None) for name in ("exempt", "prototype", "patch"))
        if exempt is not None:
            about |= set(range(prototypes)).difference(exempt)
        elif prototype is not None and prototype < prototypes and (patch is None or patch < patches):
            about.add(prototype)
            if patch is not None:
                pairs.add((patch, prototype))
    return Bounded(len(about), len(pairs))


def to_read(statements: Sequence[object], prototypes: int, patches: int) -> int:
    """How many numbers and names a reader of some statements meets.

    An end is a number. A statement names its prototype and, of an image of several patches, its patch. A clause names
    the prototypes that it speaks of, or those that it exempts though nothing else is stated of them ("no other"),
    whichever are fewer. A sum is one name, and names the rivals that it lists.
    """
    stated = {each.prototype for each in statements if hasattr(each, "prototype") and not hasattr(each, "patch")}
    numbers = names = 0
    for each in statements:
        ends = (getattr(each, side, None) for side in ("lower", "upper"))
        numbers += sum(end is not None and math.isfinite(end) for end in ends)
        exempt = getattr(each, "exempt", None)
        if exempt is not None:
            names += min(prototypes - len(exempt), len(set(exempt) - stated))
        else:
            rivals = getattr(each, "rivals", None) or ()
            names += 1 + (hasattr(each, "patch") and patches > 1) + len(rivals)
    return numbers + names
