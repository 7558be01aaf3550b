"""PIP-Net (M-Nauta/PIPNet). Its latents are the input of its softmax."""

from __future__ import annotations

import torch
from torch import nn

from verale.adapters.accounts import Saved
from verale.adapters.state import Layer, State, linear
from verale.head import Head, Identity, Softmax, Threshold

SAVED = Saved(
    ("PIPNet",),
    (
        *("_net.", "_add_on.", "_pool.", "_num_features", "_num_classes", "_num_prototypes"),
        *("_multiplier", "_classification.normalization_multiplier"),  # of the loss
        *("_classification.in_features", "_classification.out_features"),
    ),
    {"_classification": ("NonNegLinear",)},
)

_THRESHOLD = float(torch.tensor(0.1, dtype=torch.float32))
"""PIP-Net compares float32 masses with 0.1 in float32, which is this number, 0.1 + 1.5e-9."""


def head(state: State, *, threshold: float = _THRESHOLD) -> Head:
    """o = relu(W) a + b, a_j the greatest softmax mass of channel j, or 0 where that is below the threshold.

    Latents are the input of the softmax: the output of the backbone or, if there is one, of the add-on's convolution.

    Args:
        threshold: 0 for no threshold, as in training and with `inference=False`.
    """
    layer = linear(state, "_classification")
    layer = Layer(layer.weight.clamp(min=0), layer.bias)
    return layer.head(Softmax(), Threshold(threshold) if threshold else Identity())


def arguments(model: nn.Module, head: Head) -> dict[str, object]:
    """The network applies the threshold with `inference=True` alone."""
    return {"inference": isinstance(head.similarity, Threshold)}
