"""Statements whose gains overlap: those that are chosen are enough, and few; what is not needed is dropped."""

from __future__ import annotations

from itertools import combinations

import pytest
import torch
from support.problems import problem_of
from support.small import small_head

from verale.bounds import activation_range
from verale.bounds.lipschitz import Lipschitz
from verale.rounding import Enclosure
from verale.search.overlapping import Overlapping

GEOMETRIES = ("euclidean", "cosine")


def parts(geometry, seed, avoided=()):
    """An image, its table, its box without statements, and the search."""
    problem = problem_of(small_head(geometry, seed, prototypes=8), seed=seed).take([0])
    table = Lipschitz(problem.head).ranges(problem.activations[0])
    left = torch.ones(8, dtype=torch.bool)
    left[list(avoided)] = False
    overlapping = Overlapping(problem.margins, table, torch.ones(8, dtype=torch.float64), left)
    return problem, table, activation_range(problem.head, problem.patches), overlapping


def entails(problem, table, box, stated) -> bool:
    rows = table[list(stated)]
    if len(rows.lower):
        box = box.intersect(Enclosure.unchecked(rows.lower.amax(0), rows.upper.amin(0)))
    return bool((problem.margins.lower(box[None, None]) > 1e-7).all())


def fewest(problem, table, box) -> int:
    return next(
        count
        for count in range(9)
        if any(entails(problem, table, box, stated) for stated in combinations(range(8), count))
    )


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_what_is_chosen_is_enough_and_little_more_than_is_needed(geometry, seed, share):
    problem, table, box, overlapping = parts(geometry, seed)
    chosen, others = overlapping.chosen(box, share)
    assert sorted(chosen + others) == sorted(set(chosen + others))
    assert entails(problem, table, box, chosen)
    left = overlapping.pruned(box, chosen)
    least = fewest(problem, table, box)
    assert least <= len(left) <= least + 1
    assert [k for k in chosen if k in set(left)] == left


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_from_what_is_left_nothing_can_be_dropped(geometry):
    problem, table, box, overlapping = parts(geometry, 1)
    left = overlapping.pruned(box, list(range(8)))
    assert entails(problem, table, box, left)
    assert not any(entails(problem, table, box, [k for k in left if k != one]) for one in left)
    assert overlapping.pruned(box, []) == []


def test_counting_more_of_what_overlaps_asks_for_less():
    _, _, box, overlapping = parts("euclidean", 0)
    needed = [overlapping.needed(box, share) for share in (0.0, 0.3, 1.0)]
    assert needed == sorted(needed, reverse=True) and needed[-1] > 0


def test_what_is_closed_needs_nothing():
    problem, _, _, overlapping = parts("euclidean", 0)
    assert overlapping.needed(problem.activations[0], 0.0) == 0
    assert overlapping.chosen(problem.activations[0], 0.0)[0] == []


def test_what_is_avoided_is_not_chosen():
    _, _, box, overlapping = parts("euclidean", 0)
    first = overlapping.chosen(box, 0.0)[0][0]
    _, _, box, without = parts("euclidean", 0, avoided=[first])
    chosen, others = without.chosen(box, 0.0)
    assert first not in chosen + others
