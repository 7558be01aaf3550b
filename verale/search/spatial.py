"""Spatial explanations: choose statements, drop those that are not needed, and prove the class from the rest alone."""

from __future__ import annotations

from verale.bounds import SpatialParadigm
from verale.search.problem import Problem
from verale.search.prove import UNSETTLED, Explained, propose_and_prove
from verale.search.rounds.explain import Rounds, admits
from verale.search.rounds.stepwise import Stepwise

__all__ = ["explain_spatial"]


def explain_spatial(
    problem: Problem,
    paradigm: SpatialParadigm,
    order: str,
    most: list[float] | None = None,
) -> list[Explained]:
    """For each image an explanation, or the reason why there is none.

    Where an image's explanation has to have at most `most` statements, it is given up when that has become hopeless.

    What rounds admit is searched in rounds, many images at once; what they leave open, and all else, step by step.
    """
    limits = [float("inf")] * len(problem) if most is None else most
    explained: dict[int, Explained] = {}
    if admits(problem, paradigm, order):
        settled = propose_and_prove(Rounds(problem, paradigm), limits)
        explained = {image: each for image, each in settled.items() if each != UNSETTLED}
    left = [image for image in range(len(problem)) if image not in explained]
    engine = Stepwise(problem.take(left), paradigm, order)
    others = propose_and_prove(engine, [limits[image] for image in left])
    explained |= {left[at]: explanation for at, explanation in others.items()}
    return [explained[image] for image in range(len(problem))]
