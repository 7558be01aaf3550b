"""Top-k: the domain's range of every activation, cut by statements about activations."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from support import files

from verale.checker.certificate import ActivationStatement, FloorStatement, OrderStatement, Statement
from verale.checker.head import read_head
from verale.checker.options import load_arithmetic
from verale.checker.reading.masses import Simplex
from verale.checker.reading.paradigms import Activations
from verale.checker.reading.space import Space

HALF, QUARTER, ONE = Fraction(1, 2), Fraction(1, 4), Fraction(1)


def rule(data: bytes, kernel: str = "mpmath") -> Activations:
    space = Space(read_head(data), load_arithmetic(kernel))
    return Activations(space, Simplex(space))


def softmax(count: int) -> bytes:
    masses = {"geometry": files.SOFTMAX, "similarity": files.IDENTITY, "domain": files.domain(None, None)}
    return files.head([[1.0] * count, [0.0] * count], **masses)


def ends(top_k: Activations, *statements: Statement) -> list[tuple[Fraction, Fraction]]:
    box = top_k.box(statements, 5)
    return [
        (Fraction(low, 1 << box.bits), Fraction(high, 1 << box.bits))
        for low, high in zip(box.lower, box.upper, strict=True)
    ]


def test_cuts() -> None:
    top_k = rule(softmax(3))
    assert ends(top_k) == [(0, 1)] * 3
    assert ends(top_k, ActivationStatement(1, QUARTER, HALF)) == [(0, 1), (QUARTER, HALF), (0, 1)]
    assert ends(top_k, ActivationStatement(1, -ONE, 9 * ONE)) == [(0, 1)] * 3
    assert ends(top_k, OrderStatement((1,), QUARTER)) == [(0, QUARTER), (0, 1), (0, QUARTER)]
    assert ends(top_k, OrderStatement((), 2 * ONE)) == [(0, 1)] * 3
    assert ends(top_k, ActivationStatement(0, HALF, ONE), OrderStatement((0,), HALF)) == [
        (HALF, 1),
        (0, HALF),
        (0, HALF),
    ]
    assert ends(rule(softmax(1))) == [(1, 1)]


def test_cuts_on_one_side() -> None:
    top_k = rule(softmax(3))
    assert ends(top_k, ActivationStatement(1, None, HALF)) == [(0, 1), (0, HALF), (0, 1)]
    assert ends(top_k, ActivationStatement(1, HALF, None)) == [(0, 1), (HALF, 1), (0, 1)]
    assert ends(top_k, FloorStatement((1,), QUARTER)) == [(QUARTER, 1), (0, 1), (QUARTER, 1)]
    assert ends(top_k, FloorStatement((), -ONE)) == [(0, 1)] * 3
    both = FloorStatement((1,), QUARTER), OrderStatement((2,), HALF)
    assert ends(top_k, *both) == ends(top_k, *reversed(both)) == [(QUARTER, HALF), (0, HALF), (QUARTER, 1)]


def test_ends_finer_than_the_grid_are_rounded_outward() -> None:
    top_k = rule(softmax(2))
    fine, unit = Fraction(1, 2**300), Fraction(1, 2**128)
    assert ends(top_k, OrderStatement((), fine)) == [(0, unit)] * 2
    assert ends(top_k, FloorStatement((), unit + fine)) == [(unit, 1)] * 2
    assert ends(top_k, ActivationStatement(0, fine, fine)) == [(0, unit), (0, 1)]
    assert ends(top_k, ActivationStatement(0, HALF + fine, ONE - fine)) == [(HALF, 1), (0, 1)]


def test_without_each() -> None:
    statements = [ActivationStatement(0, HALF, ONE), OrderStatement((0,), HALF)]
    top_k = rule(softmax(2))
    result = dict(top_k.boxes_without(statements, 1))
    left = [top_k.box(statements[1:], 1), top_k.box(statements[:1], 1)]
    assert result == {index: replace(box, inward=True) for index, box in enumerate(left)}


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
    top_k = rule(softmax(4))
    for index, box in top_k.boxes_without(statements, 5):
        whole = top_k.box([*statements[:index], *statements[index + 1 :]], 5)
        is_empty = any(low > high for low, high in zip(whole.lower, whole.upper, strict=True))
        assert box == (None if is_empty else replace(whole, inward=True))


def test_without_each_ends_finer_than_the_grid_are_rounded_inward() -> None:
    fine, unit = Fraction(1, 2**300), 1
    top_k = rule(softmax(2))
    statements = [ActivationStatement(0, fine, HALF + fine), ActivationStatement(1, -fine, HALF - fine)]
    one, other = dict(top_k.boxes_without(statements, 1)).values()
    assert one is not None and (one.lower, one.upper) == ([0, 0], [1 << 128, (1 << 127) - unit])
    assert other is not None and (other.lower, other.upper) == ([unit, 0], [1 << 127, 1 << 128])
    without_ceiling, _ = dict(top_k.boxes_without([OrderStatement((), ONE), FloorStatement((0,), fine)], 1)).values()
    assert without_ceiling is not None and without_ceiling.lower == [0, unit]


def test_without_each_nothing_is_shown_of_what_contradicts_itself() -> None:
    apart = [ActivationStatement(0, HALF, ONE), OrderStatement((), QUARTER), ActivationStatement(1, QUARTER, ONE)]
    boxes = dict(rule(softmax(2)).boxes_without(apart, 1))
    assert [index for index, box in boxes.items() if box is None] == [2]
    outside = [ActivationStatement(0, 2 * ONE, 3 * ONE), ActivationStatement(1, HALF, ONE)]
    assert [index for index, box in rule(softmax(2)).boxes_without(outside, 1) if box is None] == [1]
