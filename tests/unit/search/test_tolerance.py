"""Tolerances: what they are called, how far they widen, and that `auto` finds an explanation wherever there is one."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest
import safetensors.torch
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.digits import digits_of, told
from support.small import GEOMETRIES, small_head, small_latents, varied_head

from verale.certificate import ActivationStatement, Certificate, FloorStatement, OrderStatement, PatchStatement
from verale.certificate.statements import statement_in_words
from verale.certificate.words import lower_end, upper_end
from verale.checker import Auditor, Status
from verale.errors import UsageError
from verale.head import Head, Identity, Softmax
from verale.rounding import Enclosure
from verale.search import Avoid, SearchOptions, Unexplained
from verale.search.digits import (
    AUTO,
    EXACT,
    FEW_DIGITS,
    LEAST_TOLERANCE,
    MOST_DIGITS,
    Tolerance,
    check_digits,
    fewest_digits,
    in_digits,
    least_unit,
    tolerances,
)
from verale.search.explain import explain

SHARES = (0.5, 0.1, 0.01, 0.001)


@pytest.mark.parametrize(
    ("given", "parsed", "text"),
    [
        (0, EXACT, "0"),
        (0.01, Tolerance(step=0.01), "0.01"),
        ("1%", Tolerance(share=0.01), "1%"),
        (".5%", Tolerance(share=0.005), "0.5%"),
        ("12.5%", Tolerance(share=0.125), "12.5%"),
        ("100%", Tolerance(share=1.0), "100%"),
    ],
)
def test_a_number_is_a_step_and_a_percentage_a_share(given, parsed, text) -> None:
    assert tolerances(given) == (parsed,) and str(parsed) == text
    assert bool(parsed) == bool(given)


@pytest.mark.parametrize("given", ["", "1", "0.01", "%", "-1%", "1 %", "nan%", "1e1%", "automatic", "Auto", "٣%"])
def test_another_text_is_refused_with_what_is_expected(given) -> None:
    with pytest.raises(
        UsageError, match=re.escape(f"{given!r}, expected a number, a percentage such as '1%', or 'auto'")
    ):
        tolerances(given)


@pytest.mark.parametrize("given", ["0%", "0.0000001%", "100.1%"])
def test_a_share_out_of_range_is_refused(given) -> None:
    with pytest.raises(UsageError, match=f"tolerance is {given}, expected from 1e-06% to 100%, or 0"):
        tolerances(given)


def test_auto_tries_shares_that_shrink_and_none_last() -> None:
    tried = tolerances(AUTO)
    assert tried[-1] == EXACT
    shares = [each.share for each in tried[:-1]]
    assert shares == sorted(shares, reverse=True) and shares[0] == 0.1


@pytest.mark.parametrize("given", [0.01, 3.0, 1e-7, "100%", "3%", "0.01%"])
def test_narrower_ones_begin_with_five_two_or_one(given) -> None:
    (wide,) = tolerances(given)
    narrower = list(wide.narrower())
    sizes = [each.share or each.step for each in (wide, *narrower)]
    assert all(bool(each.share) == bool(wide.share) for each in narrower)
    assert all(1.5 <= first / second <= 4 for first, second in pairwise(sizes))
    assert {f"{size:.0e}"[0] for size in sizes[1:]} == {"1", "2", "5"}
    assert min(sizes) >= LEAST_TOLERANCE
    for each in narrower:
        (again,) = tolerances(float(str(each)) if each.step else str(each))
        assert str(again) == str(each)


def interval(lower: float, upper: float) -> Enclosure:
    return Enclosure(torch.tensor([lower], dtype=torch.float64), torch.tensor([upper], dtype=torch.float64))


@settings(deadline=None)
@given(
    st.floats(-1e12, 1e12).filter(lambda value: value == 0 or abs(value) > 1e-7),
    st.integers(0, 1000),
    st.sampled_from(SHARES),
)
def test_a_share_widens_outward_by_no_more_to_few_digits(value, ulps, share) -> None:
    """The ends, in words, are decimals whose last digit is the greatest power of ten that is at most the share."""
    other = value + ulps * math.ulp(value)
    wide = Tolerance(share=share).widened(interval(value, other))
    lower, upper, size = wide.lower.item(), wide.upper.item(), max(abs(value), abs(other))
    assert lower <= value <= other <= upper
    unit = Fraction(10) ** (max(-8, math.floor(math.log10(share * size))) if share * size else -8)
    most = max(unit, Fraction(share * size)) * (1 + Fraction(1, 10**6))
    assert Fraction(value) - Fraction(lower) <= most and Fraction(upper) - Fraction(other) <= most
    for said in (lower_end(lower), upper_end(upper)):
        assert any((Fraction(said) / unit * scale).denominator == 1 for scale in (1, 10)), (said, unit)


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("given", ["1%", 0.003, AUTO])
def test_what_is_stated_is_proved(geometry, given) -> None:
    """By both kernels; minimality too, where it is claimed; and the statements are true of their images."""
    head = small_head(geometry)
    latents = small_latents(head, images=1)
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": latents}), "both")
    defined = "projection" if head.prototypes is not None else "simplex"
    explained = [each for name in (defined, "top_k") for each in explain(head, latents, name, tolerance=given)]
    certificates = [each for each in explained if isinstance(each, Certificate)]
    assert certificates
    for certificate in certificates:
        assert auditor.check(certificate.to_bytes(), minimality=True).status is Status.PROVED


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_at_auto_every_image_is_explained_that_is_without_a_tolerance(geometry, seed) -> None:
    """And an image that is explained within the widest has that explanation."""
    head = small_head(geometry, seed)
    latents = small_latents(head, images=2, seed=seed)
    for paradigm in ("projection" if head.prototypes is not None else "simplex", "top_k"):
        exact, widest, auto = (explain(head, latents, paradigm, tolerance=given) for given in (0, "10%", AUTO))
        for without, within, found in zip(exact, widest, auto, strict=True):
            assert isinstance(found, Certificate) or isinstance(without, Unexplained)
            assert found == within or isinstance(within, Unexplained)


def test_some_images_need_a_narrower_tolerance_and_the_reason_says_which() -> None:
    """What makes the test above one: under 10% the class of some image stays open, and auto finds its explanation."""
    head = small_head("softmax")
    latents = small_latents(head)
    refused = [each for each in explain(head, latents, "top_k", tolerance="10%") if isinstance(each, Unexplained)]
    assert [each.reason for each in refused] == [
        "with a tolerance of 10% the class is not implied even by all statements; try 2%, or --tolerance auto"
    ]
    narrower = explain(head, latents, "top_k", tolerance="2%")
    assert not any(isinstance(each, Unexplained) for each in narrower)
    assert not any(isinstance(each, Unexplained) for each in explain(head, latents, "top_k", tolerance=AUTO))


def test_a_tie_is_called_a_tie_whatever_the_tolerance() -> None:
    head = Head(torch.ones(2, 3), Softmax(), Identity())
    for tolerance in (0, 0.5, "1%", AUTO):
        (tie,) = explain(head, torch.rand(1, 4, 3), "top_k", tolerance=tolerance)
        assert isinstance(tie, Unexplained) and "a tie" in tie.reason and "tolerance" not in tie.reason


def test_where_the_search_fails_the_reason_names_the_tolerance_too() -> None:
    """All observables together entail the class, but those of one prototype may not be stated."""
    head = small_head("euclidean")
    latents = small_latents(head, images=1)
    everything = Avoid(prototypes=tuple(range(head.size)))
    for tolerance, end in (
        (0, "11"),
        ("1%", "; the tolerance is 1%: try a smaller one, or --tolerance auto"),
        (AUTO, "11"),
    ):
        reasons = [each.reason for each in explain(head, latents, "top_k", tolerance=tolerance, avoid=everything)]
        assert all(reason.endswith(end) for reason in reasons), reasons


# Digits: ends move outward to short decimals, and stay what they are about.


ENDS = st.floats(-1e6, 1e6).filter(lambda end: end == 0 or abs(end) > 1e-6)


@given(ENDS, st.floats(0, 1), st.integers(1, MOST_DIGITS))
def test_ends_move_outward_to_so_many_digits_and_stay_there(lower, width, digits):
    statement = PatchStatement(0, 1, lower, lower + width)
    (wide,) = in_digits([statement], digits, 1e-8)
    assert wide.lower <= statement.lower and wide.upper >= statement.upper
    size = max(abs(statement.lower), abs(statement.upper))
    unit = Decimal(10) ** max(-8, Decimal(size).adjusted() - digits + 1 if size else -8)
    for text in told([wide]):
        assert (Decimal(text) / unit) % 1 == 0
    for end, moved in ((statement.lower, wide.lower), (statement.upper, wide.upper)):
        assert abs(Decimal(end) - Decimal(moved)) <= unit + abs(Decimal(math.ulp(moved)))
    if max(abs(wide.lower), abs(wide.upper)) < 10 * 10 ** Decimal(size).adjusted():
        assert in_digits([wide], digits, 1e-8) == [wide]


def test_every_kind_of_statement_keeps_what_it_is_about():
    statements = [
        PatchStatement(3, 1, 0.123456, 0.123457),
        ActivationStatement(2, 1.23456, math.inf),
        ActivationStatement(4, -math.inf, -0.034567),
        OrderStatement((1, 2), 1.00749),
        FloorStatement((), -1.00749),
    ]
    short = in_digits(statements, 2, 1e-8)
    assert told(short) == ["0.12", "0.13", "1.2", "-0.034", "1.1", "-1.1"]
    assert [statement_in_words(each)[0] for each in short] == [statement_in_words(each)[0] for each in statements]


@pytest.mark.parametrize("given", [0, 9, -1, True, 2.0, "3", "few", None])
def test_other_digits_are_refused(given):
    with pytest.raises(UsageError, match="expected 1 to 8, 'fewest' or 'exact'"):
        check_digits(given)


def test_the_least_unit_grows_with_what_an_observable_can_be():
    assert least_unit(small_head("euclidean", depth=6)) == 1e-8
    assert least_unit(small_head("euclidean", depth=64)) == 1e-7
    assert least_unit(small_head("softmax")) == 1e-9


# Short: explanations in few digits, as many statements as before, which still entail the class and are all needed.


@pytest.mark.parametrize("off", [None, 1e-3, 0.3, 1.0, 3.0, math.inf])
@pytest.mark.parametrize("enough", range(1, 10))
def test_the_fewest_digits_are_found(enough, off):
    """Also where the estimate of what widths cost is off by a factor; then few are tried."""
    tried = []

    def prove(statements):
        tried.append(digits_of(statements))
        return torch.ones(2) if tried[-1] >= enough else -torch.ones(2)

    share = None if off is None else off * 0.5 * 10.0**enough
    found = fewest_digits([OrderStatement((), 1.23456789123)], range(1, MOST_DIGITS + 1), prove, 1e-12, share)
    if enough > MOST_DIGITS:
        assert found is None
    else:
        assert found is not None and digits_of(found[0]) == enough
    assert len(tried) <= 4 if off in (None, 1e-3, math.inf) else len(tried) <= 3


CASES = [
    *((geometry, "projection" if geometry != "softmax" else "assignment") for geometry in GEOMETRIES),
    *((geometry, "top_k") for geometry in GEOMETRIES),
    pytest.param("euclidean", "mixed", marks=pytest.mark.long),
    ("euclidean", "triangle"),
    ("cosine", "hypersphere"),
    ("softmax", "simplex"),
    ("softmax", "sparse"),
    ("negated", "joint"),
    ("inner product", "projection"),
    ("top mean", "projection"),
    ("cosine top mean", "projection"),
]


@pytest.mark.parametrize(("geometry", "paradigm"), CASES)
def test_short_numbers_cost_no_statement_and_are_proved(geometry, paradigm):
    """By both kernels, with minimality where it is claimed; and it is claimed where it is of the exact ones, which say
    more."""
    head = small_head(geometry, 1) if geometry in GEOMETRIES else varied_head(geometry, 1)
    latents = small_latents(head, images=1, seed=1, patches=1 if paradigm == "joint" else 5)
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": latents}), "both")
    exact, short = explain(head, latents, paradigm, digits="exact"), explain(head, latents, paradigm)
    explained = 0
    for narrow, wide in zip(exact, short, strict=True):
        assert isinstance(narrow, Certificate) == isinstance(wide, Certificate)
        if isinstance(narrow, Certificate):
            explained += 1
            assert wide.size <= narrow.size + 1 and digits_of(wide.statements) <= FEW_DIGITS
            assert wide.minimal or not narrow.minimal or wide.size != narrow.size
            assert auditor.check(wide.to_bytes(), minimality=True).status is Status.PROVED
    assert explained


@pytest.mark.parametrize("paradigm", ["projection", "top_k"])
@pytest.mark.parametrize("digits", [1, 2, 3])
def test_a_number_of_digits_is_kept_or_there_is_no_explanation(paradigm, digits):
    head = small_head("euclidean", 1)
    latents = small_latents(head, images=2, seed=1)
    for result in explain(head, latents, paradigm, digits=digits):
        if isinstance(result, Unexplained):
            assert f"{digits} digit" in result.reason
        else:
            assert digits_of(result.statements) <= digits
            assert Auditor(head.to_bytes()).check(result.to_bytes()).status is Status.PROVED


def test_a_tolerance_says_how_short_numbers_are():
    head = small_head("euclidean", 1)
    latents = small_latents(head, images=2, seed=1)
    for each in explain(head, latents, "projection", tolerance=0.01):
        assert isinstance(each, Unexplained) or all((Decimal(text) * 100) % 1 == 0 for text in told(each.statements))
    with pytest.raises(UsageError, match="digits is 3 and tolerance 0"):
        SearchOptions("projection", tolerance=0.01, digits=3)
