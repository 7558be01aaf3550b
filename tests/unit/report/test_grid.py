"""Patches and their cells."""

from __future__ import annotations

from verale.adapters.fields import ReceptiveFields
from verale.report.grid import Grid, fields_of_grid, grid_of


def test_the_shape_of_the_latents_counts():
    assert grid_of(6, shape=(2, 3)) == Grid(2, 3)
    assert [Grid(2, 3).cell(patch) for patch in (0, 2, 3, 5, 6)] == [(0, 0), (0, 2), (1, 0), (1, 2), None]


def test_without_one_a_square_is_assumed():
    assert grid_of(9) == Grid(3, 3, assumed=True)
    assert grid_of(8) is None


def test_a_class_token_has_no_cell():
    grid = grid_of(10, tokens=1)
    assert grid == Grid(3, 3, tokens=1, assumed=True)
    assert grid.cell(0) is None and grid.cell(1) == (0, 0)


def test_nothing_is_drawn_of_more_cells_than_anybody_sees():
    assert grid_of(10**18) is None
    assert grid_of(100 * 2, shape=(100, 2)) is None
    assert grid_of(0, tokens=1) is None


def test_receptive_fields_are_those_of_a_grid_of_their_shape():
    fields = ReceptiveFields(((0, 3), (1, 4)), ((0, 4),), (4, 4), ())
    assert fields_of_grid(fields, Grid(2, 1)) is fields
    assert (
        fields_of_grid(fields, Grid(1, 2)) is fields_of_grid(fields, None) is fields_of_grid(None, Grid(2, 1)) is None
    )
