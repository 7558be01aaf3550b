"""Receptive fields: which pixels a patch of the latents can depend on, followed through the modules of a network.

A patch is a cell (row, column) of the latent grid. Its receptive field is a rectangle of input pixels outside of which
nothing changes the patch's latent. It is no part of a proof; it says where to look.

Method:
    A convolution or pooling with kernel k, stride s, padding p and dilation d computes row i of its output from those
    rows i s - p + d t, t = 0..k-1, of its input that are there. Rows and columns do not mix, so each is followed for
    itself, from the input on, as an interval for every row and every column. Sums and concatenations take the hull of
    the union. Whatever is not known is taken to depend on the whole input, and is named.
"""

from __future__ import annotations

import logging
import operator
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional

from verale.adapters.fields import Axis, ReceptiveFields
from verale.adapters.latents import evaluating
from verale.adapters.tracing import argument, is_parameter, shape_of, traced_on
from verale.errors import InputError

_log = logging.getLogger(__name__)


def receptive_fields(
    network: nn.Module, size: tuple[int, int], channels: int = 3, layer: str | None = None
) -> ReceptiveFields:
    """Follow the receptive fields through a network from images (N, C, H, W) to latents (N, D, h, w).

    Args:
        network: in eval mode; in training, batch normalisation lets every pixel matter. It is unchanged afterwards.
        size: (H, W) of its input.
        channels: C.
        layer: the layer whose first output the latents are, a name of `network.named_modules()`; what comes after it is
            not looked at. By default the latents are the network's own output.

    Raises:
        InputError: the network cannot be traced, or does not give latents (N, D, h, w).
    """
    traced = traced_on(network, (channels, *size), layer)
    fields: dict[Any, tuple[Axis, Axis]] = {}
    unknown: dict[str, None] = {}
    result = None
    for node in traced.graph.nodes:
        if node.op == "output":
            result = fields.get(node.args[0])
        elif _is_spatial(node):
            height, width = shape_of(node)[2:]
            if node.op == "placeholder":
                rows, columns = (tuple((at, at + 1) for at in range(length)) for length in (height, width))
                fields[node] = rows, columns
                continue
            module = traced.get_submodule(node.target) if node.op == "call_module" else None
            found = _followed(node, module, fields)
            if found is None:
                name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", node.target)
                unknown[str(name).removeprefix("0.")] = None
                found = ((0, size[0]),) * height, ((0, size[1]),) * width
            fields[node] = found
    if result is None:
        raise InputError(type(network).__name__, "does not give latents (N, D, h, w), so there is no grid of patches")
    return ReceptiveFields(*result, size, tuple(unknown))


def fields_of(model: nn.Module, image: Tensor, layer: str) -> ReceptiveFields | None:
    """The receptive fields of a model's layer; None, and a line in the log, where they cannot be computed.

    Args:
        model: any torch model. It is unchanged afterwards.
        image: one that it takes, (C, H, W).
        layer: whose output the latents are.
    """
    if image.dim() != 3:
        return None
    try:
        with evaluating(model):
            return receptive_fields(model, (image.shape[1], image.shape[2]), image.shape[0], layer)
    except InputError as error:
        _log.info("no receptive fields: %s", error)
        return None


_POINTWISE = (
    nn.Identity, nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.PReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Hardswish, nn.Hardsigmoid,
    nn.Sigmoid, nn.Tanh, nn.Softplus, nn.BatchNorm2d, nn.Dropout, nn.Dropout2d,
)  # fmt: skip
_POINTWISE_FUNCTIONS: frozenset[Any] = frozenset({
    operator.add, operator.sub, operator.mul, operator.truediv, operator.iadd, operator.imul, operator.neg,
    torch.add, torch.sub, torch.mul, torch.div, torch.relu, torch.sigmoid, torch.tanh, torch.exp, torch.log, torch.sqrt,
    torch.clamp, functional.relu, functional.relu6, functional.gelu, functional.silu, functional.leaky_relu,
    functional.dropout, functional.hardswish, functional.hardsigmoid,
})  # fmt: skip
_ALONG = frozenset({functional.normalize, functional.softmax, functional.log_softmax, torch.softmax, "softmax"})
"""Those that mix along one axis, which has to be the channels'."""
_POINTWISE_METHODS = frozenset({"add", "mul", "sub", "div", "relu", "sigmoid", "tanh", "clamp", "contiguous", "float"})


