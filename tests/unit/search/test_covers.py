"""Covers: they close every rival, none is smaller, and what bounds their size from below does."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
import scipy.optimize
import torch
from support.activations import cheapest
from support.problems import problem_of, small_problem
from support.small import GEOMETRIES, small_head, small_latents, varied_head

from verale.bounds import activation_range
from verale.bounds.lipschitz import Lipschitz
from verale.checker.least import proved_least
from verale.errors import UsageError
from verale.head import as_patches, save_latents
from verale.rounding import Enclosure
from verale.search import covers
from verale.search.activations import Activations
from verale.search.costs import Avoid
from verale.search.covers import Covers, relaxed
from verale.search.least import least_document
from verale.search.problem import Problem

SEEDS = range(2)
PLAIN = ("euclidean", "cosine", "softmax")


def images(geometry, seed) -> list[Activations]:
    problem = problem_of(small_head(geometry, seed, prototypes=8), seed=seed, images=3)
    return [Activations(problem.take([image])) for image in range(len(problem))]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("geometry", PLAIN)
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


@pytest.mark.parametrize("geometry", PLAIN)
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
    table = Lipschitz(problem.head).ranges(observed, torch.ones(problem.head.size, dtype=torch.bool))
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
@pytest.mark.parametrize("geometry", PLAIN[:2])
def test_what_is_chosen_is_enough_and_little_more_than_is_needed(geometry, seed):
    problem, table, box, problems = parts(geometry, seed)
    stated = chosen(problems, box)
    assert len(stated) == len(set(stated)) and entails(problem, table, box, stated)
    least = fewest(problem, table, box)
    assert least <= len(stated) <= least + 1


# The relaxation of a covering problem: its cost is the least, and its prices bound every cost from below.


SHAPES = [(1, 4), (6, 20), (30, 90), (40, 30)]


def problem(shape, seed, few=0.6):
    """Gains, of which some are 0; needs that all columns together exceed, some of them hardly; and costs."""
    drawn = np.random.default_rng(seed)
    gains = drawn.exponential(size=shape) * (drawn.random(shape) < few) + 1e-6
    need = gains.sum(1) * drawn.choice([0.05, 0.4, 0.999], shape[0])
    return tuple(map(torch.from_numpy, (gains, need, drawn.choice([0.0, 0.5, 1.0, 4.0], shape[1]))))


def least(gains, need, costs) -> float:
    solved = scipy.optimize.linprog(costs.numpy(), -gains.numpy(), -need.numpy(), bounds=(0, 1), method="highs")
    return solved.fun


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("shape", SHAPES)
def test_it_finds_the_least_cost(shape, seed):
    gains, need, costs = problem(shape, seed)
    found, expected = relaxed(gains, need, costs), least(gains, need, costs)
    assert expected * (1 - 1e-3) - 1e-3 <= found.bound <= expected + 1e-6
    assert ((found.share >= 0) & (found.share <= 1)).all()
    assert (gains @ found.share >= need * (1 - 1e-3)).all()
    assert float(costs @ found.share) == pytest.approx(expected, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_prices_bound_the_cost_from_below_whenever_it_is_stopped(steps, monkeypatch):
    monkeypatch.setattr(covers, "_STEPS", steps)
    gains, need, costs = problem((6, 20), steps)
    found = relaxed(gains, need, costs)
    assert (found.prices >= 0).all()
    assert torch.allclose(found.reduced, costs - found.prices @ gains)
    bound = float(found.prices @ need + found.reduced.clamp(max=0).sum())
    assert bound == pytest.approx(max(found.bound, bound)) and bound <= least(gains, need, costs) + 1e-6


def test_rows_are_entered_where_they_are_missed_and_those_that_need_nothing_cost_nothing(monkeypatch):
    gains, need, costs = problem((30, 90), 1)
    need[2] = -1.0
    whole = relaxed(gains, need, costs)
    assert whole.prices[2] == 0.0
    monkeypatch.setattr(covers, "_ROWS", 3)
    assert relaxed(gains, need, costs).bound == pytest.approx(whole.bound, rel=1e-3)
    need[1] = gains[1].sum() * 1.01
    assert relaxed(gains, need, costs) is None


# How many statements covers have at least: never more than those that are found, and more than few.


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_no_cover_is_smaller(geometry: str) -> None:
    """Whether the bound is asked for as far as it goes, or only up to half a statement."""
    found: dict[float, list[float]] = {0.5: [], math.inf: []}
    for seed in range(2):
        problem = small_problem(geometry, seed, images=4)
        for image in range(len(problem)):
            activations = Activations(problem.take([image]))
            cover = activations.covers.best(activations.clauses)
            for enough, bounds in found.items():
                bounds.append(activations.covers.least(activations.clauses, enough))
                assert cover is None or bounds[-1] <= (len(cover.stated) + cover.clauses) + 1e-6
    assert all(max(bounds) > min(enough, 1) for enough, bounds in found.items())


def test_an_image_of_which_nothing_is_known_is_not_hopeless() -> None:
    """Where even all statements leave a rival open, and where none is needed."""
    problem = small_problem("euclidean", 3).take([0])
    every = tuple(range(problem.head.size))
    bias = problem.margins.bias.clamp(min=1e3)
    for each in (
        replace(problem, avoid=Avoid(prototypes=every)),
        replace(problem, margins=replace(problem.margins, bias=bias)),
    ):
        activations = Activations(each)
        assert activations.covers.least(activations.clauses, 1.0) == 0


# The least size of an explanation: none whose activations are taken one by one is smaller, by trying all of them.


@pytest.mark.parametrize("name", ["euclidean", "cosine", "softmax", "negated", "inner product", "top mean"])
def test_no_explanation_is_smaller(name, tmp_path) -> None:
    plain = name in ("euclidean", "cosine", "softmax")
    met = []
    for seed in range(2):
        sizes = {"prototypes": 5, "depth": 4, "classes": 3}
        head = small_head(name, seed, **sizes) if plain else varied_head(name, seed, **sizes)
        latents = small_latents(head, images=1, seed=seed)
        save_latents(tmp_path / "latents", latents)
        image = as_patches(latents)[0]
        least, document = least_document(head, image)
        for kernel in ("arb", "mpmath"):
            assert proved_least(document, head.to_bytes(), (tmp_path / "latents").read_bytes(), kernel) == least
        true = cheapest(Activations(Problem.of(head, image[None])))
        assert least <= true
        met.append(least == true)
    assert any(met), "the bound is never met"


def test_cells_are_split_until_the_bound_is_the_least_of_all() -> None:
    """A document names every cell by where it was cut."""
    head = small_head("euclidean", prototypes=12)
    least, document = least_document(head, as_patches(small_latents(head, images=1))[0])
    cells = json.loads(document)["cells"]
    splits = sum("split" in each for each in cells)
    assert len(cells) == 2 * splits + 1 and splits > 0 and least > 1


def test_other_readouts_are_refused() -> None:
    head = varied_head("tree")
    with pytest.raises(UsageError, match="the readout is soft_tree, expected linear"):
        least_document(head, torch.zeros(1, head.depth, dtype=torch.float64))
