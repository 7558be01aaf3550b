"""Last layers: read from a state dictionary, with factors and constants folded in, in float64 rounded to nearest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from verale.adapters.state import State, numbers
from verale.errors import HeadError
from verale.head import Geometry, Head, Similarity

__all__ = ["MOST_WEIGHTS", "Layer", "blocks", "linear", "side_by_side"]


MOST_WEIGHTS = 20_000_000
"""The most numbers of a layer that is written out from fewer: 1,000 classes with 20 prototypes each."""


@dataclass(frozen=True)
class Layer:
    """o = weight a + bias with weight (C, P) and bias (C,), or None for zeros."""

    weight: Tensor
    bias: Tensor | None = None

    def after(self, factor: Tensor | float, constant: Tensor | None = None) -> Layer:
        """The layer whose output for a_j is this layer's output for factor_j a_j + constant_j. Float64."""
        weight, bias = self.weight.double(), self.bias
        if constant is not None:
            shift = weight @ constant
            bias = shift if bias is None else shift + bias
        return Layer(weight * factor, bias)

    def times(self, number: float) -> Layer:
        """The layer whose logits are this layer's, bias included, times a number. Float64."""
        return Layer(self.weight.double() * number, None if self.bias is None else self.bias.double() * number)

    def head(self, geometry: Geometry, similarity: Similarity, prototypes: Tensor | None = None, **parts: Any) -> Head:
        """The head that ends in this layer; `parts` are others of `verale.head.Head`. Raises HeadError."""
        return Head(self.weight, geometry, similarity, prototypes, self.bias, **parts)


def linear(state: State, key: str, size: int | None = None, **known: int) -> Layer:
    """The layer of `key.weight` (C, size) and, if present, `key.bias` (C,). Raises HeadError.

    Args:
        size: P, if other tensors determine it.
        known: C, likewise.
    """
    weight = numbers(state, f"{key}.weight", "C P", **known, **({} if size is None else {"P": size}))
    return Layer(weight, numbers(state, f"{key}.bias", "C", C=len(weight)) if f"{key}.bias" in state else None)


def side_by_side(layers: list[Layer]) -> Layer:
    """The layer whose logits are the sums of these layers' logits, each on its own prototypes. Raises HeadError."""
    if len({len(layer.weight) for layer in layers}) > 1:
        classes = " and ".join(str(len(layer.weight)) for layer in layers)
        raise HeadError("weight", f"has {classes} classes in the branches of this network, expected equal numbers")
    biases = [layer.bias for layer in layers if layer.bias is not None]
    return Layer(
        torch.cat([layer.weight for layer in layers], dim=1), torch.stack(biases).double().sum(0) if biases else None
    )


def blocks(weights: Tensor) -> Tensor:
    """Weights (C, C K) of a layer in which class c reads its own K prototypes, from (C, K). Raises HeadError."""
    classes, per_class = weights.shape
    if classes * classes * per_class > MOST_WEIGHTS:
        raise HeadError(
            "weight",
            f"gives {classes} classes {per_class} prototypes each, expected a layer of at most {MOST_WEIGHTS} numbers",
        )
    return torch.eye(classes, dtype=weights.dtype).repeat_interleave(per_class, dim=1) * weights.flatten()
