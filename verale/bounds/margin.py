"""From activations to margins: logits are compared with each other, never bounded one by one.

`margins_of(head, ...)` gives those of the head's readout: linear; where a class has the score of its best prototype
(mixtures by their best component); or a soft decision tree (ProtoTree), exact over a box of activations.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Self, cast

import torch
from torch import Tensor

from verale.bounds.domain import domain_range
from verale.bounds.similarity import activation
from verale.head import Head, Linear, Maximum, Readout, SoftTree
from verale.rounding import UNDERFLOW, UNIT, Enclosure, down, gamma, up


@dataclass(frozen=True, eq=False)
class Margins(ABC):
    """Lower bounds of o_predicted - o_c for N images and all K classes c, from boxes of activations.

    Attributes:
        predicted: (N,) the explained classes.
        error: (N, K) how much rounding may lower a bound, for any box within the head's range.
    """

    predicted: Tensor
    error: Tensor

    @property
    @abstractmethod
    def sensitivity(self) -> Tensor:
        """(N, K) how much a margin moves, at most, if every activation moves by 1; an estimate."""

    @abstractmethod
    def lower(self, box: Enclosure) -> Tensor:
        """Lower bounds (N, B, K) for B boxes an image, (N, B, P); infinity at the predicted class."""

    def take(self, images: Tensor | slice) -> Self:
        """The margins of some images: a copy for an index, a view for a slice."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(self, **{name: each[images] for name, each in values.items() if isinstance(each, Tensor)})

    def _infinite_at_class(self, bounds: Tensor) -> Tensor:
        """Bounds (N, B, K), in place infinite at the predicted class."""
        return bounds.scatter_(2, self.predicted[:, None, None].expand(-1, bounds.shape[1], -1), math.inf)


def kept(box: Enclosure, where: Tensor) -> Enclosure:
    """The ends of some activations, 0 for all others."""
    return Enclosure.unchecked(box.lower.where(where, 0.0), box.upper.where(where, 0.0))


@dataclass(frozen=True, eq=False)
class LinearMargins(Margins):
    """Of a linear readout: m_c = b_pred - b_c + sum_j min(D_cj lo_j, D_cj hi_j), D_c = W_pred - W_c.

    Attributes:
        positive: (N, P, K) max(D, 0).
        negative: (N, P, K) min(D, 0).
        bias: (N, K) b_pred - b_c; infinity where c is the predicted class itself.
    """

    positive: Tensor
    negative: Tensor
    bias: Tensor

    @classmethod
    def of(cls, head: Head, predicted: Tensor, patches: int) -> LinearMargins:
        """Prepare the differences of weights for N predicted classes (N,).

        Soundness: a focal activation is a difference of two similarities, so at most twice as large. Its own rounding,
        at most gamma_(L+12) M before the sum over prototypes, need not be covered here, as it is in the box. Where
        minimality is claimed it counts (`Problem.noise`).
        """
        weight = head.weight.to(torch.float64)
        difference = weight[predicted][:, None] - weight
        bias = difference.new_zeros(difference.shape[:2])
        if head.bias is not None:
            given = head.bias.to(bias)
            bias = given[predicted][:, None] - given
        # 2 P products and sums, the difference of weights and of biases rounded once each.
        relative = gamma(2 * head.size + 8)
        magnitude = up((difference.abs() @ _largest(head)) * (1 + relative)) + bias.abs()
        error = up(magnitude * relative + 2 * head.size * UNDERFLOW)
        if head.pooling.is_difference:
            error = up(error * up(error.new_tensor(2 + (patches + 12) / (2 * head.size))))
        return cls(
            predicted=predicted,
            positive=difference.clamp(min=0).transpose(1, 2).contiguous(),
            negative=difference.clamp(max=0).transpose(1, 2).contiguous(),
            bias=bias.scatter(1, predicted[:, None], math.inf),
            error=error,
        )

    @property
    def sensitivity(self) -> Tensor:
        """(N, K) sum_j |D_cj|."""
        return (self.positive - self.negative).sum(1)

    def taken_back(self, box: Enclosure, own: Tensor) -> Tensor:
        """(N, K) at least what prototypes that are not the class's own take back for a rival; minus infinity at the
        class.

        Args:
            box: (N, P) of the activations.
            own: (N, P) bool, the prototypes that belong to the predicted classes.

        Soundness: the margin of these prototypes alone is at least the bound, so what they take is at most the
        difference of biases less that bound. The difference of biases was rounded once.
        """
        least = self.lower(kept(box, ~own)[:, None])[:, 0]
        most = up(up(self.bias - least) + up(self.bias.abs() * 2.0**-52))
        return torch.where(self.bias == math.inf, -math.inf, most)

    def lower(self, box: Enclosure) -> Tensor:
        """Lower bounds (N, B, K).

        Soundness: exact but for rounding, since the activations range over a box; `error` covers the sums in any order.
        """
        estimate = torch.baddbmm(self.bias[:, None], box.lower, self.positive).baddbmm(box.upper, self.negative)
        return self._infinite_at_class(down(estimate - self.error[:, None]).nan_to_num(-math.inf, math.inf, -math.inf))


