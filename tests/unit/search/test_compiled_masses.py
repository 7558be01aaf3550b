"""Growing masses in machine code: what is stated entails the class, and says when it cannot."""

from __future__ import annotations

import numpy as np
import pytest
from support.problems import margins_from_scratch, small_problem, tied_problem

from verale.bounds import Simplex
from verale.search.compiled.grow import grow_statements
from verale.search.compiled.image import image_arrays
from verale.search.compiled.masses import GIVEN_UP, GROWN, STAYS_OPEN, Masses, grow_masses, most_left, move
from verale.search.compiled.matching import rivals_of


def masses_of(problem):
    image = rivals_of(problem)
    return Masses.of(image.low, image.weights, image.bias)


@pytest.mark.parametrize("seed", range(4))
def test_statements_entail_the_class(seed):
    problem = small_problem("softmax", seed, images=6, patches=7)
    sizes = [0, 0]
    for image in range(len(problem)):
        one = problem.take([image])
        ended, statements = grow_masses(masses_of(one), 1e-9, np.inf)
        pairs = list(map(tuple, statements.tolist()))
        assert ended == GROWN and len(set(pairs)) == len(pairs)
        assert (margins_from_scratch(one, Simplex(one.head), [pairs]) > 0).all()
        grown = grow_statements(image_arrays(one, Simplex(one.head)), 1e-9, np.inf)
        sizes = [sizes[0] + len(pairs), sizes[1] + len(grown.statements)]
    assert 0 < sizes[0] < 1.1 * sizes[1]


def test_the_weights_are_listed_by_prototype():
    image = masses_of(small_problem("softmax", 0).take([0]))
    dense = np.zeros_like(image.weights)
    for k in range(dense.shape[1]):
        entries = slice(image.first[k], image.first[k + 1])
        dense[image.rival[entries], k] = image.weight[entries]
    assert (dense == image.weights).all() and (image.weight != 0).all()


def test_what_is_too_large_is_given_up_and_what_is_tied_stays_open():
    image = masses_of(small_problem("softmax", 0).take([0]))
    _, statements = grow_masses(image, 1e-9, np.inf)
    ended, some = grow_masses(image, 1e-9, 1.0)
    assert ended == GIVEN_UP and 1 < len(some) <= len(statements)
    assert grow_masses(masses_of(tied_problem(softmax=True)), 1e-9, np.inf)[0] == STAYS_OPEN


def test_a_patch_moves_to_where_its_remainder_belongs():
    generator = np.random.default_rng(0)
    left, order, rank = np.ones(9), np.arange(9), np.arange(9)
    for _ in range(100):
        patch = int(generator.integers(9))
        left[patch] = generator.integers(0, 5) / 4
        move(order, rank, left, patch)
        assert (np.diff(left[order]) <= 0).all() and (order[rank] == np.arange(9)).all()


def test_the_greatest_remainder_is_that_of_a_patch_where_the_prototype_is_not_stated():
    stated = np.array([[True], [False], [False]])
    order = np.array([0, 2, 1])
    assert most_left(order, stated, 0, -1) == 2
    assert most_left(order, stated, 0, 2) == 1
    assert most_left(order, stated | True, 0, -1) == -1
