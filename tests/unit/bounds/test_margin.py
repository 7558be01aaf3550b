"""Margins of every readout: below the exact least difference, and at a corner."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import torch
from support.small import GEOMETRIES, small_head, varied_head

from verale.bounds import LinearMargins, activation, domain_range
from verale.bounds.margin import _MARGINS, MaximumMargins, TreeMargins, _levels
from verale.head import Box, Cosine, Head, Identity, Maximum, SoftTree
from verale.head.readout import READOUTS
from verale.rounding import Enclosure


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("predicted", [0, 2])
def test_a_margin_is_below_the_exact_least_difference_and_what_others_take_above_the_most(geometry, predicted):
    head = small_head(geometry, seed=5)
    whole = activation(head, domain_range(head))
    generator = torch.Generator().manual_seed(0)
    ends = torch.rand(2, 30, head.size, generator=generator, dtype=torch.float64)
    ends = whole.lower + ends * (whole.upper - whole.lower)
    box, others = Enclosure(ends.amin(0), ends.amax(0)), range(1, head.size, 2)
    margins = LinearMargins.of(head, torch.tensor([predicted]), 1)
    bounds = margins.lower(Enclosure(box.lower[None], box.upper[None]))[0].tolist()
    weight, bias = ([[*map(Fraction, row)] for row in rows] for rows in (head.weight.tolist(), [head.bias.tolist()]))
    for b in range(30):
        taken = margins.taken_back(box[[b]], torch.arange(head.size)[None] % 2 == 0)[0].tolist()
        low, high = (list(map(Fraction, end[b].tolist())) for end in (box.lower, box.upper))
        for c in range(head.classes):
            if c == predicted:
                assert bounds[b][c] == torch.inf and taken[c] == -torch.inf
                continue
            apart = [own - other for own, other in zip(weight[predicted], weight[c], strict=True)]
            terms = [min(d * a, d * z) for d, a, z in zip(apart, low, high, strict=True)]
            least, most = bias[0][predicted] - bias[0][c] + sum(terms), -sum(terms[j] for j in others)
            assert Fraction(bounds[b][c]) <= least and bounds[b][c] == pytest.approx(float(least), abs=1e-10)
            assert Fraction(taken[c]) >= most and taken[c] == pytest.approx(float(most), abs=1e-10)


def mixture(weight: list[list[int]], bias: list[float] | None = None) -> Head:
    return Head(
        torch.tensor(weight, dtype=torch.float64),
        Cosine(1e-8),
        Identity(),
        prototypes=torch.eye(len(weight[0])),
        bias=None if bias is None else torch.tensor(bias),
        domain=Box(0, 1),
        readout=Maximum(),
    )


def lower(head: Head, predicted: int, least: list[float], most: list[float]) -> list[float]:
    box = Enclosure(torch.tensor([[least]], dtype=torch.float64), torch.tensor([[most]], dtype=torch.float64))
    bounds: list[float] = MaximumMargins.of(head, torch.tensor([predicted]), 1).lower(box)[0, 0].tolist()
    return bounds


def test_classes_of_different_sizes():
    """The class with one prototype is not helped by the padding of the table."""
    head = mixture([[1, 0, 0, 0], [0, 1, 1, 1]])
    least, most = [0.5, 0.1, 0.2, 0.3], [0.9, 0.2, 0.25, 0.75]
    bounds = lower(head, 0, least, most)
    assert bounds[0] == torch.inf and bounds[1] <= -0.25 and bounds[1] == pytest.approx(-0.25, abs=1e-15)
    assert lower(head, 1, least, most)[0] == pytest.approx(0.3 - 0.9, abs=1e-15)


def test_the_bias_moves_each_prototype():
    head = mixture([[1, 1, 0], [0, 0, 1]], [0.5, 0.0, 0.25])
    assert lower(head, 0, [0.25, 0.5, 0.0], [1, 1, 0.5])[1] == pytest.approx(0.75 - 0.75, abs=1e-15)


def test_a_prototype_of_both_classes_may_help_the_rival():
    """It is bounded from each side apart: sound, and not exact."""
    head = mixture([[1, 1, 0], [0, 1, 1]])
    assert lower(head, 0, [0.2, 0.4, 0.0], [0.3, 0.9, 0.1])[1] == pytest.approx(0.4 - 0.9, abs=1e-15)


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


def test_every_readout_has_margins():
    assert set(_MARGINS) == {kind.part for kind in READOUTS.values()}
