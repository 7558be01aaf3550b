"""What a paradigm is to the search: what it proposes for images, and what its statements prove."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from verale.certificate import Prices, Statement
from verale.errors import UsageError, option
from verale.head import Head
from verale.paradigms import PARADIGMS
from verale.search.costs import UNIT_COSTS, Costs
from verale.search.digits import FEW_DIGITS, FEWEST_DIGITS, MOST_DIGITS, fewest_digits, in_digits, margins_in_digits
from verale.search.options import SearchOptions
from verale.search.problem import Explanation, NoExplanation, Problem, Solution

_TOO_MUCH = 2
"""A digit less is not tried where by estimate it would cost so many times a margin."""


class ParadigmSearch(ABC):
    """The search under one paradigm, for one head and images of so many patches.

    Of a paradigm the search knows what this class says, and its facts in `verale.paradigms`.

    Args:
        head: the head.
        patches: L.
        options: how to search.

    Attributes:
        name: the paradigm; a key of `verale.paradigms.PARADIGMS`.
        bounds: how its statements about patches bound observables; None if it has none.
        priced: its `PricedMargins`; None if the ends of its statements have no prices.

    Raises:
        UsageError: the head or the images do not have this paradigm, or memory is too small.
    """

    name: ClassVar[str]
    bounds: ClassVar[type[Any] | None] = None
    priced: ClassVar[type[Any] | None] = None

    def __init__(self, head: Head, patches: int, options: SearchOptions) -> None:
        self.require(head, patches)
        self.head, self.patches, self.options = head, patches, options

    @classmethod
    def require(cls, head: Head, patches: int) -> None:
        """Raise UsageError, which says what it needs, unless the head and its images have this paradigm."""
        if PARADIGMS[cls.name].one_patch and patches != 1:
            raise UsageError(
                f"paradigm {cls.name!r} needs latents of one patch, these have {patches}: use another paradigm"
            )

    @property
    @abstractmethod
    def is_alone(self) -> bool:
        """Whether images are searched one by one: then no image's certificate depends on the others."""

    @property
    def bytes_per_patch(self) -> int:
        """About how much memory a row of its bounds takes."""
        return 0

    @abstractmethod
    def propose(self, problem: Problem, most: list[float]) -> list[Solution]:
        """For each image a solution, its margins proved; see `solve`."""

    @abstractmethod
    def prove(self, problem: Problem, statements: Sequence[Statement], prices: Sequence[Prices] = ()) -> Tensor:
        """The margins (C,) that statements about the only image prove, whatever their ends.

        Soundness: nothing of the image enters but what the statements say of it; bounds are rounded outward.
        """

    def solve(self, problem: Problem, most: list[float]) -> list[Solution]:
        """For each image a solution. The search may give up where it would not have at most `most` statements. With
        costs, the search without costs is tried too."""
        solutions = self.propose(problem, most)
        if problem.costs:
            without = self.propose(replace(problem, costs=UNIT_COSTS), most)
            solutions = list(map(partial(cheaper, problem.costs), solutions, without))
        return solutions

    def with_slack(
        self, problem: Problem, statements: Sequence[Sequence[Statement]], lost: Tensor, digits: int, least: float
    ) -> list[Explanation | None]:
        """For each image other statements that prove its class in so many digits; None where none are looked for.

        Args:
            problem: N images, whose observables are exact.
            statements: those of explanations that do not.
            lost: (N, C) what their widths cost.
            digits: of the ends of statements.
            least: see `verale.search.digits.least_unit`.
        """
        return [None] * len(statements)

    def in_short_numbers(
        self, problem: Problem, solutions: Sequence[Explanation], digits: int | str, least: float
    ) -> list[Explanation | None]:
        """For each image its solution in at most so many digits; or in the fewest, and in exact numbers where none do.

        The ends of statements move outward to decimals of few digits, and the wide statements are proved: the numbers
        that a reader sees are those that entail the class. Mostly the same statements do. But the fewest statements
        about patches may leave margins that are smaller than what their widths cost; then
        `with_slack` looks for others.

        A statement that was needed still is: without it the others, being wider, entail no more than they did.

        Args:
            problem: the images, whose observables are exact.
            solutions: of this paradigm, in exact numbers or, of activations, in few digits already.
            digits: a number or `fewest`.
            least: see `verale.search.digits.least_unit`.

        Returns:
            None where so many digits do not prove the class.

        Soundness: the margins are those of the wide statements alone, rounded outward.
        """
        most = FEW_DIGITS if digits == FEWEST_DIGITS else int(digits)
        short: list[Explanation | None] = [None] * len(solutions)
        open_: dict[int, tuple[Tensor, float]] = {}
        for image, exact in enumerate(solutions):
            prove = partial(self.prove, problem.take([image]), prices=exact.prices)
            wide = in_digits(exact.statements, most, least)
            margins = prove(wide)
            lost = exact.margins - margins
            share = float((lost / exact.margins).nan_to_num(0.0).amax()) * 10.0**most
            if not bool((margins > 0).all()):
                open_[image] = lost, share
                continue
            if digits == FEWEST_DIGITS and not share >= _TOO_MUCH * 10.0 ** (most - 1):
                wide, margins = fewest_digits(exact.statements, range(1, most), prove, least, share) or (wide, margins)
            short[image] = replace(exact, statements=wide, margins=margins_in_digits(margins))
        if not open_:
            return short
        of_open = [solutions[image].statements for image in open_]
        widths = torch.stack([lost for lost, _ in open_.values()])
        others = self.with_slack(problem.take(list(open_)), of_open, widths, most, least)
        for (image, (_, share)), other in zip(open_.items(), others, strict=True):
            short[image] = other
            if other is None and digits == FEWEST_DIGITS:
                exact = short[image] = solutions[image]
                prove = partial(self.prove, problem.take([image]), prices=exact.prices)
                found = fewest_digits(exact.statements, range(most + 1, MOST_DIGITS + 1), prove, least, share)
                if found is not None:
                    short[image] = replace(exact, statements=found[0], margins=margins_in_digits(found[1]))
        return short


def cheaper(costs: Costs, first: Solution, second: Solution) -> Solution:
    """The solution that costs less, the first on a tie."""
    return min(first, second, key=partial(cost_of, costs))


def cost_of(costs: Costs, solution: Solution) -> float:
    """What a solution costs; infinity where there is none."""
    return math.inf if isinstance(solution, NoExplanation) else costs.total(solution.statements)


def require_memory(needed: int, what: str, options: SearchOptions) -> None:
    """Raise UsageError, which names the limit, if what cannot be split exceeds the memory allowed, at least 4 GiB."""
    most = max(options.bytes, SearchOptions().bytes)
    if needed > most:
        raise UsageError(
            f"{what} take about {needed / 2**30:.2g} GiB, expected at most {most / 2**30:.2g}: allow more"
            f" ({option('max_memory')})"
        )


def require_products(head: Head, options: SearchOptions) -> None:
    """Raise UsageError if the products of a head's prototypes take more memory than is allowed."""
    if head.prototypes is not None:
        require_memory(16 * head.size**2, f"the products of {head.size} prototypes", options)
