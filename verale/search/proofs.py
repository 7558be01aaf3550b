"""Proofs: the margins that statements prove, whichever they are, under each paradigm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor

from verale.bounds import Joint, TopK
from verale.certificate import ActivationStatement, PatchStatement, Prices, Statement
from verale.rounding import Enclosure
from verale.search.assignment import margins_by_prices
from verale.search.at_once import ranges_from_scratch
from verale.search.mixed import margins_of_both
from verale.search.problem import Pair, Problem
from verale.search.shrink import proved_margins
from verale.search.stated import Stated
from verale.search.tolerance import EXACT, SOME

__all__ = ["prove_statements", "with_ends"]


def prove_statements(
    problem: Problem, paradigm: str, spatial: Any, statements: Sequence[Statement], prices: Sequence[Prices] = ()
) -> Tensor:
    """The margins (C,) that statements about the only image prove, whatever their ends.

    Args:
        problem: the image.
        paradigm: its name.
        spatial: how its statements about patches bound observables; None if they are about activations.
        statements: in the order in which bounds take them.
        prices: those of `assignment`.

    Soundness: nothing of the image enters but what the statements say of it; bounds are rounded outward.
    """
    proof: Callable[..., Tensor] = _PROOFS.get(paradigm, _of_patches)
    return proof(with_ends(problem, statements), spatial, statements, prices)


def with_ends(problem: Problem, statements: Sequence[Statement]) -> Problem:
    """The image, with the ends that statements about single observables and activations give instead of its own."""
    pairs = [each for each in statements if isinstance(each, PatchStatement)]
    own = [each for each in statements if isinstance(each, ActivationStatement)]
    patches, prototypes = (problem.index([pair[side] for pair in _pairs(statements)]) for side in (0, 1))
    stated = problem.index([each.prototype for each in own])
    return replace(
        problem,
        observed=_replaced(problem.observed, (patches, prototypes), pairs),
        activations=_replaced(problem.activations, (stated * 0, stated), own),
        tolerance=SOME,
    )


def _replaced(ends: Enclosure, where: tuple[Tensor, Tensor], statements: Sequence[Any]) -> Enclosure:
    lower, upper = ends.lower.clone(), ends.upper.clone()
    lower[where] = lower.new_tensor([each.lower for each in statements])
    upper[where] = upper.new_tensor([each.upper for each in statements])
    return Enclosure(lower, upper)


def _pairs(statements: Sequence[Statement]) -> list[Pair]:
    return [(each.patch, each.prototype) for each in statements if isinstance(each, PatchStatement)]


def _ends(problem: Problem, statements: Sequence[Statement]) -> Enclosure:
    """(P,) what statements about one number a prototype say."""
    ends, device = Stated.of(statements, problem.head.size).ends, problem.settled.device
    return Enclosure(ends.lower.to(device), ends.upper.to(device))


def _of_patches(problem: Problem, spatial: Any, statements: Sequence[Statement], _: object) -> Tensor:
    return proved_margins(problem, ranges_from_scratch(problem, spatial, [_pairs(statements)]))[0]


def _of_masses(problem: Problem, spatial: Any, statements: Sequence[Statement], prices: Sequence[Prices]) -> Tensor:
    paid = {each.rival: dict(zip(each.prototypes, each.values, strict=True)) for each in prices}
    return margins_by_prices(problem, spatial, _pairs(statements), paid)


def _of_one_patch(problem: Problem, joint: Joint, statements: Sequence[Statement], _: object) -> Tensor:
    ends = _ends(problem, statements)
    return joint.margins(problem.margins.predicted, ends.lower[None], ends.upper[None]).lower[0]


def _of_activations(problem: Problem, _: object, statements: Sequence[Statement], __: object) -> Tensor:
    box = TopK.of(problem.head, problem.patches, problem.settled.device).box(_ends(problem, statements))
    return problem.margins.lower(box[None, None])[0, 0]


def _of_both(problem: Problem, _: object, statements: Sequence[Statement], __: object) -> Tensor:
    return margins_of_both(replace(problem, tolerance=EXACT), statements)


_PROOFS: dict[str, Callable[..., Tensor]] = {
    "assignment": _of_masses,
    "joint": _of_one_patch,
    "top_k": _of_activations,
    "sparse": _of_activations,
    "mixed": _of_both,
}
"""Those of the paradigms whose bounds are not of each patch alone."""
