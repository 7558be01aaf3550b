"""Spatial explanations on a GPU: one launch searches a batch, whose statements are proved in lockstep."""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor

from verale.bounds import SpatialParadigm
from verale.search import devices
from verale.search.at_once import ranges_alike
from verale.search.needed import not_surely_needed, without_doubtful
from verale.search.problem import Pair, Problem
from verale.search.shrink import proved_margins, rows_from_scratch
from verale.search.spatial import HOPELESS, SpatialExplanation, explain_spatial

__all__ = ["explain_in_blocks", "is_searched_in_blocks"]

_Proved = tuple[SpatialExplanation, list[Pair]]
"""An explanation, and those of its statements that are not surely needed."""


def is_searched_in_blocks(problem: Problem, paradigm: SpatialParadigm[Any], order: str) -> bool:
    """Whether one launch searches all images: of equations, with equal costs, on a device that runs the kernel."""
    return (
        not problem.costs
        and not problem.tolerance
        and devices.admits(problem.head, paradigm, order)
        and devices.is_available(problem.settled.device)
    )


def explain_in_blocks(
    problem: Problem, paradigm: Any, order: str, most: list[float] | None = None
) -> list[SpatialExplanation | str]:
    """For each image an explanation, or the reason why there is none; see `explain_spatial`, which does what this
    cannot.

    As in machine code on the CPU, the guard grows until the statements are proved; those that are not surely needed
    are dropped where rounded bounds prove that they can be, and if that leaves any, the search tries once to do
    without them.
    """
    if not len(problem) or not is_searched_in_blocks(problem, paradigm, order):
        return explain_spatial(problem, paradigm, order, most)
    try:
        return _explain(problem, paradigm, order, most)
    except devices.NotCompiledError as error:
        devices.do_without(problem.settled.device, error)
        return explain_spatial(problem, paradigm, order, most)


def _explain(problem: Problem, paradigm: Any, order: str, most: list[float] | None) -> list[SpatialExplanation | str]:
    from verale.search.compiled.statements import GUARDS
    from verale.search.devices.launch import choose_statements

    limits = [math.inf] * len(problem) if most is None else most
    explanations: dict[int, SpatialExplanation | str] = {}
    images = list(range(len(problem)))
    for guard in GUARDS:
        hopeless = [HOPELESS * limits[image] for image in images]
        chosen = dict(zip(images, choose_statements(problem.take(images), paradigm, guard, hopeless), strict=True))
        explanations |= {image: each for image, each in chosen.items() if isinstance(each, str)}
        proved = _prove(problem, paradigm, {image: each for image, each in chosen.items() if isinstance(each, list)})
        explanations |= _without_doubt(
            problem, paradigm, guard, {image: each for image, each in proved.items() if each}
        )
        images = [image for image, each in proved.items() if each is None]
        if not images:
            break
    left = [image for image in range(len(problem)) if image not in explanations]
    others = explain_spatial(problem.take(left), paradigm, order, [limits[image] for image in left])
    explanations |= zip(left, others, strict=True)
    return [explanations[image] for image in range(len(problem))]


def _without_doubt(
    problem: Problem, paradigm: Any, guard: float, proved: dict[int, _Proved]
) -> dict[int, SpatialExplanation]:
    """The explanations of some images, without the statements that are not surely needed where that can be."""
    from verale.search.devices.launch import choose_statements

    explanations = {image: explanation for image, (explanation, _) in proved.items()}
    doubtful = {image: pairs for image, (_, pairs) in proved.items() if pairs}
    fewer = {
        image: without_doubtful(problem.take([image]), paradigm, explanations[image].pairs, pairs)
        for image, pairs in doubtful.items()
    }
    surely = _surely_needed(problem, paradigm, fewer)
    doubtful = {image: pairs for image, pairs in doubtful.items() if image not in surely}
    if doubtful:
        endless = [math.inf] * len(doubtful)
        others = choose_statements(problem.take(list(doubtful)), paradigm, guard, endless, list(doubtful.values()))
        again = {image: each for image, each in zip(doubtful, others, strict=True) if isinstance(each, list)}
        surely |= _surely_needed(problem, paradigm, again)
    return explanations | surely


def _surely_needed(
    problem: Problem, paradigm: Any, explanations: dict[int, list[Pair]]
) -> dict[int, SpatialExplanation]:
    """Of some images' statements, those that are proved and surely needed."""
    proved = _prove(problem, paradigm, explanations)
    return {image: each[0] for image, each in proved.items() if each is not None and not each[1]}


def _prove(problem: Problem, paradigm: Any, explanations: dict[int, list[Pair]]) -> dict[int, _Proved | None]:
    """Some images' statements with the margins that they alone prove, rounded outward, and those that are not surely
    needed; None where a margin is not positive.

    One statement after the other may prove what all at once just fail to.
    """
    proved: dict[int, _Proved | None] = dict.fromkeys(explanations)
    for from_scratch in (ranges_alike, rows_from_scratch):
        left = [image for image in explanations if proved[image] is None]
        some, pairs = problem.take(left), [sorted(explanations[image]) for image in left]
        margins = proved_margins(some, from_scratch(some, paradigm, pairs)) if left else ()
        positive: list[tuple[int, int, Tensor]] = [
            (index, image, least)
            for index, (image, least) in enumerate(zip(left, margins, strict=True))
            if bool((least > 0).all())
        ]
        doubts = (
            not_surely_needed(
                some.take([index for index, *_ in positive]), paradigm, [pairs[index] for index, *_ in positive]
            )
            if positive
            else []
        )
        for (index, image, least), doubtful in zip(positive, doubts, strict=True):
            proved[image] = SpatialExplanation(pairs[index], least, not doubtful), doubtful
    return proved
