"""What a head is: the frozen description of everything after the latent map; and its reference evaluation in float64,
rounded to nearest, which is an estimate and never part of a proof."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import InitVar, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from verale.checker.errors import HeadError as UnreadableHeadError
from verale.checker.read.head_file import METADATA_KEY as HEAD_KEY
from verale.checker.read.head_file import HeadFile, read_head_file
from verale.errors import HeadError, UsageError, naming
from verale.files import read, write_atomically
from verale.head.fields import Kind, read_part, write_fields, write_part
from verale.head.geometry import GEOMETRIES, Box, Geometry
from verale.head.latents import as_patches, described, field_tensor, require_channels, require_path, shortened
from verale.head.pooling import POOLINGS, MaxPooling, Pooling
from verale.head.readout import READOUTS, Linear, Readout
from verale.head.similarity import SIMILARITIES, Similarity
from verale.tensors import loaded, stored


@dataclass(frozen=True, eq=False)
class Head:
    """Everything a prototype network does after its latent map, as plain data.

    Activations a_j are pooled over the patches l from S(m(z_l, p_j)); logits o are read out of them, by default
    o = weight @ a + bias.

    Tensors may be given as numpy arrays.

    Args:
        weight: (C, P) float32 or float64, the last linear layer; of a soft tree (C, P + 1), its leaves.
        geometry: which observable m a statement speaks of.
        similarity: S, from observable to similarity.
        prototypes: (P, D) float32 or float64, unnormalised as stored; None for softmax, where D = P.
        bias: (C,) or None; of a `Maximum` readout (P,).
        scale: (P,) positive, or None for ones: some similarities multiply the observable by it (isotropic Gaussians:
            1 / sigma_j^2). Statements speak of the unscaled observable.
        peak: (P,), or None for zeros: where a quadratic similarity is greatest.
        domain: where latents live; the wider, the weaker the bounds. A `Box`, or (0, 1) or "0:1", which become one.
        pooling: how similarities of patches become one activation.
        readout: how activations become logits.
        labels: C class names, or None.
        compared: whether its logits were compared with those of its network (`verale.check`, `verale head compare`).
            Nothing that is proved depends on it.
        of_file: its file, where that was read already.

    Raises:
        HeadError: its file would be none, as the checker reads it (NaN, infinity, wrong shape, zero prototype on the
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
    compared: bool = False
    of_file: InitVar[HeadFile | None] = None
    _digest: str | None = field(init=False, repr=False)  # what `replace` makes is of no file

    def __post_init__(self, of_file: HeadFile | None) -> None:
        if self.weight is None:
            raise HeadError("weight", "is None, expected a tensor of shape (C, P)")
        for name, dimensions in TENSORS.items():
            if getattr(self, name) is not None:
                object.__setattr__(self, name, field_tensor(name, getattr(self, name)))
                _check_tensor(name, getattr(self, name), dimensions)
        object.__setattr__(self, "domain", Box.of(self.domain))
        if self.labels is not None:
            object.__setattr__(self, "labels", _as_names(self.labels, self.classes))
        for name, kinds in _PARTS.items():
            part, known = getattr(self, name), {kind.part for kind in kinds.values()}
            if isinstance(part, type):
                raise HeadError(name, f"is the class {part.__name__}, expected an object: write {part.__name__}(...)")
            if type(part) not in known:
                expected = " or ".join(sorted(each.__name__ for each in known))
                raise HeadError(name, f"is {part!r}, expected {expected}")
            try:
                write_part(part, kinds)
            except (TypeError, ValueError) as error:  # what a dataclass does not look at
                raise HeadError(name, f"is {part!r}, expected numbers of other types: {error}") from error
        object.__setattr__(self, "_digest", None if of_file is None else of_file.sha256)
        if of_file is None:  # what nobody has read yet has to be what the checker reads
            try:
                read_head_file(self.to_bytes())
            except UnreadableHeadError as error:
                raise HeadError(None, str(error).removeprefix("head file: ")) from error

    def __repr__(self) -> str:
        """One line: sizes and parts, no numbers of tensors."""
        parts = ", ".join(map(repr, (self.geometry, self.similarity, self.pooling, self.readout)))
        return f"Head({self.classes} classes, {self.size} prototypes, {self.depth} channels, {parts})"

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
    def points(self) -> Tensor:
        """The prototypes (P, D); (0, D) where they are the channels."""
        return self.weight.new_zeros((0, self.depth)) if self.prototypes is None else self.prototypes

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the head's file: of the bytes it was loaded from, else of the bytes `save` writes."""
        return self._digest or hashlib.sha256(self.to_bytes()).hexdigest()

    def logits(self, latents: object) -> Tensor:
        """The logits (N, C) of latents (N, D, H, W) or (N, L, D), in float64 rounded to nearest.

        This is an estimate for people and for comparisons (`verale.check`). No proof uses it. Where an activation is
        beyond float64, such as a negated squared distance of 1e320, it is no number.

        Raises:
            LatentsError: another shape or dtype, another number of channels, NaN or infinity.
        """
        return evaluate(self, as_patches(latents, self.depth)).logits

    def as_compared(self) -> Head:
        """The same, whose file, of another digest, says that its logits were compared with those of its network."""
        return replace(self, compared=True)

    def to_bytes(self) -> bytes:
        """The head's file, safetensors; the same head gives the same bytes."""
        described: dict[str, Any] = {
            "geometry": write_part(self.geometry, GEOMETRIES),
            "domain": write_fields(self.domain),
            "similarity": write_part(self.similarity, SIMILARITIES),
            "pooling": write_part(self.pooling, POOLINGS),
            "labels": None if self.labels is None else list(self.labels),
        }
        if self.readout != Linear():
            described["readout"] = write_part(self.readout, READOUTS)
        if self.compared:
            described["compared"] = True
        tensors = {name: getattr(self, name) for name in TENSORS} | self.pooling.tensors
        return encode(described, {name: tensor for name, tensor in tensors.items() if tensor is not None})

    @classmethod
    def from_bytes(cls, data: bytes) -> Head:
        """Read a head from the bytes of its file, as the checker does. Raises HeadError, which names the field."""
        try:
            file = read_head_file(data)
        except UnreadableHeadError as error:
            raise HeadError(None, str(error)) from error
        tensors = {name: loaded(tensor) for name, tensor in file.tensors.items()}
        ends = (None if end is None else float(end) for end in (file.lower, file.upper))
        return cls(
            geometry=read_part("geometry", file.geometry, GEOMETRIES),
            similarity=read_part("similarity", file.similarity, SIMILARITIES),
            domain=Box(*ends),
            pooling=read_part("pooling", file.pooling, POOLINGS, tensors),
            readout=read_part("readout", file.readout, READOUTS),
            labels=file.labels,
            compared=file.compared,
            of_file=file,
            **tensors,
        )

    def save(self, path: str | Path) -> None:
        """Write the head's file: a temporary file beside it, which is then renamed. Raises UsageError: no path."""
        require_path(path, "head.save(path)")
        write_atomically(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> Head:
        """Read a head's file. Raises InputError, which names the file and the field; UsageError: no path."""
        require_path(path, "verale.Head.load(path)")
        with naming(path, HeadError):
            return cls.from_bytes(read(path, "a head file (safetensors)"))


_PARTS: dict[str, Mapping[str, Kind[Any]]] = {
    "geometry": GEOMETRIES,
    "similarity": SIMILARITIES,
    "pooling": POOLINGS,
    "readout": READOUTS,
}
"""The kinds of each part, by the head's field."""


@dataclass(frozen=True)
class Evaluation:
    """What the head computes, for N images.

    Attributes:
        observables: (N, L, P) m(z_l, p_j).
        activations: (N, P).
        logits: (N, C).
    """

    observables: Tensor
    activations: Tensor
    logits: Tensor

    @property
    def predicted(self) -> Tensor:
        """(N,) the first class with the largest logit."""
        return self.logits.argmax(dim=1)


def require_depth(head: Head, patches: Tensor) -> None:
    """Raise LatentsError unless latents (..., D) have the head's number of channels."""
    require_channels(tuple(patches.shape), head.depth)


def observables(head: Head, patches: Tensor) -> Tensor:
    """m(z_l, p_j) for patches (N, L, D) float64: (N, L, P). Raises LatentsError when the depth does not fit."""
    require_depth(head, patches)
    return head.geometry.observables(patches, head.points.to(patches))


def evaluate(head: Head, patches: Tensor) -> Evaluation:
    """Evaluate a head on patches (N, L, D) float64."""
    return evaluate_observed(head, observables(head, patches))


def evaluate_observed(head: Head, observed: Tensor) -> Evaluation:
    """Evaluate a head on observables (N, L, P)."""
    activations = head.pooling.pool(observed, lambda values: similarity(head, values))
    return Evaluation(observed, activations, read_out(head, activations))


def similarity(head: Head, observed: Tensor) -> Tensor:
    """S of observables (..., P)."""
    scale = 1.0 if head.scale is None else head.scale.to(observed)
    peak = 0.0 if head.peak is None else head.peak.to(observed)
    return head.similarity.of(observed, head.geometry, scale, peak)


def read_out(head: Head, activations: Tensor) -> Tensor:
    """Logits (N, C) from activations (N, P)."""
    bias = None if head.bias is None else head.bias.to(activations)
    return head.readout.read_out(activations, head.weight.to(activations), bias)


def belonging(head: Head, predicted: Tensor) -> Tensor:
    """(N, P) bool: the prototypes that belong to each of N classes, as no class has a greater weight for them."""
    weight: Tensor = head.weight[predicted] >= head.weight.amax(0)
    return weight


def require_head(value: object) -> Head:
    """The value, if it is a head. Raises UsageError, which says what to write instead."""
    if isinstance(value, Head):
        return value
    remedy = "write verale.Head.load('head.safetensors') or verale.adapters.head_of(architecture, state)"
    if isinstance(value, nn.Module):
        remedy = "write verale.adapters.head_of(architecture, model.state_dict())"
    elif isinstance(value, Mapping):
        remedy = "write verale.adapters.head_of(architecture, state)"
    elif isinstance(value, str | Path):
        remedy = f"write verale.Head.load({shortened(value)})"
    raise UsageError(f"head is {described(value)}, expected a verale.Head: {remedy}")


def _as_names(labels: object, classes: int) -> tuple[str, ...]:
    """The names of so many classes. Raises HeadError."""
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise HeadError("labels", f"is {labels!r}, expected a list of names, one a class")
    names = tuple(labels)
    for name in names:
        if not isinstance(name, str):
            raise HeadError("labels", f"holds {name!r}, expected names: write str(name) for each")
        if name != name.encode(errors="replace").decode():
            raise HeadError("labels", f"holds {name!a}, a part of a character, expected whole ones")
    if len(names) != classes:
        raise HeadError("labels", f"has {len(names)} names, expected {classes}, one a class")
    return names


def _check_tensor(name: str, tensor: Tensor, dimensions: int) -> None:
    if tensor.dtype not in (torch.float32, torch.float64):
        raise HeadError(name, f"has dtype {tensor.dtype}, expected float32 or float64: convert it (a cast up is exact)")
    if tensor.dim() != dimensions or 0 in tensor.shape:
        raise HeadError(name, f"has shape {tuple(tensor.shape)}, expected {dimensions} dimension(s), none empty")
    if not torch.isfinite(tensor).all():
        index = (~torch.isfinite(tensor)).nonzero()[0].tolist()
        raise HeadError(name, f"holds {tensor[tuple(index)].item()} at {index}, expected finite numbers")


VERSION = 1
TENSORS = {"weight": 2, "bias": 1, "prototypes": 2, "scale": 1, "peak": 1}
"""The tensors of a head that a file may hold beside those of its parts, and their dimensions; the first is required."""


def encode(fields: Mapping[str, object], tensors: Mapping[str, Tensor]) -> bytes:
    """The bytes of a file with these JSON fields, without the version, and these tensors. Equal data, equal bytes."""
    return stored(tensors, {HEAD_KEY: json.dumps({"version": VERSION, **fields}, ensure_ascii=False)})
