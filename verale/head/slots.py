"""Slots: how ProtoPool assigns prototypes to classes, folded into the weights."""

from __future__ import annotations

import torch
from torch import Tensor

from verale.errors import HeadError
from verale.head.latents import field_tensor

__all__ = ["merge_slots"]


def merge_slots(weight: object, slots: object) -> Tensor:
    """The weights (C, P), on prototypes, of a last layer (C, K S) on slots: each the sum of its prototype's slots.

    A slot s of class k shows one prototype p and takes its activation, so sum_ks W_c,ks a_p(ks) = sum_p (sum of W_c,ks
    over the slots that show p) a_p. Prototypes that no slot shows weigh 0.

    Args:
        weight: (C, K S) float32 or float64; column k * S + s belongs to slot s of class k.
        slots: (K, P, S), 1 where the slot shows the prototype, else 0. Both are tensors or numpy arrays.

    Returns:
        (C, P) float64. The sums are rounded to nearest, in the order of the slots; they are exact for up to 512
        float32 weights that differ by less than 2^20 in size. What is proved of a head is proved of these sums.

    Raises:
        HeadError: shapes that do not fit, or a slot that does not show exactly one prototype: then it mixes distances
            before the similarity, and no weights on prototypes compute the same.
    """
    weight, slots = field_tensor("weight", weight), field_tensor("slots", slots)
    if slots.dim() != 3 or weight.dim() != 2 or weight.shape[1] != slots.shape[0] * slots.shape[2]:
        raise HeadError(
            "slots",
            f"has shape {tuple(slots.shape)} for weights {tuple(weight.shape)}, expected (K, P, S) for (C, K S)",
        )
    one_hot = ((slots == 0) | (slots == 1)).all(1) & ((slots == 1).sum(1) == 1)
    if not bool(one_hot.all()):
        of_class, slot = (~one_hot).nonzero()[0].tolist()
        raise HeadError(
            "slots",
            f"class {of_class}, slot {slot} does not show exactly one prototype, expected one 1 and else 0:"
            " the map is soft; harden it before saving it",
        )
    shown = slots.argmax(1).flatten()
    merged = torch.zeros(weight.shape[0], slots.shape[1], dtype=torch.float64, device=weight.device)
    for slot, prototype in enumerate(shown.tolist()):
        merged[:, prototype] += weight[:, slot].to(torch.float64)
    return merged
