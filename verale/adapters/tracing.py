"""A network as a graph of its layers and operations, up to one of its layers, with the shapes of all values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp

from verale.errors import InputError, first_line

__all__ = ["argument", "shape_of", "traced_on"]


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
