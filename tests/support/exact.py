"""The truth, for tests: observables, activations and logits of exact floats in rationals or 300-bit balls."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import inf
from typing import Any

import flint
import torch
from support.similarities import similarity
from torch import Tensor

from verale.certificate import Certificate
from verale.head import (
    BankPooling,
    Euclidean,
    FocalPooling,
    Head,
    InnerProduct,
    Linear,
    Maximum,
    MaxPooling,
    Softmax,
    SoftTree,
    TopMeanPooling,
)

PRECISION = 300


def observable(head: Head, z: list[float], j: int) -> Any:
    """m(z, p_j): a Fraction (euclidean, inner product) or an arb ball (call within `flint.ctx.workprec(PRECISION)`)."""
    if isinstance(head.geometry, Softmax):
        return 1 / sum((flint.arb(x) - flint.arb(z[j])).exp() for x in z)
    assert head.prototypes is not None
    p = head.prototypes[j].tolist()
    if isinstance(head.geometry, Euclidean):
        return sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(z, p, strict=True))
    if isinstance(head.geometry, InnerProduct):
        return sum(Fraction(a) * Fraction(b) for a, b in zip(z, p, strict=True))
    epsilon = flint.arb(head.geometry.epsilon)
    own, other = (sum(flint.arb(x) ** 2 for x in vector) for vector in (p, z))
    length = (other + epsilon).sqrt() if head.geometry.rooted else other.sqrt() + epsilon
    return sum(flint.arb(a) * flint.arb(b) for a, b in zip(z, p, strict=True)) / (own.sqrt() * length)


def inside(truth: Any, lower: float, upper: float) -> bool:
    """Whether a true observable certainly lies in [lower, upper].

    Cosines and masses are given as balls, which cannot show that 1 <= 1; that none exceeds 1 in size needs no ball.
    """
    if isinstance(truth, Fraction):
        return (lower == -inf or Fraction(lower) <= truth) and (upper == inf or truth <= Fraction(upper))
    return (lower <= -1 or bool(flint.arb(lower) <= truth)) and (upper >= 1 or bool(truth <= flint.arb(upper)))


def differences(head: Head, patches: Tensor, predicted: int) -> list[Any]:
    """o_predicted - o_c for every class c, as balls (call within `workprec`)."""
    seen = patches.tolist()
    activations = [pooled(head, [_ball(observable(head, z, j)) for z in seen], j) for j in range(head.size)]
    logits = [read_out(head, activations, c) for c in range(head.classes)]
    return [logits[predicted] - logit for logit in logits]


def pooled(head: Head, values: list[Any], j: int) -> Any:
    """The activation of one prototype, given its observables at all patches; all of them balls."""
    mean = sum(values, flint.arb(0)) / len(values)
    similar = [similarity(head, value, j) for value in values]
    match head.pooling:
        case FocalPooling("max_minus_mean"):
            return _greatest(similar) - sum(similar, flint.arb(0)) / len(similar)
        case FocalPooling():
            return _greatest(similar) - similarity(head, mean, j)
        case BankPooling(class_token):
            return similar[0] if j < class_token else _greatest(similar[1:])
        case TopMeanPooling(k):
            # The sum of the k greatest is the greatest sum of any k.
            sums = [sum(some, flint.arb(0)) for some in combinations(similar, min(k, len(similar)))]
            return _greatest(sums) / min(k, len(similar))
        case MaxPooling():
            return _greatest(similar)


def read_out(head: Head, activations: list[Any], c: int) -> Any:
    """The logit of one class, a ball."""
    weight = [flint.arb(w) for w in head.weight[c].tolist()]
    bias = None if head.bias is None else [flint.arb(b) for b in head.bias.tolist()]
    match head.readout:
        case Linear():
            whole = sum((w * a for w, a in zip(weight, activations, strict=True)), flint.arb(0))
            return whole if bias is None else whole + bias[c]
        case Maximum():
            added = bias or [flint.arb(0)] * head.size
            return _greatest([a + b for w, a, b in zip(weight, activations, added, strict=True) if w == 1])
        case SoftTree(absent, present):

            def below(child: int) -> Any:
                if child < 0:
                    return weight[-1 - child]
                a = activations[child]
                return (1 - a) * below(absent[child]) + a * below(present[child])

            return below(0)


def _greatest(values: list[Any]) -> Any:
    highest = values[0]
    for value in values[1:]:
        highest = highest.max(value)
    return highest


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
