"""A network as a graph of its layers and operations, up to one of its layers, with the shapes of all values; and what
its calls are given, whether modules, functions or methods are called.

Shapes are those for one image, and known while the network is traced: what its code asks of them, such as how wide a
padding is to be, is answered, and what it does not do for this image is not in the graph.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx, nn

from verale.errors import InputError, first_line

_MOVING = (
    *("view", "reshape", "flatten", "unflatten", "permute", "transpose", "unsqueeze", "squeeze", "expand"),
    *("contiguous", "detach", "chunk", "split", torch.chunk, torch.split, torch.reshape, torch.flatten),
    *(torch.unflatten, torch.permute, torch.transpose, torch.unsqueeze, torch.squeeze, operator.getitem),
)
"""Calls that change no number."""
_SHAPE = "shape"
"""By this name a node notes the shape of its value."""


def traced_on(network: nn.Module, shape: tuple[int, int, int], layer: str | None = None) -> fx.GraphModule:
    """The graph of a network, with the shapes of its values for one image.

    The network is the module `0` of the graph: its layers have the names that it gives them, after `0.`. The graph
    computes what the network does for one image at a time.

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
    tracer = None
    try:
        tracer = _Tracer(None if layer is None else network.get_submodule(layer), image)
        traced = tracer.traced(network)
    except Exception as error:  # whatever a network's own code raises
        where, cause = ("", None) if tracer is None else (tracer.inside, tracer.failure)
        cause = cause or error
        problem = f"cannot be traced{where} ({type(cause).__name__}: {first_line(cause)})"
        if isinstance(cause, fx.proxy.TraceError):
            problem += f": {_UNTRACED}"
        raise InputError(name, problem) from cause
    return traced


_UNTRACED = (
    "write what it does without branches, loops and sizes that depend on the numbers in a tensor, or name an earlier"
    " layer"
)


def shape_of(node: fx.Node) -> tuple[int, ...]:
    """The shape of a node's value; of what is no tensor, ()."""
    shape: tuple[int, ...] = node.meta.get(_SHAPE, ())
    return shape


def is_parameter(node: fx.Node) -> bool:
    """Whether a node gives a parameter or a buffer, perhaps in another shape."""
    if node.op == "get_attr":
        return True
    return _is_moving(node) and is_parameter(node.all_input_nodes[0])


def is_between(node: fx.Node) -> bool:
    """Whether a node gives the numbers of another one in more axes than four, or in pieces."""
    return _is_moving(node) and len(shape_of(node)) not in (1, 2, 3, 4)


def read_by(node: fx.Node) -> fx.Node:
    """The node whose numbers these are: itself, or what it is made of where it `is_between`."""
    return read_by(node.all_input_nodes[0]) if is_between(node) else node


def _is_moving(node: fx.Node) -> bool:
    return node.op in ("call_function", "call_method") and node.target in _MOVING and len(node.all_input_nodes) == 1


def attribute(root: nn.Module, node: fx.Node) -> Any:
    """What a node names in the module of its graph."""
    found: Any = root
    for name in str(node.target).split("."):
        found = getattr(found, name)
    return found


def called(node: fx.Node, given: Callable[[fx.Node], Any]) -> Any:
    """What a call of a function or a method gives, for what is given for the nodes that it reads. Raises whatever it
    does."""
    args, kwargs = fx.node.map_arg((node.args, node.kwargs), given)
    if isinstance(node.target, str):
        return getattr(args[0], node.target)(*args[1:], **kwargs)
    return node.target(*args, **kwargs)


def argument(node: fx.Node, name: str, place: int, default: object = None, module: nn.Module | None = None) -> Any:
    """An argument of a call, by name or by place; where a node calls a module, its attribute of that name."""
    if module is not None:
        return getattr(module, name, default)
    return node.kwargs.get(name, node.args[place] if len(node.args) > place else default)


class _Reached(BaseException):
    """The layer has given its output, so nothing more is traced. No `except Exception` of a network stops this."""


