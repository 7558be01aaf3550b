"""What statements bound: each prototype and each pair once, whatever bounds it, on both sides of the wall."""

from __future__ import annotations

import math

import pytest

import verale.certificate.statements as written
import verale.checker.certificate as read
from verale.certificate.statements import Bounded, bounded, to_read


@pytest.mark.parametrize("side", [written, read])
def test_each_kind_of_statement_bounds_what_it_says(side) -> None:
    patch, activation = side.PatchStatement(3, 1, 0.0, 1.0), side.ActivationStatement(2, 0.0, 1.0)
    ceiling, floor = side.OrderStatement((0, 2), 1.0), side.FloorStatement((0, 1, 2, 3), 1.0)
    assert bounded([], 5, 4) == Bounded(0, 0)
    assert bounded([patch], 5, 4) == Bounded(1, 1)
    assert bounded([activation], 5, 4) == Bounded(1, 0)
    assert bounded([ceiling], 5, 4) == Bounded(3, 0), "all but two"
    assert bounded([floor], 5, 4) == Bounded(1, 0)
    assert bounded([patch, activation, ceiling, floor], 5, 4) == Bounded(4, 1), "all but the first, each once"
    assert bounded([side.SumStatement(None, 1.0)], 5, 4) == Bounded(0, 0), "none of them one by one"


def test_a_prototype_counts_once_and_a_pair_for_itself() -> None:
    stated = [written.PatchStatement(patch, prototype, 0.0, 1.0) for patch in range(4) for prototype in (1, 3)]
    assert bounded(stated, 5, 4) == Bounded(2, 8)
    both = [written.PatchStatement(0, 1, 0.0, 1.0), written.ActivationStatement(1, 0.0, 1.0)]
    assert bounded(both, 5, 4) == Bounded(1, 1)


def test_one_clause_may_bound_every_prototype() -> None:
    assert bounded([written.OrderStatement((), 1.0)], 7, 2) == Bounded(7, 0)
    assert bounded([written.OrderStatement(tuple(range(7)), 1.0)], 7, 2) == Bounded(0, 0)


def test_what_the_head_or_the_image_lacks_is_not_bounded() -> None:
    foreign = [written.PatchStatement(9, 1, 0.0, 1.0), written.ActivationStatement(9, 0.0, 1.0)]
    assert bounded([*foreign, written.OrderStatement((9,), 1.0)], 5, 4) == Bounded(5, 0)
    assert bounded(foreign, 5, 4) == Bounded(0, 0)


def test_what_there_is_to_read_are_ends_and_names() -> None:
    interval, bound = written.ActivationStatement(2, 0.0, 1.0), written.ActivationStatement(3, 0.5, math.inf)
    patch = written.PatchStatement(3, 1, 0.0, 1.0)
    assert to_read([], 9, 4) == 0
    assert to_read([interval], 9, 4) == 3 and to_read([bound], 9, 4) == 2
    assert to_read([patch], 9, 4) == 4 and to_read([patch], 9, 1) == 3, (
        "an image that is one patch has no names of them"
    )
    assert to_read([interval, bound, written.OrderStatement((2, 3), 1.0)], 9, 4) == 6, "no other is above 1"
    assert to_read([bound, written.OrderStatement((2, 3), 1.0)], 9, 4) == 4, "no other is above 1, except perhaps 2"
    assert to_read([written.FloorStatement(tuple(range(7)), 1.0)], 9, 4) == 3, "two prototypes are named"
    assert to_read([written.SumStatement(None, 1.0)], 9, 4) == 2
    assert to_read([written.SumStatement((1, 2), 1.0)], 9, 4) == 4, "rivals that it lists are named too"


def test_what_the_checker_reads_is_read_alike() -> None:
    for side, none in ((written, math.inf), (read, None)):
        assert to_read([side.ActivationStatement(2, 0.5, none), side.OrderStatement((2,), 1.0)], 9, 4) == 3
