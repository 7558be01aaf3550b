"""Which operation of a network file a module or a call of torch is; whatever is not known is refused.

Modules are known by their exact class: a subclass may compute something else. A module has what the function that it
calls is given as attributes, of the same names; so one rule reads both.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional

from verale.adapters.tracing import argument, shape_of
from verale.network.binary32 import GREATEST_FOLDED
from verale.network.layers import (
    AveragePooling,
    Concatenation,
    Convolution,
    Flattening,
    FullConnection,
    LeakyRectifier,
    Operation,
    Pair,
    Rectifier,
    Sigmoid,
    SpatialMaximum,
    Sum,
    Tanh,
    Upsampling,
)

__all__ = ["SAME", "Normalisation", "RefusedError", "is_in_place", "operation_of", "unclaimed_number"]


class RefusedError(Exception):
    """No layer of a network file computes this; the message says why."""


@dataclass(frozen=True, eq=False)
class Normalisation:
    """What batch normalisation computes in eval mode: factor (x - mean) + shift, each (C,) float64.

    Attributes:
        unclaimed: why nothing is claimed of it in binary32 (certificates/network-v1.md); None where something is.
    """

    factor: Tensor
    mean: Tensor
    shift: Tensor
    unclaimed: str | None


SAME = "same"
"""The output is the input."""

Known = Operation | Normalisation | str

_Values = Callable[[Any], Tensor | None]
"""Gives the tensor that an argument of a call stands for, where it is a parameter; None for None."""


def operation_of(node: fx.Node, module: nn.Module | None, values: _Values) -> Known:
    """What a node computes: an operation of network files, a normalisation that is folded, or `SAME`.

    Args:
        node: of a traced network, with shapes.
        module: the module that it calls; None where it calls a function or a method.
        values: gives the parameters that a call names. Raises RefusedError for what is no parameter.

    Raises:
        RefusedError: it is none of these.
    """
    if module is not None and (module._forward_hooks or module._forward_pre_hooks):
        raise RefusedError("has hooks, which may change what it computes: remove them")
    rule = _RULES.get(node.target if module is None else type(module))
    if rule is None:
        raise RefusedError("is not known")
    return rule(_Step(node, module, values))


def is_in_place(node: fx.Node, module: nn.Module | None) -> bool:
    """Whether a node writes its output over its first input."""
    if module is not None:
        return bool(getattr(module, "inplace", False))
    written = node.target in (operator.iadd, torch.relu_) or (node.op == "call_method" and str(node.target)[-1] == "_")
    return written or bool(node.kwargs.get("inplace", False))


@dataclass(frozen=True, eq=False)
class _Step:
    """A node with what it is given; see `operation_of`."""

    node: fx.Node
    module: nn.Module | None
    values: _Values

    def number(self, name: str, place: int, default: object = None) -> Any:
        """What is no tensor: by its name, or its place in a call."""
        return argument(self.node, name, place, default, self.module)

    def tensor(self, name: str, place: int) -> Tensor | None:
        """A parameter. Raises RefusedError for what is none."""
        given = self.number(name, place)
        return given if self.module is not None else self.values(given)

    @property
    def given(self) -> tuple[int, ...]:
        """The shape of the first input."""
        return shape_of(self.node.all_input_nodes[0])

    @property
    def made(self) -> tuple[int, ...]:
        """The shape of the output."""
        return shape_of(self.node)


def _pair(value: Any) -> Pair:
    first, second = (value, value) if isinstance(value, int) else (value[0], value[-1])
    return int(first), int(second)


def _convolution(step: _Step) -> Known:
    mode = getattr(step.module, "padding_mode", "zeros")
    if mode != "zeros":
        raise RefusedError(f"pads with {mode!r}, not with zeros")
    weight, padding, wide = step.tensor("weight", 1), step.number("padding", 4, 0), _pair(step.number("dilation", 5, 1))
    if weight is None:
        raise RefusedError("has no weight")
    if weight.dim() != 4:
        raise RefusedError("has a kernel that is not two-dimensional")
    if padding == "same":
        spans = [d * (k - 1) for d, k in zip(wide, weight.shape[2:], strict=True)]
        if any(span % 2 for span in spans):
            raise RefusedError("pads one side more than the other; use odd kernels")
        padding = [span // 2 for span in spans]
    around = (0, 0) if padding == "valid" else _pair(padding)
    stride, groups = _pair(step.number("stride", 3, 1)), int(step.number("groups", 6, 1))
    return Convolution(stride, around, wide, groups, weight, step.tensor("bias", 2))


def _linear(step: _Step) -> Known:
    weight = step.tensor("weight", 1)
    if weight is None or len(step.made) != 2:
        raise RefusedError("is applied to tensors that are not (N, D); flatten them first, or use a 1 x 1 convolution")
    return FullConnection(weight, step.tensor("bias", 2))


def _normalisation(step: _Step) -> Known:
    if step.number("training", 5, False):
        raise RefusedError("normalises by the numbers of the batch; call .eval()")
    names = (("running_mean", 1), ("running_var", 2), ("weight", 3), ("bias", 4))
    given = {name: step.tensor(name, place) for name, place in names}
    if given["running_mean"] is None or given["running_var"] is None:
        raise RefusedError("normalises by the numbers of the batch; it needs running statistics")
    epsilon = float(step.number("eps", 7, 1e-5))
    held = {name: tensor.detach() for name, tensor in given.items() if tensor is not None}
    for name, tensor in held.items():
        if not bool(tensor.isfinite().all()):
            raise RefusedError(f"has a {name} with NaN or infinity; train it, or load other numbers")
    mean, variance = held["running_mean"].double(), held["running_var"].double()
    least = float((variance + epsilon).amin())
    if not least > 0:
        raise RefusedError(f"has a running_var plus eps of {least:g}, expected one above 0; train it, or raise eps")
    factor = 1 / (variance + epsilon).sqrt()
    factor = factor * held["weight"].double() if "weight" in held else factor
    shift = held["bias"].double() if "bias" in held else torch.zeros_like(mean)
    small = float(torch.tensor(epsilon).float()) < _LEAST_EPSILON
    unclaimed = (
        f"its eps, {epsilon:g}, is below 2^-64 in float32" if small else unclaimed_number(held | {"factor": factor})
    )
    return Normalisation(factor, mean, shift, unclaimed)


_LEAST_EPSILON = 2.0**-64


def unclaimed_number(held: dict[str, Tensor]) -> str | None:
    """Why nothing is claimed in binary32 of a batch normalisation with these numbers; `factor` is computed of them."""
    for name, tensor in held.items():
        greatest = float(tensor.abs().amax())
        if greatest > GREATEST_FOLDED:
            return f"its {name} has numbers of up to {greatest:.3g}, beyond 2^32"
        if name != "factor" and not torch.equal(tensor.float().to(tensor.dtype), tensor):
            return f"its {name} has numbers that are no float32: export the network that runs, after model.float()"
    return None


def _window(step: _Step) -> tuple[Pair, Pair, Pair]:
    """Kernel, stride and padding of a pooling. Raises RefusedError where `ceil_mode` adds a window."""
    kernel = step.number("kernel_size", 1)
    pairs = _pair(kernel), _pair(step.number("stride", 2) or kernel), _pair(step.number("padding", 3, 0))
    for n, m, k, s, p in zip(step.given[2:], step.made[2:], *pairs, strict=True):
        if m != (n + 2 * p - k) // s + 1:
            raise RefusedError("has a window that reaches beyond the padding (ceil_mode); use another picture's size")
    return pairs


def _maximum(step: _Step) -> Known:
    if step.number("return_indices", 6, False) or _pair(step.number("dilation", 4, 1)) != (1, 1):
        raise RefusedError("has return_indices or a dilation, which network files do not have")
    return SpatialMaximum(*_window(step))


def _average(step: _Step) -> Known:
    counted = step.number("count_include_pad", 5, True) or _pair(step.number("padding", 3, 0)) == (0, 0)
    if step.number("divisor_override", 6) is not None or not counted:
        raise RefusedError("has a divisor of its own, or padding that does not count")
    return AveragePooling(*_window(step))


def _ratio(larger: tuple[int, ...], smaller: tuple[int, ...]) -> Pair:
    """How many rows and columns of one become one of the other. Raises RefusedError."""
    if len(larger) != 4 or len(smaller) != 4 or larger[2] % smaller[2] or larger[3] % smaller[3]:
        raise RefusedError(f"takes {larger[2:]} and {smaller[2:]} places, neither a multiple of the other")
    return larger[2] // smaller[2], larger[3] // smaller[3]


def _adaptive(of: Callable[[Pair, Pair, Pair], Operation]) -> _Rule:
    def rule(step: _Step) -> Known:
        window = _ratio(step.given, step.made)
        return SAME if window == (1, 1) else of(window, window, (0, 0))

    return rule


def _flattened(step: _Step) -> Known:
    given, made = step.given, step.made
    if made == given:
        return SAME
    if len(given) != 4 or made != (given[0], given[1] * given[2] * given[3]):
        raise RefusedError(f"makes {made} of {given}; only (N, C, H, W) to (N, C H W) is known")
    return Flattening()


def _sum(step: _Step) -> Known:
    given = [each for each in (step.number("input", 0), step.number("other", 1)) if isinstance(each, fx.Node)]
    if len(given) != 2 or step.number("alpha", 2, 1) != 1:
        raise RefusedError("adds something else than two outputs of layers")
    if len({shape_of(each) for each in given}) != 1:
        raise RefusedError("adds tensors of two shapes")
    return Sum()


def _concatenation(step: _Step) -> Known:
    axis = step.number("dim", 1, 0)
    if axis % len(step.made) != 1:
        raise RefusedError(f"joins along axis {axis}, not along the channels")
    return Concatenation() if len(step.number("tensors", 0)) > 1 else SAME


def _leaky(step: _Step) -> Known:
    slope = step.number("negative_slope", 1, 0.01)
    if not 0 <= slope <= 1:
        raise RefusedError(f"has the slope {slope}, not one from 0 to 1")
    return LeakyRectifier(float(slope))


def _upsampling(step: _Step) -> Known:
    mode = step.number("mode", 3, "nearest")
    if mode != "nearest":
        raise RefusedError(f"has the mode {mode!r}, not 'nearest'")
    scale = _ratio(step.made, step.given)
    return SAME if scale == (1, 1) else Upsampling(scale)


def _dropout(step: _Step) -> Known:
    if step.number("training", 2, step.node.target is not functional.dropout):
        raise RefusedError("drops numbers by chance; call .eval(), and give it training=self.training")
    return SAME


_Rule = Callable[[_Step], Known]


def _always(known: Known) -> _Rule:
    return lambda step: known


_RULES: dict[Any, _Rule] = {
    **dict.fromkeys((nn.Conv2d, torch.conv2d), _convolution),
    **dict.fromkeys((nn.Linear, functional.linear), _linear),
    **dict.fromkeys((nn.BatchNorm2d, nn.BatchNorm1d, functional.batch_norm), _normalisation),
    **dict.fromkeys((nn.ReLU, functional.relu, torch.relu, torch.relu_, "relu", "relu_"), _always(Rectifier())),
    **dict.fromkeys((nn.LeakyReLU, functional.leaky_relu), _leaky),
    **dict.fromkeys((nn.Sigmoid, functional.sigmoid, torch.sigmoid, "sigmoid"), _always(Sigmoid())),
    **dict.fromkeys((nn.Tanh, functional.tanh, torch.tanh, "tanh"), _always(Tanh())),
    **dict.fromkeys((nn.MaxPool2d, functional.max_pool2d, torch.max_pool2d), _maximum),
    **dict.fromkeys((nn.AvgPool2d, functional.avg_pool2d), _average),
    **dict.fromkeys((nn.AdaptiveAvgPool2d, functional.adaptive_avg_pool2d), _adaptive(AveragePooling)),
    **dict.fromkeys((nn.AdaptiveMaxPool2d, functional.adaptive_max_pool2d), _adaptive(SpatialMaximum)),
    **dict.fromkeys((nn.Flatten, torch.flatten, "flatten", "view", "reshape"), _flattened),
    **dict.fromkeys((nn.Upsample, nn.UpsamplingNearest2d, functional.interpolate), _upsampling),
    **dict.fromkeys((operator.add, operator.iadd, torch.add, "add", "add_"), _sum),
    torch.cat: _concatenation,
    **dict.fromkeys((functional.dropout, functional.dropout2d), _dropout),
    **dict.fromkeys((nn.Identity, nn.Dropout, nn.Dropout1d, nn.Dropout2d, "contiguous"), _always(SAME)),
}
"""By a module's class, a function or the name of a method."""
