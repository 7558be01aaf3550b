"""From a torch module to a frozen network: its layers up to the latents, with batch normalisation folded in.

The module is traced (`verale.adapters.tracing`), and each of its steps becomes a layer of the file, or is dropped if it
changes nothing in eval mode. What the file then computes is compared with the module's own numbers, step by step, in
float64 (`first_difference`), on random pictures when a network is frozen and on given images by `verale.check`.

**Folding.** After y = W x + b, batch normalisation gives s (y - mean) + beta with s = gamma / sqrt(variance + epsilon).
That is a layer with the weight s W and the bias s (b - mean) + beta, computed in float64. Where what it reads is no
such layer, it becomes a convolution 1 x 1 of each channel.

**float32.** A claim in binary32 takes things for granted that a file does not show (certificates/network-v1.md): that
the folded numbers are float32 and none is beyond 2^32, and that epsilon is at least 2^-64. Where it is not so, the
magnitude of the layer is `NOT_CLAIMED`, by which search and checker refuse the claim, and a warning says why. The file
holds in real arithmetic.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import torch
from torch import Tensor, fx, nn

from verale.adapters.composites import Step, Steps
from verale.adapters.latents import evaluating, find_layer, require_module
from verale.adapters.operations import (
    REMEDY,
    SAME,
    TURNED,
    Normalisation,
    is_in_place,
    operation_of,
    unclaimed_number,
)
from verale.adapters.tracing import (
    RefusedError,
    attribute,
    called,
    is_between,
    is_parameter,
    read_by,
    shape_of,
    traced_on,
)
from verale.certificate.words import about
from verale.errors import NetworkError
from verale.network import NOT_CLAIMED, PICTURE, FrozenNetwork
from verale.network.layers import Convolution, FullConnection, NetworkLayer

_log = logging.getLogger(__name__)

_UP = 1 + 2.0**-48
"""More than the four roundings of a magnitude."""

_CLOSE = 2.0**-30
"""How far two computations in float64 may be apart, relative to the greatest number of a layer's output. It is less
than a float32's last bit moves that, and far more than float64 rounds."""

_UNNAMED = re.compile(r"[^A-Za-z0-9_.]")
"""What no layer's name in a file has."""

_TRIED = 2
"""Random pictures on which a new network is compared with its module."""


def export_network(
    model: nn.Module,
    layer: str | None,
    shape: Sequence[int],
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
) -> FrozenNetwork:
    """Freeze a torch module, from the picture to the latents, as data that an auditor can compute without torch.

    Args:
        model: any torch module that torch.fx can trace. It is unchanged afterwards.
        layer: the layer whose output the head receives, a name of `model.named_modules()`; None for the model's own
            output.
        shape: (C, H, W) of its pictures, C being 1 or 3.
        mean: C numbers, by default 0: the module reads (v / 255 - mean) / std of bytes v.
        std: C numbers > 0, by default 1.

    Returns:
        The network; `save(path)` writes its file (certificates/network-v1.md).

    A warning says of which layers nothing is claimed in float32; the file says so, too.

    Raises:
        NetworkError: something that the module computes is not known; the message names module, class and remedy.
        UsageError: no module, or an unknown layer.
        InputError: the module cannot be traced, or does not take such pictures.

    Soundness: what is written is compared with the module in float64 on random pictures. This finds mistakes; it is no
    proof that both are the same function.
    """
    return frozen(model, layer, shape, mean, std).network


@dataclass(frozen=True, eq=False)
class Frozen:
    """A network with the graph that it was taken from.

    Attributes:
        network: the network.
        graph: the module's, in which the latents are the output.
        nodes: for each layer the name of the node whose value it gives; layers inside a step of the module have none.
        channels_last: the layers whose node has channels behind rows and columns.
    """

    network: FrozenNetwork
    graph: fx.GraphModule
    nodes: dict[str, str]
    channels_last: frozenset[str] = frozenset()


