"""Geometries: which observable m(z, p) of a latent and a prototype a statement speaks of, and where latents live."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from verale.errors import HeadError
from verale.head.fields import Kind


@dataclass(frozen=True)
class Box:
    """The head's domain: every latent coordinate lies in [lower, upper], both included; None means unbounded."""

    lower: float | None = None
    upper: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("lower", self.lower), ("upper", self.upper)):
            if value is None:
                continue
            try:
                number = float(value)
            except (TypeError, ValueError, OverflowError):
                number = math.nan
            if isinstance(value, str) or not math.isfinite(number):
                raise HeadError(f"domain.{name}", f"is {value!r}, expected a finite number, or None for unbounded")
            object.__setattr__(self, name, number)
        if self.lower is not None and self.upper is not None and not self.lower < self.upper:
            raise HeadError("domain", f"is [{self.lower}, {self.upper}], expected lower < upper")

    def __str__(self) -> str:
        """LOWER:UPPER, from which `Box.of` and options give this box again."""
        return ":".join("" if end is None else repr(end).removesuffix(".0") for end in (self.lower, self.upper))

    @classmethod
    def of(cls, value: object) -> Box:
        """A box as it is, from its two ends such as (0, 1) or (0, None), or from text such as "0:1" or "0:".

        Raises:
            HeadError: anything else.
        """
        if isinstance(value, Box):
            return value
        ends = value
        if isinstance(value, str):
            try:
                ends = [float(end) if end.strip() else None for end in value.split(":")]
            except ValueError:
                ends = ()
        if not isinstance(ends, list | tuple) or len(ends) != 2:
            raise HeadError(
                "domain", f"is {value!r}, expected Box(0, 1), (0, 1) or '0:1'; an end that is None or left out is open"
            )
        return cls(*ends)

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends; infinite where there is none."""
        return -math.inf if self.lower is None else self.lower, math.inf if self.upper is None else self.upper

    @property
    def bounded(self) -> bool:
        """Whether it has both ends."""
        return self.lower is not None and self.upper is not None


class Geometry(ABC):
    """What all geometries answer; each one is a frozen dataclass with an entry in `GEOMETRIES`.

    Attributes:
        is_distance: whether a small observable means similar. Otherwise a great one does.
        has_prototypes: whether prototypes are vectors of the head. Otherwise they are the latent channels.
        needs_directions: whether no prototype may be the zero vector.
    """

    is_distance: ClassVar[bool] = False
    has_prototypes: ClassVar[bool] = True
    needs_directions: ClassVar[bool] = False

    @property
    @abstractmethod
    def kind(self) -> str:
        """Its name in head files."""

    @property
    def radius(self) -> float | None:
        """R where the domain is cut to |z| <= R, else None."""
        return None

    @property
    def undefined_at_zero(self) -> bool:
        """Whether the latent z = 0 lies outside the domain."""
        return False

    @abstractmethod
    def observables(self, patches: Tensor, points: Tensor) -> Tensor:
        """m(z_l, p_j): (N, L, P) of patches (N, L, D) and prototypes (P, D), all float64; (0, D) without prototypes."""


_DIFFERENCES = 2**23
"""The most differences that are kept at once: 64 MiB."""


@dataclass(frozen=True)
class Euclidean(Geometry):
    """Observable: the squared distance m(z, p) = |z - p|^2."""

    kind = "euclidean"
    is_distance = True

    def observables(self, patches: Tensor, points: Tensor) -> Tensor:
        """From the differences, image by image, and of a large image some patches at a time."""
        many = max(1, _DIFFERENCES // max(1, points.numel()))
        return torch.stack(
            [
                torch.cat([(some[:, None, :] - points).square().sum(-1) for some in image.split(many)])
                for image in patches
            ]
        )


@dataclass(frozen=True)
class Cosine(Geometry):
    """Observable: m(z, p) = <u, p / |p|> with u = z / (|z| + epsilon), or z / sqrt(|z|^2 + epsilon) where `rooted`.

    u is a vector of the closed unit ball. With epsilon = 0 the latent z = 0 lies outside the head's domain.
    """

    epsilon: float = 0.0
    rooted: bool = False

    needs_directions = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.epsilon) and self.epsilon >= 0):
            raise HeadError("geometry.epsilon", f"is {self.epsilon}, expected a finite number >= 0")

    @property
    def kind(self) -> str:
        return "rooted_cosine" if self.rooted else "cosine"

    @property
    def undefined_at_zero(self) -> bool:
        return self.epsilon == 0

    def observables(self, patches: Tensor, points: Tensor) -> Tensor:
        """<u, p / |p|>. Vectors of any size have a cosine, so squares are taken of numbers near 1."""
        scale = _power_below(patches, math.sqrt(self.epsilon) if self.rooted else self.epsilon)
        patches, points = patches / scale, points / _power_below(points)
        length: Tensor = patches.norm(dim=-1, keepdim=True)
        least = scale.new_tensor(self.epsilon) / scale
        directions = patches / ((length.square() + least / scale).sqrt() if self.rooted else length + least)
        cosines: Tensor = directions @ (points / points.norm(dim=-1, keepdim=True)).T
        return cosines


def _power_below(vectors: Tensor, least: float = 0.0) -> Tensor:
    """(..., 1) the power of two at or below the greatest coordinate of vectors (..., D) float64, or at or below `least`
    where that is greater; 1 where both are 0. Dividing by it rounds nothing but what underflows beside the greatest."""
    greatest = vectors.abs().amax(dim=-1, keepdim=True).clamp(min=least)
    mantissa, _ = torch.frexp(greatest)
    return torch.where(greatest > 0, greatest / (2 * mantissa), 1.0)


@dataclass(frozen=True)
class InnerProduct(Geometry):
    """Observable: m(z, p) = <z, p>, neither of them normalised.

    The domain is bounded: a box with two ends, or the part of the head's box with |z| <= radius. It must not be empty.
    """

    radius: float | None = None

    kind = "inner_product"

    def __post_init__(self) -> None:
        if self.radius is not None and not (math.isfinite(self.radius) and self.radius > 0):
            raise HeadError("geometry.radius", f"is {self.radius}, expected a finite number > 0, or None for no ball")

    def observables(self, patches: Tensor, points: Tensor) -> Tensor:
        return patches @ points.T


@dataclass(frozen=True)
class Softmax(Geometry):
    """Observable: the softmax mass m_j(z) = exp(z_j) / sum_i exp(z_i); prototypes are the channels."""

    kind = "softmax"
    has_prototypes = False

    def observables(self, patches: Tensor, points: Tensor) -> Tensor:
        return torch.softmax(patches, dim=-1)


GEOMETRIES: dict[str, Kind[Geometry]] = {
    "euclidean": Kind(Euclidean),
    "cosine": Kind(Cosine, {"rooted": False}),
    "rooted_cosine": Kind(Cosine, {"rooted": True}),
    "inner_product": Kind(InnerProduct),
    "softmax": Kind(Softmax),
}
"""The geometries of head files, by their kind."""
