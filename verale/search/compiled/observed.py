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
    return torch.from_numpy(_sums_of(patches, prototypes, True)[0])


def compiled_products(patches: Tensor, prototypes: Tensor) -> tuple[Tensor, Tensor]:
    """See `verale.bounds.observables.CoordinateSums`; tensors on the CPU."""
    sums, sizes = map(torch.from_numpy, _sums_of(patches, prototypes, False))
    return sums, sizes


def _sums_of(patches: Tensor, prototypes: Tensor, of_squares: bool) -> tuple[Floats, Floats]:
    """Sums (L, P) of squares, and no others; or of products, and of their sizes."""
    count, depth, size = *patches.shape, len(prototypes)
    sums, sizes = np.empty((count, size)), np.empty((0 if of_squares else count, size))
    near, one_patch = np.zeros((depth, _AT_ONCE)), np.empty((2, _AT_ONCE))
    _sum(patches.contiguous().numpy(), prototypes.contiguous().numpy(), of_squares, sums, sizes, near, one_patch)
    return sums, sizes


@entry
def _sum(
    patches: Floats, prototypes: Floats, of_squares: bool, sums: Floats, sizes: Floats, near: Floats, one_patch: Floats
) -> None:
    """Some prototypes at a time, whose coordinates stay near."""
    count, depth = patches.shape
    size = len(prototypes)
    total, large = one_patch[0], one_patch[1]
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
            for k in range(begin, end):
                sums[patch, k] = total[k - begin]
            if not of_squares:
                for k in range(begin, end):
                    sizes[patch, k] = large[k - begin]
