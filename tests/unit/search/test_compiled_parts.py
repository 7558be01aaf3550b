"""Parts are translated once for each kind of arguments, and called from machine code and from Python."""

from __future__ import annotations

import numpy as np

from verale.search.compiled.parts import part


@part
def doubled(number, times):
    return 2.0 * number if times == 0 else doubled_once(number)


@part
def doubled_once(number):
    return 2.0 * number


def test_a_part_is_called_from_python():
    assert doubled(3.0, 0) == doubled(3.0, 1) == doubled.py_func(3.0, 0) == 6.0


def test_a_number_that_is_written_is_no_kind_of_its_own():
    @part
    def first(values, place):
        return values[place]

    @part
    def ends(values):
        return first(values, 0) + first(values, len(values) - 1)

    assert ends(np.array([1.0, 2.0, 4.0])) == 5.0
    assert len(first.overloads) == 1
