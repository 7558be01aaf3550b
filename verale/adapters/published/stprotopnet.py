"""ST-ProtoPNet (cwangrun/ST-ProtoPNet): trivial and support prototypes, with an add-on and a last layer for each.

The code has two networks with the same tensors: that of whole images takes rectified cosines, that of cropped ones
inner products. Latents are both add-ons' outputs side by side, which no layer of the network gives: `joined` adds one.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from verale.adapters.accounts import Saved
from verale.adapters.published import ANYWHERE, choice
from verale.adapters.state import State, kernels, linear, side_by_side
from verale.errors import HeadError, UsageError, with_article
from verale.head import Box, Geometry, Head, Identity, InnerProduct, Rectified, Similarity

SAVED = Saved(
    ("STProtoPNet",),
    (
        *("features.", "add_on_layers_trivial.", "add_on_layers_support.", "ones", "img_size", "prototype_shape"),
        *("num_prototypes", "num_classes", "num_prototypes_per_class", "prototype_class_identity"),
        *("proto_layer_rf_info", "epsilon", "prototype_activation_function"),
    ),
    tried=({"similarity": "cosine"}, {"similarity": "product"}),
)

_HALVES = ("trivial", "support")

_OF_ADD_ONS = {"add_on_layers_trivial.0.weight": "product", "add_on_layers_trivial.1.weight": "cosine"}
"""Tensors of the add-ons and the similarity that follows them: that of whole images begins with an upsampling."""

_LEAST_LENGTH = 1e-12
"""The least divisor of torch.nn.functional.normalize."""


def head(state: State, *, similarity: str | None = None, domain: Box | None = None) -> Head:
    """o = W a of the trivial half and W a of the support half, added, with a_j = max_l S(<u_l, q_j>).

    u is (u of the trivial add-on, u of the support add-on). q has a normalised prototype in the place of its half, and
    zeros in the other.

    Args:
        similarity: "cosine", u = z / |z| in each half and S rectifies; or "product", u = z and S changes nothing. By
            default what the add-ons' tensors say.
        domain: of u; by default unbounded for "cosine", where |u| is the root of 2 (each half is a float32 vector of D
            numbers, whose length is at most 1 + (D + 16) 2^-24), and -1:1 for "product", after tanh.
    """
    banks = [kernels(state, f"prototype_vectors_{half}").double() for half in _HALVES]
    depth = banks[0].shape[1]
    if banks[1].shape[1] != depth:
        raise HeadError("prototype_vectors_support", f"has {banks[1].shape[1]} channels, the trivial ones {depth}")
    layers = [linear(state, f"last_layer_{half}", len(bank)) for half, bank in zip(_HALVES, banks, strict=True)]
    units = [bank / bank.norm(dim=1, keepdim=True).clamp(min=_LEAST_LENGTH) for bank in banks]
    similarity = similarity or next((of for key, of in _OF_ADD_ONS.items() if key in state), None)
    if similarity is None:
        raise UsageError("option similarity is missing, expected cosine (of whole images) or product (of cropped ones)")
    parts: dict[str, tuple[Geometry, Similarity, Box]] = {
        "cosine": (InnerProduct(math.sqrt(2) * (1 + (depth + 16) * 2.0**-24)), Rectified(), ANYWHERE),
        "product": (InnerProduct(), Identity(), Box(-1, 1)),
    }
    geometry, rectified, usual = choice("similarity", similarity, parts)
    prototypes: Tensor = torch.block_diag(*units)  # type: ignore[no-untyped-call]
    return side_by_side(layers).head(geometry, rectified, prototypes, domain=domain or usual)


class _Halves(nn.Module):
    """The outputs of both add-ons as channels of one map, each normalised before where its length does not count."""

    def __init__(self, normalised: bool) -> None:
        super().__init__()
        self.normalised = normalised

    def forward(self, *halves: Tensor) -> Tensor:
        """(N, 2 D, H, W)."""
        return torch.cat([functional.normalize(half, dim=1) if self.normalised else half for half in halves], dim=1)


class _Joined(nn.Module):
    """An ST-ProtoPNet with a layer `halves` whose output its head receives, and its evaluation's logits as output."""

    def __init__(self, network: Any, normalised: bool) -> None:
        super().__init__()
        self.module, self.halves = network, _Halves(normalised)

    def forward(self, images: Tensor) -> Tensor:
        """(N, C): the network's own logits, of both halves, added up."""
        features = self.module.features(images)
        self.halves(self.module.add_on_layers_trivial(features), self.module.add_on_layers_support(features))
        (trivial, support), *_ = self.module(images)
        return trivial + support  # type: ignore[no-any-return]


def joined(network: nn.Module) -> nn.Module:
    """The network as `verale.explain_model(joined(network), "halves", ...)` and `verale.check` take it.

    Its tensors are those of the network. Latents are computed beside the network's own logits, from its backbone and
    its add-ons. Raises UsageError for another network.
    """
    children = dict(network.named_children()) if isinstance(network, nn.Module) else {}
    missing = [name for name in ("features", *(f"add_on_layers_{half}" for half in _HALVES)) if name not in children]
    if missing:
        kind = with_article(type(network).__name__)
        raise UsageError(f"network is {kind} without {', '.join(missing)}, expected an ST-ProtoPNet")
    return _Joined(network, "add_on_layers_trivial.0.weight" not in network.state_dict())


def arguments(model: nn.Module, head: Head) -> dict[str, object]:
    """Nothing. Raises UsageError for a network of which no layer gives the head's latents."""
    if "add_on_layers_trivial" in dict(model.named_children()):
        raise UsageError(
            f"model is {with_article(type(model).__name__)}, of which no layer gives the latents of both halves,"
            " expected verale.adapters.published.stprotopnet.joined(model), with layer 'halves'"
        )
    return {}
