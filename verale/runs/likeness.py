"""What latents look like: pictures by a decoder, or the nearest patches of images that are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from verale.adapters.fields import Origin
from verale.errors import HeadError, InputError, naming
from verale.runs.source import Source

_MOST = 8
"""The most patches that are described."""


@dataclass(frozen=True)
class NearPatch:
    """A changed patch, and the patch of a known image whose latent is nearest to it.

    Attributes:
        patch: the changed one.
        image, at: the image's index in the latents file, and its patch.
        file: the image's file, where known.
        distance: between the latents; an estimate.
        moved: how far the changed one is from what it was.
    """

    patch: int
    image: int
    at: int
    file: str | None
    distance: float
    moved: float

    def record(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def near_patches(changed: Tensor, before: Tensor, images: Iterable[Tensor], source: Source) -> list[NearPatch]:
    """For the patches that changed most, the nearest patch of known images, the one that changed most first.

    Args:
        changed: (L, D).
        before: (L, D) what it was.
        images: (L', D) each, in the order of `source.files`.
        source: where the images come from.
    """
    moved = (changed - before).norm(dim=1)
    order = [patch for patch in moved.argsort(descending=True).tolist()[:_MOST] if float(moved[patch]) > 0]
    best = torch.full((len(order),), torch.inf, dtype=torch.float64)
    where = [(0, 0)] * len(order)
    for index, image in enumerate(images):
        away = torch.cdist(changed[order], image.to(changed), compute_mode="donot_use_mm_for_euclid_dist")
        for row, (distance, at) in enumerate(zip(*away.min(1), strict=True)) if order else ():
            if distance < best[row]:
                best[row], where[row] = distance, (index, int(at))
    files = [source.files[image].name if image < len(source.files) else None for image, _ in where]
    return [
        NearPatch(patch, image, at, file, float(distance), float(moved[patch]))
        for patch, (image, at), file, distance in zip(order, where, files, best, strict=True)
    ]


def origins_record(prototypes: Iterable[int], origins: Mapping[int, Origin]) -> list[dict[str, object]]:
    """The training patches of some prototypes, for JSON."""
    return [origins[prototype].record() for prototype in sorted(set(prototypes)) if prototype in origins]


def decoder_of(model: str | Path, depth: int) -> Callable[[Tensor], bytes]:
    """The decoder of a whole PrototypeDL model: the PNG file of latents (1, D).

    Args:
        model: its file.
        depth: D of the head that it has to belong to.

    Raises:
        InputError: a file that holds no such model, or the model of another head.
    """
    from verale.adapters import load_model
    from verale.adapters.published.prototypedl import Autoencoder
    from verale.pictures import png

    with naming(model, HeadError):
        network = Autoencoder(load_model(model))
    own = network.latents(torch.zeros(1, *network.shape)).shape[2]
    if own != depth:
        raise InputError(model, f"has latents of {own} numbers, expected the head's {depth}: is it another network?")
    return lambda latents: png(network.pictures(latents.float())[0])
