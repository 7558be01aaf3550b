"""Statements about one image: what is kept between trials says what all statements say from scratch."""

from __future__ import annotations

import math

import pytest
import torch
from support.named import ADMITTED, problem_named
from support.problems import SPATIAL, margins_from_scratch, small_problem

from verale.bounds import Hypersphere, Projection, Simplex, Triangle
from verale.bounds.intervals import ranges_of_listed
from verale.bounds.similarity import dissimilarity
from verale.bounds.spans import Spans
from verale.rounding import Enclosure
from verale.search.problem import Problem
from verale.search.prove import not_surely_needed
from verale.search.rounds.deletion import Deletion, _greatest_of_others
from verale.search.rounds.explain import Rounds, admits, propose_and_prove
from verale.search.rounds.growth import Growth, _others
from verale.search.rounds.images import Images, likeness_between, likeness_of
from verale.search.rounds.statements import Statements, statements_of
from verale.search.rounds.stepwise import GUARDS, _Stating

CASES = [
    ("euclidean", Projection, 0.0),
    ("cosine", Projection, 0.0),
    ("inner product", Projection, 0.0),
    ("euclidean", Projection, 0.05),
    ("cosine", Projection, 0.05),
    ("euclidean", Triangle, 0.0),
    ("cosine", Triangle, 0.0),
    ("inner product", Triangle, 0.0),
    ("cosine", Triangle, 0.05),
    ("euclidean", Hypersphere, 0.0),
    ("cosine", Hypersphere, 0.0),
    ("euclidean", Hypersphere, 0.05),
    ("softmax", Simplex, 0.0),
    ("softmax", Simplex, 0.01),
]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1].__name__}-{case[2]}")
def subject(request):
    """An image, its paradigm, and none of its statements yet."""
    name, bounds, tolerance = request.param
    problem = problem_named(name, 0, tolerance).take([0])
    paradigm = bounds(problem.head)
    return problem, paradigm, statements_of(problem, paradigm)


def listed(known: Statements, patches=None, places=None):
    """The statements, without those at some places, one a patch."""
    gone = {} if patches is None else dict(zip(patches.tolist(), places.tolist(), strict=True))
    return [
        (patch, j)
        for patch, (stated, count) in enumerate(zip(known.stated.tolist(), known.count.tolist(), strict=True))
        for place, j in enumerate(stated[:count])
        if gone.get(patch) != place
    ]


def assert_same(ranges, problem: Problem, paradigm, pairs, rows) -> None:
    # The lengths of what is orthogonal to statements are roots of numbers that may be no more than rounding.
    expected = problem.ranges(paradigm, [pairs])[rows]
    torch.testing.assert_close(ranges.lower, expected.lower, rtol=0, atol=1e-6)
    torch.testing.assert_close(ranges.upper, expected.upper, rtol=0, atol=1e-6)


