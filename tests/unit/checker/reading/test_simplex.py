"""Simplex: the true masses of one patch lie inside, and the rule says what v1.md says."""

from __future__ import annotations

import random
from fractions import Fraction
from math import exp

import pytest
from support import files

from verale.checker.certificate import PatchStatement
from verale.checker.head import read_head
from verale.checker.options import load_arithmetic
from verale.checker.reading.masses import Simplex
from verale.checker.reading.space import Space


def rule(count: int, lower: float | None = None, upper: float | None = None) -> tuple[Simplex, int]:
    masses = {"geometry": files.SOFTMAX, "similarity": files.IDENTITY, "domain": files.domain(lower, upper)}
    data = files.head([[1.0] * count, [0.0] * count], **masses)
    where = Space(read_head(data), load_arithmetic("mpmath"))
    return Simplex(where), 1 << where.bits


def result(count: int, *statements: tuple[int, Fraction | None, Fraction | None]) -> list[tuple[Fraction, Fraction]]:
    simplex, one = rule(count)
    ranges = simplex.ranges([PatchStatement(0, *statement) for statement in statements])
    assert ranges.upper is not None
    return [(Fraction(low, one), Fraction(high, one)) for low, high in zip(ranges.lower, ranges.upper, strict=True)]


@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_contains_the_truth(count: int) -> None:
    generator = random.Random(count)
    for _ in range(300):
        parts = [generator.choice((0, 1, 10**6, generator.randrange(10**9))) for _ in range(count)]
        parts[generator.randrange(count)] += 1
        masses = [Fraction(part, sum(parts)) for part in parts]
        statements = []
        for j in generator.sample(range(count), generator.randrange(count + 1)):
            wide = [Fraction(generator.choice((0, 1, 10**8)), 10**9) for _ in "lh"]
            side = generator.choice("lhb")
            low, high = masses[j] - wide[0], masses[j] + wide[1]
            statements.append((j, None if side == "h" else low, None if side == "l" else high))
        for (low, high), mass in zip(result(count, *statements), masses, strict=True):
            assert low <= mass <= high


def test_says_what_the_lows_leave() -> None:
    quarter, half = Fraction(1, 4), Fraction(1, 2)
    assert result(3, (0, quarter, half)) == [(quarter, half), (0, 3 * quarter), (0, 3 * quarter)]
    assert result(3, (0, half, Fraction(9))) == [(half, 1), (0, half), (0, half)]
    assert result(3, (0, quarter, quarter), (1, quarter, quarter)) == [
        (quarter, quarter),
        (quarter, quarter),
        (half, half),
    ]
    assert result(2, (0, Fraction(0), quarter), (1, Fraction(0), Fraction(1))) == [(0, quarter), (3 * quarter, 1)]
    assert result(3, (0, half, None), (1, None, quarter)) == [(half, 1), (0, quarter), (0, half)]
    assert result(3, (0, None, quarter), (1, None, quarter)) == [(0, quarter), (0, quarter), (half, 1)]
    assert result(2, (0, None, quarter), (1, None, half)) == [(half, quarter), (3 * quarter, half)]
    assert result(2, (0, quarter, None), (1, None, half)) == [(half, 1), (0, half)]
    assert result(1) == [(1, 1)]
    assert result(1, (0, Fraction(-3), Fraction(7))) == [(1, 1)]
    assert result(2) == [(0, 1), (0, 1)]


def test_contradictory_statements_leave_nothing() -> None:
    nine = Fraction(9, 10)
    assert result(3, (0, nine, nine), (1, nine, nine))[2] == (0, 0)


def test_masses_lie_in_their_ranges_over_the_domain() -> None:
    """Of three masses over [0, 1] none is less than e / (e + 2), with e = exp(-1), nor more than 1 / (1 + 2 e)."""
    simplex, one = rule(3, 0.0, 1.0)
    half = Fraction(1, 2)
    ranges = simplex.ranges([PatchStatement(0, 0, half, half)])
    assert ranges.upper is not None
    assert (ranges.lower[0], ranges.upper[0]) == (one // 2, one // 2)
    for low, high in list(zip(ranges.lower, ranges.upper, strict=True))[1:]:
        assert (low / one, high / one) == pytest.approx((exp(-1) / (exp(-1) + 2), 0.5), rel=1e-15)
    wide = simplex.ranges([PatchStatement(0, 0, Fraction(0), Fraction(1))])
    assert wide.upper is not None
    for low, high in zip(wide.lower, wide.upper, strict=True):
        assert (low / one, high / one) == pytest.approx((exp(-1) / (exp(-1) + 2), 1 / (1 + 2 * exp(-1))), rel=1e-15)
