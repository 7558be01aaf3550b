"""Which operation of a network file a module or a call of torch is; whatever is not known is refused.

Modules are known by their exact class: a subclass may compute something else. A module has what the function that it
calls is given as attributes, of the same names; so one rule reads both.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional

from verale.adapters.composites import (
    Step,
    Steps,
    averaged,
    clamped,
    difference,
    gated,
    hard_gate,
    layer_norm,
    padded,
    padded_with,
    scaled,
    sloped,
    turned,
)
from verale.adapters.tracing import Call, RefusedError, Values, called, is_parameter, read_by, shape_of
from verale.network.layers import (
    AveragePooling,
    Concatenation,
    Convolution,
    Flattening,
    FullConnection,
    Gaussian,
    LeakyRectifier,
    Operation,
    Pair,
    Product,
    Rectifier,
    Sigmoid,
    SpatialMaximum,
    Sum,
    Tanh,
    Upsampling,
)
from verale.network.network import GREATEST_FOLDED

REMEDY = (
    "train the network with convolutions, batch and layer normalisation, linear layers, ReLU, PReLU, LeakyReLU, ReLU6,"
    " SiLU, GELU, Hardswish, Sigmoid, Tanh, poolings, sums, products and concatenations, or write it with these, or"
    " name an earlier layer"
)
"""What to do about what no layers of a network file compute."""


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


SAME, TURNED = "same", "turned"
"""The output is the input, or that with the channels behind rows and columns, or before them again."""

Known = Operation | Steps | Normalisation | str


def operation_of(node: fx.Node, module: nn.Module | None, values: Values, is_last: bool = False) -> Known:
    """What a node computes: one or several operations of network files, a normalisation that is folded, `SAME` or
    `TURNED`.

    Args:
        node: of a traced network, with shapes.
        module: the module that it calls; None where it calls a function or a method.
        values: gives the parameters that a call names. Raises RefusedError for what is no parameter.
        is_last: whether what it reads has its channels last.

    Raises:
        RefusedError: it is none of these.
    """
    if module is not None and (module._forward_hooks or module._forward_pre_hooks):
        raise RefusedError("has hooks, which may change what it computes", "remove them")
    called = node.target if module is None else type(module)
    call, rule = Call(node, module, values, is_last), _EVERYWHERE.get(called, _RULES.get(called))
    if rule is None and getattr(called, "__name__", "") == "stochastic_depth":  # of torchvision
        rule = _depth
    if rule is None:
        raise RefusedError("is not known", _REMEDIES.get(called, REMEDY))
    if is_last and called in _RULES:
        raise RefusedError("reads channels that stand behind rows and columns", "permute them to (N, C, H, W) before")
    return rule(call)


def is_in_place(node: fx.Node, module: nn.Module | None) -> bool:
    """Whether a node writes its output over its first input."""
    if module is not None:
        return bool(getattr(module, "inplace", False))
    written = node.target in (operator.iadd, operator.imul, torch.relu_) or (
        node.op == "call_method" and str(node.target)[-1] == "_"
    )
    return written or bool(node.kwargs.get("inplace", False))


def _pair(value: Any) -> Pair:
    first, second = (value, value) if isinstance(value, int) else (value[0], value[-1])
    return int(first), int(second)


def _convolution(call: Call) -> Known:
    mode = getattr(call.module, "padding_mode", "zeros")
    if mode != "zeros":
        raise RefusedError(f"pads with {mode!r}, not with zeros", REMEDY)
    weight, padding, wide = call.tensor("weight", 1), call.number("padding", 4, 0), _pair(call.number("dilation", 5, 1))
    stride, groups, bias = _pair(call.number("stride", 3, 1)), int(call.number("groups", 6, 1)), call.tensor("bias", 2)
    if weight is None:
        raise RefusedError("has no weight", "make it a parameter")
    if weight.dim() != 4:
        raise RefusedError("has a kernel that is not two-dimensional", REMEDY)
    if padding == "same":
        spans = [d * (k - 1) for d, k in zip(wide, weight.shape[2:], strict=True)]
        if any(span % 2 and d > 1 for span, d in zip(spans, wide, strict=True)):
            (above, below), (left, right) = ((span // 2, span - span // 2) for span in spans)
            whole = Convolution(stride, (0, 0), wide, groups, weight, bias)
            zeros = padded(call.input_shape[1], left, right, above, below)
            return Steps((Step("padded", zeros, (0,)), Step("", whole, ("padded",))))
        padding = [span - span // 2 for span in spans]
        # Zeros, so that it reads nothing of what is padded too much.
        weight = functional.pad(weight, (spans[1] % 2, 0, spans[0] % 2, 0))
    around = (0, 0) if padding == "valid" else _pair(padding)
    return Convolution(stride, around, wide, groups, weight, bias)


def _linear(call: Call) -> Known:
    weight = call.tensor("weight", 1)
    if weight is not None and call.is_last:
        return Convolution((1, 1), (0, 0), (1, 1), 1, weight[:, :, None, None], call.tensor("bias", 2))
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


def _window(call: Call) -> tuple[tuple[Pair, Pair, Pair], Pair]:
    """Kernel, stride and padding of a pooling; and how far windows that `ceil_mode` adds reach beyond the padding, in
    rows and columns."""
    kernel = call.number("kernel_size", 1)
    pairs = _pair(kernel), _pair(call.number("stride", 2) or kernel), _pair(call.number("padding", 3, 0))
    axes = zip(call.input_shape[2:], call.output_shape[2:], *pairs, strict=True)
    below, right = (max(0, (m - 1) * s + k - 2 * p - n) for n, m, k, s, p in axes)
    return pairs, (below, right)


def _maximum(call: Call) -> Known:
    if call.number("return_indices", 6, False):
        raise RefusedError("gives indices, which network files do not have", "set return_indices=False")
    if _pair(call.number("dilation", 4, 1)) != (1, 1):
        raise RefusedError("has a dilation, which network files do not have", REMEDY)
    pairs, (below, right) = _window(call)
    if below or right:
        raise RefusedError(
            "has a window that reaches beyond the padding (ceil_mode)",
            f"behind a ReLU, where nothing is below 0, put nn.ZeroPad2d({(0, right, 0, below)}) before it, and"
            " ceil_mode=False; elsewhere take pictures of another size",
        )
    return SpatialMaximum(*pairs)


def _average(call: Call) -> Known:
    (kernel, stride, padding), beyond = _window(call)
    pooling, channels = AveragePooling(kernel, stride, padding), call.input_shape[1]
    divisor, counted = call.number("divisor_override", 6), bool(call.number("count_include_pad", 5, True))
    if divisor is None:
        uneven = beyond != (0, 0) or (padding != (0, 0) and not counted)
        return averaged(channels, pooling, beyond, counted) if uneven else pooling
    line = Step("", scaled(call.output_shape, kernel[0] * kernel[1] / divisor, is_claimed=False), ("mean",))
    if beyond == (0, 0):
        return Steps((Step("mean", pooling, (0,)), line))
    wider = Step("wider", padded(channels, 0, beyond[1], 0, beyond[0]), (0,))
    return Steps((wider, Step("mean", pooling, ("wider",)), line))


def _padding(call: Call) -> Known:
    pads = call.number("padding", 1) if call.module is not None else call.number("pad", 1)
    mode, value = call.number("mode", 2, "constant"), call.number("value", 3) or 0.0
    sides = tuple(map(int, pads)) if not isinstance(pads, int) else (pads,) * 4
    sides += (0,) * (4 - len(sides))
    if mode != "constant" or len(call.input_shape) != 4 or len(sides) > 4 or min(sides) < 0:
        raise RefusedError(f"pads by {sides} with mode {mode!r}, not rows and columns with zeros", REMEDY)
    if not any(sides):
        return SAME
    return padded_with(call.input_shape[1], sides, float(value)) if value else padded(call.input_shape[1], *sides)


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
    if len(given) == 4 and len(made) == 3:
        raise RefusedError(f"makes {made} of {given}; network files have no sequences of patches", REMEDY)
    if len(made) == 4:
        return _moved(call)
    if len(given) != 4 or made != (given[0], given[1] * given[2] * given[3]):
        raise RefusedError(f"makes {made} of {given}; only (N, C, H, W) to (N, C H W) is known", "use flatten(1)")
    return Flattening()


def _factors(call: Call) -> tuple[fx.Node | None, fx.Node | None, Any]:
    """Two outputs of layers; or one of them, and the number, or the numbers of channels, that it meets.

    Raises:
        RefusedError: it meets something else.
    """
    first, second = call.number("input", 0), call.number("other", 1)
    nodes = [
        each if isinstance(each, fx.Node) and not is_parameter(each) and shape_of(each) else None
        for each in (first, second)
    ]
    if None not in nodes:
        return nodes[0], nodes[1], None
    if nodes == [None, None]:
        raise RefusedError("reads no output of a layer", "make its result a parameter")
    other = second if nodes[0] is not None else first
    if isinstance(other, fx.Node) and is_parameter(other):
        other = call.values(other)
    channels = call.output_shape[1] if len(call.output_shape) in (2, 4) else 0
    if isinstance(other, Tensor):
        axes = [*(1,) * (len(call.output_shape) - other.dim()), *other.shape]
        if call.is_last:
            axes = [axes[0], axes[3], *axes[1:3]]
        if channels and axes not in ([1] * len(axes), [1, channels, *[1] * (len(axes) - 2)]):
            raise RefusedError("meets numbers of places, not of channels", REMEDY)
    elif not isinstance(other, int | float) or not math.isfinite(other):
        raise RefusedError("meets something else than outputs of layers, parameters and numbers", REMEDY)
    if not channels:
        raise RefusedError(f"gives {call.output_shape}, expected (N, C, H, W) or (N, C)", REMEDY)
    return nodes[0], nodes[1], other


def _sum(call: Call) -> Known:
    first, second, other = _factors(call)
    alpha = float(call.number("alpha", 2, 1))
    if first is None or second is None:
        return scaled(call.output_shape, 1.0 if second is None else alpha, other * (alpha if second is None else 1))
    if shape_of(first) != shape_of(second):
        raise RefusedError("adds tensors of two shapes", "repeat the smaller one, as nn.Upsample does with places")
    return Sum() if alpha == 1 else difference(call.output_shape, alpha)


def _difference(call: Call) -> Known:
    first, second, other = _factors(call)
    if first is None or second is None:
        return scaled(call.output_shape, 1.0, -other) if second is None else scaled(call.output_shape, -1.0, other)
    if shape_of(first) != shape_of(second) or call.number("alpha", 2, 1) != 1:
        raise RefusedError("subtracts tensors of two shapes, or a multiple", REMEDY)
    return difference(call.output_shape)


def _product(call: Call) -> Known:
    first, second, other = _factors(call)
    if first is None or second is None:
        return scaled(call.output_shape, other)
    large = shape_of(call.node)
    for known, one, two in ((Product(), first, second), (turned(), second, first)):
        a, b = shape_of(one), shape_of(two)
        if a == large and len(a) == len(b) and all(m in (1, n) for n, m in zip(a, b, strict=True)):
            return known
    raise RefusedError(f"multiplies {shape_of(first)} and {shape_of(second)}", REMEDY)


def _quotient(call: Call) -> Known:
    first, _, other = _factors(call)
    if first is None or other is None or bool((torch.as_tensor(other) == 0).any()):
        raise RefusedError("divides by an output of a layer, or by 0", REMEDY)
    return scaled(call.output_shape, 1 / other, is_claimed=False)


def _whole(of: Callable[[Pair, Pair, Pair], Operation]) -> _Rule:
    """What is computed over all rows and columns."""

    def rule(call: Call) -> Known:
        before, after = call.input_shape, call.output_shape
        if len(before) != 4 or after != (*before[:2], 1, 1):
            raise RefusedError(
                f"makes {after} of {before}; only over all rows and columns is known", "write it with keepdim=True"
            )
        window = before[2], before[3]
        return of(window, window, (0, 0))

    return rule


def _layer_norm(call: Call) -> Known:
    shape = call.number("normalized_shape", 1)
    channels = call.input_shape[1]
    if not call.is_last or tuple(shape) != (channels,):
        raise RefusedError(
            f"normalises over {tuple(shape)} of {call.input_shape}",
            f"only the channels of each place are normalised, of (N, H, W, C): permute before; elsewhere {REMEDY}",
        )
    epsilon = float(call.number("eps", 4, 1e-5))
    if not epsilon > 0:
        raise RefusedError(f"has the eps {epsilon:g}, expected one above 0", "raise eps")
    return layer_norm(channels, call.tensor("weight", 2), call.tensor("bias", 3), epsilon)


def _turned(call: Call) -> Known:
    dims = call.number("dims", 1)
    dims = tuple(call.node.args[1:]) if isinstance(dims, int) else tuple(dims)
    if len(call.input_shape) != 4 or tuple(each % 4 for each in dims) != (
        (0, 3, 1, 2) if call.is_last else (0, 2, 3, 1)
    ):
        raise RefusedError(
            f"permutes axes as {dims}", f"only (0, 2, 3, 1), and (0, 3, 1, 2) after it, are known; {REMEDY}"
        )
    return TURNED


def _clamp(call: Call) -> Known:
    ends = call.number("min", 1), call.number("max", 2)
    finite = [None if end is None or math.isinf(end) else float(end) for end in ends]
    return SAME if finite == [None, None] else clamped(call.output_shape, *finite)


def _gelu(call: Call) -> Known:
    if call.number("approximate", 1, "none") != "none":
        raise RefusedError("approximates the normal distribution by a tanh", 'set approximate="none", or train it so')
    return gated(Gaussian())


def _depth(call: Call) -> Known:
    if call.number("training", 3, True) and call.number("p", 1) != 0:
        raise RefusedError("drops numbers by chance", "call .eval()")
    return SAME


def _concatenation(call: Call) -> Known:
    axis = call.number("dim", 1, 0)
    if axis % len(call.output_shape) != 1:
        raise RefusedError(f"joins along axis {axis}, not along the channels", REMEDY)
    return Concatenation() if len(call.number("tensors", 0)) > 1 else SAME


def _moved(call: Call) -> Known:
    """Some of the channels, perhaps in another order; found by what becomes of the numbers of entries."""
    source = read_by(call.node.all_input_nodes[0])
    given, made = shape_of(source), call.output_shape
    if len(given) == 4 and len(made) == 4 and made[2:] == given[2:]:
        places = torch.arange(math.prod(given), dtype=torch.float64).reshape(given)
        moved = _carried_out(call.node, source, places) if call.module is None else call.module(places)
        channels = (moved[0, :, 0, 0] / math.prod(given[2:])).long()
        if torch.equal(moved, places[:, channels]):
            weight = torch.eye(given[1])[channels][:, :, None, None]
            same = len(channels) == given[1] and bool((channels.diff() == 1).all())
            return SAME if same else Convolution((1, 1), (0, 0), (1, 1), 1, weight)
    raise RefusedError(f"makes {made} of {given}, and not by choosing or moving whole channels", REMEDY)


def _carried_out(node: fx.Node, source: fx.Node, value: Tensor) -> Any:
    """What a node gives, whose numbers are those of another one, for a value of that."""
    return value if node is source else called(node, lambda each: _carried_out(each, source, value))


def _leaky(call: Call) -> Known:
    slope = float(call.number("negative_slope", 1, 0.01))
    return LeakyRectifier(slope) if 0 <= slope <= 1 else sloped(call.output_shape, slope)


def _prelu(call: Call) -> Known:
    weight = call.tensor("weight", 1)
    if weight is None:
        raise RefusedError("has no slopes", "make them a parameter")
    return sloped(call.output_shape, weight)


def _rrelu(call: Call) -> Known:
    if call.number("training", 3, False):
        raise RefusedError("draws its slopes by chance", "call .eval()")
    return sloped(call.output_shape, (call.number("lower", 1, 1 / 8) + call.number("upper", 2, 1 / 3)) / 2)


def _upsampling(call: Call) -> Known:
    mode = call.number("mode", 3, "nearest")
    if mode != "nearest":
        raise RefusedError(f"has the mode {mode!r}, not 'nearest'", REMEDY)
    scale = _ratio(call.output_shape, call.input_shape)
    return SAME if scale == (1, 1) else Upsampling(scale)


def _dropout(call: Call) -> Known:
    if call.number("training", 2, call.node.target is not functional.dropout):
        raise RefusedError("drops numbers by chance", "call .eval(), and give it training=self.training")
    return SAME


_Rule = Callable[[Call], Known]


def _always(known: Known) -> _Rule:
    return lambda call: known


_EVERYWHERE: dict[Any, _Rule] = {
    **dict.fromkeys((nn.Linear, functional.linear), _linear),
    **dict.fromkeys((nn.LayerNorm, functional.layer_norm), _layer_norm),
    **dict.fromkeys((torch.permute, "permute"), _turned),
    **dict.fromkeys((nn.ReLU, functional.relu, torch.relu, torch.relu_, "relu", "relu_"), _always(Rectifier())),
    **dict.fromkeys((nn.LeakyReLU, functional.leaky_relu), _leaky),
    **dict.fromkeys((nn.RReLU, functional.rrelu), _rrelu),
    **dict.fromkeys((nn.Sigmoid, functional.sigmoid, torch.sigmoid, "sigmoid"), _always(Sigmoid())),
    **dict.fromkeys((nn.Tanh, functional.tanh, torch.tanh, "tanh"), _always(Tanh())),
    **dict.fromkeys((nn.ReLU6, functional.relu6), lambda call: clamped(call.output_shape, 0.0, 6.0)),
    **dict.fromkeys(
        (nn.Hardtanh, functional.hardtanh),
        lambda call: clamped(
            call.output_shape, float(call.number("min_val", 1, -1)), float(call.number("max_val", 2, 1))
        ),
    ),
    **dict.fromkeys((torch.clamp, torch.clip, "clamp", "clip", "clamp_"), _clamp),
    **dict.fromkeys(
        (torch.clamp_min, "clamp_min"), lambda call: clamped(call.output_shape, float(call.number("min", 1)), None)
    ),
    **dict.fromkeys(
        (torch.clamp_max, "clamp_max"), lambda call: clamped(call.output_shape, None, float(call.number("max", 1)))
    ),
    **dict.fromkeys((nn.Hardsigmoid, functional.hardsigmoid), lambda call: hard_gate(call.output_shape, False)),
    **dict.fromkeys((nn.Hardswish, functional.hardswish), lambda call: hard_gate(call.output_shape, True)),
    **dict.fromkeys((nn.SiLU, functional.silu), _always(gated(Sigmoid()))),
    **dict.fromkeys((nn.GELU, functional.gelu), _gelu),
    **dict.fromkeys((operator.add, operator.iadd, torch.add, "add", "add_"), _sum),
    **dict.fromkeys((operator.sub, torch.sub, "sub"), _difference),
    **dict.fromkeys((operator.mul, operator.imul, torch.mul, "mul", "mul_"), _product),
    **dict.fromkeys((operator.truediv, torch.div, "div"), _quotient),
    **dict.fromkeys((operator.neg, torch.neg, "neg"), lambda call: scaled(call.output_shape, -1.0)),
    **dict.fromkeys((functional.dropout, functional.dropout2d, functional.alpha_dropout), _dropout),
    **dict.fromkeys((nn.Identity, nn.Dropout, nn.Dropout1d, nn.Dropout2d, "contiguous"), _always(SAME)),
    **dict.fromkeys((nn.AlphaDropout, nn.FeatureAlphaDropout), _always(SAME)),
}
"""By a module's class, a function or the name of a method: those that compute the same where channels stand last."""

