"""Statements about activations: dropped while the class follows, and with one side where that is enough."""

from __future__ import annotations

import pytest
import torch
from support.activations import ends_of
from support.problems import problem_of, small_problem
from support.small import varied_head

from verale.bounds import LinearMargins
from verale.search.activations import Activations, _without
from verale.search.covers import Cover, one_by_one


def everything(activations) -> tuple[Cover, list[int]]:
    observed = activations.observed
    prototypes = list(range(len(observed.lower)))
    return Cover(prototypes, float(observed.upper.median()), float(observed.lower.median())), prototypes


HEADS = ("euclidean", "cosine", "softmax", "tree", "maximum")


def images(name, seed=0) -> list[Activations]:
    problem = small_problem(name, seed) if name in HEADS[:3] else problem_of(varied_head(name))
    return [Activations(problem.take([image])) for image in range(len(problem))]


@pytest.mark.parametrize("name", HEADS)
def test_statements_are_dropped_together_as_one_by_one_until_none_can_be_spared(name):
    for activations in images(name):
        cover, order = everything(activations)
        stated = activations.cover(cover)
        if not activations.least(stated) > 0:
            continue
        left, minimal = activations.without_needless(stated, order)
        assert minimal and activations.least(left) > 0
        for j in order:
            if activations.least(fewer := _without(stated, j)) > 0:
                stated = fewer
        assert left.prototypes == stated.prototypes
        fewest, _ = activations.shrunk(left, order)
        assert activations.shrunk(fewest, order)[0].size == fewest.size


def test_a_side_that_no_rival_needs_is_dropped_and_the_statements_say_what_was_found():
    """Prototypes of the predicted class need a lower end, those of the others an upper end."""
    for activations in (*images("euclidean", 2), *images("tree")[:1]):
        problem, (cover, order) = activations.problem, everything(activations)
        left, _ = activations.shrunk(activations.cover(cover), order)
        one_sided = activations.one_sided(left)
        assert one_sided.prototypes == left.prototypes
        assert activations.least(one_sided) >= activations.least(left) / 2 > 0
        explanation = activations.smallest(activations.cover(cover), order)
        box = activations.range.intersect(ends_of(explanation.statements, problem.head.size))
        margins = problem.margins.lower(box[None, None])[0, 0]
        torch.testing.assert_close(margins, explanation.margins, rtol=1e-9, atol=1e-12)
        if not isinstance(problem.margins, LinearMargins):
            continue
        for j in one_sided.prototypes:
            low, high = (bool(end[j].isfinite()) for end in (one_sided.lower, one_sided.upper))
            favour, against = (
                bool((problem.margins.positive[0, j] > 0).any()),
                bool((problem.margins.negative[0, j] < 0).any()),
            )
            assert low or high
            assert favour or not low or not high
            assert against or not low or not high


@pytest.mark.parametrize("name", HEADS)
def test_margins_fall_by_what_a_statement_adds(name):
    activations = images(name)[0]
    stated = activations.cover(everything(activations)[0])
    margins, own = activations.margins(stated), torch.tensor(stated.prototypes)
    for lower in (False, True):
        lost = activations._lost(stated, own, lower)
        assert (lost >= 0).all()
        for place, j in enumerate(stated.prototypes):
            fewer = _without(stated, j, lower=lower, upper=not lower)
            assert torch.allclose(
                margins - lost[place], activations.margins(fewer), rtol=0, atol=max(activations._drift, 1e-12)
            )


def test_what_goes_one_by_one_leaves_all_margins_above_the_least():
    margins = torch.tensor([3.0, 2.0])
    lost = torch.tensor([[2.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 3.0], [0.5, 0.5]])
    gone, left = one_by_one(margins, lost, 0.0)
    assert gone.tolist() == [True, False, True, False, True] and left.tolist() == [0.5, 0.5]
    gone, left = one_by_one(margins, lost[:0], 0.0)
    assert not len(gone) and left is margins


def test_what_rounding_may_decide_is_not_called_needed(monkeypatch):
    """It stays, and the explanation does not claim that it is needed."""
    activations = images("euclidean", 2)[0]
    cover, order = everything(activations)
    left, _ = activations.shrunk(activations.cover(cover), order)
    least = min(activations.least(_without(left, item)) for item in left.prototypes)
    assert least < 0
    monkeypatch.setattr(Activations, "_error", -least)
    again, minimal = activations.without_needless(left, left.prototypes)
    assert again.prototypes == left.prototypes and not minimal
