"""The papers' own code, driven in a process of its own: the small model that it expects, and its paradigms.

It is fetched by hand (`benchmarks.authors` says what, and from where) and imported from the folder in which it lies. It
expects a CaBRNet model: here one whose images are latents, with the similarity layers of CaBRNet or of that code.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.limited import limited, prepare
from verale.errors import UsageError, first_line
from verale.head import (
    Cosine,
    Euclidean,
    Head,
    Identity,
    LogRatio,
    MaxPooling,
    Negated,
    Softmax,
    as_patches,
    load_latents,
)

__all__ = ["FILES", "Explainer", "Outcome", "explainers_of", "network", "serve"]

FILES = ("explain/subset_minimal_axp.py", "explain/extended_explainers.py")
"""What is run, in the folder of the code."""


@dataclass(frozen=True)
class Explainer:
    """One paradigm of their program.

    Attributes:
        name: as its option `--paradigm` spells it.
        kind: the class, which lies in one of the two files.
        paradigm: what the class is made with; None where it takes none.
        fresh: whether each image has a new one, where their program makes one for all.
        unit: whether prototypes are given with length one.
    """

    name: str
    kind: str
    paradigm: str | None = None
    fresh: bool = False
    unit: bool = False

    @property
    def title(self) -> str:
        return ", ".join([self.name, *["unit"] * self.unit, *["fresh"] * self.fresh])


@dataclass(frozen=True)
class Outcome:
    """What became of one image.

    Attributes:
        seconds: processor seconds; None where the limit did not suffice, or the program failed.
        explanation: by pair of patch and prototype, or by prototype, the value; empty where there is none.
        predicted: the class that is explained.
        follows: whether its explainer had explained another image.
        failed: what the program says; empty unless it failed.
    """

    seconds: float | None
    explanation: Mapping[Any, float]
    predicted: int = -1
    follows: bool = False
    failed: str = ""


_SHAPES = ("triangle", "hypersphere")
_KINDS = (
    (Euclidean, LogRatio, False, "SpatialFormalExplanation", _SHAPES),
    (
        Euclidean,
        LogRatio,
        True,
        "IsotropicLogDistanceFormalExplanation",
        ("isotropic_log", "isotropic_log_hypersphere"),
    ),
    (
        *(Euclidean, Negated, True, "IsotropicGaussianFormalExplanation"),
        ("isotropic_gaussian", "isotropic_gaussian_hypersphere"),
    ),
    (Cosine, Identity, False, "CosineSimFormalExplanation", ("cosine", "cosine_hypersphere")),
)
"""Of metric heads: geometry, similarity, whether prototypes have scales; class, and its names for both shapes."""


def explainers_of(head: Head) -> tuple[Explainer, ...]:
    """Their paradigms for a head, as they are chosen on their command line.

    Raises:
        UsageError: a head for which they have none, or that needs more than a last layer and a similarity.
    """
    if isinstance(head.pooling, MaxPooling) and head.bias is None:
        for geometry, similarity, scaled, kind, names in _KINDS:
            of_kind = isinstance(head.geometry, geometry) and isinstance(head.similarity, similarity)
            if of_kind and scaled == (head.scale is not None):
                found = [Explainer("top_k", "TopKFormalExplanation")]
                found += [Explainer(name, kind, shape) for name, shape in zip(names, _SHAPES, strict=True)]
                return (*found, replace(found[-1], unit=True)) if geometry is Cosine else tuple(found)
        if isinstance(head.geometry, Softmax) and isinstance(head.similarity, Identity):
            named = {
                "top_k": "TopKFormalExplanation",
                "simplex": "PIPSimplexFormalExplanation",
                "pip_sparse": "PIPSparseFormalExplanation",
            }
            return tuple(Explainer(name, kind) for name, kind in named.items())
    raise UsageError(
        f"their code has no explainer for {head.geometry!r}, {head.similarity!r} and {head.pooling!r} that states all"
        " it uses: for ProtoPool it takes each prototype's mean distance from the image, and does not state it"
    )


class _Classifier(nn.Module):
    """What their code asks of CaBRNet's classifiers. `layer` is the similarity; None for softmax masses."""

    def __init__(self, head: Head, layer: Any, unit: bool) -> None:
        super().__init__()
        points = torch.empty(0) if head.prototypes is None else head.prototypes.float()[:, :, None, None]
        self.prototypes = nn.Parameter(nn.functional.normalize(points, dim=1) if unit else points, False)
        self.num_classes, self.num_prototypes = head.classes, head.size
        self.similarity_layer = layer
        self.last_layer = nn.Linear(head.size, head.classes, bias=False)
        self.last_layer.weight = nn.Parameter(head.weight.float(), False)

    @property
    def covariances(self) -> Any:
        return self.similarity_layer.covariances

    def distances(self, features: Tensor) -> Any:
        return self.similarity_layer.distances(features, self.prototypes)

    def similarities(self, features: Tensor) -> Any:
        if self.similarity_layer is None:
            return features.softmax(1)
        return self.similarity_layer.similarities(features, self.prototypes)


