"""Sweep: the published order. Each sweep states the next nearest prototype of every patch, until the class follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from verale.bounds import SpatialParadigm, put, take
from verale.search.grow import Growth, given_up
from verale.search.problem import Problem
from verale.search.shrink import proved_margins

__all__ = ["sweep"]

R = TypeVar("R", bound=Any)


def sweep(
    problem: Problem, paradigm: SpatialParadigm[R], most: Sequence[float] | None = None
) -> tuple[list[Growth], R]:
    """For each image, statements that entail its class, in the order of Soria et al.; for a fair comparison.

    A sweep states one prototype at every patch of an open image, the nearest that is not stated yet; avoided patches
    and prototypes are passed over. Sweeps are not split: shrinking removes what the last one states too much. An image
    with more than `most` statements is given up.

    Returns:
        One Growth an image, and the paradigm's rows (N * L) after the statements.

    Reference: Soria et al., arXiv 2511.16588 (nearest first), 2608.16773.
    """
    left = problem.index(problem.avoid.prototypes_left(problem.head.size))
    order = left[problem.dissimilarities()[:, :, left].argsort(dim=2, stable=True).flatten(0, 1)]
    patches = problem.avoid.patches_left(problem.patches)
    rows = paradigm.start(len(problem) * problem.patches)
    growths = [Growth([], "the class stays open though every pair is stated") for _ in range(len(problem))]
    for step in range(len(left) + 1):
        proved = (proved_margins(problem, rows).amin(1) > 0).tolist()
        for growth, success in zip(growths, proved, strict=True):
            growth.failure = "" if success else growth.failure
        still = [image for image, success in enumerate(proved) if not success]
        for image in [image for image in still if most and len(growths[image].pairs) > most[image]]:
            growths[image].failure = given_up(len(growths[image].pairs))
            still.remove(image)
        if step == len(left) or not patches or not still:
            break
        where = problem.rows_of(still).view(len(still), -1)[:, patches].flatten()
        prototypes = order[where, step]
        rows = put(rows, where, paradigm.extend(take(rows, where), prototypes, problem.observed[where, prototypes]))
        for image, stated in zip(still, prototypes.view(len(still), -1).tolist(), strict=True):
            growths[image].pairs += list(zip(patches, stated, strict=True))
    return growths, rows
