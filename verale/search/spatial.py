"""Spatial explanations: choose statements, drop those that are not needed, and prove the class from the rest alone."""

from __future__ import annotations

from typing import Any

import torch

from verale.bounds import SpatialParadigm
from verale.head import Head
from verale.search import devices
from verale.search.problem import Problem
from verale.search.prove import UNSETTLED, Explained, propose_and_prove
from verale.search.rounds.explain import Rounds, admits
from verale.search.rounds.stepwise import Stepwise

__all__ = ["explain_spatial", "is_launched"]


def explain_spatial(
    problem: Problem,
    paradigm: SpatialParadigm,
    order: str,
    most: list[float] | None = None,
    device: torch.device | str = "cpu",
) -> list[Explained]:
    """For each image an explanation, or the reason why there is none.

    Where an image's explanation has to have at most `most` statements, it is given up when that has become hopeless.

    A device, a GPU, is asked first, for all images at once. Machine code searches what it does not explain, and all
    other cases, each image by itself.
    """
    limits = [float("inf")] * len(problem) if most is None else most
    if admits(problem, paradigm, order):
        explained = _answered(propose_and_prove(Rounds(problem, paradigm), limits))
    else:
        explained = _launched(problem, paradigm, order, limits, device)
    left = [image for image in range(len(problem)) if image not in explained]
    engine = Stepwise(problem.take(left), paradigm, order)
    others = propose_and_prove(engine, [limits[image] for image in left])
    explained |= {left[at]: explanation for at, explanation in others.items()}
    return [explained[image] for image in range(len(problem))]


def _answered(explained: dict[int, Explained]) -> dict[int, Explained]:
    return {image: each for image, each in explained.items() if each != UNSETTLED}


def is_launched(head: Head, paradigm: SpatialParadigm, order: str, device: torch.device | str) -> bool:
    """Whether one launch on a device searches exact statements of equal cost about all images."""
    return devices.admits(head, paradigm, order) and devices.is_available(torch.device(device))


def _launched(
    problem: Problem, paradigm: Any, order: str, most: list[float], device: torch.device | str
) -> dict[int, Explained]:
    """What one launch explains."""
    if problem.tolerance or problem.costs or not is_launched(problem.head, paradigm, order, device):
        return {}
    from verale.search.devices.engine import Launched

    try:
        explained = propose_and_prove(Launched(problem, paradigm, torch.device(device)), most)
    except devices.NotCompiledError as error:
        devices.do_without(device, error)
        return {}
    return _answered(explained)
