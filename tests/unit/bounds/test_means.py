"""Poolings with a mean: sums rounded outward, infinite distances, and noise that margins allow for."""

from __future__ import annotations

from dataclasses import replace

import flint
import pytest
import torch
from support.exact import PRECISION, pooled
from support.small import FOCAL, focal_head, random_ranges, varied_head

from verale.bounds import LinearMargins, margins_of, observe, pooling_of
from verale.bounds.means import TopMean, sum_of_others
from verale.bounds.pooling import Max
from verale.head import MaxPooling, TopMeanPooling
from verale.rounding import Enclosure


@pytest.mark.parametrize(("geometry", "kind"), FOCAL)
def test_the_exact_activation_lies_in_the_box_of_its_observables(geometry, kind):
    """Ranges that are points, far apart in size: nothing but rounding separates the ends, and it goes outward."""
    head = focal_head(geometry, kind)
    generator = torch.Generator().manual_seed(1)
    for patches in (1, 2, 7):
        values = torch.rand(5, patches, head.size, generator=generator, dtype=torch.float64)
        if geometry in ("euclidean", "scaled"):
            values = values * 10 ** (20 * torch.rand(values.shape, generator=generator, dtype=torch.float64) - 10)
        box = pooling_of(head).box(Enclosure.exact(values))
        with flint.ctx.workprec(PRECISION):
            for image in range(5):
                for j in range(head.size):
                    truth = pooled(head, [flint.arb(float(m)) for m in values[image, :, j]], j)
                    lower, upper = float(box.lower[image, j]), float(box.upper[image, j])
                    # With one patch, and where a mean is the maximum, the truth is 0, which no ball can show.
                    assert lower == 0 or flint.arb(lower) <= truth
                    assert patches == 1 or truth <= flint.arb(upper)
                    assert upper - lower < 1e-12
        assert patches > 1 or bool((box.lower == 0).all() and (box.upper >= 0).all())


def test_small_distances_that_a_float_sum_loses_are_in_the_mean():
    """Added to 1 one by one, 2^-54 leaves no trace; the mean of 60,000 patches is larger by 30,000 roundings."""
    patches = 60_000
    head = focal_head("euclidean", "max_minus_mean_distance", prototypes=1)
    values = torch.full((1, patches, 1), 2.0**-54, dtype=torch.float64)
    values[:, [0, -1]] = 1.0
    box = pooling_of(head).box(Enclosure.exact(values))
    with flint.ctx.workprec(PRECISION):
        truth = pooled(head, [flint.arb(float(m)) for m in values[0, :, 0]], 0)
        assert flint.arb(float(box.lower)) <= truth <= flint.arb(float(box.upper))


@pytest.mark.parametrize("geometry", ["euclidean", "scaled"])
@pytest.mark.parametrize("kind", ["max_minus_mean", "max_minus_mean_distance"])
def test_unbounded_distances(geometry, kind):
    """Infinity is the limit of ever larger upper ends, whether one patch has it or all."""
    head = focal_head(geometry, kind)
    for infinite in ([0], [1], [0, 1, 2]):
        ranges = random_ranges(head, 1, 3, seed=2)
        upper = ranges.upper.clone()
        upper[:, infinite] = torch.inf
        far = torch.where(upper == torch.inf, 1e30, upper)
        box, limit = (pooling_of(head).box(Enclosure(ranges.lower, end)) for end in (upper, far))
        assert torch.allclose(box.lower, limit.lower, atol=1e-9)
        assert torch.allclose(box.upper, limit.upper, atol=1e-9)
        assert bool(box.upper.isfinite().all())


def test_a_cosine_may_differ_from_the_mean_by_more_than_one():
    """All patches but one opposite to the prototype: the rounding of margins has to allow for 2, not for 1."""
    head = focal_head("cosine", "max_minus_mean", prototypes=90)
    assert head.prototypes is not None
    head = replace(head, domain=replace(head.domain, lower=None))
    own = head.prototypes[:1].double()
    latents = torch.cat([own, -own.expand(19, -1)])
    box = pooling_of(head).box(observe(head, latents)[None])
    assert float(box.upper[0, 0]) == pytest.approx(1.9)
    predicted = torch.tensor([0])
    plain = replace(head, pooling=MaxPooling())
    least = 2 * LinearMargins.of(plain, predicted, 20).error
    assert (margins_of(head, predicted, 20).error[:, 1:] >= least[:, 1:]).all()


def test_the_mean_of_the_single_greatest_is_the_maximum():
    head = varied_head("top mean")
    assert isinstance(pooling_of(head), TopMean)
    one = replace(head, pooling=TopMeanPooling(1))
    assert isinstance(pooling_of(one), Max)
    ranges = random_ranges(head, 2, 4, seed=1)
    box, same = TopMean(one).box(ranges), pooling_of(one).box(ranges)
    assert (box.lower <= same.lower).all() and (same.upper <= box.upper).all()
    assert torch.allclose(box.upper, same.upper, rtol=1e-14)


