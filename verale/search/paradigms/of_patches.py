"""Paradigms whose statements are about patches, and those of them that have nothing but their bounds.

Projection: statements about distances, cosines or inner products, which together say where a latent lies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from torch import Tensor

from verale.bounds import Hypersphere, Projection, Simplex, Triangle
from verale.bounds.observables import require_geometry
from verale.certificate import Prices, Statement
from verale.head import Head
from verale.paradigms import ORDERS, PARADIGMS
from verale.search.digits import FEW_DIGITS, FEWEST_DIGITS, ends_in_digits, in_digits, least_unit, margins_in_digits
from verale.search.options import SearchOptions
from verale.search.paradigms.base import ParadigmSearch, cheaper, require_products
from verale.search.problem import Explanation, NoExplanation, Pair, Problem, Solution, shortened
from verale.search.prove import HOPELESS, Explained, not_surely_needed, pairs_of, statements_about, without_doubtful
from verale.search.rounds.explain import LARGEST, MORE, SHORT, admits, admits_head, explain_spatial
from verale.search.rounds.stepwise import Stepwise

_NUMBERS_PER_PAIR = 5
"""What bounds keep of each patch and prototype: both ends, and what these are computed from."""


class OfPatches(ParadigmSearch):
    """A paradigm that bounds the observables of each patch; `bounds` is its `SpatialParadigm`.

    Attributes:
        spatial: these bounds for the head.
        orders: those in which statements are chosen; the smallest explanation is kept.
    """

    bounds: ClassVar[type[Any]]
    tried_orders: ClassVar[tuple[str, ...]] = ORDERS[:1]

    def __init__(self, head: Head, patches: int, options: SearchOptions) -> None:
        super().__init__(head, patches, options)
        require_products(head, options)
        self.spatial: Any = type(self).bounds(head)
        require_geometry(self.name, head, f"one of {', '.join(PARADIGMS[self.name].geometries)}")
        self.orders = self.tried_orders if options.order is None else (options.order,)

    @property
    def is_alone(self) -> bool:
        return not any(admits_head(self.head, self.spatial, order) for order in self.orders)

    @property
    def bytes_per_patch(self) -> int:
        return 8 * _NUMBERS_PER_PAIR * self.head.size

    def propose(self, problem: Problem, most: list[float]) -> list[Solution]:
        """See `ParadigmSearch`: of all orders the cheapest. A later one is given up where it would have more
        statements."""
        first, *later = self.orders
        solutions = self._in_order(problem, first, most)
        for order in later:
            limits = most
            if not problem.costs:
                sizes = (math.inf if isinstance(known, NoExplanation) else len(known.statements) for known in solutions)
                limits = list(map(min, most, sizes))
            solutions = list(map(partial(cheaper, problem.costs), solutions, self._in_order(problem, order, limits)))
        return solutions

    def explain(self, problem: Problem, order: str, most: list[float]) -> list[Explained]:
        """For each image an explanation with proved margins, or why there is none."""
        return explain_spatial(problem, self.spatial, order, most)

    def prove(self, problem: Problem, statements: Sequence[Statement], prices: Sequence[Prices] = ()) -> Tensor:
        stated = problem.with_ends(statements)
        return stated.proved_margins(stated.ranges(self.spatial, [pairs_of(statements)]))[0]

    def _in_order(self, problem: Problem, order: str, most: list[float]) -> list[Solution]:
        solutions: list[Solution] = []
        for image, solution in enumerate(self.explain(problem, order, most)):
            if isinstance(solution, NoExplanation):
                solutions.append(solution)
                continue
            statements = statements_about(problem, solution.pairs, image)
            prices = (Prices(c, tuple(paid), tuple(paid.values())) for c, paid in solution.prices.items())
            solutions.append(Explanation(statements, shortened(solution.margins), solution.minimal, tuple(prices)))
        return solutions


class TriangleSearch(OfPatches):
    """The published bounds, for comparison."""

    name = "triangle"
    bounds = Triangle


class HypersphereSearch(OfPatches):
    """The published bounds, for comparison."""

    name = "hypersphere"
    bounds = Hypersphere


class SimplexSearch(OfPatches):
    """See `verale.bounds.Simplex`. Neither order is better for most images, so both are tried."""

    name = "simplex"
    bounds = Simplex
    tried_orders = ORDERS


_TRIES = 3
_GROWS = 1.5
"""The margins that are asked for are at least so many times those before."""
_FEW = 16
"""So many statements that the class perhaps follows without are tried once more."""


class ProjectionSearch(OfPatches):
    """See `verale.bounds.Projection`."""

    name = "projection"
    bounds = Projection

    def explain(self, problem: Problem, order: str, most: list[float]) -> list[Explained]:
        """See `OfPatches`. Where statements are to have few digits, rounds choose some whose margins allow for it."""
        digits = FEW_DIGITS if self.options.digits == FEWEST_DIGITS else self.options.digits
        widened = None
        if isinstance(digits, int):
            widened = partial(ends_in_digits, digits=digits, least=least_unit(self.head))
        return explain_spatial(problem, self.spatial, order, most, widened)

    def with_slack(
        self, problem: Problem, statements: Sequence[Sequence[Statement]], lost: Tensor, digits: int, least: float
    ) -> list[Explanation | None]:
        """See `ParadigmSearch`. The search step by step, which knows exact statements alone, is asked for margins that
        are greater by what widths cost; what is long and searched in rounds has been asked for them already."""
        found: list[Explanation | None] = [None] * len(statements)
        if problem.costs or self.orders[0] != ORDERS[0]:
            return found
        in_rounds = admits(problem, self.spatial, self.orders[0])
        for image, each in enumerate(statements):
            if not in_rounds or len(each) <= SHORT:
                found[image] = self._with_slack(problem.take([image]), pairs_of(each), lost[image], digits, least)
        return found

    def _with_slack(
        self, image: Problem, pairs: list[Pair], lost: Tensor, digits: int, least: float
    ) -> Explanation | None:
        guard, most = 0.0, LARGEST * len(pairs)
        for _ in range(_TRIES):
            # In two digits: so that no last bit, which depends on the processor, decides what is found.
            guard = max(_GROWS * guard, float(f"{MORE * float(lost.nan_to_num(0.0).amax()):.1e}"))
            engine = Stepwise(image, self.spatial)
            (chosen,) = engine.choose([0], guard, [HOPELESS * most])
            proved = engine.prove({0: chosen})[0] if isinstance(chosen, list) and len(chosen) <= most else None
            if proved is None:
                return None
            explanation, doubtful = proved
            wide = in_digits(statements_about(image, explanation.pairs), digits, least)
            margins = self.prove(image, wide)
            if bool((margins > 0).all()):
                minimal = not doubtful
                if doubtful and len(doubtful) <= _FEW:  # without what the class follows without
                    pairs, stated = explanation.pairs, image.with_ends(wide)
                    left = without_doubtful(stated, self.spatial, pairs, doubtful)
                    unsure = [pair for pair in doubtful if pair in set(left)]
                    minimal = not not_surely_needed(stated, self.spatial, left, unsure)
                    kept = [each for each, pair in zip(wide, pairs, strict=True) if pair in set(left)]
                    again = margins if left == pairs else self.prove(image, kept)
                    if bool((again > 0).all()):
                        wide, margins = kept, again
                    else:
                        minimal = False
                return Explanation(wide, margins_in_digits(margins), minimal)
            lost = explanation.margins - margins
        return None
