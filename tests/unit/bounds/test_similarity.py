"""Every similarity of the table: its enclosure holds the truth and is sharp, and its inverse is one."""

from __future__ import annotations

from dataclasses import replace

import flint
import pytest
import torch
from support.cases import every
from support.exact import PRECISION
from support.similarities import CASES, ONE_TENTH, ROWS, Row, head_of, similarity
from torch import Tensor

from verale.bounds import (
    activation,
    dissimilarity,
    domain_range,
    observables_between,
    oriented,
    pooled_activation,
)
from verale.head import Euclidean, Geometry, Head, LogRatio, StepChain
from verale.head.similarity import SIMILARITIES
from verale.rounding import Enclosure

every_similarity = every(("row", "geometry"), CASES)


def test_every_similarity_is_tested():
    known = {kind.part for kind in SIMILARITIES.values()}
    assert {type(row.similarity) for row in ROWS} == known


def observables_of(head: Head, count: int = 3) -> Tensor:
    """(N, P) observables over the domain's range: its ends, zero, tiny ones, the threshold, the peak, and others."""
    whole = domain_range(head)
    share = torch.rand(count, head.size, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    tiny = 10.0 ** -(20 * share)
    some = [*(torch.full((1, head.size), x, dtype=torch.float64) for x in (0.0, 5e-324, ONE_TENTH)), tiny, -tiny]
    some += [] if head.peak is None else [head.peak[None], torch.nextafter(head.peak, head.peak + 1)[None]]
    values = torch.cat([whole.lower + share * (whole.upper - whole.lower), *some, whole.lower[None], whole.upper[None]])
    return torch.maximum(torch.minimum(values.double(), whole.upper), whole.lower)


def assert_holds(box: Enclosure, truth: list[list[flint.arb]], sharp: float | None) -> None:
    """No ball lies certainly outside its interval. At 300 bits only a truth that is itself an end is left undecided."""
    for balls, lowers, uppers in zip(truth, box.lower.tolist(), box.upper.tolist(), strict=True):
        for ball, lower, upper in zip(balls, lowers, uppers, strict=True):
            assert not ball < flint.arb(lower) and not ball > flint.arb(upper)
            assert lower <= upper and float(ball.rad()) <= 1e-60 * max(1e-300, abs(float(ball.mid())))
            assert sharp is None or upper - lower <= sharp * max(1.0, abs(upper))


def balls_of(head: Head, values: Tensor) -> list[list[flint.arb]]:
    return [[similarity(head, flint.arb(m), j) for j, m in enumerate(row)] for row in values.tolist()]


@every_similarity
def test_the_similarity_of_what_is_exact_is_enclosed_sharply(row: Row, geometry: Geometry):
    """Of an observable; and of a dissimilarity, which is exact without scale and peak, so that no rounding of it hides
    the similarity's own."""
    head = head_of(row, geometry)
    plain = replace(head, scale=None, peak=None)
    values = observables_of(head)
    far = dissimilarity(plain, values)
    with flint.ctx.workprec(PRECISION):
        assert_holds(activation(head, Enclosure.exact(values)), balls_of(head, values), sharp=1e-13)
        assert_holds(pooled_activation(plain, far, far), balls_of(plain, values), sharp=1e-13)


@every_similarity
def test_the_similarity_of_every_observable_in_an_interval_is_enclosed(row: Row, geometry: Geometry):
    head = head_of(row, geometry)
    ends = observables_of(head)
    other = ends[torch.randperm(len(ends), generator=torch.Generator().manual_seed(2))]
    ranges = Enclosure(torch.minimum(ends, other), torch.maximum(ends, other))
    box = activation(head, ranges)
    with flint.ctx.workprec(PRECISION):
        for share in (0.0, 0.25, 0.5, 1.0):
            inside = (ranges.lower + share * (ranges.upper - ranges.lower)).clamp(ranges.lower, ranges.upper)
            assert_holds(box, balls_of(head, inside), sharp=None)


@every_similarity
def test_the_greatest_similarity_of_all_patches_is_that_of_the_least_dissimilarity(row: Row, geometry: Geometry):
    head = head_of(row, geometry)
    one = observables_of(head)
    values = torch.stack([one.roll(shift, 0) for shift in range(4)])
    near, far = (end.amin(0) for end in oriented(head, Enclosure.exact(values)))
    assert torch.allclose(near, dissimilarity(head, values).amin(0), rtol=1e-15, atol=1e-300)
    with flint.ctx.workprec(PRECISION):
        balls = balls_of(head, one)
        truth = [[*balls[-shift:], *balls[:-shift]] if shift else balls for shift in range(4)]
        greatest = [
            [max(patches, key=lambda ball: ball.mid()) for patches in zip(*rows, strict=True)]
            for rows in zip(*truth, strict=True)
        ]
        assert_holds(pooled_activation(head, near, far), greatest, sharp=1e-13)


@every_similarity
def test_the_inverse_leads_back(row: Row, geometry: Geometry):
    """An observable lies between those of similarities around its own.

    The observables at the ends comply and those just outside do not. There is no end only where all observables up to
    the domain's end comply.
    """
    head = head_of(row, geometry)
    values, whole = observables_of(head), domain_range(head)
    with flint.ctx.workprec(PRECISION):
        for number, row_of_values in enumerate(values.tolist()):
            for j, m in enumerate(row_of_values):
                here = float(similarity(head, flint.arb(m), j).mid())
                ranges = ((here - 1e-3, here + 1e-3), (-torch.inf, here + 1e-3), (here - 10.0, here + 10.0))
                least, most = ranges[(number + j) % len(ranges)]
                low, high = observables_between(head, j, (least, most), m, flint.arb)
                assert low is None or not low > m
                assert high is None or not high < m
                for end, last, outward in ((low, whole.lower, -1), (high, whole.upper, 1)):
                    at = flint.arb(float(last[j])) if end is None else end
                    assert least - 1e-12 <= float(similarity(head, at, j).mid()) <= most + 1e-12
                    peak = None if head.peak is None else float(head.peak[j])
                    if end is not None and float(end.mid()) != peak:  # beyond the peak lies the other side
                        outside = similarity(head, end + outward * 1e-9, j)
                        assert not (outside >= least and outside <= most)


def test_log_ratio_over_the_whole_range_of_floats():
    head = Head(torch.ones(2, 1), Euclidean(), LogRatio(1e-4), prototypes=torch.ones(1, 1))
    distances = torch.cat(
        [torch.logspace(-12, 12, 400, dtype=torch.float64), torch.tensor([0.0, 5e-324, 1e300], dtype=torch.float64)]
    )
    box = activation(head, Enclosure.exact(distances))
    with flint.ctx.workprec(4000):
        for d, lower, upper in zip(distances.tolist(), box.lower.tolist(), box.upper.tolist(), strict=True):
            truth = ((flint.arb(d) + 1) / (flint.arb(d) + flint.arb(1e-4))).log()
            assert flint.arb(lower) <= truth <= flint.arb(upper)
            assert upper - lower <= 1e-14 * max(upper, 1e-12)


@pytest.mark.parametrize(
    "step",
    [
        {"kind": "log_ratio", "over": 1e300, "under": 1e-300},
        {"kind": "log_ratio", "over": 1e-320, "under": 5e-324},
        {"kind": "log_ratio", "over": 1 + 2**-52, "under": 1.0},
        {"kind": "reciprocal", "number": 5e-324},
    ],
    ids=["beyond floats", "subnormal", "next to each other", "one over subnormal"],
)
def test_steps_with_numbers_at_the_ends_of_floats_are_enclosed(step):
    head = Head(torch.ones(2, 1), Euclidean(), StepChain([step]), prototypes=torch.ones(1, 1))
    distances = torch.tensor([[0.0], [5e-324], [1e-310], [1e-300], [1.0], [1e300], [1.7e308]], dtype=torch.float64)
    box = activation(head, Enclosure.exact(distances))
    with flint.ctx.workprec(4000):
        assert_holds(box, balls_of(head, distances), sharp=None)


@pytest.mark.parametrize("kind", ["log_ratio", "exp_distance", "exponential"])
def test_an_unbounded_distance_has_the_least_similarity(kind: str):
    (row,) = [row for row in ROWS if row.json["kind"] == kind and Euclidean() in row.geometries]
    head = head_of(row, Euclidean())
    nothing, everything = torch.zeros(head.size).double(), torch.full((head.size,), torch.inf).double()
    box = activation(head, Enclosure(nothing, everything))
    assert (box.lower == 0).all()
    assert torch.equal(box.upper, activation(head, Enclosure.exact(nothing)).upper)
