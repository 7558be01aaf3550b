"""Margins and similarities against exact rationals."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import flint
import pytest
import torch
from support.small import GEOMETRIES, small_head, small_latents, varied_head

from verale.bounds import LinearMargins, activation, domain_range, margins_of
from verale.head import Euclidean, Head, LogRatio, Maximum, as_patches, evaluate
from verale.rounding import Enclosure


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("predicted", [0, 2])
def test_a_margin_is_below_the_exact_least_difference(geometry, predicted):
    head = small_head(geometry, seed=5)
    whole = activation(head, domain_range(head))
    generator = torch.Generator().manual_seed(0)
    ends = torch.rand(2, 40, head.size, generator=generator, dtype=torch.float64)
    ends = whole.lower + ends * (whole.upper - whole.lower)
    box = Enclosure(ends.amin(0), ends.amax(0))
    found = LinearMargins.of(head, torch.tensor([predicted]), 1).lower(Enclosure(box.lower[None], box.upper[None]))[0]
    weight, bias = head.weight.tolist(), head.bias.tolist()
    for b in range(40):
        for c in range(head.classes):
            if c == predicted:
                assert found[b, c] == torch.inf
                continue
            exact = Fraction(bias[predicted]) - Fraction(bias[c])
            for j in range(head.size):
                d = Fraction(weight[predicted][j]) - Fraction(weight[c][j])
                exact += min(d * Fraction(float(box.lower[b, j])), d * Fraction(float(box.upper[b, j])))
            assert Fraction(float(found[b, c])) <= exact
            assert float(found[b, c]) == pytest.approx(float(exact), abs=1e-10)


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
    ends = torch.rand(2, 20, head.size, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    box = Enclosure(ends.amin(0), ends.amax(0))
    margins = margins_of(head, torch.tensor([1, predicted]), 1).take(torch.tensor([1]))
    found = margins.lower(Enclosure(box.lower[None], box.upper[None]))[0]
    kept = margins.keep(torch.tensor([[1]])).lower(Enclosure(box.lower[None], box.upper[None]))[0]
    assert torch.equal(kept[:, 0], found[:, 1])
    for b in range(20):
        sides = zip(*([Fraction(float(end[b, j])) for end in (box.lower, box.upper)] for j in range(6)), strict=True)
        corners = [logits(head, list(corner)) for corner in product(*zip(*sides, strict=True))]
        for c in range(head.classes):
            if c == predicted:
                assert found[b, c] == torch.inf
                continue
            exact = min(corner[predicted] - corner[c] for corner in corners)
            assert Fraction(float(found[b, c])) <= exact
            assert float(found[b, c]) == pytest.approx(float(exact), abs=1e-12)


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


def test_log_ratio_encloses_and_is_sharp():
    head = Head(torch.ones(2, 1), Euclidean(), LogRatio(1e-4), prototypes=torch.ones(1, 1))
    distances = torch.cat(
        [torch.logspace(-12, 12, 400, dtype=torch.float64), torch.tensor([0.0, 5e-324, 1e300], dtype=torch.float64)]
    )
    found = activation(head, Enclosure.exact(distances))
    with flint.ctx.workprec(4000):
        for d, lower, upper in zip(distances.tolist(), found.lower.tolist(), found.upper.tolist(), strict=True):
            truth = ((flint.arb(d) + 1) / (flint.arb(d) + flint.arb(1e-4))).log()
            assert flint.arb(lower) <= truth <= flint.arb(upper)
            assert upper - lower <= 1e-14 * max(upper, 1e-12)


def test_an_unbounded_distance_leaves_the_least_similarity():
    head = Head(torch.ones(2, 1), Euclidean(), LogRatio(1e-4), prototypes=torch.ones(1, 1))
    found = activation(head, Enclosure(torch.tensor([0.0]).double(), torch.tensor([torch.inf]).double()))
    assert found.lower.item() == 0.0
    assert found.upper.item() == pytest.approx(9.21034, abs=1e-4)