def frozen(
    model: nn.Module,
    layer: str | None,
    shape: Sequence[int],
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
) -> Frozen:
    """`export_network`, with the graph. Raises as that does."""
    require_module(model, "verale.export_network(model, layer, shape)")
    if layer is not None:
        model, layer, _ = find_layer(model, layer)
    channels, height, width = map(int, shape)
    with evaluating(model):
        graph = traced_on(model, (channels, height, width), layer)
    for name, tensor in (*graph.named_parameters(), *graph.named_buffers()):
        if tensor.is_floating_point() and tensor.dtype not in (torch.float32, torch.float64):
            raise NetworkError(
                name.removeprefix("0."), f"is {tensor.dtype}, expected float32: call model.float() first"
            )
    freezer = _Freezer(graph)
    for node in graph.graph.nodes:
        freezer.follow(node)
    zeros, ones = (0.0,) * channels, (1.0,) * channels
    numbers = (zeros if mean is None else tuple(mean), ones if std is None else tuple(std))
    network = FrozenNetwork((channels, height, width), *numbers, tuple(freezer.kept()))
    found = Frozen(
        network,
        graph,
        {layer: node.name for layer, node in freezer.nodes.items()},
        frozenset(layer for layer, node in freezer.nodes.items() if node in freezer.channels_last),
    )
    pictures = torch.randint(
        0, 256, (_TRIED, channels, height, width), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
    )
    difference = first_difference(found, network, network.normalised(pictures))
    if difference is not None and not math.isfinite(difference.off):
        raise NetworkError(
            difference.layer, "gives numbers beyond float64 for a random picture: scale the weights before it down"
        )
    if difference is not None:
        raise NetworkError(
            difference.layer,
            f"computes something else in the module ({difference}): does it change numbers in place? please report it",
        )
    return found


