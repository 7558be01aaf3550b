"""Deformable ProtoPNet (jdonnelly36/Deformable-ProtoPNet), from where its taps have been gathered."""

from __future__ import annotations

import math

import torch

from verale.adapters.layer import linear
from verale.adapters.state import State, numbers
from verale.head import Box, Head, InnerProduct, Rectified

__all__ = ["head"]


def head(state: State, *, epsilon: float = 1e-4) -> Head:
    """a_j = max_l max(0, <u_l, q_j> / (64 * 1.01)).

    The latent u of an output location stacks what its T taps (4 of a 2 x 2 prototype) read from the features x >= 0:
    two channels of epsilon are appended, 64 x / sqrt(|x|^2 + epsilon) / sqrt(T) is interpolated as the root of the mean
    of squares, and channel d of tap t comes at d T + t, of (D + 2) T. Prototypes are normalised alike, here and in
    float64: per tap q = p / (sqrt(|p|^2 + epsilon) + epsilon) / sqrt(T).

    Domain: u >= 0, and each tap is shorter than 64 / sqrt(T), since the weights of an interpolation sum to at most 1;
    so |u| < 64. Latents computed in float32 may exceed that: a sum of D + 2 squares has a relative error of at most
    (D + 2) 2^-24 to first order, of which half reaches the length, and the other operations (roots, quotients,
    products, weights, sums of four) add less than 14 2^-24. So the radius is 64 (1 + (D + 16) 2^-24).
    """
    taps = numbers(state, "prototype_vectors", "P D H W").double()
    count, depth, height, width = taps.shape
    taps = torch.cat([taps, taps.new_full((count, 2, height, width), epsilon)], dim=1)
    length = (taps.square().sum(1, keepdim=True) + epsilon).sqrt() + epsilon
    layer = linear(state, "last_layer", count).after(1 / (64 * 1.01))
    return Head(
        weight=layer.weight,
        bias=layer.bias,
        geometry=InnerProduct(radius=64 * (1 + (depth + 16) * 2.0**-24)),
        similarity=Rectified(),
        prototypes=(taps / length / math.sqrt(height * width)).flatten(1),
        domain=Box(0, None),
    )
