"""ProtoPNet (cfchen-duke/ProtoPNet)."""

from __future__ import annotations

from verale.adapters.accounts import Saved
from verale.adapters.published import PROTOPNET_STATES, SIGMOID, distance_similarity
from verale.adapters.state import State, kernels, linear
from verale.head import Box, Euclidean, Head

SAVED = Saved(
    ("PPNet",),
    (
        *("features.", "add_on_layers.", "ones", "img_size", "prototype_shape", "num_prototypes", "num_classes"),
        *("prototype_class_identity", "proto_layer_rf_info", "prototype_distance_function", "genetics_mode"),
    ),
    {"fix_prototypes": (False,)},
    stated=PROTOPNET_STATES,
)


def head(state: State, *, activation: str = "log", epsilon: float = 1e-4, domain: Box = SIGMOID) -> Head:
    """a_j = S(min_l d) with d = |z_l - p_j|^2.

    Args:
        activation: S, "log" ln((d + 1) / (d + epsilon)) or "linear" -d.
    """
    prototypes = kernels(state, "prototype_vectors")
    layer = linear(state, "last_layer", len(prototypes))
    return layer.head(Euclidean(), distance_similarity(activation, epsilon), prototypes, domain=domain)
