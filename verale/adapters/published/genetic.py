"""ProtoPNet for DNA, each prototype fixed to one position (PPNet with `genetics_mode` and `fix_prototypes`)."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from verale.adapters.accounts import Saved, number
from verale.adapters.published import ANYWHERE
from verale.adapters.state import State, kernels, linear
from verale.errors import HeadError, UsageError
from verale.head import Box, Cosine, Head, Identity, MaskedMaxPooling


def _positions(value: object) -> int | None:
    """The first of the numbers of a receptive field: how many patches there are."""
    if isinstance(value, Tensor | np.ndarray):
        value = value.flatten().tolist()
    first = number(value[0]) if isinstance(value, list | tuple) and value else None
    return int(first) if first is not None and 1 <= first == first // 1 else None


SAVED = Saved(
    ("PPNet",),
    (
        *("features.", "ones", "img_size", "prototype_shape", "num_prototypes", "num_classes", "epsilon"),
        *("prototype_class_identity", "proto_layer_rf_info", "prototype_activation_function"),
        *("prototype_distance_function", "fix_prototypes", "genetics_mode"),
    ),
    stated={"patches": ("proto_layer_rf_info", _positions)},
)


def head(state: State, *, patches: int | None = None, domain: Box = ANYWHERE) -> Head:
    """a_j = cos(z_l, p_j) at the one patch l = j mod K: prototype k of the K of a class is compared at position k.

    Args:
        patches: L, the positions of the latent sequence; at least K. A whole model states it, as the first number of
            its `proto_layer_rf_info`.
    """
    prototypes = kernels(state, "prototype_vectors")
    layer = linear(state, "last_layer", len(prototypes))
    each, rest = divmod(len(prototypes), len(layer.weight))
    if rest:
        raise HeadError(
            "prototype_vectors",
            f"has {len(prototypes)} prototypes of {len(layer.weight)} classes, expected as many of each: a pruned"
            " network does not say which positions are left",
        )
    if patches is None:
        raise UsageError("option patches is missing, expected the positions of the latent sequence, such as patches=40")
    if patches < each:
        raise UsageError(f"option patches is {patches}, expected at least {each}, as many as prototypes of a class")
    pooling = MaskedMaxPooling.at([j % each for j in range(len(prototypes))], patches)
    return layer.head(Cosine(), Identity(), prototypes, domain=domain, pooling=pooling)
