"""Margins where a class has the score of its best prototype (mixtures by their best component)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from verale.bounds.domain import domain_range
from verale.bounds.margin import taken
from verale.bounds.similarity import activation
from verale.head import Head
from verale.rounding import UNIT, Enclosure, down, up

__all__ = ["MaximumMargins"]


@dataclass(frozen=True, eq=False)
class MaximumMargins:
    """Of a maximum: o_pred - o_c >= max_{j of pred} (lo_j + b_j) - max_{j of c} (hi_j + b_j).

    Soundness: each maximum is bounded from its side; exact where the two classes share no prototype.

    Attributes:
        predicted: (N,).
        rivals: (N, K).
        own: (N, G) prototypes of the predicted class, padded with its first one.
        theirs: (N, K, G) prototypes of the rivals, padded in the same way.
        bias: (N, P) added to the activations.
        error: (N, K) how much rounding may lower a bound.
    """

    predicted: Tensor
    rivals: Tensor
    own: Tensor
    theirs: Tensor
    bias: Tensor
    error: Tensor

    @classmethod
    def of(cls, head: Head, predicted: Tensor, patches: int) -> MaximumMargins:
        """Prepare the classes' prototypes for N predicted classes (N,), all classes as rivals."""
        rows = [row.nonzero().flatten().tolist() for row in head.weight.cpu()]
        most = max(map(len, rows))
        table = torch.tensor([row + row[:1] * (most - len(row)) for row in rows])
        images = len(predicted)
        bias = torch.zeros(head.size, dtype=torch.float64)
        if head.bias is not None:
            bias = head.bias.to(bias)
        scale = activation(head, domain_range(head))
        largest = torch.maximum(scale.lower.abs(), scale.upper.abs()) + bias.abs()
        error = 8 * UNIT * largest.amax()
        return cls(
            predicted=predicted,
            rivals=torch.arange(head.classes).expand(images, -1),
            own=table[predicted],
            theirs=table.expand(images, -1, -1),
            bias=bias.expand(images, -1),
            error=error.expand(images, head.classes),
        )

    @property
    def sensitivity(self) -> Tensor:
        """(N, K) 2: a margin depends on two activations."""
        return torch.full_like(self.error, 2.0)

    def take(self, images: Tensor | slice) -> MaximumMargins:
        """The margins of some images."""
        return MaximumMargins(**taken(self, images))

    def lower(self, box: Enclosure) -> Tensor:
        """Lower bounds (N, B, K)."""
        candidates = box.shape[1]
        least = down(box.lower + self.bias[:, None])
        most = up(box.upper + self.bias[:, None])
        own = least.gather(2, self.own[:, None].expand(-1, candidates, -1)).amax(2)
        theirs = self.theirs[:, None].expand(-1, candidates, -1, -1)
        rivals = most.gather(2, theirs.flatten(2)).view(theirs.shape).amax(3)
        same = self.rivals == self.predicted[:, None]
        return down(own[..., None] - rivals).masked_fill_(same[:, None], math.inf)
