"""The weights of wide statements: no others give more, and more statements never give less."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from support import arithmetic, files
from support.rationals import cosine_ends

from verale.checker.certificate import PatchStatement
from verale.checker.head import read_head
from verale.checker.options import load_arithmetic
from verale.checker.reading.facts import Facts, Target
from verale.checker.reading.quadratic import QuadraticRule
from verale.checker.reading.space import Space
from verale.checker.reading.weights import Weights

Matrix = list[list[float]]

GEOMETRIES: dict[str, dict[str, Any]] = {
    "euclidean": {},
    "cosine": {"geometry": files.cosine(1e-8), "similarity": files.IDENTITY},
    "inner_product": {
        "geometry": {"kind": "inner_product", "radius": None},
        "similarity": files.IDENTITY,
        "domain": files.domain(-2.0, 2.0),
    },
}
WIDTHS = (0.0, 1e-12, 1e-9, 1e-3, 0.1, 0.5, 2.0)
SLACK = Fraction(1, 2**60)


def space(rows: Matrix, geometry: str) -> Space:
    weight = [[1.0] * len(rows), [0.0] * len(rows)]
    return Space(read_head(files.head(weight, rows, **GEOMETRIES[geometry])), load_arithmetic("arb"))


def observable(geometry: str, z: list[float], row: list[float]) -> tuple[Fraction, Fraction]:
    match geometry:
        case "euclidean":
            return (arithmetic.squared_distance(z, row),) * 2
        case "cosine":
            low, high = cosine_ends(z, row, 1e-8)
            return low, high
        case _:
            return (arithmetic.product(z, row),) * 2


def drawn(generator: random.Random, geometry: str) -> tuple[Space, list[PatchStatement]]:
    """A head, often of one dimension or with prototypes that are nearly alike, and true statements of many widths."""
    depth, count = generator.choice((1, 1, 2, 3, 8)), generator.choice((3, 7, 12))
    rows = [[generator.uniform(-1, 1) for _ in range(depth)] for _ in range(count)]
    if generator.random() < 0.3:
        rows[1], rows[2] = rows[0], [2 * x for x in rows[0]]
    if generator.random() < 0.3:
        rows[-1] = [x * (1 + 2.0**-52) for x in rows[0]]
    z = [generator.uniform(-2, 2) for _ in range(depth)]
    return space(rows, geometry), true_statements(generator, geometry, z, rows, count - 1)


def true_statements(
    generator: random.Random, geometry: str, z: list[float], rows: Matrix, count: int
) -> list[PatchStatement]:
    result = []
    for j in generator.sample(range(len(rows)), count):
        low, high = observable(geometry, z, rows[j])
        wide = [Fraction(generator.choice(WIDTHS) * generator.random()) for _ in "lh"]
        result.append(PatchStatement(0, j, low - wide[0], high + wide[1]))
    return result


def bounds(
    quadratic: QuadraticRule, statements: list[PatchStatement], change: float, generator: random.Random
) -> tuple[list[Fraction], list[Fraction]]:
    """For every form and sign what the weights found give, and the most that these give after changes of so much."""
    facts = Facts(quadratic.space, statements)
    weights = Weights(facts)
    found, others = [], []
    for k in range(quadratic.space.head.count):
        for sign in (1, -1):
            target = facts.target({k: sign})
            row, scale = weights.best(target), scaled(quadratic.space, facts, target)
            places, most = weights.places, []
            for _ in range(20):
                other = list(row)
                for i in generator.sample(range(len(row)), generator.randrange(1, 1 + min(3, len(row)))):
                    other[i] += int(max(map(abs, row)) * Fraction(generator.gauss(0, change)))
                most.append(facts.least(target, other, places))
            found.append(Fraction(facts.least(target, row, places)) / scale)
            others.append(Fraction(max(most)) / scale)
    return found, others


def scaled(where: Space, facts: Facts, target: Target) -> int:
    """How large the form can be, about, on the grid."""
    return max(target.square << where.lift, abs(facts.ends[0][0]), abs(facts.ends[0][1]), 1)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_no_weights_nearby_give_more(geometry: str) -> None:
    """The bound is concave: what is the best nearby is the best of all."""
    generator, less = random.Random(f"best {geometry}"), 0
    for trial in range(12):
        where, statements = drawn(generator, geometry)
        found, others = bounds(QuadraticRule(where), statements, 10.0 ** -(trial % 12), generator)
        assert all(a >= b - SLACK for a, b in zip(found, others, strict=True))
        less += sum(a > b + SLACK for a, b in zip(found, others, strict=True))
    assert less > 100


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_more_statements_never_give_less(geometry: str) -> None:
    generator = random.Random(f"more {geometry}")
    for _ in range(5):
        where, statements = drawn(generator, geometry)
        quadratic, known = QuadraticRule(where), None
        slack = max(where.squares) * 2 ** (where.bits - 60)
        for number in range(1, len(statements) + 1):
            result = quadratic.ranges(statements[:number])
            assert result.upper is not None
            if known is not None and known.upper is not None:
                for k in range(len(where.squares)):
                    assert int(result.lower[k]) >= int(known.lower[k]) - slack
                    assert int(result.upper[k]) <= int(known.upper[k]) + slack
            known = result


def test_in_one_dimension_products_get_their_exact_range() -> None:
    """All statements together leave an interval of latents, from which every range follows."""
    generator = random.Random(31)
    for _ in range(60):
        rows = [[generator.choice((-1, 1)) * generator.uniform(0.25, 1)] for _ in range(8)]
        where, (z,) = space(rows, "inner_product"), [generator.uniform(-2, 2)]
        statements = true_statements(generator, "inner_product", [z], rows, generator.randrange(1, 8))
        sides = [(s.lower, s.upper, Fraction(rows[s.prototype][0])) for s in statements]
        lows, highs = zip(*(sorted((low / p, high / p)) for low, high, p in sides), strict=True)
        least, most = max(*lows, Fraction(-2)), min(*highs, Fraction(2))
        result = QuadraticRule(where).ranges(statements)
        assert result.upper is not None
        for k, (p,) in enumerate(rows):
            low, high = sorted((least * Fraction(p), most * Fraction(p)))
            assert 0 <= low - Fraction(int(result.lower[k]), 2**where.bits) < SLACK
            assert 0 <= Fraction(int(result.upper[k]), 2**where.bits) - high < SLACK


def test_statements_that_nothing_satisfies_do_no_harm() -> None:
    where = space([[0.5, 0.25], [0.5, 0.25], [1.0, -1.0]], "euclidean")
    far, near = (Fraction(9), Fraction(10)), (Fraction(0), Fraction(1))
    statements = [PatchStatement(0, j, *ends) for j, ends in enumerate((far, near, near))]
    assert len(QuadraticRule(where).ranges(statements).lower) == 3
