"""Assignment: prices prove what simplex cannot; wrong ones prove less, never more; the best are known to be."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import permutations
from math import log
from typing import Any

import pytest
from support import arithmetic, files
from support.arithmetic import above, below
from support.cases import every

from verale.checker import Status, Verdict, check
from verale.checker.certificate import PatchStatement, read_certificate
from verale.checker.head import read_head
from verale.checker.options import KERNELS, load_arithmetic
from verale.checker.reading.margin import proved_margins
from verale.checker.reading.masses import Assignment, Simplex, heaviest_matching
from verale.checker.reading.paradigms import Activations
from verale.checker.reading.space import Space

# Patches leave 1/2, 1/8 and 1/8. simplex gives 1/2 to both prototypes of the rival, no prices 1/2 + 1/8 + 1/8; but the
# worst case is 1/2 to one and 1/8 to the other: 3/4 * 7/8 - 5/8 = 1/32 is left.
SOFTMAX = {"geometry": files.SOFTMAX, "similarity": files.IDENTITY, "domain": files.domain(None, None)}
HEAD = files.head([[0.75, 0.0, 0.0], [0.0, 1.0, 1.0]], **SOFTMAX)
IMAGE = [[log(p) for p in row] for row in ([0.505, 0.2475, 0.2475], [0.88, 0.06, 0.06], [0.88, 0.06, 0.06])]
STATED = [
    files.patch_statement(0, 0, 0.5, 0.51),
    files.patch_statement(1, 0, 0.875, 0.885),
    files.patch_statement(2, 0, 0.875, 0.885),
]
EIGHTH = {1: 0.125, 2: 0.125}


def hint(prices: dict[int, float], rival: int = 1) -> dict[str, Any]:
    return {"rival": rival, "prototypes": list(prices), "prices": [float(price).hex() for price in prices.values()]}


def verdict(
    stated: list[dict[str, Any]] = STATED,
    prices: dict[int, float] | None = EIGHTH,
    kernel: str = "both",
    **options: Any,
) -> Verdict:
    options = {"paradigm": "assignment", "patches": 3, "image": IMAGE, "minimality": True} | options
    document = files.document(HEAD, stated, **options)
    if prices is not None:
        document["predicate"]["hints"] = {"prices": [hint(prices)]}
    return check(files.encode(document), HEAD, files.latents([IMAGE]), kernel, minimality=True)


@pytest.mark.parametrize("kernel", [*KERNELS, "both"])
def test_prices_prove_what_simplex_cannot(kernel: str) -> None:
    result = verdict(kernel=kernel)
    assert result.status is Status.PROVED
    assert set(result.claims.values()) == {"proved"}
    assert result.margins == (None, Fraction(1, 32))
    for refused in (verdict(prices=None, kernel=kernel), verdict(paradigm="simplex", prices=None, kernel=kernel)):
        assert (refused.reason, refused.margins[1]) == ("entailment", Fraction(3, 4) * Fraction(7, 8) - 1)


def test_a_price_finer_than_the_grid_is_rounded_up() -> None:
    """One patch leaves 1/2; the price changes nothing there, and is itself one step of the grid."""
    margin = verdict(STATED[:1], {1: 2.0**-1074}, patches=1, image=None, margins=[None, 1.0]).margins[1]
    assert margin is not None
    assert 0 < Fraction(3, 8) - Fraction(1, 2) - margin < Fraction(1, 2**120)


@every("seed", range(40))
def test_random_prices_stay_below_the_truth_and_the_best_are_matched(seed: int) -> None:
    """Exact masses that satisfy the statements; prices of any size; every matching of a small case."""
    generator = random.Random(seed)
    count, patches = generator.randrange(1, 5), generator.randrange(1, 4)
    weight = [[generator.choice((0.0, 0.5, 1.0, 2.0, -1.0)) for _ in range(count)] for _ in range(3)]
    data = files.head(weight, bias=[0.25, 0.0, -0.5], **SOFTMAX)
    space = Space(read_head(data), load_arithmetic(generator.choice(KERNELS)))

    def masses() -> list[Fraction]:
        parts = [generator.choice((0, 1, 4, 64)) for _ in range(count)]
        parts[generator.randrange(count)] += 1
        return [Fraction(part, sum(parts)) for part in parts]

    z = [masses() for _ in range(patches)]
    pairs = [(patch, j) for patch in range(patches) for j in range(count) if generator.random() < 0.4]
    wide = generator.choice((0, 2.0**-3))
    stated = [
        files.patch_statement(patch, j, arithmetic.below(z[patch][j]) - wide, arithmetic.above(z[patch][j]) + wide)
        for patch, j in pairs
    ]
    document = files.document(data, stated, 0, 3, "assignment", patches, margins=[None, 1e9, 1e9])
    prices = {j: generator.choice((2.0**-9, 0.125, 1.0)) for j in range(count) if generator.random() < 0.7}
    document["predicate"]["hints"] = {"prices": [hint(prices, rival) for rival in (1, 2)]}
    certificate = read_certificate(files.encode(document))
    rule = Activations(space, Simplex(space))
    box = rule.box(certificate.statements, patches)
    simplex = proved_margins(space.head, box, 0)
    assignment = Assignment(space, certificate)
    result = assignment.margins(box, simplex)

    def logit(c: int) -> Fraction:
        bias = Fraction((0.25, 0.0, -0.5)[c])
        return bias + sum(Fraction(w) * max(column) for w, column in zip(weight[c], zip(*z, strict=True), strict=True))

    for rival in (1, 2):
        bound, least = result[rival], simplex[rival]
        assert bound is not None and least is not None
        against = assignment._against(rival, box)
        best = against.by_matching(against.heaviest_matching(space.arithmetic.clock))
        assert least <= bound <= max(best, least)
        assert bound <= logit(0) - logit(rival)
        assert least <= best
        gains, rows = len(against.gains), list(range(patches))
        each = (list(zip(order, range(gains), strict=False)) for order in permutations([*rows, *[None] * gains], gains))
        assert best == min(against.by_matching([p for p in pairs if p[0] is not None]) for pairs in each)


@every("seed", range(20))
def test_what_is_provable_without_a_statement_is_what_is_provable_of_the_rest(seed: int) -> None:
    """For every statement and every rival in turn, as a certificate without it would have it."""
    generator = random.Random(seed)
    weight = [[1.5, 1.0, 0.0, 0.0], [0.0, 0.25, 1.0, 0.5], [0.25, 0.0, 0.5, 1.0]]
    data = files.head(weight, **SOFTMAX)
    space = Space(read_head(data), load_arithmetic("arb"))
    pairs = [(patch, j) for patch in range(3) for j in range(2) if generator.random() < 0.8]
    stated = [files.patch_statement(patch, j, 0.25 + generator.random() / 4, 0.5) for patch, j in pairs]

    def rule(statements: list[dict[str, Any]]) -> Assignment:
        return Assignment(
            space, read_certificate(files.encode(files.document(data, statements, 0, 3, "assignment", 3)))
        )

    whole, result = rule(stated), set()
    for index, box in Activations(space, Simplex(space)).boxes_without(whole._certificate.statements, 3):
        rest = rule(stated[:index] + stated[index + 1 :])
        for rival in (1, 2):
            against = rest._against(rival, box)
            best = against.by_matching(against.heaviest_matching(space.arithmetic.clock))
            assert whole.provable(index, box, rival) == (best > 0)
            result.add(best > 0)
    assert result


@every("seed", range(60))
def test_the_heaviest_matching_is_found(seed: int) -> None:
    generator = random.Random(seed)
    rows, columns = generator.randrange(5), generator.randrange(1, 5)
    weights = [[generator.choice((0, 1, 2, 10**30)) for _ in range(columns)] for _ in range(rows)]
    pairs = heaviest_matching(weights)
    assert len(pairs) == len({row for row, _ in pairs}) == len({column for _, column in pairs})
    most = max(
        sum(weights[row][column] for row, column in enumerate(order) if column >= 0)
        for order in permutations([*range(columns), *[-1] * rows], rows)
    )
    assert sum(weights[row][column] for row, column in pairs) == most


# Simplex: the rule says what v1.md says; that true masses lie inside: `tests/soundness/test_containment.py`.


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


def test_masses_that_do_not_sum_to_one() -> None:
    """Nothing certainly lies within their ranges; within others ends are rounded inward."""
    simplex, one = rule(3)

    def within(*statements: tuple[int, Fraction | float, Fraction | float]) -> list[tuple[Fraction, Fraction]] | None:
        ranges = simplex.within([PatchStatement(0, j, Fraction(low), Fraction(high)) for j, low, high in statements])
        return ranges and [
            (Fraction(a, one), Fraction(b, one)) for a, b in zip(ranges.lower, ranges.upper, strict=True)
        ]

    assert within((0, 0.75, 1), (1, 0.5, 1)) is None
    assert within((0, 0, 0.25), (1, 0, 0.25), (2, 0, 0.25)) is None
    assert within((0, -1, -0.5)) is None and within((0, 1.5, 2)) is None
    half, fine = Fraction(1, 2), Fraction(1, 2**200)
    assert within((0, 0.5, 1)) == [(half, 1), (0, half), (0, half)]
    unit = Fraction(1, one)
    assert (within((0, fine, half - fine)) or [])[0] == (unit, half - unit)


# Joint: a margin as one target proves what no sum of terms does; nothing that is false: as above.


NEGATED = {"geometry": files.EUCLIDEAN, "similarity": {"kind": "negated"}, "domain": files.domain(-1.0, 1.0)}
PROTOTYPES = [[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]
WEIGHT = [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
# o_0 - o_1 = d_1 + d_2 - d_0 - bias = |y|^2 + 2 - bias, and d_0 = |y|^2.
POINT = [[0.5, 0.0]]
ROUNDING = Fraction(1, 2**78)
STATED_OF_ONE = [files.patch_statement(0, 0, 0.25, 0.25)]


def head(bias: float, **parts: Any) -> bytes:
    return files.head(WEIGHT, PROTOTYPES, [0.0, bias], **(NEGATED | parts))


def joint_verdict(
    data: bytes,
    stated: list[dict[str, Any]] = STATED_OF_ONE,
    kernel: str = "both",
    margin: float = 2.0**-40,
    **options: Any,
) -> Verdict:
    options = {"paradigm": "joint", "patches": 1, "image": POINT, "margins": [None, margin]} | options
    latents = files.latents([options["image"]])
    return check(files.certificate(data, stated, **options), data, latents, kernel, minimality=True)


@pytest.mark.parametrize("kernel", [*KERNELS, "both"])
def test_one_target_proves_what_terms_do_not(kernel: str) -> None:
    result = joint_verdict(head(1.5), kernel=kernel, margin=below(Fraction(3, 4) - ROUNDING))
    assert result.status is Status.PROVED
    assert Fraction(3, 4) - ROUNDING < result.margins[1] <= Fraction(3, 4)
    # Term by term d_1 + d_2 is at least 1/4 + 1/4.
    assert joint_verdict(head(1.5), kernel=kernel, paradigm="projection").reason == "entailment"
    assert joint_verdict(head(1.5), kernel=kernel, margin=above(Fraction(3, 4))).reason == "margin"
