"""Through a network: explanations of a picture, which hold of all latents that its network can give for it.

The latents are known as a box. An explanation is searched first for its middle, as for any latents; its statements are
then widened until they hold of the whole box, and proved again. Where the box is wide, or that does not prove the
class, statements are searched for that are as wide as the box from the beginning.

The middle of a wide box is nothing that the network gives: its class and its logits say nothing of the picture. What
the network says of a picture, with a certificate or without, is computed in float64, layer by layer
(`ThroughNetwork.evaluated`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import torch
from torch import Tensor

from verale.bounds import LinearMargins, check_domain
from verale.bounds.domain import box_leaves_domain
from verale.bounds.network import ARITHMETICS, Arithmetic, LatentRanges, latent_ranges
from verale.certificate import (
    ActivationStatement,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    Statement,
    SumStatement,
)
from verale.errors import LatentsError, UsageError
from verale.head import Evaluation, Head, as_patches, described, evaluate, require_kind
from verale.head.head import belonging
from verale.network import FrozenNetwork, picture_digest, require_binary32
from verale.rounding import Enclosure
from verale.search.digits import (
    EXACT,
    EXACT_DIGITS,
    FEW_DIGITS,
    FEWEST_DIGITS,
    MOST_DIGITS,
    Tolerance,
    fewest_digits,
    in_digits,
    margins_in_digits,
    tolerances,
)
from verale.search.options import SearchOptions
from verale.search.paradigms.base import ParadigmSearch
from verale.search.problem import Explanation, NoExplanation, Problem, shortened
from verale.search.smallest import Kept, keep_smallest

_NARROW = 0.25
"""Where the box takes more than this share of the least margin, what is found for its middle is not looked for."""

_WIDE_DIGITS = (FEW_DIGITS - 1, FEW_DIGITS, MOST_DIGITS)
"""To how many digits the ranges of a box are widened before statements are searched for them, one after the other."""


@dataclass(frozen=True, eq=False)
class ThroughNetwork:
    """Images are pictures, and latents what a network gives for them.

    Args:
        network: the network.
        arithmetic: in which it computes: `real`, or `float32` in any order of sums (certificates/network-v1.md).

    Raises:
        UsageError: an unknown arithmetic, or no network.
        NetworkError: a network of which nothing is claimed in float32.
    """

    network: FrozenNetwork
    arithmetic: Arithmetic = "real"

    def __post_init__(self) -> None:
        require_kind("network", self.network, FrozenNetwork, "verale.network.FrozenNetwork.load(path)")
        if self.arithmetic not in ARITHMETICS:
            raise UsageError(f"arithmetic is {self.arithmetic!r}, expected one of {', '.join(ARITHMETICS)}")
        if self.arithmetic == "float32":
            require_binary32(self.network)

    @property
    def patches(self) -> int:
        """L."""
        return math.prod(self.network.output_shape[1:])

    def require(self, head: Head, pictures: object) -> Tensor:
        """The pictures, if they are the network's, and its latents the head's. Raises UsageError."""
        depth, shape = self.network.output_shape[0], self.network.shape
        if depth != head.depth:
            raise UsageError(f"the network gives {depth} channels, the head receives {head.depth}: is it its network?")
        if not isinstance(pictures, Tensor) or pictures.dtype != torch.uint8 or tuple(pictures.shape[1:]) != shape:
            given = f"{pictures.dtype} {tuple(pictures.shape)}" if isinstance(pictures, Tensor) else described(pictures)
            raise UsageError(f"pictures are {given}, expected uint8 (N, C, H, W) with the network's {shape}")
        return pictures

    def subject(self, picture: Tensor) -> dict[str, str | None]:
        """What a certificate says of what it is about: digests, and the arithmetic."""
        digests = {"network": self.network.digest, "picture": picture_digest(picture)}
        return {"latents": None, **digests, "arithmetic": self.arithmetic}

    def ranges(self, picture: Tensor) -> LatentRanges:
        """The latents that the network can give for a picture."""
        return latent_ranges(self.network, picture, self.arithmetic)

    def latents(self, picture: Tensor) -> Tensor:
        """(1, D, H', W') or (1, 1, D): the latents of a picture, computed in float64 whatever the arithmetic is; an
        estimate."""
        return self.network.latents(picture[None])

    def evaluated(self, head: Head, picture: Tensor) -> Evaluation | None:
        """What the head makes of these latents; an estimate. None where they or the logits are no numbers, and where
        they lie outside the head's domain, since it does not describe the network there."""
        latents = as_patches(self.latents(picture))
        try:
            check_domain(head, latents)
        except LatentsError:
            return None
        evaluation = evaluate(head, latents)
        return None if bool(evaluation.logits.isnan().any()) else evaluation


BEYOND = NoExplanation(
    "the head's numbers at these latents are beyond float64: scale its prototypes down, and the latents with them"
)
UNCERTAIN = NoExplanation("the class is not certain over the box of latents that the network can give")
_NOT_OF_ALL = NoExplanation(
    "no statements that hold of all latents which the network can give were found to prove the class"
)


