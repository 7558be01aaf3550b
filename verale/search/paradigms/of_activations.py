"""Paradigms whose statements are about activations, all or some of them.

Under `sparse` nothing else is stated. Under `top_k` a ceiling and a floor may bound all others. Both begin with the
smallest cover that is found (`verale.search.covers`), and drop what the class follows without.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from verale.bounds.observables import require_geometry
from verale.certificate import ActivationStatement, Prices, Statement
from verale.certificate.words import below
from verale.errors import UsageError
from verale.head import Head
from verale.paradigms import HIGHEST
from verale.search.activations import Activations, Stated
from verale.search.costs import NONE_FOUND
from verale.search.digits import FEW_DIGITS, FEWEST_DIGITS, Tolerance
from verale.search.inflate import PricedActivations
from verale.search.linked import Linked
from verale.search.options import SearchOptions
from verale.search.paradigms.base import ParadigmSearch
from verale.search.problem import (
    Explanation,
    GivenUpError,
    NoExplanation,
    Problem,
    Solution,
    UnexplainedError,
    given_up,
    shortened,
)

_NEIGHBOURS = 4
"""By what statements say of other activations, explanations seldom have fewer than one in so many of the statements
that covers without that have."""


class OfActivations(ParadigmSearch):
    """A paradigm that states activations, which speak of all patches.

    Attributes:
        links: gives what its statements prove together, the same to all searches of a head; computed when it is asked
            for first.
    """

    def __init__(self, head: Head, patches: int, options: SearchOptions) -> None:
        if options.avoid.patches:
            raise UsageError(
                f"paradigm {self.name!r} states activations, which speak of all patches: none can be avoided"
            )
        super().__init__(head, patches, options)
        self.links: Callable[[], Linked] = cache(partial(Linked, head, patches))


class OneByOne(OfActivations):
    """One whose images are searched one after the other."""

    @property
    def is_alone(self) -> bool:
        return True

    @abstractmethod
    def explain(self, problem: Problem, most: float) -> Explanation:
        """An explanation of the only image, its margins proved.

        Raises:
            GivenUpError: it would have more than `most` statements.
            UnexplainedError: there is none.
        """

    @property
    def may_be_hopeless(self) -> bool:
        """Whether images are not searched whose covers need far more statements than are wanted."""
        return False

    def propose(self, problem: Problem, most: list[float]) -> list[Solution]:
        return [self._of_one(problem.take([image]), limit) for image, limit in enumerate(most)]

    def _of_one(self, image: Problem, most: float) -> Solution:
        """Statements about activations are chosen in short numbers at once: it takes no longer, and costs few."""
        if self.may_be_hopeless and most < math.inf and not image.costs:
            activations, enough = Activations(image), _NEIGHBOURS * most
            least = activations.covers.least(activations.clauses, enough) if activations.covers else 0.0
            if least > enough:
                return given_up(math.ceil(least))
        outcome, tried = NoExplanation(""), [image]
        if self.options.digits == FEWEST_DIGITS and not image.tolerance:
            tried.insert(0, image.widened(Tolerance(digits=FEW_DIGITS)))
        for each in tried:
            try:
                found = self.explain(each, most)
            except GivenUpError as error:
                return NoExplanation(str(error))
            except UnexplainedError as error:
                outcome = NoExplanation(str(error))
                continue
            left = self.shrunk(each, found)
            return replace(left, margins=shortened(left.margins))
        return outcome

    def shrunk(self, problem: Problem, found: Explanation) -> Explanation:
        """The explanation without statements that the others make needless; itself where there is no such rule."""
        return found


class OfActivationsAlone(OneByOne):
    """One whose statements are about nothing else: all of them that are needed (`Linked.shrunk`)."""

    priced: ClassVar[type[Any] | None] = PricedActivations

    def shrunk(self, problem: Problem, found: Explanation) -> Explanation:
        costs, starts = problem.costs, [found.statements]
        if costs:  # dropping the costliest first from all statements, with the same clauses, may leave cheaper ones
            activations, stated = Activations(problem), Stated.of(found.statements, self.head.size)
            every = activations.state(problem.avoid.prototypes_left(self.head.size))
            every = every.under(float(stated.upper[-1]), stated.below).over(float(stated.lower[-1]), stated.above)
            starts.append(list(every.statements(ActivationStatement)))
        left = [Explanation(*self.links().shrunk(problem.margins, each, costs)) for each in starts]
        return min(left, key=lambda each: costs.total(each.statements))

    def prove(self, problem: Problem, statements: Sequence[Statement], prices: Sequence[Prices] = ()) -> Tensor:
        return self.links().proved(problem.margins, statements)


class TopKSearch(OfActivationsAlone):
    """Where the readout is linear, ceiling, floor and stated activations are chosen freely, so that they are few
    (`Covers`). Otherwise, or where that is asked for, the highest activations are stated (`highest`)."""

    name = "top_k"

    @property
    def may_be_hopeless(self) -> bool:
        """See `OneByOne`: of the highest activations all are stated, however many."""
        return self.options.order != HIGHEST

    def explain(self, problem: Problem, most: float) -> Explanation:
        activations = Activations(problem)
        covers = activations.covers if self.options.order != HIGHEST else None
        cover = covers.best(activations.clauses) if covers else None
        if cover is not None and activations.least(stated := activations.cover(cover)) > 0:
            return activations.explanation(stated)
        try:
            return activations.explanation(highest(activations))
        except UnexplainedError:
            # A ceiling above every avoided activation is too high; one below some of them, or a floor, may serve.
            if problem.avoid:
                raise UnexplainedError(NONE_FOUND) from None
            raise


class SparseSearch(OfActivationsAlone):
    """It begins with a small cover (`Covers`), or with all activations where rounding leaves no cover."""

    name = "sparse"

    @classmethod
    def require(cls, head: Head, patches: int) -> None:
        require_geometry(cls.name, head, "a softmax head; for a metric head use 'top_k'")

    def explain(self, problem: Problem, most: float) -> Explanation:
        activations = Activations(problem)
        covers = activations.covers
        cover = covers.plain(activations.clauses) if covers else None
        if cover is not None and activations.least(stated := activations.cover(cover)) > 0:
            return activations.explanation(stated)
        stated = activations.state(problem.avoid.prototypes_left(problem.head.size))
        margins = activations.margins(stated)
        if not bool((margins > 0).all()):
            raise UnexplainedError(
                f"class {int(margins.argmin())} stays open (margin >= {below(float(margins.amin()))}) though every"
                " activation that could help is stated"
            )
        return activations.explanation(stated)


def highest(activations: Activations) -> Stated:
    """The least k such that the class follows from the k highest activations, and that no other exceeds the k-th.

    Avoided prototypes are not among the k; where one of them is higher than the k-th, it is what no other exceeds.

    Returns:
        What is stated: their activations, and a ceiling that exempts them.

    Raises:
        UnexplainedError: all activations that may be stated do not prove the class together.

    Soundness: margins are monotone in k, so bisection finds the least k.
    """
    upper = activations.observed.upper
    left = activations.problem.prototypes_left
    rank = upper.argsort(descending=True, stable=True)
    rank, avoided = rank[left[rank]], upper[~left]

    def at(k: int) -> Stated:
        first, below = rank[:k].tolist(), torch.ones_like(left)
        below[first] = False
        ceiling = float(torch.cat([upper[rank[max(k, 1) - 1 :]], avoided]).amax())
        return activations.state(first).under(ceiling, below)

    def entails(k: int) -> bool:
        return activations.least(at(k)) > 0

    size = len(rank)
    if not entails(size):
        raise UnexplainedError("the class stays open though every activation is stated")
    return at(bisect_left(range(size), True, key=entails))
