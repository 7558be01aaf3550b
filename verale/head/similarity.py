"""Similarities: from the observable m of one patch and one prototype to how alike they are, g = S(m).

`scale` and `peak` are tensors of the head, one number a prototype. Positive factors and constants that all patches of a
prototype share are not similarities: they are folded into the last layer, in float64.

Each is a chain of steps (certificates/v1.md, "Steps"), of which all else follows: `StepChain`, or a kind that
`verale.checker.read.similarities` gives a name. Of these, eight have a class here; any other one gets its class from
there.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, make_dataclass
from fractions import Fraction
from functools import cache
from numbers import Real
from typing import Any, ClassVar

import torch
from torch import Tensor

from verale.checker.errors import FormatError
from verale.checker.read.similarities import MOST_STEPS, STEPS, Chain, Step
from verale.checker.read.similarities import SIMILARITIES as KINDS
from verale.errors import HeadError
from verale.head.fields import Kind
from verale.head.geometry import GEOMETRIES, Geometry

__all__ = [
    "SIMILARITIES",
    "ExpDistance",
    "Exponential",
    "Identity",
    "LogRatio",
    "NamedSimilarity",
    "NamedSteps",
    "Negated",
    "Quadratic",
    "Rectified",
    "Similarity",
    "Step",
    "StepChain",
    "Threshold",
]

_LEAST_EPSILON = 2.0**-900
"""Far above what float64 loses to underflow when a tiny distance is scaled."""
_GEOMETRIES = {name: kind.part for name, kind in GEOMETRIES.items()}


class Similarity(ABC):
    """A chain of steps, of which all else follows; each one is a frozen dataclass with an entry in `SIMILARITIES`.

    Attributes:
        kind: its name in head files.
        geometries: those it is defined for.
        tensors: which of the head's tensors `scale` and `peak` it takes.
        needs_bounded: whether the observables have to be bounded over the domain, as it has no least value otherwise.
        unimodal: whether it is a function of the distance from the prototype's peak, |m - peak|, with which it falls.
    """

    kind: ClassVar[str]
    geometries: tuple[type[Geometry], ...]
    tensors: tuple[str, ...] = ()
    needs_bounded: bool = False
    unimodal: bool = False

    def __post_init__(self) -> None:
        reasons = {kind: self._reason(kind) for kind, part in _GEOMETRIES.items() if part in self.geometries}
        allowed = [kind for kind, reason in reasons.items() if reason is None]
        if not allowed:
            raise HeadError("similarity", f"is {self!r}: {next(iter(reasons.values()))}")
        chain = Chain(allowed[0], self.steps_of(allowed[0]))
        found = {
            "geometries": tuple(dict.fromkeys(_GEOMETRIES[kind] for kind in allowed)),
            "tensors": chain.tensors,
            "needs_bounded": not chain.has_limit,
            "unimodal": chain.unimodal,
        }
        for name, value in found.items():
            object.__setattr__(self, name, value)

    @abstractmethod
    def steps_of(self, geometry: str) -> tuple[Step, ...]:
        """The steps, of a kind of geometry. Raises FormatError where their numbers are not allowed."""

    def _reason(self, geometry: str) -> str | None:
        """Why it is not defined for a kind of geometry; None where it is."""
        try:
            Chain(geometry, self.steps_of(geometry)).check()
        except FormatError as error:
            return str(error)
        return None

    def of(self, observed: Tensor, geometry: Geometry, scale: Tensor | float, peak: Tensor | float) -> Tensor:
        """S of observables (..., P) in float64, rounded to nearest.

        Args:
            observed: (..., P).
            geometry: of the observables.
            scale: (P,), or 1.0 where the head has none.
            peak: (P,), or 0.0 where the head has none, and of distances from the peak.
        """
        for step in self.steps_of(geometry.kind):
            observed = _stepped(step, observed, scale, peak)
        return observed


@dataclass(frozen=True)
class StepChain(Similarity):
    """A chain of steps, the first of them of the observable (certificates/v1.md, "Steps").

    `StepChain([{"kind": "add", "number": 1e-4}, {"kind": "root"}, {"kind": "negate"}, {"kind": "exp"}])` is
    `ExpDistance(1e-4)`.

    Args:
        steps: each with its kind and its numbers, as in head files, but that numbers are floats.

    Raises:
        HeadError: a kind or a number that is none of a step's, or steps that are defined for no geometry.
    """

    steps: Sequence[Any] = ()

    kind = "steps"
    geometries = tuple(dict.fromkeys(_GEOMETRIES.values()))
    tensors = ("scale", "peak")

    def __post_init__(self) -> None:
        steps = tuple(_as_step(number, step) for number, step in enumerate(self.steps))
        if len(steps) > MOST_STEPS:
            raise HeadError("similarity.steps", f"has {len(steps)} steps, expected at most {MOST_STEPS}")
        object.__setattr__(self, "steps", steps)
        super().__post_init__()

    def __repr__(self) -> str:
        """As it is written."""
        written = [{"kind": step.kind, **{name: float(x) for name, x in step.numbers.items()}} for step in self.steps]
        return f"StepChain({written})"

    def steps_of(self, geometry: str) -> tuple[Step, ...]:
        return tuple(self.steps)


class NamedSimilarity(Similarity):
    """A kind of head files that names a chain; its dataclass has the numbers of the kind as fields."""

    def __init_subclass__(cls) -> None:
        if not hasattr(cls, "kind"):
            return
        known = KINDS[cls.kind]
        cls.geometries = tuple(dict.fromkeys(_GEOMETRIES[geometry] for geometry in known.geometries))
        cls.tensors = known.tensors

    def __post_init__(self) -> None:
        for name, (allows, expected) in KINDS[self.kind].fields.items():
            value = getattr(self, name)
            if not math.isfinite(value) or not allows(Fraction(value)):
                raise HeadError(f"similarity.{name}", f"is {value}, expected {expected}")
        super().__post_init__()

    def steps_of(self, geometry: str) -> tuple[Step, ...]:
        return _named(self.kind, geometry, *(getattr(self, name) for name in KINDS[self.kind].fields))


@dataclass(frozen=True)
class Identity(NamedSimilarity):
    """S(m) = m, of cosines, inner products and softmax masses."""

    kind = "identity"


@dataclass(frozen=True)
class LogRatio(NamedSimilarity):
    """S(m) = ln((x + 1) / (x + epsilon)) with x = scale m, strictly decreasing for 0 < epsilon < 1 (ProtoPNet)."""

    epsilon: float = 1e-4

    kind = "log_ratio"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon < _LEAST_EPSILON:
            raise HeadError("similarity.epsilon", f"is {self.epsilon}, expected at least {_LEAST_EPSILON:.0e}")


@dataclass(frozen=True)
class Negated(NamedSimilarity):
    """S(m) = -scale m of a squared distance (linear ProtoPNet, Gaussian log-density, HyperPG l2-negated)."""

    kind = "negated"


@dataclass(frozen=True)
class ExpDistance(NamedSimilarity):
    """S(m) = exp(-sqrt(m + epsilon)) of a squared distance, in (0, 1] (ProtoTree, ProtoPNeXt exp_l2)."""

    epsilon: float = 1e-14

    kind = "exp_distance"


@dataclass(frozen=True)
class Exponential(NamedSimilarity):
    """S(m) = exp(-scale m) of a squared distance, exp(-scale (1 - m)) of a cosine; in (0, 1].

    A Gaussian density but for its constant. On the unit sphere |u - p|^2 = (1 - |p|)^2 + 2 |p| (1 - cos), so a Gaussian
    of deviation sigma has the scale |p| / sigma^2 there (MGProto).
    """

    kind = "exponential"


@dataclass(frozen=True)
class Quadratic(NamedSimilarity):
    """S(m) = -(m - peak)^2, unimodal: greatest where the observable meets the prototype's peak (HyperPG).

    Of a squared distance with peak 0 (no tensor `peak`) it is minus the fourth power of the distance.
    """

    kind = "quadratic"


@dataclass(frozen=True)
class Rectified(NamedSimilarity):
    """S(m) = max(0, m) of a cosine or an inner product (ProtoPNeXt cosine, Deformable ProtoPNet)."""

    kind = "rectified"


@dataclass(frozen=True)
class Threshold(NamedSimilarity):
    """S(m) = m where m >= threshold, else 0, of a softmax mass: increasing, with a jump (PIP-Net at inference)."""

    threshold: float = 0.1

    kind = "threshold"


class NamedSteps(NamedSimilarity):
    """One that has no class here: it is made of the table of kinds."""

    def __post_init__(self) -> None:
        for name in KINDS[self.kind].fields:
            value = getattr(self, name)
            if not (isinstance(value, Real) and math.isfinite(value)):
                raise HeadError(f"similarity.{name}", f"is {value!r}, expected a finite number")
        super().__post_init__()


@cache
def _named(kind: str, geometry: str, *numbers: float) -> tuple[Step, ...]:
    fields = zip(KINDS[kind].fields, map(Fraction, numbers), strict=True)
    return KINDS[kind].chain(geometry, dict(fields)).steps


def _as_step(number: int, step: Any) -> Step:
    if isinstance(step, Step):
        return step
    where, kinds = f"similarity.steps[{number}]", ", ".join(STEPS)
    if not isinstance(step, Mapping) or step.get("kind") not in STEPS:
        raise HeadError(where, f"is {step!r}, expected a dictionary whose kind is one of {kinds}")
    fields = STEPS[step["kind"]].fields
    numbers = {name: value for name, value in step.items() if name != "kind"}
    finite = all(isinstance(value, int | float) and math.isfinite(value) for value in numbers.values())
    if set(numbers) != set(fields) or not finite:
        raise HeadError(
            where, f"has {numbers}, expected {', '.join(fields) or 'nothing'} besides its kind, finite numbers"
        )
    try:
        return Step(step["kind"], {name: Fraction(float(numbers[name])) for name in fields})
    except FormatError as error:
        raise HeadError(where, str(error)) from None


def _stepped(step: Step, x: Tensor, scale: Tensor | float, peak: Tensor | float) -> Tensor:
    """A step of numbers (..., P) in its domain, rounded to nearest."""
    a = float(step.numbers.get("number", 0))
    match step.kind:
        case "scale":
            return scale * x
        case "add":
            return x + a
        case "multiply":
            return x * a
        case "negate":
            return -x
        case "log_ratio":
            over, under = float(step.numbers["over"]), float(step.numbers["under"])
            return torch.log1p(over / (x + under) - under / (x + under))  # the difference may be no float
        case "exp":
            return torch.exp(x)
        case "root":
            return x.sqrt()
        case "square":
            return x.square()
        case "threshold":
            return torch.where(x >= a, x, 0.0)
        case "rectify":
            return x.clamp(min=0)
        case "reciprocal":
            return 1 / (x + a)
        case _:  # from_peak
            return (x - peak).abs()


_WRITTEN: tuple[type[Similarity], ...] = (
    *(Identity, LogRatio, Negated, ExpDistance, Exponential, Quadratic, Rectified, Threshold),
    StepChain,
)
# The others are frozen dataclasses with the numbers of the kind as their fields, `StudentT` of `student_t`.
_NAMED: list[type[Similarity]] = [
    make_dataclass(
        kind.title().replace("_", ""),
        [(each, float) for each in KINDS[kind].fields],
        bases=(NamedSteps,),
        frozen=True,
        namespace={"kind": kind, "__module__": __name__},
    )
    for kind in KINDS
    if kind not in {each.kind for each in _WRITTEN}
]
globals().update({each.__name__: each for each in _NAMED})
__all__ += [each.__name__ for each in _NAMED]

SIMILARITIES: dict[str, Kind[Similarity]] = {each.kind: Kind(each) for each in (*_WRITTEN, *_NAMED)}
"""The similarities of head files, by their kind."""
