"""The activations, given statements. Paradigms differ in the statements that they have, and in how patches are bounded.

**Patches** (`projection`, `triangle`, `hypersphere`, `simplex`, `assignment`, `joint`). Each patch is bounded from its
statements, by `quadratic` or `masses`; one without has the ranges of the domain. `pooling` gives the activations.

**Activations** (`top_k`, `sparse`, `evidence`). An activation lies in its range over the domain and in its stated
interval; one that the order clause does not exempt is at most the clause's `upper`, and one that the floor does not
exempt is at least the floor's `lower`. *Proof.* All of these hold, so the intersection does. Rounded inward, each lies
within the real one, so the intersection lies within the real one, which is empty only if that is. Then it is cut by
what activations say of each other (`lipschitz`), where the pooling is max, of distances and cosines with any similarity
but quadratic.

**Both** (`mixed`). The activations' ranges given the statements about patches are cut by what is stated about
activations, and then by what activations say of each other (`lipschitz`). *Proof.* Each of these is a range.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..certificate import ActivationStatement, FloorStatement, OrderStatement, PatchStatement, Statement, spoken_of
from ..read.similarities import COSINES
from .facts import OfActivations, by_patch
from .lipschitz import Lipschitz, Named
from .masses import Simplex
from .pooling import Pooling
from .quadratic import QuadraticRule
from .space import Box, Ranges, Space, at


class Activations:
    """What statements say of the activations of a head.

    Args:
        space: the head.
        rule: bounds the observables of patches.
    """

    def __init__(self, space: Space, rule: QuadraticRule | Simplex) -> None:
        self._space, self._rule = space, rule
        self._outward, self._inward = Pooling(space), Pooling(space, True)

    def box(self, statements: Sequence[Statement], patches: int, quick: bool = False) -> Box:
        """The activations' enclosures, given the statements.

        Args:
            statements: about patches and activations.
            patches: L.
            quick: whether it is to take a hundredth of the time, and may prove less.
        """
        groups, others = by_patch(statements)
        pooled = self._rule.pooled(groups, patches, quick) if groups else None
        if pooled is None:
            parts = {patch: self._outward.part(self._rule.ranges(group, quick)) for patch, group in groups.items()}
            box = self._outward.box(parts, patches)
        else:
            box = self._outward.similarities(pooled)
        box = _cut(box, others)
        return Lipschitz(self._space).cut(box, _named(others)) if others and self._linked else box

    @property
    def _linked(self) -> bool:
        """Whether activations say something of each other: where one patch gives each of them."""
        head = self._space.head
        return head.geometry in ("euclidean", *COSINES) and head.pooling == "max" and not head.similarity.unimodal

    def boxes_without(self, statements: Sequence[Statement], patches: int) -> Iterator[tuple[int, Box | None]]:
        """For each statement its index and the activations' ranges given all the others, rounded inward; None where a
        range may be empty. Only what a statement speaks of is bounded again: no two speak of one activation."""
        groups, others = by_patch(statements)
        parts = {patch: self._part(group) for patch, group in groups.items()}
        pooled = self._pooled(parts, patches)
        clauses = pooled and _cut(pooled, [each for each in others if not isinstance(each, ActivationStatement)])
        whole = clauses and _cut(clauses, [each for each in others if isinstance(each, ActivationStatement)])
        for index, dropped in enumerate(statements):
            self._space.arithmetic.clock.look()
            box, said = pooled, [each for each in others if each is not dropped]
            if isinstance(dropped, PatchStatement):
                left = [each for each in groups[dropped.patch] if each is not dropped]
                box = self._pooled({**parts, dropped.patch: self._part(left)}, patches)
            if clauses and whole and isinstance(dropped, ActivationStatement):
                lower, upper, j = whole.lower.copy(), whole.upper.copy(), dropped.prototype
                lower[j], upper[j] = clauses.lower[j], clauses.upper[j]
                box = replace(whole, lower=lower, upper=upper)
            elif box:
                box = _cut(box, said)
            if box and others and self._linked:
                ends = _stated(said, self._space.head.count, box.bits)
                box = Lipschitz(self._space).cut_inward(box, ends, _named(said))
            yield index, box.filled() if box and others else box

    def _part(self, statements: Sequence[PatchStatement]) -> Ranges | None:
        """What is pooled of a patch with these statements, rounded inward; None where a range may be empty."""
        ranges = self._rule.within(statements) if statements else self._space.within
        return ranges and self._inward.part(ranges)

    def _pooled(self, parts: Mapping[int, Ranges | None], patches: int) -> Box | None:
        """The activations' ranges, rounded inward; None where one may be empty."""
        shown = {patch: part for patch, part in parts.items() if part is not None}
        if self._space.within is None or len(shown) < len(parts):
            return None
        return self._inward.box(shown, patches)


def _cut(box: Box, statements: Sequence[OfActivations]) -> Box:
    """What statements leave of the activations' ranges; rounded as these are."""
    lower, upper = box.lower.copy(), box.upper.copy()
    for statement in statements:
        of_lower, of_upper = (lower, statement.lower, max, box.inward), (upper, statement.upper, min, not box.inward)
        for ends, stated, choose, up in (of_lower, of_upper):
            if stated is not None:
                end = at(stated, box.bits, up)
                for j in spoken_of(statement, len(lower)):
                    ends[j] = choose(ends[j], end)
    return replace(box, lower=lower, upper=upper)


def _named(statements: Sequence[OfActivations]) -> Named:
    """The prototypes of which statements speak one by one, and those that a ceiling and a floor list."""
    own = {each.prototype for each in statements if isinstance(each, ActivationStatement)}
    above = {j for each in statements if isinstance(each, OrderStatement) for j in each.exempt}
    return own, above, {j for each in statements if isinstance(each, FloorStatement) for j in each.exempt}


def _stated(statements: Sequence[OfActivations], count: int, bits: int) -> list[tuple[int | None, int | None]]:
    """What is stated of each activation, rounded inward."""
    lows, highs = [list[int]() for _ in range(count)], [list[int]() for _ in range(count)]
    for each in statements:
        for ends, stated, up in ((lows, each.lower, True), (highs, each.upper, False)):
            if stated is not None:
                for j in spoken_of(each, count):
                    ends[j].append(at(stated, bits, up))
    return [(max(low, default=None), min(high, default=None)) for low, high in zip(lows, highs, strict=True)]
