"""What a head computes, exactly: rationals where a value is one, else balls of 300 bits.

The formulas are those of `verale.head`, which the search computes in float64, here on `support.tensors`. So a test that
compares the checker with them compares two of the three sides that state what a head is; none is written here.

Call what returns balls within `flint.ctx.workprec(PRECISION)`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import flint
import safetensors.numpy
import torch
from support import files
from support.arithmetic import PRECISION, Ball, Matrix, Number, Vector, ball, balls
from support.arithmetic import certainly_within as inside
from support.tensors import Exact
from torch import Tensor

from verale.certificate import Certificate
from verale.head import Head as TorchHead
from verale.head import Softmax
from verale.head.head import evaluate_observed, read_out
from verale.head.head import observables as observables_of

__all__ = ["PRECISION", "Head", "Values", "differences", "exact", "inside", "observable", "pooled", "redrawn_alike"]


@dataclass(frozen=True)
class Head:
    """A head file taken apart into lists, so that a test may change any of them.

    Attributes:
        weight: (C, P); of a soft tree (C, P + 1).
        prototypes: (P, D); None for softmax.
        parts: the fields of the description that differ from `files.description()`.
        bias: (C); of the readout `maximum` (P); or None.
        scale: (P), or None.
        peak: (P), or None.
        mask: (P, K), of the pooling masked_max; or None.
    """

    weight: Matrix
    prototypes: Matrix | None = None
    parts: dict[str, Any] = field(default_factory=dict)
    bias: list[float] | None = None
    scale: list[float] | None = None
    peak: list[float] | None = None
    mask: Matrix | None = None

    @classmethod
    def read(cls, data: bytes) -> Head:
        """A head from its file."""
        length = int.from_bytes(data[:8], "little")
        description = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["verale.head"])
        parts = {name: description[name] for name in description if name not in ("version", "labels", "compared")}
        return cls(parts=parts, **{name: each.tolist() for name, each in safetensors.numpy.load(data).items()})

    @property
    def data(self) -> bytes:
        """The head's file."""
        tensors = {name: getattr(self, name) for name in ("weight", "prototypes", "bias", "scale", "peak", "mask")}
        return files.safetensors(
            {name: files.tensor(values) for name, values in tensors.items() if values is not None},
            {"verale.head": json.dumps(files.description(**self.parts))},
        )

    def part(self, name: str) -> dict[str, Any]:
        """A field of the description: a part, or the domain."""
        return dict(({"readout": {"kind": "linear"}} | files.description(**self.parts))[name])

    def kind(self, name: str) -> str:
        """The kind of a part."""
        return str(self.part(name)["kind"])

    @property
    def count(self) -> int:
        """P, the number of prototypes."""
        return len(self.prototypes or self.weight[0])

    @cached_property
    def torch(self) -> TorchHead:
        """The same as `verale.head` has it. Raises HeadError."""
        return TorchHead.from_bytes(self.data)

    @cached_property
    def _points(self) -> Exact:
        return Exact(self.torch.points)

    def at(self, image: list[Vector]) -> Values:
        """What it computes of latents (L, D), which are floats or balls."""
        return Values(self, image)

    def observable(self, z: Vector, j: int) -> Number:
        """m of a patch and a prototype: a Fraction where it is exact, else a ball."""
        head = _exact(self.torch)
        if head.prototypes is None:
            return self.at([z]).observables[0][j]
        return head.geometry.observables(Exact([[z]]), self._points[j : j + 1]).tolist()[0][0][0]

    def activation(self, image: list[Vector], j: int) -> Ball:
        """The activation of a prototype at latents (L, D)."""
        return self.at(image).activations[j]

    def similarity(self, m: Number, j: int) -> Ball:
        """S of an observable."""
        return ball(_similarity(_exact(self.torch), Exact([ball(m)]), slice(j, j + 1)).tolist()[0])

    def pooled(self, observables: list[Number], j: int) -> Ball:
        """The activation of a prototype, from its observables at all patches."""
        head = _exact(self.torch)
        columns = Exact([[[ball(m)] * self.count for m in observables]])
        activations = head.pooling.pool(columns, lambda values: _similarity(head, values, slice(j, j + 1)))
        return ball(activations[0].tolist()[j])

    def logits(self, activations: list[Ball]) -> list[Ball]:
        """The logits of all classes."""
        return list(map(ball, read_out(_exact(self.torch), Exact([activations]))[0].tolist()))

    def admits(self, z: Vector) -> bool:
        """Whether one patch's latent certainly lies in the domain."""
        (z,), domain, geometry = balls([z]), self.torch.domain, self.torch.geometry
        square = sum((x * x for x in z), ball(0))
        return (
            (domain.lower is None or all(x >= domain.lower for x in z))
            and (domain.upper is None or all(x <= domain.upper for x in z))
            and (geometry.radius is None or bool(square <= ball(geometry.radius) ** 2))
            and (not geometry.undefined_at_zero or bool(square > 0))
        )


