"""Smooth functions hold what mpmath gives, at numbers of all sizes and at both ends of what is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from mpmath import mp, mpf
from torch import Tensor

from verale.bounds.deep import SMOOTH, inverse_root
from verale.bounds.fixed_point import BeyondError, FixedPoint
from verale.network.layers import Gaussian, Sigmoid, Tanh

FUNCTIONS: dict[type, Callable[[Any], Any]] = {
    Sigmoid: lambda x: 1 / (1 + mp.exp(-x)),
    Tanh: mp.tanh,
    Gaussian: mp.ncdf,
}
SIZES = (0.0, 1e-30, 2.0**-6, 2.0**-6 + 1e-9, 0.3, 1.0, 7.7, 40.0, 300.0, 1e4)


def exact(numbers: FixedPoint) -> list[Any]:
    """The centres."""
    rows = numbers.digits.T.tolist()
    return [
        sum(mpf(int(d)) * mpf(2) ** (numbers.width * k - numbers.places) for k, d in enumerate(row)) for row in rows
    ]


def require_held(found: FixedPoint, given: FixedPoint, function: Callable[[Any], Any], most: Tensor | float) -> None:
    with mp.workprec(600):
        for radius, centre, x, r in zip(
            found.radius.tolist(), exact(found), exact(given), given.radius.tolist(), strict=True
        ):
            for at in (x - r, x, x + r):
                assert abs(function(at) - centre) <= radius
    assert bool((found.radius <= most).all())


@pytest.mark.parametrize("kind", SMOOTH, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(("places", "radius"), [(60, 0.0), (150, 2.0**-140), (150, 2.0**-30), (60, 0.5), (500, 0.0)])
def test_a_smooth_function_holds_all_that_it_may_be(kind: type, places: int, radius: float) -> None:
    numbers = torch.tensor([*SIZES, *(-each for each in SIZES)], dtype=torch.float64)
    given = FixedPoint.of(numbers, 200, 20) + FixedPoint.of(numbers * 2.0**-60, 280, 20)
    found = SMOOTH[kind].of(given.wider(radius) if radius else given, places)
    require_held(found, given.wider(radius), FUNCTIONS[kind], 2.0 ** (4 - places) + 1.1 * radius)


def test_where_a_function_is_flat_little_is_passed_on() -> None:
    given = FixedPoint.of(torch.tensor([-30.0, 30.0]).double(), 60, 20).wider(2.0**-20)
    for each in SMOOTH.values():
        assert float(each.of(given, 100).radius.max()) < 2.0**-38


def test_many_numbers_are_computed_in_parts() -> None:
    numbers = torch.linspace(-3, 3, 2**15 + 5, dtype=torch.float64).view(-1, 1)
    found = SMOOTH[Sigmoid].of(FixedPoint.of(numbers, 80, 20), 60)
    assert found.radius.shape == numbers.shape and torch.allclose(found.nearest, numbers.sigmoid(), rtol=0, atol=1e-14)


@pytest.mark.parametrize("places", [50, 300])
@pytest.mark.parametrize("relative", [0.0, 2.0**-90, 2.0**-3])
def test_an_inverse_root_holds_all_that_it_may_be(places: int, relative: float) -> None:
    numbers = torch.tensor([1e-12, 1e-3, 0.25, 1.0, 3.0, 1e6], dtype=torch.float64)
    given = FixedPoint.of(numbers, 200, 20)
    given = given.wider(numbers * relative) if relative else given
    found = inverse_root(given, places)
    require_held(found, given, lambda x: 1 / mp.sqrt(x), 2.0 ** (2 - places) + 1.3 * relative * numbers.rsqrt())


@pytest.mark.parametrize("radius", [0.0, 1.0])
def test_an_inverse_root_of_what_may_be_zero_is_refused(radius: float) -> None:
    given = FixedPoint.of(torch.tensor([radius]).double(), 20, 20).wider(radius)
    with pytest.raises(BeyondError, match="which takes an inverse root of a number that may be 0 or less"):
        inverse_root(given, 60)
