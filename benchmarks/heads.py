"""Heads to measure: the trained ones of `data/`, and synthetic ones of the size of CUB-200."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import safetensors.torch
import torch
from torch import Tensor

from benchmarks.baseline import Published
from verale.errors import UsageError
from verale.head import (
    Box,
    Cosine,
    Euclidean,
    FocalPooling,
    Head,
    Identity,
    LogRatio,
    MaxPooling,
    Softmax,
    evaluate,
    merge_slots,
)

__all__ = ["HEADS", "Subject", "build"]

SIGMOID = Box(0, 1)
"""Closed, because a float32 sigmoid reaches 0 and 1."""

CLASSES, PER_CLASS, DEPTH, PATCHES = 200, 10, 128, 49
RANK = 24
MASKS, MASS_PATCHES = 768, 676
POOL, POOL_PATCHES, POOL_DEPTH = 218, 9, 256
CLEARLY = 0.5
"""The least margin, in logits, of a synthetic image."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A head to measure, with latents.

    Attributes:
        name: short, as on the command line.
        head: the head.
        published: the same head in the form of the papers' explainers, or None where they have no bounds for it.
        latents: (N, L, D) float32.
        note: one line about its origin.
    """

    name: str
    head: Head
    published: Published | None
    latents: Tensor
    note: str


def build(name: str, data: Path, images: int) -> Subject:
    """A subject by name, with its first `images` images.

    Raises:
        UsageError: an unknown name, a missing data file, or a head that verale does not support yet.
    """
    known = {**HEADS, **SMALLER}
    if name not in known:
        raise UsageError(f"head {name!r} is unknown, expected one of {', '.join(known)}")
    return known[name](data, images)


def _trained(architecture: str, head_from: Callable[[Mapping[str, Tensor]], Head]) -> Callable[[Path, int], Subject]:
    def load(data: Path, images: int) -> Subject:
        path = data / f"cifar100_{architecture}.safetensors"
        if not path.is_file():
            raise UsageError(f"{path} is missing: say where the trained heads are with --data")
        with safetensors.safe_open(str(path), "pt") as file:
            accuracy = (file.metadata() or {}).get("test_accuracy", "unknown")
        tensors = safetensors.torch.load_file(path)
        head = head_from(tensors)
        latents = tensors["latents"][:images].flatten(2).transpose(1, 2).contiguous()
        size = f"P={head.size}, L={latents.shape[1]}, D={head.depth}, C={head.classes}"
        return Subject(
            architecture,
            head,
            _published(head, tensors),
            latents,
            f"trained on CIFAR-100, {size}, test accuracy {accuracy}",
        )

    return load


def _published(head: Head, tensors: Mapping[str, Tensor]) -> Published | None:
    """The papers' form of a head; an isotropic Gaussian head differs from the Euclidean one only by its scales.

    None for focal pooling: their ProtoPool code uses the exact mean distance of every prototype without stating it.
    """
    if not isinstance(head.pooling, MaxPooling):
        return None
    log_var = tensors.get("classifier.similarity_layer.log_var")
    try:
        return Published.of(head, None if log_var is None else log_var.double().mul(0.5).exp())
    except UsageError:
        return None


def _protopnet(tensors: Mapping[str, Tensor]) -> Head:
    return Head(
        tensors["classifier.last_layer.weight"],
        Euclidean(),
        LogRatio(1e-4),
        prototypes=tensors["classifier.prototypes"].flatten(1),
        domain=SIGMOID,
    )


def _tesnet(tensors: Mapping[str, Tensor]) -> Head:
    return Head(
        tensors["classifier.last_layer.weight"],
        Cosine(1e-8),
        Identity(),
        prototypes=tensors["classifier.prototypes"].flatten(1),
        domain=SIGMOID,
    )


def _pipnet(tensors: Mapping[str, Tensor]) -> Head:
    """The classifier applies relu to its weights."""
    return Head(tensors["classifier.last_layer.weight"].relu(), Softmax(), Identity())


def _gaussian(tensors: Mapping[str, Tensor]) -> Head:
    """sigma_j^2 = exp(log_var_j); the head's scale is its inverse."""
    return Head(
        tensors["classifier.last_layer.weight"],
        Euclidean(),
        LogRatio(1e-4),
        prototypes=tensors["classifier.prototypes"].flatten(1),
        scale=tensors["classifier.similarity_layer.log_var"].double().neg().exp(),
        domain=SIGMOID,
    )


def _protopool(tensors: Mapping[str, Tensor]) -> Head:
    return Head(
        merge_slots(tensors["classifier.last_layer.weight"], tensors["classifier.proto_slot_map"]),
        Euclidean(),
        LogRatio(1e-4),
        prototypes=tensors["classifier.prototypes"].flatten(1),
        domain=SIGMOID,
        pooling=FocalPooling("max_minus_mean_distance"),
    )


