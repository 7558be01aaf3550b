"""Costs: what each statement costs a reader; of the explanations that are proved, the cheapest is kept.

Beside them stands what an explanation must not say anything about: patches and prototypes to avoid.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

from verale.certificate import (
    ActivationStatement,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    Statement,
    SumStatement,
)
from verale.certificate.words import written
from verale.errors import UsageError

if TYPE_CHECKING:
    from torch import Tensor

_KINDS = ("prototypes", "patches")
_RANGE = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?", re.ASCII)


@dataclass(frozen=True)
class Avoid:
    """What no statement may be about.

    A ceiling and a floor speak of all prototypes that they do not list, avoided ones too, and may list an avoided one
    as exempt: that says nothing about it.

    Attributes:
        prototypes: their indices, ascending; no statement names them.
        patches: their indices, ascending; no statement is about them. Statements about activations speak of all patches
            together, so there are none then.
    """

    prototypes: tuple[int, ...] = ()
    patches: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for kind in _KINDS:
            indices = tuple(sorted(set(getattr(self, kind))))
            if indices and indices[0] < 0:
                raise UsageError(f"{kind} to avoid: {indices[0]} is negative, expected indices from 0 on")
            object.__setattr__(self, kind, indices)

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Avoid:
        """From texts such as "prototypes:3,7-9" and "patches:0-7".

        Raises:
            UsageError: a text of another form.
        """
        avoided: dict[str, list[int]] = {kind: [] for kind in _KINDS}
        for text in texts:
            kind, colon, listed = text.partition(":")
            if not colon or kind not in _KINDS:
                raise UsageError(f"{text!r} does not say what to avoid, expected prototypes:3,7-9 or patches:0-7")
            avoided[kind] += listed_indices(text, listed)
        return cls(tuple(avoided["prototypes"]), tuple(avoided["patches"]))

    def __bool__(self) -> bool:
        return bool(self.prototypes or self.patches)

    def __str__(self) -> str:
        """Ascending indices as text: 3, 7-9."""
        told = []
        for kind in _KINDS:
            runs = [[j for _, j in run] for _, run in groupby(enumerate(getattr(self, kind)), lambda at: at[1] - at[0])]
            each = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
            told += [f"{kind} {', '.join(each)}"] if each else []
        return " and ".join(told)

    def check(self, patches: int, prototypes: int) -> None:
        """Raise UsageError, which names the index, unless images have these patches and the head these prototypes."""
        for kind, count in zip(_KINDS, (prototypes, patches), strict=True):
            indices = getattr(self, kind)
            if indices and indices[-1] >= count:
                raise UsageError(f"{kind} to avoid: there is no {indices[-1]}, expected 0 to {count - 1}")

    def prototypes_left(self, count: int) -> list[int]:
        """Those of `count` prototypes that are not avoided."""
        return sorted(set(range(count)) - set(self.prototypes))

    def patches_left(self, count: int) -> list[int]:
        """Those of `count` patches that are not avoided."""
        return sorted(set(range(count)) - set(self.patches))


NOTHING = Avoid()
"""Nothing is avoided."""

NONE_FOUND = "no explanation was found"
"""The reason where clauses are not all tried, and others might serve together with what may be stated."""


def listed_indices(text: str, listed: str) -> list[int]:
    """The indices of a list such as "3,7-9". Raises UsageError, which shows the whole text, for another form."""
    indices: list[int] = []
    for part in listed.split(","):
        matched = _RANGE.fullmatch(part.strip())
        if matched is None:
            raise UsageError(f"{text!r}: {part!r} is not an index or a range of them, such as 3 or 7-9")
        first, last = int(matched[1]), int(matched[2] or matched[1])
        if last < first:
            raise UsageError(f"{text!r}: the range {part.strip()} is empty, expected the lower index first")
        indices += range(first, last + 1)
    return indices


_MOST = 1e6
"""The largest cost. So the sums of costs that are compared have rounding errors that are far below `Costs.step`."""

_SAME, _ROUNDED = 1e-6, 1e-9
"""Sums of costs nearer to each other than this count as the same; relative to the least cost, and to the greatest."""

NEARLY_FREE = 1e-9
"""What a statement without cost costs where something is divided by costs."""

_BY_INDEX, _CLAUSES = ("prototypes", "patches"), ("ceiling", "floor")
_FORM = "prototypes:3,7-9=2, patches:0-7=10, statement:5,7=0.5, ceiling=2 or floor=2"
_STATEMENT = re.compile(r"\s*([0-9]{1,6})\s*,\s*([0-9]{1,6})\s*", re.ASCII)


@dataclass(frozen=True)
class Costs:
    """What statements cost.

    A statement about an activation costs what its prototype costs. A statement about a patch and a prototype costs the
    product of what these cost, unless it has a cost of its own. What no cost is given for costs 1. An explanation costs
    the sum of its statements. Costs of 1 that change nothing are left out, so that equal costs are equal objects.

    Attributes:
        prototypes: (index, cost), by index.
        patches: (index, cost), by index.
        statements: ((patch, prototype), cost), by pair.
        ceiling, floor: what the clauses cost.
    """

    prototypes: tuple[tuple[int, float], ...] = ()
    patches: tuple[tuple[int, float], ...] = ()
    statements: tuple[tuple[tuple[int, int], float], ...] = ()
    ceiling: float = 1.0
    floor: float = 1.0

    def __post_init__(self) -> None:
        for name in _BY_INDEX:
            given = {_index(name, index): _cost(f"{name}:{index}", cost) for index, cost in getattr(self, name)}
            object.__setattr__(self, name, tuple((each, cost) for each, cost in sorted(given.items()) if cost != 1))
        prototypes, patches = dict(self.prototypes), dict(self.patches)
        own = {
            (_index("statement", patch), _index("statement", j)): _cost(f"statement:{patch},{j}", cost)
            for (patch, j), cost in self.statements
        }
        kept = {
            pair: cost for pair, cost in own.items() if cost != patches.get(pair[0], 1) * prototypes.get(pair[1], 1)
        }
        object.__setattr__(self, "statements", tuple(sorted(kept.items())))
        for name in _CLAUSES:
            object.__setattr__(self, name, _cost(name, getattr(self, name)))

    @classmethod
    def of(
        cls,
        prototypes: Mapping[int, float] | None = None,
        patches: Mapping[int, float] | None = None,
        statements: Mapping[tuple[int, int], float] | None = None,
        ceiling: float = 1.0,
        floor: float = 1.0,
    ) -> Costs:
        """From costs by prototype, by patch, and by (patch, prototype). Raises UsageError."""
        by_prototype, by_patch = (tuple((each or {}).items()) for each in (prototypes, patches))
        return cls(by_prototype, by_patch, tuple((statements or {}).items()), ceiling, floor)

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Costs:
        """From texts such as "prototypes:3,7-9=2", "patches:0-7=10", "statement:5,7=0.5" and "ceiling=2".

        Of two costs for the same thing the later one counts.

        Raises:
            UsageError: a text of another form, or a cost that is not a number from 0 to 1e6.
        """
        given: dict[str, dict[Any, float]] = {kind: {} for kind in (*_BY_INDEX, "statement")}
        clauses = dict.fromkeys(_CLAUSES, 1.0)
        for text in texts:
            what, equals, number = text.rpartition("=")
            kind, colon, listed = what.partition(":")
            if not equals or (kind not in given if colon else kind not in clauses):
                raise UsageError(f"{text!r} does not say what costs how much, expected {_FORM}")
            try:
                cost = _cost(what, float(number))
            except ValueError:
                raise UsageError(f"{text!r}: {number!r} is not a number, expected {_FORM}") from None
            if not colon:
                clauses[kind] = cost
            else:
                each: list[Any]
                if kind != "statement":
                    each = listed_indices(text, listed)
                elif pair := _STATEMENT.fullmatch(listed):
                    each = [(int(pair[1]), int(pair[2]))]
                else:
                    raise UsageError(f"{text!r}: {listed!r} is not a patch and a prototype, such as 5,7")
                given[kind] |= dict.fromkeys(each, cost)
        return cls.of(given["prototypes"], given["patches"], given["statement"], **clauses)

    def __bool__(self) -> bool:
        """Whether some statement does not cost 1."""
        return self != UNIT_COSTS

    def __str__(self) -> str:
        given = [f"{name}:{index}={written(cost)}" for name in _BY_INDEX for index, cost in getattr(self, name)]
        given += [f"statement:{patch},{j}={written(cost)}" for (patch, j), cost in self.statements]
        given += [f"{name}={written(cost)}" for name in _CLAUSES if (cost := getattr(self, name)) != 1]
        return " ".join(given)

    def check(self, patches: int, prototypes: int) -> None:
        """Raise UsageError, which names the index, unless images have these patches and the head these prototypes."""
        pairs = [pair for pair, _ in self.statements]
        for name, count, indices in (
            ("prototypes", prototypes, [index for index, _ in self.prototypes]),
            ("patches", patches, [index for index, _ in self.patches]),
            ("patches of statements", patches, [patch for patch, _ in pairs]),
            ("prototypes of statements", prototypes, [j for _, j in pairs]),
        ):
            if indices and max(indices) >= count:
                raise UsageError(f"costs of {name}: there is no {max(indices)}, expected 0 to {count - 1}")

    def of_prototypes(self, count: int) -> list[float]:
        """What statements about the activations of `count` prototypes cost."""
        costs = [1.0] * count
        for index, cost in self.prototypes:
            costs[index] = cost
        return costs

    def of_pairs(self, patches: int, prototypes: int) -> Tensor:
        """(L, P) what statements about patches cost."""
        import torch

        by_patch = torch.ones(patches, dtype=torch.float64)
        for index, cost in self.patches:
            by_patch[index] = cost
        costs = by_patch[:, None] * torch.tensor(self.of_prototypes(prototypes), dtype=torch.float64)
        for pair, cost in self.statements:
            costs[pair] = cost
        return costs

    def of_statement(self, statement: Statement) -> float:
        """What a statement costs."""
        match statement:
            case OrderStatement():
                return self.ceiling
            case FloorStatement():
                return self.floor
            case SumStatement():
                return 1.0
            case ActivationStatement(prototype=j):
                return self._by_prototype.get(j, 1.0)
            case PatchStatement(patch=patch, prototype=j):
                return self.of_pair((patch, j))

    def of_pair(self, pair: tuple[int, int]) -> float:
        """What a statement about a patch and a prototype costs."""
        own = self._by_pair.get(pair)
        return self._by_patch.get(pair[0], 1.0) * self._by_prototype.get(pair[1], 1.0) if own is None else own

    def total(self, statements: Iterable[Statement]) -> float:
        """What an explanation costs."""
        return math.fsum(map(self.of_statement, statements))

    def statements_below(self, cost: float) -> float:
        """The most statements that together may cost less than this."""
        each = (min((1.0, *costs.values())) for costs in (self._by_prototype, self._by_patch))
        least = min((math.prod(each), self.ceiling, self.floor, *self._by_pair.values()))
        return math.ceil(cost / least) - 1 if least > 0 and cost < math.inf else math.inf

    @property
    def step(self) -> float:
        """Costs of two explanations that differ at all differ by this: 1 where all costs are whole numbers."""
        given = *self.prototypes, *self.patches, *self.statements
        costs = [1.0, self.ceiling, self.floor, *(cost for _, cost in given)]
        if all(cost.is_integer() for cost in costs):
            return 1.0
        return max(_SAME * min(cost for cost in costs if cost > 0), _ROUNDED * max(costs))

    @cached_property
    def _by_prototype(self) -> dict[int, float]:
        return dict(self.prototypes)

    @cached_property
    def _by_patch(self) -> dict[int, float]:
        return dict(self.patches)

    @cached_property
    def _by_pair(self) -> dict[tuple[int, int], float]:
        return dict(self.statements)


def _cost(what: str, cost: float) -> float:
    if not 0 <= cost <= _MOST:
        raise UsageError(f"the cost of {what} is {cost:g}, expected a number from 0 to {_MOST:g}")
    return float(cost)


def _index(what: str, index: int) -> int:
    if index < 0:
        raise UsageError(f"costs of {what}: {index} is negative, expected indices from 0 on")
    return index


UNIT_COSTS = Costs()
"""Every statement costs 1, so the cheapest explanation is the smallest."""
