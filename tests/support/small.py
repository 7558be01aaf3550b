"""Small heads and latents for the tests, one recipe a geometry; nothing here is read from a file."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from verale.head import (
    BankPooling,
    Box,
    Cosine,
    Euclidean,
    ExpDistance,
    Exponential,
    FocalPooling,
    Geometry,
    Head,
    Identity,
    InnerProduct,
    LogRatio,
    Maximum,
    Negated,
    Quadratic,
    Rectified,
    Softmax,
    StepChain,
    Threshold,
    TopMeanPooling,
)
from verale.rounding import Enclosure
from verale.soundness.combinations import random_mask, random_tree

GEOMETRIES = ("euclidean", "scaled", "cosine", "softmax")
FOCAL = (
    ("euclidean", "max_minus_mean"),
    ("scaled", "max_minus_mean"),
    ("cosine", "max_minus_mean"),
    ("softmax", "max_minus_mean"),
    ("euclidean", "max_minus_mean_distance"),
    ("scaled", "max_minus_mean_distance"),
)
"""(geometry, kind) of focal heads."""


def small_head(geometry: str, seed: int = 0, prototypes: int = 12, depth: int = 6, classes: int = 3) -> Head:
    """A head whose prototypes favour their own class, as trained ones do; with duplicates among the prototypes."""
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(classes, prototypes, generator=generator) * 0.3 - 0.5
    for j in range(prototypes):
        weight[j % classes, j] += 1.5
    bias = torch.randn(classes, generator=generator) * 0.1
    points = torch.rand(prototypes, depth, generator=generator)
    points[-1] = points[0]
    if geometry in ("euclidean", "scaled"):
        scale = 10 ** (2 * torch.rand(prototypes, generator=generator) - 1) if geometry == "scaled" else None
        return Head(weight, Euclidean(), LogRatio(1e-4), prototypes=points, bias=bias, scale=scale, domain=Box(0, 1))
    if geometry == "cosine":
        return Head(weight, Cosine(1e-8), Identity(), prototypes=points - 0.3, bias=bias, domain=Box(0, None))
    return Head(weight, Softmax(), Identity(), bias=bias)


VARIED = (
    "negated",
    "exp_distance",
    "exponential",
    "quartic",
    "rooted",
    "cosine exponential",
    "cosine quadratic",
    "cosine rectified",
    "inner product",
    "inner product in a ball",
    "inner product quadratic",
    "threshold",
    "banks",
    "cosine banks",
    "masked",
    "cosine masked",
    "top mean",
    "cosine top mean",
    "softmax top mean",
    "quadratic top mean",
    "tree",
    "exponential tree",
    "maximum",
    "cosine maximum",
)
"""Heads with one part each that those of GEOMETRIES lack."""


_BELL = [{"kind": kind} for kind in ("from_peak", "square", "scale", "negate", "exp")]


def varied_head(name: str, seed: int = 0, **sizes: int) -> Head:
    """A small head by its name in VARIED."""
    generator = torch.Generator().manual_seed(200 + seed)
    flat = small_head("euclidean", seed, **sizes)

    def angular(**changes: Any) -> Head:
        return replace(small_head("cosine", seed, **sizes), **{"domain": Box(0, 1)} | changes)

    def masses(**changes: Any) -> Head:
        return replace(small_head("softmax", seed, **sizes), **changes)

    scale = 0.5 + torch.rand(flat.size, generator=generator) * 4
    peak = torch.rand(flat.size, generator=generator) * 2 - 0.7
    inner = partial(angular, geometry=InnerProduct())
    tree, leaves = random_tree(flat.size, flat.classes, generator)
    of_class = (torch.arange(flat.size) % flat.classes == torch.arange(flat.classes)[:, None]).float()
    some = {"weight": of_class, "bias": torch.randn(flat.size, generator=generator) * 0.1, "readout": Maximum()}
    match name:
        case "negated":
            return replace(flat, similarity=Negated(), scale=scale)
        case "exp_distance":
            return replace(flat, similarity=ExpDistance())
        case "exponential":
            return replace(flat, similarity=Exponential(), scale=scale)
        case "quartic":
            return replace(flat, similarity=Quadratic())
        case "steps":
            roots = [{"kind": "scale"}, {"kind": "add", "number": 0.125}, {"kind": "root"}]
            return replace(flat, similarity=StepChain([*roots, {"kind": "reciprocal", "number": 0.25}]), scale=scale)
        case "cosine steps":
            return angular(similarity=StepChain(_BELL), scale=scale, peak=peak)
        case "rooted":
            return angular(geometry=Cosine(1e-4, rooted=True))
        case "cosine exponential":
            return angular(similarity=Exponential(), scale=scale)
        case "cosine quadratic":
            return angular(similarity=Quadratic(), peak=peak)
        case "cosine rectified":
            return angular(similarity=Rectified())
        case "inner product":
            return inner()
        case "inner product in a ball":
            return inner(geometry=InnerProduct(4.0), domain=Box(0, None), similarity=Rectified())
        case "inner product quadratic":
            return inner(similarity=Quadratic(), peak=peak)
        case "threshold":
            return masses(similarity=Threshold(0.1))
        case "banks":
            return replace(flat, pooling=BankPooling(flat.size // 3))
        case "cosine banks":
            return angular(pooling=BankPooling(flat.size // 2))
        case "masked":
            return replace(flat, pooling=random_mask(flat.size, 4, generator))
        case "cosine masked":
            return angular(pooling=random_mask(flat.size, 2, generator))
        case "top mean":
            return replace(flat, pooling=TopMeanPooling(3))
        case "cosine top mean":
            return angular(pooling=TopMeanPooling(2))
        case "softmax top mean":
            return masses(pooling=TopMeanPooling(2))
        case "quadratic top mean":
            return angular(similarity=Quadratic(), peak=peak, pooling=TopMeanPooling(100))
        case "tree":
            return replace(flat, similarity=ExpDistance(), weight=leaves, bias=None, readout=tree)
        case "exponential tree":
            return angular(similarity=Exponential(), scale=scale, weight=leaves, bias=None, readout=tree)
        case "maximum":
            return replace(flat, similarity=Negated(), scale=scale, **some)
        case "cosine maximum":
            return angular(**some)
    raise ValueError(name)


def small_latents(head: Head, images: int = 4, patches: int = 5, seed: int = 0) -> Tensor:
    """(N, L, D) float32 latents in the head's domain, some of them near prototypes."""
    generator = torch.Generator().manual_seed(1000 + seed)
    latents = torch.rand(images, patches, head.depth, generator=generator)
    if head.prototypes is None:
        return latents * 6
    near = head.prototypes[torch.randint(head.size, (images,), generator=generator)].clamp(0, 1)
    latents[:, 0] = 0.9 * near + 0.1 * latents[:, 0]
    return latents


