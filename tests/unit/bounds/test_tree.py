"""Trees: levels from the leaves up, and the least difference at an end of each activation."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import torch
from support.small import varied_head

from verale.bounds.margin import TreeMargins, _levels
from verale.head import SoftTree
from verale.rounding import Enclosure


def of(*ends: float) -> torch.Tensor:
    return torch.tensor([[ends]], dtype=torch.float64)


def one_node(bias_of_leaf: float):
    """A head with one prototype: class 0 takes the leaf `absent`, class 1 the leaf `present`."""
    head = varied_head("tree", prototypes=1, classes=2)
    return replace(
        head, weight=torch.tensor([[1.0, bias_of_leaf], [0.0, 1.0]]), readout=SoftTree((-1,), (-2,)), bias=None
    )


def test_one_node_is_least_at_an_end():
    margins = TreeMargins.of(one_node(0.25), torch.tensor([0]), 1)
    bound = margins.lower(Enclosure(of(0.125), of(0.5)))[0, 0]
    assert bound[0] == torch.inf
    exact = Fraction(1, 2) * 1 + Fraction(1, 2) * Fraction(-3, 4)  # at s = 1/2
    assert Fraction(float(bound[1])) <= exact and float(bound[1]) == pytest.approx(float(exact), abs=1e-14)


def test_activations_beyond_0_and_1_are_cut():
    """Rounding may put a box's ends outside; the difference at a leaf is then the bound."""
    margins = TreeMargins.of(one_node(0.25), torch.tensor([0]), 1)
    bound = float(margins.lower(Enclosure(of(-3.0), of(7.0)))[0, 0, 1])
    assert bound <= -0.75 and bound == pytest.approx(-0.75, abs=1e-14)


def test_children_lie_on_lower_levels():
    tree = SoftTree((1, -1, -2), (2, -3, -4))
    levels = _levels(tree)
    assert [level.nodes.tolist() for level in levels] == [[1, 2], [0]]
    assert [level.absent.tolist() for level in levels] == [[3, 4], [1]]  # leaves follow the nodes
    chain = SoftTree((1, 2, -1), (-2, -3, -4))
    assert [level.nodes.tolist() for level in _levels(chain)] == [[2], [1], [0]]


def test_of_no_box_there_is_no_bound():
    """As where an explanation has clauses alone, and boxes without one statement about an activation are asked for."""
    margins = TreeMargins.of(one_node(0.25), torch.tensor([0]), 1)
    none = torch.zeros(1, 0, 1, dtype=torch.float64)
    assert margins.lower(Enclosure(none, none)).shape == (1, 0, 2)
