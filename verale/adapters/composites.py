"""What people's networks compute in one step and a network file in several: activations, gates, layer normalisation.

    slopes:              x where x >= 0, else slope x = relu(x) - slope relu(-x), a slope for each channel
    ReLU, shifted:       max(a, x) = a + relu(x - a),  min(b, x) = b - relu(b - x)
    hard-sigmoid:        clamp(x / 6 + 1/2, 0, 1)
    hard-swish, SiLU:    x times hard-sigmoid(x), x times sigmoid(x)
    GELU:                x times the normal distribution function of x
    averages:            the mean with zeros, times the inverse of the mean of ones in its place, which counts entries
    layer normalisation: weight y (mean(y^2) + epsilon)^(-1/2) + bias, y = x - mean(x), over the channels of each place

Numbers such as 1/6 are float64 numbers in the file, so the two differ by what float64 rounds; the file is what is
proved of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from verale.network import NOT_CLAIMED
from verale.network.layers import (
    AveragePooling,
    Clamp,
    Convolution,
    FullConnection,
    InverseRoot,
    Operation,
    Pair,
    Product,
    Rectifier,
    Sum,
)


@dataclass(frozen=True, eq=False)
class Step:
    """One layer of several.

    Attributes:
        name: what its layer's name ends with; that of the last one has the name of the whole.
        operation: what it computes.
        reads: the names of the steps before that it reads, or the numbers of inputs of the whole.
    """

    name: str
    operation: Operation
    reads: tuple[str | int, ...]


@dataclass(frozen=True, eq=False)
class Steps:
    """Layers of which the last one gives what is computed.

    Attributes:
        steps: in an order in which each reads what comes before it.
        unclaimed: why nothing is claimed in binary32, where the file's numbers alone do not say so.
    """

    steps: tuple[Step, ...]
    unclaimed: str | None = None


def scaled(
    shape: Sequence[int], weight: Tensor | float, bias: Tensor | float = 0.0, is_claimed: bool = True
) -> Operation:
    """weight x + bias of each channel of a tensor (N, C, H, W) or (N, C); one number, or C of them.

    Args:
        is_claimed: whether anything is claimed of it in binary32.
    """
    channels = shape[1]
    factors, shifts = (
        torch.as_tensor(each, dtype=torch.float64).detach().flatten().expand(channels).clone()
        for each in (weight, bias)
    )
    magnitude = None if is_claimed else torch.full_like(shifts, NOT_CLAIMED)
    if len(shape) == 2:
        return FullConnection(torch.diag(factors), shifts, magnitude)
    return Convolution((1, 1), (0, 0), (1, 1), channels, factors[:, None, None, None], shifts, magnitude)


def turned() -> Steps:
    """The product of two tensors of which the first is the one to be repeated."""
    return Steps((Step("", Product(), (1, 0)),))


def difference(shape: Sequence[int], factor: float = -1.0) -> Steps:
    """x + factor y, by default x - y."""
    return Steps((Step("multiple", scaled(shape, factor), (1,)), Step("", Sum(), (0, "multiple"))))


def clamped(shape: Sequence[int], lower: float | None, upper: float | None) -> Operation | Steps:
    """min(upper, max(lower, x)); one end may be missing."""
    if lower is not None and upper is not None:
        return Clamp(lower, upper)
    if lower == 0:
        return Rectifier()
    sign, end = (1.0, lower) if lower is not None else (-1.0, upper or 0.0)
    return Steps((
        Step("beyond", scaled(shape, sign, -sign * end), (0,)),
        Step("relu", Rectifier(), ("beyond",)),
        Step("", scaled(shape, sign, end), ("relu",)),
    ))  # fmt: skip


def sloped(shape: Sequence[int], slopes: Tensor | float) -> Steps:
    """x where x >= 0, else slope x; one slope, or C of them."""
    return Steps((
        Step("positive", Rectifier(), (0,)),
        Step("negated", scaled(shape, -1.0), (0,)),
        Step("negative", Rectifier(), ("negated",)),
        Step("slope", scaled(shape, -slopes), ("negative",)),
        Step("", Sum(), ("positive", "slope")),
    ))  # fmt: skip


_SIXTH = "it divides by 6 in one function with its clamp"


def hard_gate(shape: Sequence[int], is_swish: bool) -> Steps:
    """clamp(x + 3, 0, 6) / 6; or x times that."""
    line = Step("line", scaled(shape, 1 / 6, 0.5, is_claimed=False), (0,))
    if not is_swish:
        return Steps((line, Step("", Clamp(0.0, 1.0), ("line",))), _SIXTH)
    gate = Step("gate", Clamp(0.0, 1.0), ("line",))
    return Steps((line, gate, Step("", Product(), (0, "gate"))), _SIXTH)


def gated(gate: Operation) -> Steps:
    """x times a function of x: SiLU of a sigmoid, GELU of the normal distribution function."""
    return Steps((Step("gate", gate, (0,)), Step("", Product(), (0, "gate"))))


def padded(channels: int, left: int, right: int, above: int, below: int) -> Convolution:
    """Zeros on any side: a convolution of each channel by a kernel with a single 1, padded as on the wider side."""
    weight = torch.zeros(channels, 1, abs(above - below) + 1, abs(left - right) + 1)
    weight[:, :, max(above, below) - above, max(left, right) - left] = 1
    return Convolution((1, 1), (max(above, below), max(left, right)), (1, 1), channels, weight)


def padded_with(channels: int, sides: Sequence[int], value: float) -> Steps:
    """The same number on any side, (left, right, above, below); nothing is claimed of it in binary32."""
    shape = 1, channels, 1, 1
    return Steps((
        Step("lowered", scaled(shape, 1.0, -value), (0,)),
        Step("padded", padded(channels, *sides), ("lowered",)),
        Step("", scaled(shape, 1.0, value, is_claimed=False), ("padded",)),
    ))  # fmt: skip


def averaged(channels: int, pooling: AveragePooling, beyond: Pair, counted: bool) -> Steps:
    """The mean over windows of what they hold.

    Args:
        channels: C.
        pooling: the windows, with the padding on all sides.
        beyond: how far the last windows reach beyond the padding, in rows and columns; there nothing is counted.
        counted: whether zeros of the padding are.
    """
    steps: list[Step] = []
    given: str | int = 0
    (above, left), (below, right) = pooling.padding, beyond
    if counted and pooling.padding != (0, 0):
        steps.append(Step("padded", padded(channels, left, left, above, above), (given,)))
        given, pooling = "padded", AveragePooling(pooling.kernel, pooling.stride, (0, 0))
    nothing, one = torch.zeros(1, channels, 1, 1), torch.ones(1)
    steps.append(Step("ones", Convolution((1, 1), (0, 0), (1, 1), 1, nothing, one), (given,)))
    ones = "ones"
    if beyond != (0, 0):
        steps.append(Step("wider", padded(channels, 0, right, 0, below), (given,)))
        steps.append(Step("wider_ones", padded(1, 0, right, 0, below), (ones,)))
        given, ones = "wider", "wider_ones"
    return Steps((
        *steps,
        Step("mean", pooling, (given,)),
        Step("share", pooling, (ones,)),
        Step("root", InverseRoot(), ("share",)),
        Step("inverse", Product(), ("root", "root")),
        Step("", Product(), ("mean", "inverse")),
    ))  # fmt: skip


def layer_norm(channels: int, weight: Tensor | None, bias: Tensor | None, epsilon: float) -> Steps:
    """Layer normalisation of the channels of each place."""

    def sums(numbers: Tensor, shift: float = 0.0) -> Convolution:
        shifts = torch.full((len(numbers),), shift, dtype=torch.float64)
        return Convolution((1, 1), (0, 0), (1, 1), 1, numbers[:, :, None, None], shifts if shift else None)

    mean = torch.full((1, channels), 1 / channels, dtype=torch.float64)
    line = scaled((1, channels, 1, 1), 1.0 if weight is None else weight, 0.0 if bias is None else bias)
    return Steps((
        Step("mean", sums(-mean), (0,)),
        Step("everywhere", sums(torch.ones(channels, 1, dtype=torch.float64)), ("mean",)),
        Step("centred", Sum(), (0, "everywhere")),
        Step("square", Product(), ("centred", "centred")),
        Step("variance", sums(mean, epsilon), ("square",)),
        Step("root", InverseRoot(), ("variance",)),
        Step("normed", Product(), ("centred", "root")),
        Step("", line, ("normed",)),
    ))  # fmt: skip
