"""Loops over arrays do what numpy does."""

from __future__ import annotations

import re
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np
import pytest

import verale.search.compiled
from verale.search.compiled.arrays import (
    greatest,
    largest,
    least,
    overwrite,
    sum_of,
)


def numbers(count):
    """Some of them equal, some infinite."""
    generator = np.random.default_rng(count)
    values = generator.normal(size=count).round(1)
    values[generator.random(count) < 0.05] = -np.inf
    return values


@pytest.mark.parametrize("count", [0, 1, 2, 5, 64, 500])
@pytest.mark.parametrize("kept", [0, 1, 2, 5, 70])
def test_the_greatest_are_the_last_of_all(count, kept):
    values, found = numbers(2 * count)[::2], np.empty(kept)
    assert greatest(values, found) == min(count, kept)
    np.testing.assert_array_equal(found[: min(count, kept)], np.sort(values)[max(count - kept, 0) :])


@pytest.mark.parametrize("count", [1, 2, 5, 64])
def test_reductions_are_those_of_numpy(count):
    values = numbers(count)
    assert (largest(values), least(values)) == (values.max(), values.min())
    finite = np.where(np.isfinite(values), values, 0.0)
    assert sum_of(finite) == reduce(add, finite.tolist())  # Python's own `sum` is more precise since 3.12
    copied = np.empty(count)
    overwrite(copied, values)
    np.testing.assert_array_equal(copied, values)


@pytest.mark.parametrize("place", range(3))
def test_no_bound_is_made_of_nan(place):
    values = np.array([1.0, 3.0, 2.0])
    values[place] = np.nan
    assert np.isnan(largest(values)) and np.isnan(least(values))


def test_the_sorts_of_numba_are_not_used():
    """What they are made of has a name that does not say whether it sorts numbers or their places: a process that
    loads the machine code of two others, one of each, may call one for the other."""
    for path in Path(verale.search.compiled.__file__).parent.glob("*.py"):
        for decorated in re.split(r"\n@(?=part|entry)", path.read_text())[1:]:
            assert not re.search(r"\b(np\.(arg)?sort|\.(arg)?sort\(|sorted\()", decorated.split("\n\n\n")[0]), path
