"""Inflation: wider statements that go on to hold of the image and to entail its class."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
import torch
from support.small import GEOMETRIES, small_head, small_latents, varied_head

from verale.certificate import ActivationStatement, Certificate, OrderStatement
from verale.errors import UsageError
from verale.head import as_patches, evaluate, read_out
from verale.rules.coverage import coverage_of
from verale.search.explain import explain
from verale.search.inflate import inflate, plain_number, widened
from verale.search.smallest import priced_margins
from verale.search.stated import Stated

ACTIVATIONS = [*((geometry, "top_k") for geometry in GEOMETRIES), ("softmax", "sparse")]
CASES = [*ACTIVATIONS, ("negated", "joint"), ("inner product", "joint")]


def given(geometry: str, paradigm: str):
    head = small_head(geometry, 3) if geometry in GEOMETRIES else varied_head(geometry, 3)
    return head, as_patches(small_latents(head, images=2, patches=1 if paradigm == "joint" else 5))


def inflated(head, image, certificate):
    given = certificate.paradigm, head, certificate.predicted, certificate.patches
    return inflate(priced_margins(*given), image, certificate)


@cache
def explained(geometry: str, paradigm: str):
    """A head, images, their certificates and the inflated ones."""
    head, images = given(geometry, paradigm)
    narrow = explain(head, images, paradigm)
    return head, images, narrow, [inflated(head, *each) for each in zip(images, narrow, strict=True)]


@pytest.mark.parametrize(("geometry", "paradigm"), CASES)
def test_the_image_satisfies_the_wider_statements(geometry, paradigm):
    head, images, narrow, inflated = explained(geometry, paradigm)
    gained = 0.0
    for image, certificate, wide in zip(images, narrow, inflated, strict=True):
        numbers = priced_margins(paradigm, head, certificate.predicted, len(image)).observed(image[None])[0]
        ends, before = Stated.of(wide.statements, head.size).ends, Stated.of(certificate.statements, head.size).ends
        assert (ends.lower <= numbers.lower).all() and (ends.upper >= numbers.upper).all()
        assert wide.latents == certificate.latents and wide.predicted == certificate.predicted
        assert wide.size <= certificate.size and wide.minimal <= certificate.minimal
        assert paradigm != "joint" or wide.size == 1 or not wide.minimal
        gained += float((before.lower - ends.lower).nan_to_num(0, 1, 0).sum())
        gained += float((ends.upper - before.upper).nan_to_num(0, 1, 0).sum())
    assert gained > 0.1


@pytest.mark.parametrize("geometry", ["negated", "inner product"])
def test_latents_within_the_wider_statements_have_the_class(geometry):
    head, images, _, inflated = explained(geometry, "joint")
    drawn = torch.rand(5000, 1, head.depth, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    near = (images[:, None] + (drawn[:1000] - 0.5) / 4).clamp(0, 1).flatten(0, 1)
    drawn = torch.cat([drawn, near])
    done, inside = evaluate(head, drawn), 0
    for wide in inflated:
        covered = coverage_of(head, drawn, wide.statements, wide.predicted).certain
        ahead = done.logits[covered][:, [wide.predicted]] - done.logits[covered]
        for rival, margin in enumerate(wide.margins):
            assert margin is None or not len(ahead) or margin <= float(ahead[:, rival].min()) + 1e-9
        inside += len(ahead)
    assert inside > 100


@pytest.mark.parametrize(("geometry", "paradigm"), ACTIVATIONS)
def test_activations_within_the_wider_statements_have_the_class(geometry, paradigm):
    """Random activations, most of them at an end of the box, where margins are least. An explanation that needs what
    activations say of each other is not widened."""
    head, images, narrow, inflated = explained(geometry, paradigm)
    drawn, widened = torch.Generator().manual_seed(0), 0
    for image, certificate, wide in zip(images, narrow, inflated, strict=True):
        if wide is certificate:
            continue
        widened += 1
        margins = priced_margins(paradigm, head, certificate.predicted, len(image))
        ends = Stated.of(wide.statements, head.size).ends
        lower, upper = ends.lower.maximum(margins.range.lower), ends.upper.minimum(margins.range.upper)
        share = (3 * torch.rand(2000, head.size, generator=drawn, dtype=torch.float64) - 1).clamp(0, 1)
        logits = read_out(head, lower + share * (upper - lower))
        ahead = logits[:, [certificate.predicted]] - logits
        for rival, margin in enumerate(wide.margins):
            assert margin is None or 0 < margin <= float(ahead[:, rival].min()) + 1e-9
    assert widened


def test_the_wider_statements_are_as_wide_as_can_be():
    """No slack is left but the reserve and what rounding to plain numbers gave back: some rival is near."""
    head, images, narrow, _ = explained("euclidean", "top_k")
    for certificate in narrow:
        margins = priced_margins("top_k", head, certificate.predicted, images.shape[1])
        wide = widened(margins, Stated.of(certificate.statements, head.size))
        assert 0 < float(margins.proved(wide.ends).amin()) <= 0.01 * certificate.margin


def test_an_end_that_nothing_needs_is_free():
    """Of two classes with weights 1 and 0 the first needs its activation high, and nothing else."""
    head = replace(small_head("cosine", prototypes=3, classes=2), weight=torch.eye(2, 3), bias=None)
    given = Stated.of((ActivationStatement(0, 0.9, 0.9), ActivationStatement(1, 0.2, 0.2)), 3)
    wide = widened(priced_margins("top_k", head, 0, 5), given)
    assert wide.lower[1] == -math.inf and wide.upper[0] == math.inf
    assert float(wide.lower[0] - wide.upper[1]) == pytest.approx(0, abs=1e-3)
    assert float(0.9 - wide.lower[0]) == pytest.approx(float(wide.upper[1] - 0.2))


def test_a_certificate_that_loses_a_statement_claims_minimality_no_more():
    head = replace(small_head("cosine", prototypes=3, classes=2), weight=torch.eye(2, 3), bias=None)
    images = as_patches(small_latents(head, images=16))
    image, exact = next(
        (image, each)
        for image, each in zip(images, explain(head, images, "top_k"), strict=True)
        if isinstance(each, Certificate) and each.predicted == 0
    )
    stated = priced_margins("top_k", head, 0, 1).observed(image[None])[0]
    ends = zip(stated.lower.tolist(), stated.upper.tolist(), strict=True)
    all_stated = tuple(ActivationStatement(j, *each) for j, each in enumerate(ends))
    more = replace(exact, statements=(*all_stated, OrderStatement((0, 1, 2), 5.0)), minimal=True)
    wide = inflated(head, image, more)
    assert wide.size == 2 and not wide.minimal


def test_explain_inflates_if_asked():
    head, images, narrow, inflated = explained("euclidean", "top_k")
    assert explain(head, images, "top_k", inflate=True) == inflated != narrow


def test_what_cannot_be_inflated_is_refused():
    head = small_head("euclidean")
    with pytest.raises(UsageError, match="hold of no other image"):
        explain(head, small_latents(head), "projection", inflate=True)
    tree = varied_head("tree")
    with pytest.raises(UsageError, match="expected a linear one"):
        explain(tree, small_latents(tree), "top_k", inflate=True)


@pytest.mark.parametrize(
    ("end", "limit", "plain"),
    [
        (0.123456, 0.9, 0.2),
        (0.123456, 0.2, 0.13),
        (0.9, 0.123456, 0.9),
        (0.98765, 0.123456, 0.98),
        (-0.98765, 0.5, -0.9),
        (98765.0, 123456.0, 100000.0),
        (0.5, 0.5, 0.5),
        (-math.inf, 0.5, -math.inf),
        (math.inf, 0.5, math.inf),
        (-0.01, 1.0, 0.0),
        (1e-300, 1.0, 0.1),
    ],
)
def test_plain_numbers(end, limit, plain):
    assert plain_number(end, limit) == pytest.approx(plain, abs=1e-15, rel=1e-15)


def test_a_plain_number_is_outward_of_its_decimal():
    assert Fraction(plain_number(0.955, 2.0, 0.01)) <= Fraction(96, 100)
    for tenths in range(1, 100):
        decimal = Fraction(tenths, 100)
        low, high = plain_number(float(decimal) - 1e-9, 5.0, 1e-6), plain_number(float(decimal) + 1e-9, -5.0, 1e-6)
        assert Fraction(low) <= decimal <= Fraction(high)
        assert high - low < 1e-15


def test_where_there_is_no_room_the_end_stays():
    end = 0.1
    assert plain_number(end, math.nextafter(end, 1.0)) == end