def _followed(
    node: fx.Node, module: nn.Module | None, fields: dict[Any, tuple[Axis, Axis]]
) -> tuple[Axis, Axis] | None:
    """The fields of a node's output, from those of what it reads; None if there is no rule."""
    read = [one for one in node.all_input_nodes if not is_parameter(one)]
    inputs = [fields[one] for one in read if one in fields]
    if not inputs or len(inputs) < sum(map(_is_spatial, read)):
        return None
    lengths = shape_of(node)[2:]
    rule = _rule_of(node, module)
    if rule is not None and len(inputs) == 1:
        rows, columns = (rule(inputs[0][axis], lengths[axis], axis) for axis in (0, 1))
        return rows, columns
    axes = list(zip(*inputs, strict=True))
    if len(inputs) < len(read) or not _is_pointwise(node):
        return None
    if any(len(each) not in (1, length) for given, length in zip(axes, lengths, strict=True) for each in given):
        return None
    # The hull, place by place; an axis of length 1 is repeated, as torch does it.
    rows, columns = (
        tuple(map(_union, zip(*(each * length if len(each) == 1 else each for each in given), strict=True)))
        for given, length in zip(axes, lengths, strict=True)
    )
    return rows, columns


def _is_spatial(node: fx.Node) -> bool:
    return len(shape_of(node)) == 4 and not is_parameter(node)


def _is_pointwise(node: fx.Node) -> bool:
    """Whether output (n, d, i, j) depends on the inputs' entries (n, any, i, j) alone."""
    if node.target is torch.cat:
        return argument(node, "dim", 1, 0) in (1, -3)
    if node.target in _ALONG:
        return argument(node, "dim", 2 if node.target is functional.normalize else 1, 1) in (1, -3)
    if node.op == "call_method":
        return node.target in _POINTWISE_METHODS
    if node.target is functional.batch_norm:
        return not argument(node, "training", 5, False)
    return node.op == "call_function" and node.target in _POINTWISE_FUNCTIONS


_Rule = Callable[[Axis, int, int], Axis]
"""From the input's intervals along an axis, the output's length and the axis (0 rows, 1 columns), the output's."""


def _rule_of(node: fx.Node, module: nn.Module | None) -> _Rule | None:
    """How a module, or a function of torch, lets its output depend on its input; None if that is not known."""

    def told(name: str, place: int, default: object = None) -> Any:
        return argument(node, name, place, default, module)

    if isinstance(module, _POINTWISE) or (isinstance(module, nn.Softmax) and module.dim in (1, -3)):
        return lambda given, length, axis: given
    if isinstance(module, (nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d)) or node.target in _ADAPTIVE:
        return _adaptive
    if node.target is torch.conv2d or (isinstance(module, nn.Conv2d) and module.padding_mode == "zeros"):
        kernel: Any = shape_of(told("weight", 1))[2:] if module is None else module.kernel_size
        padding, dilation = told("padding", 4, 0), told("dilation", 5, 1)
        if padding == "same":  # what cannot be halved goes to the end
            wide = (dilation,) * 2 if isinstance(dilation, int) else dilation
            padding = tuple(d * (k - 1) // 2 for d, k in zip(wide, kernel, strict=True))
        return _windows(kernel, told("stride", 3, 1), 0 if padding == "valid" else padding, dilation)
    if isinstance(module, nn.ZeroPad2d | nn.ConstantPad2d):
        return _around(module.padding)
    if node.target is functional.pad and told("mode", 2, "constant") == "constant":
        return _around(told("pad", 1))
    kernel, padding = told("kernel_size", 1), told("padding", 3, 0)
    if node.target in _MAXIMUM or (isinstance(module, nn.MaxPool2d) and not module.return_indices):
        return _windows(kernel, told("stride", 2) or kernel, padding, told("dilation", 4, 1))
    if node.target is functional.avg_pool2d or isinstance(module, nn.AvgPool2d):
        return _windows(kernel, told("stride", 2) or kernel, padding, 1)
    return None


_ADAPTIVE = (functional.adaptive_avg_pool2d, functional.adaptive_max_pool2d)
_MAXIMUM = (functional.max_pool2d, torch.max_pool2d)


def _windows(kernel: Any, stride: Any, padding: Any, dilation: Any) -> _Rule:
    def rule(given: Axis, length: int, axis: int) -> Axis:
        k, s, p, d = (value if isinstance(value, int) else value[axis] for value in (kernel, stride, padding, dilation))
        taken = ([i * s - p + d * t for t in range(k)] for i in range(length))
        return tuple(_union(given[at] for at in places if 0 <= at < len(given)) for places in taken)

    return rule


def _around(sides: Any) -> _Rule:
    """What lies around an image: (left, right, top, bottom)."""
    left, _, top, _ = (*sides, 0, 0, 0, 0)[:4]

    def rule(given: Axis, length: int, axis: int) -> Axis:
        before = (top, left)[axis]
        return tuple(given[at] if 0 <= at < len(given) else (0, 0) for at in range(-before, length - before))

    return rule


def _adaptive(given: Axis, length: int, axis: int) -> Axis:
    """Row i takes the rows floor(i n / m) to ceil((i + 1) n / m) - 1, of n rows given and m rows made."""
    n = len(given)
    return tuple(_union(given[i * n // length : -(-(i + 1) * n // length)]) for i in range(length))


def _union(intervals: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """The hull. Of none, and of padding alone, it is empty: (0, 0)."""
    present = [(first, after) for first, after in intervals if first < after]
    return (min(first for first, _ in present), max(after for _, after in present)) if present else (0, 0)
