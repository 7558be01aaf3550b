"""Searches: one for each paradigm, from a problem to solutions."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from verale.bounds import Assignment, Hypersphere, Joint, Projection, Simplex, Triangle
from verale.certificate import Prices
from verale.errors import UsageError
from verale.head import Head
from verale.paradigms import ORDERS, PARADIGMS, SMALLEST
from verale.search.activations import ActivationExplanation
from verale.search.assignment import explain_assignment, is_assigned_alone
from verale.search.blocks import explain_in_blocks
from verale.search.costs import UNIT_COSTS
from verale.search.digits import FEW_DIGITS, FEWEST_DIGITS
from verale.search.joint import explain_joint, require_one_patch
from verale.search.mixed import explain_mixed, require_mixed
from verale.search.options import SearchOptions
from verale.search.problem import Problem, UnexplainedError, shortened
from verale.search.short import statements_about
from verale.search.smallest import Solution, cheaper, worth_trying
from verale.search.sparse import explain_sparse
from verale.search.spatial import SpatialExplanation, is_searched_alone
from verale.search.tolerance import Tolerance
from verale.search.top_k import explain_top_k

__all__ = ["ParadigmSearch", "best_paradigm", "require_memory", "searches_of"]

_log = logging.getLogger(__name__)

_SPATIAL: dict[str, Callable[..., Any]] = {
    paradigm.name: paradigm for paradigm in (Projection, Triangle, Hypersphere, Simplex, Assignment, Joint)
}
"""The paradigms whose statements are about patches."""

_SEARCHES: dict[str, Callable[..., list[SpatialExplanation | str]]] = {
    "assignment": explain_assignment,
    "joint": explain_joint,
}
"""The searches of those that have one of their own."""

_OF_ACTIVATIONS: dict[str, Callable[[Problem], ActivationExplanation]] = {
    "top_k": explain_top_k,
    "sparse": explain_sparse,
    "mixed": explain_mixed,
}
"""The searches of the paradigms whose statements are about activations, all or some of them."""


def best_paradigm(head: Head) -> str:
    """The spatial paradigm that gives the smallest explanations of a head."""
    if head.geometry.has_prototypes:
        return "projection"
    return "assignment" if Assignment.admits(head) else "simplex"


def require_memory(needed: int, what: str, options: SearchOptions) -> None:
    """Raise UsageError, which names the limit, if what cannot be split exceeds the memory allowed, at least 4 GiB."""
    most = max(options.max_memory, SearchOptions.max_memory)
    if needed > most:
        raise UsageError(
            f"{what} take about {needed / 2**30:.2g} GiB, expected at most {most / 2**30:.2g}: allow more"
            " (--max-memory)"
        )


def _require_products(head: Head, options: SearchOptions) -> None:
    """Raise UsageError if the products of a head's prototypes take more memory than is allowed."""
    if head.prototypes is not None:
        require_memory(16 * head.size**2, f"the products of {head.size} prototypes", options)


def searches_of(head: Head, patches: int, paradigm: str, options: SearchOptions) -> tuple[ParadigmSearch, ...]:
    """The search under a paradigm, or under all that the head has. Raises UsageError if it has not got that one."""
    if paradigm != SMALLEST:
        return (ParadigmSearch.of(head, patches, paradigm, options),)
    _require_products(head, options)  # what is too large for one of them is large for all
    searches: dict[str, ParadigmSearch] = {}
    refused: UsageError | None = None
    for name in worth_trying(head.geometry.kind, patches):
        if PARADIGMS[name].seldom_below not in searches:
            try:
                searches[name] = ParadigmSearch.of(head, patches, name, options)
            except UsageError as error:
                refused = error
                _log.info("paradigm %s is not tried: %s", name, error)
    if refused is not None and not searches:
        raise refused
    return tuple(searches.values())


