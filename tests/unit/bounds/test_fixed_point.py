"""Numbers in several digits hold what exact rational numbers give, and nothing that makes them rounds."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from verale.bounds.fixed_point import NEAREST, BeyondError, FixedPoint, TooManyBitsError, aligned, carried, most_terms
from verale.network.layers import Convolution, FullConnection

WIDTHS = (12, 17, 20)
DRAWN = [*zip((0, 1, 1), WIDTHS, strict=True)]
"""Seeds and widths; with the seed 0 a layer has no bias."""


def values(numbers: FixedPoint) -> list[Fraction]:
    """The centres, exactly."""
    rows = [list(map(int, row)) for row in numbers.digits.flatten(1).tolist()]
    whole = [sum(row[i] << numbers.width * k for k, row in enumerate(rows)) for i in range(len(rows[0]))]
    return [Fraction(each) / 2**numbers.places for each in whole]


def radii(numbers: FixedPoint) -> list[Fraction]:
    return list(map(Fraction, numbers.radius.flatten().tolist()))


def corners(numbers: FixedPoint) -> list[tuple[Fraction, ...]]:
    """The centre and both ends of each number."""
    return [(c - r, c, c + r) for c, r in zip(values(numbers), radii(numbers), strict=True)]


def holds(numbers: FixedPoint, given: list[Fraction]) -> bool:
    pairs = zip(given, values(numbers), radii(numbers), strict=True)
    return all(abs(each - centre) <= radius for each, centre, radius in pairs)


def canonical(numbers: FixedPoint) -> bool:
    half = 2 ** (numbers.width - 1)
    digits = numbers.digits
    return bool(((digits >= -half) & (digits < half) & (digits == digits.round())).all())


def some(seed: int, width: int, shape: tuple[int, ...], places: int = 90, radius: float = 2.0**-80) -> FixedPoint:
    """Random numbers of all sizes, some of them 0."""
    source = random.Random(seed)
    count = torch.Size(shape).numel()
    integers = [
        source.choice((0, source.randint(-(2**places), 2**places) >> source.randrange(80))) for _ in range(count)
    ]
    given = FixedPoint.of_integers(integers, places, width)
    generator = torch.Generator().manual_seed(seed)
    return given.wider(radius * torch.rand(count, generator=generator, dtype=torch.float64)).view(*shape)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("places", [0, 7, 40, 200])
def test_floats_are_written_to_the_place_asked_for(width: int, places: int) -> None:
    generator = torch.Generator().manual_seed(places)
    numbers = torch.randn(50, generator=generator, dtype=torch.float64) * 10.0 ** torch.arange(-25.0, 25.0).double()
    written = FixedPoint.of(numbers, places, width)
    assert canonical(written) and holds(written, list(map(Fraction, numbers.tolist())))
    assert bool((written.radius <= 2.0**-places).all())
    exact = FixedPoint.of(numbers, 200, width)
    assert not bool(exact.radius.any()) and values(exact) == list(map(Fraction, numbers.tolist()))


@pytest.mark.parametrize("width", WIDTHS)
def test_integers_are_exact(width: int) -> None:
    source = random.Random(width)
    integers = [source.randint(-(2**bits), 2**bits) for bits in range(0, 300, 7)] + [0, -1, 2**255, -(2**255)]
    written = FixedPoint.of_integers(integers, 210, width)
    assert canonical(written) and values(written) == [Fraction(each, 2**210) for each in integers]


@pytest.mark.parametrize("width", WIDTHS)
def test_the_nearest_float_has_the_sign_and_a_small_error(width: int) -> None:
    """Also where a leading digit is taken back by those that follow."""
    half = 2.0 ** (width - 1)
    digits = torch.tensor([[-half, half - 1, 0.0, -half, 1.0]] * 9 + [[1.0, -1.0, 0.0, 0.0, 0.0]], dtype=torch.float64)
    numbers = FixedPoint(digits, 100, torch.zeros(5, dtype=torch.float64), width)
    for given in (numbers, some(1, width, (500,))):
        for nearest, exact in zip(given.nearest.tolist(), values(given), strict=True):
            assert abs(Fraction(nearest) - exact) <= abs(exact) * Fraction(NEAREST)
            assert (nearest > 0, nearest < 0) == (exact > 0, exact < 0)


@pytest.mark.parametrize("width", WIDTHS)
def test_carrying_changes_no_number(width: int) -> None:
    generator = torch.Generator().manual_seed(width)
    parts = (torch.rand(6, 200, generator=generator, dtype=torch.float64) * 2 - 1).mul(2.0**52).round()
    parts[:, :2] = torch.tensor([2.0**52, -(2.0**52)])
    radius = torch.zeros(200, dtype=torch.float64)
    before = values(FixedPoint(parts, 0, radius, width))
    after = FixedPoint(carried(parts.clone(), width), 0, radius, width)
    assert canonical(after) and values(after) == before


@pytest.mark.parametrize(("seed", "width"), DRAWN)
def test_sums_products_and_maxima_hold_all_that_they_may_be(seed: int, width: int) -> None:
    first, second = some(seed, width, (60,)), some(seed + 9, width, (60,), 71, 2.0**-40)
    rules: dict[FixedPoint, Callable[[Fraction, Fraction], Fraction]] = {
        first + second: lambda x, y: x + y,
        first.times(second, 300): lambda x, y: x * y,
        first.times(second, 50): lambda x, y: x * y,
        first.greater(second): max,
        first.greater(first): lambda x, y: x,
        -first: lambda x, y: -x,
        first.rectified(): lambda x, y: max(x, Fraction(0)),
        first.rounded(30): lambda x, y: x,
        first.finer(133): lambda x, y: x,
    }
    for found, rule in rules.items():
        assert canonical(found)
        for a, b in product(range(3), repeat=2):
            pairs = zip(corners(first), corners(second), strict=True)
            assert holds(found, [rule(x[a], y[b]) for x, y in pairs])


def test_what_is_certainly_greater_or_less_keeps_its_own_radius() -> None:
    large, small = (FixedPoint.of(torch.tensor([each]).double(), 4, 20).wider(2.0**-9) for each in (3.0, -3.0))
    known = FixedPoint.of(torch.zeros(1).double(), 4, 20)
    assert large.greater(known).radius == known.greater(large).radius == large.radius == large.rectified().radius
    assert small.greater(known).radius == known.greater(small).radius == small.rectified().radius == 0


def test_numbers_are_aligned_and_joined() -> None:
    first, second = some(0, 20, (2, 3), 90), some(1, 20, (1, 3), 33)
    assert len({(each.places, len(each.digits)) for each in aligned([first, second])}) == 1
    joined = FixedPoint.joined([first, second])
    assert values(joined) == values(first) + values(second) and radii(joined) == radii(first) + radii(second)
    assert values(first[1:]) == [values(first)[k] for k in (1, 2, 4, 5)]


LAYERS = {
    "plain": (2, (3, 3), {}, (4, 6, 5)),
    "one by one": (1, (1, 1), {}, (4, 3, 3)),
    "strided": (1, (3, 2), {"stride": (2, 1), "padding": (1, 0)}, (2, 5, 5)),
    "dilated": (1, (2, 2), {"dilation": (2, 3), "padding": (2, 1)}, (3, 4, 5)),
    "grouped": (2, (3, 3), {"padding": (1, 1)}, (6, 4, 4)),
    "depthwise": (6, (3, 3), {"stride": (2, 2), "padding": (1, 1)}, (6, 5, 5)),
    "scaled": (6, (1, 1), {}, (6, 2, 2)),
}


def convolution(name: str, seed: int, spread: float) -> tuple[Convolution, tuple[int, ...]]:
    groups, kernel, how, shape = LAYERS[name]
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(6, shape[0] // groups, *kernel, generator=generator, dtype=torch.float64)
    weight = weight * 2.0 ** -(spread * torch.rand(weight.shape, generator=generator, dtype=torch.float64)).round()
    bias = torch.randn(6, generator=generator, dtype=torch.float64) if seed else None
    settings = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1)} | how
    return Convolution(**settings, groups=groups, weight=weight, bias=bias), shape


def exactly(
    operation: Convolution | FullConnection, given: list[Fraction], shape: tuple[int, ...]
) -> list[list[tuple[Fraction, Fraction]]]:
    """For each sum its terms: weights and inputs. What is read is found by convolving places."""
    places = torch.arange(1.0, len(given) + 1, dtype=torch.float64).view(1, *shape)
    if isinstance(operation, FullConnection):
        columns = places.view(1, 1, -1, 1)
        groups = 1
    else:
        groups = operation.groups
        read = functional.unfold(
            places, operation.weight.shape[2:], operation.dilation, operation.padding, operation.stride
        )
        columns = read.view(1, groups, -1, read.shape[2])
    each = len(operation.weight) // groups
    rows = [list(map(Fraction, row)) for row in operation.weight.double().flatten(1).tolist()]
    known = [Fraction(0), *given]
    sums = []
    for o, row in enumerate(rows):
        for column in columns[0, o // each].T.long().tolist():
            sums.append([(w, known[at]) for w, at in zip(row, column, strict=True)])
    return sums


def worst(operation: Convolution, given: FixedPoint, shape: tuple[int, ...], sign: int) -> list[Fraction]:
    """The sums where every input is as far from its centre as may be, on the side that moves the sum most."""
    centres, apart = (exactly(operation, each, shape) for each in (values(given), radii(given)))
    bias = (
        [Fraction(0)] * len(operation.weight)
        if operation.bias is None
        else list(map(Fraction, operation.bias.tolist()))
    )
    area = len(centres) // len(bias)
    return [
        sum(w * x for w, x in terms) + sign * sum(abs(w) * r for w, r in off) + bias[k // area]
        for k, (terms, off) in enumerate(zip(centres, apart, strict=True))
    ]


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize(("seed", "width"), DRAWN)
def test_a_layers_sums_are_held_by_its_numbers(name: str, seed: int, width: int) -> None:
    operation, shape = convolution(name, seed, 30 * seed)
    given = some(seed, width, shape)
    sums = [worst(operation, given, shape, sign) for sign in (-1, 0, 1)]
    for places in (20, 61, 180):
        found = given.summed(operation, places)
        assert canonical(found)
        assert found.radius.shape == operation.applied(given.radius[None], operation.weight, None).shape[1:]
        assert all(holds(found, each) for each in sums)
        if places < 180:  # what is lost by rounding is little beside what is not known, or a unit
            spread = max(radii(given)) * sum(abs(Fraction(w)) for w in operation.weight.flatten().tolist())
            assert max(radii(found)) <= spread + Fraction(10, 2**places)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_sum_of_the_greatest_digits_rounds(width: int) -> None:
    """As many terms as there may be, but for widths for which that is millions, of the greatest digits."""
    terms, half = min(most_terms(width), 2**15), 2.0 ** (width - 1)
    given = FixedPoint(torch.full((9, terms), 1 - half, dtype=torch.float64), 150, torch.zeros(terms).double(), width)
    given.digits[-1] = 0
    number = sum((2 ** (width - 1) - 1) << width * k for k in range(5)) % 2**53
    at = 150 + math.frexp(terms * float(given.nearest.abs().amax()) * (1 + 2 * NEAREST))[1]
    for shift in (at % width, at % width + 7):
        weight = torch.full((1, terms), number * 2.0 ** -(shift + width), dtype=torch.float64)
        found = given.summed(FullConnection(weight), 150)
        assert holds(found, [values(given)[0] * Fraction(weight[0, 0].item()) * terms])


def test_linear_layers_and_zeros() -> None:
    given = some(4, 20, (7,))
    weight = torch.randn(3, 7, generator=torch.Generator().manual_seed(0))
    found = given.summed(FullConnection(weight, torch.ones(3)), 90)
    assert holds(
        found, [sum(w * x for w, x in terms) + 1 for terms in exactly(FullConnection(weight), values(given), (7,))]
    )
    nothing = given.summed(FullConnection(torch.zeros(3, 7), torch.ones(3)), 90)
    assert values(nothing) == [Fraction(1)] * 3
    zeros = FixedPoint.of(torch.zeros(7).double(), 50, 20).summed(FullConnection(weight), 30)
    assert not bool(zeros.digits.any()) and float(zeros.radius.max()) < 2.0**-29


def test_what_takes_too_many_bits_is_refused() -> None:
    one = FixedPoint.of(torch.ones(1).double(), 700, 20)
    with pytest.raises(TooManyBitsError, match="more than 800 bits: take a network of fewer layers"):
        FixedPoint.of(torch.ones(1).double(), 801, 20)
    with pytest.raises(BeyondError, match=r"beyond 1\.27e\+30: scale the weights before it down"):
        FixedPoint.of(torch.full((1,), 2.0**101).double(), 20, 20)
    with pytest.raises(BeyondError, match="scale the weights before it down"):
        FixedPoint.of(torch.full((1,), torch.inf).double(), 20, 20)
    with pytest.raises(TooManyBitsError):
        one.finer(700 + 20 * 120)
    wide = FixedPoint.of(torch.ones(most_terms(20) + 1).double(), 700, 20)
    with pytest.raises(TooManyBitsError):
        wide.summed(FullConnection(torch.ones(1, len(wide.radius))), 700)


def test_what_is_not_known_stays_unknown() -> None:
    """An infinite radius never becomes a finite one."""
    given = FixedPoint.of(torch.tensor([-1.0, 0.0, 1.0]).double(), 10, 20).wider(torch.inf)
    zero = FixedPoint.of(torch.zeros(3).double(), 10, 20)

    def unknown(found: FixedPoint) -> Tensor:
        return ~found.radius.isfinite()

    for found in (given.rectified(), given.greater(zero), zero.greater(given), given + zero, given.times(given, 10)):
        assert bool(unknown(found).all())
    assert bool(unknown(given.summed(FullConnection(torch.ones(1, 3)), 10)).all())
