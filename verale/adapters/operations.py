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

from verale.adapters.calls import Call, RefusedError, Values
from verale.adapters.rewritings import (
    NOTHING,
    REWRITINGS,
    WRITE,
    divided,
    in_place_of,
    kept_apart,
    padded_before,
    padded_behind_relu,
    scaled,
    shifted_pad,
    sloped,
    windows_apart,
)
from verale.adapters.tracing import shape_of
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

__all__ = ["SAME", "Normalisation", "is_in_place", "operation_of", "unclaimed_number"]


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


def operation_of(node: fx.Node, module: nn.Module | None, values: Values) -> Known:
    """What a node computes: an operation of network files, a normalisation that is folded, or `SAME`.

    Args:
        node: of a traced network, with shapes.
        module: the module that it calls; None where it calls a function or a method.
        values: gives the parameters that a call names. Raises RefusedError for what is no parameter.

    Raises:
        RefusedError: it is none of these.
    """
    if module is not None and (module._forward_hooks or module._forward_pre_hooks):
        raise RefusedError("has hooks, which may change what it computes", "remove them")
    called = node.target if module is None else type(module)
    call, rule = Call(node, module, values), _RULES.get(called)
    if rule is None:
        raise RefusedError("is not known", REWRITINGS[called](call) if called in REWRITINGS else WRITE)
    return rule(call)


def is_in_place(node: fx.Node, module: nn.Module | None) -> bool:
    """Whether a node writes its output over its first input."""
    if module is not None:
        return bool(getattr(module, "inplace", False))
    written = node.target in (operator.iadd, torch.relu_) or (node.op == "call_method" and str(node.target)[-1] == "_")
    return written or bool(node.kwargs.get("inplace", False))


def _pair(value: Any) -> Pair:
    first, second = (value, value) if isinstance(value, int) else (value[0], value[-1])
    return int(first), int(second)


