"""Of which networks something is claimed in binary32, as far as their files show it (certificates/network-v1.md).

What a file does not show, it says: where a batch normalisation was folded whose numbers the claim excludes, such as an
epsilon below 2^-64, the writer makes the layer's magnitude `NOT_CLAIMED`. This is a bound of what the folded bias sums
still, but a greater one than any claim in binary32 allows. In real arithmetic a magnitude says nothing.

Nothing is proved here. The checker refuses the same, and more, of its own accord.
"""

from __future__ import annotations

import torch
from torch import Tensor

from verale.errors import NetworkError, option
from verale.network.layers import (
    Clamp,
    Convolution,
    FullConnection,
    Gaussian,
    InverseRoot,
    LeakyRectifier,
    NetworkLayer,
    Product,
)
from verale.network.network import FrozenNetwork

__all__ = ["GREATEST_FOLDED", "LARGEST", "NOT_CLAIMED", "require_binary32"]

GREATEST_FOLDED = 2.0**32
"""No number of a layer with a folded batch normalisation is greater in size."""
NOT_CLAIMED = 2.0**33
LARGEST, _LEAST = 2.0**126, 2.0**-126
"""Numbers beyond `LARGEST` may overflow, and those below `_LEAST` be taken as 0."""
_MOST_TERMS = 2**21 - 32
"""Of a sum whose roundings are bounded, with those of a folded batch normalisation."""


def _remedy() -> str:
    return f"only real arithmetic is claimed of this network ({option('arithmetic', 'real')})"


def require_binary32(network: FrozenNetwork) -> None:
    """Raise NetworkError, which names the layer, for a network of which nothing is claimed in binary32."""
    if not all(_LEAST < x < LARGEST for x in network.std) or any(abs(x) > LARGEST for x in network.mean):
        raise NetworkError(
            "input", f"has mean {network.mean} and std {network.std}, which may overflow in float32; {_remedy()}"
        )
    for layer in network.layers:
        why = _why_not(layer)
        if why is not None:
            raise NetworkError(layer.name, f"{why}; {_remedy()}")


def _why_not(layer: NetworkLayer) -> str | None:
    operation = layer.operation
    if isinstance(operation, LeakyRectifier):
        return f"has the slope {operation.slope}, which float32 may take as 0" if 0 < operation.slope < _LEAST else None
    if isinstance(operation, Product | Gaussian | InverseRoot):
        return f"is of the kind {operation.kind}, of which nothing is claimed in float32"
    if isinstance(operation, Clamp):
        size = max(abs(operation.lower), abs(operation.upper))
        return f"has ends of up to {size:.3g}, which may overflow in float32" if size > LARGEST else None
    if not isinstance(operation, Convolution | FullConnection):
        return None
    terms = operation.weight[0].numel()
    if terms > _MOST_TERMS:
        return f"sums {terms} products, expected at most {_MOST_TERMS} in float32"
    if operation.magnitude is not None:
        if _greatest(operation.magnitude, operation.weight) > GREATEST_FOLDED:
            return (
                "has a batch normalisation folded in of which nothing is claimed in float32: its magnitude or its"
                " weight is beyond 2^32"
            )
        return None
    greatest = _greatest(operation.weight, operation.bias)
    return f"has numbers of up to {greatest:.3g}, which may overflow in float32" if greatest > LARGEST else None


def _greatest(*tensors: Tensor | None) -> float:
    """The greatest size of their numbers."""
    return max(float(tensor.abs().to(torch.float64).amax()) for tensor in tensors if tensor is not None)
