"""The search in rounds: what it states is proved, none of it can be dropped, and it does not depend on the batch."""

from __future__ import annotations

import pytest
import torch
from support.problems import margins_from_scratch, problem_of
from support.small import GEOMETRIES, small_head, varied_head

from verale.bounds import Projection
from verale.bounds.spans import Spans
from verale.search.needed import surely_needed
from verale.search.prove import propose_and_prove
from verale.search.rounds.deletion import Deletion
from verale.search.rounds.explain import Rounds, admits
from verale.search.rounds.growth import Growth, _others
from verale.search.rounds.images import Images

NAMES = (
    "euclidean",
    "scaled",
    "cosine",
    "negated",
    "exp_distance",
    "exponential",
    "quartic",
    "rooted",
    "cosine exponential",
    "cosine quadratic",
    "cosine rectified",
    "inner product",
    "inner product in a ball",
    "inner product quadratic",
    "banks",
    "cosine banks",
    "masked",
    "cosine masked",
)


def problem_named(name, seed=0):
    return problem_of((small_head if name in GEOMETRIES else varied_head)(name, seed), seed=seed)


def searched(problem):
    return propose_and_prove(Rounds(problem, Projection(problem.head)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(2))
def test_every_image_is_explained_and_no_statement_can_be_dropped(name, seed):
    problem = problem_named(name, seed)
    paradigm = Projection(problem.head)
    assert admits(problem, paradigm, "rival") and len(problem) > 0
    explained = searched(problem)
    assert sorted(explained) == list(range(len(problem)))
    for image, explanation in explained.items():
        one = problem.take([image])
        assert (margins_from_scratch(one, paradigm, [explanation.pairs]) > 0).all()
        assert not explanation.minimal or surely_needed(one, paradigm, [explanation.pairs]) == [True]
    assert any(explanation.minimal for explanation in explained.values())


@pytest.mark.parametrize("name", ["euclidean", "cosine", "masked"])
def test_what_an_image_gets_does_not_depend_on_the_others(name):
    problem = problem_named(name)
    together = searched(problem)
    for image, explanation in together.items():
        (alone,) = searched(problem.take([image])).values()
        assert alone.pairs == explanation.pairs


@pytest.mark.parametrize("name", ["euclidean", "cosine", "inner product", "cosine quadratic", "masked"])
def test_growth_goes_on_from_what_is_stated(name):
    """What growth knows of patches is what their statements say, whether it added these or began with them."""
    problem = problem_named(name).take([0])
    paradigm, images = Projection(problem.head), Images(problem, Projection(problem.head))
    none = torch.full((1,), torch.inf, dtype=torch.float64)
    first = Growth(images)
    first.grow(torch.full((1,), 1e-6, dtype=torch.float64), none)
    stated, count = first.statements()
    spans = Spans(paradigm, stated, count, problem.observed)
    assert spans.clear.all()
    second = Growth(images)
    second.begin_with(spans)
    assert second.grow(torch.full((1,), 1e-9, dtype=torch.float64), none).all()
    again, number = second.statements()
    assert int(number.sum()) == int(count.sum())
    assert (again[:, : stated.shape[1]].sort(1).values == stated.sort(1).values).all()


def test_deletion_leaves_what_is_needed():
    """All statements about all patches, but for those that depend on others, are far too many."""
    problem = problem_named("euclidean").take([0])
    paradigm = Projection(problem.head)
    room = problem.head.depth
    stated, count = torch.arange(room).repeat(problem.patches, 1), torch.full((problem.patches,), room)
    deletion = Deletion(Images(problem, paradigm), paradigm, problem.observed, stated, count)
    assert deletion.spans.clear.all() and float(deletion.least) > 0
    deletion.shrink(torch.zeros(1, dtype=torch.float64))
    left = int(deletion.spans.count.sum())
    assert 0 < left < room * problem.patches
    assert float(deletion.least) > 0
    assert not deletion.doubtful(torch.full((1,), 1e-12, dtype=torch.float64)).any()


@pytest.mark.parametrize("slots", [1, 2, 3, 5, 16])
def test_the_greatest_of_the_others(slots):
    generator = torch.Generator().manual_seed(slots)
    values, rest = torch.rand(2, slots, 4, generator=generator), 0.5 * torch.rand(2, 4, generator=generator)
    for slot in range(slots):
        others = torch.cat([values[:, :slot], values[:, slot + 1 :], rest[:, None]], 1).amax(1)
        assert torch.equal(_others(values.double(), rest.double())[:, slot], others.double())