def test_the_sum_of_the_other_patches_is_infinite_only_where_one_of_them_is():
    values = torch.tensor([[1.0], [torch.inf], [4.0]])
    assert sum_of_others(values).flatten().tolist() == [torch.inf, 5.0, torch.inf]
    assert sum_of_others(values[:1]).tolist() == [[0.0]]


def replaced(ranges, image, patch, rows):
    """(S, L, P) the ranges of images with one patch each replaced."""
    lower, upper = ranges.lower[image], ranges.upper[image]
    each = torch.arange(len(image))
    lower[each, patch], upper[each, patch] = rows.lower, rows.upper
    return Enclosure(lower, upper)


def trials_of(head, patches, seed):
    """Two images, and trials of every patch of both, in no order."""
    ranges, rows = random_ranges(head, 2, patches, seed), random_ranges(head, 1, 6 * patches, seed + 1)[0]
    order = torch.randperm(6 * patches, generator=torch.Generator().manual_seed(seed))
    return ranges, order % 2, order // 2 % patches, rows


HEADS = (*FOCAL, ("top mean", ""))


def alone(head, ranges, image, patch, rows):
    """(S, P) activations with one patch replaced, by what the others give."""
    boxes = [
        pooling_of(head).dropping(ranges[n]).alone(p[None], row[None])
        for n, p, row in zip(image, patch, rows, strict=True)
    ]
    return Enclosure.cat(boxes)


@pytest.mark.parametrize(("geometry", "kind"), HEADS)
@pytest.mark.parametrize("patches", [1, 2, 3, 9])
def test_a_trial_has_the_box_of_all_its_ranges_but_for_rounding(geometry, kind, patches):
    head = focal_head(geometry, kind) if kind else varied_head(geometry)
    pooling = pooling_of(head)
    for seed in range(2):
        ranges, image, patch, rows = trials_of(head, patches, seed)
        box = pooling.box(replaced(ranges, image, patch, rows))
        trial = alone(head, ranges, image, patch, rows)
        assert torch.allclose(trial.lower, box.lower, rtol=0, atol=1e-13)
        assert torch.allclose(trial.upper, box.upper, rtol=0, atol=1e-13)
        one = (image == 0).nonzero()[:, 0]
        together = pooling.dropping(ranges[0]).alone(patch[one], rows[one])
        assert torch.equal(together.lower, trial.lower[one]) and torch.equal(together.upper, trial.upper[one])


@pytest.mark.parametrize(("geometry", "kind"), FOCAL)
def test_a_trial_of_points_holds_the_exact_activation(geometry, kind):
    """Distances far apart in size: what a patch's trials share is no difference of large sums."""
    head = focal_head(geometry, kind)
    generator = torch.Generator().manual_seed(3)
    values = random_ranges(head, 2, 7, seed=3).lower
    rows = random_ranges(head, 1, 30, seed=4).lower[0]
    if geometry in ("euclidean", "scaled"):
        values, rows = (
            each * 10 ** (20 * torch.rand(each.shape, generator=generator, dtype=torch.float64) - 10)
            for each in (values, rows)
        )
    image, patch = torch.arange(30) % 2, torch.arange(30) % 7
    box = alone(head, Enclosure.exact(values), image, patch, Enclosure.exact(rows))
    points = replaced(Enclosure.exact(values), image, patch, Enclosure.exact(rows)).lower
    with flint.ctx.workprec(PRECISION):
        for trial in range(30):
            for j in range(head.size):
                truth = pooled(head, [flint.arb(float(m)) for m in points[trial, :, j]], j)
                lower, upper = float(box.lower[trial, j]), float(box.upper[trial, j])
                assert (lower == 0 or flint.arb(lower) <= truth) and truth <= flint.arb(upper)
                assert upper - lower < 1e-12


@pytest.mark.parametrize("kind", ["max_minus_mean", "max_minus_mean_distance"])
def test_trials_with_unbounded_distances(kind):
    """Infinite in the trial, in another patch, in both, in all."""
    head = focal_head("euclidean", kind)
    for infinite in ([0], [1], [0, 1, 2]):
        ranges, image, patch, rows = trials_of(head, 3, seed=5)
        ranges.upper[:, infinite] = torch.inf
        rows.upper[::2] = torch.inf
        box = pooling_of(head).box(replaced(ranges, image, patch, rows))
        trial = alone(head, ranges, image, patch, rows)
        assert torch.allclose(trial.lower, box.lower, rtol=0, atol=1e-13)
        assert torch.allclose(trial.upper, box.upper, rtol=0, atol=1e-13)
