"""Sums: what prototypes that do not belong to the predicted class take back, in exact rationals."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

from support import files

from verale.checker.certificate import SumStatement
from verale.checker.head import read_head
from verale.checker.reading.margin import lower_bound, taken_back
from verale.checker.reading.pooling import Box

WEIGHT = [[2.0, 1.0, 0.0, -0.5], [0.5, 1.0, 1.0, 0.0], [0.0, -1.0, 0.25, 0.75]]
"""Of class 0 belong prototypes 0 and 1, of which 1 belongs to class 1 too; 2 to class 1, 3 to class 2."""
BIAS = [0.0, 0.25, -0.5]
"""The masses of its one patch; they are the activations."""
UNIT = 1 << 20


def data(weight: list[list[float]] = WEIGHT) -> bytes:
    return files.head(weight, bias=BIAS, geometry=files.SOFTMAX, similarity=files.IDENTITY)


def exactly(values: list[float]) -> Box:
    return Box([int(v * UNIT) for v in values], [int(v * UNIT) for v in values], 20)


def by_hand(weight: list[list[float]], predicted: int, rival: int, a: list[float], own: bool) -> Fraction:
    """The sum of (W_c - W_y) a over the prototypes that belong to y, or over the others."""
    belongs = [all(row[j] <= weight[predicted][j] for row in weight) for j in range(len(a))]
    return sum(
        (
            (Fraction(weight[rival][j]) - Fraction(weight[predicted][j])) * Fraction(a[j])
            for j in range(len(a))
            if belongs[j] == own
        ),
        Fraction(),
    )


def test_a_prototype_belongs_to_every_class_with_its_greatest_weight() -> None:
    head = read_head(data())
    assert [head.belong(c) for c in range(3)] == [
        [True, True, False, False],
        [False, True, True, False],
        [False, False, False, True],
    ]


def test_what_is_taken_back_is_exact() -> None:
    generator = random.Random(3)
    for _ in range(200):
        weight = [[generator.choice((-1.5, -0.25, 0.0, 0.0, 0.75, 2.0)) for _ in range(5)] for _ in range(3)]
        head, a = read_head(data(weight)), [generator.randrange(9) / 8 for _ in range(5)]
        for y in range(3):
            rivals = [c for c in range(3) if c != y]
            truth = max(by_hand(weight, y, c, a, own=False) for c in rivals)
            assert taken_back(head, exactly(a), y, rivals) == (truth, truth)
            for c in rivals:
                margin = -by_hand(weight, y, c, a, own=True) - by_hand(weight, y, c, a, own=False)
                margin += Fraction(BIAS[y]) - Fraction(BIAS[c])
                assert lower_bound(head, exactly(a), y, c) == margin
                # A sum that is exactly true at a point proves no more than the point, and no less.
                upper = max(Fraction(), by_hand(weight, y, c, a, own=False))
                assert lower_bound(head, exactly(a), y, c, [SumStatement((c,), upper)]) == margin
                wide = replace(exactly(a), lower=[0] * 5, upper=[8 * UNIT] * 5)
                least = lower_bound(head, wide, y, c, [SumStatement(None, upper)])
                assert lower_bound(head, wide, y, c) <= least <= margin


def test_a_sum_about_others_says_nothing_of_a_rival() -> None:
    head, wide = read_head(data()), Box([0] * 4, [UNIT] * 4, 20)
    assert lower_bound(head, wide, 0, 1, [SumStatement((2,), Fraction())]) == lower_bound(head, wide, 0, 1)
    assert lower_bound(head, wide, 0, 2, [SumStatement((2,), Fraction())]) > lower_bound(head, wide, 0, 2)
    two = [SumStatement(None, Fraction(1)), SumStatement((2,), Fraction(1, 4))]
    assert lower_bound(head, wide, 0, 2, two) == lower_bound(head, wide, 0, 2, two[1:])


def document(head: bytes, statements: list[dict[str, Any]], classes: int = 3, **changes: Any) -> dict[str, Any]:
    """A certificate for class 0, with margins that are nearly nothing."""
    made = files.document(head, statements, classes=classes, paradigm="evidence")
    made["predicate"].update(changes)
    return made
