"""PIP-Net (M-Nauta/PIPNet), from the input of its softmax."""

from __future__ import annotations

import torch

from verale.adapters.layer import linear
from verale.adapters.state import State
from verale.head import Head, Identity, Softmax, Threshold

__all__ = ["head"]

_THRESHOLD = float(torch.tensor(0.1, dtype=torch.float32))
"""PIP-Net compares float32 masses with 0.1 in float32, that is with this number, 0.1 + 1.5e-9."""


def head(state: State, *, threshold: float = _THRESHOLD) -> Head:
    """o = relu(W) a + b, a_j the greatest softmax mass of channel j, or 0 where that is below the threshold.

    Latents are what the softmax receives: the backbone's output, or that of the add-on's convolution if it has one.

    Args:
        threshold: 0 for none, as in training and with `inference=False`.
    """
    layer = linear(state, "_classification")
    return Head(
        weight=layer.weight.clamp(min=0),
        bias=layer.bias,
        geometry=Softmax(),
        similarity=Threshold(threshold) if threshold else Identity(),
    )
