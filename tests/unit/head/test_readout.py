"""Readouts: logits in exact arithmetic, and what an activation is worth to a rival."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from verale.errors import HeadError
from verale.head import (
    Box,
    Euclidean,
    FocalPooling,
    Head,
    Linear,
    LogRatio,
    Maximum,
    Readout,
    SoftTree,
    evaluate,
    merge_slots,
)
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


def test_maximum():
    bias = torch.tensor([0.0, -1.0, 0.25], dtype=torch.float64)
    assert Maximum().read_out(ACTIVATIONS, MEMBERS, None).tolist() == [[0.25, 0.5], [1.0, 0.75]]
    assert Maximum().read_out(ACTIVATIONS, MEMBERS, bias).tolist() == [[0.375, 0.375], [1.0, 1.0]]


def test_a_tree():
    logits = TREE.read_out(ACTIVATIONS[:, :2], WEIGHTS, None).tolist()
    for (first, second), numbers in zip(ACTIVATIONS[:, :2].tolist(), logits, strict=True):
        for leaves, number in zip(WEIGHTS.tolist(), numbers, strict=True):
            low, high = (1 - Fraction(first)) * (1 - Fraction(second)), (1 - Fraction(first)) * Fraction(second)
            exact = low * Fraction(leaves[0]) + Fraction(first) * Fraction(leaves[1]) + high * Fraction(leaves[2])
            assert Fraction(number) == exact  # all of these numbers are floats


@pytest.mark.parametrize(("readout", "weight"), [(Linear(), WEIGHTS), (TREE, WEIGHTS), (Maximum(), MEMBERS)], ids=str)
def test_the_pull_is_the_slope(readout: Readout, weight: torch.Tensor):
    """A little more of an activation moves the difference of logits by as much; a maximum is pulled by all members."""
    activations = ACTIVATIONS[0, : 2 if readout is TREE else 3]
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


# ProtoPool's slots, folded into the weights: the same logits as ProtoPool's own order of operations.


CLASSES, PROTOTYPES, SLOTS = 4, 7, 3


def one_hot(generator: torch.Generator) -> torch.Tensor:
    """(C, P, S); slots of one class and of different classes share prototypes."""
    shown = torch.randint(PROTOTYPES - 1, (CLASSES, SLOTS), generator=generator)
    return torch.nn.functional.one_hot(shown, PROTOTYPES).transpose(1, 2).float()


def test_the_merged_head_computes_what_protopool_computes():
    """docs/heads.md, section 5: distances are distributed to slots, then become similarities, then are subtracted."""
    generator = torch.Generator().manual_seed(0)
    slots = one_hot(generator)
    weight = torch.randn(CLASSES, CLASSES * SLOTS, generator=generator)
    prototypes = torch.rand(PROTOTYPES, 5, generator=generator)
    latents = torch.rand(6, 9, 5, generator=generator, dtype=torch.float64)

    squared = torch.cdist(latents, prototypes.double()) ** 2
    nearest, mean = squared.min(1).values, squared.mean(1)

    def similarity(d: torch.Tensor) -> torch.Tensor:
        return torch.log((d + 1) / (d + 1e-4))

    least, average = (torch.einsum("bp,cps->bcs", d, slots.double()) for d in (nearest, mean))
    expected = (similarity(least) - similarity(average)).flatten(1) @ weight.double().T

    head = Head(
        merge_slots(weight, slots),
        Euclidean(),
        LogRatio(1e-4),
        prototypes=prototypes,
        domain=Box(0, 1),
        pooling=FocalPooling("max_minus_mean_distance"),
    )
    assert torch.allclose(evaluate(head, latents).logits, expected, rtol=1e-9, atol=0)


def test_weights_of_slots_that_show_one_prototype_are_added():
    slots = torch.zeros(2, 3, 2)
    slots[0, 1, 0] = slots[0, 1, 1] = slots[1, 1, 0] = slots[1, 0, 1] = 1
    merged = merge_slots(torch.tensor([[1.0, 2.0, 4.0, 8.0], [0.5, 0.25, -1.0, 3.0]]), slots)
    assert merged.dtype == torch.float64
    assert merged.tolist() == [[8.0, 7.0, 0.0], [3.0, -0.25, 0.0]]


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0 - 2.0**-24, 2.0, -1.0, torch.nan])
def test_a_slot_that_does_not_show_one_prototype_is_refused(value):
    slots = one_hot(torch.Generator().manual_seed(1))
    shown = int(slots[2, :, 1].argmax())
    slots[2, shown, 1] = value
    with pytest.raises(HeadError, match="class 2, slot 1 does not show exactly one prototype"):
        merge_slots(torch.ones(2, CLASSES * SLOTS), slots)


def test_shapes_that_do_not_fit_are_refused():
    slots = one_hot(torch.Generator().manual_seed(1))
    for weight, given in ((torch.ones(2, 5), slots), (torch.ones(12), slots), (torch.ones(2, 12), slots[0])):
        with pytest.raises(HeadError, match="expected \\(K, P, S\\)"):
            merge_slots(weight, given)
