"""Inflation: wider statements that go on to hold of the image and to entail its class."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
import torch
from support.small import GEOMETRIES, small_head, small_latents, varied_head

from verale.bounds import Joint
from verale.certificate import ActivationStatement, Certificate, FloorStatement, OrderStatement, PatchStatement
from verale.errors import UsageError
from verale.head import as_patches, evaluate, read_out
from verale.rounding import Enclosure
from verale.rules.coverage import coverage_of
from verale.search.activations import Stated
from verale.search.explain import explain
from verale.search.inflate import inflate, plain_number, widened
from verale.search.smallest import has_prices, priced_margins

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


# Prices: what the ends of a box are worth, against margins computed from both boxes.


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


# Stated ends: statements to tensors and back, and which statement an end of a number belongs to.


INF = torch.inf
STATEMENTS = (
    ActivationStatement(0, 1.0, 2.0),
    ActivationStatement(2, -INF, 0.5),
    ActivationStatement(3, 0.25, INF),
    OrderStatement((0, 3), 0.75),
    FloorStatement((2,), -0.5),
)


def test_statements_come_back_as_they_were() -> None:
    assert Stated.of(STATEMENTS, 5).statements(ActivationStatement) == STATEMENTS
    assert Stated.of(STATEMENTS, 5).size == len(STATEMENTS)
    patches = (PatchStatement(0, 1, -INF, 3.0), PatchStatement(0, 4, 1.0, 1.0))
    assert Stated.of(patches, 5).statements(lambda *each: PatchStatement(0, *each)) == patches
    assert Stated.of((), 3).statements(ActivationStatement) == () and Stated.of((), 3).size == 0


def test_the_tightest_end_counts() -> None:
    ends = Stated.of(STATEMENTS, 5).ends
    assert ends.lower.tolist() == [1.0, -0.5, -INF, 0.25, -0.5]
    assert ends.upper.tolist() == [2.0, 0.75, 0.5, INF, 0.75]


def test_a_price_belongs_to_the_tightest_end() -> None:
    lower, upper = torch.tensor([[1.0, 2.0, 4.0, 8.0, 16.0]]), torch.tensor([[1.0, 2.0, 4.0, 8.0, 16.0]])
    low, high = Stated.of(STATEMENTS, 5).priced(lower, upper)
    assert low.tolist() == [
        [1.0, 0.0, 4.0, 8.0, 0.0, 2.0 + 16.0]
    ]  # 2 is not under the floor, and has no end of its own
    assert high.tolist() == [[1.0, 0.0, 4.0, 8.0, 0.0, 2.0 + 16.0]]


def test_how_far_inward_ends_may_lie() -> None:
    numbers = Enclosure.exact(torch.tensor([1.5, 0.1, 0.2, 0.3, 0.4], dtype=torch.float64))
    around = Stated.of(STATEMENTS, 5).around(numbers)
    assert around.lower.tolist() == [*numbers.lower.tolist(), 0.1]
    assert around.upper.tolist() == [*numbers.upper.tolist(), 0.4]


def test_a_clause_about_no_prototype_says_nothing() -> None:
    box = Stated.box(torch.zeros(2).double(), torch.ones(2).double())
    some, none = torch.tensor([True, False]), torch.tensor([False, False])
    assert box.under(0.5, some).over(0.25, ~some).statements(ActivationStatement)[2:] == (
        OrderStatement((1,), 0.5),
        FloorStatement((0,), 0.25),
    )
    assert box.under(0.5, none).over(0.25, none).size == box.size == 2
