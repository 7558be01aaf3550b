"""What a head is: the frozen description of everything after the latent map."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from verale.errors import HeadError
from verale.head.geometry import Box, Cosine, Euclidean, Geometry, InnerProduct, Softmax
from verale.head.pooling import BankPooling, FocalPooling, MaxPooling, Pooling
from verale.head.readout import Linear, Maximum, Readout, SoftTree
from verale.head.similarity import (
    ExpDistance,
    Exponential,
    Identity,
    LogRatio,
    Negated,
    Quadratic,
    Rectified,
    Similarity,
    Threshold,
)

__all__ = ["Head"]

_SIMILARITIES: dict[type[Geometry], tuple[type[Similarity], ...]] = {
    Euclidean: (LogRatio, Negated, ExpDistance, Exponential, Quadratic),
    Cosine: (Identity, Exponential, Quadratic, Rectified),
    InnerProduct: (Identity, Quadratic, Rectified),
    Softmax: (Identity, Threshold),
}
_SCALED = (LogRatio, Negated, Exponential)


@dataclass(frozen=True, eq=False)
class Head:
    """Everything a prototype network does after its latent map, as plain data.

    Activations a_j are pooled over the patches l from S(m(z_l, p_j)); logits o are read out of them, by default
    o = weight @ a + bias.

    Args:
        weight: (C, P) float32 or float64, the last linear layer; of a soft tree (C, P + 1), its leaves.
        geometry: which observable m a statement speaks of.
        similarity: S, from observable to similarity.
        prototypes: (P, D) float32 or float64, unnormalised as stored; None for softmax, where D = P.
        bias: (C,) or None; of a `Maximum` readout (P,).
        scale: (P,) positive, or None for ones: what log_ratio, negated and exponential multiply the observable by
            (isotropic Gaussians: 1 / sigma_j^2). Statements speak of the unscaled observable.
        peak: (P,), or None for zeros: where a quadratic similarity is greatest.
        domain: where latents live; the wider, the weaker the bounds.
        pooling: how similarities of patches become one activation.
        readout: how activations become logits.
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
    peak: Tensor | None = None
    domain: Box = field(default_factory=Box)
    pooling: Pooling = field(default_factory=MaxPooling)
    readout: Readout = field(default_factory=Linear)
    labels: tuple[str, ...] | None = None
    _digest: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        _check_tensor("weight", self.weight, 2)
        if self.classes < 2:
            raise HeadError(
                "weight", f"has {self.classes} class(es), expected at least 2: one class needs no explanation"
            )
        self._check_parts()
        self._check_prototypes()
        self._check_readout()
        self._check_scale()
        if self.labels is not None and len(self.labels) != self.classes:
            raise HeadError("labels", f"has {len(self.labels)} names, expected {self.classes}, one a class")

    def _check_parts(self) -> None:
        """The parts fit each other."""
        expected = _SIMILARITIES.get(type(self.geometry))
        if expected is None:
            raise HeadError("geometry", f"is {self.geometry!r}, expected Euclidean, Cosine, InnerProduct or Softmax")
        if not isinstance(self.similarity, expected):
            names = " or ".join(kind.__name__ for kind in expected)
            raise HeadError("similarity", f"is {self.similarity!r}, expected {names} for {self.geometry!r}")
        if isinstance(self.geometry, InnerProduct) and self.geometry.radius is None and not self.domain.bounded:
            raise HeadError("domain", "is unbounded, expected two ends or geometry.radius for inner products")
        falling = isinstance(self.geometry, Euclidean) and isinstance(self.similarity, (Negated, Quadratic))
        if falling and not self.domain.bounded:
            raise HeadError(
                "domain", f"is unbounded, expected a box with two ends: {self.similarity!r} has no least value without"
            )
        if isinstance(self.pooling, FocalPooling) and not isinstance(self.similarity, (LogRatio, Identity)):
            raise HeadError("pooling", f"is focal, expected another for {self.similarity!r}")
        if isinstance(self.pooling, FocalPooling) and not isinstance(self.readout, Linear):
            raise HeadError("pooling", f"is focal, expected another for the readout {type(self.readout).__name__}")
        if self.pooling == FocalPooling("max_minus_mean_distance") and not isinstance(self.geometry, Euclidean):
            raise HeadError(
                "pooling", f"is max_minus_mean_distance, expected another: only Euclidean has it, not {self.geometry!r}"
            )

    def _check_prototypes(self) -> None:
        if isinstance(self.geometry, Softmax):
            if self.prototypes is not None:
                raise HeadError(
                    "prototypes", "is given, expected none: the prototypes of a softmax head are its channels"
                )
            return
        count = len(self.readout.absent) if isinstance(self.readout, SoftTree) else self.weight.shape[1]
        if self.prototypes is None:
            raise HeadError("prototypes", f"is missing, expected a tensor of shape ({count}, D)")
        _check_tensor("prototypes", self.prototypes, 2)
        if self.prototypes.shape[0] != count:
            nodes = "the tree has nodes" if isinstance(self.readout, SoftTree) else "weight has columns"
            raise HeadError("prototypes", f"has {self.prototypes.shape[0]} rows, expected {count} as {nodes}")
        if isinstance(self.geometry, Cosine):
            zero = (self.prototypes == 0).all(dim=1).nonzero().flatten().tolist()
            if zero:
                raise HeadError("prototypes", f"row {zero[0]} is the zero vector, which has no direction: remove it")

    def _check_readout(self) -> None:
        entries = self.size if isinstance(self.readout, Maximum) else self.classes
        if self.bias is not None:
            _check_tensor("bias", self.bias, 1)
            if self.bias.shape != (entries,):
                expected = f"({entries},) as weight has {'columns' if isinstance(self.readout, Maximum) else 'rows'}"
                raise HeadError("bias", f"has shape {tuple(self.bias.shape)}, expected {expected}")
        if isinstance(self.geometry, Softmax) and not isinstance(self.readout, Linear):
            raise HeadError("readout", f"is {type(self.readout).__name__}, expected Linear for softmax")
        if isinstance(self.pooling, BankPooling) and not self.pooling.class_token < self.size:
            raise HeadError(
                "pooling.class_token", f"is {self.pooling.class_token}, expected less than the {self.size} prototypes"
            )
        if isinstance(self.readout, SoftTree):
            if not isinstance(self.similarity, (ExpDistance, Exponential)) or self.pooling != MaxPooling():
                raise HeadError("readout", "is a soft tree, expected activations in [0, 1]: exponentials, max pooling")
            if self.weight.shape[1] != self.size + 1:
                raise HeadError(
                    "weight", f"has {self.weight.shape[1]} columns, expected {self.size + 1}, one a leaf of the tree"
                )
            if self.bias is not None:
                raise HeadError("bias", "is given, expected none: a tree's leaves are all that it adds up")
        member = (self.weight == 1) | (self.weight == 0)
        if isinstance(self.readout, Maximum) and not bool(member.all() & (self.weight == 1).any(1).all()):
            raise HeadError(
                "weight", "is not 0 or 1 with a 1 in every row, expected which prototypes belong to which class"
            )

    def _check_scale(self) -> None:
        for name, tensor, allowed in (
            ("scale", self.scale, _SCALED),
            ("peak", self.peak, (Quadratic,)),
        ):
            if tensor is None:
                continue
            _check_tensor(name, tensor, 1)
            if not isinstance(self.similarity, allowed):
                names = " and ".join(kind.__name__ for kind in allowed)
                raise HeadError(name, f"is given, expected none for {self.similarity!r}: only {names} take it")
            if tensor.shape != (self.size,):
                raise HeadError(name, f"has shape {tuple(tensor.shape)}, expected ({self.size},), one a prototype")
        if self.scale is not None and not (self.scale > 0).all():
            raise HeadError("scale", f"holds {float(self.scale.min())}, expected positive numbers")

    @property
    def classes(self) -> int:
        """C, the number of classes."""
        return int(self.weight.shape[0])

    @property
    def size(self) -> int:
        """P, the number of prototypes."""
        return int(self.weight.shape[1]) if self.prototypes is None else int(self.prototypes.shape[0])

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
