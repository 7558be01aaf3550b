"""Margins of every readout: below the exact least difference, at a corner, and raised by what is wished for."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
import torch
from support.small import small_latents, varied_head

from verale.bounds import activation, domain_range, margins_of
from verale.bounds.readout import _MARGINS
from verale.head import Head, Maximum, as_patches, evaluate
from verale.head.readout import READOUTS
from verale.rounding import Enclosure


def test_every_readout_has_margins():
    assert set(_MARGINS) == {kind.part for kind in READOUTS.values()}


def logits(head: Head, activations: list[Fraction]) -> list[Fraction]:
    """A tree's or a maximum's, exactly."""
    weight = [list(map(Fraction, row)) for row in head.weight.tolist()]
    if isinstance(head.readout, Maximum):
        scores = [a + Fraction(b) for a, b in zip(activations, head.bias.tolist(), strict=True)]
        return [max(s for s, w in zip(scores, row, strict=True) if w) for row in weight]

    def below(child: int, c: int) -> Fraction:
        if child < 0:
            return weight[c][-1 - child]
        a = activations[child]
        return (1 - a) * below(head.readout.absent[child], c) + a * below(head.readout.present[child], c)

    return [below(0, c) for c in range(head.classes)]


@pytest.mark.parametrize("name", ["tree", "exponential tree", "maximum", "cosine maximum"])
@pytest.mark.parametrize("predicted", [0, 2])
def test_margins_of_trees_and_maxima_are_the_least_difference_over_all_corners(name, predicted, monkeypatch):
    """Exact: a tree is affine in every activation, a maximum monotone, so the least difference is at a corner."""
    monkeypatch.setattr("verale.bounds.tree._CHUNK_BYTES", 1000)
    head = varied_head(name, seed=3, prototypes=6)
    ends = torch.rand(2, 8, head.size, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    box = Enclosure(ends.amin(0), ends.amax(0))
    margins = margins_of(head, torch.tensor([1, predicted]), 1).take(torch.tensor([1]))
    bounds = margins.lower(Enclosure(box.lower[None], box.upper[None]))[0]
    kept = margins.keep(torch.tensor([[1]])).lower(Enclosure(box.lower[None], box.upper[None]))[0]
    assert torch.equal(kept[:, 0], bounds[:, 1])
    for b in range(8):
        sides = zip(*([Fraction(float(end[b, j])) for end in (box.lower, box.upper)] for j in range(6)), strict=True)
        corners = [logits(head, list(corner)) for corner in product(*zip(*sides, strict=True))]
        for c in range(head.classes):
            if c == predicted:
                assert bounds[b, c] == torch.inf
                continue
            exact = min(corner[predicted] - corner[c] for corner in corners)
            assert Fraction(float(bounds[b, c])) <= exact
            assert float(bounds[b, c]) == pytest.approx(float(exact), abs=1e-12)


@pytest.mark.parametrize("name", ["tree", "exponential tree", "maximum", "cosine maximum"])
def test_wishes_are_what_helps(name):
    """Knowing the activation that is wished for most raises the margin by what was promised, or nothing can."""
    head = varied_head(name, seed=1)
    actual = evaluate(head, as_patches(small_latents(head, images=6, seed=1))).activations
    predicted = evaluate(head, as_patches(small_latents(head, images=6, seed=1))).predicted
    whole = activation(head, domain_range(head))
    box = Enclosure(whole.lower.expand(6, -1).clone(), whole.upper.expand(6, -1).clone())
    margins = margins_of(head, predicted, 5)
    before = margins.lower(Enclosure(box.lower[:, None], box.upper[:, None]))[:, 0]
    column = before.argmin(1)
    favour, against = margins.wishes(box, actual, column)
    assert ((favour == 0) | (against == 0)).all()
    raised = Enclosure(torch.where(favour > 0, actual, box.lower), torch.where(against > 0, actual, box.upper))
    after = margins.lower(Enclosure(raised.lower[:, None], raised.upper[:, None]))[:, 0]
    each = torch.arange(6)
    assert (after[each, column] > before[each, column]).all()
