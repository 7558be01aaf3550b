"""Boxes of activations from boxes of observables: truth inside, both ends attained, and the increments agree."""

from __future__ import annotations

from itertools import product

import flint
import torch
from support.cases import every
from support.exact import PRECISION, pooled
from support.small import FOCAL, GEOMETRIES, VARIED, focal_head, random_ranges, small_head, small_latents, varied_head
from torch import Tensor

from verale.bounds import activation_range, pooling_of
from verale.bounds.means import Focal, TopMean
from verale.head import (
    Euclidean,
    FocalPooling,
    Head,
    Quadratic,
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
