"""Mixed: statements about patches and about activations, chosen together; few of them bound all activations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from torch import Tensor

from verale.bounds import LinearMargins, Projection, pooling_of
from verale.bounds.lipschitz import Lipschitz
from verale.certificate import ActivationStatement, PatchStatement, Prices, Statement
from verale.errors import UsageError
from verale.head import Head, Linear
from verale.rounding import Enclosure
from verale.search.activations import Activations
from verale.search.costs import NONE_FOUND
from verale.search.covers import Clauses, Cover, Covers
from verale.search.digits import EXACT
from verale.search.linked import Linked
from verale.search.options import SearchOptions
from verale.search.paradigms.base import require_memory
from verale.search.paradigms.of_activations import OneByOne
from verale.search.problem import Explanation, GivenUpError, Pair, Problem, UnexplainedError, given_up
from verale.search.prove import without_doubtful
from verale.search.rounds.stepwise import first_statements
from verale.search.stated import Stated, pairs_of, statements_about

__all__ = ["MixedSearch", "explain_mixed"]

_CLASSES = 2**11
"""Relaxations with more rivals take a second and more each."""
_BEGINNING = 64
"""Explanations begin with none, or with so many of the statements about patches that projection finds first."""
_HOPELESS = 1.15
"""Of 24 images, what was found first had at most so many times as many statements as what was found in the end."""


def explain_mixed(problem: Problem, projection: Projection, linked: Linked, most: float = math.inf) -> Explanation:
    """The cheapest explanation found of the only image of a problem; the smallest, where there are no costs.

    Statements about activations, a ceiling and a floor are chosen so that they cover what every rival lacks
    (`verale.search.covers`), after none or some of the statements about patches with which projection begins. Whatever
    is then not needed is dropped.

    Args:
        problem: one image.
        projection: how statements about patches bound observables.
        linked: how an activation bounds the others.
        most: the search is given up where it would not have at most so many statements.

    Raises:
        GivenUpError: it was given up.
        UnexplainedError: all activations together do not prove the class.

    Soundness: an explanation is kept only if every margin is proved positive, rounded outward, from it alone.
    """
    known = _Known(problem, projection, linked)
    best = known.after([])
    if best is not None and len(best.statements) > _HOPELESS * most:
        raise GivenUpError(given_up(len(best.statements)).reason)
    limit = math.inf if best is None else problem.costs.total(best.statements)
    pairs = first_statements(problem, projection, _BEGINNING)
    if math.fsum(map(problem.costs.of_pair, pairs)) < limit:
        found = known.after(pairs)
        best = found if found is not None and problem.costs.total(found.statements) < limit else best
    if best is None:
        raise UnexplainedError(
            NONE_FOUND if problem.avoid else "the class stays open though every activation is stated"
        )
    return best


class _Known:
    """What statements say of one image."""

    def __init__(self, problem: Problem, projection: Projection, linked: Linked) -> None:
        if not isinstance(problem.margins, LinearMargins):
            raise UsageError("paradigm 'mixed' needs a linear readout")
        self._problem, self._projection, self._linked = problem, projection, linked
        self._margins, self._activations = problem.margins, Activations(problem)
        self._observed = self._activations.observed

    @cached_property
    def _covers(self) -> Covers:
        left = self._problem.prototypes_left
        table = self._linked.table(self._observed)
        return Covers(self._margins, self._observed, left, self._problem.costs, table)

    def margins(self, statements: Sequence[Statement]) -> Tensor:
        """The margins (C,) that statements prove, rounded outward."""
        return self._of(self._box(pairs_of(statements)).intersect(self._told(statements)))

    def _of(self, box: Enclosure) -> Tensor:
        return self._margins.lower(box[None, None])[0, 0]

    def _box(self, pairs: Sequence[Pair]) -> Enclosure:
        """(P,) what statements about patches say of the activations."""
        return pooling_of(self._problem.head).box(self._problem.ranges(self._projection, [list(pairs)]))

    def _told(self, statements: Sequence[Statement]) -> Enclosure:
        """(P,) what statements about activations and clauses say of all activations: each by itself."""
        stated = [each for each in statements if not isinstance(each, PatchStatement)]
        return self._linked.box(Stated.of(stated, self._problem.head.size))

    def _clauses(self, base: Enclosure) -> Clauses:
        """Clauses beside what is known of the activations anyway."""
        return Clauses(
            lambda ends: self._linked.under(ends, self._observed.upper > ends[:, None]).minimum(base.upper),
            lambda ends: self._linked.over(ends, self._observed.lower < ends[:, None]).maximum(base.lower),
        )

    def after(self, pairs: list[Pair]) -> Explanation | None:
        """An explanation with at most these statements about patches; None where none is found."""
        base = self._box(pairs)
        cover = self._covers.best(self._clauses(base), Clauses.alone(self._observed, base))
        if cover is None:
            return None
        for fewer in (replace(cover, ceiling=math.inf), replace(cover, floor=-math.inf)):
            if fewer != cover and bool((self._of(base.intersect(self._told(self._statements(fewer)))) > 0).all()):
                cover = fewer
        own = self._statements(cover)
        costly = sorted(pairs, key=self._problem.costs.of_pair)[::-1]
        pairs = without_doubtful(self._problem, self._projection, pairs, costly, self._told(own))
        statements = [*statements_about(self._problem, pairs), *own]
        margins = self.margins(statements)
        return Explanation(statements, margins, False) if bool((margins > 0).all()) else None

    def _statements(self, cover: Cover) -> list[Statement]:
        return list(self._activations.cover(cover).statements(ActivationStatement))


class MixedSearch(OneByOne):
    """See `explain_mixed`."""

    name = "mixed"
    bounds = Projection
    may_be_hopeless = True

    def __init__(self, head: Head, patches: int, options: SearchOptions) -> None:
        super().__init__(head, patches, options)
        require_memory(64 * head.size**2, f"what each of {head.size} activations says of the others", options)
        self._known = Projection(head), Linked(head, patches)

    @classmethod
    def require(cls, head: Head, patches: int) -> None:
        """See `ParadigmSearch`."""
        Lipschitz.require(head)
        if not isinstance(head.readout, Linear):
            raise UsageError(f"paradigm 'mixed' needs a linear readout; for {head.readout.kind} use 'top_k'")
        if head.classes > _CLASSES:
            raise UsageError(f"paradigm 'mixed' takes at most {_CLASSES} classes, not {head.classes}; use 'top_k'")

    def explain(self, problem: Problem, most: float) -> Explanation:
        """See `OneByOne`."""
        return explain_mixed(problem, *self._known, most)

    def prove(self, problem: Problem, statements: Sequence[Statement], prices: Sequence[Prices] = ()) -> Tensor:
        """See `ParadigmSearch`."""
        stated = replace(problem.with_ends(statements), tolerance=EXACT)
        return _Known(stated, *self._known).margins(statements)