def stated_at_random(problem: Problem, known: Statements, rounds: int, seed: int = 0) -> list[tuple[int, int]]:
    """State a few things, about some of the patches in each round; in their order."""
    generator = torch.Generator().manual_seed(seed)
    size, added = problem.head.size, []
    for _ in range(rounds):
        patches = torch.randperm(problem.patches, generator=generator)[: 1 + problem.patches // 2]
        open_ = torch.ones(len(patches), size, dtype=torch.bool)
        for row, patch in enumerate(patches.tolist()):
            open_[row, known.stated[patch, : known.count[patch]]] = False
        prototypes = (torch.rand(open_.shape, generator=generator) * open_).argmax(1)
        trial = known.tried(patches.repeat(2), torch.cat([prototypes, prototypes]))
        at = torch.arange(len(patches)) + len(patches)
        known.add(trial, at)
        added += zip(patches.tolist(), prototypes.tolist(), strict=True)
    return added


def test_what_is_stated_says_what_it_says_from_scratch(subject):
    problem, paradigm, known = subject
    assert_same(known.ranges, problem, paradigm, [], slice(None))
    for seed in range(3):
        added = stated_at_random(problem, known, 1, seed)
        assert {*added} <= {*listed(known)}
        assert_same(known.ranges, problem, paradigm, listed(known), slice(None))


def test_a_trial_says_what_the_statement_will_say(subject):
    problem, paradigm, known = subject
    stated_at_random(problem, known, 2)
    before = known.ranges.lower.clone()
    patches = torch.arange(problem.patches)
    prototypes = torch.tensor([next(j for j in range(12) if (patch, j) not in listed(known)) for patch in patches])
    trial = known.tried(patches, prototypes)
    assert torch.equal(known.ranges.lower, before)  # nothing is stated yet
    pairs = [*listed(known), *zip(patches.tolist(), prototypes.tolist(), strict=True)]
    assert_same(trial.ranges, problem, paradigm, pairs, slice(None))


def test_deletions_say_what_is_left(subject):
    """One after the other, of every patch that has a statement, until none is left."""
    problem, paradigm, known = subject
    stated_at_random(problem, known, 5)
    generator = torch.Generator().manual_seed(1)
    while bool((known.count > 0).any()):
        patches = known.count.nonzero()[:, 0]
        places = (torch.rand(len(patches), generator=generator) * known.count[patches]).long()
        left = listed(known, patches, places)
        trial = known.without(patches, places)
        assert_same(trial.ranges, problem, paradigm, left, patches)
        known.delete(trial, len(patches))
        assert listed(known) == left
        assert_same(known.ranges, problem, paradigm, left, slice(None))
    assert_same(known.ranges, problem, paradigm, [], slice(None))


def test_only_the_first_of_a_trial_are_deleted(subject):
    problem, paradigm, known = subject
    stated_at_random(problem, known, 4)
    patches = known.count.nonzero()[:, 0]
    places = torch.zeros_like(patches)
    left = listed(known, patches[:1], places[:1])
    known.delete(known.without(patches, places), 1)
    assert listed(known) == left
    assert_same(known.ranges, problem, paradigm, left, slice(None))


def test_statements_begin_anew(subject):
    problem, paradigm, known = subject
    stated_at_random(problem, known, 2)
    depth, size = 3, problem.head.size
    generator = torch.Generator().manual_seed(2)
    stated = torch.stack([torch.randperm(size, generator=generator)[:depth] for _ in range(problem.patches)])
    count = torch.tensor([depth] * (problem.patches - 1) + [0])
    known.begin(stated, count)
    pairs = [(patch, int(j)) for patch in range(problem.patches - 1) for j in stated[patch]]
    assert listed(known) == pairs
    assert_same(known.ranges, problem, paradigm, pairs, slice(None))
    stated_at_random(problem, known, 1)
    assert_same(known.ranges, problem, paradigm, listed(known), slice(None))


# What the search in rounds sees of images: likenesses, and the similarities and margins that follow from them.


NAMES = ("euclidean", "scaled", "cosine", "exponential", "quartic", "cosine quadratic", "inner product", "masked")
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


@pytest.fixture(params=NAMES)
def seen(request):
    problem = problem_named(request.param)
    return problem, Images(problem, Projection(problem.head))


def test_activations_are_the_similarities_of_the_greatest_likeness(seen):
    _, images = seen
    greatest = images.likeness.gather(1, images.attained[:, None])[:, 0]
    assert torch.equal(greatest, images.likeness.amax(1))
    torch.testing.assert_close(images.similar(greatest.clone()), images.actual, **CLOSE)


def test_weights_and_biases_give_the_margins_of_the_images(seen):
    problem, images = seen
    margins = (images.weights @ images.actual[:, :, None])[:, :, 0] + images.bias
    exact = Enclosure(problem.activations.lower[:, None], problem.activations.upper[:, None])
    torch.testing.assert_close(margins, problem.margins.lower(exact)[:, 0], rtol=1e-6, atol=1e-6)


def test_ranges_of_observables_become_ranges_of_likeness(seen):
    """Whatever observable is in a range, its likeness is in that range's; the ends are attained."""
    problem, images = seen
    middle = (problem.observed.lower + problem.observed.upper) / 2
    least = middle - 0.3
    ranges = Enclosure(least.clamp(min=0) if images.space.is_distance else least, middle + 0.2)
    ends = ranges.lower.clone(), ranges.upper.clone()
    steps = torch.linspace(0, 1, 101, dtype=torch.float64)[:, None, None]
    within = -torch.stack([dissimilarity(problem.head, each) for each in ends[0] + steps * (ends[1] - ends[0])])
    low, high = likeness_of(ranges, images.space)
    torch.testing.assert_close(within.amin(0), low, **CLOSE)
    assert bool((within.amax(0) <= high + 1e-9).all())
    torch.testing.assert_close(within.amax(0), high, rtol=0, atol=0.01)


def test_likeness_falls_on_both_sides_of_a_peak():
    low, high, peak = torch.tensor([[-1.0, 1.0, -3.0], [2.0, 4.0, -1.0], [0.0, 0.0, 0.0]], dtype=torch.float64)
    least, greatest = likeness_between(low, high, peak)
    assert (least.tolist(), greatest.tolist()) == ([-2.0, -4.0, -3.0], [0.0, -1.0, -1.0])
    least, greatest = likeness_between(low, high, None)
    assert least is low and greatest is high


# Growth in rounds: what it knows of patches is what their statements say.


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


# Deleting in rounds: what is left entails the class, and all of it is needed.


def all_stated(name, room=None):
    """One image with the first statements about all patches; by default all but those that depend on others."""
    problem = problem_named(name).take([0])
    paradigm, room = Projection(problem.head), room or problem.head.depth
    stated, count = torch.arange(room).repeat(problem.patches, 1), torch.full((problem.patches,), room)
    return Deletion(Images(problem, paradigm), paradigm, problem.observed, stated, count), problem


def test_deletion_leaves_what_is_needed():
    """All statements about all patches, but for those that depend on others, are far too many."""
    deletion, _ = all_stated("euclidean")
    every, noise = int(deletion.spans.count.sum()), torch.full((1,), 1e-12, dtype=torch.float64)
    assert deletion.spans.clear.all() and float(deletion.least) > 0
    deletion.shrink(torch.zeros(1, dtype=torch.float64))
    assert 0 < int(deletion.spans.count.sum()) < every
    assert float(deletion.least) > 0
    assert not deletion.doubtful(noise, torch.tensor([True])).any()
    assert (deletion.doubtful(noise, torch.tensor([False])) == deletion.spans.there).all()


@pytest.mark.parametrize("name", ["euclidean", "cosine", "inner product", "quartic"])
def test_what_narrow_intervals_cost_is_known_to_first_order(name):
    deletion, problem = all_stated(name, room=2)
    spans, observed, width = deletion.spans, problem.observed, 2.0**-16
    wide = Enclosure.unchecked(observed.lower - width, observed.upper + 2 * width)
    estimate = deletion.lost(lambda own: Enclosure.unchecked(own.lower - width, own.upper + 2 * width))
    exact, widened = (
        problem.proved_margins(ranges_of_listed(Projection(problem.head), spans.stated, spans.count, ends))
        for ends in (observed, wide)
    )
    lost = exact - widened
    rivals = lost.isfinite()
    assert (lost[rivals] > 0).all()
    assert ((estimate - lost)[rivals].abs() < 0.01 * lost[rivals]).all()


def test_margins_that_are_asked_for_are_left():
    deletion, problem = all_stated("euclidean")
    deletion.images.ask(torch.full_like(problem.margins.bias, 0.25 * float(problem.settled)))
    deletion.shrink(torch.zeros(1, dtype=torch.float64))
    asked, left = int(deletion.spans.count.sum()), float(deletion.least)
    deletion.images.ask(torch.zeros_like(problem.margins.bias))
    assert left > 0 and float(deletion.least) > 0.25 * float(problem.settled)
    assert int(deletion.spared) > 0
    deletion.shrink(torch.zeros(1, dtype=torch.float64))
    assert int(deletion.spans.count.sum()) < asked


def test_of_each_patch_the_greatest_of_the_others():
    values = torch.tensor([[[1.0, 5.0], [3.0, 5.0], [2.0, 4.0]], [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]])
    expected = [[[3.0, 5.0], [2.0, 5.0], [3.0, 5.0]], [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]]
    assert _greatest_of_others(values.double()).tolist() == expected


# The search in rounds: what it states is proved, none of it can be dropped, and it does not depend on the batch.


OF_ONE_PATCH = tuple(name for name in ADMITTED if "mean" not in name)
"""Where each activation is that of one patch."""


def searched(problem):
    return propose_and_prove(Rounds(problem, Projection(problem.head)))


@pytest.mark.parametrize("name", OF_ONE_PATCH)
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
        assert not explanation.minimal or not not_surely_needed(one, paradigm, explanation.pairs)
    assert any(explanation.minimal for explanation in explained.values())


@pytest.mark.parametrize("name", ["euclidean", "cosine", "masked"])
def test_what_an_image_gets_does_not_depend_on_the_others(name):
    problem = problem_named(name)
    together = searched(problem)
    for image, explanation in together.items():
        (alone,) = searched(problem.take([image])).values()
        assert alone.pairs == explanation.pairs


# Statements step by step: in the papers' order, every patch in turn states what is nearest to it.


@pytest.mark.parametrize(("geometry", "paradigm"), SPATIAL)
def test_the_published_order_states_the_nearest_of_every_patch(geometry, paradigm):
    problem = small_problem(geometry, 1).take([0])
    stating = _Stating(problem, paradigm(problem.head), GUARDS[0])
    assert stating.sweep(math.inf) is None
    sweeps, rest = divmod(len(stating.added), problem.patches)
    assert sweeps and not rest
    nearest = problem.dissimilarities()[0].argsort(dim=1, stable=True)
    for patch in range(problem.patches):
        assert [j for where, j in stating.added if where == patch] == nearest[patch, :sweeps].tolist()
    assert (margins_from_scratch(problem, paradigm(problem.head), [stating.added]) > 0).all()