_RULES: dict[Any, _Rule] = {
    **dict.fromkeys((nn.Conv2d, torch.conv2d), _convolution),
    **dict.fromkeys((nn.PReLU, functional.prelu, torch.prelu), _prelu),
    **dict.fromkeys((nn.BatchNorm2d, nn.BatchNorm1d, nn.InstanceNorm2d, functional.batch_norm), _normalisation),
    **dict.fromkeys((nn.ZeroPad2d, nn.ConstantPad2d, functional.pad), _padding),
    **dict.fromkeys((nn.MaxPool2d, functional.max_pool2d, torch.max_pool2d), _maximum),
    **dict.fromkeys((nn.AvgPool2d, functional.avg_pool2d), _average),
    **dict.fromkeys((nn.AdaptiveAvgPool2d, functional.adaptive_avg_pool2d), _adaptive(AveragePooling)),
    **dict.fromkeys((nn.AdaptiveMaxPool2d, functional.adaptive_max_pool2d), _adaptive(SpatialMaximum)),
    **dict.fromkeys((nn.Flatten, torch.flatten, "flatten", "view", "reshape"), _flattened),
    **dict.fromkeys((nn.Upsample, nn.UpsamplingNearest2d, functional.interpolate), _upsampling),
    **dict.fromkeys((torch.mean, "mean"), _whole(AveragePooling)),
    **dict.fromkeys((torch.amax, "amax"), _whole(SpatialMaximum)),
    torch.cat: _concatenation,
    **dict.fromkeys((operator.getitem, nn.ChannelShuffle, torch.channel_shuffle), _moved),
}
"""The others."""

_OF_PICTURE = f"it normalises by the numbers of each picture: {REMEDY}"
_REMEDIES: dict[Any, str] = {
    **dict.fromkeys((nn.GroupNorm, functional.group_norm, torch.norm, torch.linalg.vector_norm, "norm"), _OF_PICTURE),
    **dict.fromkeys(
        (nn.Softmax, nn.Softmax2d, functional.softmax, torch.softmax, "softmax"),
        f"if it is the last layer, name the one before it, and take a head of masses; otherwise {REMEDY}",
    ),
}
"""What to do about some of those that are not known."""
