"""What to write in a module instead of what no network file has. Where layers of a network file compute it, the words
can be carried out as they stand, which a test does.

What a single layer of a network file computes is frozen as that layer, and needs no words (`operations`).

    a slope per channel:    relu(x) - slope relu(-x)
    the greater of two:     max(x, y) = x + relu(y - x)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from verale.adapters.tracing import Call

__all__ = [
    "NOTHING",
    "REWRITINGS",
    "WRITE",
    "in_place_of",
    "padded_before",
    "padded_behind_relu",
    "scaled",
    "shifted_pad",
    "sloped",
    "windows_apart",
]

_KNOWN = (
    "convolutions, batch and layer normalisation, linear layers, ReLU, LeakyReLU, ReLU6, SiLU, GELU, Hardswish,"
    " Sigmoid, Tanh, poolings, sums, products and concatenations"
)
WRITE = f"write it with {_KNOWN}, or name an earlier layer"
NOTHING = f"no layers of a network file compute it: train the network with {_KNOWN}, or name an earlier layer"
_PER_PICTURE = f"it normalises by the numbers of each picture, and {NOTHING}"


def in_place_of(*steps: str) -> str:
    """Modules that compute the same, one after the other."""
    return f"put {', '.join(steps)} in its place"


def scaled(shape: Sequence[int], weight: float, bias: float) -> str:
    """weight x + bias, of each number of a tensor (N, C, H, W) or (N, C)."""
    channels = shape[1] if len(shape) > 1 else 1
    numbers = f"{_decimal(weight)}%s and bias {_decimal(bias)}"
    if len(shape) == 2:
        return f"nn.Linear({channels}, {channels}) with weight {numbers % ' on the diagonal'}"
    return f"nn.Conv2d({channels}, {channels}, 1, groups={channels}) with weight {numbers % ''}"


def _decimal(number: float) -> str:
    return repr(int(number)) if float(number).is_integer() and abs(number) < 2**53 else repr(float(number))


def sloped(shape: Sequence[int], slopes: Sequence[float]) -> str:
    """x where x >= 0, else slope x, with one slope or one for each channel."""
    if len(set(slopes)) == 1 and 0 <= slopes[0] <= 1:
        return in_place_of(f"nn.LeakyReLU({slopes[0]!r})")
    negated = scaled(shape, -1, 0)
    weight = _decimal(-slopes[0]) if len(set(slopes)) == 1 else "minus the slope of each channel"
    return f"write it as relu(x) + B(relu(A(x))) with A {negated}, and B the same with weight {weight} and bias 0"


def padded_before(pads: Sequence[int]) -> str:
    """A convolution that pads with zeros on each side as it likes: (left, right, top, bottom)."""
    return f"put nn.ZeroPad2d({tuple(pads)}) before it, and padding=0"


def shifted_pad(shape: Sequence[int], pads: Sequence[int], value: float) -> str:
    """A padding with another number than 0."""
    return in_place_of(scaled(shape, 1, -value), f"nn.ZeroPad2d({tuple(pads)})", scaled(shape, 1, value))


def padded_behind_relu(right: int, bottom: int) -> str:
    """A maximum with `ceil_mode`, whose last windows reach so far beyond what it reads."""
    return (
        f"behind a ReLU, where nothing is below 0, put nn.ZeroPad2d((0, {right}, 0, {bottom})) before it, and"
        " ceil_mode=False; elsewhere take pictures of another size"
    )


def windows_apart(shape: Sequence[int], kernel: Sequence[int]) -> str:
    """A maximum over windows with gaps."""
    channels = shape[1]
    return (
        f"take each of the {kernel[0] * kernel[1]} numbers of a window by nn.Conv2d({channels}, {channels},"
        f" {tuple(kernel)}, groups={channels}, bias=False) with this dilation and stride, and a weight of one 1 and 0"
        " elsewhere; the greater of two is x + relu(y - x)"
    )


def _prelu(call: Call) -> str:
    weight = call.tensor("weight", 1)
    return NOTHING if weight is None else sloped(call.input_shape, weight.detach().flatten().tolist())


def _rrelu(call: Call) -> str:
    ends = call.number("lower", 1, 1 / 8), call.number("upper", 2, 1 / 3)
    return sloped(call.input_shape, [sum(ends) / 2])


def _always(words: str) -> Callable[[Call], str]:
    return lambda call: words


REWRITINGS: dict[Any, Callable[[Call], str]] = {
    **dict.fromkeys((nn.PReLU, functional.prelu, torch.prelu), _prelu),
    **dict.fromkeys((nn.RReLU, functional.rrelu), _rrelu),
    **dict.fromkeys((nn.Mish, nn.ELU, nn.SELU, nn.CELU, nn.Softplus, nn.Softsign), _always(NOTHING)),
    **dict.fromkeys((functional.mish, functional.elu), _always(NOTHING)),
    **dict.fromkeys((torch.norm, torch.linalg.vector_norm, "norm"), _always(_PER_PICTURE)),
    **dict.fromkeys((nn.ReflectionPad2d, nn.ReplicationPad2d), _always(NOTHING)),
    **dict.fromkeys((nn.ConvTranspose2d, torch.conv_transpose2d), _always(NOTHING)),
    **dict.fromkeys((nn.GroupNorm, functional.group_norm), _always(_PER_PICTURE)),
    **dict.fromkeys((nn.LocalResponseNorm, functional.local_response_norm), _always(_PER_PICTURE)),
    **dict.fromkeys((nn.Softmax, nn.Softmax2d, functional.softmax, torch.softmax, "softmax"), _always(
        f"if it is the last layer, name the one before it, and take a head of masses; otherwise {NOTHING}"
    )),
}  # fmt: skip
"""What to do instead: by a module's class, a function or the name of a method."""
