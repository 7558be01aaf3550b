"""Paradigms that bound each patch from its own statements: `projection`, `triangle`, `hypersphere`, `simplex`.

The paradigms `top_k` and `sparse`: the activations' ranges over the domain, cut by what is stated about them.

**Rule.** An activation lies in its range over the domain and in its stated interval; one that the order clause does not
exempt is at most the clause's `upper`, and one that the floor does not exempt is at least the floor's `lower`. *Proof.*
All of these hold, so the intersection does. Rounded inward, each lies within the real one, so the intersection lies
within the real one, which is empty only if that is.

The paradigm `mixed`: statements about patches and about activations, ceiling, floor, and the Lipschitz rule.

**Rule.** The activations' ranges given the statements about patches (`spatial`) are cut by what is stated about
activations (`top_k`), and then by what activations say of each other (`lipschitz`). *Proof.* Each of these is a range.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import le
from typing import Protocol

from ..certificate import ActivationStatement, FloorStatement, OrderStatement, PatchStatement, Statement
from ..dyadic import ceil_at, floor_at
from .lipschitz import Lipschitz
from .pooling import Box, Part, Pooling, SimilarityRule
from .quadratic import QuadraticRule
from .space import Ranges, Space

__all__ = ["Mixed", "PatchRule", "SpatialRule", "TopK", "by_patch"]


class PatchRule(Protocol):
    """Ranges of all observables of one patch, given the statements about it: enclosures of the working ones; and
    rounded inward, None if one may be empty."""

    def pooled(self, groups: Mapping[int, Sequence[PatchStatement]], patches: int, quick: bool) -> Ranges | None: ...

    def ranges(self, statements: Sequence[PatchStatement], quick: bool) -> Ranges: ...

    def within(self, statements: Sequence[PatchStatement]) -> Ranges | None: ...


class SpatialRule:
    """Activations under statements about patches."""

    def __init__(self, space: Space, rule: PatchRule) -> None:
        self._space, self._rule = space, rule

    def box(self, statements: Sequence[Statement], patches: int, quick: bool = False) -> Box:
        """The activations' enclosures, given the statements.

        Args:
            statements: about patches.
            patches: L.
            quick: whether by weights that are nearly the best, where the rule has any.
        """
        groups, pooling, head = by_patch(statements), Pooling(self._space), self._space.head
        stated = {patch: [statement for _, statement in group] for patch, group in groups.items()}
        pooled = self._rule.pooled(stated, patches, quick)
        if pooled is not None:
            return SimilarityRule(self._space).box(pooled)
        parts = pooling.unstated(self._space.domain, groups, patches)
        for patch, group in stated.items():
            parts.append(pooling.part(self._rule.ranges(group, quick), head.column(patch)))
        return pooling.box(parts)

    def boxes_without(self, statements: Sequence[Statement], patches: int) -> Iterator[tuple[int, Box | None]]:
        """For each statement its index and the activations' ranges given all the others, rounded inward; None where a
        range may be empty. Only the statement's patch is bounded again."""
        groups, domain, pooling = by_patch(statements), self._space.within, Pooling(self._space, True)

        def part(patch: int, group: Sequence[PatchStatement]) -> Part | None:
            ranges = self._rule.within(group) if group else domain
            return None if ranges is None else pooling.part(ranges, self._space.head.column(patch))

        parts = {patch: part(patch, [statement for _, statement in group]) for patch, group in groups.items()}
        unstated = [] if domain is None else pooling.unstated(domain, groups, patches)
        for patch, group in groups.items():
            others = [each for other, each in parts.items() if other != patch]
            for index, dropped in group:
                left = part(patch, [statement for _, statement in group if statement is not dropped])
                known = [each for each in (left, *others) if each is not None]
                shown = domain is not None and len(known) == len(groups)
                yield index, pooling.box([*known, *unstated]) if shown else None


def by_patch(statements: Sequence[Statement]) -> dict[int, list[tuple[int, PatchStatement]]]:
    """The statements about each patch, with their indices."""
    groups: dict[int, list[tuple[int, PatchStatement]]] = {}
    for index, statement in enumerate(statements):
        if not isinstance(statement, PatchStatement):
            raise ValueError("a statement about activations does not belong to a spatial paradigm")
        groups.setdefault(statement.patch, []).append((index, statement))
    return groups