def _cub_metric(
    name: str, seed: int, cosine: bool, shift: float, spread: float, classes: int = CLASSES, gaussian: bool = False
) -> Callable[[Path, int], Subject]:
    """Latents sigma(u): every class has parts of its own, similar classes share looks, the rest is background.

    Prototypes are training latents of their class (what projection, "push", leaves): noisy copies of its parts; one
    in ten has been projected onto a latent that another prototype of the class has too. A Gaussian head has variances
    that are spread as those of the trained one (their logarithms by 0.16 about 0.17).
    """

    alike = min(10, classes)

    def generate(data: Path, images: int) -> Subject:
        generator = torch.Generator().manual_seed(seed)

        def noise(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator)

        # Latents of trained networks vary in far fewer directions than they have channels.
        directions = noise(RANK, DEPTH) * spread

        def varied(*shape: int) -> Tensor:
            return noise(*shape, RANK) @ directions / RANK**0.5 + 0.1 * spread * noise(*shape, DEPTH)

        mean = shift + noise(DEPTH)
        families = 0.4 * varied(classes // alike, 1, PER_CLASS).expand(-1, alike, -1, -1)
        families = families.reshape(classes, PER_CLASS, DEPTH)
        parts = mean + families + 0.4 * varied(classes, PER_CLASS)
        background = mean + 0.5 * varied(60)
        prototypes = torch.sigmoid(parts + 0.2 * varied(classes, PER_CLASS))
        prototypes[:, -1] = prototypes[:, 0]
        weight = torch.full((classes, classes * PER_CLASS), -0.5)
        for c in range(classes):
            weight[c, c * PER_CLASS : (c + 1) * PER_CLASS] = 1.0
        weight += 0.005 * noise(*weight.shape)
        deviation = (0.5 * (0.17 + 0.16 * noise(weight.shape[1]).double())).exp() if gaussian else None
        head = Head(
            weight,
            Cosine(1e-8) if cosine else Euclidean(),
            Identity() if cosine else LogRatio(1e-4),
            prototypes=prototypes.flatten(0, 1),
            scale=None if deviation is None else deviation**-2,
            domain=SIGMOID,
        )

        def image(c: int) -> Tensor:
            shown = torch.randperm(PER_CLASS, generator=generator)[:7]
            own = parts[c, shown[torch.randint(len(shown), (20,), generator=generator)]]
            rest = background[torch.randint(len(background), (PATCHES - 20,), generator=generator)]
            patches = torch.cat([own, rest]) + 0.3 * varied(PATCHES)
            return torch.sigmoid(patches[torch.randperm(PATCHES, generator=generator)])

        note = f"synthetic, seed {seed}, P={head.size}, L={PATCHES}, D={DEPTH}, C={classes}"
        published = Published.of(head, deviation)
        return Subject(name, head, published, _clear_images(head, images, image, generator), note)

    return generate


def _cub_protopool(name: str, seed: int) -> Callable[[Path, int], Subject]:
    """A pool of parts that classes share: each class shows ten of them, weighs them by 1 and the others by about 0.

    Sizes are those of "Beyond L2" on CUB-200: 218 prototypes of depth 256, 3 by 3 patches.
    """

    def generate(data: Path, images: int) -> Subject:
        generator = torch.Generator().manual_seed(seed)

        def noise(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator)

        directions = noise(RANK, POOL_DEPTH)

        def varied(*shape: int) -> Tensor:
            return noise(*shape, RANK) @ directions / RANK**0.5 + 0.1 * noise(*shape, POOL_DEPTH)

        mean = noise(POOL_DEPTH)
        parts, background = mean + 0.5 * varied(POOL), mean + 0.5 * varied(60)
        shown = torch.stack([torch.randperm(POOL, generator=generator)[:PER_CLASS] for _ in range(CLASSES)])
        weight = 0.025 * noise(CLASSES, POOL)
        weight.scatter_add_(1, shown, torch.ones(CLASSES, PER_CLASS))
        head = Head(
            weight,
            Euclidean(),
            LogRatio(1e-4),
            prototypes=torch.sigmoid(parts + 0.3 * varied(POOL)),
            domain=SIGMOID,
            pooling=FocalPooling("max_minus_mean_distance"),
        )

        def image(c: int) -> Tensor:
            own = parts[shown[c, torch.randperm(PER_CLASS, generator=generator)[:7]]]
            rest = background[torch.randint(len(background), (POOL_PATCHES - len(own),), generator=generator)]
            return torch.sigmoid(torch.cat([own, rest]) + 0.5 * varied(POOL_PATCHES))

        note = f"synthetic, seed {seed}, P={POOL}, L={POOL_PATCHES}, D={POOL_DEPTH}, C={CLASSES}"
        return Subject(name, head, None, _clear_images(head, images, image, generator), note)

    return generate


def _cub_pipnet(name: str, seed: int) -> Callable[[Path, int], Subject]:
    """Nearly one-hot masses, as PIP-Net's losses favour them; a sparse non-negative last layer, 12 parts a class."""

    def generate(data: Path, images: int) -> Subject:
        generator = torch.Generator().manual_seed(seed)
        parts = torch.stack([torch.randperm(MASKS, generator=generator)[:12] for _ in range(CLASSES)])
        weight = torch.zeros(CLASSES, MASKS)
        weight.scatter_(1, parts, 0.5 + 2 * torch.rand(CLASSES, 12, generator=generator))
        head = Head(weight, Softmax(), Identity())

        def image(c: int) -> Tensor:
            # A coarse layout: neighbouring patches show the same part, a third of the image shows the class's own.
            regions = torch.randint(MASKS, (6, 6), generator=generator)
            own = torch.rand(6, 6, generator=generator) < 0.35
            regions[own] = parts[c, torch.randint(12, (36,), generator=generator).view(6, 6)[own]]
            shown = regions.repeat_interleave(5, 0).repeat_interleave(5, 1)[:26, :26].flatten()
            logits = 1.5 * torch.randn(MASS_PATCHES, MASKS, generator=generator)
            peak = 14 + 4 * torch.randn(MASS_PATCHES, generator=generator)
            logits[torch.arange(MASS_PATCHES), shown] += peak
            return logits

        note = f"synthetic, seed {seed}, P={MASKS}, L={MASS_PATCHES}, C={CLASSES}"
        return Subject(name, head, Published.of(head), _clear_images(head, images, image, generator), note)

    return generate


def _clear_images(head: Head, images: int, image: Callable[[int], Tensor], generator: torch.Generator) -> Tensor:
    """(N, L, D): one image a class in random order, each drawn until it is classified clearly and as its class."""
    drawn = []
    for c in torch.randperm(head.classes, generator=generator).repeat(images // head.classes + 1)[:images].tolist():
        while True:
            patches = image(c)
            logits = evaluate(head, patches[None].double()).logits[0]
            best = logits.topk(2).values
            if int(logits.argmax()) == c and float(best[0] - best[1]) >= CLEARLY:
                break
        drawn.append(patches)
    return torch.stack(drawn)


HEADS: Mapping[str, Callable[[Path, int], Subject]] = {
    "protopnet": _trained("protopnet", _protopnet),
    "tesnet": _trained("tesnet", _tesnet),
    "pipnet": _trained("pipnet", _pipnet),
    "gaussian": _trained("gaussian", _gaussian),
    "protopool": _trained("protopool", _protopool),
    "cub-protopnet": _cub_metric("cub-protopnet", seed=200, cosine=False, shift=0.0, spread=1.0),
    "cub-cosine": _cub_metric("cub-cosine", seed=201, cosine=True, shift=-2.5, spread=4.0),
    "cub-pipnet": _cub_pipnet("cub-pipnet", seed=202),
    "cub-gaussian": _cub_metric("cub-gaussian", seed=209, cosine=False, shift=0.0, spread=1.0, gaussian=True),
    "cub-protopool": _cub_protopool("cub-protopool", seed=210),
}
"""Every head by its name on the command line."""

SMALLER: Mapping[str, Callable[[Path, int], Subject]] = {
    "cub-protopnet-40": _cub_metric("cub-protopnet-40", seed=203, cosine=False, shift=0.0, spread=1.0, classes=4),
    "cub-protopnet-500": _cub_metric("cub-protopnet-500", seed=204, cosine=False, shift=0.0, spread=1.0, classes=50),
    "cub-protopnet-5000": _cub_metric("cub-protopnet-5000", 207, cosine=False, shift=0.0, spread=1.0, classes=500),
    "cub-protopnet-10000": _cub_metric("cub-protopnet-10000", 208, cosine=False, shift=0.0, spread=1.0, classes=1000),
    "cub-cosine-40": _cub_metric("cub-cosine-40", seed=205, cosine=True, shift=-2.5, spread=4.0, classes=4),
    "cub-cosine-500": _cub_metric("cub-cosine-500", seed=206, cosine=True, shift=-2.5, spread=4.0, classes=50),
}
"""Heads of the same kind with fewer or more prototypes, which tell how times grow; only by name."""
