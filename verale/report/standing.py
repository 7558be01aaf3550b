"""How an image's activations stand among those of all images of a run: for readers, in float64; not proved."""

from __future__ import annotations

import torch
from torch import Tensor

from verale.certificate.words import about
from verale.errors import LatentsError
from verale.head import as_patches, evaluate
from verale.report.collect import Collection

__all__ = ["activations_of", "standing"]

_MOST = 2**28
"""Of more products of images, patches and prototypes nothing is computed."""
_AT_ONCE = 2**22
_FEWEST = 10
"""Among fewer images a place says little."""


def activations_of(collection: Collection) -> Tensor | None:
    """(N, P) activations of all images; None where they are unknown, too few or too many."""
    head, latents = collection.head, collection.latents
    if head is None or latents is None or len(latents) < _FEWEST:
        return None
    patches = latents[:1].flatten(2).shape[2] if latents.dim() == 4 else latents.shape[1]
    each = patches * head.size * (head.depth if head.geometry.is_distance else 1)
    if len(latents) * patches * head.size > _MOST or patches < head.pooling.least_patches:
        return None
    try:
        chunks = torch.split(latents, max(1, _AT_ONCE // each))
        return torch.cat([evaluate(head, as_patches(chunk)).activations for chunk in chunks])
    except LatentsError:
        return None


def standing(activations: Tensor, image: int, prototype: int) -> str:
    """The image's activation, and of how many other images it is greater: `about 2.1, more than 44 of 49 others`."""
    own = activations[image, prototype]
    below = int((activations[:, prototype] < own).sum())
    return f"about {about(float(own))}, more than {below} of the {len(activations) - 1} other images here"
