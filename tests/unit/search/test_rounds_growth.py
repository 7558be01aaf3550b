"""Growth in rounds: what it knows of patches is what their statements say."""

from __future__ import annotations

import pytest
import torch
from support.named import problem_named

from verale.bounds import Projection
from verale.bounds.spans import Spans
from verale.search.rounds.growth import Growth, _others
from verale.search.rounds.images import Images


@pytest.mark.parametrize("name", ["euclidean", "cosine", "inner product", "cosine quadratic", "masked"])
def test_growth_goes_on_from_what_is_stated(name):
    """What growth knows of patches is what their statements say, whether it added these or began with them."""
    problem = problem_named(name).take([0])
    paradigm, images = Projection(problem.head), Images(problem, Projection(problem.head))
    none = torch.full((1,), torch.inf, dtype=torch.float64)
    first = Growth(images)
    first.grow(1e-6, none)
    stated, count = first.statements()
    spans = Spans(paradigm, stated, count, problem.observed)
    assert spans.clear.all()
    second = Growth(images)
    second.begin_with(spans)
    assert second.grow(1e-9, none).all()
    again, number = second.statements()
    assert int(number.sum()) == int(count.sum())
    assert (again[:, : stated.shape[1]].sort(1).values == stated.sort(1).values).all()


@pytest.mark.parametrize("slots", [1, 2, 3, 5, 16])
def test_the_greatest_of_the_others(slots):
    generator = torch.Generator().manual_seed(slots)
    values, rest = torch.rand(2, slots, 4, generator=generator), 0.5 * torch.rand(2, 4, generator=generator)
    for slot in range(slots):
        others = torch.cat([values[:, :slot], values[:, slot + 1 :], rest[:, None]], 1).amax(1)
        assert torch.equal(_others(values.double(), rest.double())[:, slot], others.double())