class _Shaped(fx.Proxy):
    """A value whose shape is known, where it is a tensor."""

    tracer: _Tracer

    @property
    def shape(self) -> torch.Size:
        """Its shape. Raises AttributeError, upon which the graph gets a node for it."""
        value = self.tracer.values.get(self.node)
        if not isinstance(value, Tensor):
            raise AttributeError("shape")
        return value.shape

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    def size(self, dim: int | None = None) -> Any:
        """Its shape, or one number of it."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]


class _Tracer(fx.Tracer):
    """Traces a network for an image until a layer has given its first output.

    Args:
        last: the layer.
        image: (1, C, H, W).

    Attributes:
        values: what the nodes give for it, where that was computed.
        failure: of the first call that did not run for this image.
        inside: where that was, or else where tracing ended, in words; empty where it is no layer.
    """

    def __init__(self, last: nn.Module | None, image: Tensor) -> None:
        super().__init__()
        self._last, self._image = last, image
        self._computing = False
        self._returned: Any = None
        self.values: dict[fx.Node, Any] = {}
        self.failure: Exception | None = None
        self.inside = ""

    def traced(self, network: nn.Module) -> fx.GraphModule:
        """The network as a graph. Raises whatever its code raises."""
        root = nn.Sequential(network)  # one layer alone would be taken apart otherwise
        try:
            graph = self.trace(root)
        except _Reached:
            graph = self.graph
            graph.output(self.create_arg(self._returned))
        else:
            if self._last is not None:
                raise ValueError("it does not call the layer where calls can be followed")
        self.values.clear()
        if self.failure is not None:
            raise self.failure
        for node in graph.nodes:
            if node.op == "get_attr":  # a parameter or a buffer, which nothing had to look at
                _note_shape(node, attribute(root, node))
        return fx.GraphModule(root, graph)

    def call_module(
        self, m: nn.Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> object:
        if self._computing:
            return forward(*args, **kwargs)
        try:
            returned = super().call_module(m, forward, args, kwargs)
        except Exception:
            self._note_place(m)
            raise
        if m is self._last:
            self._returned = returned
            raise _Reached
        return returned

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        return attr_val if self._computing else super().getattr(attr, attr_val, parameter_proxy_cache)

    def proxy(self, node: fx.Node) -> fx.Proxy:
        return _Shaped(node, self)

    def create_proxy(self, kind: str, target: Any, *given: Any, **more: Any) -> fx.Proxy:
        proxy: fx.Proxy = super().create_proxy(kind, target, *given, **more)
        self._computing = True
        try:
            with torch.no_grad():
                self.values[proxy.node] = self._value(proxy.node)
            _note_shape(proxy.node, self.values[proxy.node])
        except Exception as error:  # whatever a network's own code raises
            if self.failure is None:
                self.failure = error
                self._note_place(self.root.get_submodule(target) if kind == "call_module" else None)
        finally:
            self._computing = False
        return proxy

    def _note_place(self, module: nn.Module | None) -> None:
        """Note the module that is called, or else the innermost one that calls a function."""
        path, kind = next(reversed(self.module_stack.values()), ("", None))
        if module is not None:
            path, kind = self.path_of_module(module), type(module)
        path = path.removeprefix("0").removeprefix(".")
        if path and kind is not None and not self.inside:
            self.inside = f", in its layer {path} ({kind.__module__}.{kind.__qualname__})"

    def _value(self, node: fx.Node) -> Any:
        """What a node gives. Raises whatever that does."""
        if node.op == "placeholder":
            return self._image
        if node.op == "get_attr":
            return attribute(self.root, node)
        if node.op == "call_module":
            args, kwargs = fx.node.map_arg((node.args, node.kwargs), self._known)
            return attribute(self.root, node)(*args, **kwargs)
        return called(node, self._known)

    def _known(self, node: fx.Node) -> Any:
        """The same; of parameters and buffers the graph gets nodes that were never looked at."""
        return self._value(node) if node.op == "get_attr" else self.values[node]


def _note_shape(node: fx.Node, value: Any) -> None:
    if isinstance(value, Tensor):
        node.meta[_SHAPE] = tuple(value.shape)


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
