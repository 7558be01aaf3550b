"""TesNet (JackeyWang96/TesNet)."""

from __future__ import annotations

from verale.adapters.layer import linear
from verale.adapters.published import SIGMOID
from verale.adapters.state import State, kernels
from verale.head import Box, Head, Identity, InnerProduct

__all__ = ["head"]

_LEAST_LENGTH = 1e-12
"""The least divisor of torch.nn.functional.normalize."""


def head(state: State, *, domain: Box = SIGMOID) -> Head:
    """a_j = max_l <z_l, p_j / |p_j|>, the latent not normalised. The prototypes are normalised here, in float64."""
    prototypes = kernels(state, "prototype_vectors").double()
    layer = linear(state, "last_layer", len(prototypes))
    normalised = prototypes / prototypes.norm(dim=1, keepdim=True).clamp(min=_LEAST_LENGTH)
    return layer.head(InnerProduct(), Identity(), normalised, domain=domain)
