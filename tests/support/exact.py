"""Exact values for tests: the independent reading of certificates/v1.md, asked about heads and tensors of verale.

Call what returns balls within `flint.ctx.workprec(PRECISION)`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import flint
import torch
from torch import Tensor

from verale.certificate import Certificate
from verale.head import Head, Softmax
from verale.soundness.independent.arithmetic import PRECISION, balls
from verale.soundness.independent.arithmetic import certainly_within as inside
from verale.soundness.independent.head import Head as IndependentHead

__all__ = ["PRECISION", "differences", "independent", "inside", "observable", "pooled", "redrawn_alike"]


@cache
def independent(head: Head) -> IndependentHead:
    """The independent reading of a head's file."""
    return IndependentHead.of(head)


def observable(head: Head, z: list[float], j: int) -> Any:
    """m(z, p_j): a Fraction (euclidean, inner product) or a ball."""
    return independent(head).observable(z, j)


def pooled(head: Head, observables: list[Any], j: int) -> Any:
    """The activation of one prototype, a ball, given its observables at all patches."""
    return independent(head).pooled(observables, j)


def differences(head: Head, patches: Tensor, predicted: int) -> list[Any]:
    """o_predicted - o_c for every class c, as balls."""
    exact, image = independent(head), balls(patches.tolist())  # of balls alone, which is faster than rationals
    logits = exact.logits([exact.activation(image, j) for j in range(exact.count)])
    return [logits[predicted] - logit for logit in logits]


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
