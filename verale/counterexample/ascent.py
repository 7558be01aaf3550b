"""Ascent with a penalty: where many statements bound every patch, a projection after each step would cost too much."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from verale.counterexample.demands import Demands, into_domain
from verale.head import Head

__all__ = ["ascend"]

_RATE = 0.1
"""The size of the first steps, for prototypes whose coordinates are 1 in the mean."""
_LIGHT, _HEAVY = 0.5, 1e3
"""The penalty's weight at the first and at the last step, for logits of size 1 and prototypes as above."""
_ENOUGH = 0.05
"""A lead of more than this share of the greatest logit is no better."""


def ascend(
    demands: Demands,
    images: Tensor,
    observed_of: Callable[[Head, Tensor], Tensor],
    logits_of: Callable[[Tensor], Tensor],
    lead_of: Callable[[Tensor], Tensor],
    steps: int,
) -> Tensor:
    """Images (N, L, D) with a greater lead that nearly comply: Adam's steps on the lead less a penalty.

    The penalty is the sum over all demands of the squared distance by which an observable misses its interval, and its
    weight grows from step to step. Patches that are pinned stay as they are.

    Args:
        demands: what images have to satisfy.
        images: (N, L, D) to start from.
        observed_of: observables (N, L, P) of images.
        logits_of: logits (N, C) of observables.
        lead_of: what to raise, (N,) from logits.
        steps: how many.
    """
    head = demands.head
    size = 1.0 if head.prototypes is None else float(head.prototypes.abs().mean()) + 1e-6
    lower, upper = (_length(head, end)[None] for end in (demands.lower, demands.upper))
    index = demands.index[None].expand(len(images), -1, -1)
    first, second = torch.zeros_like(images), torch.zeros_like(images)
    images = images.clone()
    for step in range(steps):
        demands.clock.check()
        with torch.enable_grad():
            images.requires_grad_()
            observed = observed_of(head, images)
            logits = logits_of(observed)
            scale = 1 + logits.detach().abs().amax(1)
            mine = _length(head, observed.gather(2, index))
            missing = ((lower - mine).clamp(min=0).square() + (mine - upper).clamp(min=0).square()).sum((1, 2))
            weight = _LIGHT * (_HEAVY / _LIGHT) ** (step / steps) / size**2
            loss = weight * missing - (lead_of(logits) / scale).clamp(max=_ENOUGH)
            slope = torch.autograd.grad(loss.sum(), images)[0].nan_to_num(0.0, 0.0, 0.0)
        images = images.detach()
        slope[:, demands.pinned] = 0
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope.square()
        move = first / (1 - 0.9 ** (step + 1)) / ((second / (1 - 0.99 ** (step + 1))).sqrt() + 1e-12)
        kept = images[:, demands.pinned]
        images = into_domain(head, images - _RATE * size * (1 - step / steps) * move)
        images[:, demands.pinned] = kept
    return images


def _length(head: Head, observed: Tensor) -> Tensor:
    """Observables on the scale of latents: distances in place of their squares."""
    return observed.clamp(min=1e-12).sqrt() if head.geometry.is_distance else observed
