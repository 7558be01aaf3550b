"""What a head is: the frozen description of everything after the latent map."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from verale.errors import HeadError

__all__ = ["Box", "Cosine", "Euclidean", "FocalPooling", "Head", "Identity", "LogRatio", "MaxPooling", "Softmax"]


@dataclass(frozen=True)
class Euclidean:
    """Observable: the squared distance m(z, p) = |z - p|^2."""


@dataclass(frozen=True)
class Cosine:
    """Observable: m(z, p) = <z, p> / (|p| (|z| + epsilon)).

    With u = z / (|z| + epsilon), a vector of the closed unit ball, m(z, p) = <u, p / |p|>. With epsilon = 0 the
    latent z = 0 lies outside the head's domain.
    """

    epsilon: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.epsilon) and self.epsilon >= 0):
            raise HeadError("geometry.epsilon", f"is {self.epsilon}, expected a finite number >= 0")


@dataclass(frozen=True)
class Softmax:
    """Observable: the softmax mass m_j(z) = exp(z_j) / sum_i exp(z_i); prototypes are the channels."""


@dataclass(frozen=True)
class Identity:
    """Similarity S(m) = m."""


_LEAST_EPSILON = 2.0**-900
"""Far above what float64 loses to underflow when a tiny distance is scaled."""


@dataclass(frozen=True)
class LogRatio:
    """Similarity S(m) = ln((m + 1) / (m + epsilon)), strictly decreasing for 0 < epsilon < 1 (ProtoPNet)."""

    epsilon: float = 1e-4

    def __post_init__(self) -> None:
        if not _LEAST_EPSILON <= self.epsilon < 1:
            raise HeadError("similarity.epsilon", f"is {self.epsilon}, expected {_LEAST_EPSILON:.0e} <= epsilon < 1")


@dataclass(frozen=True)
class MaxPooling:
    """Activation a_j = max over patches of the similarity g_lj."""


_FOCAL_KINDS = ("max_minus_mean", "max_minus_mean_distance")


@dataclass(frozen=True)
class FocalPooling:
    """Activation a_j = the largest similarity, less what the image has of it everywhere; >= 0, and 0 for one patch.

    - `max_minus_mean`: a_j = max_l S(m_lj) - mean_l S(m_lj), less the mean similarity (Beyond L2, section 3.5). Any
      geometry.
    - `max_minus_mean_distance`: a_j = S(min_l m_lj) - S(mean_l m_lj), less the similarity at the mean squared distance
      (ProtoPool's code). Euclidean only: of other observables the mean is no distance. `slots.merge_slots` makes
      the weights of such a head.
    """

    kind: str = "max_minus_mean"

    def __post_init__(self) -> None:
        if self.kind not in _FOCAL_KINDS:
            raise HeadError("pooling", f"is focal of kind {self.kind!r}, expected one of {', '.join(_FOCAL_KINDS)}")


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


Geometry = Euclidean | Cosine | Softmax
Similarity = Identity | LogRatio
Pooling = MaxPooling | FocalPooling

_SIMILARITY_OF = {Euclidean: LogRatio, Cosine: Identity, Softmax: Identity}


@dataclass(frozen=True, eq=False)
class Head:
    """Everything a prototype network does after its latent map, as plain data.

    logits o = weight @ a + bias with a_j pooled over the patches l from S(m(z_l, p_j)).

    Args:
        weight: (C, P) float32 or float64, the last linear layer.
        geometry: which observable m a statement speaks of.
        similarity: S, from observable to similarity.
        prototypes: (P, D) float32 or float64, unnormalised as stored; None for softmax, where D = P.
        bias: (C,) or None.
        scale: (P,) positive, or None for ones: the log-ratio similarity takes scale_j |z - p_j|^2 (isotropic Gaussians:
            1 / sigma_j^2). Statements speak of the unscaled distance.
        domain: where latents live; the wider, the weaker the bounds.
        pooling: how similarities of patches become one activation.
        labels: C class names, or None.

    Raises:
        HeadError: a field that verale cannot vouch for (NaN, infinity, wrong shape, zero prototype on the
            sphere, ...).

    Soundness: every claim about a head is about the exact values of these floats, in real arithmetic.
    """

    weight: Tensor
    geometry: Geometry
    similarity: Similarity
    prototypes: Tensor | None = None
    bias: Tensor | None = None
    scale: Tensor | None = None
    domain: Box = field(default_factory=Box)
    pooling: Pooling = field(default_factory=MaxPooling)
    labels: tuple[str, ...] | None = None
    _digest: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        _check_tensor("weight", self.weight, 2)
        if self.classes < 2:
            raise HeadError(
                "weight", f"has {self.classes} class(es), expected at least 2: one class needs no explanation"
            )
        expected = _SIMILARITY_OF.get(type(self.geometry))
        if expected is None:
            raise HeadError("geometry", f"is {self.geometry!r}, expected Euclidean, Cosine or Softmax")
        if not isinstance(self.similarity, expected):
            raise HeadError("similarity", f"is {self.similarity!r}, expected {expected.__name__} for {self.geometry!r}")
        if self.pooling == FocalPooling("max_minus_mean_distance") and not isinstance(self.geometry, Euclidean):
            raise HeadError(
                "pooling", f"is max_minus_mean_distance, expected another: only Euclidean has it, not {self.geometry!r}"
            )
        if self.bias is not None:
            _check_tensor("bias", self.bias, 1)
            if self.bias.shape != (self.classes,):
                raise HeadError(
                    "bias", f"has shape {tuple(self.bias.shape)}, expected ({self.classes},) as weight has rows"
                )
        self._check_prototypes()
        self._check_scale()
        if self.labels is not None and len(self.labels) != self.classes:
            raise HeadError("labels", f"has {len(self.labels)} names, expected {self.classes}, one a class")

    def _check_prototypes(self) -> None:
        count = self.weight.shape[1]
        if isinstance(self.geometry, Softmax):
            if self.prototypes is not None:
                raise HeadError(
                    "prototypes", "is given, expected none: the prototypes of a softmax head are its channels"
                )
            return
        if self.prototypes is None:
            raise HeadError("prototypes", f"is missing, expected a tensor of shape ({count}, D)")
        _check_tensor("prototypes", self.prototypes, 2)
        if self.prototypes.shape[0] != count:
            raise HeadError(
                "prototypes", f"has {self.prototypes.shape[0]} rows, expected {count} as weight has columns"
            )
        if isinstance(self.geometry, Cosine):
            zero = (self.prototypes == 0).all(dim=1).nonzero().flatten().tolist()
            if zero:
                raise HeadError("prototypes", f"row {zero[0]} is the zero vector, which has no direction: remove it")

    def _check_scale(self) -> None:
        if self.scale is None:
            return
        _check_tensor("scale", self.scale, 1)
        if not isinstance(self.geometry, Euclidean):
            raise HeadError(
                "scale", f"is given, expected none for {self.geometry!r}: only squared distances are scaled"
            )
        if self.scale.shape != (self.size,):
            raise HeadError("scale", f"has shape {tuple(self.scale.shape)}, expected ({self.size},), one a prototype")
        if not (self.scale > 0).all():
            raise HeadError("scale", f"holds {float(self.scale.min())}, expected positive numbers")

    @property
    def classes(self) -> int:
        """C, the number of classes."""
        return int(self.weight.shape[0])

    @property
    def size(self) -> int:
        """P, the number of prototypes."""
        return int(self.weight.shape[1])

    @property
    def depth(self) -> int:
        """D, the number of latent channels."""
        return self.size if self.prototypes is None else int(self.prototypes.shape[1])

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the head's file: of the bytes it was loaded from, else of the bytes `save` writes."""
        return self._digest or hashlib.sha256(self.to_bytes()).hexdigest()

    def to_bytes(self) -> bytes:
        """The head's file, safetensors; the same head gives the same bytes."""
        from verale.head.file import encode

        return encode(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Head:
        """Read a head from the bytes of its file. Raises HeadError, which names the field."""
        from verale.head.file import decode

        return decode(data)

    def save(self, path: str | Path) -> None:
        """Write the head's file (beside its place, then renamed)."""
        from verale.files import write_atomically

        write_atomically(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> Head:
        """Read a head's file. Raises InputError, which names the file and the field."""
        from verale.errors import InputError
        from verale.files import read

        try:
            return cls.from_bytes(read(path, "a head file (safetensors)"))
        except HeadError as error:
            raise InputError(path, str(error)) from error


def _check_tensor(name: str, tensor: Tensor, dimensions: int) -> None:
    if tensor.dtype not in (torch.float32, torch.float64):
        raise HeadError(name, f"has dtype {tensor.dtype}, expected float32 or float64: convert it (a cast up is exact)")
    if tensor.dim() != dimensions or 0 in tensor.shape:
        raise HeadError(name, f"has shape {tuple(tensor.shape)}, expected {dimensions} dimension(s), none empty")
    if not torch.isfinite(tensor).all():
        place = (~torch.isfinite(tensor)).nonzero()[0].tolist()
        raise HeadError(name, f"holds {tensor[tuple(place)].item()} at {place}, expected finite numbers")
