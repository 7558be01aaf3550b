"""Readouts: from activations to one number a class, of which the greatest is the prediction; and how the slots by which
ProtoPool assigns prototypes to classes are folded into the weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from verale.errors import HeadError
from verale.head.fields import Kind
from verale.head.latents import field_tensor


class Readout(ABC):
    """What all readouts answer; each one is a frozen dataclass with an entry in `READOUTS`.

    Attributes:
        kind: its name in head files.
    """

    kind: ClassVar[str]

    @abstractmethod
    def read_out(self, activations: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Logits (N, C) of activations (N, P) in float64, rounded to nearest; weight and bias in their dtype."""

    def pull(self, activations: Tensor, weight: Tensor, rival: int, predicted: int) -> Tensor:
        """(P,) about how much o_rival - o_predicted grows with each activation, at activations (P,); an estimate."""
        return weight[rival] - weight[predicted]


@dataclass(frozen=True)
class Linear(Readout):
    """o_c = sum_j W_cj a_j + b_c with W (C, P) and b (C,)."""

    kind = "linear"

    def read_out(self, activations: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return activations @ weight.T + (0.0 if bias is None else bias)


@dataclass(frozen=True)
class SoftTree(Readout):
    """A soft decision tree (ProtoTree): o = (1 - a_i) o(absent child) + a_i o(present child) from node 0 down.

    Node i reads activation i alone, so o is affine in every activation. A leaf q gives column q of W, (C, P + 1).

    Attributes:
        absent, present: the children of every node: a node by its index, which is greater, or a leaf q by -1 - q. Every
            node but 0 and every leaf is the child of exactly one node.
    """

    absent: tuple[int, ...]
    present: tuple[int, ...]

    kind = "soft_tree"

    def read_out(self, activations: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        below: dict[int, Tensor] = {-1 - leaf: column for leaf, column in enumerate(weight.T)}
        for node in reversed(range(len(self.absent))):  # children come later
            known = activations[:, node, None]
            below[node] = (1 - known) * below.pop(self.absent[node]) + known * below.pop(self.present[node])
        return below[0]

    def pull(self, activations: Tensor, weight: Tensor, rival: int, predicted: int) -> Tensor:
        with torch.enable_grad():
            inputs = activations.clone().requires_grad_()
            logits = self.read_out(inputs[None], weight, None)[0]
            return torch.autograd.grad(logits[rival] - logits[predicted], inputs)[0]


@dataclass(frozen=True)
class Maximum(Readout):
    """o_c = max over the prototypes j of class c of a_j + b_j (a mixture's best component).

    W (C, P) is 1 where the prototype belongs to the class, else 0; every class has one. b is (P,).
    """

    kind = "maximum"

    def read_out(self, activations: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        scores = activations + (0.0 if bias is None else bias)
        return torch.where(weight > 0, scores[:, None], -torch.inf).amax(dim=2)


READOUTS: dict[str, Kind[Readout]] = {each.kind: Kind(each) for each in (Linear, SoftTree, Maximum)}
"""The readouts of head files, by their kind."""


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
