"""What computed observables lose: every order of a few sums, exactly, against the bounds."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import numpy
import pytest
from support import files
from support.binary32 import Machine, nearest

from verale.checker.deployment import FORMULAS, Deployment
from verale.checker.dyadic import ceil_at, floor_at
from verale.checker.errors import UnprovedError
from verale.checker.head import read_head
from verale.checker.options import load_arithmetic
from verale.checker.reading.deployment import Losses
from verale.checker.reading.space import Space

BOX = {"lower": "0x0p+0", "upper": "0x1p+0"}


def space_of(points: files.Matrix, geometry: dict[str, Any] = files.EUCLIDEAN, **changes: Any) -> Space:
    similarity = {"kind": "log_ratio", "epsilon": "0x1p-13"} if geometry == files.EUCLIDEAN else files.IDENTITY
    parts: dict[str, Any] = {"geometry": geometry, "similarity": similarity, "domain": BOX} | changes
    data = files.head([[1.0] * len(points), [0.0] * len(points)], points, **parts)
    return Space(read_head(data), load_arithmetic("mpmath"))


def short(generator: random.Random) -> float:
    return float(numpy.float32(generator.random() * generator.choice((1, 1, 1e-3, 1e-30))))


def test_rounds_to_the_nearest() -> None:
    generator = random.Random(3)
    for _ in range(2000):
        x = generator.gauss(0, 1) * 2.0 ** generator.randrange(-140, 100)
        assert nearest(Fraction(x)) == Fraction(float(numpy.float32(x)))


@pytest.mark.parametrize("formula", FORMULAS)
def test_distances_in_every_order(formula: str) -> None:
    generator = random.Random(1)
    lost = Fraction(0)
    for trial in range(30):
        points = [[short(generator) for _ in range(3)] for _ in range(2)]
        space = space_of(points)
        losses = Losses(space, Deployment(formula), [], 1)
        z = [short(generator) if trial % 2 else float(numpy.float32(x * (1 + 1e-6))) for x in points[0]]
        exact = [sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(z, p, strict=True)) for p in points]
        for machine in range(20):
            computer = Machine(machine, formula, flush=machine % 3 == 0)
            for j, p in enumerate(points):
                found = computer.distance(list(map(Fraction, z)), list(map(Fraction, p)))
                real = exact[j]
                low, high = floor_at(real, space.bits), ceil_at(real, space.bits)
                bound = Fraction(losses.loss(j, high), 1 << space.bits)
                assert abs(found - real) <= bound
                assert losses.least(j, low) <= found * (1 << space.bits) <= losses.most(j, high)
                lost = max(lost, abs(found - real) / bound)
    assert lost > 0.01  # the bounds are within two digits of what happens


@pytest.mark.parametrize("formula", FORMULAS)
def test_what_is_farther_is_not_computed_as_nearer_than_the_least(formula: str) -> None:
    """A distance of which all may be lost can be computed as less than any nearer one."""
    space = space_of([[0.75, 0.5, 0.25]])
    losses = Losses(space, Deployment(formula), [], 1)
    distances = [0, *((n << space.bits) // 10**k for k in range(14, -1, -1) for n in (1, 3))]
    for low, far in itertools.combinations(distances, 2):
        assert losses.least(0, low) <= far - losses.loss(0, far)
    assert formula == "direct" or losses.least(0, 0) < -losses.loss(0, 0)


def test_the_order_matters() -> None:
    terms = [nearest(Fraction(x)) for x in (1, 2**-24, 2**-24, 2**-24)]
    sums = set()
    for order in itertools.permutations(terms):
        total = Fraction(0)
        for term in order:
            total = nearest(total + term)
        sums.add(total)
    assert len(sums) > 1


def test_cancellation_is_seen() -> None:
    point = [float(numpy.float32(0.9))] * 64
    near = [Fraction(float(numpy.float32(0.9 - 1e-6)))] * 64
    real = sum((a - Fraction(b)) ** 2 for a, b in zip(near, point, strict=True))
    space = space_of([point, point])
    for formula in FORMULAS:
        losses = Losses(space, Deployment(formula), [], 1)
        share = losses.loss(0, ceil_at(real, space.bits)) / floor_at(real, space.bits)
        assert (share < 1e-4) == (formula == "direct")
    found = [Machine(seed, "expanded").distance(near, list(map(Fraction, point))) for seed in range(40)]
    assert any(abs(each - real) > 100 * real for each in found)


def test_a_stated_distance_bounds_latents() -> None:
    from verale.checker.certificate import PatchStatement

    space = space_of([[3.0, 4.0]], domain={"lower": None, "upper": None})
    statement = PatchStatement(0, 0, None, Fraction(4))
    with pytest.raises(UnprovedError, match="overflow"):
        Losses(space, Deployment("direct"), [], 1)
    with pytest.raises(UnprovedError, match="overflow"):
        Losses(space, Deployment("direct"), [statement], 2)
    losses = Losses(space, Deployment("direct"), [statement], 1)
    assert 0 <= losses.farthest[0] - (12 * 12 << space.bits) <= 1 << space.bits - 40


@pytest.mark.parametrize(
    "wrong", [{"formula": "winograd"}, {"formula": "direct", "log": 0}, {"formula": "direct", "exp": 1025}]
)
def test_a_deployment_is_checked(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="expected"):
        Deployment(**wrong)  # type: ignore[arg-type]
