"""The Lipschitz rule and the paradigm `mixed`: exact values, containment, what takes part, what is malformed."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import flint
import pytest
from support import files
from support.arithmetic import PRECISION, above, below, ends
from support.exact import Head

from verale.checker.auditor import Auditor
from verale.checker.certificate import ActivationStatement, FloorStatement, OrderStatement, Statement
from verale.checker.head import read_head
from verale.checker.options import KERNELS, load_arithmetic
from verale.checker.reading.paradigms import Activations
from verale.checker.reading.quadratic import QuadraticRule
from verale.checker.reading.space import Box, Space

ROOTED = {"kind": "rooted_cosine", "epsilon": (2.0**-3).hex()}
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
KINDS: dict[str, dict[str, Any]] = {
    "negated": DISTANCES,
    "log_ratio, unbounded": UNBOUNDED,
    "exp_distance": UNBOUNDED | {"similarity": {"kind": "exp_distance", "epsilon": (2.0**-20).hex()}},
    "exponential": UNBOUNDED | {"similarity": {"kind": "exponential"}},
    "cosine": COSINES,
    "cosine with epsilon": COSINES | {"geometry": files.cosine(0.5)},
    "rooted cosine": COSINES | {"geometry": ROOTED},
    "cosine, exponential": COSINES | {"similarity": {"kind": "exponential"}},
    "cosine, rectified": COSINES | {"similarity": {"kind": "rectified"}, "domain": files.domain(0.0, None)},
}


def mixed(parts: dict[str, Any], prototypes: list[list[float]], kernel: str = "arb") -> Activations:
    count = len(prototypes)
    data = files.head([[1.0] * count, [0.0] * count], prototypes, **parts)
    space = Space(read_head(data), load_arithmetic(kernel))
    return Activations(space, QuadraticRule(space))


def ranges(rule: Activations, *statements: Statement, patches: int = 4) -> list[tuple[float, float]]:
    box = rule.box(statements, patches)
    return [(low / (1 << box.bits), high / (1 << box.bits)) for low, high in zip(box.lower, box.upper, strict=True)]


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


def similar_to(head: Head, images: list[files.Matrix]) -> list[list[tuple[float, float]]]:
    with flint.ctx.workprec(PRECISION):
        return [
            [
                (float(below(low)), float(above(high)))
                for low, high in (ends(head.activation(image, j)) for j in range(5))
            ]
            for image in images
        ]


@pytest.mark.parametrize("kind", KINDS)
def test_the_activations_of_whatever_satisfies_the_statements_lie_in_the_ranges(kind: str) -> None:
    generator = random.Random(kind)
    parts, cuts = KINDS[kind], 0
    low = 0.0 if parts["domain"] == files.domain(0.0, None) else -1.0
    for _ in range(2):
        points = [[generator.uniform(-1, 1) for _ in range(3)] for _ in range(5)]
        images = [[[generator.uniform(low, 1) for _ in range(3)] for _ in range(2)] for _ in range(60)]
        rule = mixed(parts, points)
        free = rule.box([], 2)
        found = similar_to(Head.read(files.head([[1.0] * 5, [0.0] * 5], points, **parts)), images)
        for own in found[:6]:
            stated = generator.sample(range(5), generator.randint(1, 2))
            statements: list[Statement] = [
                ActivationStatement(k, number(own[k][0]) - number(0.05), number(own[k][1]) + number(0.05))
                for k in stated
            ]
            if generator.random() < 0.5:
                exempt = tuple(sorted(generator.sample(range(5), 3)))
                most = max(own[k][1] for k in range(5) if k not in exempt)
                least = min(own[k][0] for k in range(5) if k not in exempt)
                statements += [OrderStatement(exempt, number(most)), FloorStatement(exempt, number(least))]
            box = rule.box(statements, 2)
            cuts += sum(map(int.__gt__, box.lower, free.lower)) + sum(map(int.__lt__, box.upper, free.upper))
            for other in found:
                if all(holds(statement, other) for statement in statements):
                    assert contained(box, other)
    assert cuts > 30


def holds(statement: Statement, own: list[tuple[float, float]]) -> bool:
    """Whether a statement certainly holds of activations that are enclosed."""
    match statement:
        case ActivationStatement(k, lower, upper):
            return lower is not None and upper is not None and lower <= own[k][0] and own[k][1] <= upper
        case OrderStatement(exempt, upper):
            return all(own[k][1] <= upper for k in range(len(own)) if k not in exempt)
        case FloorStatement(exempt, lower):
            return all(own[k][0] >= lower for k in range(len(own)) if k not in exempt)
        case _:
            raise ValueError(statement)


def contained(box: Box, own: list[tuple[float, float]]) -> bool:
    each = zip(box.lower, box.upper, own, strict=True)
    unit = 1 << box.bits
    return all(Fraction(least, unit) <= high and low <= Fraction(most, unit) for least, most, (low, high) in each)


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
    if box is None:
        return [None]
    pairs = zip(box.lower, box.upper, strict=True)
    return [(Fraction(low, 1 << box.bits), Fraction(high, 1 << box.bits)) for low, high in pairs]


@pytest.mark.parametrize("kernel", KERNELS)
def test_rational_ends_of_neighbours_are_exact(kernel: str) -> None:
    """The nearest patch to 0 is 2 to 8 away: that to 3 is 0 to 11 away, that to 7 is 0 to 15 away."""
    kept, dropped = ActivationStatement(0, number(-64), number(-4)), ActivationStatement(1, number(-9), None)
    assert inward(DISTANCES, LINE, kernel, kept, dropped) == [(-64, -4), (-121, 0), (-225, 0)]
    ceiling, other = OrderStatement((1,), number(-64)), ActivationStatement(2, None, number(-64))
    # None but 1 is nearer than 8 to a patch: the nearest to 3 is at least 5 away, though nothing is stated of it.
    assert inward(DISTANCES, LINE, kernel, ceiling, other)[1] == (-225, -25)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", KINDS)
def test_ends_within_lie_within_those_that_are_proved(kernel: str, name: str) -> None:
    """And next to them: nothing of what a neighbour says is left out."""
    points = LINE if KINDS[name]["geometry"]["kind"] == "euclidean" else [[1.0, 0.2], [0.9, 0.5], [-0.3, 1.0]]
    rule = mixed(KINDS[name], points, kernel)
    (low, _), (_, high), _ = ranges(rule)
    middle = number((3 * low + high) / 4) if low > -1e3 else number(-20.0)
    kept, dropped = ActivationStatement(0, middle, middle + Fraction(1, 64)), ActivationStatement(1, middle, None)
    proved = rule.box([kept], 4)
    within = inward(KINDS[name], points, kernel, kept, dropped)
    for j, pair in enumerate(within):
        assert pair is not None
        least, most = Fraction(proved.lower[j], 1 << proved.bits), Fraction(proved.upper[j], 1 << proved.bits)
        assert least <= pair[0] <= least + Fraction(1, 2**40) and most - Fraction(1, 2**40) <= pair[1] <= most
