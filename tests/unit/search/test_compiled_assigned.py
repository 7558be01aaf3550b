"""Statements about masses: chosen and dropped in machine code, from plain arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.problems import margins_from_scratch, small_problem, tied_problem

from verale.bounds import Simplex
from verale.search.compiled.assigned import choose_masses, drop_masses
from verale.search.prices import Rivals


def chosen(problem, most=math.inf):
    image = Rivals.of(problem)
    return choose_masses(image.mass, image.weights, image.bias, most)


@pytest.mark.parametrize("seed", range(3))
def test_pairs_entail_the_class_and_some_are_dropped(seed):
    one = small_problem("softmax", seed).take([0])
    image, pairs = Rivals.of(one), chosen(one)
    assert (margins_from_scratch(one, Simplex(one.head), [pairs]) > 0).all()
    everything = [(patch, int(k)) for patch, row in enumerate(image.mass) for k in np.argsort(row)[2:]]
    assigned = drop_masses(image.mass, image.weights, image.bias, image.noise, everything)
    assert assigned is not None and set(assigned.pairs) < set(everything)
    assert assigned.pairs == sorted(assigned.pairs)


def test_given_up_and_tied():
    assert isinstance(chosen(small_problem("softmax", 0).take([0]), 1.0), int)
    assert chosen(tied_problem(softmax=True)) is None


def test_patches_whose_last_mass_the_others_determine_are_left_to_the_other_search():
    one = small_problem("softmax", 0).take([0])
    image = Rivals.of(one)
    for missing in (0, 1):
        pairs = [(1, k) for k in range(one.head.size - missing)]
        assert drop_masses(image.mass, image.weights, image.bias, image.noise, pairs) is None


def test_a_head_without_rivals_weights_needs_no_statement():
    assigned = drop_masses(np.full((3, 4), 0.25), np.zeros((2, 4)), np.ones(2), np.full(2, 1e-9), [(0, 1), (2, 3)])
    assert assigned is not None and assigned.pairs == [] and assigned.minimal
    assert assigned.margins.tolist() == [1.0, 1.0]