class TopK:
    """Activations, given statements about activations. Every patch has the ranges of the domain."""

    def __init__(self, space: Space) -> None:
        self._bits = space.bits
        self._space = space

    def box(self, statements: Sequence[Statement], patches: int, quick: bool = False) -> Box:
        """The activations' enclosures, given the statements."""
        return self.cut(self._over(self._space.domain, patches, False), statements)

    def boxes_without(self, statements: Sequence[Statement], patches: int) -> Iterator[tuple[int, Box | None]]:
        """For each statement its index and the activations' ranges given all the others, rounded inward; None where one
        may be empty. No two statements are about one activation, as in a certificate."""
        domain = self.within(patches)
        clauses = [each for each in statements if not isinstance(each, ActivationStatement)]
        by_clauses, whole = domain and self.cut(domain, clauses), domain and self.cut(domain, statements)
        for index, statement in enumerate(statements):
            self._space.arithmetic.clock.look()
            box = domain
            if by_clauses and whole and isinstance(statement, ActivationStatement):
                # Only the range of its own activation is another one without it, and that is what the clauses leave.
                j = statement.prototype
                lower, upper = whole.lower.copy(), whole.upper.copy()
                lower[j], upper[j] = by_clauses.lower[j], by_clauses.upper[j]
                box = replace(whole, lower=lower, upper=upper)
            elif domain:
                box = self.cut(domain, [*statements[:index], *statements[index + 1 :]])
            yield index, box if box and all(map(le, box.lower, box.upper)) else None

    def within(self, patches: int) -> Box | None:
        """The activations' ranges over the domain, rounded inward; None where one may be empty."""
        within = self._space.within
        if within is None:
            return None
        domain = self._over(within, patches, True)
        return domain if all(map(le, domain.lower, domain.upper)) else None

    def cut(self, domain: Box, statements: Sequence[Statement]) -> Box:
        """What is left of the activations' ranges over the domain; rounded as these are."""
        lowest, highest = (ceil_at, floor_at) if domain.inward else (floor_at, ceil_at)
        lower, upper = list(domain.lower), list(domain.upper)
        for statement in statements:
            match statement:
                case PatchStatement():
                    raise ValueError("a statement about a patch does not belong to top_k")
                case OrderStatement():
                    most = highest(statement.upper, self._bits)
                    exempt = set(statement.exempt)
                    upper = [high if j in exempt else min(high, most) for j, high in enumerate(upper)]
                case FloorStatement():
                    least = lowest(statement.lower, self._bits)
                    exempt = set(statement.exempt)
                    lower = [low if j in exempt else max(low, least) for j, low in enumerate(lower)]
                case _:
                    j = statement.prototype
                    if statement.lower is not None:
                        lower[j] = max(lower[j], lowest(statement.lower, self._bits))
                    if statement.upper is not None:
                        upper[j] = min(upper[j], highest(statement.upper, self._bits))
        return Box(lower, upper, self._bits, domain.inward)

    def _over(self, ranges: Ranges, patches: int, inward: bool) -> Box:
        """The activations' ranges, for that many patches with these ranges of observables."""
        pooling = Pooling(self._space, inward)
        return pooling.box(pooling.unstated(ranges, (), patches))


class Mixed:
    """Activations under statements of all forms."""

    def __init__(self, rule: QuadraticRule) -> None:
        self._patches = SpatialRule(rule.space, rule)
        self._activations = TopK(rule.space)
        self._lipschitz = Lipschitz(rule.space)

    def box(self, statements: Sequence[Statement], patches: int, quick: bool = False) -> Box:
        """The activations' enclosures, given the statements."""
        of_patches = [each for each in statements if isinstance(each, PatchStatement)]
        others = [each for each in statements if not isinstance(each, PatchStatement)]
        box = self._activations.cut(self._patches.box(of_patches, patches, quick), others)
        stated = {each.prototype for each in others if isinstance(each, ActivationStatement)}
        above = {j for each in others if isinstance(each, OrderStatement) for j in each.exempt}
        below = {j for each in others if isinstance(each, FloorStatement) for j in each.exempt}
        return self._lipschitz.cut(box, stated, above, below)

    def boxes_without(self, statements: Sequence[Statement], patches: int) -> Iterator[tuple[int, Box | None]]:
        """Nothing is shown to be needed: the paradigm has no reference ranges."""
        for index in range(len(statements)):
            yield index, None
