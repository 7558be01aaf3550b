"""Readouts: from activations to one number a class, of which the greatest is the prediction."""

from __future__ import annotations

from dataclasses import dataclass

from verale.errors import HeadError

__all__ = ["Linear", "Maximum", "Readout", "SoftTree"]


@dataclass(frozen=True)
class Linear:
    """o_c = sum_j W_cj a_j + b_c with W (C, P) and b (C,)."""


@dataclass(frozen=True)
class SoftTree:
    """A soft decision tree (ProtoTree): o = (1 - a_i) o(absent child) + a_i o(present child) from node 0 down.

    Node i asks for prototype i, so o is affine in every activation. A leaf q gives column q of W, (C, P + 1).

    Attributes:
        absent, present: the children of every node: a node by its index, which is greater, or a leaf q by -1 - q. Every
            node but 0 and every leaf is the child of exactly one node.
    """

    absent: tuple[int, ...]
    present: tuple[int, ...]

    def __post_init__(self) -> None:
        count = len(self.absent)
        if not count or len(self.present) != count:
            raise HeadError(
                "readout", f"has {count} absent and {len(self.present)} present children, expected one of each a node"
            )
        for node, children in enumerate(zip(self.absent, self.present, strict=True)):
            for child in children:
                if 0 <= child <= node or child >= count or child < -1 - count:
                    raise HeadError(
                        "readout",
                        f"node {node} has child {child}, expected a later node or one of {count + 1} leaves",
                    )
        if len({*self.absent, *self.present}) != 2 * count:
            raise HeadError("readout", "has a node or a leaf with two parents, expected a tree")


@dataclass(frozen=True)
class Maximum:
    """o_c = max over the prototypes j of class c of a_j + b_j (a mixture's best component).

    W (C, P) is 1 where the prototype belongs to the class, else 0; every class has one. b is (P,).
    """


Readout = Linear | SoftTree | Maximum
