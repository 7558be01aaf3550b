"""Heads with prototypes, one a geometry, similarity and pooling; and their small problems."""

from __future__ import annotations

import numpy as np
from support.named import problem_named

from verale.bounds import Projection
from verale.search.compiled.image import ImageArrays, image_arrays
from verale.search.compiled.pool import Pooled, all_margins, pool, pooled_of
from verale.search.compiled.rows import Candidate, PatchHulls, candidate, hulls_of
from verale.search.compiled.shrink import DualBases, StatedPairs, build_all, duals_of
from verale.search.problem import Problem


def first_image(name: str, seed: int = 0, tolerance: float = 0.0) -> tuple[Problem, Projection, ImageArrays]:
    """The first image that can be explained."""
    problem = problem_named(name, seed, tolerance).take([0])
    paradigm = Projection(problem.head)
    return problem, paradigm, image_arrays(problem, paradigm)


def pooled_from(image: ImageArrays, lower: np.ndarray, upper: np.ndarray) -> Pooled:
    """What ranges (L, P) of observables say of the activations."""
    pooled = pooled_of(image)
    pool(image, pooled, lower, upper)
    return pooled


def margins_of(image: ImageArrays, pooled: Pooled) -> np.ndarray:
    margins = np.empty(len(image.bias))
    all_margins(image, pooled, margins)
    return margins


def built(image: ImageArrays, stated: StatedPairs) -> tuple[PatchHulls, DualBases, Candidate]:
    """What statements say of the patches, with one row more; room for dual bases, and for a trial."""
    (patches, room), size = stated.prototype.shape, len(image.gram)
    hulls, trial = hulls_of(image, patches + 1, room), candidate(size, room)
    build_all(image, hulls, stated, trial)
    return hulls, duals_of(patches, room, size), trial


def random_statements(image: ImageArrays, count: int, seed: int = 0) -> np.ndarray:
    """(count, 2) different pairs of a patch and a prototype."""
    patches, size = image.low.shape
    chosen = np.random.default_rng(seed).permutation(patches * size)[:count]
    return np.stack(np.divmod(chosen, size), 1).astype(np.int64)
