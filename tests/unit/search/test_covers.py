"""Covers: they close every rival, none is smaller, and what bounds their size from below does."""

from __future__ import annotations

import math
from itertools import combinations, product

import pytest
import torch
from support.activations import cheapest
from support.problems import problem_of
from support.small import small_head

from verale.bounds import activation_range
from verale.bounds.lipschitz import Lipschitz
from verale.rounding import Enclosure
from verale.search import covers
from verale.search.activations import Activations
from verale.search.covers import Covers

SEEDS = range(2)
GEOMETRIES = ("euclidean", "cosine", "softmax")


def images(geometry, seed) -> list[Activations]:
    problem = problem_of(small_head(geometry, seed, prototypes=8), seed=seed, images=3)
    return [Activations(problem.take([image])) for image in range(len(problem))]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_a_cover_closes_every_rival_none_is_smaller_and_a_floor_saves_a_statement(geometry, seed):
    for activations in images(geometry, seed):
        best = activations.covers.best(activations.clauses)
        assert activations.least(activations.cover(best)) > 0
        reserve = (covers.RESERVE + 1) * activations.problem.margins.error[0]
        assert cheapest(activations) <= (len(best.stated) + best.clauses) <= cheapest(activations, reserve=reserve)
        if best.floor > -math.inf:
            assert cheapest(activations, reserve=reserve, clauses=[(best.ceiling, -math.inf)]) > (
                len(best.stated) + best.clauses
            )


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_prices_of_one_pair_bound_the_covers_of_all(geometry):
    """Weak duality."""
    for activations in images(geometry, 0):
        problem, said = activations.covers, activations.clauses
        ends = [*activations.observed.upper.tolist(), math.inf], [*activations.observed.lower.tolist(), -math.inf]
        pairs = list(product(*map(sorted, ends)))
        solved = {pair: problem._solve(said, pair, math.inf) for pair in pairs[:: len(pairs) // 9]}
        for _, prices in solved.values():
            for other in solved:
                grid = tuple(torch.tensor([end], dtype=torch.float64) for end in other)
                (bound,) = problem._bounds(prices, grid, (said.uppers(grid[0]), said.lowers(grid[1]))).flatten()
                assert bound <= solved[other][0].clauses + len(solved[other][0].stated) + 1e-6


# Statements that bound other activations too.


def parts(geometry, seed, avoided=()):
    """An image, its table, its box without statements, and the search."""
    problem = problem_of(small_head(geometry, seed, prototypes=8), seed=seed).take([0])
    observed = problem.activations[0]
    table = Lipschitz(problem.head).ranges(observed)
    left = torch.ones(8, dtype=torch.bool)
    left[list(avoided)] = False
    problems = Covers(problem.margins, observed, left, table=table)
    return problem, table, activation_range(problem.head, problem.patches), problems


def chosen(problems, box) -> list[int]:
    stated, _ = problems._chosen(covers._ends(box), math.inf)
    return stated


def entails(problem, table, box, stated) -> bool:
    rows = table[list(stated)]
    if len(rows.lower):
        box = box.intersect(Enclosure.unchecked(rows.lower.amax(0), rows.upper.amin(0)))
    return bool((problem.margins.lower(box[None, None]) > 0).all())


def fewest(problem, table, box) -> int:
    return next(
        count
        for count in range(9)
        if any(entails(problem, table, box, stated) for stated in combinations(range(8), count))
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("geometry", GEOMETRIES[:2])
def test_what_is_chosen_is_enough_and_little_more_than_is_needed(geometry, seed):
    problem, table, box, problems = parts(geometry, seed)
    stated = chosen(problems, box)
    assert len(stated) == len(set(stated)) and entails(problem, table, box, stated)
    least = fewest(problem, table, box)
    assert least <= len(stated) <= least + 1


@pytest.mark.parametrize("geometry", GEOMETRIES[:2])
def test_from_what_is_left_nothing_can_be_dropped_and_what_is_closed_needs_nothing(geometry):
    problem, table, box, problems = parts(geometry, 1)
    assert chosen(problems, problem.activations[0]) == []
    left = problems._pruned(covers._ends(box), list(range(8)))
    assert entails(problem, table, box, left)
    assert not any(entails(problem, table, box, [k for k in left if k != one]) for one in left)
    assert problems._pruned(covers._ends(box), []) == []
