"""A certificate's question as ONNX and VNN-LIB, for other tools: are there latents that satisfy the statements, and get
another class?

The network's input are the latents (L, D). Its outputs are what the statements speak of, and for each rival by how much
the predicted class is ahead. The property asks for latents in the domain's box whose outputs lie in the stated
intervals, while some rival is not behind. `unsat` says that the statements entail the class, `sat` that they do not.

Neither answer is a proof of the certificate: weights are rounded to binary32 where they are no such numbers, and tools
compute in floats, most with a tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from typing import Any

import torch
from torch import Tensor

from verale.certificate import Certificate, PatchStatement, SumStatement
from verale.certificate.statements import activations_bounded
from verale.checker.read.similarities import Step
from verale.errors import UsageError
from verale.head import Euclidean, Head, InnerProduct, Linear, MaxPooling


@dataclass(frozen=True)
class VerifierQuestion:
    """What a certificate asks another tool.

    Attributes:
        vnnlib: the property, VNN-LIB 1.0.
    """

    onnx: bytes
    vnnlib: str


def question_of(head: Head, certificate: Certificate) -> VerifierQuestion:
    """The question whether latents satisfy a certificate's statements and get another class.

    Raises:
        UsageError: the head has a part that is not exported, or its domain has no box.
    """
    network = _Network(head, certificate.patches)
    if any(isinstance(each, SumStatement) for each in certificate.statements):
        raise UsageError("statements about sums are not exported: explain with another paradigm")
    pairs = [each for each in certificate.statements if isinstance(each, PatchStatement)]
    stated = [(row, each.lower, each.upper) for row, each in enumerate(pairs)]
    if pairs:
        network.state([(each.patch, each.prototype) for each in pairs])
    if len(pairs) < len(certificate.statements):
        first = network.outputs
        for each in certificate.statements:
            stated += [(first + j, lower, upper) for j, lower, upper in activations_bounded(each, head.size)]
        network.output(network.pooled, head.size)
    ahead = network.outputs
    network.state_leads(certificate.predicted, [c for c in range(head.classes) if c != certificate.predicted])
    model = network.model()
    lines = ["; Latents that satisfy the statements of a certificate, and get another class: sat if there are some."]
    low, high = head.domain.ends
    radius = getattr(head.geometry, "radius", None)  # of a ball, the box around it
    low, high = (low, high) if radius is None else (max(low, -radius), min(high, radius))
    if torch.inf in (-low, high):
        raise UsageError("the head's domain does not bound the latents, and tools need bounds")
    lines += [f"(declare-const X_{i} Real)" for i in range(network.inputs)]
    lines += [f"(declare-const Y_{i} Real)" for i in range(network.outputs)]
    for i in range(network.inputs):
        lines += [f"(assert (>= X_{i} {_decimal(low)}))", f"(assert (<= X_{i} {_decimal(high)}))"]
    for i, lower, upper in stated:
        lines += [] if lower == -torch.inf else [f"(assert (>= Y_{i} {_decimal(lower)}))"]
        lines += [] if upper == torch.inf else [f"(assert (<= Y_{i} {_decimal(upper)}))"]
    lines.append(f"(assert (or {' '.join(f'(and (<= Y_{i} 0.0))' for i in range(ahead, network.outputs))}))")
    return VerifierQuestion(model, "\n".join(lines) + "\n")


def _decimal(value: float) -> str:
    """Exactly, with a point."""
    text = f"{Decimal(value):f}"
    return text if "." in text else f"{text}.0"


class _Network:
    """A head as nodes of ONNX. Maxima are written with relu, so that a head of linear parts is piecewise linear."""

    def __init__(self, head: Head, patches: int) -> None:
        import onnx

        if not isinstance(head.geometry, Euclidean | InnerProduct):
            raise UsageError(f"{head.geometry.kind} heads are not exported, expected euclidean or inner_product")
        if type(head.pooling) is not MaxPooling or not isinstance(head.readout, Linear):
            what = f"{head.pooling.kind} and the readout {head.readout.kind}"
            raise UsageError(f"the pooling {what} are not exported, expected max and linear")
        self._onnx, self._head, self._patches = onnx, head, patches
        self.inputs, self.outputs = patches * head.depth, 0
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._found: list[tuple[str, int, int]] = []
        self._observed = self._observables()
        self.pooled = self._maxima(reduce(self._after, head.similarity.steps_of(head.geometry.kind), self._observed))

    def state(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Observables of patches and prototypes become outputs."""
        count = self._patches * self._head.size
        chosen = torch.zeros(count, len(pairs))
        for column, (patch, prototype) in enumerate(pairs):
            chosen[patch * self._head.size + prototype, column] = 1
        flat = self.node("Reshape", self._observed, self._tensor(torch.tensor([1, count])))
        self.output(self.node("MatMul", flat, self.constant(chosen)), len(pairs))

    def state_leads(self, predicted: int, rivals: Sequence[int]) -> None:
        """By how much the predicted class is ahead of each rival becomes an output."""
        weight = self._head.weight.to(torch.float64)
        ahead = self.node("MatMul", self.pooled, self.constant((weight[predicted] - weight[rivals]).T))
        if self._head.bias is not None:
            bias = self._head.bias.to(torch.float64)
            ahead = self.node("Add", ahead, self.constant((bias[predicted] - bias[rivals])[None]))
        self.output(ahead, len(rivals))

    def model(self) -> bytes:
        """The model's bytes. Raises UsageError: there is more than an ONNX file holds."""
        helper, kind = self._onnx.helper, self._onnx.TensorProto.FLOAT
        placed = []  # all outputs as one, (1, outputs), by sums: not every tool has `Concat`
        for name, first, width in self._found:
            place = torch.zeros(width, self.outputs)
            place[:, first : first + width] = torch.eye(width)
            placed.append(self.node("MatMul", name, self.constant(place)))
        last = reduce(lambda sum_, each: self.node("Add", sum_, each), placed)
        given = helper.make_tensor_value_info("X", kind, [self._patches, self._head.depth])
        made = helper.make_tensor_value_info(last, kind, [1, self.outputs])
        graph = helper.make_graph(self._nodes, "head", [given], [made], self._constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        self._onnx.checker.check_model(model)
        return bytes(model.SerializeToString())

    def node(self, operation: str, *inputs: str) -> str:
        """The output of another node."""
        name = f"n{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operation, inputs, [name]))
        return name

    def constant(self, values: Tensor | float) -> str:
        """Numbers as binary32."""
        return self._tensor(torch.as_tensor(values, dtype=torch.float64).to(torch.float32))

    def _of_prototypes(self, values: Tensor | None, otherwise: float) -> str:
        """(1, P) the head's scale or peak; one number for all where it has none."""
        return self.constant(torch.full((1, self._head.size), otherwise) if values is None else values[None])

    def output(self, name: str, width: int) -> None:
        """Some numbers become outputs."""
        self._found.append((name, self.outputs, width))
        self.outputs += width

    def _tensor(self, values: Tensor) -> str:
        name = f"c{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(values.contiguous().numpy(), name))
        return name

    def _observables(self) -> str:
        """(L, P): inner products; of distances |z|^2 - 2 <z, p> + |p|^2."""
        points = self._head.points.to(torch.float64)
        products = self.node("MatMul", "X", self.constant(points.T))
        if isinstance(self._head.geometry, InnerProduct):
            return products
        squares = self.node("MatMul", self.node("Mul", "X", "X"), self.constant(torch.ones_like(points).T))
        less = self.node("Sub", squares, self.node("Mul", products, self.constant(2.0)))
        return self.node("Add", less, self.constant(points.square().sum(1)[None]))

    def _after(self, x: str, step: Step) -> str:
        """What a step makes of numbers (L, P) where observables lie. Raises UsageError: it is not exported."""

        def moved(name: str = "number") -> str:
            return self.node("Add", x, self.constant(float(step.numbers[name])))

        match step.kind:
            case "scale":
                return self.node("Mul", x, self._of_prototypes(self._head.scale, 1.0))
            case "add":
                return moved()
            case "multiply":
                return self.node("Mul", x, self.constant(float(step.numbers["number"])))
            case "log_ratio":
                return self.node("Log", self.node("Div", moved("over"), moved("under")))
            case "square":
                return self.node("Mul", x, x)
            case "reciprocal":
                return self.node("Div", self.constant(1.0), moved())
            case "from_peak":
                return self.node("Abs", self.node("Sub", x, self._of_prototypes(self._head.peak, 0.0)))
            case "negate" | "exp" | "root" | "rectify" as kind:
                return self.node({"negate": "Neg", "exp": "Exp", "root": "Sqrt", "rectify": "Relu"}[kind], x)
            case kind:
                raise UsageError(f"the step {kind} of a similarity is not exported")

    def _maxima(self, similar: str) -> str:
        """(1, P) the greatest of the rows, two and two: max(a, b) = a + relu(b - a)."""
        count = self._patches
        while count > 1:
            half = (count + 1) // 2
            first, second = torch.eye(count)[:half], torch.eye(count)[count - half :]
            a, b = (self.node("MatMul", self.constant(rows), similar) for rows in (first, second))
            similar, count = self.node("Add", a, self.node("Relu", self.node("Sub", b, a))), half
        return similar
