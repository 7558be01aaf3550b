"""Numbers in their order, as numpy orders them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from support.cases import every

import verale.search.compiled
from verale.search.compiled.order import from_greatest, greatest


def numbers(count):
    """Some of them equal, some infinite."""
    generator = np.random.default_rng(count)
    values = generator.normal(size=count).round(1)
    values[generator.random(count) < 0.05] = -np.inf
    return values


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 9, 64, 1000])
def test_equal_numbers_keep_their_order(count):
    values = numbers(count)
    np.testing.assert_array_equal(from_greatest(values), np.argsort(-values, kind="stable"))


@every("count", [0, 1, 2, 5, 64, 500])
@every("kept", [0, 1, 2, 5, 70])
def test_the_greatest_are_the_last_of_all(count, kept):
    values = numbers(2 * count)[::2]
    np.testing.assert_array_equal(greatest(values, kept), np.sort(values)[max(count - kept, 0) :])


def test_the_sorts_of_numba_are_not_used():
    """Machine code kept by two processes may have one name for two of them."""
    for path in Path(verale.search.compiled.__file__).parent.glob("*.py"):
        for decorated in re.split(r"\n@(?=part|entry)", path.read_text())[1:]:
            assert not re.search(r"\b(np\.(arg)?sort|\.(arg)?sort\(|sorted\()", decorated.split("\n\n\n")[0]), path
