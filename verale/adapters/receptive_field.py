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

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp
from torch.nn import functional

from verale.errors import InputError

__all__ = ["ReceptiveFields", "receptive_fields"]

_Interval = tuple[int, int]
"""First pixel, and the one after the last; of padding alone the first is not before the other."""
_Axis = tuple[_Interval, ...]
"""For every row, or every column, the pixels that it depends on."""


@dataclass(frozen=True)
class ReceptiveFields:
    """The receptive field of every patch.

    Attributes:
        rows, columns: for each row, and each column, of the latent grid the first of its pixels, and the one after the
            last.
        size: (H, W) of the image, in pixels of the network's input.
        unknown: the modules and functions whose every output is taken to depend on the whole image.
    """

    rows: _Axis
    columns: _Axis
    size: tuple[int, int]
    unknown: tuple[str, ...]

    def box(self, row: int, column: int) -> tuple[int, int, int, int]:
        """Of a patch: left, top, right, bottom, the latter two outside."""
        (top, bottom), (left, right) = self.rows[row], self.columns[column]
        return left, top, right, bottom

    @property
    def whole(self) -> bool:
        """Whether every patch depends on the whole image."""
        height, width = self.size
        return set(self.rows) == {(0, height)} and set(self.columns) == {(0, width)}


def receptive_fields(network: nn.Module, size: tuple[int, int], channels: int = 3) -> ReceptiveFields:
    """Follow the receptive fields through a network from images (N, C, H, W) to latents (N, D, h, w).

    Args:
        network: in eval mode; in training, batch normalisation lets every pixel matter.
        size: (H, W) of its input.
        channels: C.

    Raises:
        InputError: the network cannot be traced, or does not give latents (N, D, h, w).
    """
    if any(module.training for module in network.modules()):
        raise InputError(type(network).__name__, "is in training mode, where images of a batch mix; call .eval()")
    parameter = next(network.parameters(), torch.zeros(()))
    image = torch.zeros(1, channels, *size, dtype=parameter.dtype, device=parameter.device)
    try:
        with torch.no_grad():
            network(image)  # what does not run is told in one line; below it would print a traceback
        traced = fx.symbolic_trace(nn.Sequential(network))  # one layer alone would be taken apart otherwise
        with torch.no_grad():
            ShapeProp(traced).propagate(image)
    except Exception as error:  # whatever a network's own code raises
        raise InputError(type(network).__name__, f"cannot be traced ({type(error).__name__}: {error})") from error
    follower = _Follower(traced, size)
    for node in traced.graph.nodes:
        follower.follow(node)
    found = follower.fields.get(follower.result)
    if found is None:
        raise InputError(type(network).__name__, "does not give latents (N, D, h, w), so there is no grid of patches")
    return ReceptiveFields(*found, size, tuple(dict.fromkeys(follower.unknown)))


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
_POINTWISE_METHODS = frozenset({"add", "mul", "sub", "div", "relu", "sigmoid", "tanh", "clamp", "contiguous", "float"})


class _Follower:
    """The fields of every node of a traced network, in its order."""

    def __init__(self, traced: fx.GraphModule, size: tuple[int, int]) -> None:
        self._modules = dict(traced.named_modules())
        self._size = size
        self.fields: dict[fx.Node, tuple[_Axis, _Axis]] = {}
        self.unknown: list[str] = []
        self.result: Any = None

    def follow(self, node: fx.Node) -> None:
        """Note the fields of a node's output, if it is (N, D, h, w)."""
        if node.op == "output":
            self.result = node.args[0]
            return
        shape = getattr(node.meta.get("tensor_meta"), "shape", ())
        if len(shape) != 4 or node.op == "get_attr":
            return
        height, width = map(int, shape[2:])
        if node.op == "placeholder":
            self.fields[node] = _pixels(height), _pixels(width)
            return
        found = self._known(node, height, width)
        if found is None:
            name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", str(node.target))
            self.unknown.append(name.removeprefix("0."))
            found = ((0, self._size[0]),) * height, ((0, self._size[1]),) * width
        self.fields[node] = found

    def _known(self, node: fx.Node, height: int, width: int) -> tuple[_Axis, _Axis] | None:
        """The fields, by a rule; None if there is no rule."""
        inputs = [self.fields[one] for one in node.all_input_nodes if one in self.fields]
        if len(inputs) < sum(_is_spatial(one) for one in node.all_input_nodes) or not inputs:
            return None
        if node.op == "call_module":
            rule = _rule_of(self._modules[str(node.target)])
            if rule is None or len(inputs) != 1:
                return None
            rows, columns = inputs[0]
            return rule(rows, height, 0), rule(columns, width, 1)
        flattened = [one for one in node.all_input_nodes if not _is_spatial(one) and one.op != "get_attr"]
        if flattened or not _is_pointwise(node):
            return None
        rows_of, columns_of = [rows for rows, _ in inputs], [columns for _, columns in inputs]
        if any(len(rows) not in (1, height) for rows in rows_of):
            return None
        if any(len(columns) not in (1, width) for columns in columns_of):
            return None
        return _hull(rows_of, height), _hull(columns_of, width)


