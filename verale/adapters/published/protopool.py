"""ProtoPool (gmum/ProtoPool), with the hard slot map."""

from __future__ import annotations

import torch

from verale.adapters.accounts import Saved
from verale.adapters.published import PROTOPNET_STATES, SIGMOID, choice
from verale.adapters.state import Layer, State, blocks, kernels, linear, numbers
from verale.certificate.words import about
from verale.errors import HeadError
from verale.head import Box, Euclidean, FocalPooling, Head, LogRatio, merge_slots

_HARD = 1 - 2.0**-20
"""A slot is hard if its prototype has so much of the softmax; float32's rounding leaves no more in doubt."""

SAVED = Saved(
    ("PrototypeChooser",),
    (
        *("features.", "add_on_layers.", "ones", "num_prototypes", "num_descriptive", "num_classes", "proto_depth"),
        *("prototype_shape", "prototype_class_identity", "arch", "pretrained", "inat", "last_layer", "use_last_layer"),
        *("use_thresh", "alfa", "beta"),  # of the activation that is not supported
    ),
    stated=PROTOPNET_STATES,
    only="proto_presence",
)


def head(
    state: State, *, presence: str = "argmax", activation: str = "log", epsilon: float = 1e-4, domain: Box = SIGMOID
) -> Head:
    """A slot's activation is S(min_l d) - S(mean_l d) of its prototype, with S = ln((d + 1) / (d + epsilon)).

    The published evaluation draws its slot map at random (Gumbel noise on the presence logits), and the softmax of the
    logits mixes distances before S. A head can express neither, so choose the map to certify:

    Args:
        presence: "argmax", each slot shows the prototype with its greatest logit (the limit of the noise as the logits
            move apart); or "stored", the map is used as it is, and must be one-hot.
        activation: "log" only.
    """
    similarity = choice("activation", activation, {"log": LogRatio(epsilon)})
    prototypes = kernels(state, "prototype_vectors")
    logits = numbers(state, "proto_presence", "C P S", P=len(prototypes))
    hard = (logits == logits.amax(1, keepdim=True)).to(logits)
    slots = choice("presence", presence, {"argmax": hard, "stored": logits})
    tied = (hard.sum(1) > 1).nonzero().tolist()
    if presence == "argmax" and tied:
        of_class, slot = tied[0]
        raise HeadError(
            "proto_presence",
            f"class {of_class}, slot {slot} has two greatest logits, expected one: its prototype is ambiguous",
        )
    classes, _, count = logits.shape
    if "last_layer.weight" in state:
        layer = linear(state, "last_layer", classes * count, C=classes)
    else:
        layer = Layer(blocks(torch.ones(classes, count)))
    merged, pooling = Layer(merge_slots(layer.weight, slots), layer.bias), FocalPooling("max_minus_mean_distance")
    return merged.head(Euclidean(), similarity, prototypes, pooling=pooling, domain=domain)


def reservation(state: State) -> str | None:
    """Where slots are soft: a network that is called without Gumbel noise mixes distances there, and no head does."""
    shares = state["proto_presence"].double().softmax(1).amax(1)
    if bool(shares.amin() >= _HARD):
        return None
    of_class, slot = divmod(int(shares.argmin()), shares.shape[1])
    return (
        f"{int((shares < _HARD).sum())} of {shares.numel()} slots are soft, the softest (class {of_class}, slot {slot})"
        f" shows its prototype with {about(float(shares.min()))}: without Gumbel noise the network mixes distances"
        " there, and the head is that of hard slots. To harden the network: hard = model.proto_presence =="
        " model.proto_presence.amax(1, keepdim=True); model.proto_presence.data = 1e4 * hard.float()"
    )
