"""Parts are translated once for each kind of arguments, and called from machine code; called from Python, they are
Python."""

from __future__ import annotations

import operator

import numba
import numpy as np
import pytest

from verale.search.compiled.parts import OPTIONS, Compiler, Remembering, part


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


def test_numba_is_asked_once_what_a_call_gives(monkeypatch):
    context, asked = numba.core.registry.cpu_target.typing_context, []
    resolve = context.resolve_function_type

    def counted(*call):
        asked.append(call)
        return resolve(*call)

    monkeypatch.setattr(context, "resolve_function_type", counted)
    remembering, types = Remembering(context), numba.core.types
    floats, integers = types.Array(types.float64, 1, "C"), types.Array(types.int64, 1, "C")
    for array, number in ((floats, types.float64), (integers, types.int64)):
        for _ in range(3):
            read = remembering.resolve_function_type(operator.getitem, (array, types.intp), {})
            written = remembering.resolve_setitem(array, types.intp, number)
            assert (read.return_type, written.args) == (number, (array, types.intp, number))
    assert len(asked) == 4
    with pytest.raises(numba.core.errors.TypingError):
        remembering.resolve_function_type(operator.getitem, (types.float64, types.intp), {})