@dataclass(frozen=True)
class ParadigmSearch:
    """The search under one paradigm.

    Attributes:
        name: the paradigm.
        spatial: how its statements about patches bound observables; None if they are about activations.
        orders: those in which statements are chosen; the smallest explanation is kept.
        digits: of the numbers of statements; see `SearchOptions`.
    """

    name: str
    spatial: Any
    orders: tuple[str, ...]
    digits: int | str

    @classmethod
    def of(cls, head: Head, patches: int, name: str, options: SearchOptions) -> ParadigmSearch:
        """The search for a head and images of so many patches. Raises UsageError if these have not got this paradigm,
        or memory is too small."""
        if options.avoid.patches and name in _OF_ACTIVATIONS:
            raise UsageError(f"paradigm {name!r} states activations, which speak of all patches: none can be avoided")
        if name == "joint":
            require_one_patch(patches)
        if name == "sparse" and head.geometry.kind not in PARADIGMS["sparse"].geometries:
            raise UsageError("paradigm 'sparse' needs a softmax head; for a metric head use 'top_k'")
        if name == "mixed":
            require_mixed(head)
            require_memory(64 * head.size**2, f"what each of {head.size} activations says of the others", options)
        paradigm_class = _SPATIAL.get(name)
        if paradigm_class is not None:
            _require_products(head, options)
        spatial = None if paradigm_class is None else paradigm_class(head, options.device)
        if options.order is not None:
            return cls(name, spatial, (options.order,), options.digits)
        return cls(name, spatial, ORDERS if name == "simplex" else ORDERS[:1], options.digits)

    def solve(self, problem: Problem, most: list[float]) -> list[Solution]:
        """For each image a solution; see `Search`. With costs, the search without costs is tried too."""
        solutions = self._solutions(problem, most)
        if problem.costs:
            without = self._solutions(replace(problem, costs=UNIT_COSTS), most)
            solutions = list(map(partial(cheaper, problem.costs), solutions, without))
        return solutions

    def _solutions(self, problem: Problem, most: list[float]) -> list[Solution]:
        if self.name in _OF_ACTIVATIONS:
            return [self._of_activations(problem.take([image])) for image in range(len(problem))]
        solutions = self._spatial(problem, self.orders[0], most)
        for order in self.orders[1:]:
            solutions = list(map(partial(cheaper, problem.costs), solutions, self._spatial(problem, order, most)))
        return solutions

    def _of_activations(self, image: Problem) -> Solution:
        """Statements about activations are chosen in short numbers at once: it takes no longer, and costs few."""
        search = _OF_ACTIVATIONS[self.name]
        if self.digits == FEWEST_DIGITS and not image.tolerance:
            short = _solution(search, image.widened(Tolerance(digits=FEW_DIGITS)))
            if not isinstance(short, str):
                return short
        return _solution(search, image)

    def is_alone(self, head: Head) -> bool:
        """Whether it takes one image at a time."""
        if isinstance(self.spatial, Assignment):
            return is_assigned_alone(head, self.spatial)
        return self.name not in _SEARCHES and all(is_searched_alone(head, self.spatial, order) for order in self.orders)

    def _spatial(self, problem: Problem, order: str, most: list[float]) -> list[Solution]:
        solutions: list[Solution] = []
        search: Callable[..., list[SpatialExplanation | str]] = _SEARCHES.get(self.name, explain_in_blocks)
        for image, solution in enumerate(search(problem, self.spatial, order, most)):
            if isinstance(solution, str):
                solutions.append(solution)
                continue
            statements = statements_about(problem, solution.pairs, image)
            prices = (Prices(c, tuple(paid), tuple(paid.values())) for c, paid in solution.prices.items())
            solutions.append((statements, shortened(solution.margins), solution.minimal, tuple(prices)))
        return solutions


def _solution(search: Callable[[Problem], ActivationExplanation], image: Problem) -> Solution:
    """The solution for one image under a paradigm whose statements are about activations."""
    try:
        found = search(image)
    except UnexplainedError as error:
        return str(error)
    return found.statements, shortened(found.margins), found.minimal, ()
