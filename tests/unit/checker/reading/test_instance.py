"""Instance and refutation: one ulp across the true value is not proved, whichever the geometry."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pytest
from support import arithmetic, files
from support.exact import Head as ExactHead
from support.rationals import cosine_ends

from verale.checker import Status, Verdict, check
from verale.checker.options import KERNELS

GENERATOR = random.Random(4)
POINTS = [[GENERATOR.uniform(0.1, 1.0) for _ in range(3)] for _ in range(3)]
IMAGE = [[GENERATOR.uniform(0.1, 1.0) for _ in range(3)] for _ in range(2)]
WEIGHT = [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
BIAS = [100.0, 0.0]  # whatever the statements, the predicted class wins
GEOMETRIES = ["euclidean", "cosine", "cosine with epsilon", "softmax"]


def head(geometry: str, bias: list[float] | None = BIAS, **changes: Any) -> bytes:
    if geometry == "softmax":
        return files.head(WEIGHT, None, bias, geometry=files.SOFTMAX, similarity=files.IDENTITY, **changes)
    if geometry == "euclidean":
        return files.head(WEIGHT, POINTS, bias, similarity=files.log_ratio(1e-4), **changes)
    epsilon = 0.25 if "epsilon" in geometry else 0.0
    return files.head(WEIGHT, POINTS, bias, geometry=files.cosine(epsilon), similarity=files.IDENTITY, **changes)


def mass_ends(z: list[float], j: int) -> tuple[Fraction, Fraction]:
    """An enclosure of a softmax mass: Taylor's series in rationals with its remainder."""
    lows, highs = [], []
    for x in z:
        t = Fraction(x) - Fraction(z[j])
        total = sum(t**i / math.factorial(i) for i in range(60))
        rest = 3 * abs(t) ** 60 / math.factorial(60)
        lows.append(total - rest)
        highs.append(total + rest)
    return 1 / sum(highs), 1 / sum(lows)


def truth(geometry: str, patch: int, j: int) -> tuple[Fraction, Fraction]:
    if geometry == "euclidean":
        return (arithmetic.squared_distance(IMAGE[patch], POINTS[j]),) * 2
    if geometry == "softmax":
        return mass_ends(IMAGE[patch], j)
    return cosine_ends(IMAGE[patch], POINTS[j], 0.25 if "epsilon" in geometry else 0.0)


def audit(
    data: bytes, statements: list[dict[str, Any]], image: Any = IMAGE, kernel: str = "arb", **options: Any
) -> Verdict:
    options = {"patches": len(image), "paradigm": "projection"} | options
    return check(files.certificate(data, statements, image=image, **options), data, files.latents([image]), kernel)


def paradigm(geometry: str) -> str:
    return "simplex" if geometry == "softmax" else "projection"


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_an_end_moved_by_one_ulp_across_the_true_value(geometry: str, kernel: str) -> None:
    data = head(geometry)
    for patch in range(2):
        for j in range(3):
            low, high = truth(geometry, patch, j)
            below, above = arithmetic.below(low), arithmetic.above(high)
            assert above == math.nextafter(below, math.inf)
            for interval, holds in (
                ((below, above), True),
                ((below, 9.0), True),
                ((-9.0, above), True),
                ((below, None), True),
                ((None, above), True),
                ((None, below), False),
                ((above, None), False),
                ((-9.0, below), False),
                ((above, 9.0), False),
                ((below, below), False),
            ):
                verdict = audit(
                    data, [files.patch_statement(patch, j, *interval)], paradigm=paradigm(geometry), kernel=kernel
                )
                if holds:
                    assert (verdict.status, verdict.claims["instance"]) == (Status.PROVED, "proved")
                else:
                    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_PROVED, "instance", 7)
                    assert f"statement 0 (patch {patch}, prototype {j}) is false" in verdict.message


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_activations(geometry: str, kernel: str) -> None:
    data = head(geometry)
    for j in range(3):
        observables = [truth(geometry, patch, j) for patch in range(2)]
        if geometry == "euclidean":
            d = min(low for low, _ in observables)
            value = math.log((d + 1) / (d + Fraction(1e-4)))
            low, high = value * (1 - 1e-14), value * (1 + 1e-14)
        else:
            low = arithmetic.below(max(low for low, _ in observables))
            high = arithmetic.above(max(high for _, high in observables))
        for interval, holds in (
            ((low, high), True),
            ((-9.0, low), False),
            ((high, 99.0), False),
            ((low, None), True),
            ((None, high), True),
            ((None, low), False),
            ((high, None), False),
        ):
            verdict = audit(data, [files.activation_statement(j, *interval)], paradigm="top_k", kernel=kernel)
            assert (verdict.status is Status.PROVED) == holds
            assert holds or verdict.reason == "instance"
        rest = [k for k in range(3) if k != j]
        assert audit(data, [files.order_clause(rest, high)], paradigm="top_k", kernel=kernel).status is Status.PROVED
        assert audit(data, [files.order_clause(rest, low)], paradigm="top_k", kernel=kernel).reason == "instance"
        assert audit(data, [files.floor(rest, low)], paradigm="top_k", kernel=kernel).status is Status.PROVED
        assert audit(data, [files.floor(rest, high)], paradigm="top_k", kernel=kernel).reason == "instance"


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_a_value_that_is_a_float_is_decided(geometry: str) -> None:
    """Equal logits share the mass equally, a latent on a prototype has distance 0 and cosine 1: exactly."""
    z = [[0.5, 0.5, 0.5, 0.5]]
    weight = [[1.0] * 4, [0.0] * 4]
    if geometry == "softmax":
        data = files.head(weight, None, BIAS, geometry=files.SOFTMAX, similarity=files.IDENTITY)
        interval = (0.25, 0.25)
    elif geometry == "euclidean":
        data, interval = files.head(weight, [[0.5] * 4] * 4, BIAS), (0.0, 0.0)
    elif geometry == "cosine":
        data = files.head(weight, [[1.0] * 4] * 4, BIAS, geometry=files.cosine(0.0), similarity=files.IDENTITY)
        interval = (1.0, 1.0)
    else:
        data = files.head(weight, [[1.0] * 4] * 4, BIAS, geometry=files.cosine(1.0), similarity=files.IDENTITY)
        interval = (0.5, 0.5)
    assert audit(data, [files.patch_statement(0, 2, *interval)], z, paradigm=paradigm(geometry)).status is Status.PROVED


