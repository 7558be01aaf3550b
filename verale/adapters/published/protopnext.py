"""ProtoPNeXt (lmoffett/protopnext) with prototypes of one patch, and its support-trivial variant."""

from __future__ import annotations

import torch

from verale.adapters.accounts import Saved
from verale.adapters.pickled import Record
from verale.adapters.published import ANYWHERE, SIGMOID, choice
from verale.adapters.state import State, kernels, linear, side_by_side
from verale.head import (
    Box,
    Cosine,
    Euclidean,
    ExpDistance,
    Geometry,
    Head,
    LogRatio,
    MaxPooling,
    Rectified,
    Similarity,
    TopMeanPooling,
)

_STATE = ("backbone.", "add_on_layers.", "prototype_layer.latent_channels", "prototype_layer.prototype_dimension")


def _activation(value: object) -> str | None:
    """The activation of ProtoPNeXt's prototype layer, which its state names by class."""
    known = {"L2Activation": "l2", "ExpL2Activation": "exp_l2", "CosPrototypeActivation": "cosine"}
    return known.get(value.name.rpartition(".")[2]) if isinstance(value, Record) else None


SAVED = Saved(
    beside=(
        *(f"{part}{name}" for part in ("", "_models.0.", "_models.1.") for name in _STATE),
        *("has_projected", "project_backbone_hash"),
    ),
    stated={"activation": ("prototype_layer.activation_function", _activation)},
)


def head(
    state: State, *, activation: str | None = None, k: int = 1, epsilon: float = 1e-4, domain: Box | None = None
) -> Head:
    """a_j = mean of the k greatest S over the patches; two sub-models on one latent map have their logits added.

    Args:
        activation: S, "l2" ln((d + 1) / (d + epsilon)) of the squared distance d, "exp_l2" exp(-sqrt(d + 1e-14)), or
            "cosine" max(0, <z, p> / (sqrt(|z|^2 + epsilon) (sqrt(|p|^2 + epsilon) + epsilon) 1.01)). By default as in
            the published scripts: "l2", and "cosine" for the support-trivial variant.
        k: `k_for_topk`.
        domain: by default a sigmoid's; unbounded for the support-trivial variant, whose add-on ends in a convolution.
    """
    parts = sorted({".".join(key.split(".")[:2]) + "." for key in state if key.startswith("_models.")}) or [""]
    banks = [kernels(state, f"{parts[0]}prototype_layer.prototype_tensors")]
    for part in parts[1:]:
        banks.append(kernels(state, f"{part}prototype_layer.prototype_tensors", D=banks[0].shape[1]))
    readout = "prototype_prediction_head.class_connection_layer"
    layer = side_by_side(
        [linear(state, f"{part}{readout}", len(bank)) for part, bank in zip(parts, banks, strict=True)]
    )
    prototypes = torch.cat(banks)
    activations: dict[str, tuple[Geometry, Similarity]] = {
        "l2": (Euclidean(), LogRatio(epsilon)),
        "exp_l2": (Euclidean(), ExpDistance()),
        "cosine": (Cosine(epsilon, rooted=True), Rectified()),
    }
    paired = parts != [""]
    geometry, similarity = choice("activation", activation or ("cosine" if paired else "l2"), activations)
    if isinstance(geometry, Cosine):
        length = prototypes.double().norm(dim=1)
        layer = layer.after(length / (((length.square() + epsilon).sqrt() + epsilon) * 1.01))
    pooling = MaxPooling() if k == 1 else TopMeanPooling(k)
    domain = domain or (ANYWHERE if paired else SIGMOID)
    return layer.head(geometry, similarity, prototypes, pooling=pooling, domain=domain)