def focal_head(geometry: str, kind: str, seed: int = 0, **sizes: int) -> Head:
    """A small head with focal pooling."""
    return replace(small_head(geometry, seed, **sizes), pooling=FocalPooling(kind))


def metric_head(geometry: Geometry, points: Tensor, domain: Box | None = None) -> Head:
    """A head with these prototypes and the plainest parts; its weights say nothing."""
    similarity = LogRatio() if geometry.is_distance else Identity()
    return Head(torch.ones(2, len(points)), geometry, similarity, prototypes=points, domain=domain or Box())


def random_ranges(head: Head, images: int, patches: int, seed: int) -> Enclosure:
    """Observables (N, L, P): some ends coincide, some ranges are points, some overlap, some are all alike."""
    generator = torch.Generator().manual_seed(seed)
    ends = torch.rand(2, images, patches, head.size, generator=generator, dtype=torch.float64)
    lower, upper = ends.amin(0), ends.amax(0)
    point = torch.rand(lower.shape, generator=generator) < 0.3
    upper = torch.where(point, lower, upper)
    lower[:, -1], upper[:, -1] = lower[:, 0], upper[:, 0]
    geometries = {Euclidean: (0.0, 4.0), Cosine: (-1.0, 1.0), Softmax: (0.0, 1.0), InnerProduct: (-2.0, 2.0)}
    low, high = geometries[type(head.geometry)]
    return Enclosure(low + lower * (high - low), low + upper * (high - low))