def head_of_two_masses() -> bytes:
    """A softmax head whose logits are at most 0."""
    return files.head(
        [[1.0, 1.0], [0.0, 0.0]],
        None,
        BIAS,
        geometry=files.SOFTMAX,
        similarity=files.IDENTITY,
        domain=files.domain(None, 0.0),
    )


def test_a_mass_far_below_the_first_precision_is_decided() -> None:
    """exp(-740) is near the least float: 256 bits do not tell it from 0, 1280 do."""
    data = head_of_two_masses()
    z = [[0.0, -740.0]]
    value = math.exp(-740)
    near = [files.patch_statement(0, 1, value * 0.9, value * 1.1)]
    assert audit(data, near, z, paradigm="simplex").status is Status.PROVED
    assert audit(data, [files.patch_statement(0, 1, 0.0, value * 0.9)], z, paradigm="simplex").reason == "instance"
    assert (
        audit(data, [files.activation_statement(1, value * 0.9, value * 1.1)], z, paradigm="top_k").status
        is Status.PROVED
    )


def test_what_cannot_be_decided_is_not_proved() -> None:
    """exp(-2000) is positive and below every other float: 1280 bits do not tell it from 0."""
    data = head_of_two_masses()
    z = [[0.0, -2000.0]]
    for statement, name in (
        (files.patch_statement(0, 1, 0.0, 0.0), "simplex"),
        (files.order_clause([0], 0.0), "top_k"),
    ):
        verdict = audit(data, [statement], z, paradigm=name)
        assert verdict.reason == "instance"
        assert "cannot be decided with 1280 bits" in verdict.message and not verdict.false
    assert audit(data, [files.patch_statement(0, 1, 0.0, 5e-324)], z, paradigm="simplex").status is Status.PROVED


def test_the_domain() -> None:
    data = head("euclidean", domain=files.domain(0.25, 0.75))
    inside, outside = [[0.25, 0.75, 0.5]], [[0.25, math.nextafter(0.75, 1), 0.5]]
    assert audit(data, [], inside).claims["instance"] == "proved"
    for image in (outside, [inside[0], [0.0, 0.5, 0.5]]):
        verdict = audit(data, [], image)
        assert verdict.reason == "instance" and verdict.claims["instance"] != "proved"
        assert f"patch {len(image) - 1}: a coordinate of the latents lies outside" in verdict.message
    for lower, upper, holds in (
        (None, 0.75, True),
        (0.3, None, False),
        (None, 0.7, False),
        (0.25, None, True),
        (None, None, True),
    ):
        verdict = audit(head("euclidean", domain=files.domain(lower, upper)), [], inside)
        assert (verdict.status is Status.PROVED) == holds


BALL = {"geometry": {"kind": "inner_product", "radius": "0x1.4p+0"}, "similarity": files.IDENTITY}


def test_inner_products_are_exact() -> None:
    z = [0.1, 0.2, 0.7]
    data = files.head(WEIGHT, [[1.0, 1.0, 1.0], *POINTS[1:]], BIAS, domain=files.domain(None, None), **BALL)
    truth = arithmetic.product(z, [1.0] * 3)  # no float: the sum of three
    below, above = arithmetic.below(truth), arithmetic.above(truth)
    assert below < truth < above
    for interval, holds in (((below, above), True), ((below, below), False), ((above, above), False)):
        assert (audit(data, [files.patch_statement(0, 0, *interval)], [z]).status is Status.PROVED) == holds


def test_a_peak_finer_than_the_distance_is_met() -> None:
    """The distance 1 is an integer, the peak 0.1 none: the similarity is known as finely as is asked for."""
    data = ExactHead(
        [[1.0], [0.0]],
        [[0.0]],
        {"similarity": {"kind": "quadratic"}, "domain": files.domain(0.0, 1.0)},
        bias=BIAS,
        peak=[0.1],
    ).data
    truth = -((1 - Fraction(0.1)) ** 2)
    below, above = arithmetic.below(truth), arithmetic.above(truth)
    for interval, holds in (((below, above), True), ((-1.0, below), False), ((above, 0.0), False)):
        verdict = audit(data, [files.activation_statement(0, *interval)], [[1.0]], paradigm="top_k")
        assert (verdict.status is Status.PROVED) == holds
