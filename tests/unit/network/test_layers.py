"""Each layer computes what network-v1.md says, entry by entry in exact numbers."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import Tensor

from verale.network.layers import (
    AveragePooling,
    Clamp,
    Concatenation,
    Convolution,
    Flattening,
    FullConnection,
    Gaussian,
    InverseRoot,
    LeakyRectifier,
    Product,
    Rectifier,
    SpatialMaximum,
    Sum,
    Upsampling,
)


def drawn(*shape: int, seed: int = 0) -> Tensor:
    """Small integers, so that no sum rounds."""
    return torch.randint(-8, 9, shape, generator=torch.Generator().manual_seed(seed)).double()


def entry(given: Tensor, c: int, y: int, x: int) -> float | None:
    _, _, rows, columns = given.shape
    return float(given[0, c, y, x]) if 0 <= y < rows and 0 <= x < columns else None


def test_convolution() -> None:
    given, weight, bias = drawn(1, 4, 7, 6), drawn(6, 2, 2, 3, seed=1), drawn(6, seed=2)
    made = Convolution((2, 1), (1, 2), (2, 1), 2, weight, bias)(given)
    assert made.shape == (1, 6, 4, 8)
    for o, y, x in product(range(6), range(4), range(8)):
        expected = float(bias[o])
        for c, a, b in product(range(2), range(2), range(3)):
            found = entry(given, o * 2 // 6 * 2 + c, y * 2 + a * 2 - 1, x + b - 2)
            expected += float(weight[o, c, a, b]) * (found or 0.0)
        assert float(made[0, o, y, x]) == expected


def test_poolings() -> None:
    given = drawn(1, 2, 6, 7)
    largest, mean = (each((2, 4), (2, 1), (1, 2))(given) for each in (SpatialMaximum, AveragePooling))
    for c, y, x in product(range(2), range(4), range(8)):
        window = [entry(given, c, 2 * y + a - 1, x + b - 2) for a, b in product(range(2), range(4))]
        inside = [each for each in window if each is not None]
        assert float(largest[0, c, y, x]) == max(inside)
        assert float(mean[0, c, y, x]) == sum(inside) / 8


def test_the_others() -> None:
    given, other = drawn(1, 2, 2, 3), drawn(1, 2, 2, 3, seed=1)
    assert torch.equal(Sum()(given, other, given), 2 * given + other)
    assert torch.equal(Concatenation()(given, other)[:, 2:], other)
    assert torch.equal(Rectifier()(given), given.clamp(min=0))
    assert torch.equal(LeakyRectifier(0.5)(given), torch.where(given >= 0, given, given / 2))
    assert torch.equal(Product()(given, other), given * other)
    assert torch.equal(Product()(given, other[:, :1, :, :1])[0, 1, 1], given[0, 1, 1] * other[0, 0, 1, 0])
    with pytest.raises(ValueError, match=r"a factor of \(2, 2, 3\) for \(1, 2, 3\)"):
        Product()(given[:, :1], other)
    assert torch.equal(Clamp(-0.25, 0.5)(given), given.clamp(min=-0.25).clamp(max=0.5))
    assert float((Gaussian()(given) - torch.special.ndtr(given)).abs().max()) < 1e-15
    assert torch.equal(InverseRoot()(given.square() + 1), (given.square() + 1).rsqrt())
    assert Flattening()(given)[0, (1 * 2 + 1) * 3 + 2] == given[0, 1, 1, 2]
    assert Upsampling((2, 3))(given)[0, 1, 3, 8] == given[0, 1, 1, 2]
    weight = drawn(4, 12, seed=3)
    assert torch.equal(FullConnection(weight)(given.flatten(1))[0], weight @ given.flatten())
