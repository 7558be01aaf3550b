"""The rule of the least size, by hand: activations are coordinates of one patch, all 0, and rivals gain by them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from support import files
from support.boxes import coordinates

from verale.checker.head import Head, read_head
from verale.checker.least import Cell, excludes
from verale.checker.reading.space import Box

BITS = 8
ONE = 1 << BITS


def head_of(count: int, *bias: float) -> Head:
    return read_head(coordinates(count, bias)[0].to_bytes())


def box(*ends: tuple[float, float]) -> Box:
    return Box([int(low * ONE) for low, _ in ends], [int(high * ONE) for _, high in ends], BITS)


def test_a_cell_costs_the_clauses_that_all_of_it_have() -> None:
    half = Fraction(1, 2)
    costs = [Cell().cost, Cell(u1=half).cost, Cell(u2=half).cost, Cell(v2=half).cost, Cell(v1=half).cost]
    assert costs == [0, 0, 1, 0, 1]
    assert Cell(u2=half, v1=half).cost == 2


def test_what_a_ceiling_leaves() -> None:
    """It binds what the image has below its greatest end, and not below its least end nor below the activation."""
    domain, image = box((0, 1), (0, 1), (0, 1)), box((0.125, 0.25), (0.5, 0.625), (0.75, 0.875))
    ceiling = Cell(u1=Fraction(3, 8), u2=Fraction(5, 8), v2=Fraction(-1)).box(domain, image)
    assert [end / ONE for end in ceiling.upper] == [0.375, 0.5, 1] and ceiling.lower == domain.lower
    perhaps = Cell(u1=Fraction(3, 8)).box(domain, image)
    assert [end / ONE for end in perhaps.upper] == [0.375, 0.5, 0.75]
    none = Cell(u1=Fraction(2)).box(domain, image)
    assert none.upper == domain.upper


def test_what_a_floor_leaves() -> None:
    domain, image = box((0, 1), (0, 1), (0, 1)), box((0.125, 0.25), (0.5, 0.625), (0.75, 0.875))
    floor = Cell(v1=Fraction(3, 8), v2=Fraction(11, 16)).box(domain, image)
    assert [end / ONE for end in floor.lower] == [0, 0.625, 0.6875]
    assert [end / ONE for end in Cell().box(domain, image).lower] == [0.25, 0.625, 0.875]
    assert Cell(v2=Fraction(-1)).box(domain, image).lower == domain.lower


@pytest.mark.parametrize(("bias", "needed"), [(0.5, 3), (1.5, 2), (2.5, 1), (3.5, 0)])
def test_how_many_of_three_have_to_be_stated(bias: float, needed: int) -> None:
    """Unstated activations lift the rival by 1 each; no clause is there to help."""
    head, domain, image = head_of(3, bias, 0.0), box(*[(0, 1)] * 3), box(*[(0, 0)] * 3)
    cell = Cell(u1=Fraction(1), v2=Fraction(0))
    excluded = [excludes(head, 0, domain, image, cell, {1: 1}, count) for count in range(4)]
    assert excluded == [count < needed for count in range(4)]


def test_a_ceiling_over_all_makes_statements_needless() -> None:
    head, domain, image = head_of(3, 0.5, 0.0), box(*[(0, 1)] * 3), box(*[(0, 0)] * 3)
    assert not excludes(head, 0, domain, image, Cell(u1=Fraction(0), u2=Fraction(1, 8)), {1: 1}, 0)


def test_a_gain_counts_for_no_more_than_what_is_needed() -> None:
    """One statement of gain 1 is enough for each of two rivals that need 1/4, whatever the weights."""
    head, domain, image = head_of(2, 1.75, 0.0, 0.0), box((0, 1), (0, 1)), box((0, 0), (0, 0))
    cell = Cell(u1=Fraction(1), v2=Fraction(0))
    assert excludes(head, 0, domain, image, cell, {1: 1, 2: 3}, 0)
    assert not excludes(head, 0, domain, image, cell, {1: 1, 2: 3}, 1)


def test_a_great_gain_by_one_rival_is_none_by_another() -> None:
    """Each of two rivals gains 1 by an activation of its own, and needs 1/4: one statement leaves the other."""
    weight = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    inner = {"geometry": {"kind": "inner_product", "radius": None}, "similarity": files.IDENTITY}
    head = read_head(files.head(weight, [[1.0, 0.0], [0.0, 1.0]], [0.75, 0.0, 0.0], domain=files.domain(0, 1), **inner))
    domain, image, cell = box((0, 1), (0, 1)), box((0, 0), (0, 0)), Cell(u1=Fraction(1), v2=Fraction(0))
    assert excludes(head, 0, domain, image, cell, {1: 1, 2: 1}, 1)
    assert not excludes(head, 0, domain, image, cell, {1: 1, 2: 1}, 2)


def test_a_rival_that_needs_nothing_adds_nothing() -> None:
    head, domain, image = head_of(1, 0.5, 0.0, -3.0), box((0, 1)), box((0, 0))
    cell = Cell(u1=Fraction(1), v2=Fraction(0))
    assert excludes(head, 0, domain, image, cell, {1: 1, 2: 10**6}, 0)
    assert not excludes(head, 0, domain, image, cell, {2: 10**6}, 0)
    assert not excludes(head, 0, domain, image, cell, {}, 0)


def test_what_the_image_has_is_known_up_to_its_range() -> None:
    """The activation may be -1/4, which alone would be enough: stating it may leave nothing to gain for the rival."""
    head, domain = head_of(2, 0.875, 0.0), box((-1, 1), (0, 0))
    cell = Cell(u1=Fraction(1), v2=Fraction(-1))
    assert not excludes(head, 0, domain, box((-0.25, 1), (0, 0)), cell, {1: 1}, 1)
    assert excludes(head, 0, domain, box((0.9375, 1), (0, 0)), cell, {1: 1}, 1)
