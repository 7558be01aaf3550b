"""Mixed: statements about patches and about activations, chosen together; few of them bound all activations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from torch import Tensor

from verale.bounds import LinearMargins, Projection, pooling_of
from verale.bounds.lipschitz import Lipschitz
from verale.certificate import ActivationStatement, PatchStatement, Prices, Statement
from verale.errors import UsageError
from verale.head import Head, Linear
from verale.rounding import Enclosure
from verale.search.activations import Activations, Stated
from verale.search.costs import NONE_FOUND
from verale.search.covers import Clauses, Cover, Covers
from verale.search.digits import EXACT
from verale.search.options import SearchOptions
from verale.search.paradigms.base import require_memory
from verale.search.paradigms.of_activations import OneByOne
from verale.search.problem import Explanation, GivenUpError, Pair, Problem, UnexplainedError, given_up
from verale.search.prove import pairs_of, statements_about, without_doubtful
from verale.search.rounds.stepwise import first_statements

_CLASSES = 2**11
"""Relaxations with more rivals take a second and more each."""
_BEGINNING = 64
"""Explanations begin with none, or with so many of the statements about patches that projection finds first."""
_HOPELESS = 1.15
"""Of 24 images, what was found first had at most so many times as many statements as what was found in the end."""


class MixedSearch(OneByOne):
    """Statements about activations, a ceiling and a floor are chosen so that they cover what every rival lacks
    (`verale.search.covers`), after none or some of the statements about patches with which projection begins. Whatever
    is then not needed is dropped. The cheapest that is found is kept.

    Soundness: an explanation is kept only if every margin is proved positive, rounded outward, from it alone.
    """

    name = "mixed"
    bounds = Projection
    may_be_hopeless = True

    def __init__(self, head: Head, patches: int, options: SearchOptions) -> None:
        super().__init__(head, patches, options)
        require_memory(64 * head.size**2, f"what each of {head.size} activations says of the others", options)
        self._projection = Projection(head)

    @classmethod
    def require(cls, head: Head, patches: int) -> None:
        Lipschitz.require(head)
        if not isinstance(head.readout, Linear):
            raise UsageError(f"paradigm 'mixed' needs a linear readout; for {head.readout.kind} use 'top_k'")
        if head.classes > _CLASSES:
            raise UsageError(f"paradigm 'mixed' takes at most {_CLASSES} classes, not {head.classes}; use 'top_k'")

    def explain(self, problem: Problem, most: float) -> Explanation:
        activations, table = Activations(problem), self.links().table(problem.stated_activations()[0])
        covers = Covers(
            cast(LinearMargins, problem.margins), activations.observed, problem.prototypes_left, problem.costs, table
        )
        best = self._after([], activations, covers)
        if best is not None and len(best.statements) > _HOPELESS * most:
            raise GivenUpError(given_up(len(best.statements)).reason)
        limit = math.inf if best is None else problem.costs.total(best.statements)
        pairs = first_statements(problem, self._projection, _BEGINNING)
        if math.fsum(map(problem.costs.of_pair, pairs)) < limit:
            found = self._after(pairs, activations, covers)
            best = found if found is not None and problem.costs.total(found.statements) < limit else best
        if best is None:
            raise UnexplainedError(
                NONE_FOUND if problem.avoid else "the class stays open though every activation is stated"
            )
        return best

    def prove(self, problem: Problem, statements: Sequence[Statement], prices: Sequence[Prices] = ()) -> Tensor:
        return self._margins(replace(problem.with_ends(statements), tolerance=EXACT), statements)

    def _margins(self, problem: Problem, statements: Sequence[Statement]) -> Tensor:
        box = self._box(problem, pairs_of(statements)).intersect(self._told(statements))
        return problem.margins.lower(box[None, None])[0, 0]

    def _box(self, problem: Problem, pairs: list[Pair]) -> Enclosure:
        """(P,) what statements about patches say of the activations."""
        return pooling_of(problem.head).box(problem.ranges(self._projection, [pairs]))

    def _told(self, statements: Sequence[Statement]) -> Enclosure:
        """(P,) what statements about activations and clauses say of all activations: each by itself."""
        stated = [each for each in statements if not isinstance(each, PatchStatement)]
        return self.links().box(Stated.of(stated, self.head.size))

    def _after(self, pairs: list[Pair], activations: Activations, covers: Covers) -> Explanation | None:
        """An explanation with at most these statements about patches; None where none is found."""
        problem, observed, linked = activations.problem, activations.observed, self.links()
        base = self._box(problem, pairs)
        clauses = Clauses(  # beside what is known of the activations anyway
            lambda ends: linked.under(ends, observed.upper > ends[:, None]).minimum(base.upper),
            lambda ends: linked.over(ends, observed.lower < ends[:, None]).maximum(base.lower),
        )
        cover = covers.best(clauses, Clauses.alone(observed, base))
        if cover is None:
            return None

        def stated(cover: Cover) -> list[Statement]:
            return list(activations.cover(cover).statements(ActivationStatement))

        for fewer in (replace(cover, ceiling=math.inf), replace(cover, floor=-math.inf)):
            box = base.intersect(self._told(stated(fewer)))
            if fewer != cover and bool((problem.margins.lower(box[None, None]) > 0).all()):
                cover = fewer
        own = stated(cover)
        costly = sorted(pairs, key=problem.costs.of_pair)[::-1]
        pairs = without_doubtful(problem, self._projection, pairs, costly, self._told(own))
        statements = [*statements_about(problem, pairs), *own]
        margins = self._margins(problem, statements)
        return Explanation(statements, margins, False) if bool((margins > 0).all()) else None
