"""Statements with one end: the ranges that follow hold the truth, and are those of wide statements in their place."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from support import arithmetic, files
from support.cases import named
from support.rationals import cosine_ends

from verale.checker.certificate import PatchStatement
from verale.checker.head import read_head
from verale.checker.options import KERNELS, load_arithmetic
from verale.checker.reading import space as space_module
from verale.checker.reading.facts import intervals
from verale.checker.reading.pooling import Pooling
from verale.checker.reading.quadratic import QuadraticRule
from verale.checker.reading.space import Ranges, Space

GEOMETRIES = ("euclidean", "unbounded", "cosine", "inner_product")


def space(rows: files.Matrix, geometry: str, kernel: str = "arb") -> Space:
    """A head whose latents lie in [-1, 1], if they are bounded."""
    changes: dict[str, Any] = {"domain": files.domain(*((None, None) if geometry == "unbounded" else (-1.0, 1.0)))}
    if geometry == "cosine":
        changes |= {"geometry": files.cosine(0.0), "similarity": files.IDENTITY}
    if geometry == "inner_product":
        changes |= {"geometry": {"kind": geometry, "radius": None}, "similarity": files.IDENTITY}
    return Space(
        read_head(files.head([[1.0] * len(rows), [0.0] * len(rows)], rows, **changes)), load_arithmetic(kernel)
    )


def truths(geometry: str, rows: files.Matrix, z: list[float]) -> list[tuple[Fraction, Fraction]]:
    """What every observable is, enclosed."""
    match geometry:
        case "cosine":
            return [cosine_ends(z, row, 0.0) for row in rows]
        case "inner_product":
            return [(arithmetic.product(z, row),) * 2 for row in rows]
        case _:
            return [(arithmetic.squared_distance(z, row),) * 2 for row in rows]


def drawn(
    generator: random.Random, geometry: str, kernel: str = "arb"
) -> tuple[Space, list[list[PatchStatement]], list[list[tuple[Fraction, Fraction]]]]:
    """A head; true statements about three patches, many of them with one end; and the observables there."""
    depth, count = generator.choice((1, 2, 3, 6)), 6
    rows = [[generator.uniform(-1, 1) for _ in range(depth)] for _ in range(count)]
    latents = [[generator.uniform(-1, 1) for _ in range(depth)] for _ in range(3)]
    observed = [truths(geometry, rows, z) for z in latents]
    groups = []
    for patch, ends in enumerate(observed):
        group, sides = [], generator.choice((("lower",), ("upper",), ("lower", "upper"), ("lower", "upper", "both")))
        for j in generator.sample(range(count), generator.randrange(1, 5)):
            wide = Fraction(generator.choice((0, 1, 10**8, 10**14)), 10**15)
            side = generator.choice(sides)
            low, high = ends[j][0] - wide, ends[j][1] + wide
            group.append(PatchStatement(patch, j, None if side == "upper" else low, None if side == "lower" else high))
        groups.append(group)
    return space(rows, geometry, kernel), groups, observed


def similar(where: Space, ranges: Ranges) -> tuple[list[int], list[int] | None]:
    """The ranges of the observables themselves, on the grid."""
    observed = Pooling(where).observed(ranges)
    return observed.lower, observed.upper


@named(*KERNELS)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_ranges_hold_the_truth_and_what_lies_within(geometry: str) -> None:
    generator = random.Random(geometry)
    within, unbounded = 0, 0
    for trial in range(20):
        where, groups, observed = drawn(generator, geometry, KERNELS[trial % 2])
        rule, unit = QuadraticRule(where), Fraction(1, 1 << where.bits)
        for group, ends in zip(groups, observed, strict=True):
            ranges = rule.ranges(group)
            lower, upper = similar(where, ranges)
            assert all(low * unit <= end[1] for low, end in zip(lower, ends, strict=True))
            assert upper is None or all(end[0] <= high * unit for high, end in zip(upper, ends, strict=True))
            lacking = all(s.upper is None for s in group)
            assert (upper is None) == (lacking and geometry == "unbounded")
            unbounded += upper is None
            inner = rule.within(group)
            if inner is None:
                continue
            within += 1
            assert all(low <= end for low, end in zip(lower, inner.lower, strict=True))
            assert (inner.upper is None) == (upper is None)
            assert all(end <= high for end, high in zip(inner.upper or [], upper or [], strict=True))
    assert within > 30
    assert unbounded > 10 or geometry != "unbounded"


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_a_missing_end_is_one_that_says_nothing(geometry: str) -> None:
    """Ranges are about those of a statement whose other end lies where no latent is."""
    generator = random.Random(f"wide {geometry}")
    far = {"euclidean": (0, 1000), "unbounded": (0, 10**6), "cosine": (-1, 1), "inner_product": (-1000, 1000)}[geometry]
    for _ in range(12):
        where, groups, _ = drawn(generator, geometry)
        rule = QuadraticRule(where)
        for group in groups:
            wide = [
                replace(
                    s,
                    lower=Fraction(far[0]) if s.lower is None else s.lower,
                    upper=Fraction(far[1]) if s.upper is None else s.upper,
                )
                for s in group
            ]
            open_ended, closed = rule.ranges(group), rule.ranges(wide)
            slack = 1 << where.bits - 40
            assert all(a >= b - slack for a, b in zip(open_ended.lower, closed.lower, strict=True))
            if geometry == "unbounded":
                assert all(a <= b + slack for a, b in zip(open_ended.lower, closed.lower, strict=True))
            if open_ended.upper is not None and closed.upper is not None:
                assert all(a <= b + slack for a, b in zip(open_ended.upper, closed.upper, strict=True))


def assert_alike(result: Ranges, expected: Ranges, bits: int) -> None:
    assert (result.upper is None) == (expected.upper is None)
    for one, other in ((result.lower, expected.lower), (result.upper or [], expected.upper or [])):
        assert all(abs(a - b) <= 1 << bits for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("kernel", KERNELS)
def test_ends_that_are_known(kernel: str) -> None:
    """On a line: at least 3 away from 0 is at least 2 away from 1; at most 1 away from it is at most 2 away from 1."""
    where = space([[0.0], [1.0]], "unbounded", kernel)
    rule, unit = QuadraticRule(where), 1 << where.bits
    ranges = rule.ranges([PatchStatement(0, 0, Fraction(9), None)])
    assert ranges.upper is None
    assert [round(end / unit, 6) for end in map(int, ranges.lower)] == [9, 4]
    both = [PatchStatement(0, 0, Fraction(9), None), PatchStatement(0, 1, Fraction(25, 4), None)]
    assert [round(int(end) / unit, 6) for end in rule.ranges(both).lower] == [9, 6.25]
    ranges = rule.ranges([PatchStatement(0, 0, None, Fraction(1))])
    assert ranges.upper is not None
    assert [round(int(end) / unit, 6) for end in (*ranges.lower, *ranges.upper)] == [0, 0, 1, 4]
    apart = [PatchStatement(0, 0, None, Fraction(1)), PatchStatement(0, 1, Fraction(9, 4), None)]
    ranges = rule.ranges(apart)
    assert ranges.upper is not None
    assert [round(int(end) / unit, 6) for end in (*ranges.lower, *ranges.upper)] == [0.25, 2.25, 1, 4]
    inner = QuadraticRule(space([[0.0, 0.0], [1.0, 0.0], [0.5, 0.5]], "unbounded", kernel)).within(apart)
    assert inner is not None and inner.upper is not None
    assert [round(int(end) / unit, 6) for end in (*inner.lower[:2], *inner.upper[:2])] == [0.25, 2.25, 1, 4]


def test_combinations_are_bounded_over_bounded_domains_alone() -> None:
    rule = QuadraticRule(space([[0.0], [1.0]], "unbounded"))
    with pytest.raises(ValueError, match="unbounded domain"):
        rule.combination([PatchStatement(0, 0, Fraction(1), None)], {0: 1})
    rule = QuadraticRule(space([[0.0], [1.0]], "euclidean"))
    least = partial(rule.combination, [PatchStatement(0, 0, Fraction(1, 4), None)])
    low, high = least({0: 2}), -least({0: -2})
    assert Fraction(1, 2) - Fraction(1, 2**40) < low <= Fraction(1, 2) and 2 <= high < 2 + Fraction(1, 2**40)


@pytest.mark.parametrize("bits", [1, 3, 6])
@pytest.mark.parametrize("geometry", ["unbounded", "inner_product"])
def test_what_stands_for_a_missing_end_is_rounded_up(geometry: str, bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On grids of a few bits, where roundings show; compared with the exact ends by their squares."""
    monkeypatch.setattr(space_module, "_LEAST_BITS", bits)
    monkeypatch.setattr(space_module, "_BITS_BELOW_GRAM", 0)
    generator = random.Random(bits)
    for _ in range(60):
        rows = [[generator.randrange(-16, 17) / 16 or 1.0 for _ in range(2)] for _ in range(4)]
        where, stated = space(rows, geometry), Fraction(generator.randrange(1, 64), 16)
        apart = [[arithmetic.squared_distance(p, q) for q in rows] for p in rows]
        if geometry == "unbounded":
            near = [PatchStatement(0, 0, None, stated), *(PatchStatement(0, j, Fraction(1, 16), None) for j in (1, 2))]
            ends = [Fraction(high, 1 << where.bits) for _, high in intervals(where, near)]
            assert ends[0] >= stated
            assert all(at_least_the_sum_of_lengths(ends[j], stated, apart[0][j]) for j in (1, 2))
            far = [PatchStatement(0, j, stated / (1 + j), None) for j in range(3)]
            for j, (_, high) in enumerate(intervals(where, far)):
                end = Fraction(high, 1 << where.bits)
                assert all(at_least_the_sum_of_lengths(end, stated, square) for square in apart[j])
        else:
            for j, row in enumerate(rows):
                ((low, high),) = intervals(where, [PatchStatement(0, j, stated, None)])
                size = 2 * arithmetic.product(row, row)  # the box lies within 2^(1/2) of 0
                assert low <= stated * 2**where.bits and Fraction(high, 1 << where.bits) ** 2 >= size and high > 0
                ((low, _),) = intervals(where, [PatchStatement(0, j, None, stated)])
                assert Fraction(low, 1 << where.bits) ** 2 >= size and low < 0


def at_least_the_sum_of_lengths(end: Fraction, one: Fraction, other: Fraction) -> bool:
    """Whether end >= (one^(1/2) + other^(1/2))^2."""
    left = end - one - other
    return left >= 0 and left**2 >= 4 * one * other
