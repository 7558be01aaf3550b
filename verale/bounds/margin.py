"""From activations to margins: logits are compared, never bounded apart."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from verale.bounds.domain import domain_range
from verale.bounds.similarity import activation
from verale.head import Head
from verale.rounding import UNDERFLOW, Enclosure, down, gamma, up

__all__ = ["Margins"]


@dataclass(frozen=True, eq=False)
class Margins:
    """Lower bounds of o_predicted - o_c for N images and some classes c each, from boxes of activations.

    m_c = b_pred - b_c + sum_j min(D_cj lo_j, D_cj hi_j), D_c = W_pred - W_c.

    Attributes:
        predicted: (N,) the classes that are explained.
        rivals: (N, K) the classes c.
        positive: (N, P, K) max(D, 0).
        negative: (N, P, K) min(D, 0).
        bias: (N, K) b_pred - b_c; infinity where c is the predicted class itself.
        error: (N, K) what rounding may add, for any box within the head's range.
    """

    predicted: Tensor
    rivals: Tensor
    positive: Tensor
    negative: Tensor
    bias: Tensor
    error: Tensor

    @classmethod
    def of(cls, head: Head, predicted: Tensor) -> Margins:
        """Prepare the differences of weights for N predicted classes (N,), all classes as rivals."""
        weight = head.weight.to(predicted.device, torch.float64)
        difference = weight[predicted][:, None] - weight
        bias = difference.new_zeros(difference.shape[:2])
        if head.bias is not None:
            given = head.bias.to(bias)
            bias = given[predicted][:, None] - given
        scale = activation(head, domain_range(head, predicted.device))
        largest = torch.maximum(scale.lower.abs(), scale.upper.abs())
        # 2 P products and sums, the difference of weights and of biases rounded once each.
        relative = gamma(2 * head.size + 8)
        magnitude = up((difference.abs() @ largest) * (1 + relative)) + bias.abs()
        return cls(
            predicted=predicted,
            rivals=torch.arange(head.classes, device=predicted.device).expand(len(predicted), -1),
            positive=difference.clamp(min=0).transpose(1, 2).contiguous(),
            negative=difference.clamp(max=0).transpose(1, 2).contiguous(),
            bias=bias.scatter(1, predicted[:, None], math.inf),
            error=up(magnitude * relative + 2 * head.size * UNDERFLOW),
        )

    def take(self, images: Tensor | slice) -> Margins:
        """Those of some images: a copy for an index, a view for a slice."""
        return Margins(**{f.name: getattr(self, f.name)[images] for f in fields(self)})

    def keep(self, columns: Tensor) -> Margins:
        """Some rivals only; columns (N, K') are places among the K."""
        wide = columns[:, None].expand(-1, self.positive.shape[1], -1)
        return Margins(
            predicted=self.predicted,
            rivals=self.rivals.gather(1, columns),
            positive=self.positive.gather(2, wide),
            negative=self.negative.gather(2, wide),
            bias=self.bias.gather(1, columns),
            error=self.error.gather(1, columns),
        )

    def lower(self, box: Enclosure) -> Tensor:
        """Lower bounds (N, B, K) for B boxes an image, (N, B, P); infinity at the predicted class.

        Soundness: exact but for rounding, since the activations range over a box; `error` covers the sums in any order.
        """
        estimate = torch.baddbmm(self.bias[:, None], box.lower, self.positive).baddbmm(box.upper, self.negative)
        bound = down(estimate - self.error[:, None]).nan_to_num(-math.inf, math.inf, -math.inf)
        return bound.masked_fill_((self.bias == math.inf)[:, None], math.inf)
