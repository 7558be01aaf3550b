"""Heads with prototypes by name, one a geometry, similarity and pooling; and their small problems."""

from __future__ import annotations

from support.problems import problem_of
from support.small import FOCAL, GEOMETRIES, focal_head, small_head, varied_head

from verale.head import Head
from verale.search.problem import Problem

ADMITTED = (
    "euclidean",
    "scaled",
    "cosine",
    "negated",
    "exp_distance",
    "exponential",
    "quartic",
    "steps",
    "cosine steps",
    "rooted",
    "cosine exponential",
    "cosine quadratic",
    "cosine rectified",
    "inner product",
    "inner product in a ball",
    "inner product quadratic",
    "banks",
    "cosine banks",
    "masked",
    "cosine masked",
    "top mean",
    "cosine top mean",
    "quadratic top mean",
    *(f"{geometry} {kind}" for geometry, kind in FOCAL if geometry != "softmax"),
)
"""Names of `small_head` and `varied_head`, and geometries and kinds of `focal_head`."""

NOT_LINEAR = ("tree", "exponential tree", "maximum", "cosine maximum")
"""Those of other readouts."""


def head_named(name: str, seed: int = 0, **sizes: int) -> Head:
    geometry, _, kind = name.partition(" ")
    if (geometry, kind) in FOCAL:
        return focal_head(geometry, kind, seed, **sizes)
    return (small_head if name in GEOMETRIES else varied_head)(name, seed, **sizes)


def problem_named(name: str, seed: int = 0, tolerance: float = 0.0, **sizes: int) -> Problem:
    """The images of a small head that can be explained."""
    return problem_of(head_named(name, seed, **sizes), tolerance, seed=seed)
