"""The Lipschitz rule and the paradigm `mixed`: exact values, containment, what takes part, what is malformed."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from support import files
from support.trials import grid

from verale.checker.auditor import Auditor
from verale.checker.certificate import ActivationStatement, FloorStatement, OrderStatement, Statement
from verale.checker.head import read_head
from verale.checker.options import KERNELS, load_arithmetic
from verale.checker.reading.lipschitz import Lipschitz
from verale.checker.reading.masses import Simplex
from verale.checker.reading.paradigms import Activations
from verale.checker.reading.quadratic import QuadraticRule
from verale.checker.reading.space import Box, Space

NEGATED = {"kind": "negated"}
LINE = [[0.0, 0.0], [3.0, 0.0], [7.0, 0.0]]
ANGLES = [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
DISTANCES: dict[str, Any] = {"geometry": files.EUCLIDEAN, "similarity": NEGATED, "domain": files.domain(-9.0, 9.0)}
COSINES: dict[str, Any] = {
    "geometry": files.cosine(0.0),
    "similarity": files.IDENTITY,
    "domain": files.domain(None, None),
}
UNBOUNDED = DISTANCES | {"similarity": files.log_ratio(2.0**-6), "domain": files.domain(None, None)}


def mixed(parts: dict[str, Any], prototypes: list[list[float]], kernel: str = "arb") -> Activations:
    count = len(prototypes)
    data = files.head([[1.0] * count, [0.0] * count], prototypes, **parts)
    space = Space(read_head(data), load_arithmetic(kernel))
    return Activations(space, QuadraticRule(space))


def ends(box: Box) -> list[tuple[Fraction, Fraction]]:
    pairs = zip(box.lower, box.upper, strict=True)
    return [(Fraction(low, 1 << box.bits), Fraction(high, 1 << box.bits)) for low, high in pairs]


def ranges(rule: Activations, *statements: Statement) -> list[tuple[Fraction, Fraction]]:
    return ends(rule.box(statements, 4))


def number(value: float) -> Fraction:
    return Fraction(*value.as_integer_ratio())


@pytest.mark.parametrize("kernel", KERNELS)
def test_distances_lie_between_the_squares_of_the_difference_and_the_sum(kernel: str) -> None:
    """The nearest patch to 0 is 8 away: the nearest to 3 is 5 to 11 away, the nearest to 7 is 1 to 15 away."""
    box = ranges(mixed(DISTANCES, LINE, kernel), ActivationStatement(0, Fraction(-64), Fraction(-64)))
    assert box[0] == (-64, -64)
    assert box[1] == pytest.approx((-121, -25), abs=1e-12)
    assert box[2] == pytest.approx((-225, -1), abs=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("value", [-0.7, 0.3])
def test_cosines_lie_between_those_of_the_sum_and_the_difference_of_angles(kernel: str, value: float) -> None:
    box = ranges(mixed(COSINES, ANGLES, kernel), ActivationStatement(0, number(value), number(value)))
    for (low, high), angle in zip(box[1:], (math.pi / 4, math.pi / 2), strict=True):
        least, most = min(math.pi, math.acos(value) + angle), max(0, math.acos(value) - angle)
        assert (low, high) == pytest.approx((math.cos(least), math.cos(most)), abs=1e-12)


def test_a_ceiling_bounds_those_that_it_exempts_and_so_does_a_floor() -> None:
    rule = mixed(DISTANCES, LINE)
    capped = ranges(rule, OrderStatement((1,), Fraction(-64)))
    assert [high for _, high in capped] == pytest.approx([-64, -25, -64], abs=1e-12)
    raised = ranges(rule, FloorStatement((1,), Fraction(-16)))
    assert [low for low, _ in raised] == pytest.approx([-16, -49, -16], abs=1e-12)


def test_what_latents_contradict_proves_anything_but_fails_nowhere() -> None:
    for parts, points in ((DISTANCES, LINE), (UNBOUNDED, LINE), (COSINES, ANGLES)):
        for value in (Fraction(-1000), Fraction(0), Fraction(1000)):
            ranges(mixed(parts, points), ActivationStatement(0, value, value))


def test_a_limit_stops_many_statements() -> None:
    data = files.head([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], LINE, **UNBOUNDED)
    statement = files.activation_statement(0, 0.1, 0.1)
    certificate = files.certificate(data, [statement], paradigm="mixed")
    assert Auditor(data, kernel="arb", limit=1e-9).check(certificate).reason == "limit"


def inward(
    parts: dict[str, Any], prototypes: list[list[float]], kernel: str, *statements: Statement
) -> list[tuple[Fraction, Fraction] | None]:
    """The ends within the reference ranges that are left of each activation without the last statement."""
    rule = mixed(parts, prototypes, kernel)
    (box,) = (box for index, box in rule.boxes_without(statements, 4) if index == len(statements) - 1)
    return [None] if box is None else [*ends(box)]


@pytest.mark.parametrize("kernel", KERNELS)
def test_rational_ends_of_neighbours_are_exact(kernel: str) -> None:
    """The nearest patch to 0 is 2 to 8 away: that to 3 is 0 to 11 away, that to 7 is 0 to 15 away."""
    kept, dropped = ActivationStatement(0, number(-64), number(-4)), ActivationStatement(1, number(-9), None)
    assert inward(DISTANCES, LINE, kernel, kept, dropped) == [(-64, -4), (-121, 0), (-225, 0)]
    ceiling, other = OrderStatement((1,), number(-64)), ActivationStatement(2, None, number(-64))
    # None but 1 is nearer than 8 to a patch: the nearest to 3 is at least 5 away, though nothing is stated of it.
    assert inward(DISTANCES, LINE, kernel, ceiling, other)[1] == (-225, -25)


@pytest.mark.parametrize("inward", [False, True])
@pytest.mark.parametrize("parts", [DISTANCES, COSINES], ids=["distances", "cosines"])
def test_roots_are_rounded_one_way(parts: dict[str, Any], inward: bool) -> None:
    """On a grid of four bits, where it shows: outward no root is less than it is, inward none is more."""
    count = len(LINE)
    with grid(4, 0, 8):
        space = Space(read_head(files.head([[1.0] * count, [0.0] * count], ANGLES, **parts)), load_arithmetic("arb"))
        lipschitz, one = Lipschitz(space), 1 << space.bits
    for y, link in product(range(0 if parts is DISTANCES else -one, one + 1), repeat=2):
        low = lipschitz._raised(0 if parts is DISTANCES else -one, y, link, inward)
        high = lipschitz._lowered(None, y, link, inward)
        if parts is DISTANCES:
            square, roots = 4 * y * link, [y + link - low] * (y > link)
            roots += [] if high is None else [high - y - link]
        else:
            square = (one * one - y * y) * (one * one - link * link)
            roots = [y * link - low * one] * (y + link > 0) + ([] if high is None else [high * one - y * link])
        for root in roots:
            assert root <= 0 or root * root <= square if inward else root >= 0 and root * root >= square, (y, link)


@pytest.mark.parametrize("inward", [False, True])
def test_cosines_of_prototypes_are_rounded_one_way(inward: bool) -> None:
    """On that grid: outward they are no more than they are, inward no less."""
    points = [[1.0, 0.0], [1.0, 1.0], [-2.0, 1.0], [-1.0, 3.0]]
    with grid(4, 0, 8):
        space = Space(read_head(files.head([[1.0] * 4, [0.0] * 4], points, **COSINES)), load_arithmetic("arb"))
    for i, own in enumerate(space.vectors):
        for k, link in enumerate(Lipschitz(space)._links(i, inward)):
            truth = sum(x * y for x, y in zip(own, space.vectors[k], strict=True)) << space.bits
            ends = [link * abs(link) * space.squares[i] * space.squares[k], truth * abs(truth)]
            assert ends == sorted(ends, reverse=inward), (i, k)


# Top-k: the domain's range of every activation, cut by statements about activations.


HALF, QUARTER, ONE = Fraction(1, 2), Fraction(1, 4), Fraction(1)


def masses(count: int) -> Activations:
    parts = {"geometry": files.SOFTMAX, "similarity": files.IDENTITY, "domain": files.domain(None, None)}
    space = Space(read_head(files.head([[1.0] * count, [0.0] * count], **parts)), load_arithmetic("mpmath"))
    return Activations(space, Simplex(space))


def test_cuts() -> None:
    top_k = masses(3)
    assert ranges(top_k) == [(0, 1)] * 3
    assert ranges(top_k, ActivationStatement(1, QUARTER, HALF)) == [(0, 1), (QUARTER, HALF), (0, 1)]
    assert ranges(top_k, ActivationStatement(1, -ONE, 9 * ONE)) == [(0, 1)] * 3
    assert ranges(top_k, OrderStatement((1,), QUARTER)) == [(0, QUARTER), (0, 1), (0, QUARTER)]
    assert ranges(top_k, OrderStatement((), 2 * ONE)) == [(0, 1)] * 3
    assert ranges(top_k, ActivationStatement(0, HALF, ONE), OrderStatement((0,), HALF)) == [
        (HALF, 1),
        (0, HALF),
        (0, HALF),
    ]
    assert ranges(masses(1)) == [(1, 1)]


def test_ends_finer_than_the_grid_are_rounded_outward() -> None:
    top_k = masses(2)
    fine, unit = Fraction(1, 2**300), Fraction(1, 2**128)
    assert ranges(top_k, OrderStatement((), fine)) == [(0, unit)] * 2
    assert ranges(top_k, FloorStatement((), unit + fine)) == [(unit, 1)] * 2
    assert ranges(top_k, ActivationStatement(0, fine, fine)) == [(0, unit), (0, 1)]
    assert ranges(top_k, ActivationStatement(0, HALF + fine, ONE - fine)) == [(HALF, 1), (0, 1)]


@pytest.mark.parametrize("seed", range(20))
def test_without_each_is_the_box_of_all_others(seed: int) -> None:
    """In any order, with clauses or without."""
    drawn = random.Random(seed)
    statements: list[Statement] = []
    for j in drawn.sample(range(4), drawn.randrange(1, 5)):
        low, high = sorted(Fraction(drawn.randrange(9), 8) for _ in range(2))
        statements.append(ActivationStatement(j, *drawn.choice([(low, high), (low, None), (None, high)])))
    clauses: list[Statement] = [OrderStatement((1, 2), 3 * QUARTER), FloorStatement((0,), QUARTER)]
    statements += drawn.sample(clauses, drawn.randrange(3))
    drawn.shuffle(statements)
    top_k = masses(4)
    for index, box in top_k.boxes_without(statements, 5):
        whole = top_k.box([*statements[:index], *statements[index + 1 :]], 5)
        is_empty = any(low > high for low, high in zip(whole.lower, whole.upper, strict=True))
        assert box == (None if is_empty else replace(whole, inward=True))


def test_without_each_ends_finer_than_the_grid_are_rounded_inward() -> None:
    fine, unit = Fraction(1, 2**300), 1
    top_k = masses(2)
    statements = [ActivationStatement(0, fine, HALF + fine), ActivationStatement(1, -fine, HALF - fine)]
    one, other = dict(top_k.boxes_without(statements, 1)).values()
    assert one is not None and (one.lower, one.upper) == ([0, 0], [1 << 128, (1 << 127) - unit])
    assert other is not None and (other.lower, other.upper) == ([unit, 0], [1 << 127, 1 << 128])
    without_ceiling, _ = dict(top_k.boxes_without([OrderStatement((), ONE), FloorStatement((0,), fine)], 1)).values()
    assert without_ceiling is not None and without_ceiling.lower == [0, unit]


def test_without_each_nothing_is_shown_of_what_contradicts_itself() -> None:
    apart = [ActivationStatement(0, HALF, ONE), OrderStatement((), QUARTER), ActivationStatement(1, QUARTER, ONE)]
    boxes = dict(masses(2).boxes_without(apart, 1))
    assert [index for index, box in boxes.items() if box is None] == [2]
    outside = [ActivationStatement(0, 2 * ONE, 3 * ONE), ActivationStatement(1, HALF, ONE)]
    assert [index for index, box in masses(2).boxes_without(outside, 1) if box is None] == [1]
