"""Readouts: logits in exact arithmetic, and what an activation is worth to a rival."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from verale.head import Linear, Maximum, Readout, SoftTree
from verale.head.readout import READOUTS

WEIGHTS = torch.tensor([[0.5, -1.0, 2.0], [1.0, 0.25, -3.0]], dtype=torch.float64)
MEMBERS = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], dtype=torch.float64)
TREE = SoftTree((1, -1), (-2, -3))
"""Node 0: absent, node 1, else leaf 1. Node 1: absent, leaf 0, else leaf 2."""

ACTIVATIONS = torch.tensor([[0.25, 0.5, 0.125], [1.0, 0.0, 0.75]], dtype=torch.float64)


def test_every_readout_is_tested():
    assert set(READOUTS) == {Linear.kind, SoftTree.kind, Maximum.kind}


def test_linear():
    bias = torch.tensor([0.5, 0.0], dtype=torch.float64)
    assert Linear().read_out(ACTIVATIONS, WEIGHTS, None).tolist() == [[-0.125, 0.0], [2.0, -1.25]]
    assert Linear().read_out(ACTIVATIONS, WEIGHTS, bias).tolist() == [[0.375, 0.0], [2.5, -1.25]]
    assert Linear().prototypes(WEIGHTS) == 3


def test_maximum():
    bias = torch.tensor([0.0, -1.0, 0.25], dtype=torch.float64)
    assert Maximum().read_out(ACTIVATIONS, MEMBERS, None).tolist() == [[0.25, 0.5], [1.0, 0.75]]
    assert Maximum().read_out(ACTIVATIONS, MEMBERS, bias).tolist() == [[0.375, 0.375], [1.0, 1.0]]


def test_a_tree():
    assert TREE.prototypes(WEIGHTS) == 2
    logits = TREE.read_out(ACTIVATIONS[:, :2], WEIGHTS, None).tolist()
    for (first, second), numbers in zip(ACTIVATIONS[:, :2].tolist(), logits, strict=True):
        for leaves, number in zip(WEIGHTS.tolist(), numbers, strict=True):
            low, high = (1 - Fraction(first)) * (1 - Fraction(second)), (1 - Fraction(first)) * Fraction(second)
            exact = low * Fraction(leaves[0]) + Fraction(first) * Fraction(leaves[1]) + high * Fraction(leaves[2])
            assert Fraction(number) == exact  # all of these numbers are floats


@pytest.mark.parametrize(("readout", "weight"), [(Linear(), WEIGHTS), (TREE, WEIGHTS), (Maximum(), MEMBERS)], ids=str)
def test_the_pull_is_the_slope(readout: Readout, weight: torch.Tensor):
    """A little more of an activation moves the difference of logits by as much; a maximum is pulled by all members."""
    activations = ACTIVATIONS[0, : readout.prototypes(weight)]
    pull = readout.pull(activations, weight, 1, 0)
    assert pull.shape == activations.shape
    if isinstance(readout, Maximum):
        assert pull.tolist() == [-1.0, 1.0, 0.0]
        return
    for j, slope in enumerate(pull.tolist()):
        moved = activations.clone()
        moved[j] += 2.0**-10
        before, after = (readout.read_out(x[None], weight, None)[0] for x in (activations, moved))
        assert float((after - before)[1] - (after - before)[0]) * 2**10 == pytest.approx(slope, abs=1e-9)
