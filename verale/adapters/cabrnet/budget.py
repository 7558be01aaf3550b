"""How far a framework's float32 logits may lie from the head's exact ones; beyond that, it computes another function.

An a-priori bound of the rounding, for sums in any order. With u = 2^-24, |fl(sum of n products) - sum| is at most
n u / (1 - n u) times the sum of the products' sizes. So, each with some terms to spare,

- a squared distance, expanded as |z|^2 - 2 <z, p> + |p|^2 or not, is off by at most (D + 16) u (|z| + |p|)^2, and by
  another 8 u of itself for a root and a square, (8 + |ln scale|) u for its scale;
- a cosine by (2 D + 16) u; a softmax mass by 2 (D + 8 + r) u of itself, r the spread of its patch's latents, and by
  2^-120 where it underflows;
- similarities are monotone, so they lie between those at the ends; a mean of L numbers is off by another L u of itself;
  16 u and 8 u of themselves more for logarithms, roots, exponentials;
- a class is the sum of n terms: n + 16 u of the sum of their sizes, plus the error of each activation times the sizes
  of its weights.

The spare terms and a doubled u cover second-order terms: the bound distinguishes rounding from another function, and
proves nothing. It is wide where a distance cancels: near d2 = 0 the log-ratio has slope 1 / epsilon.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from verale.adapters.cabrnet.heads import Rebuilt
from verale.head import Cosine, Evaluation, FocalPooling, Head, Softmax
from verale.head.evaluation import similarity

__all__ = ["budget"]

_U = 2.0**-23


def budget(rebuilt: Rebuilt, patches: Tensor, evaluated: Evaluation) -> Tensor:
    """The largest rounding error of float32 logits.

    Args:
        rebuilt: a head and the sizes of the terms that it sums.
        patches: (N, L, D) float64, exactly the framework's float32 latents.
        evaluated: what the head computes from them.

    Returns:
        (N, C) float64.
    """
    head, observed = rebuilt.head, evaluated.observables
    slack = _observed(head, patches, observed)
    off = _similar(head, observed, slack).amax(1)
    if isinstance(head.pooling, FocalPooling):
        mean = observed.mean(1)
        off = off + _similar(head, mean, slack.amax(1) + observed.shape[1] * _U * mean)
    sizes = evaluated.activations.abs() + off
    if isinstance(head.pooling, FocalPooling):
        sizes = sizes + 2 * similarity(head, observed.mean(1)).abs()
    rounding = (rebuilt.terms + 16) * _U
    allowed: Tensor = off @ rebuilt.weight.T + rounding * (sizes @ rebuilt.weight.T + rebuilt.offset)
    return allowed


def _observed(head: Head, patches: Tensor, observed: Tensor) -> Tensor:
    """(N, L, P): how far observables may be off."""
    if isinstance(head.geometry, Softmax):
        spread = patches.amax(-1) - patches.amin(-1)
        return 2 * (head.depth + 8 + spread[..., None]) * _U * observed + 2.0**-120
    if isinstance(head.geometry, Cosine):
        return torch.full_like(observed, (2 * head.depth + 16) * _U)
    prototypes = cast(Tensor, head.prototypes)
    lengths = patches.norm(dim=-1)[..., None] + prototypes.to(patches).norm(dim=-1)
    scaling = 8.0 if head.scale is None else 16 + head.scale.to(patches).log().abs()
    apart: Tensor = (head.depth + 16) * _U * lengths.square() + scaling * _U * observed
    return apart


def _similar(head: Head, observed: Tensor, slack: Tensor) -> Tensor:
    """How far similarities may be off where observables are, by at most `slack`."""
    low = observed - slack if isinstance(head.geometry, Cosine) else (observed - slack).clamp(min=0)
    here = similarity(head, observed)
    ends = torch.stack([similarity(head, end) for end in (low, observed + slack)])
    off: Tensor = (ends - here).abs().amax(0) + 16 * _U + 8 * _U * here.abs()
    return off