@dataclass(frozen=True, eq=False)
class MaximumMargins(Margins):
    """Of a maximum: o_pred - o_c >= max_{j of pred} (lo_j + b_j) - max_{j of c} (hi_j + b_j).

    Soundness: each maximum is bounded from its side; exact where the two classes share no prototype.

    Attributes:
        own: (N, G) prototypes of the predicted class, padded with its first one.
        theirs: (N, K, G) prototypes of the rivals, padded in the same way.
        bias: (N, P) added to the activations.
    """

    own: Tensor
    theirs: Tensor
    bias: Tensor

    @classmethod
    def of(cls, head: Head, predicted: Tensor, patches: int) -> MaximumMargins:
        """Prepare the classes' prototypes for N predicted classes (N,)."""
        rows = [row.nonzero().flatten().tolist() for row in head.weight.cpu()]
        most = max(map(len, rows))
        table = torch.tensor([row + row[:1] * (most - len(row)) for row in rows])
        images = len(predicted)
        bias = torch.zeros(head.size, dtype=torch.float64)
        if head.bias is not None:
            bias = head.bias.to(bias)
        error = 8 * UNIT * (_largest(head) + bias.abs()).amax()
        return cls(
            predicted=predicted,
            own=table[predicted],
            theirs=table.expand(images, -1, -1),
            bias=bias.expand(images, -1),
            error=error.expand(images, head.classes),
        )

    @property
    def sensitivity(self) -> Tensor:
        """(N, K) 2: a margin depends on two activations."""
        return torch.full_like(self.error, 2.0)

    def lower(self, box: Enclosure) -> Tensor:
        """Lower bounds (N, B, K)."""
        candidates = box.shape[1]
        least = down(box.lower + self.bias[:, None])
        most = up(box.upper + self.bias[:, None])
        own = least.gather(2, self.own[:, None].expand(-1, candidates, -1)).amax(2)
        theirs = self.theirs[:, None].expand(-1, candidates, -1, -1)
        rivals = most.gather(2, theirs.flatten(2)).view(theirs.shape).amax(3)
        return self._infinite_at_class(down(own[..., None] - rivals))


def _largest(head: Head) -> Tensor:
    """(P,) the greatest size of each similarity over the domain."""
    scale = activation(head, domain_range(head))
    return torch.maximum(scale.lower.abs(), scale.upper.abs())


_CHUNK_BYTES = 64 * 2**20


@dataclass(frozen=True)
class _Level:
    """Nodes whose children lie on earlier levels; children are indices into (nodes, leaves)."""

    nodes: Tensor
    absent: Tensor
    present: Tensor


@dataclass(frozen=True, eq=False)
class TreeMargins(Margins):
    r"""Of a soft tree: the least difference of o_pred and o_c over a box of activations, from the leaves up.

    Every leaf q has the difference D_q = W_pred,q - W_c,q, and a node with activation s in [lo, hi] has at least

        v = min over s in {lo, hi} of (1 - s) v_absent + s v_present.

    Soundness: 0 <= s <= 1, so lower bounds of the children give a lower bound of the node, which is affine in s and so
    least at an end. The bound is attained: no two nodes share an activation, so each takes its own end. Rounding: the
    computed v + s (w - v), with |v|, |w| <= M, is off by at most 8 u M; that much is taken off at every node.

    Attributes:
        leaves: (N, K, P + 1) the differences D.
        size: (N, K) M, an upper bound of all |v|.
        levels: the nodes, bottom up.
    """

    leaves: Tensor
    size: Tensor
    levels: tuple[_Level, ...]

    @classmethod
    def of(cls, head: Head, predicted: Tensor, patches: int) -> TreeMargins:
        """Prepare the differences of leaves for N predicted classes (N,), of a head whose readout is a soft tree."""
        tree = cast(SoftTree, head.readout)
        weight = head.weight.to(torch.float64)
        leaves = down(weight[predicted][:, None] - weight)
        levels = _levels(tree)
        size = up(leaves.abs().amax(2) * (1 + 32 * len(levels) * UNIT))
        return cls(
            predicted=predicted,
            leaves=leaves,
            size=size,
            error=(16 * len(levels) + 2) * UNIT * size,
            levels=levels,
        )

    @property
    def sensitivity(self) -> Tensor:
        """(N, K): one activation a level changes what a path carries."""
        return 2 * len(self.levels) * self.size

    def lower(self, box: Enclosure) -> Tensor:
        """Lower bounds (N, B, K); B may be 0."""
        images, candidates, _ = box.shape
        step = max(1, _CHUNK_BYTES // (16 * max(1, images) * self.leaves[:1].numel()))
        bounds = [
            self._values(box[:, start : start + step], self.leaves)[..., 0]
            for start in range(0, max(1, candidates), step)
        ]
        return self._infinite_at_class(torch.cat(bounds, 1))

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


_MARGINS: dict[type[Readout], Callable[[Head, Tensor, int], Margins]] = {
    Linear: LinearMargins.of,
    SoftTree: TreeMargins.of,
    Maximum: MaximumMargins.of,
}


def margins_of(head: Head, predicted: Tensor, patches: int) -> Margins:
    """Margins of N predicted classes (N,), for images of L patches."""
    return _MARGINS[type(head.readout)](head, predicted, patches)
