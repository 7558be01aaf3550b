"""Small problems for the tests of the search: images that can be explained, and one that cannot."""

from __future__ import annotations

from typing import Any

import torch
from support.small import small_head, small_latents

from verale.bounds import Hypersphere, Projection, Simplex, Triangle
from verale.head import Box, Euclidean, Head, Identity, LogRatio, Softmax, as_patches
from verale.search.digits import Tolerance
from verale.search.problem import Problem

SPATIAL = (
    ("euclidean", Projection),
    ("scaled", Projection),
    ("cosine", Projection),
    ("euclidean", Triangle),
    ("cosine", Hypersphere),
    ("softmax", Simplex),
)
"""(geometry, paradigm), each geometry and each way to bound observables at least once."""

MONOTONE = tuple(case for case in SPATIAL if not case[1].ordered)
"""Those whose bounds never loosen when a statement is added."""

SLACK = 1e-5
"""More than rounding can put between two computations of a margin or bound: some bounds are as steep as a root."""


def problem_of(head: Head, tolerance: float = 0.0, **sizes: int) -> Problem:
    """The images of `small_latents` whose class certainly wins, at least one of them."""
    problem = Problem.of(head, as_patches(small_latents(head, **sizes)), Tolerance(tolerance))
    chosen = [image for image, margin in enumerate(problem.settled.tolist()) if margin > 0]
    assert chosen, "no image can be explained: choose another seed"
    return problem.take(chosen)


def small_problem(geometry: str, seed: int = 0, **options: Any) -> Problem:
    return problem_of(small_head(geometry, seed), seed=seed, **options)


def tied_problem(softmax: bool = False) -> Problem:
    """One image whose two classes get the same logit, whatever is stated."""
    generator = torch.Generator().manual_seed(0)
    points, patches = (torch.rand(*shape, generator=generator) for shape in ((3, 2), (1, 4, 3 if softmax else 2)))
    weight = torch.ones(2, 3)
    head = Head(weight, Softmax(), Identity())
    if not softmax:
        head = Head(weight, Euclidean(), LogRatio(), prototypes=points, domain=Box(0, 1))
    return Problem.of(head, as_patches(patches))


def margins_from_scratch(problem: Problem, paradigm: Any, explanations: list[list[tuple[int, int]]]) -> torch.Tensor:
    """(N, C) proved margins of explanations, from nothing but their statements."""
    return problem.proved_margins(problem.ranges(paradigm, explanations))