def _convolution(call: Call) -> Known:
    mode = getattr(call.module, "padding_mode", "zeros")
    if mode != "zeros":
        raise RefusedError(f"pads with {mode!r}, not with zeros", NOTHING)
    weight, padding, wide = call.tensor("weight", 1), call.number("padding", 4, 0), _pair(call.number("dilation", 5, 1))
    if weight is None:
        raise RefusedError("has no weight", "make it a parameter")
    if weight.dim() != 4:
        raise RefusedError("has a kernel that is not two-dimensional", NOTHING)
    if padding == "same":
        spans = [d * (k - 1) for d, k in zip(wide, weight.shape[2:], strict=True)]
        if any(span % 2 for span in spans):
            (above, below), (left, right) = ((span // 2, span - span // 2) for span in spans)
            raise RefusedError("pads one side more than the other", padded_before((left, right, above, below)))
        padding = [span // 2 for span in spans]
    around = (0, 0) if padding == "valid" else _pair(padding)
    stride, groups = _pair(call.number("stride", 3, 1)), int(call.number("groups", 6, 1))
    return Convolution(stride, around, wide, groups, weight, call.tensor("bias", 2))


def _linear(call: Call) -> Known:
    weight = call.tensor("weight", 1)
    if weight is None or len(call.output_shape) != 2:
        raise RefusedError(
            "is applied to tensors that are not (N, D)", "flatten them first, or use a 1 x 1 convolution"
        )
    return FullConnection(weight, call.tensor("bias", 2))


def _normalisation(call: Call) -> Known:
    if call.number("training", 5, False):
        raise RefusedError("normalises by the numbers of the batch", "call .eval(), and give it training=self.training")
    names = (("running_mean", 1), ("running_var", 2), ("weight", 3), ("bias", 4))
    tensors = {name: call.tensor(name, place) for name, place in names}
    if tensors["running_mean"] is None or tensors["running_var"] is None:
        raise RefusedError("normalises by the numbers of the batch or the picture", "train it with running statistics")
    epsilon = float(call.number("eps", 7, 1e-5))
    held = {name: tensor.detach() for name, tensor in tensors.items() if tensor is not None}
    for name, tensor in held.items():
        if not bool(tensor.isfinite().all()):
            raise RefusedError(f"has a {name} with NaN or infinity", "train it, or load other numbers")
    mean, variance = held["running_mean"].double(), held["running_var"].double()
    least = float((variance + epsilon).amin())
    if not least > 0:
        raise RefusedError(f"has a running_var plus eps of {least:g}, expected one above 0", "train it, or raise eps")
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


def _window(call: Call, remedy: Callable[[int, int], str]) -> tuple[Pair, Pair, Pair]:
    """Kernel, stride and padding of a pooling.

    Args:
        remedy: what to do where `ceil_mode` adds windows, from how far they reach beyond rows and columns.

    Raises:
        RefusedError: windows reach beyond the padding.
    """
    kernel = call.number("kernel_size", 1)
    pairs = _pair(kernel), _pair(call.number("stride", 2) or kernel), _pair(call.number("padding", 3, 0))
    axes = zip(call.input_shape[2:], call.output_shape[2:], *pairs, strict=True)
    below, right = (max(0, (m - 1) * s + k - 2 * p - n) for n, m, k, s, p in axes)
    if below or right:
        raise RefusedError("has a window that reaches beyond the padding (ceil_mode)", remedy(right, below))
    return pairs


def _maximum(call: Call) -> Known:
    if call.number("return_indices", 6, False):
        raise RefusedError("gives indices, which network files do not have", "set return_indices=False")
    if _pair(call.number("dilation", 4, 1)) != (1, 1):
        padded = _pair(call.number("padding", 3, 0)) != (0, 0)
        kernel = _pair(call.number("kernel_size", 1))
        raise RefusedError(
            "has a dilation, which network files do not have",
            NOTHING if padded else windows_apart(call.input_shape, kernel),
        )
    return SpatialMaximum(*_window(call, padded_behind_relu))


def _average(call: Call) -> Known:
    padded = _pair(call.number("padding", 3, 0)) != (0, 0)
    window = _window(call, lambda right, below: f"take pictures of another size; {NOTHING}")
    divisor = call.number("divisor_override", 6)
    if divisor is not None:
        kernel, stride, padding = window
        pooling = f"nn.AvgPool2d({kernel}, {stride}, {padding})"
        factor = kernel[0] * kernel[1] / divisor
        raise RefusedError("has a divisor of its own", divided(call.input_shape, pooling, factor))
    if padded and not call.number("count_include_pad", 5, True):
        raise RefusedError("has padding that does not count", f"train it with count_include_pad=True; {NOTHING}")
    return AveragePooling(*window)


def _padding(call: Call) -> Known:
    """Zeros on any side: a convolution of each channel by a kernel with a single 1, padded as on the wider side."""
    pads = call.number("padding", 1) if call.module is not None else call.number("pad", 1)
    mode, value = call.number("mode", 2, "constant"), call.number("value", 3) or 0.0
    sides = tuple(map(int, pads)) if not isinstance(pads, int) else (pads,) * 4
    sides += (0,) * (4 - len(sides))
    if mode != "constant" or len(call.input_shape) != 4 or len(sides) > 4 or min(sides) < 0:
        raise RefusedError(f"pads by {sides} with mode {mode!r}, not rows and columns with zeros", NOTHING)
    if value:
        raise RefusedError(f"pads with {value}, not with zeros", shifted_pad(call.input_shape, sides, float(value)))
    left, right, above, below = sides
    weight = torch.zeros(call.input_shape[1], 1, abs(above - below) + 1, abs(left - right) + 1)
    weight[:, :, max(above, below) - above, max(left, right) - left] = 1
    around = max(above, below), max(left, right)
    return Convolution((1, 1), around, (1, 1), call.input_shape[1], weight) if any(sides) else SAME


def _ratio(larger: tuple[int, ...], smaller: tuple[int, ...]) -> Pair:
    """How many rows and columns of one become one of the other. Raises RefusedError."""
    if len(larger) != 4 or len(smaller) != 4 or larger[2] % smaller[2] or larger[3] % smaller[3]:
        raise RefusedError(
            f"takes {larger[2:]} and {smaller[2:]} places, neither a multiple of the other",
            "take pictures of a size for which one is; windows of different sizes are not in network files",
        )
    return larger[2] // smaller[2], larger[3] // smaller[3]


def _adaptive(of: Callable[[Pair, Pair, Pair], Operation]) -> _Rule:
    def rule(call: Call) -> Known:
        window = _ratio(call.input_shape, call.output_shape)
        return SAME if window == (1, 1) else of(window, window, (0, 0))

    return rule


def _flattened(call: Call) -> Known:
    given, made = call.input_shape, call.output_shape
    if made == given:
        return SAME
    if len(given) != 4 or made != (given[0], given[1] * given[2] * given[3]):
        raise RefusedError(
            f"makes {made} of {given}; only (N, C, H, W) to (N, C H W) is known",
            kept_apart(given[1], given[1]) if len(given) == 4 and len(made) == 5 else "use flatten(1)",
        )
    return Flattening()


_ADDED = (("input", "other"), (0, 1))


def _sum(call: Call) -> Known:
    given = [each for each in (call.number("input", 0), call.number("other", 1)) if isinstance(each, fx.Node)]
    if len(given) != 2:
        number = next((value for value in map(call.number, *_ADDED) if isinstance(value, int | float)), None)
        remedy = NOTHING if number is None else in_place_of(scaled(call.input_shape, 1, float(number)))
        raise RefusedError("adds something else than two outputs of layers", remedy)
    if (alpha := call.number("alpha", 2, 1)) != 1:
        multiplied = scaled(call.input_shape, float(alpha), 0)
        raise RefusedError("adds something else than two outputs of layers", f"add x and A(y), with A {multiplied}")
    if len({shape_of(each) for each in given}) != 1:
        raise RefusedError("adds tensors of two shapes", "repeat the smaller one, as nn.Upsample does with places")
    return Sum()


def _concatenation(call: Call) -> Known:
    axis = call.number("dim", 1, 0)
    if axis % len(call.output_shape) != 1:
        raise RefusedError(f"joins along axis {axis}, not along the channels", NOTHING)
    return Concatenation() if len(call.number("tensors", 0)) > 1 else SAME


def _leaky(call: Call) -> Known:
    slope = call.number("negative_slope", 1, 0.01)
    if not 0 <= slope <= 1:
        raise RefusedError(f"has the slope {slope}, not one from 0 to 1", sloped(call.input_shape, [float(slope)]))
    return LeakyRectifier(float(slope))


def _upsampling(call: Call) -> Known:
    mode = call.number("mode", 3, "nearest")
    if mode != "nearest":
        raise RefusedError(f"has the mode {mode!r}, not 'nearest'", NOTHING)
    scale = _ratio(call.output_shape, call.input_shape)
    return SAME if scale == (1, 1) else Upsampling(scale)


def _dropout(call: Call) -> Known:
    if call.number("training", 2, call.node.target is not functional.dropout):
        raise RefusedError("drops numbers by chance", "call .eval(), and give it training=self.training")
    return SAME


_Rule = Callable[[Call], Known]


def _always(known: Known) -> _Rule:
    return lambda call: known


_RULES: dict[Any, _Rule] = {
    **dict.fromkeys((nn.Conv2d, torch.conv2d), _convolution),
    **dict.fromkeys((nn.Linear, functional.linear), _linear),
    **dict.fromkeys((nn.BatchNorm2d, nn.BatchNorm1d, nn.InstanceNorm2d, functional.batch_norm), _normalisation),
    **dict.fromkeys((nn.ZeroPad2d, nn.ConstantPad2d, functional.pad), _padding),
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
    **dict.fromkeys((functional.dropout, functional.dropout2d, functional.alpha_dropout), _dropout),
    **dict.fromkeys((nn.Identity, nn.Dropout, nn.Dropout1d, nn.Dropout2d, "contiguous"), _always(SAME)),
    **dict.fromkeys((nn.AlphaDropout, nn.FeatureAlphaDropout), _always(SAME)),
}
"""By a module's class, a function or the name of a method."""
