"""Stated ends: statements to tensors and back, and which statement an end of a number belongs to."""

from __future__ import annotations

import torch

from verale.certificate import ActivationStatement, FloorStatement, OrderStatement, PatchStatement
from verale.rounding import Enclosure
from verale.search.stated import Stated

INF = torch.inf
STATEMENTS = (
    ActivationStatement(0, 1.0, 2.0),
    ActivationStatement(2, -INF, 0.5),
    ActivationStatement(3, 0.25, INF),
    OrderStatement((0, 3), 0.75),
    FloorStatement((2,), -0.5),
)


def test_statements_come_back_as_they_were() -> None:
    assert Stated.of(STATEMENTS, 5).statements(ActivationStatement) == STATEMENTS
    assert Stated.of(STATEMENTS, 5).size == len(STATEMENTS)
    patches = (PatchStatement(0, 1, -INF, 3.0), PatchStatement(0, 4, 1.0, 1.0))
    assert Stated.of(patches, 5).statements(lambda *each: PatchStatement(0, *each)) == patches
    assert Stated.of((), 3).statements(ActivationStatement) == () and Stated.of((), 3).size == 0


def test_the_tightest_end_counts() -> None:
    ends = Stated.of(STATEMENTS, 5).ends
    assert ends.lower.tolist() == [1.0, -0.5, -INF, 0.25, -0.5]
    assert ends.upper.tolist() == [2.0, 0.75, 0.5, INF, 0.75]


def test_a_price_belongs_to_the_tightest_end() -> None:
    lower, upper = torch.tensor([[1.0, 2.0, 4.0, 8.0, 16.0]]), torch.tensor([[1.0, 2.0, 4.0, 8.0, 16.0]])
    low, high = Stated.of(STATEMENTS, 5).priced(lower, upper)
    assert low.tolist() == [
        [1.0, 0.0, 4.0, 8.0, 0.0, 2.0 + 16.0]
    ]  # 2 is not under the floor, and has no end of its own
    assert high.tolist() == [[1.0, 0.0, 4.0, 8.0, 0.0, 2.0 + 16.0]]


def test_how_far_inward_ends_may_lie() -> None:
    numbers = Enclosure.exact(torch.tensor([1.5, 0.1, 0.2, 0.3, 0.4], dtype=torch.float64))
    around = Stated.of(STATEMENTS, 5).around(numbers)
    assert around.lower.tolist() == [*numbers.lower.tolist(), 0.1]
    assert around.upper.tolist() == [*numbers.upper.tolist(), 0.4]


def test_a_box_has_a_statement_for_each_number_with_an_end() -> None:
    lower, upper = torch.tensor([0.0, -INF, -INF]).double(), torch.tensor([1.0, 2.0, INF]).double()
    assert Stated.box(lower, upper).statements(ActivationStatement) == (
        ActivationStatement(0, 0.0, 1.0),
        ActivationStatement(1, -INF, 2.0),
    )


def test_a_clause_about_no_prototype_says_nothing() -> None:
    box = Stated.box(torch.zeros(2).double(), torch.ones(2).double())
    some, none = torch.tensor([True, False]), torch.tensor([False, False])
    assert box.under(0.5, some).over(0.25, ~some).statements(ActivationStatement)[2:] == (
        OrderStatement((1,), 0.5),
        FloorStatement((0,), 0.25),
    )
    assert box.under(0.5, none).over(0.25, none).size == box.size == 2