class _Network(nn.Module):
    """Latents (N, D, L, 1) are its images."""

    def __init__(self, classifier: _Classifier) -> None:
        super().__init__()
        self.classifier = classifier

    def features(self, images: Tensor) -> Tensor:
        return images

    def distances(self, images: Tensor) -> Any:
        return self.classifier.distances(images)

    def similarities(self, images: Tensor) -> Any:
        return self.classifier.similarities(images)

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (N, C) and activations (N, P)."""
        pooled = self.similarities(images).flatten(2).amax(2)
        return self.classifier.last_layer(pooled), pooled


def network(head: Head, unit: bool = False) -> nn.Module:
    """The model of a head that their explainers expect; CODE has to be on the path for Gaussian heads."""
    layer: Any = None
    theirs, cabrnet = "beyond_l2_ext.similarities", "cabrnet.core.utils.similarities"
    if isinstance(head.similarity, Negated) and head.scale is not None:
        layer = importlib.import_module(theirs).MahalanobisLogDensity(head.size, head.depth)
        layer.log_var.data = -(2 * head.scale.double()).log().float()
    elif isinstance(head.similarity, LogRatio) and head.scale is not None:
        factor = head.similarity.epsilon
        layer = importlib.import_module(theirs).MahalanobisLogDistance(head.size, head.depth, stability_factor=factor)
        layer.log_var.data = -head.scale.double().log().float()
    elif isinstance(head.similarity, LogRatio):
        layer = importlib.import_module(cabrnet).ProtoPNetSimilarity(stability_factor=head.similarity.epsilon)
    elif isinstance(head.geometry, Cosine):
        layer = importlib.import_module(cabrnet).CosineSimilarity(stability_factor=head.geometry.epsilon)
    return _Network(_Classifier(head, layer, unit))


def serve(line: Connection, code: Path, head: Path, latents: Path, explainer: Explainer, limit: float) -> None:
    """Explain images by their numbers until the other end is closed."""
    prepare()
    torch.set_num_threads(1)
    images, before = as_patches(load_latents(latents)).float(), 0
    with open(os.devnull, "w") as quiet:  # it writes a line for each pair
        for number in (1, 2):
            os.dup2(quiet.fileno(), number)
    sys.path[:0] = [str(code / "explain"), str(code)]
    made: Any = None
    with suppress(EOFError):
        while True:
            image = images[line.recv()].T[None, :, :, None]
            try:
                if made is None or explainer.fresh:
                    before, made = 0, _explainer(Head.load(head), explainer)
                began = time.process_time()
                with limited(limit):
                    found = made.explain_one(image, made.model(image)[0].argmax(1))
                seconds = time.process_time() - began
                line.send(Outcome(seconds, dict(found), made.c, follows=before > 0))
                before += 1
            except (Exception, SystemExit) as error:  # theirs can raise anything
                line.send(Outcome(None, {}, failed=f"{type(error).__name__}: {first_line(error)}"))


def _explainer(head: Head, explainer: Explainer) -> Any:
    first = explainer.kind.startswith(("Spatial", "TopK"))
    module = importlib.import_module(Path(FILES[0 if first else 1]).stem)
    given = {} if explainer.paradigm is None else {"paradigm": explainer.paradigm}
    model = network(head, explainer.unit)
    return getattr(module, explainer.kind)(model, "cpu", save_proto=False, load_proto=False, **given)
