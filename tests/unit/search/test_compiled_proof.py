"""One pass proves what the tensors prove: the class, and which statements are surely needed."""

from __future__ import annotations

import numpy as np
import pytest
from support.compiled import ADMITTED, first_image

from verale.search.at_once import ranges_from_scratch
from verale.search.compiled.grow import grow_statements
from verale.search.compiled.proof import prove
from verale.search.compiled.shrink import shrink_statements
from verale.search.needed import noise_of, not_surely_needed, proved_margins

GUARD = 1e-6


def searched(name, seed=0):
    """A problem, and its statements before and after shrinking."""
    problem, paradigm, image = first_image(name, seed)
    _, grown, *_ = grow_statements(image, GUARD, np.inf)
    kept, _ = shrink_statements(image, grown, np.zeros(len(grown)), True, GUARD)
    return problem, paradigm, image, [[(int(patch), int(j)) for patch, j in each] for each in (grown, grown[kept])]


@pytest.mark.parametrize("name", ADMITTED)
def test_the_same_is_proved_as_on_tensors(name):
    problem, paradigm, image, searches = searched(name)
    for pairs in searches:
        proved = prove(problem, paradigm, image, pairs, float(noise_of(problem)[0]))
        if proved is None:  # a dependent statement
            assert pairs is searches[0]
            continue
        ranges, doubtful = proved
        slower = ranges_from_scratch(problem, paradigm, [pairs])
        margins, others = proved_margins(problem, ranges), proved_margins(problem, slower)
        assert (margins > 0).all()
        np.testing.assert_allclose(margins[margins.isfinite()], others[others.isfinite()], atol=1e-5)
        np.testing.assert_allclose(ranges.lower, slower.lower, atol=1e-5)
        np.testing.assert_allclose(ranges.upper, slower.upper, atol=1e-5)
        assert doubtful == sorted(not_surely_needed(problem, paradigm, [pairs])[0], key=pairs.index)
    assert not doubtful


def test_a_statement_that_adds_nothing_is_left_to_the_tensors():
    problem, paradigm, image, (_, pairs) = searched("euclidean")
    every = [(0, j) for j in range(problem.head.size)]
    assert problem.head.size > problem.head.depth + 1
    assert prove(problem, paradigm, image, every + [pair for pair in pairs if pair[0]], 1e-9) is None
