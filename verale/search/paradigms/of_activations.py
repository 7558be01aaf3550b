"""Paradigms whose statements are about activations, all or some of them."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from torch import Tensor

from verale.bounds import LinearMargins, activation_range
from verale.certificate import Prices, Statement
from verale.errors import UsageError
from verale.head import Head
from verale.search.activations import ActivationExplanation
from verale.search.digits import FEW_DIGITS, FEWEST_DIGITS
from verale.search.hopeless import NEIGHBOURS, least_sizes
from verale.search.linked import Linked
from verale.search.options import SearchOptions
from verale.search.paradigms.base import ParadigmSearch
from verale.search.priced import PricedActivations
from verale.search.problem import GivenUpError, Problem, UnexplainedError, given_up, shortened
from verale.search.smallest import Solution
from verale.search.stated import Stated
from verale.search.tolerance import Tolerance

__all__ = ["OfActivations", "OfActivationsAlone", "OneByOne"]


class OfActivations(ParadigmSearch):
    """A paradigm that states activations, which speak of all patches."""

    def __init__(self, head: Head, patches: int, options: SearchOptions) -> None:
        if options.avoid.patches:
            raise UsageError(
                f"paradigm {self.name!r} states activations, which speak of all patches: none can be avoided"
            )
        super().__init__(head, patches, options)


class OneByOne(OfActivations):
    """One whose images are searched one after the other."""

    @property
    def is_alone(self) -> bool:
        """See `ParadigmSearch`."""
        return True

    @abstractmethod
    def explain(self, problem: Problem, most: float) -> ActivationExplanation:
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
        """See `ParadigmSearch`."""
        least = [0.0] * len(most)
        if (
            self.may_be_hopeless
            and min(most) < math.inf
            and not problem.costs
            and isinstance(problem.margins, LinearMargins)
        ):
            least = least_sizes(problem)
        return [
            given_up(math.ceil(size)) if size > NEIGHBOURS * limit else self._of_one(problem.take([image]), limit)
            for image, (size, limit) in enumerate(zip(least, most, strict=True))
        ]

    def _of_one(self, image: Problem, most: float) -> Solution:
        """Statements about activations are chosen in short numbers at once: it takes no longer, and costs few."""
        reason, tried = "", [image]
        if self.options.digits == FEWEST_DIGITS and not image.tolerance:
            tried.insert(0, image.widened(Tolerance(digits=FEW_DIGITS)))
        for each in tried:
            try:
                found = self.explain(each, most)
            except GivenUpError as error:
                return str(error)
            except UnexplainedError as error:
                reason = str(error)
                continue
            left = self.shrunk(each, found)
            return left.statements, shortened(left.margins), left.minimal, ()
        return reason

    def shrunk(self, problem: Problem, found: ActivationExplanation) -> ActivationExplanation:
        """The explanation without statements that the others make needless; itself where there is no such rule."""
        return found


class OfActivationsAlone(OneByOne):
    """One whose statements are about nothing else."""

    priced: ClassVar[type[Any] | None] = PricedActivations

    def __init__(self, head: Head, patches: int, options: SearchOptions) -> None:
        super().__init__(head, patches, options)
        self._linked = Linked.of(head, patches)

    def shrunk(self, problem: Problem, found: ActivationExplanation) -> ActivationExplanation:
        """See `OneByOne`."""
        if self._linked is None:
            return found
        left, minimal = self._linked.shrunk(problem.margins, found.statements)
        return ActivationExplanation(left, self.prove(problem, left), minimal)

    def prove(self, problem: Problem, statements: Sequence[Statement], prices: Sequence[Prices] = ()) -> Tensor:
        """See `ParadigmSearch`."""
        if self._linked is not None:
            return self._linked.proved(problem.margins, statements)
        box = activation_range(problem.head, problem.patches).intersect(Stated.of(statements, problem.head.size).ends)
        return problem.margins.lower(box[None, None])[0, 0]
