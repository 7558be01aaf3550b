"""The truth, for tests: observables, activations and logits of exact floats in rationals or 300-bit balls."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any

import flint
import torch
from torch import Tensor

from verale.certificate import Certificate
from verale.head import Euclidean, FocalPooling, Head, LogRatio, MaxPooling, Softmax

PRECISION = 300


def observable(head: Head, z: list[float], j: int) -> Any:
    """m(z, p_j): a Fraction (euclidean) or an arb ball (call within `flint.ctx.workprec(PRECISION)`)."""
    if isinstance(head.geometry, Euclidean):
        assert head.prototypes is not None
        return sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(z, head.prototypes[j].tolist(), strict=True))
    if isinstance(head.geometry, Softmax):
        return 1 / sum((flint.arb(x) - flint.arb(z[j])).exp() for x in z)
    assert head.prototypes is not None
    p = [flint.arb(x) for x in head.prototypes[j].tolist()]
    v = [flint.arb(x) for x in z]
    norms = [sum(x * x for x in vector).sqrt() for vector in (p, v)]
    return sum(a * b for a, b in zip(v, p, strict=True)) / (norms[0] * (norms[1] + flint.arb(head.geometry.epsilon)))


def inside(truth: Any, lower: float, upper: float) -> bool:
    """Whether a true observable certainly lies in [lower, upper].

    Cosines and masses are given as balls, which cannot show that 1 <= 1; that none exceeds 1 in size needs no ball.
    """
    if isinstance(truth, Fraction):
        return (lower == -inf or Fraction(lower) <= truth) and (upper == inf or truth <= Fraction(upper))
    return (lower <= -1 or bool(flint.arb(lower) <= truth)) and (upper >= 1 or bool(truth <= flint.arb(upper)))


def differences(head: Head, patches: Tensor, predicted: int) -> list[Any]:
    """o_predicted - o_c for every class c, as balls (call within `workprec`)."""
    activations = []
    for j in range(head.size):
        values = [_ball(observable(head, z, j)) for z in patches.tolist()]
        if isinstance(head.similarity, LogRatio):
            values = [m * flint.arb(1.0 if head.scale is None else float(head.scale[j])) for m in values]
        activations.append(pooled(head, values))
    weight = head.weight.tolist()
    bias = [0.0] * head.classes if head.bias is None else head.bias.tolist()
    return [
        flint.arb(bias[predicted])
        - flint.arb(bias[c])
        + sum(
            ((flint.arb(weight[predicted][j]) - flint.arb(weight[c][j])) * a for j, a in enumerate(activations)),
            flint.arb(0),
        )
        for c in range(head.classes)
    ]


def pooled(head: Head, values: list[Any]) -> Any:
    """The activation of one prototype, given its observables at all patches, scaled already; all of them balls."""
    mean = sum(values, flint.arb(0)) / len(values)
    similar = [_similarity(head, value) for value in values]
    highest = similar[0]
    for value in similar[1:]:
        highest = highest.max(value)
    match head.pooling:
        case MaxPooling():
            return highest
        case FocalPooling("max_minus_mean"):
            return highest - sum(similar, flint.arb(0)) / len(similar)
        case _:
            return highest - _similarity(head, mean)


def _similarity(head: Head, value: Any) -> Any:
    if isinstance(head.similarity, LogRatio):
        return ((value + 1) / (value + flint.arb(head.similarity.epsilon))).log()
    return value


def _ball(value: Any) -> Any:
    return flint.arb(flint.fmpq(value.numerator, value.denominator)) if isinstance(value, Fraction) else value


def redrawn_alike(head: Head, image: Tensor, certificate: Certificate, times: int, generator: torch.Generator) -> int:
    """Redraw the patches without a statement: every rival stays below by the stated margin. Returns how often."""
    free = sorted(set(range(certificate.patches)) - {s.patch for s in certificate.statements})
    for _ in range(times if free else 0):
        other = image.clone()
        scale = 6 if isinstance(head.geometry, Softmax) else 1
        other[free] = torch.rand(len(free), head.depth, generator=generator).double() * scale
        with flint.ctx.workprec(PRECISION):
            for margin, difference in zip(
                certificate.margins, differences(head, other, certificate.predicted), strict=True
            ):
                assert margin is None or difference > flint.arb(margin)
    return times if free else 0
