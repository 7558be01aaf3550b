"""Mixed: statements about patches and about activations, chosen together; few of them bound all activations."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations, islice, product

import torch
from torch import Tensor

from verale.bounds import LinearMargins, Projection
from verale.bounds.lipschitz import Lipschitz
from verale.certificate import Prices, Statement
from verale.errors import UsageError
from verale.head import Head, Linear
from verale.rounding import Enclosure
from verale.search.activations import ActivationExplanation
from verale.search.additions import Additions
from verale.search.avoid import NONE_FOUND
from verale.search.clauses import Clauses, Level
from verale.search.mixed_bounds import MixedBounds
from verale.search.options import SearchOptions
from verale.search.overlapping import Overlapping
from verale.search.paradigms.base import require_memory
from verale.search.paradigms.of_activations import OfActivations
from verale.search.patches import Patches
from verale.search.problem import GivenUpError, Pair, Problem, UnexplainedError, given_up
from verale.search.rounds.stepwise import first_statements
from verale.search.tolerance import EXACT

__all__ = ["MixedSearch", "explain_mixed"]

_LEVELS = (0.6, 0.75, 0.9)
"""Where the ceiling is tried first, as shares of the activations that lie below it."""
_CLOSER = 1
"""So often it is then tried halfway between the best and its neighbours."""
_FEW = 128
"""With at most so many prototypes ceilings and floors are chosen together, and statements are exchanged."""
_FEW_GAINS = 2**14
"""And with at most so many products of prototypes and classes."""
_CLASSES = 2**11
"""Linear programmes with more rivals take a second and more each."""
_STEP = 4
"""Of ceilings and floors one in so many is tried at first, the others when statements are exchanged."""
_PAIRS, _FEWEST_PAIRS = 2**16, 16
"""Of their pairs so many are tried, divided by the products of prototypes and classes, but some at least. Where there
are more, a wider step is taken first, and then halved about the best pair."""
_EXCHANGES = 32
"""The most exchanges that follow each other."""
_TRIED = 4
"""The most pairs of ceiling and floor with which explanations are begun."""
_SMALL = 4
"""An explanation of so many statements is not begun again."""
_REMOVED, _SWAPS = 3, 64
"""An exchange removes at most so many statements; of so many sets of them."""
_SHORT, _LONG, _SHARE = 16, 64, 4
"""Explanations begin with none, _SHORT, or _LONG and a share of the statements about patches that projection finds."""
_HOPELESS = 1.15
"""Of 24 images, what was found first had at most so many times as many statements as what was found in the end."""
_SHARES = 0.0, 0.5
"""How much of what a statement says of other activations is counted first; both are tried."""


def explain_mixed(
    problem: Problem, projection: Projection, lipschitz: Lipschitz, most: float = math.inf
) -> ActivationExplanation:
    """The cheapest explanation found of the only image of a problem; the smallest, where there are no costs.

    Statements about activations are chosen so that they cover what every rival lacks (`Overlapping`), for several
    ceilings, and after none or some of the statements about patches with which projection begins. Whatever is then not
    needed is dropped.

    Args:
        problem: one image.
        projection: how statements about patches bound observables.
        lipschitz: how an activation bounds the others.
        most: the search is given up where it would not have at most so many statements.

    Raises:
        GivenUpError: it was given up.
        UnexplainedError: all activations together do not prove the class.

    Soundness: an explanation is kept only if every margin is proved positive, rounded outward, from it alone.
    """
    image = _Image(problem, MixedBounds(problem, projection, lipschitz))
    image.begin_with([], _HOPELESS * most)
    pairs = first_statements(problem, projection)
    for count in sorted({min(len(pairs), _SHORT), min(len(pairs), _LONG + len(pairs) // _SHARE)}):
        before = image.best
        image.begin_with(pairs[:count])
        if image.best is before and not image.has_few:  # then more pairs seldom help
            break
    if image.best is None:
        reason = NONE_FOUND if problem.avoid else "the class stays open though every activation is stated"
        raise UnexplainedError(reason)
    return image.best


class _Image:
    """One image, and the cheapest explanation of it so far, `best`; `has_few` prototypes or many."""

    def __init__(self, problem: Problem, known: MixedBounds) -> None:
        if not isinstance(problem.margins, LinearMargins):
            raise UsageError("paradigm 'mixed' needs a linear readout")
        self._problem, self._known = problem, known
        self._linear = problem.margins
        self.has_few = problem.head.size <= _FEW and problem.head.size * problem.head.classes <= _FEW_GAINS
        self._level: Level = None
        self._costs = problem.costs
        self._each = torch.tensor(problem.costs.of_prototypes(problem.head.size), dtype=torch.float64)
        self.best: ActivationExplanation | None = None

    def begin_with(self, pairs: list[Pair], most: float = math.inf) -> None:
        """Look for explanations that begin with these pairs, unless these alone cost more than the best one.

        Of many prototypes, the search is given up where the first one has more than `most` statements.
        """
        if self.best is not None and self._of_pairs(pairs) >= self._cost:
            return
        base = self._known.patches(pairs)
        if self.has_few:
            self._begin_with_few(base)
            return
        if self._level is None:
            values = self._values(base.box)
            self._level = min(values, key=values.__getitem__)
        for share in _SHARES:
            self._keep(self._solved(base.copy(), (self._level, None), [share]))
            if self.best is not None and self._size > most:
                raise GivenUpError(given_up(len(self.best.statements)))

    def _begin_with_few(self, base: Patches) -> None:
        """Of few prototypes: at most two statements about activations, then several pairs of clauses."""
        promising = self._additions.promising(base.box) & self._known.left
        for kept in (self._known.none, *self._single()[promising]):
            most = self._cost - self._costs.step - self._of_pairs(base.pairs) - self._of(kept)
            if most > self._costs.step and (added := self._added(base.box, kept, most)) is not None:
                self._keep(self._dropped(base.copy(), *added))
        values = {} if self._size <= _SMALL + len(base.pairs) else self._pair_values(base.box)
        for levels in sorted(values, key=values.__getitem__)[:_TRIED]:
            self._keep(self._solved(base.copy(), levels, _SHARES))

    @property
    def _size(self) -> float:
        """Of the best explanation."""
        return math.inf if self.best is None else len(self.best.statements)

    @property
    def _cost(self) -> float:
        """Of the best explanation."""
        return math.inf if self.best is None else self._costs.total(self.best.statements)

    def _of(self, stated: Tensor) -> float:
        """What statements about activations cost."""
        return float(self._each[stated].sum())

    def _of_pairs(self, pairs: Sequence[Pair]) -> float:
        """What statements about patches cost."""
        return math.fsum(map(self._costs.of_pair, pairs))

    def _single(self) -> Tensor:
        """(P, P) bool, the sets of one activation."""
        return torch.eye(len(self._known.none), dtype=torch.bool)

    def _values(self, base: Enclosure) -> dict[int, float]:
        """About what the statements cost that some ceilings need."""
        last = len(self._known.clauses_of.highest) - 1
        values = {level: self._relaxed(base, (level, None)) for level in sorted({int(s * last) for s in _LEVELS})}
        for _ in range(_CLOSER):
            known = sorted(values)
            place = known.index(min(known, key=values.__getitem__))
            for one, other in zip(known[max(0, place - 1) : place + 1], known[place : place + 2], strict=False):
                if (middle := (one + other) // 2) not in values:
                    values[middle] = self._relaxed(base, (middle, None))
        return values

    def _pair_values(self, base: Enclosure) -> dict[tuple[Level, Level], float]:
        """About what the statements cost that some pairs of ceiling and floor need."""
        ceilings, floors = self._known.clauses_of.levels
        most = max(_FEWEST_PAIRS, _PAIRS // (len(self._known.none) * self._problem.head.classes))
        step = _STEP
        while len(ceilings[::step]) * len(floors[::step]) > most:
            step *= 2
        tried = product(range(0, len(ceilings), step), range(0, len(floors), step))
        values = {pair: self._relaxed(base, (ceilings[pair[0]], floors[pair[1]])) for pair in tried}
        while step > _STEP:
            step //= 2
            one, other = min(values, key=values.__getitem__)
            for pair in product((one - step, one, one + step), (other - step, other, other + step)):
                if pair not in values and 0 <= pair[0] < len(ceilings) and 0 <= pair[1] < len(floors):
                    values[pair] = self._relaxed(base, (ceilings[pair[0]], floors[pair[1]]))
        return {(ceilings[one], floors[other]): value for (one, other), value in values.items()}

    def _relaxed(self, base: Enclosure, levels: tuple[Level, Level]) -> float:
        """About what the statements cost that a pair of ceiling and floor needs, the pair counted."""
        clauses = self._known.clauses_of.at(levels)
        box = self._known.box(base, self._known.none, clauses)
        return self._overlapping.needed(box, _SHARES[0]) + clauses.cost(self._costs)

    def _chosen(self, base: Enclosure, clauses: Clauses, share: float) -> list[int]:
        """Statements about activations that entail the class, the most useful first."""
        chosen, others = self._overlapping.chosen(self._known.box(base, self._known.none, clauses), share)
        stated = self._known.none.clone()
        stated[chosen] = True
        return chosen + self._until_proved(base, stated, clauses, others)

    def _until_proved(self, base: Enclosure, stated: Tensor, clauses: Clauses, rest: list[int]) -> list[int]:
        """The first of some more statements, as many as prove the class."""

        def proves(more: int) -> bool:
            trial = stated.clone()
            trial[rest[:more]] = True
            return self._known.proves(base, trial, clauses)

        return [] if proves(0) else rest[: bisect_left(range(len(rest)), True, key=proves)]

    def _solved(
        self, patches: Patches, levels: tuple[Level, Level], shares: Sequence[float]
    ) -> ActivationExplanation | None:
        """An explanation with a given ceiling and floor, or less; it begins with the fewest of some choices."""
        clauses = self._known.clauses_of.at(levels)
        chosen = min((self._chosen(patches.box, clauses, share) for share in shares), key=len)
        stated = self._known.none.clone()
        stated[chosen] = True
        return (
            self._dropped(patches, stated, clauses, chosen)
            if self._known.proves(patches.box, stated, clauses)
            else None
        )

    def _dropped(
        self, patches: Patches, stated: Tensor, clauses: Clauses, order: Sequence[int] = ()
    ) -> ActivationExplanation | None:
        """What is left of an explanation from which nothing can be dropped: the clauses are tried first, then the
        costliest statements.

        Args:
            order: the statements about activations, the most useful first.
        """
        for fewer in (replace(clauses, ceiling=None), replace(clauses, floor=None), Clauses()):
            if fewer.size < clauses.size and self._known.proves(patches.box, stated, fewer):
                clauses = fewer
        told = self._known.box(self._known.range, stated, clauses)
        patches.drop(
            sorted(patches.pairs, key=self._costs.of_pair)[::-1],
            lambda boxes: (self._problem.margins.lower(boxes.intersect(told)[None])[0] > 0).all(1),
        )
        for _ in range(_EXCHANGES if self.has_few else 0):
            if (exchanged := self._exchanged(patches.box, stated, clauses)) is None:
                break
            (stated, clauses), order = exchanged, ()
        each: list[float] = self._each.tolist()
        members = sorted(order or stated.nonzero()[:, 0].tolist(), key=each.__getitem__)
        stated = self._known.none.clone()
        stated[self._overlapping.pruned(clauses.cut(patches.box), members)] = True
        again = self._known.patches(patches.pairs)
        margins = self._known.margins(self._known.box(again.box, stated, clauses))
        if not bool((margins > 0).all()):
            return None
        statements = [*patches.statements, *self._known.statements(stated, clauses)]
        return ActivationExplanation(statements, margins, minimal=False)

    def _exchanged(self, base: Enclosure, stated: Tensor, clauses: Clauses) -> tuple[Tensor, Clauses] | None:
        """The same with fewer or cheaper statements: some are removed, one is added, and the clauses are chosen anew.

        None if that fails.
        """
        members, costs = stated.nonzero()[:, 0].tolist(), self._additions.costs.flatten()
        # Whatever does not do after one removal does not do after more.
        places: dict[tuple[int, ...], Tensor | None] = {}
        for count in range(_REMOVED + 1):
            for removed in islice(combinations(members, count), _SWAPS):
                most = clauses.cost(self._costs) + float(self._each[list(removed)].sum()) - self._costs.step
                kept = stated.clone()
                kept[list(removed)] = False
                own = self._known.box(base, kept, Clauses())
                places[removed] = found = self._additions.places(own, places.get(removed[:-1]))
                if (
                    most >= 0
                    and (found is None or bool((costs[found] <= most).any()))
                    and (added := self._added(base, kept, most)) is not None
                ):
                    return added
        return None

    def _added(self, base: Enclosure, kept: Tensor, most: float) -> tuple[Tensor, Clauses] | None:
        """Statements with at most one more about an activation, and a ceiling and a floor, which together cost at most
        `most`; None if none.

        The cheapest are chosen, and of these what leaves the greatest least margin.
        """
        ceilings, floors = self._known.clauses_of.levels
        least = self._additions.least(self._known.box(base, kept, Clauses()))
        costs = self._additions.costs.masked_fill(least <= 0, math.inf)
        cheapest = float(costs.amin())
        if cheapest > most or math.isinf(cheapest):
            return None
        best = least.masked_fill(costs > cheapest, -math.inf).argmax()
        added, ceiling, floor = (int(index) for index in torch.unravel_index(best, least.shape))
        stated, clauses = kept.clone(), self._known.clauses_of.at((ceilings[ceiling], floors[floor]))
        if added < len(stated):
            stated[added] = True
        return (stated, clauses) if self._known.proves(base, stated, clauses) else None

    @cached_property
    def _overlapping(self) -> Overlapping:
        return Overlapping(self._linear, self._known.table, self._each, self._known.left)

    @cached_property
    def _additions(self) -> Additions:
        """Of an activation, a ceiling and a floor."""
        ceilings, floors = self._known.clauses_of.levels
        self._known.clauses_of.know(
            *([level for level in levels if level is not None] for levels in (ceilings, floors))
        )
        cost_of = self._each.new_tensor
        costs_of_clauses = self._costs.ceiling * cost_of([level is not None for level in ceilings])[
            :, None
        ] + self._costs.floor * cost_of([level is not None for level in floors])
        return Additions(
            self._linear,
            self._known.table,
            torch.stack([self._known.clauses_of.at((level, None)).cut(self._known.range).upper for level in ceilings]),
            torch.stack([self._known.clauses_of.at((None, level)).cut(self._known.range).lower for level in floors]),
            torch.cat([self._each, self._each.new_zeros(1)])[:, None, None] + costs_of_clauses,
        )

    def _keep(self, explanation: ActivationExplanation | None) -> None:
        if explanation is not None and self._costs.total(explanation.statements) < self._cost:
            self.best = explanation


class MixedSearch(OfActivations):
    """See `explain_mixed`."""

    name = "mixed"
    bounds = Projection

    def __init__(self, head: Head, patches: int, options: SearchOptions) -> None:
        super().__init__(head, patches, options)
        require_memory(64 * head.size**2, f"what each of {head.size} activations says of the others", options)
        self._known = Projection(head), Lipschitz(head)

    @classmethod
    def require(cls, head: Head, patches: int) -> None:
        """See `ParadigmSearch`."""
        Lipschitz.require(head)
        if not isinstance(head.readout, Linear):
            raise UsageError(f"paradigm 'mixed' needs a linear readout; for {head.readout.kind} use 'top_k'")
        if head.classes > _CLASSES:
            raise UsageError(f"paradigm 'mixed' takes at most {_CLASSES} classes, not {head.classes}; use 'top_k'")

    def explain(self, problem: Problem, most: float) -> ActivationExplanation:
        """See `OfActivations`."""
        return explain_mixed(problem, *self._known, most)

    def prove(self, problem: Problem, statements: Sequence[Statement], prices: Sequence[Prices] = ()) -> Tensor:
        """See `ParadigmSearch`."""
        return MixedBounds(replace(problem.with_ends(statements), tolerance=EXACT), *self._known).margins_of(statements)
