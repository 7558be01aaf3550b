"""Which operation of a network file a module or a call of torch is; whatever is not known is refused.

Modules are known by their exact class: a subclass may compute something else.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional

from verale.adapters.tracing import argument, shape_of
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

__all__ = ["SAME", "Normalisation", "RefusedError", "is_in_place", "operation_of"]


class RefusedError(Exception):
    """No layer of a network file computes this; the message says why."""


@dataclass(frozen=True, eq=False)
class Normalisation:
    """What batch normalisation computes in eval mode: factor (x - mean) + shift, each (C,) float64."""

    factor: Tensor
    mean: Tensor
    shift: Tensor


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
    if module is not None:
        if module._forward_hooks or module._forward_pre_hooks:
            raise RefusedError("has hooks, which may change what it computes: remove them")
        rule = _MODULES.get(type(module))
        if rule is None:
            raise RefusedError("is not known")
        return rule(module, node)
    known: Mapping[Any, Callable[[fx.Node, _Values], Known]] = _METHODS if node.op == "call_method" else _CALLS
    if node.target not in known:
        raise RefusedError("is not known")
    return known[node.target](node, values)


def is_in_place(node: fx.Node, module: nn.Module | None) -> bool:
    """Whether a node writes its output over its first input."""
    if module is not None:
        return bool(getattr(module, "inplace", False))
    written = node.target in (operator.iadd, torch.relu_) or (node.op == "call_method" and str(node.target)[-1] == "_")
    return written or bool(node.kwargs.get("inplace", False))


def _pair(value: Any) -> Pair:
    first, second = (value, value) if isinstance(value, int) else (value[0], value[-1])
    return int(first), int(second)


def _convolution(
    weight: Tensor, bias: Tensor | None, stride: object, padding: object, dilation: object, groups: int
) -> Known:
    if weight.dim() != 4:
        raise RefusedError("has a kernel that is not two-dimensional")
    wide = _pair(dilation)
    if padding == "same":
        spans = [d * (k - 1) for d, k in zip(wide, weight.shape[2:], strict=True)]
        if any(span % 2 for span in spans):
            raise RefusedError("pads one side more than the other; use odd kernels")
        padding = [span // 2 for span in spans]
    around = (0, 0) if padding == "valid" else _pair(padding)
    return Convolution(_pair(stride), around, wide, int(groups), weight, bias)


def _conv_module(module: Any, node: fx.Node) -> Known:
    if module.padding_mode != "zeros":
        raise RefusedError(f"pads with {module.padding_mode!r}, not with zeros")
    return _convolution(module.weight, module.bias, module.stride, module.padding, module.dilation, module.groups)


def _conv_call(node: fx.Node, values: _Values) -> Known:
    weight, bias = values(argument(node, "weight", 1)), values(argument(node, "bias", 2))
    if weight is None:
        raise RefusedError("has no weight")
    numbers = (("stride", 3, 1), ("padding", 4, 0), ("dilation", 5, 1), ("groups", 6, 1))
    return _convolution(weight, bias, *(argument(node, *each) for each in numbers))


def _linear(weight: Tensor | None, bias: Tensor | None, node: fx.Node) -> Known:
    if weight is None or len(shape_of(node)) != 2:
        raise RefusedError("is applied to tensors that are not (N, D); flatten them first, or use a 1 x 1 convolution")
    return FullConnection(weight, bias)


def _normalisation(
    mean: Tensor | None, variance: Tensor | None, weight: Tensor | None, bias: Tensor | None, epsilon: float
) -> Known:
    if mean is None or variance is None:
        raise RefusedError("normalises by the numbers of the batch; it needs running statistics")
    mean = mean.detach().double()
    factor = 1 / (variance.detach().double() + epsilon).sqrt()
    factor = factor if weight is None else factor * weight.detach().double()
    return Normalisation(factor, mean, torch.zeros_like(mean) if bias is None else bias.detach().double())


def _norm_module(module: Any, node: fx.Node) -> Known:
    return _normalisation(module.running_mean, module.running_var, module.weight, module.bias, module.eps)


def _norm_call(node: fx.Node, values: _Values) -> Known:
    if argument(node, "training", 5, False):
        raise RefusedError("normalises by the numbers of the batch; call .eval()")
    names = (("running_mean", 1), ("running_var", 2), ("weight", 3), ("bias", 4))
    mean, variance, weight, bias = (values(argument(node, *each)) for each in names)
    return _normalisation(mean, variance, weight, bias, argument(node, "eps", 7, 1e-5))


def _window(node: fx.Node, kernel: object, stride: object, padding: object) -> tuple[Pair, Pair, Pair]:
    """Kernel, stride and padding of a pooling. Raises RefusedError where `ceil_mode` adds a window."""
    pairs = _pair(kernel), _pair(stride or kernel), _pair(padding)
    given, made = shape_of(node.all_input_nodes[0]), shape_of(node)
    for n, m, k, s, p in zip(given[2:], made[2:], *pairs, strict=True):
        if m != (n + 2 * p - k) // s + 1:
            raise RefusedError("has a window that reaches beyond the padding (ceil_mode); use another picture's size")
    return pairs


def _maximum(
    node: fx.Node, kernel: object, stride: object, padding: object, dilation: object, indices: object
) -> Known:
    if indices or _pair(dilation) != (1, 1):
        raise RefusedError("has return_indices or a dilation, which network files do not have")
    return SpatialMaximum(*_window(node, kernel, stride, padding))


def _maximum_module(module: Any, node: fx.Node) -> Known:
    given = (module.kernel_size, module.stride, module.padding, module.dilation)
    return _maximum(node, *given, module.return_indices)


def _maximum_call(node: fx.Node, values: _Values) -> Known:
    names = (("stride", 2, None), ("padding", 3, 0), ("dilation", 4, 1), ("return_indices", 6, False))
    return _maximum(node, argument(node, "kernel_size", 1), *(argument(node, *each) for each in names))


def _average(node: fx.Node, kernel: object, stride: object, padding: object, counted: object, divisor: object) -> Known:
    if divisor is not None or not (counted or _pair(padding) == (0, 0)):
        raise RefusedError("has a divisor of its own, or padding that does not count")
    return AveragePooling(*_window(node, kernel, stride, padding))


def _average_module(module: Any, node: fx.Node) -> Known:
    given = (module.kernel_size, module.stride, module.padding)
    return _average(node, *given, module.count_include_pad, module.divisor_override)


def _average_call(node: fx.Node, values: _Values) -> Known:
    names = (("stride", 2, None), ("padding", 3, 0), ("count_include_pad", 5, True), ("divisor_override", 6, None))
    return _average(node, argument(node, "kernel_size", 1), *(argument(node, *each) for each in names))


def _ratio(larger: tuple[int, ...], smaller: tuple[int, ...]) -> Pair:
    """How many rows and columns of one become one of the other. Raises RefusedError."""
    if len(larger) != 4 or len(smaller) != 4 or larger[2] % smaller[2] or larger[3] % smaller[3]:
        raise RefusedError(f"takes {larger[2:]} and {smaller[2:]} places, neither a multiple of the other")
    return larger[2] // smaller[2], larger[3] // smaller[3]


def _adaptive(of: Callable[[Pair, Pair, Pair], Operation]) -> Callable[[fx.Node], Known]:
    def rule(node: fx.Node) -> Known:
        window = _ratio(shape_of(node.all_input_nodes[0]), shape_of(node))
        return SAME if window == (1, 1) else of(window, window, (0, 0))

    return rule


_adaptive_average, _adaptive_maximum = _adaptive(AveragePooling), _adaptive(SpatialMaximum)


def _flattened(node: fx.Node) -> Known:
    given, made = shape_of(node.all_input_nodes[0]), shape_of(node)
    if made == given:
        return SAME
    if len(given) != 4 or made != (given[0], given[1] * given[2] * given[3]):
        raise RefusedError(f"makes {made} of {given}; only (N, C, H, W) to (N, C H W) is known")
    return Flattening()


def _sum(node: fx.Node, values: _Values) -> Known:
    given = [each for each in (argument(node, "input", 0), argument(node, "other", 1)) if isinstance(each, fx.Node)]
    if len(given) != 2 or argument(node, "alpha", 2, 1) != 1:
        raise RefusedError("adds something else than two outputs of layers")
    if len({shape_of(each) for each in given}) != 1:
        raise RefusedError("adds tensors of two shapes")
    return Sum()


def _concatenation(node: fx.Node, values: _Values) -> Known:
    axis = argument(node, "dim", 1, 0)
    if axis % len(shape_of(node)) != 1:
        raise RefusedError(f"joins along axis {axis}, not along the channels")
    return Concatenation() if len(argument(node, "tensors", 0)) > 1 else SAME


def _leaky(slope: Any) -> Known:
    if not 0 <= slope <= 1:
        raise RefusedError(f"has the slope {slope}, not one from 0 to 1")
    return LeakyRectifier(float(slope))


def _upsampling(mode: object, node: fx.Node) -> Known:
    if mode != "nearest":
        raise RefusedError(f"has the mode {mode!r}, not 'nearest'")
    scale = _ratio(shape_of(node), shape_of(node.all_input_nodes[0]))
    return SAME if scale == (1, 1) else Upsampling(scale)


def _dropout(node: fx.Node, values: _Values) -> Known:
    if argument(node, "training", 2, node.target is not functional.dropout):
        raise RefusedError("drops numbers by chance; call .eval(), and give it training=self.training")
    return SAME


def _module(known: Known) -> Callable[[Any, fx.Node], Known]:
    return lambda module, node: known


_MODULES: dict[type[nn.Module], Callable[[Any, fx.Node], Known]] = {
    nn.Conv2d: _conv_module,
    nn.Linear: lambda module, node: _linear(module.weight, module.bias, node),
    nn.BatchNorm2d: _norm_module,
    nn.BatchNorm1d: _norm_module,
    nn.ReLU: _module(Rectifier()),
    nn.LeakyReLU: lambda module, node: _leaky(module.negative_slope),
    nn.Sigmoid: _module(Sigmoid()),
    nn.Tanh: _module(Tanh()),
    nn.MaxPool2d: _maximum_module,
    nn.AvgPool2d: _average_module,
    nn.AdaptiveAvgPool2d: lambda module, node: _adaptive_average(node),
    nn.AdaptiveMaxPool2d: lambda module, node: _adaptive_maximum(node),
    nn.Flatten: lambda module, node: _flattened(node),
    nn.Upsample: lambda module, node: _upsampling(module.mode, node),
    nn.UpsamplingNearest2d: lambda module, node: _upsampling(module.mode, node),
    **dict.fromkeys((nn.Identity, nn.Dropout, nn.Dropout1d, nn.Dropout2d), _module(SAME)),
}

_Rule = Callable[[fx.Node, _Values], Known]


def _call(known: Known) -> _Rule:
    return lambda node, values: known


_CALLS: dict[Any, _Rule] = {
    torch.conv2d: _conv_call,
    functional.linear: lambda node, values: _linear(
        values(argument(node, "weight", 1)), values(argument(node, "bias", 2)), node
    ),
    functional.batch_norm: _norm_call,
    **dict.fromkeys((functional.relu, torch.relu, torch.relu_), _call(Rectifier())),
    functional.leaky_relu: lambda node, values: _leaky(argument(node, "negative_slope", 1, 0.01)),
    **dict.fromkeys((functional.sigmoid, torch.sigmoid), _call(Sigmoid())),
    **dict.fromkeys((functional.tanh, torch.tanh), _call(Tanh())),
    **dict.fromkeys((functional.max_pool2d, torch.max_pool2d), _maximum_call),
    functional.avg_pool2d: _average_call,
    functional.adaptive_avg_pool2d: lambda node, values: _adaptive_average(node),
    functional.adaptive_max_pool2d: lambda node, values: _adaptive_maximum(node),
    torch.flatten: lambda node, values: _flattened(node),
    **dict.fromkeys((operator.add, operator.iadd, torch.add), _sum),
    torch.cat: _concatenation,
    **dict.fromkeys((functional.dropout, functional.dropout2d), _dropout),
    functional.interpolate: lambda node, values: _upsampling(argument(node, "mode", 3, "nearest"), node),
}

_METHODS: dict[Any, _Rule] = {
    **dict.fromkeys(("relu", "relu_"), _call(Rectifier())),
    "sigmoid": _call(Sigmoid()),
    "tanh": _call(Tanh()),
    **dict.fromkeys(("add", "add_"), _sum),
    **dict.fromkeys(("flatten", "view", "reshape"), lambda node, values: _flattened(node)),
    "contiguous": _call(SAME),
}
