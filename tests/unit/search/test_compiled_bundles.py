"""Machine code reads named tuples from tables, and writes into their arrays."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba import types

from verale.search.compiled.bundles import Bundle, bundled
from verale.search.compiled.parts import OPTIONS, Compiler, part


class Inner(NamedTuple):
    places: Any
    flags: Any
    share: float


class Outer(NamedTuple):
    weight: float
    count: int
    is_first: bool
    missing: Any
    inner: Inner
    matrix: Any
    is_last: bool


@part
def total(outer, row):
    """Reads each field, and writes into two arrays."""
    inner, matrix = outer.inner, outer.matrix
    added = outer.weight + outer.count + (100.0 if outer.is_first else 0.0) + (200.0 if outer.is_last else 0.0)
    for k in range(matrix.shape[1]):
        added += matrix[row, k] * inner.places[k] if inner.flags[k] else 0.0
        matrix[row, k] = -1.0
    inner.places[0] = matrix.size
    return added + inner.share


@part
def has(missing):
    return 0 if missing is None else len(missing)


@part
def length(outer):
    return has(outer.missing)


def run(function, *arguments):
    """As an entry runs it; nothing is kept of functions of a test."""
    return numba.jit(**OPTIONS, no_cfunc_wrapper=True, pipeline_class=Compiler)(function)(*map(bundled, arguments))


def total_of(outer, row):
    return total(outer, row)


def length_of(outer):
    return length(outer)


def outer(**changes: Any) -> Outer:
    inner = Inner(np.array([2, 3, 4]), np.array([True, False, True]), 0.25)
    return Outer(1.5, -7, True, None, inner, np.arange(6.0).reshape(2, 3), False)._replace(**changes)


def test_fields_are_read_and_arrays_written():
    given = outer()
    assert run(total_of, given, 1) == 1.5 - 7 + 100 + (3 * 2 + 5 * 4) + 0.25
    np.testing.assert_array_equal(given.matrix, [[0, 1, 2], [-1, -1, -1]])
    np.testing.assert_array_equal(given.inner.places, [6, 3, 4])
    other = outer(weight=-0.5, count=2**40, is_first=False, is_last=True)
    assert run(total_of, other, 0) == -0.5 + 2**40 + 200 + 8 + 0.25


def test_none_is_known_when_a_part_is_compiled():
    assert run(length_of, outer()) == 0 and run(length_of, outer(missing=np.zeros(3))) == 3
    assert {kinds for (kinds,) in has.overloads} == {types.none, types.float64[::1]}


def test_types_are_told_apart_by_all_their_fields():
    plain, other = Bundle(outer())._numba_type_, Bundle(outer(inner=None))._numba_type_
    assert plain is Bundle(outer())._numba_type_ and plain != other
    assert plain.name == (
        "Outer_weight_f_count_i_is_first_b_missing_n_inner_Inner_places_i1_flags_b1_share_f__matrix_f2_is_last_b_"
    )
    assert "_inner_n_" in other.name
    first, second = (NamedTuple("Same", [(name, float) for name in names]) for names in ("xy", "yx"))
    assert Bundle(first(0.0, 1.0))._numba_type_ != Bundle(second(1.0, 0.0))._numba_type_


def test_what_is_no_named_tuple_stays_as_it_is():
    given = np.zeros(2)
    assert bundled(given) is given and bundled(None) is None and bundled((1, 2)) == (1, 2)


def read_only() -> np.ndarray:
    array = np.zeros((2, 3))
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("weight", [np.float32(0.5), Fraction(1, 2), "1", (1, 2), [1.0]])
def test_only_known_numbers_are_taken(weight):
    with pytest.raises(TypeError, match="machine code takes floats, integers, arrays and named tuples, not "):
        bundled(outer(weight=weight))


@pytest.mark.parametrize(
    "matrix", [np.zeros((3, 2)).T, np.zeros((4, 6))[:, ::2], np.zeros((2, 3), np.float32), read_only()]
)
def test_only_contiguous_arrays_of_known_numbers_are_taken(matrix):
    with pytest.raises(TypeError, match=r"not one of (float64|float32), shape .* and strides"):
        bundled(outer(matrix=matrix))
