"""Statements about masses: chosen and dropped in machine code, from plain arrays."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from support.heaviest import heaviest_left
from support.problems import margins_from_scratch, small_problem, tied_problem

from verale.bounds import Simplex
from verale.search.compiled.assigned import choose_masses, drop_masses, rounded_up
from verale.search.compiled.matching import rivals_of


def chosen(problem, most=math.inf):
    return choose_masses(rivals_of(problem), most)


@pytest.mark.parametrize("seed", range(3))
def test_pairs_entail_the_class_and_some_are_dropped(seed):
    one = small_problem("softmax", seed).take([0])
    image, pairs = rivals_of(one), chosen(one)
    assert (margins_from_scratch(one, Simplex(one.head), [pairs]) > 0).all()
    everything = [(patch, int(k)) for patch, row in enumerate(image.low) for k in np.argsort(row)[2:]]
    assigned = drop_masses(image, everything, [1.0] * len(everything), True)
    assert set(assigned.pairs) < set(everything)
    assert assigned.pairs == sorted(assigned.pairs)


def test_given_up_and_tied():
    assert isinstance(chosen(small_problem("softmax", 0).take([0]), 1.0), int)
    assert chosen(tied_problem(softmax=True)) is None


@pytest.mark.parametrize("missing", [0, 1])
def test_the_others_say_what_the_last_mass_of_a_patch_is(missing):
    """With a single patch, all masses but one say as much as all."""
    one = small_problem("softmax", 0, images=1, patches=1)
    pairs = [(0, k) for k in range(one.head.size - missing)]
    assigned = drop_masses(rivals_of(one), pairs, [1.0] * len(pairs), True)
    assert len(assigned.pairs) < len(pairs) and heaviest_left(one, assigned.pairs).min() > 0


def test_a_head_without_rivals_weights_needs_no_statement():
    one = small_problem("softmax", 0).take([0])
    head = replace(one.head, weight=torch.zeros_like(one.head.weight))
    image = rivals_of(replace(one, head=head))._replace(bias=np.ones(head.classes - 1))
    assigned = drop_masses(image, [(0, 1), (2, 3)], [1.0, 1.0], True)
    assert assigned.pairs == [] and assigned.minimal and assigned.margins.tolist() == [1.0] * (head.classes - 1)


def test_rounded_prices_are_no_less_and_leave_most_of_the_margin():
    generator = np.random.default_rng(1)
    for margin in (1e-6, 0.01, 3.0):
        prices = generator.random(20) * (generator.random(20) < 0.6)
        rounded = rounded_up(prices, margin)
        assert (rounded >= prices).all() and (rounded[prices == 0] == 0).all()
        assert 0 < (rounded - prices).sum() <= margin / 8
    assert (rounded_up(prices, 0.0) == prices).all()
