"""TesNet (JackeyWang96/TesNet)."""

from __future__ import annotations

from verale.adapters.accounts import Saved
from verale.adapters.published import SIGMOID
from verale.adapters.state import State, kernels, linear
from verale.head import Box, Head, Identity, InnerProduct

SAVED = Saved(
    ("TESNet",),
    (
        *("features.", "add_on_layers.", "ones", "img_size", "prototype_shape", "num_prototypes", "num_classes"),
        *("prototype_class_identity", "proto_layer_rf_info", "num_prototypes_per_class"),
        *("epsilon", "prototype_activation_function"),  # of a function that its logits do not call
    ),
)

_LEAST_LENGTH = 1e-12
"""The least divisor of torch.nn.functional.normalize."""


def head(state: State, *, domain: Box = SIGMOID) -> Head:
    """a_j = max_l <z_l, p_j / |p_j|>, the latent not normalised. The prototypes are normalised here, in float64."""
    prototypes = kernels(state, "prototype_vectors").double()
    layer = linear(state, "last_layer", len(prototypes))
    normalised = prototypes / prototypes.norm(dim=1, keepdim=True).clamp(min=_LEAST_LENGTH)
    return layer.head(InnerProduct(), Identity(), normalised, domain=domain)