def solve_picture(
    head: Head, box: Enclosure, searches: Sequence[ParadigmSearch], options: SearchOptions, least: float
) -> tuple[int | None, Kept]:
    """Statements that hold of all latents in a box (L, D) and prove their class.

    Args:
        head: the head.
        box: of the latents that the network can give for a picture.
        searches: the paradigms to try.
        options: how to search.
        least: see `verale.search.digits.least_unit`.

    Returns:
        The class that is proved, None where none is; and the solution or why there is none.
    """
    leaving = box_leaves_domain(head, box)
    if leaving is not None:
        return None, Kept("", NoExplanation(leaving), ())
    middle = (box.lower + box.upper) / 2
    middle = torch.where(middle.isfinite(), middle.clamp(box.lower, box.upper), 0.0)  # 0 where nothing is known
    exact = Problem.of(head, middle[None], EXACT, options.avoid, options.costs)
    ranges = exact.over(box)
    kept = Kept("", UNCERTAIN if exact.is_finite else BEYOND, ())
    if bool(ranges.settled > 0):
        for problem, digits in _attempts(exact, ranges, options):
            if not bool(problem.settled > 0):
                kept = Kept("", UNCERTAIN.but(f", widened to {problem.tolerance}"), ())
                continue
            (kept,) = keep_smallest(problem, searches)
            if isinstance(kept.solution, NoExplanation):
                words = f"; avoided: {problem.avoid}" if problem.avoid else ""
                kept = replace(kept, solution=kept.solution.but(words))
                continue
            search = next(search for search in searches if search.name == kept.paradigm)
            found = for_all_of(ranges, problem, search, kept.solution, digits, least)
            kept = replace(kept, solution=found or _NOT_OF_ALL)
            if found is not None:
                break
    return None if isinstance(kept.solution, NoExplanation) else int(exact.margins.predicted), kept


def _attempts(exact: Problem, ranges: Problem, options: SearchOptions) -> Iterator[tuple[Problem, int | str]]:
    """Problems of the middle or of the box to solve, one after the other, and in how many digits what is found is
    told."""
    digits = options.digits
    for tolerance in tolerances(options.tolerance):
        if tolerance:
            yield ranges.widened(tolerance), EXACT_DIGITS
            continue
        if float(ranges.settled) > (1 - _NARROW) * float(exact.settled):
            yield exact, digits
        if isinstance(digits, int):
            yield ranges.widened(Tolerance(digits=digits)), EXACT_DIGITS
            continue
        for each in _WIDE_DIGITS if digits == FEWEST_DIGITS else (MOST_DIGITS,):
            yield ranges.widened(Tolerance(digits=each)), digits


def for_all_of(
    ranges: Problem, problem: Problem, search: ParadigmSearch, solution: Explanation, digits: int | str, least: float
) -> Explanation | None:
    """A solution whose statements hold of the whole box, in so many digits; None where they do not prove the class.

    Args:
        ranges: the problem of the box.
        problem: the one for which the solution was found.
        search: what found it.
        solution: the solution.
        digits, least: see `ParadigmSearch.in_short_numbers`.

    Soundness: what is returned is checked to hold of the box, and its margins are proved of the statements alone.
    Statements that were needed are needed still, as they only become wider.
    """
    statements = holding(ranges, solution.statements)
    if problem.tolerance:
        # As wide as the problem's own intervals, for which the margins are proved.
        prove = partial(search.prove, problem, prices=solution.prices)
        short = None if digits == EXACT_DIGITS else fewest_digits(statements, range(1, FEW_DIGITS), prove, least)
        wide, proved = short or (statements, solution.margins)
        is_true = holding(ranges, solution.statements) == solution.statements and holding(ranges, wide) == wide
        return replace(solution, statements=wide, margins=margins_in_digits(proved)) if is_true else None
    if digits != EXACT_DIGITS:
        (found,) = search.in_short_numbers(problem, [replace(solution, statements=statements)], digits, least)
        if found is None:
            return None
        solution, statements = found, found.statements
        wider = holding(ranges, statements)
        if wider != statements:
            statements = in_digits(wider, digits if isinstance(digits, int) else FEW_DIGITS, least)
    margins = search.prove(problem, statements, solution.prices)
    if not bool((margins > 0).all()) or holding(ranges, statements) != statements:
        return None
    told = shortened(margins) if digits == EXACT_DIGITS else margins_in_digits(margins)
    return replace(solution, statements=statements, margins=told)


def holding(ranges: Problem, statements: Sequence[Statement]) -> list[Statement]:
    """Statements, widened where they do not hold of everything in the ranges of the only image."""
    return [_holding(ranges, each) for each in statements]


def _holding(ranges: Problem, statement: Statement) -> Statement:
    observed, activations = ranges.observed, ranges.activations
    match statement:
        case PatchStatement(patch, prototype, lower, upper):
            least, most = observed.lower[patch, prototype], observed.upper[patch, prototype]
            return PatchStatement(patch, prototype, min(lower, float(least)), max(upper, float(most)))
        case ActivationStatement(prototype, lower, upper):
            least, most = activations.lower[0, prototype], activations.upper[0, prototype]
            return ActivationStatement(prototype, min(lower, float(least)), max(upper, float(most)))
        case OrderStatement(exempt, upper):
            return replace(statement, upper=max(upper, _greatest(activations.upper[0], exempt)))
        case SumStatement(rivals, upper):
            margins = cast(LinearMargins, ranges.margins)
            taken = margins.taken_back(activations, belonging(ranges.head, margins.predicted))[0]
            return replace(
                statement, upper=max(upper, float((taken if rivals is None else taken[list(rivals)]).amax()))
            )
        case FloorStatement(exempt, lower):
            return replace(statement, lower=min(lower, -_greatest(-activations.lower[0], exempt)))


def _greatest(ends: Tensor, exempt: Sequence[int]) -> float:
    """The greatest of all ends but some; -inf of none."""
    kept = torch.ones_like(ends, dtype=torch.bool)
    kept[list(exempt)] = False
    return float(ends[kept].amax()) if bool(kept.any()) else -math.inf
