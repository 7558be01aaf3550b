"""MGProto (cwangrun/MGProto), before the logarithm of its output, which decides the same."""

from __future__ import annotations

from typing import Any

from torch import nn

from verale.adapters.accounts import Saved
from verale.adapters.published import ANYWHERE
from verale.adapters.published.gmm import gaussians
from verale.adapters.state import State, linear, positive
from verale.errors import HeadError
from verale.head import Box, Cosine, Exponential, Head

_LOGITS = 2
"""The dimensions of logits, (N, C)."""

SAVED = Saved(
    ("MGProto",),
    (
        *("features.", "add_on_layers.", "gap.", "embedding.", "queue.", "iteration_counter", "ones", "img_size"),
        *("prototype_shape", "num_prototypes", "num_classes", "num_prototypes_per_class", "prototype_class_identity"),
        *("proto_layer_rf_info", "epsilon", "prototype_activation_function", "init_sigma", "mine_T", "capacity_pc"),
        *("memory_updated_cls", "prototype_optimizer", "update_interval", "num_em_loop", "alpha", "tau"),
        *("last_layer.in_features", "last_layer.out_features", "last_layer.prototype_class_identity"),
    ),
    {"last_layer": ("NonNegLinear",)},
)


def head(state: State, *, domain: Box = ANYWHERE) -> Head:
    """o_c = sum_k pi_ck max_l N(u_l; mu_ck, sigma_ck) with u_l = z_l / |z_l|; latents are those before that.

    On the sphere |u - mu|^2 = (1 - |mu|)^2 + 2 |mu| (1 - cos), so each density is exp(-(|mu| / sigma^2) (1 - cos))
    times a constant, which goes into the weights.
    """
    means, sigma, constant = gaussians(state, "prototype_means", "prototype_covs")
    layer = linear(state, "last_layer", len(means))
    if bool((layer.weight < 0).any()):
        raise HeadError("last_layer.weight", "holds negative numbers, expected mixture weights: their log is undefined")
    length = means.double().norm(dim=1)
    factor = (constant - (1 - length).square() / (2 * sigma.square())).exp()
    layer = layer.after(positive("prototype_covs", factor, "deviations whose densities float64 can hold"))
    return layer.head(Cosine(), Exponential(), means, scale=length / sigma.square(), domain=domain)


def arguments(model: nn.Module, head: Head) -> dict[str, object]:
    """The true classes are for training."""
    return {"gt": None}


def logits(output: Any) -> Any:
    """The logarithm of o: the greatest densities come first among those of the network's several best patches."""
    first = output[0]
    return first[..., 0] if first.dim() > _LOGITS else first