class Values:
    """What a head computes of one image (L, D).

    Attributes:
        observables: (L, P) Fractions of floats where they are rational, else balls.
        activations: (P) balls.
        logits: (C) balls.
    """

    def __init__(self, head: Head, image: list[Vector]) -> None:
        self._head = _exact(head.torch)
        observed = observables_of(self._head, Exact([image]))
        self.observables: list[list[Number]] = observed[0].tolist()
        self._observed = Exact([balls(self.observables)])

    @cached_property
    def _evaluation(self) -> Any:
        return evaluate_observed(self._head, self._observed)

    @cached_property
    def activations(self) -> list[Ball]:
        return list(map(ball, self._evaluation.activations[0].tolist()))

    @cached_property
    def logits(self) -> list[Ball]:
        return list(map(ball, self._evaluation.logits[0].tolist()))


def _similarity(head: TorchHead, values: Exact, which: slice) -> Any:
    """S of observables, all of one prototype."""
    scale, peak = (1.0 if head.scale is None else head.scale[which]), (0.0 if head.peak is None else head.peak[which])
    numbers = (Exact(each) if isinstance(each, Tensor) else each for each in (scale, peak))
    return head.similarity.of(values, head.geometry, *numbers)


@cache
def _exact(head: TorchHead) -> TorchHead:
    """The head with rationals for the numbers of its parts: with a float, 1 - epsilon would be rounded."""
    return replace(head, geometry=_rational(head.geometry), similarity=_rational(head.similarity))


def _rational(part: Any) -> Any:
    values = {each.name: getattr(part, each.name) for each in fields(part)}
    return replace(part, **{name: Fraction(value) for name, value in values.items() if type(value) is float})


# Of heads and tensors of verale.


@cache
def exact(head: TorchHead) -> Head:
    """The head taken apart."""
    return Head.read(head.to_bytes())


def observable(head: TorchHead, z: list[float], j: int) -> Number:
    """m(z, p_j): a Fraction (euclidean, inner product) or a ball."""
    return exact(head).observable(z, j)


def pooled(head: TorchHead, observables: list[Any], j: int) -> Ball:
    """The activation of one prototype, a ball, given its observables at all patches."""
    return exact(head).pooled(observables, j)


def differences(head: TorchHead, patches: Tensor, predicted: int) -> list[Any]:
    """o_predicted - o_c for every class c, as balls."""
    logits = exact(head).at(balls(patches.tolist())).logits  # of balls alone, which is faster than rationals
    return [logits[predicted] - logit for logit in logits]


def redrawn_alike(
    head: TorchHead, image: Tensor, certificate: Certificate, times: int, generator: torch.Generator
) -> int:
    """Redraw the patches without a statement: every rival stays below by the stated margin. Returns how often."""
    free = sorted(set(range(certificate.patches)) - {s.patch for s in certificate.statements})
    for _ in range(times if free else 0):
        other = image.clone()
        scale = 6 if isinstance(head.geometry, Softmax) else 1
        other[free] = torch.rand(len(free), head.depth, generator=generator).double() * scale
        with flint.ctx.workprec(PRECISION):
            for margin, difference in zip(
                certificate.margins, differences(head, other, certificate.predicted), strict=True
            ):
                assert margin is None or difference > flint.arb(margin)
    return times if free else 0
