"""Statements about one image: what is kept between trials says what all statements say from scratch."""

from __future__ import annotations

import pytest
import torch
from support.named import problem_named

from verale.bounds import Hypersphere, Projection, Simplex, Triangle
from verale.search.problem import Problem
from verale.search.rounds.statements import Statements, statements_of

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
