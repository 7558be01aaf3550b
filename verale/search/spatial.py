"""Spatial explanations: choose statements, drop those that are not needed, and prove the class from the rest alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from verale.bounds import ExactParadigm, SpatialParadigm
from verale.head import Head
from verale.paradigms import ORDERS
from verale.search import compiled, devices
from verale.search.grow import Growth, grow
from verale.search.needed import surely_needed
from verale.search.problem import Pair, Problem
from verale.search.prove import HOPELESS, Explained, SpatialExplanation, by_patch, propose_and_prove
from verale.search.shrink import proved_margins, rows_from_scratch, shrink
from verale.search.sweep import sweep

__all__ = [
    "GROWTHS",
    "UNSETTLED",
    "explain_spatial",
    "first_statements",
    "is_launched",
    "is_searched_alone",
]

GROWTHS: dict[str, Callable[[Problem, Any, list[float] | None], tuple[list[Growth], Any]]] = dict(
    zip(ORDERS, (grow, sweep), strict=True)
)
"""The ways to choose the next statement, by name."""

UNSETTLED = "the margin left is too small for float64 to prove"


def explain_spatial(
    problem: Problem,
    paradigm: SpatialParadigm[Any],
    order: str,
    most: list[float] | None = None,
    device: torch.device | str = "cpu",
) -> list[Explained]:
    """For each image an explanation, or the reason why there is none.

    Where an image's explanation has to have at most `most` statements, it is given up when that has become hopeless.

    Where there is an engine that proposes in plain floats, it is asked first: machine code for each image by itself, or
    the device, a GPU, for all at once. What it does not explain, and all other cases, costs among them, are searched on
    tensors.
    """
    explained = _by_engine(problem, paradigm, order, most, device) if len(problem) else {}
    left = [image for image in range(len(problem)) if image not in explained]
    # An image that is searched alone stays alone, so that its bytes do not depend on others.
    for images in [[image] for image in left] if is_searched_alone(problem.head, paradigm, order) else [left]:
        limits = None if most is None else [most[image] for image in images]
        others = _explain_on_tensors(problem.take(images), paradigm, order, limits)
        explained |= zip(images, others, strict=True)
    return [explained[image] for image in range(len(problem))]


def first_statements(problem: Problem, paradigm: Any) -> list[Pair]:
    """Statements about the only image in the order in which they are added to it; none is dropped."""
    if not problem.costs and is_searched_alone(problem.head, paradigm, ORDERS[0]):
        from verale.search.compiled.image import image_arrays
        from verale.search.compiled.statements import GUARDS, added_statements

        return added_statements(problem, image_arrays(problem, paradigm), GUARDS[0])
    return grow(problem, paradigm)[0][0].pairs


def is_searched_alone(head: Head, paradigm: SpatialParadigm[Any], order: str) -> bool:
    """Whether images are searched one by one, in machine code: then no image's certificate depends on the others."""
    return compiled.admits(head, paradigm, order) and compiled.is_available()


def is_launched(head: Head, paradigm: SpatialParadigm[Any], order: str, device: torch.device | str) -> bool:
    """Whether one launch on a device searches exact statements about all images."""
    return (
        devices.admits(head, paradigm, order)
        and is_searched_alone(head, paradigm, order)
        and devices.is_available(torch.device(device))
    )


def _by_engine(
    problem: Problem, paradigm: Any, order: str, most: list[float] | None, device: torch.device | str
) -> dict[int, Explained]:
    """What an engine explains; nothing without an engine. All engines take statements of equal cost."""
    if problem.costs:
        return {}
    if not problem.tolerance and is_launched(problem.head, paradigm, order, device):
        from verale.search.devices.engine import Launched

        try:
            return propose_and_prove(Launched(problem, paradigm, torch.device(device)), most)
        except devices.NotCompiledError as error:
            devices.do_without(device, error)
    if is_searched_alone(problem.head, paradigm, order):
        from verale.search.machine_code import MachineCode

        return propose_and_prove(MachineCode(problem, paradigm), most)
    return {}


def _explain_on_tensors(
    problem: Problem, paradigm: SpatialParadigm[Any], order: str, most: list[float] | None
) -> list[Explained]:
    """For each image an explanation, or the reason why there is none; all images in lockstep.

    First statements are added until the class follows (`GROWTHS`), then those that are not needed are dropped. Under an
    ordered paradigm bounds are not monotone in E, so dropping is repeated until nothing can be dropped. The class is
    then proved again from rows that know the remaining statements alone, in their order.
    """
    if not len(problem):
        return []
    stop = None if most is None else [HOPELESS * limit for limit in most]
    growths, rows = GROWTHS[order](problem, paradigm, stop)
    explanations = shrink(problem, paradigm, [[] if g.failure else g.pairs for g in growths], rows)
    while paradigm.ordered:
        before = explanations
        explanations = shrink(problem, paradigm, before, rows_from_scratch(problem, paradigm, before))
        if explanations == before:
            break
    margins = proved_margins(problem, rows_from_scratch(problem, paradigm, explanations))
    needed = [False] * len(problem)
    if isinstance(paradigm, ExactParadigm) and not problem.tolerance:
        needed = surely_needed(problem, paradigm, explanations)
    return [
        growth.failure
        or (
            SpatialExplanation(
                by_patch(pairs, paradigm.ordered or bool(problem.tolerance)),
                proved,
                minimal=every,
            )
            if bool((proved > 0).all())
            else UNSETTLED
        )
        for growth, pairs, proved, every in zip(growths, explanations, margins, needed, strict=True)
    ]
