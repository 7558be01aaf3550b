"""Inner products of vectors with one another, with the same bits on every processor."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["gram"]

_SIGNIFICAND = 53
_DEEPEST = 2**16
_AT_ONCE = 64 * 2**20
"""So many bytes of products are computed at once: of 10,000 vectors all products take 800 MB."""
_FARTHEST = 1000
"""Largest exponent. Squares of floats that are this large, or this small, are no floats."""


def gram(rows: Tensor) -> Tensor:
    """<a, b> for all rows a and b.

    A library's matrix product adds in an order of its own, which differs between processors. Here every row is scaled
    by a power of two and cut into three slices, numbers of so few bits that sums of their products are exact in any
    order. The slices' products are then added in the order that stands here.

    Args:
        rows: (N, D) float64.

    Returns:
        (N, N). With D > 65536 it is the library's matrix product.

    Soundness: it is off by at most gamma_(D + 1) |a| |b| and what underflows; the library's by gamma_D |a| |b|. Let
        coordinates be at most 1, n = ceil(log2 D), b = floor((53 - n) / 2). Slice k is a multiple of 2^(-k b) and at
        most 2^(-(k - 1) b), so that products of the slices i and j are multiples of 2^(-(i + j) b), their sums at most
        2^(n - (i + j - 2) b): they have at most n + 2 b <= 53 bits, whatever the order. Products that are left out have
        i + j > 4 or belong to what three slices leave; all together these are at most D 2^(2 - 3 b), which is below
        gamma_(D + 1) of the two largest coordinates up to D = 2^16. Of the five sums four are of numbers below 2^(2 -
        b) |a| |b|, and the last one rounds the result once.
    """
    depth = rows.shape[1]
    if depth > _DEEPEST:
        return rows @ rows.T
    unit, (first, second, third) = _sliced(rows, (_SIGNIFICAND - (depth - 1).bit_length()) // 2)
    products = rows.new_empty(len(rows), len(rows))
    for part in torch.split(torch.arange(len(rows)), max(1, _AT_ONCE // (8 * max(1, len(rows))))):
        # In place, since each of these may be as large as all products.
        small = _mirrored(first, third, part).add_(second[part] @ second.T)
        small.add_(_mirrored(first, second, part)).add_(first[part] @ first.T)
        products[part] = small.mul_(unit[part] * unit.T)
    return products


def _mirrored(one: Tensor, other: Tensor, part: Tensor) -> Tensor:
    """Some rows of one @ other.T plus its mirror image, whose entries are exact."""
    products = one[part] @ other.T
    return products + (products.T if len(part) == len(one) else other[part] @ one.T)


def _sliced(rows: Tensor, bits: int) -> tuple[Tensor, list[Tensor]]:
    """Powers of two (N, 1), not below the rows' coordinates, and the slices of the rows divided by them."""
    exponent = torch.frexp(rows.abs().amax(1, keepdim=True)).exponent
    # By its bits: a library's power of two may be off by a unit in the last place, on a device or another processor.
    unit = ((exponent.clamp(-_FARTHEST, _FARTHEST).long() + 1023) << 52).view(torch.float64)
    rest, slices = rows / unit, []
    for number in (1, 2, 3):
        grid = 2.0 ** (number * bits)
        slices.append((rest * grid).round() / grid)
        rest = rest - slices[-1]
    return unit, slices
