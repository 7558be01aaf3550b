"""Paradigms whose statements are about patches, and those of them that have nothing but their bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from torch import Tensor

from verale.bounds import Hypersphere, Simplex, Triangle
from verale.bounds.rows import require_geometry
from verale.certificate import Prices, Statement
from verale.head import Head
from verale.paradigms import ORDERS, PARADIGMS
from verale.search.options import SearchOptions
from verale.search.paradigms.base import ParadigmSearch, Solution, cheaper, require_products
from verale.search.problem import NoExplanation, Problem, shortened
from verale.search.prove import Explained
from verale.search.rounds.explain import admits_head, explain_spatial
from verale.search.stated import pairs_of, statements_about

__all__ = ["HypersphereSearch", "OfPatches", "SimplexSearch", "TriangleSearch"]

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
        """See `ParadigmSearch`."""
        return not any(admits_head(self.head, self.spatial, order) for order in self.orders)

    @property
    def bytes_per_patch(self) -> int:
        """See `ParadigmSearch`."""
        return 8 * _NUMBERS_PER_PAIR * self.head.size

    def propose(self, problem: Problem, most: list[float]) -> list[Solution]:
        """See `ParadigmSearch`: of all orders the cheapest. A later one is given up where it would have more
        statements."""
        first, *later = self.orders
        solutions = self._in_order(problem, first, most)
        for order in later:
            limits = most
            if not problem.costs:
                sizes = (math.inf if isinstance(known, NoExplanation) else len(known[0]) for known in solutions)
                limits = list(map(min, most, sizes))
            solutions = list(map(partial(cheaper, problem.costs), solutions, self._in_order(problem, order, limits)))
        return solutions

    def explain(self, problem: Problem, order: str, most: list[float]) -> list[Explained]:
        """For each image an explanation with proved margins, or why there is none."""
        return explain_spatial(problem, self.spatial, order, most)

    def prove(self, problem: Problem, statements: Sequence[Statement], prices: Sequence[Prices] = ()) -> Tensor:
        """See `ParadigmSearch`."""
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
            solutions.append((statements, shortened(solution.margins), solution.minimal, tuple(prices)))
        return solutions


class TriangleSearch(OfPatches):
    """See `verale.bounds.Triangle`: the published bounds, for comparison."""

    name = "triangle"
    bounds = Triangle


class HypersphereSearch(OfPatches):
    """See `verale.bounds.Hypersphere`: the published bounds, for comparison."""

    name = "hypersphere"
    bounds = Hypersphere


class SimplexSearch(OfPatches):
    """See `verale.bounds.Simplex`. Neither order is better for most images, so both are tried."""

    name = "simplex"
    bounds = Simplex
    tried_orders = ORDERS