def _is_spatial(node: fx.Node) -> bool:
    return len(getattr(node.meta.get("tensor_meta"), "shape", ())) == 4 and node.op != "get_attr"


def _is_pointwise(node: fx.Node) -> bool:
    """Whether output (n, d, i, j) depends on the inputs' entries (n, any, i, j) alone."""
    if node.op == "call_method":
        return node.target in _POINTWISE_METHODS
    if node.target is torch.cat:
        dim = node.kwargs.get("dim", node.args[1] if len(node.args) > 1 else 0)
        return dim in (1, -3)
    if node.target is functional.normalize:
        dim = node.kwargs.get("dim", node.args[2] if len(node.args) > 2 else 1)
        return dim in (1, -3)
    return node.op == "call_function" and node.target in _POINTWISE_FUNCTIONS


_Rule = Callable[[_Axis, int, int], _Axis]
"""From the input's intervals along an axis, the output's length and the axis (0 rows, 1 columns), the output's."""


def _rule_of(module: nn.Module) -> _Rule | None:
    """How a module lets its output depend on its input; None if that is not known."""
    if isinstance(module, _POINTWISE):
        return lambda given, length, axis: given
    if isinstance(module, (nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d)):
        return _adaptive
    if isinstance(module, nn.Conv2d) and module.padding_mode == "zeros":
        padding = module.padding
        if padding == "same":  # what cannot be halved goes to the end
            padding = tuple(d * (k - 1) // 2 for d, k in zip(module.dilation, module.kernel_size, strict=True))
        return _windows(module.kernel_size, module.stride, 0 if padding == "valid" else padding, module.dilation)
    if isinstance(module, nn.MaxPool2d) and not module.return_indices:
        return _windows(module.kernel_size, module.stride, module.padding, module.dilation)
    if isinstance(module, nn.AvgPool2d):
        return _windows(module.kernel_size, module.stride, module.padding, 1)
    return None


def _windows(kernel: Any, stride: Any, padding: Any, dilation: Any) -> _Rule:
    def rule(given: _Axis, length: int, axis: int) -> _Axis:
        k, s, p, d = (value if isinstance(value, int) else value[axis] for value in (kernel, stride, padding, dilation))
        taken = ([i * s - p + d * t for t in range(k)] for i in range(length))
        return tuple(_union(given[at] for at in places if 0 <= at < len(given)) for places in taken)

    return rule


def _adaptive(given: _Axis, length: int, axis: int) -> _Axis:
    """Row i takes the rows floor(i n / m) to ceil((i + 1) n / m) - 1, of n rows given and m rows made."""
    n = len(given)
    return tuple(_union(given[i * n // length : -(-(i + 1) * n // length)]) for i in range(length))


def _pixels(length: int) -> _Axis:
    return tuple((at, at + 1) for at in range(length))


def _union(intervals: Iterable[_Interval]) -> _Interval:
    """The hull. Of none, and of padding alone, it is empty: (0, 0)."""
    present = [(first, after) for first, after in intervals if first < after]
    return (min(first for first, _ in present), max(after for _, after in present)) if present else (0, 0)


def _hull(axes: Iterable[_Axis], length: int) -> _Axis:
    """The hull, place by place; an axis of length 1 is repeated, as torch does it."""
    same = [axis * length if len(axis) == 1 else axis for axis in axes]
    return tuple(map(_union, zip(*same, strict=True)))
