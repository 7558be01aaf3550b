"""Boxes of activations from boxes of observables: truth inside, both ends attained, and the increments agree."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import flint
import pytest
import torch
from support.cases import every
from support.exact import PRECISION, pooled
from support.small import FOCAL, GEOMETRIES, VARIED, focal_head, random_ranges, small_head, small_latents, varied_head
from torch import Tensor

from verale.bounds import LinearMargins, activation_range, margins_of, observe, pooling_of
from verale.bounds.observables import sum_of_others
from verale.bounds.pooling import Focal, Max, TopMean
from verale.head import (
    Euclidean,
    FocalPooling,
    Head,
    MaxPooling,
    Quadratic,
    TopMeanPooling,
    as_patches,
    evaluate,
)
from verale.head.head import similarity
from verale.rounding import Enclosure

HEADS = [(geometry, "max") for geometry in GEOMETRIES] + list(FOCAL) + [(name, "varied") for name in VARIED]


def head_of(geometry: str, kind: str, **sizes: int) -> Head:
    if kind == "varied":
        return varied_head(geometry, **sizes)
    return small_head(geometry, **sizes) if kind == "max" else focal_head(geometry, kind, **sizes)


def activation_of(head: Head, values: Tensor) -> Tensor:
    """(N, P) activations of observables (N, L, P), in float64; tests/unit/head compares these with exact formulas."""
    return head.pooling.pool(values, lambda m: similarity(head, m))


def critical_points(head: Head, ranges: Enclosure) -> Tensor:
    """(K, L, P): every combination of values where a minimum, a maximum or a clamp can move."""
    patches = ranges.shape[0]
    ends = torch.cat([ranges.lower, ranges.upper])
    if isinstance(head.similarity, Quadratic):
        peak = torch.zeros(head.size) if head.peak is None else head.peak
        ends = torch.cat([ends, peak.double()[None]])
    choices = [torch.maximum(torch.minimum(ends, ranges.upper[n]), ranges.lower[n]) for n in range(patches)]
    everywhere = product(range(len(ends)), repeat=patches)
    return torch.stack([torch.stack([choices[n][at] for n, at in enumerate(chosen)]) for chosen in everywhere])


@every(("geometry", "kind"), HEADS)
@every("patches", [1, 2, 3])
def test_boxes_hold_every_point_and_their_ends_are_attained(geometry, kind, patches):
    head = head_of(geometry, kind)
    patches = max(patches, head.pooling.least_patches)
    pooling = pooling_of(head)
    generator = torch.Generator().manual_seed(3)
    for seed in range(2):
        ranges = random_ranges(head, 1, patches, seed)
        box = pooling.box(ranges)[0]
        inside = torch.rand(2000, patches, head.size, generator=generator, dtype=torch.float64)
        within = ranges[0].lower + inside * (ranges[0].upper - ranges[0].lower)
        reached = activation_of(head, torch.cat([critical_points(head, ranges[0]), within]))
        assert (reached >= box.lower - 1e-12).all() and (reached <= box.upper + 1e-12).all()
        assert (reached.amin(0) - box.lower).max() < 1e-6
        assert (box.upper - reached.amax(0)).max() < 1e-6
        assert not isinstance(head.pooling, FocalPooling) or (box.lower >= 0).all()


@every("name", VARIED)
def test_the_exact_activation_of_a_varied_head_lies_in_the_box_of_its_observables(name):
    """Ranges that are points: nothing but rounding separates the ends, and it goes outward."""
    head = varied_head(name)
    generator = torch.Generator().manual_seed(1)
    for patches in (2, 4):
        values = random_ranges(head, 4, patches, seed=patches).lower
        if isinstance(head.geometry, Euclidean):
            values = values * 10 ** (-20 * torch.rand(values.shape, generator=generator, dtype=torch.float64))
        box = pooling_of(head).box(Enclosure.exact(values))
        with flint.ctx.workprec(PRECISION):
            for image in range(4):
                for j in range(head.size):
                    truth = pooled(head, [flint.arb(float(m)) for m in values[image, :, j]], j)
                    lower, upper = float(box.lower[image, j]), float(box.upper[image, j])
                    # What is exact, a threshold or a maximum of numbers, no ball can show to be at most itself.
                    assert flint.arb(lower) <= truth or lower == float(truth)
                    assert truth <= flint.arb(upper) or upper == float(truth)
                    assert upper - lower < 1e-12


@every(("geometry", "kind"), HEADS)
def test_replacing_patches_gives_the_box_of_all(geometry, kind):
    head = head_of(geometry, kind)
    pooling = pooling_of(head)
    ranges, rows = random_ranges(head, 1, 4, seed=5)[0], random_ranges(head, 1, 9, seed=6)[0]
    dropping = pooling.dropping(ranges)
    index = torch.tensor([0, 3, 1, 2, 2, 1, 2, 0, 3])
    alone = dropping.alone(index, rows)
    for row, patch in enumerate(index.tolist()):
        assert_trial(head, alone[row], pooling.box(replaced(ranges, [patch], rows[[row]])))
    different = torch.tensor([2, 0, 3])
    dropping.replace(different[:2], rows[:2])
    expected = pooling.box(replaced(ranges, [2, 0, 1], rows[:3]))
    assert_trial(head, dropping.alone(torch.tensor([1]), rows[2:3])[0], expected)


def replaced(ranges: Enclosure, patches: list[int], rows: Enclosure) -> Enclosure:
    lower, upper = ranges.lower.clone(), ranges.upper.clone()
    lower[patches], upper[patches] = rows.lower, rows.upper
    return Enclosure(lower, upper)


def assert_trial(head: Head, box: Enclosure, expected: Enclosure) -> None:
    """Where the mean matters, a trial adds what its patches share in another order."""
    if isinstance(pooling_of(head), Focal | TopMean):
        assert torch.allclose(box.lower, expected.lower, rtol=0, atol=1e-13)
        assert torch.allclose(box.upper, expected.upper, rtol=0, atol=1e-13)
    else:
        assert_equal(box, expected)


def assert_equal(box: Enclosure, expected: Enclosure) -> None:
    assert torch.equal(box.lower, expected.lower)
    assert torch.equal(box.upper, expected.upper)


@every(("geometry", "kind"), HEADS)
def test_the_range_over_the_domain_holds_every_image(geometry, kind):
    head = head_of(geometry, kind)
    for patches in {max(patches, head.pooling.least_patches) for patches in (1, 2, 9)}:
        whole = activation_range(head, patches)
        values = evaluate(head, as_patches(small_latents(head, images=200, patches=patches))).activations
        assert (values >= whole.lower - 1e-9).all() and (values <= whole.upper + 1e-9).all()
        assert not isinstance(head.pooling, FocalPooling) or bool((whole.lower == 0).all())


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


def replaced_of_means(ranges, image, patch, rows):
    """(S, L, P) the ranges of images with one patch each replaced_of_means."""
    lower, upper = ranges.lower[image], ranges.upper[image]
    each = torch.arange(len(image))
    lower[each, patch], upper[each, patch] = rows.lower, rows.upper
    return Enclosure(lower, upper)


def trials_of(head, patches, seed):
    """Two images, and trials of every patch of both, in no order."""
    ranges, rows = random_ranges(head, 2, patches, seed), random_ranges(head, 1, 6 * patches, seed + 1)[0]
    order = torch.randperm(6 * patches, generator=torch.Generator().manual_seed(seed))
    return ranges, order % 2, order // 2 % patches, rows


HEADS_OF_MEANS = (*FOCAL, ("top mean", ""))


def alone(head, ranges, image, patch, rows):
    """(S, P) activations with one patch replaced_of_means, by what the others give."""
    boxes = [
        pooling_of(head).dropping(ranges[n]).alone(p[None], row[None])
        for n, p, row in zip(image, patch, rows, strict=True)
    ]
    return Enclosure.cat(boxes)


@pytest.mark.parametrize(("geometry", "kind"), HEADS_OF_MEANS)
@pytest.mark.parametrize("patches", [1, 2, 3, 9])
def test_a_trial_has_the_box_of_all_its_ranges_but_for_rounding(geometry, kind, patches):
    head = focal_head(geometry, kind) if kind else varied_head(geometry)
    pooling = pooling_of(head)
    for seed in range(2):
        ranges, image, patch, rows = trials_of(head, patches, seed)
        box = pooling.box(replaced_of_means(ranges, image, patch, rows))
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
    points = replaced_of_means(Enclosure.exact(values), image, patch, Enclosure.exact(rows)).lower
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
        box = pooling_of(head).box(replaced_of_means(ranges, image, patch, rows))
        trial = alone(head, ranges, image, patch, rows)
        assert torch.allclose(trial.lower, box.lower, rtol=0, atol=1e-13)
        assert torch.allclose(trial.upper, box.upper, rtol=0, atol=1e-13)
