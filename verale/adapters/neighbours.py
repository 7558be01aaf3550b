"""Heads that differ from a given one in one option: what a wrong epsilon or activation would have been instead.

The options are those that state dictionaries do not say (`published/`), with the values that published code uses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from verale.certificate.words import written
from verale.errors import HeadError
from verale.head import (
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
    MaxPooling,
    Negated,
    Quadratic,
    Rectified,
    Similarity,
    Softmax,
    Threshold,
    TopMeanPooling,
    evaluate_observed,
    observables,
)

_STEPS, _NEAR = 32, 1e-9
"""How a number is fitted: the best of so many, and around it as near as this, in logarithms."""

_EPSILONS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12)
"""Constants of logarithms: ProtoPNet has 1e-4, HyperPG 1e-6."""
_COSINE_EPSILONS = (0.0, 1e-12, 1e-8, 1e-6, 1e-4)
_THRESHOLDS = (0.01, 0.05, float(torch.tensor(0.1)), 0.2, 0.5)
_GREATEST = (2, 3, 5, 9, 10)
"""Numbers of patches whose mean is taken (`TopMeanPooling`)."""

_ACTIVATIONS: dict[type[Similarity], str] = {LogRatio: "'log'", Negated: "'linear'", ExpDistance: "'exp_l2'"}
"""What published code calls a similarity (`activation`)."""

OTHER_LATENTS: dict[str, Callable[[Tensor], Tensor]] = {
    "torch.sigmoid": torch.sigmoid,
    "torch.tanh": torch.tanh,
    "torch.relu": torch.relu,
    "normalize": lambda patches: normalize(patches, dim=-1),
}
"""What a later layer may do to the latents (N, L, D) before the head receives them."""


@dataclass(frozen=True, eq=False)
class Neighbour:
    """A head that differs from a given one in one option.

    Attributes:
        option: such as `epsilon`, `activation`, `pooling`, `bias`.
        value: what this head has.
        given: what the given head has.
        head: this head.
    """

    option: str
    value: str
    given: str
    head: Head

    def __str__(self) -> str:
        return f"{self.option}={self.value}; you gave {self.given}"


def widened(head: Head, patches: Tensor) -> Head:
    """The head with a domain that also holds these latents, and no radius: for comparisons, whose result it is not.

    Args:
        patches: (N, L, D), finite.
    """
    low, high = float(patches.min()), float(patches.max())
    lower, upper = head.domain.lower, head.domain.upper
    box = Box(low - 1 if lower is None else min(lower, low), high + 1 if upper is None else max(upper, high))
    geometry = InnerProduct() if isinstance(head.geometry, InnerProduct) else head.geometry
    return replace(head, domain=box, geometry=geometry)


def neighbours(head: Head, patches: int) -> Iterator[Neighbour]:
    """The neighbours of a head with a bounded domain, for images of so many patches."""
    for option, value, given, changes in _changes(head, patches):
        try:
            other = replace(head, **changes)
        except HeadError:
            continue  # the parts do not go together
        yield Neighbour(option, value, given, other)


def fitted(head: Head, patches: Tensor, logits: Tensor) -> Iterator[Neighbour]:
    """Heads that differ in one number, fitted to a network's logits: the least squares, on a scale of logarithms.

    Whether such a head computes the logits is for the caller to see; this is only where to look.

    Args:
        head: with a domain that holds the latents.
        patches: (N, L, D) the latents.
        logits: (N, C) float64, the network's.
    """
    from scipy.optimize import minimize_scalar  # half a second, where a head differs

    for option, given, (least, greatest), make in _numbers(head):
        observed = observables(head, patches) if option == "epsilon" else None

        def off(exponent: float, make: Any = make, observed: Any = observed) -> float:
            other = make(math.exp(exponent))
            seen = observables(other, patches) if observed is None else observed
            away = float((evaluate_observed(other, seen).logits - logits).square().sum())
            return away if math.isfinite(away) else math.inf

        start, step = math.log(least), (math.log(greatest) - math.log(least)) / _STEPS
        best = min(range(_STEPS + 1), key=lambda at: off(start + at * step))
        low, high = start + max(0, best - 1) * step, start + min(_STEPS, best + 1) * step
        found = minimize_scalar(off, bounds=(low, high), method="bounded", options={"xatol": _NEAR})
        number = math.exp(float(found.x))
        for digits in range(1, 18):
            short = float(f"{number:.{digits}g}")
            if least <= short <= greatest:
                yield Neighbour(option, written(short), written(given), make(short))


def _numbers(head: Head) -> Iterator[tuple[str, float, tuple[float, float], Callable[[float], Head]]]:
    """The numbers that a head holds beside its tensors: name, value, ends, and the head with another value."""
    if isinstance(head.similarity, LogRatio):
        yield (
            *("epsilon", head.similarity.epsilon, (1e-12, 1 - 2.0**-20)),
            lambda number: replace(head, similarity=LogRatio(number)),
        )
    if isinstance(head.geometry, Cosine):
        rooted = head.geometry.rooted
        yield (
            *("geometry.epsilon", head.geometry.epsilon, (1e-12, 1e3)),
            lambda number: replace(head, geometry=Cosine(number, rooted)),
        )


def _named(similarity: Similarity, given: Similarity) -> tuple[str, str, str]:
    """The option in which two similarities differ, and its values."""
    if isinstance(similarity, LogRatio) and isinstance(given, LogRatio):
        return "epsilon", written(similarity.epsilon), written(given.epsilon)
    if {type(similarity), type(given)} <= {Threshold, Identity}:
        return "threshold", _threshold(similarity), _threshold(given)
    activation, other = _ACTIVATIONS.get(type(similarity)), _ACTIVATIONS.get(type(given))
    if activation is None or other is None:
        return "similarity", repr(similarity), repr(given)
    if isinstance(similarity, LogRatio):
        activation += f" with epsilon={written(similarity.epsilon)}"
    return "activation", activation, other


def _threshold(similarity: Similarity) -> str:
    """The option `threshold` of a similarity of masses: 0 where there is none."""
    return written(similarity.threshold) if isinstance(similarity, Threshold) else "0"


def _changes(head: Head, patches: int) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """An option, its other value, its given value, and the fields of the head that differ."""
    candidates: dict[type[Geometry], tuple[Similarity, ...]] = {
        Euclidean: (*map(LogRatio, _EPSILONS), Negated(), ExpDistance(), Exponential(), Quadratic()),
        Cosine: (Identity(), Rectified(), Exponential(), Quadratic()),
        InnerProduct: (Identity(), Rectified(), Quadratic()),
        Softmax: (Identity(), *map(Threshold, _THRESHOLDS)),
    }
    given = head.similarity
    for similarity in candidates[type(head.geometry)]:
        if similarity == given:
            continue
        kept = {name: getattr(head, name) if name in similarity.tensors else None for name in ("scale", "peak")}
        yield (*_named(similarity, given), {"similarity": similarity, **kept})
    for name in ("scale", "peak"):
        if name in given.tensors and getattr(head, name) is not None:
            yield name, "None", "a tensor", {name: None}
    if head.scale is not None:
        scale = head.scale.double()
        powers = {"1 / scale": 1 / scale, "sqrt(scale)": scale.sqrt(), "scale**2": scale.square()}
        for value, other in {**powers, "2 * scale": 2 * scale, "scale / 2": scale / 2}.items():
            yield "scale", value, "scale", {"scale": other}
    means = [TopMeanPooling(k) for k in (*(k for k in _GREATEST if k < patches), patches) if k > 1]
    focal = [FocalPooling(kind) for kind in ("max_minus_mean", "max_minus_mean_distance")]
    for pooling in (MaxPooling(), *means, *focal):
        if pooling != head.pooling:
            yield "pooling", repr(pooling), repr(head.pooling), {"pooling": pooling}
    if head.bias is not None:
        yield "bias", "None", "a bias", {"bias": None}
    if bool((head.weight < 0).any()):
        yield "weight", "relu(weight)", "weights below 0", {"weight": head.weight.clamp(min=0)}
    yield "weight", "-weight", "weight", {"weight": -head.weight}
    if not head.geometry.has_prototypes:
        return
    of, plain = repr(head.geometry), {"scale": None, "peak": None}
    cosines = [Cosine(epsilon, rooted) for rooted in (False, True) for epsilon in _COSINE_EPSILONS]
    for cosine in cosines if isinstance(head.geometry, Cosine) else ():
        if cosine != head.geometry:
            yield "geometry", repr(cosine), of, {"geometry": cosine}
    others: tuple[tuple[Geometry, tuple[Similarity, ...]], ...] = (
        *((cosine, (Identity(), Rectified())) for cosine in cosines),
        (InnerProduct(), (Identity(), Rectified())),
        (Euclidean(), (LogRatio(), Negated())),
    )
    for geometry, similarities in others:
        if type(geometry) is not type(head.geometry):
            for similarity in similarities:
                changes = {"geometry": geometry, "similarity": similarity, **plain}
                yield "geometry", f"{geometry!r} with {similarity!r}", of, changes
    if head.prototypes is not None:
        unit = normalize(head.prototypes.double(), dim=1)
        yield "prototypes", "unit vectors", "prototypes of other lengths", {"prototypes": unit}
