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
    ranges = random_ranges(head, 1, patches, seed=patches)
    box = pooling.box(ranges)[0]
    inside = torch.rand(200, patches, head.size, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    within = ranges[0].lower + inside * (ranges[0].upper - ranges[0].lower)
    reached = activation_of(head, torch.cat([critical_points(head, ranges[0]), within]))
    assert (reached >= box.lower - 1e-12).all() and (reached <= box.upper + 1e-12).all()
    assert (reached.amin(0) - box.lower).max() < 1e-6
    assert (box.upper - reached.amax(0)).max() < 1e-6
    assert not isinstance(head.pooling, FocalPooling) or (box.lower >= 0).all()


def require_exact(head: Head, box: Enclosure, values: Tensor) -> None:
    """The exact activations (N, P) of observables (N, L, P) lie in the box, which is narrow."""
    is_focal = isinstance(head.pooling, FocalPooling)
    with flint.ctx.workprec(PRECISION):
        for row, points in enumerate(values):
            for j in range(head.size):
                truth = pooled(head, [flint.arb(float(m)) for m in points[:, j]], j)
                lower, upper = float(box.lower[row, j]), float(box.upper[row, j])
                # What is exact, a threshold, a maximum or a difference of 0, no ball can show to be at most itself.
                assert flint.arb(lower) <= truth or lower == float(truth) or (is_focal and lower == 0)
                assert truth <= flint.arb(upper) or upper == float(truth) or (is_focal and len(points) == 1)
                assert upper - lower < (1e-12 + 1e-15 * len(points)) * max(1, abs(upper))
    if is_focal and values.shape[1] == 1:
        assert bool((box.lower == 0).all() and (box.upper >= 0).all())


def far_apart(head: Head, values: Tensor, seed: int) -> Tensor:
    """Distances (...) far apart in size."""
    if not isinstance(head.geometry, Euclidean):
        return values
    generator = torch.Generator().manual_seed(seed)
    return values * 10 ** (20 * torch.rand(values.shape, generator=generator, dtype=torch.float64) - 10)


@every(("geometry", "kind"), [*FOCAL, *((name, "varied") for name in VARIED)])
def test_the_exact_activation_lies_in_the_box_of_its_observables(geometry, kind):
    """Ranges that are points: nothing but rounding separates the ends, and it goes outward."""
    head = head_of(geometry, kind)
    for patches in {max(patches, head.pooling.least_patches) for patches in (1, 2, 7)}:
        values = far_apart(head, random_ranges(head, 2, patches, seed=patches).lower, seed=1)
        require_exact(head, pooling_of(head).box(Enclosure.exact(values)), values)


def replaced(ranges: Enclosure, patches: Tensor, rows: Enclosure) -> Enclosure:
    """(S, L, P) the ranges (L, P), each with that of one patch replaced by a row."""
    lower, upper = (end.repeat(len(patches), 1, 1) for end in (ranges.lower, ranges.upper))
    each = torch.arange(len(patches))
    lower[each, patches], upper[each, patches] = rows.lower, rows.upper
    return Enclosure(lower, upper)


def require_alike(head: Head, box: Enclosure, expected: Enclosure) -> None:
    """Where the mean matters, a trial adds what its patches share in another order."""
    off = 1e-13 if isinstance(pooling_of(head), Focal | TopMean) else 0.0
    assert torch.allclose(box.lower, expected.lower, rtol=0, atol=off)
    assert torch.allclose(box.upper, expected.upper, rtol=0, atol=off)


@every(("geometry", "kind"), HEADS)
@every("patches", [1, 2, 3, 9])
def test_replacing_patches_gives_the_box_of_all(geometry, kind, patches):
    head = head_of(geometry, kind)
    if patches < head.pooling.least_patches:
        return
    pooling = pooling_of(head)
    ranges, rows = random_ranges(head, 1, patches, patches)[0], random_ranges(head, 1, 4 * patches, patches + 1)[0]
    index = torch.randperm(4 * patches, generator=torch.Generator().manual_seed(patches)) % patches
    dropping = pooling.dropping(ranges)
    trial = dropping.alone(index, rows)
    require_alike(head, trial, pooling.box(replaced(ranges, index, rows)))
    one = dropping.alone(index[-1:], rows[-1:])
    assert torch.equal(one.lower[0], trial.lower[-1]) and torch.equal(one.upper[0], trial.upper[-1])
    different = torch.arange(min(2, patches))
    dropping.replace(different, rows[different])
    ranges.lower[different], ranges.upper[different] = rows.lower[different], rows.upper[different]
    require_alike(head, dropping.alone(index, rows), pooling.box(replaced(ranges, index, rows)))


@every(("geometry", "kind"), HEADS)
def test_the_range_over_the_domain_holds_every_image(geometry, kind):
    head = head_of(geometry, kind)
    for patches in {max(patches, head.pooling.least_patches) for patches in (1, 2, 9)}:
        whole = activation_range(head, patches)
        values = evaluate(head, as_patches(small_latents(head, images=50, patches=patches))).activations
        assert (values >= whole.lower - 1e-9).all() and (values <= whole.upper + 1e-9).all()
        assert not isinstance(head.pooling, FocalPooling) or bool((whole.lower == 0).all())


def test_small_distances_that_a_float_sum_loses_are_in_the_mean():
    """Added to 1 one by one, 2^-54 leaves no trace; the mean of 60,000 patches is larger by 30,000 roundings."""
    patches = 60_000
    head = focal_head("euclidean", "max_minus_mean_distance", prototypes=1)
    values = torch.full((1, patches, 1), 2.0**-54, dtype=torch.float64)
    values[:, [0, -1]] = 1.0
    box = pooling_of(head).box(Enclosure.exact(values))
    require_exact(head, box, values)


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


@pytest.mark.parametrize(("geometry", "kind"), FOCAL)
def test_a_trial_of_points_holds_the_exact_activation(geometry, kind):
    """What a patch's trials share is no difference of large sums."""
    head, patch = focal_head(geometry, kind), torch.arange(21) % 7
    values = far_apart(head, random_ranges(head, 1, 7, seed=3).lower[0], 3)
    rows = far_apart(head, random_ranges(head, 1, 21, seed=4).lower[0], 4)
    box = pooling_of(head).dropping(Enclosure.exact(values)).alone(patch, Enclosure.exact(rows))
    require_exact(head, box, replaced(Enclosure.exact(values), patch, Enclosure.exact(rows)).lower)


@pytest.mark.parametrize("kind", ["max_minus_mean", "max_minus_mean_distance"])
@pytest.mark.parametrize("infinite", [[0], [1], [0, 1, 2]])
def test_trials_with_unbounded_distances(kind, infinite):
    """Infinite in the trial, in another patch, in both, in all."""
    head = focal_head("euclidean", kind)
    ranges, rows = random_ranges(head, 1, 3, seed=5)[0], random_ranges(head, 1, 18, seed=6)[0]
    ranges.upper[infinite] = torch.inf
    rows.upper[::2] = torch.inf
    patch = torch.arange(18) % 3
    trial = pooling_of(head).dropping(ranges).alone(patch, rows)
    require_alike(head, trial, pooling_of(head).box(replaced(ranges, patch, rows)))
