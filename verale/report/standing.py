"""How an image's activations stand among those of all images of a run: for readers, in float64; not proved."""

from __future__ import annotations

import torch
from torch import Tensor

from verale.certificate.words import about
from verale.errors import LatentsError
from verale.head import Evaluation, Head, as_patches, evaluate_observed
from verale.report.collect import Collection
from verale.report.estimates import observables_of

__all__ = ["Standing", "activations_of"]

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
    chunks = torch.split(latents, max(1, _AT_ONCE // each))
    try:
        # What is pooled may be a view of all patches of a chunk, and would keep them.
        return torch.cat([_evaluated(head, chunk).activations.clone() for chunk in chunks])
    except LatentsError:
        return None


def _evaluated(head: Head, latents: Tensor) -> Evaluation:
    return evaluate_observed(head, observables_of(head, as_patches(latents)))


class Standing:
    """Activations (N, P) of all images, and of each prototype in order."""

    def __init__(self, activations: Tensor) -> None:
        self._activations = activations
        self._ordered = activations.T.sort(dim=1).values.contiguous().numpy()

    @classmethod
    def of(cls, collection: Collection) -> Standing | None:
        """Of a collection; None where activations are unknown, too few or too many."""
        activations = activations_of(collection)
        return None if activations is None else cls(activations)

    def __len__(self) -> int:
        return len(self._activations)

    def told(self, image: int, prototype: int) -> str:
        """An image's activation, and of how many others it is greater: `about 2.1, more than 44 of the 49 others`."""
        own = float(self._activations[image, prototype])
        below = int(self._ordered[prototype].searchsorted(own))
        return f"about {about(own)}, more than {below} of the {len(self) - 1} other images here"
