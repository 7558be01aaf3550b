"""Deformable ProtoPNet (jdonnelly36/Deformable-ProtoPNet). Its latents are what the taps read (`taps`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from verale.adapters.accounts import Saved
from verale.adapters.state import State, linear, numbers, unwrap
from verale.errors import LatentsError
from verale.head import Box, Head, InnerProduct, Rectified

SAVED = Saved(
    ("PPNet",),
    (
        *("features.", "add_on_layers.", "conv_offset.", "ones", "img_size", "prototype_shape", "num_prototypes"),
        *("num_classes", "num_prototypes_per_class", "prototype_class_identity", "proto_layer_rf_info", "m"),
        *("incorrect_class_connection", "prototype_dilation", "prototype_padding"),
        *("deformable_conv_out_channels", "deformable_conv_hidden_channels"),
    ),
    {
        "using_deform": (True,),
        "relu_on_cos": (True,),
        "input_vector_length": (64,),
        "n_eps_channels": (2,),
        "epsilon_val": (1e-4,),
        "topk_k": (1,),
    },
    only="conv_offset.0.weight",
)

_LENGTH = 64
"""The length to which a latent is normalised."""

_EPSILON = 1e-4


def head(state: State) -> Head:
    """a_j = max_l max(0, <u_l, q_j> / (64 * 1.01)).

    The latent u of an output location stacks what its T taps (4 of a 2 x 2 prototype) read from the features x >= 0:
    two channels of epsilon = 1e-4 are appended, 64 x / sqrt(|x|^2 + epsilon) / sqrt(T) is interpolated as the root of
    the mean of squares, and channel d of tap t comes at d T + t, of (D + 2) T; `taps` computes it. Prototypes are
    normalised the same way, here in float64: per tap q = p / (sqrt(|p|^2 + epsilon) + epsilon) / sqrt(T).

    Domain: u >= 0, and each tap is shorter than 64 / sqrt(T), since the weights of an interpolation sum to at most 1;
    so |u| < 64. Latents computed in float32 may exceed that: a sum of D + 2 squares has a relative error of at most
    (D + 2) 2^-24 to first order, of which half reaches the length, and the other operations (roots, quotients,
    products, weights, sums of four) add less than 14 2^-24. So the radius is 64 (1 + (D + 16) 2^-24).
    """
    kernels = _extended(numbers(state, "prototype_vectors", "P D H W").double())
    count, channels, height, width = kernels.shape
    length = (kernels.square().sum(1, keepdim=True) + _EPSILON).sqrt() + _EPSILON
    layer = linear(state, "last_layer", count).after(1 / (_LENGTH * 1.01))
    geometry = InnerProduct(radius=_LENGTH * (1 + (channels + 14) * 2.0**-24))
    prototypes = (kernels / length / math.sqrt(height * width)).flatten(1)
    return layer.head(geometry, Rectified(), prototypes, domain=Box(0, None))


def taps(state: Mapping[str, Any], features: Tensor, dilation: int = 2) -> Tensor:
    """The latents of `head`: what the taps read at offsets that the network predicts from the features.

    Args:
        state: the state dictionary, with `conv_offset`.
        features: (N, D, H, W) >= 0, float32 or float64: the output of `add_on_layers`.
        dilation: `prototype_dilation`.

    Returns:
        (N, L, (D + 2) T) of the same dtype, for the L output locations. The order of operations differs from the
        network's own CUDA code, so the latents are equal up to rounding.

    Raises:
        HeadError: a key is missing or has another shape.
        LatentsError: features with another shape, or negative ones.
    """
    state = unwrap(state)
    _, depth, rows, columns = numbers(state, "prototype_vectors", "P D H W").shape
    if features.dim() != 4 or features.shape[1] != depth or min(features.shape[2:]) < 2:
        raise LatentsError(f"features have shape {tuple(features.shape)}, expected (N, {depth}, H, W), H and W > 1")
    if not bool((features >= 0).all()):
        raise LatentsError(
            "features are negative or NaN somewhere, expected features after a ReLU: the output of add_on_layers"
        )
    extended = _extended(features)
    normed = _LENGTH * extended / (extended.square().sum(1, keepdim=True) + _EPSILON).sqrt() / math.sqrt(rows * columns)
    offsets = normed
    for index in (0, 2) if "conv_offset.2.weight" in state else (0,):
        key, bias = f"conv_offset.{index}", None
        kernel = numbers(state, f"{key}.weight", "O I H W", I=offsets.shape[1]).to(features)
        if f"{key}.bias" in state:
            bias = numbers(state, f"{key}.bias", "O", O=len(kernel)).to(features)
        offsets = functional.conv2d(offsets.relu() if index else offsets, kernel, bias, padding=1)
    height, width = features.shape[2:]
    out = (height + 2 - dilation * (rows - 1), width + 2 - dilation * (columns - 1))
    if offsets.shape[1:] != (2 * rows * columns, *out):
        raise LatentsError(f"offsets have shape {tuple(offsets.shape)}, expected {(2 * rows * columns, *out)} an image")
    down, right = (torch.arange(-1, size - 1).to(features) for size in out)
    read = []
    for tap in range(rows * columns):
        y = down[:, None] + dilation * (tap // columns) + offsets[:, 2 * tap]
        x = right + dilation * (tap % columns) + offsets[:, 2 * tap + 1]
        points = torch.stack([2 * x / (width - 1) - 1, 2 * y / (height - 1) - 1], dim=-1)
        read.append(functional.grid_sample(normed.square(), points, align_corners=True).clamp(min=0).sqrt())
    return torch.stack(read, dim=2).flatten(1, 2).flatten(2).transpose(1, 2)


def _extended(maps: Tensor) -> Tensor:
    """The maps with two more channels of epsilon at the end."""
    return functional.pad(maps, (0, 0, 0, 0, 0, 2), value=_EPSILON)
