"""Geometries: which observable m(z, p) of a latent and a prototype a statement speaks of, and where latents live."""

from __future__ import annotations

import math
from dataclasses import dataclass

from verale.errors import HeadError

__all__ = ["Box", "Cosine", "Euclidean", "Geometry", "InnerProduct", "Softmax"]


@dataclass(frozen=True)
class Euclidean:
    """Observable: the squared distance m(z, p) = |z - p|^2."""


@dataclass(frozen=True)
class Cosine:
    """Observable: m(z, p) = <u, p / |p|> with u = z / (|z| + epsilon), or z / sqrt(|z|^2 + epsilon) where `rooted`.

    u is a vector of the closed unit ball. With epsilon = 0 the latent z = 0 lies outside the head's domain.
    """

    epsilon: float = 0.0
    rooted: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.epsilon) and self.epsilon >= 0):
            raise HeadError("geometry.epsilon", f"is {self.epsilon}, expected a finite number >= 0")


@dataclass(frozen=True)
class InnerProduct:
    """Observable: m(z, p) = <z, p>, neither of them normalised.

    The domain is bounded: a box with two ends, or the part of the head's box with |z| <= radius.
    """

    radius: float | None = None

    def __post_init__(self) -> None:
        if self.radius is not None and not (math.isfinite(self.radius) and self.radius > 0):
            raise HeadError("geometry.radius", f"is {self.radius}, expected a finite number > 0, or None for no ball")


@dataclass(frozen=True)
class Softmax:
    """Observable: the softmax mass m_j(z) = exp(z_j) / sum_i exp(z_i); prototypes are the channels."""


@dataclass(frozen=True)
class Box:
    """The head's domain: every latent coordinate lies in [lower, upper], both included; None means unbounded."""

    lower: float | None = None
    upper: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("lower", self.lower), ("upper", self.upper)):
            if value is None:
                continue
            if not math.isfinite(value):
                raise HeadError(f"domain.{name}", f"is {value}, expected a finite number, or None for unbounded")
            object.__setattr__(self, name, float(value))
        if self.lower is not None and self.upper is not None and not self.lower < self.upper:
            raise HeadError("domain", f"is [{self.lower}, {self.upper}], expected lower < upper")

    @property
    def bounded(self) -> bool:
        """Whether both ends are there."""
        return self.lower is not None and self.upper is not None


Geometry = Euclidean | Cosine | InnerProduct | Softmax
