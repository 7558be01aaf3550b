"""Parts are translated once for each kind of arguments, and called from machine code; called from Python, they are
Python."""

from __future__ import annotations

import numba
import numpy as np

from verale.search.compiled.parts import OPTIONS, Compiler, part


@part
def at(values, place):
    return values[place]


@part
def ends(values):
    return at(values, 0) + at(values, len(values) - 1)


@numba.jit(**OPTIONS, pipeline_class=Compiler)
def compiled(values):
    return ends(values)


def test_a_number_that_is_written_is_no_kind_of_its_own():
    values = np.array([1.0, 2.0, 4.0])
    assert ends(values) == 5.0 and not at.overloads
    assert compiled(values) == 5.0 and len(at.overloads) == 1
