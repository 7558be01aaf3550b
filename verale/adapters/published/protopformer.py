"""ProtoPFormer (zju-vipa/ProtoPFormer)."""

from __future__ import annotations

import torch

from verale.adapters.accounts import Saved, number
from verale.adapters.published import PROTOPNET_STATES, SIGMOID, distance_similarity
from verale.adapters.state import State, kernels, linear, side_by_side
from verale.errors import UsageError
from verale.head import BankPooling, Box, Euclidean, Head

SAVED = Saved(
    ("PPNet",),
    (
        *("features.", "add_on_layers.", "ones", "img_size", "prototype_shape", "num_prototypes", "num_classes"),
        *("reserve_layers", "reserve_token_nums", "reserve_layer_nums", "num_patches", "all_attn_mask", "scale"),
        *("use_ppc_loss", "ppc_cov_thresh", "ppc_mean_thresh", "teacher_model"),
        *("global_proto_per_class", "num_prototypes_global", "prototype_shape_global", "num_prototypes_per_class"),
        *("prototype_class_identity", "prototype_class_identity_global", "proto_layer_rf_info"),
    ),
    {"use_global": (True,)},
    stated={**PROTOPNET_STATES, "g": ("global_coe", number)},
    only="prototype_vectors_global",
)


def head(
    state: State, *, g: float = 0.5, activation: str = "log", epsilon: float = 1e-4, domain: Box = SIGMOID
) -> Head:
    """g times the logits of the global branch, on the class token, and 1 - g times those of the local one.

    Latents are (N, 1 + K, D): the class token, then the K image tokens that the network selects, all after the add-on.
    The global prototypes come first.

    Args:
        g: `global_coe`, which a checkpoint stores among its arguments.
        activation: as for ProtoPNet.
    """
    if not 0 <= g <= 1:
        raise UsageError(f"option g is {g}, expected a number from 0 to 1")
    of_token = kernels(state, "prototype_vectors_global")
    of_image = kernels(state, "prototype_vectors", D=of_token.shape[1])
    token_layer = linear(state, "last_layer_global", len(of_token))
    layer = side_by_side([token_layer.times(g), linear(state, "last_layer", len(of_image)).times(1 - g)])
    prototypes, pooling = torch.cat([of_token, of_image]), BankPooling(len(of_token))
    similarity = distance_similarity(activation, epsilon)
    return layer.head(Euclidean(), similarity, prototypes, pooling=pooling, domain=domain)
