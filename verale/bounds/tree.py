"""Margins of a soft decision tree (ProtoTree): exact over a box of activations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from verale.bounds.margin import taken
from verale.head import Head, SoftTree
from verale.rounding import UNIT, Enclosure, down, up

__all__ = ["TreeMargins"]

_CHUNK_BYTES = 64 * 2**20


@dataclass(frozen=True)
class _Level:
    """Nodes whose children lie on earlier levels; children are indices into (nodes, leaves)."""

    nodes: Tensor
    absent: Tensor
    present: Tensor


@dataclass(frozen=True, eq=False)
class TreeMargins:
    r"""Of a soft tree: the least difference of o_pred and o_c over a box of activations, from the leaves up.

    Every leaf q has the difference D_q = W_pred,q - W_c,q, and a node with activation s in [lo, hi] has at least

        v = min over s in {lo, hi} of (1 - s) v_absent + s v_present.

    Soundness: 0 <= s <= 1, so lower bounds of the children give a lower bound of the node, which is affine in s and so
    least at an end. The bound is attained: no two nodes share an activation, so each takes its own end. Rounding: the
    computed v + s (w - v), with |v|, |w| <= M, is off by at most 8 u M; that much is taken off at every node.

    Attributes:
        predicted: (N,).
        rivals: (N, K).
        leaves: (N, K, P + 1) the differences D.
        size: (N, K) M, an upper bound of all |v|.
        error: (N, K) how much rounding may lower a bound.
        levels: the nodes, bottom up.
    """

    predicted: Tensor
    rivals: Tensor
    leaves: Tensor
    size: Tensor
    error: Tensor
    levels: tuple[_Level, ...]

    @classmethod
    def of(cls, head: Head, predicted: Tensor, patches: int) -> TreeMargins:
        """Prepare the differences of leaves for N predicted classes (N,), all classes as rivals, of a head whose
        readout is a soft tree."""
        tree = cast(SoftTree, head.readout)
        weight = head.weight.to(torch.float64)
        leaves = down(weight[predicted][:, None] - weight)
        levels = _levels(tree)
        size = up(leaves.abs().amax(2) * (1 + 32 * len(levels) * UNIT))
        return cls(
            predicted=predicted,
            rivals=torch.arange(head.classes).expand(len(predicted), -1),
            leaves=leaves,
            size=size,
            error=(16 * len(levels) + 2) * UNIT * size,
            levels=levels,
        )

    @property
    def sensitivity(self) -> Tensor:
        """(N, K): one activation a level changes what a path carries."""
        return 2 * len(self.levels) * self.size

    def take(self, images: Tensor | slice) -> TreeMargins:
        """The margins of some images."""
        return TreeMargins(**taken(self, images))

    def lower(self, box: Enclosure) -> Tensor:
        """Lower bounds (N, B, K); B may be 0."""
        images, candidates, _ = box.shape
        step = max(1, _CHUNK_BYTES // (16 * max(1, images) * self.leaves[:1].numel()))
        bounds = [
            self._values(box[:, start : start + step], self.leaves)[..., 0]
            for start in range(0, max(1, candidates), step)
        ]
        same = self.rivals == self.predicted[:, None]
        return torch.cat(bounds, 1).masked_fill_(same[:, None], math.inf)

    def _values(self, box: Enclosure, leaves: Tensor) -> Tensor:
        """(N, B, K, 2 P + 1) lower bounds of all nodes and leaves; (N, B, P) boxes, (N, K, P + 1) leaves."""
        images, candidates, count = box.shape
        values = leaves.new_empty((images, candidates, leaves.shape[1], 2 * count + 1))
        values[..., count:] = leaves[:, None]
        slack = up(8 * UNIT * self.size)[:, None, :, None]
        for level in self.levels:
            absent, present = values[..., level.absent], values[..., level.present]
            more = present - absent
            least, most = (end[:, :, None, level.nodes].clamp(0, 1) * more for end in (box.lower, box.upper))
            values[..., level.nodes] = down(absent + torch.minimum(least, most) - slack)
        return values


def _levels(tree: SoftTree) -> tuple[_Level, ...]:
    count = len(tree.absent)
    heights = [0] * count

    def height(child: int) -> int:
        return heights[child] if child >= 0 else 0

    for node in reversed(range(count)):
        heights[node] = 1 + max(height(tree.absent[node]), height(tree.present[node]))

    def index(values: list[int]) -> Tensor:
        return torch.tensor([value if value >= 0 else count - 1 - value for value in values])

    levels = []
    for level in range(1, heights[0] + 1):
        nodes = [node for node in range(count) if heights[node] == level]
        children = ([ends[node] for node in nodes] for ends in (tree.absent, tree.present))
        levels.append(_Level(index(nodes), *map(index, children)))
    return tuple(levels)
