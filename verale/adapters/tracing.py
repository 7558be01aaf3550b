"""A network as a graph of its layers and operations, up to one of its layers, with the shapes of all values; and what
its calls are given, whether modules, functions or methods are called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.fx.passes.shape_prop import ShapeProp

from verale.errors import InputError, first_line

__all__ = ["Call", "RefusedError", "Values", "argument", "shape_of", "traced_on"]


def traced_on(network: nn.Module, shape: tuple[int, int, int], layer: str | None = None) -> fx.GraphModule:
    """The graph of a network, with the shapes of its values for one image.

    The network is the module `0` of the graph: its layers have the names that it gives them, after `0.`.

    Args:
        network: in eval mode. It is unchanged afterwards.
        shape: (C, H, W) of the image.
        layer: a name of `network.named_modules()`: the graph ends with the first output of this layer. By default it
            ends with the network's own.

    Raises:
        InputError: the network is in training mode, cannot be traced, or does not take such an image.
    """
    name = type(network).__name__
    if any(module.training for module in network.modules()):
        raise InputError(name, "is in training mode, where images of a batch mix; call .eval()")
    parameter = next(network.parameters(), torch.zeros(()))
    image = torch.zeros(1, *shape, dtype=parameter.dtype, device=parameter.device)
    try:
        traced = _traced(network, None if layer is None else network.get_submodule(layer))
        with torch.no_grad():
            traced(image)  # what does not run is told in one line; below it would print a traceback
            ShapeProp(traced).propagate(image)
    except Exception as error:  # whatever a network's own code raises
        raise InputError(name, f"cannot be traced ({type(error).__name__}: {first_line(error)})") from error
    return traced


def shape_of(node: fx.Node) -> tuple[int, ...]:
    """The shape of a node's value; of what is no tensor, ()."""
    return tuple(map(int, getattr(node.meta.get("tensor_meta"), "shape", ())))


def argument(node: fx.Node, name: str, place: int, default: object = None, module: nn.Module | None = None) -> Any:
    """An argument of a call, by name or by place; where a node calls a module, its attribute of that name."""
    if module is not None:
        return getattr(module, name, default)
    return node.kwargs.get(name, node.args[place] if len(node.args) > place else default)


class _Reached(BaseException):
    """The layer has given its output, so nothing more is traced. No `except Exception` of a network stops this."""


class _Tracer(fx.Tracer):
    """Traces a network until a layer has given its first output."""

    def __init__(self, last: nn.Module | None) -> None:
        super().__init__()
        self._last = last
        self.returned: Any = None

    def call_module(
        self, m: nn.Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> object:
        returned = super().call_module(m, forward, args, kwargs)
        if m is self._last:
            self.returned = returned
            raise _Reached
        return returned


def _traced(network: nn.Module, last: nn.Module | None) -> fx.GraphModule:
    """The network as a graph, up to a layer. Raises whatever its code raises."""
    root, tracer = nn.Sequential(network), _Tracer(last)  # one layer alone would be taken apart otherwise
    try:
        graph = tracer.trace(root)
    except _Reached:
        graph = tracer.graph
        graph.output(tracer.create_arg(tracer.returned))
    else:
        if last is not None:
            raise ValueError("it does not call the layer where calls can be followed")
    return fx.GraphModule(root, graph)


class RefusedError(Exception):
    """No layer of a network file computes this. The message says why.

    Attributes:
        remedy: what to do.
    """

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.remedy = remedy


Values = Callable[[Any], Tensor | None]
"""Gives the tensor that an argument of a call stands for, where it is a parameter; None for None."""


@dataclass(frozen=True, eq=False)
class Call:
    """A node of a traced network with what it is given: a call of a module, of a function or of a method.

    Attributes:
        node: the node, with shapes.
        module: the module that it calls; None where it calls a function or a method.
        values: gives the parameters that a call names. Raises RefusedError for what is no parameter.
        is_last: whether what it reads has its channels last, (N, H, W, C); shapes are (N, C, H, W) all the same.
    """

    node: fx.Node
    module: nn.Module | None
    values: Values
    is_last: bool = False

    def number(self, name: str, place: int, default: object = None) -> Any:
        """What is no tensor: by its name, or its place in a call."""
        return argument(self.node, name, place, default, self.module)

    def tensor(self, name: str, place: int) -> Tensor | None:
        """A parameter. Raises RefusedError for what is none."""
        value = self.number(name, place)
        return value if self.module is not None else self.values(value)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of the first input."""
        return self._ordered(shape_of(self.node.all_input_nodes[0]))

    @property
    def output_shape(self) -> tuple[int, ...]:
        """The shape of the output."""
        return self._ordered(shape_of(self.node))

    def _ordered(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (shape[0], shape[3], *shape[1:3]) if self.is_last and len(shape) == 4 else shape