class _Freezer:
    """The layers of a traced network, node by node."""

    def __init__(self, graph: fx.GraphModule) -> None:
        self._graph = graph
        self._modules = dict(graph.named_modules())
        self._layers: dict[str, NetworkLayer] = {}
        self._names: dict[fx.Node, str] = {}
        self.nodes: dict[str, fx.Node] = {}
        self._last: str | None = None
        self.channels_last: set[fx.Node] = set()
        self._unclaimed: dict[str, str] = {}

    def follow(self, node: fx.Node) -> None:
        """Note what a node computes. Raises NetworkError for what is not known."""
        if node.op == "placeholder":
            if PICTURE in self._names.values():
                raise NetworkError(node.name, "is a second input, expected a network of one picture")
            self._names[node] = PICTURE
        elif node.op == "output":
            (given,) = node.args
            if not isinstance(given, fx.Node) or given not in self._names:
                raise NetworkError("output", "is not one tensor; name the layer whose output the head receives")
            self._last = self._names[given]
        elif not (is_parameter(node) or is_between(node)) and (shape_of(node) or node.op == "call_module"):
            self._compute(node)

    def _compute(self, node: fx.Node) -> None:
        module = self._modules[str(node.target)] if node.op == "call_module" else None
        try:
            is_last = self._reads_channels_last(node)
            known = operation_of(node, module, self._value, is_last)
            inputs = self._inputs(node)
        except RefusedError as error:
            what = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", node.target)
            if module is not None:
                what = f"{type(module).__module__}.{type(module).__qualname__}"
            raise NetworkError(_place(node, module), f"({what}) {error}: {error.remedy}") from error
        if is_last != (known == TURNED):
            self.channels_last.add(node)
        if known in (SAME, TURNED):
            self._names[node] = inputs[0]
            return
        name = self._normalised(node, inputs[0], known, module) if isinstance(known, Normalisation) else None
        if name is None:
            name = self._new_name(node)
            if isinstance(known, Normalisation):  # alone, a convolution 1 x 1 of each channel
                if len(shape_of(node)) != 4:
                    raise NetworkError(
                        "batch normalisation", "follows no linear layer, and has no grid: put it behind one"
                    )
                zeros, weight = torch.zeros_like(known.mean), known.factor[:, None, None, None]
                bias, magnitude = known.shift - known.factor * known.mean, _magnitude(known, zeros, known.unclaimed)
                alone = Convolution((1, 1), (0, 0), (1, 1), len(zeros), weight, bias, magnitude)
                known = Steps((Step("", alone, (0,)),), known.unclaimed)
            elif not isinstance(known, Steps):
                known = Steps((Step("", known, tuple(range(len(inputs)))),))  # type: ignore[arg-type]
            names: dict[str | int, str] = dict(enumerate(inputs))
            for step in known.steps:  # the last one has the node's name, and gives its value
                names[step.name] = inner = f"{name}.{step.name}" if step.name else name
                self._layers[inner] = NetworkLayer(inner, tuple(names[each] for each in step.reads), step.operation)
            self._note_unclaimed(name, node, module, known.unclaimed)
        self._names[node], self.nodes[name] = name, node
        if is_in_place(node, module):
            self._names.update({each: name for each, named in self._names.items() if named == inputs[0]})

    def _reads_channels_last(self, node: fx.Node) -> bool:
        """Whether what a node reads is (N, H, W, C). Raises RefusedError: of one input it is so, of another not."""
        read = map(read_by, node.all_input_nodes)
        orders = {each in self.channels_last for each in read if len(shape_of(each)) == 4}
        if len(orders) > 1 and not any(map(is_parameter, node.all_input_nodes)):
            raise RefusedError("reads channels behind rows and columns, and before them", "permute one of the two")
        return True in orders

    def _inputs(self, node: fx.Node) -> tuple[str, ...]:
        """What a node reads, but for its parameters. Raises RefusedError."""
        read: list[fx.Node] = []
        fx.node.map_arg((node.args, node.kwargs), read.append)
        inputs = [each for each in map(read_by, read) if not is_parameter(each) and shape_of(each)]
        if any(each not in self._names for each in inputs) or not inputs:
            raise RefusedError("reads something else than outputs of layers", REMEDY)
        return tuple(self._names[each] for each in inputs)

    def _value(self, given: object) -> Tensor | None:
        if given is None:
            return None
        if not isinstance(given, fx.Node) or not is_parameter(given):
            raise RefusedError("computes its own weights", "make them parameters")
        if given.op != "get_attr":
            moved: Tensor = called(given, self._value)
            return moved
        value = attribute(self._graph, given)
        return value if isinstance(value, Tensor) else None

    def _note_unclaimed(self, layer: str, node: fx.Node, module: nn.Module | None, why: str | None) -> None:
        if why is not None:
            self._unclaimed[layer] = f"network layer {_place(node, module)!r}: {why}"

    def _normalised(self, node: fx.Node, read: str, given: Normalisation, module: nn.Module | None) -> str | None:
        """Fold a normalisation into the layer that it reads; None if that is none, or is read by others too."""
        layer = self._layers.get(read)
        operation = None if layer is None else layer.operation
        readers = {user for each, name in self._names.items() if name == read for user in each.users}
        if (
            layer is None
            or not isinstance(operation, Convolution | FullConnection)
            or operation.magnitude is not None
            or not readers <= {node, *(each for each, name in self._names.items() if name == read)}
        ):
            return None
        weight = operation.weight.detach().double()
        bias = torch.zeros_like(given.mean) if operation.bias is None else operation.bias.detach().double()
        unclaimed = given.unclaimed or unclaimed_number({"weight of the layer before": weight, "bias of it": bias})
        self._note_unclaimed(read, node, module, unclaimed)
        self._layers[read] = replace(
            layer,
            operation=replace(
                operation,
                weight=given.factor.reshape(-1, *(1,) * (weight.dim() - 1)) * weight,
                bias=given.factor * (bias - given.mean) + given.shift,
                magnitude=_magnitude(given, bias, unclaimed),
            ),
        )
        return read

    def _new_name(self, node: fx.Node) -> str:
        """The name of the module, or of the function's node; numbered where it is called again."""
        plain = str(node.target).removeprefix("0.") if node.op == "call_module" else node.name
        plain = "network" if node.target == "0" or plain == PICTURE else plain
        plain = _UNNAMED.sub("_", plain)
        name, calls = plain, 1
        while any(each == name or each.startswith(f"{name}.") for each in self._layers):
            name, calls = f"{plain}_{calls}", calls + 1
        return name

    def kept(self) -> list[NetworkLayer]:
        """The layers that the output depends on. Raises NetworkError: there are none."""
        if self._last is None or self._last == PICTURE:
            raise NetworkError("output", "is the picture itself, expected the output of a layer")
        needed = {self._last}
        for layer in reversed(self._layers.values()):
            needed |= set(layer.inputs) if layer.name in needed else set()
        self.nodes = {name: node for name, node in self.nodes.items() if name in needed}
        unclaimed = [self._unclaimed[name] for name in sorted(self._unclaimed.keys() & needed)]
        if unclaimed:
            count = f" ({len(unclaimed)} layers are such)" if unclaimed[1:] else ""
            _log.warning(
                "%s%s; so nothing is claimed of the network in float32, in real arithmetic alone", unclaimed[0], count
            )
        kept = []
        for layer in (layer for name, layer in self._layers.items() if name in needed):
            # With tensors of its own, on the CPU.
            held = {name.rpartition(".")[2]: tensor.detach().cpu().clone() for name, tensor in layer.tensors.items()}
            kept.append(replace(layer, operation=replace(layer.operation, **held)) if held else layer)  # type: ignore[type-var]
        return kept


