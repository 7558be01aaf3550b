"""A statement about a patch, whatever bounds its observables."""

from __future__ import annotations

from verale.search.compiled.arrays import overwrite
from verale.search.compiled.hull import commit_to_hull, try_in_hull
from verale.search.compiled.image import HYPERSPHERE, SIMPLEX, Floats, ImageArrays
from verale.search.compiled.parts import part
from verale.search.compiled.rows import AS_DIRECTION, Candidate, PatchHulls
from verale.search.compiled.spheres import commit_to_sphere, try_in_sphere

__all__ = ["commit", "try_statement"]


@part
def try_statement(
    image: ImageArrays, hulls: PatchHulls, row: int, patch: int, prototype: int, trial: Candidate
) -> None:
    """What the patch in this row would be if the observable of a prototype were stated too."""
    if image.bounds == SIMPLEX:
        _try_mass(image, hulls, row, patch, prototype, trial)
    elif image.bounds == HYPERSPHERE:
        _try_sphere(image, image.pairs, hulls, row, patch, prototype, trial)
    else:
        try_in_hull(image, hulls, row, patch, prototype, trial)
    trial.lower[prototype] = max(trial.lower[prototype], image.low[patch, prototype])
    trial.upper[prototype] = min(trial.upper[prototype], image.high[patch, prototype])


@part
def _try_sphere(
    image: ImageArrays, pairs: Floats | None, hulls: PatchHulls, row: int, patch: int, prototype: int, trial: Candidate
) -> None:
    if pairs is not None:
        try_in_sphere(image, pairs, hulls, row, patch, prototype, trial)


@part
def commit(image: ImageArrays, hulls: PatchHulls, row: int, patch: int, prototype: int, trial: Candidate) -> None:
    """The patch becomes what was tried."""
    if image.bounds == SIMPLEX:
        hulls.directions[row] += 1
        hulls.whole[row], hulls.least[row] = trial.ends[0], trial.ends[1]
        hulls.across[row, prototype] = 1.0
    elif image.bounds == HYPERSPHERE:
        commit_to_sphere(image, hulls, row, patch, prototype, trial)
    else:
        commit_to_hull(image, hulls, row, patch, prototype, trial)
    overwrite(hulls.lower[row], trial.lower)
    overwrite(hulls.upper[row], trial.upper)


@part
def _try_mass(image: ImageArrays, hulls: PatchHulls, row: int, patch: int, prototype: int, trial: Candidate) -> None:
    """See `verale.bounds.simplex`. Rows keep what the stated masses leave at most and at least (`whole`, `least`), how
    many they are (`directions`), and 1 for each (`across`)."""
    left = max(hulls.whole[row] - image.low[patch, prototype], 0.0)
    short = hulls.least[row] - image.high[patch, prototype]
    trial.ends[0], trial.ends[1], trial.ends[4] = left, short, AS_DIRECTION
    alone = hulls.directions[row] + 2 == len(trial.lower)
    for k in range(len(trial.lower)):
        lower, most = hulls.lower[row, k], left
        if k == prototype or hulls.across[row, k] > 0.0:
            most += max(lower, image.low[patch, k])
        elif alone:
            lower = max(lower, short)
        trial.lower[k], trial.upper[k] = lower, min(hulls.upper[row, k], most)
