"""Statements about patches are dropped where the others prove the class."""

from __future__ import annotations

import pytest
import torch
from support.problems import SLACK, small_problem

from verale.bounds import Projection, pooling_of
from verale.search.at_once import ranges_from_scratch
from verale.search.patches import Patches
from verale.search.rounds.stepwise import first_statements
from verale.search.stated import statements_about


def first(geometry, tolerance=0.0):
    problem = small_problem(geometry, tolerance=tolerance).take([0])
    projection = Projection(problem.head)
    return problem, projection, first_statements(problem, projection)


def box_of(problem, projection, pairs):
    ranges = ranges_from_scratch(problem, projection, [pairs])
    return pooling_of(problem.head).box(ranges)


@pytest.mark.parametrize("tolerance", [0.0, 0.01])
@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_what_is_left_proves_the_class_and_nothing_can_be_dropped(geometry, tolerance):
    problem, projection, pairs = first(geometry, tolerance)
    patches = Patches(problem, projection, pairs)
    dropped = patches.copy()

    def proves(boxes):
        return (problem.margins.lower(boxes[None])[0] > 0).all(1)

    dropped.drop(pairs[::-1], proves)
    assert patches.pairs == pairs and set(dropped.pairs) <= set(pairs)
    assert bool(proves(dropped.box[None]))
    again = box_of(problem, projection, dropped.pairs)
    torch.testing.assert_close(dropped.box.lower, again.lower, rtol=SLACK, atol=SLACK)
    torch.testing.assert_close(dropped.box.upper, again.upper, rtol=SLACK, atol=SLACK)
    for pair in dropped.pairs:
        without = box_of(problem, projection, [each for each in dropped.pairs if each != pair])
        assert tolerance or not bool((problem.margins.lower(without[None, None]) > SLACK).all())


def test_what_all_boxes_prove_needs_no_pairs_and_none_where_nothing_is_proved():
    problem, projection, pairs = first("euclidean")
    for proved, left in ((True, []), (False, pairs)):
        patches = Patches(problem, projection, pairs)
        patches.drop(pairs, lambda boxes, proved=proved: torch.full((len(boxes.lower),), proved))
        assert patches.pairs == left
        assert patches.statements == statements_about(problem, left)
    Patches(problem, projection, []).drop([], lambda boxes: torch.zeros(0))


def test_the_first_statements_are_those_of_a_search():
    problem, projection, pairs = first("euclidean")
    assert len(set(pairs)) == len(pairs) > 0
    box = box_of(problem, projection, pairs)
    assert bool((problem.margins.lower(box[None, None]) > 0).all())
