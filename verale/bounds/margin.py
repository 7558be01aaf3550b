"""From activations to margins: logits are compared with each other, never bounded one by one."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, Self

import torch
from torch import Tensor

from verale.bounds.domain import domain_range
from verale.bounds.similarity import activation
from verale.head import Head
from verale.rounding import UNDERFLOW, Enclosure, down, gamma, up

__all__ = ["LinearMargins", "Margins", "belonging", "kept", "taken"]


class Margins(Protocol):
    """Lower bounds of o_predicted - o_c for N images and some classes c each, from boxes of activations.

    A frozen dataclass of tensors whose first dimension is the N images.
    """

    @property
    def predicted(self) -> Tensor:
        """(N,) the explained classes."""
        ...

    @property
    def rivals(self) -> Tensor:
        """(N, K) the classes c."""
        ...

    @property
    def error(self) -> Tensor:
        """(N, K) how much rounding may lower a bound, for any box within the head's range."""
        ...

    @property
    def sensitivity(self) -> Tensor:
        """(N, K) how much a margin moves, at most, if every activation moves by 1; an estimate."""
        ...

    def take(self, images: Tensor | slice) -> Self:
        """The margins of some images: a copy for an index, a view for a slice."""
        ...

    def lower(self, box: Enclosure) -> Tensor:
        """Lower bounds (N, B, K) for B boxes an image, (N, B, P); infinity at the predicted class."""
        ...


def taken(margins: Any, images: Tensor | slice) -> dict[str, Any]:
    """The fields of a dataclass, its tensors cut to some images."""
    return {
        f.name: value[images] if isinstance(value := getattr(margins, f.name), Tensor) else value
        for f in fields(margins)
    }


def belonging(head: Head, predicted: Tensor) -> Tensor:
    """(N, P) bool: the prototypes that belong to each of N classes, as no class has a greater weight for them."""
    weight: Tensor = head.weight[predicted] >= head.weight.amax(0)
    return weight


def kept(box: Enclosure, where: Tensor) -> Enclosure:
    """The ends of some activations, 0 for all others."""
    return Enclosure.unchecked(box.lower.where(where, 0.0), box.upper.where(where, 0.0))


@dataclass(frozen=True, eq=False)
class LinearMargins:
    """Of a linear readout: m_c = b_pred - b_c + sum_j min(D_cj lo_j, D_cj hi_j), D_c = W_pred - W_c.

    Attributes:
        predicted: (N,) the explained classes.
        rivals: (N, K) the classes c.
        positive: (N, P, K) max(D, 0).
        negative: (N, P, K) min(D, 0).
        bias: (N, K) b_pred - b_c; infinity where c is the predicted class itself.
        error: (N, K) the most that rounding may add, for any box within the head's range.
    """

    predicted: Tensor
    rivals: Tensor
    positive: Tensor
    negative: Tensor
    bias: Tensor
    error: Tensor

    @classmethod
    def of(cls, head: Head, predicted: Tensor, patches: int) -> LinearMargins:
        """Prepare the differences of weights for N predicted classes (N,), all classes as rivals.

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
        scale = activation(head, domain_range(head))
        largest = torch.maximum(scale.lower.abs(), scale.upper.abs())
        # 2 P products and sums, the difference of weights and of biases rounded once each.
        relative = gamma(2 * head.size + 8)
        magnitude = up((difference.abs() @ largest) * (1 + relative)) + bias.abs()
        error = up(magnitude * relative + 2 * head.size * UNDERFLOW)
        if head.pooling.is_difference:
            error = up(error * up(error.new_tensor(2 + (patches + 12) / (2 * head.size))))
        return cls(
            predicted=predicted,
            rivals=torch.arange(head.classes).expand(len(predicted), -1),
            positive=difference.clamp(min=0).transpose(1, 2).contiguous(),
            negative=difference.clamp(max=0).transpose(1, 2).contiguous(),
            bias=bias.scatter(1, predicted[:, None], math.inf),
            error=error,
        )

    @property
    def sensitivity(self) -> Tensor:
        """(N, K) sum_j |D_cj|."""
        return (self.positive - self.negative).sum(1)

    def take(self, images: Tensor | slice) -> LinearMargins:
        """The margins of some images."""
        return LinearMargins(**taken(self, images))

    def keep(self, columns: Tensor) -> LinearMargins:
        """Some rivals only."""
        wide = columns[:, None].expand(-1, self.positive.shape[1], -1)
        return replace(
            self,
            rivals=self.rivals.gather(1, columns),
            positive=self.positive.gather(2, wide),
            negative=self.negative.gather(2, wide),
            bias=self.bias.gather(1, columns),
            error=self.error.gather(1, columns),
        )

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
        bound = down(estimate - self.error[:, None]).nan_to_num(-math.inf, math.inf, -math.inf)
        return bound.masked_fill_((self.bias == math.inf)[:, None], math.inf)