def _place(node: fx.Node, module: nn.Module | None) -> str:
    """The path of the module that is called, or of the innermost one that calls a function."""
    stack = [path.removeprefix("0.") for path, _ in (node.meta.get("nn_module_stack") or {}).values()]
    if module is not None:
        return str(node.target).removeprefix("0.")
    inside = next((path for path in reversed(stack) if path not in ("", "0")), None)
    return node.name if inside is None else f"{inside} ({node.name})"


def _magnitude(given: Normalisation, bias: Tensor, unclaimed: str | None) -> Tensor:
    """(O,) no less than |s| (|b| + |mean|) + |beta|, and so than the size of the folded bias; and no less than
    `NOT_CLAIMED` where nothing is claimed in binary32."""
    sizes = (given.factor.abs() * (bias.abs() + given.mean.abs()) + given.shift.abs()) * _UP
    return sizes if unclaimed is None else sizes.clamp(min=NOT_CLAIMED)


@dataclass(frozen=True)
class LayerDifference:
    """The first layer whose numbers are not the module's.

    Attributes:
        layer: its name.
        off: the largest difference of two numbers.
        size: the largest number of the module's output there.
        cause: what differs, where it is no number.
    """

    layer: str
    off: float = 0.0
    size: float = 0.0
    cause: str | None = None

    def __str__(self) -> str:
        if self.cause is not None:
            return self.cause
        return f"numbers differ by up to about {about(self.off)}, where the largest is about {about(self.size)}"


def first_difference(given: Frozen, network: FrozenNetwork, images: Tensor) -> LayerDifference | None:
    """The first layer in which a network and a module give other numbers, both in float64; None if there is none.

    Args:
        given: the module, frozen anew.
        network: the network. Its layers are compared by name.
        images: (N, C, H, W) as the module reads them.
    """
    own = _values(given, images)
    last, expected_last = network.layers[-1].name, given.network.layers[-1].name
    inside = {layer.name for layer in given.network.layers} - given.nodes.keys()
    for name, output in network.outputs_of(images.double()):
        expected = own.get(name)
        if name in inside:
            continue
        if expected is None:
            return LayerDifference(name, cause="the module has no such layer")
        if expected.shape != output.shape:
            return LayerDifference(name, cause="its output has another shape")
        off, size = float((expected - output).abs().max()), float(expected.abs().max())
        if not off <= _CLOSE * size + 2.0**-1000:
            return LayerDifference(name, off, size)
    if last != expected_last:
        return LayerDifference(last, cause=f"the latents are those of layer {expected_last!r}")
    return None


def _values(given: Frozen, images: Tensor) -> dict[str, Tensor]:
    """What a module gives at the nodes of its layers, in float64, by the layer's name."""
    layer_of = {node: layer for layer, node in given.nodes.items()}
    found: dict[str, list[Tensor]] = {layer: [] for layer in given.nodes}

    class Noting(fx.Interpreter):
        def run_node(self, n: fx.Node) -> object:
            value = super().run_node(n)
            if n.name in layer_of:
                ordered = value.movedim(3, 1) if layer_of[n.name] in given.channels_last else value
                found[layer_of[n.name]].append(ordered.detach().clone())  # a later layer may change it in place
            return value

    interpreter = Noting(deepcopy(given.graph).double().cpu())
    with torch.no_grad():
        for image in images.double():  # a graph is one of one image
            interpreter.run(image[None])
    return {name: torch.cat(values) for name, values in found.items()}
