"""Sums over coordinates in machine code: the same bits on every processor, and no array of all differences.

Unlike most of this package, this enters proofs: `verale.bounds.observables` bounds the error of such sums.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from verale.search.compiled.image import Floats
from verale.search.compiled.jit import entry

__all__ = ["compiled_products", "compiled_squares"]

_AT_ONCE = 32


def compiled_squares(patches: Tensor, prototypes: Tensor) -> Tensor:
    """See `verale.bounds.observables.CoordinateSums`; tensors on the CPU."""
    return torch.from_numpy(_sums(*_arrays(patches, prototypes), True)[0])


def compiled_products(patches: Tensor, prototypes: Tensor) -> tuple[Tensor, Tensor]:
    """See `verale.bounds.observables.CoordinateSums`; tensors on the CPU."""
    sums, sizes = map(torch.from_numpy, _sums(*_arrays(patches, prototypes), False))
    return sums, sizes


def _arrays(patches: Tensor, prototypes: Tensor) -> tuple[Floats, Floats]:
    return patches.contiguous().numpy(), prototypes.contiguous().numpy()


@entry
def _sums(patches: Floats, prototypes: Floats, of_squares: bool) -> tuple[Floats, Floats]:
    """Sums (L, P) of squares, and no others; or of products, and of their sizes. Some prototypes at a time, whose
    coordinates stay near."""
    count, depth = patches.shape
    size = len(prototypes)
    sums, sizes = np.empty((count, size)), np.empty((0 if of_squares else count, size))
    near, total, large = np.zeros((depth, _AT_ONCE)), np.empty(_AT_ONCE), np.empty(_AT_ONCE)
    for begin in range(0, size, _AT_ONCE):
        end = min(begin + _AT_ONCE, size)
        for k in range(begin, end):
            for d in range(depth):
                near[d, k - begin] = prototypes[k, d]
        for patch in range(count):
            total[:], large[:] = 0.0, 0.0
            for d in range(depth):
                coordinate = patches[patch, d]
                if of_squares:
                    for k in range(_AT_ONCE):
                        difference = coordinate - near[d, k]
                        total[k] += difference * difference
                else:
                    for k in range(_AT_ONCE):
                        product = coordinate * near[d, k]
                        total[k] += product
                        large[k] += abs(product)
            sums[patch, begin:end] = total[: end - begin]
            if not of_squares:
                sizes[patch, begin:end] = large[: end - begin]
    return sums, sizes
