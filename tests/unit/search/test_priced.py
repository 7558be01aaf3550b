"""Prices: what the ends of a box are worth, against margins computed from both boxes."""

from __future__ import annotations

import pytest
import torch
from support.small import GEOMETRIES, small_head, small_latents, varied_head

from verale.bounds import Joint
from verale.errors import UsageError
from verale.head import as_patches, evaluate
from verale.rounding import Enclosure
from verale.search.smallest import has_prices, priced_margins

PATCHES = 5


def box_around_an_image(margins, head, seed: int, patches: int = 1) -> Enclosure:
    """Ends around the numbers of one image, some free."""
    drawn = torch.Generator().manual_seed(seed)
    numbers = margins.observed(as_patches(small_latents(head, images=1, patches=patches, seed=seed)))[0]
    free = torch.rand(2, head.size, generator=drawn) < 0.3
    return Enclosure(
        (numbers.lower - 0.01).masked_fill(free[0], -torch.inf), (numbers.upper + 0.01).masked_fill(free[1], torch.inf)
    )


def moved(box: Enclosure, seed: int) -> tuple[Enclosure, torch.Tensor]:
    """A wider box, and how far each end has moved, (2, P)."""
    moves = torch.rand(2, len(box.lower), generator=torch.Generator().manual_seed(seed), dtype=torch.float64) / 10
    return Enclosure(box.lower - moves[0], box.upper + moves[1]), moves


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("seed", range(2))
def test_a_margin_falls_by_no_more_than_the_prices_say(geometry, seed):
    head = small_head(geometry, seed)
    for predicted in range(head.classes):
        margins = priced_margins("top_k", head, predicted, PATCHES)
        box = box_around_an_image(margins, head, seed, PATCHES)
        prices = margins.prices(box)
        assert (prices.lower >= 0).all() and (prices.upper >= 0).all()
        assert prices.margins[predicted] == torch.inf
        wider, moves = moved(box, seed)
        left = prices.margins - prices.lower @ moves[0] - prices.upper @ moves[1]
        assert (margins.proved(wider) >= left - margins.noise).all()


@pytest.mark.parametrize("name", ["negated", "inner product"])
@pytest.mark.parametrize("seed", range(2))
def test_with_the_weights_that_are_prices_a_joint_margin_falls_by_no_more(name, seed):
    """Where a search starts again it may end at other weights, which prove less: how near it comes to the best ones is
    what `test_ascent.py` asks."""
    head, joint = varied_head(name, seed), Joint(varied_head(name, seed))
    for predicted in range(head.classes):
        margins, of_class = priced_margins("joint", head, predicted, 1), torch.tensor([predicted])
        box = box_around_an_image(margins, head, seed)
        prices = margins.prices(box)
        assert (prices.lower >= 0).all() and (prices.upper >= 0).all()
        assert prices.margins[predicted] == torch.inf
        weights = joint.margins(of_class, box.lower[None], box.upper[None]).weights
        assert torch.equal(prices.lower - prices.upper, weights[0, :, : head.size])
        wider, moves = moved(box, seed)
        left = prices.margins - prices.lower @ moves[0] - prices.upper @ moves[1]
        proved = joint.proved(of_class, wider.lower[None], wider.upper[None], weights)[0]
        assert (proved >= left - margins.noise).all()


def test_one_end_alone_costs_its_price():
    head = small_head("cosine", 1)
    margins = priced_margins("top_k", head, 0, PATCHES)
    middle, width = (margins.range.lower + margins.range.upper) / 2, margins.range.upper - margins.range.lower
    box = Enclosure(middle - width / 8, middle + width / 8)
    prices = margins.prices(box)
    moved = box.lower.clone()
    moved[3] -= width[3] / 16
    lost = prices.margins[1:] - margins.proved(Enclosure(moved, box.upper))[1:]
    assert prices.lower[1:, 3].amax() > 0
    torch.testing.assert_close(lost, prices.lower[1:, 3] * width[3] / 16)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_margins_and_numbers_are_those_of_the_head(geometry):
    head = small_head(geometry, 2)
    images = as_patches(small_latents(head))
    done = evaluate(head, images)
    for image, predicted in enumerate(done.predicted.tolist()):
        margins = priced_margins("sparse" if geometry == "softmax" else "top_k", head, predicted, PATCHES)
        numbers = margins.observed(images)[image]
        assert (numbers.lower <= done.activations[image] + 1e-9).all()
        assert (numbers.upper >= done.activations[image] - 1e-9).all()
        proved = margins.proved(numbers)
        rivals = proved.isfinite()
        actual = done.logits[image, predicted] - done.logits[image]
        torch.testing.assert_close(proved[rivals], actual[rivals], atol=1e-6, rtol=0)


def test_what_has_no_prices_is_refused():
    with pytest.raises(UsageError, match="paradigm is 'projection', expected one of joint, sparse"):
        priced_margins("projection", small_head("euclidean"), 0, PATCHES)
    with pytest.raises(UsageError, match="expected a linear one"):
        priced_margins("top_k", varied_head("tree"), 0, PATCHES)
    assert has_prices("top_k", small_head("euclidean"))
    assert not has_prices("top_k", varied_head("maximum"))
    assert not has_prices("projection", small_head("euclidean"))
