"""Digits: statements in short numbers, as many as before, which still entail the class and still are all needed."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.small import GEOMETRIES, small_head, small_latents, varied_head

from verale.certificate import ActivationStatement, Certificate, FloorStatement, OrderStatement, PatchStatement
from verale.certificate.words import lower_end, upper_end
from verale.checker import Auditor, Status
from verale.errors import UsageError
from verale.search import SearchOptions, Unexplained
from verale.search.digits import FEW_DIGITS, MOST_DIGITS, check_digits, in_digits, least_unit
from verale.search.explain import explain
from verale.search.short import fewest_digits

ENDS = st.floats(-1e6, 1e6).filter(lambda end: end == 0 or abs(end) > 1e-6)


def told(statements) -> list[str]:
    """All numbers of statements, as they are told."""
    ends = [
        (words, end)
        for each in statements
        for words, end in ((lower_end, getattr(each, "lower", math.inf)), (upper_end, getattr(each, "upper", math.inf)))
    ]
    return [words(end) for words, end in ends if math.isfinite(end)]


def digits_of(statements) -> int:
    return max((len(Decimal(text).normalize().as_tuple().digits) for text in told(statements)), default=0)


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
        assert abs(Decimal(end) - Decimal(moved)) <= unit
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
    assert [each.in_words()[0] for each in short] == [each.in_words()[0] for each in statements]


@pytest.mark.parametrize("enough", range(1, 10))
def test_the_fewest_digits_are_found(enough):
    tried = []

    def prove(statements):
        tried.append(digits_of(statements))
        return torch.ones(2) if tried[-1] >= enough else -torch.ones(2)

    found = fewest_digits([OrderStatement((), 1.23456789123)], range(1, MOST_DIGITS + 1), prove, 1e-12)
    if enough > MOST_DIGITS:
        assert found is None
    else:
        assert found is not None and digits_of(found[0]) == enough
    assert len(tried) <= 4


CASES = [
    *((geometry, "projection" if geometry != "softmax" else "assignment") for geometry in GEOMETRIES),
    *((geometry, "top_k") for geometry in GEOMETRIES),
    ("euclidean", "mixed"),
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
    """By both kernels, with minimality where it is claimed; and it is claimed where it is of the exact statements."""
    head = small_head(geometry, 1) if geometry in GEOMETRIES else varied_head(geometry, 1)
    latents = small_latents(head, images=2, seed=1, patches=1 if paradigm == "joint" else 5)
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": latents}), "both")
    exact, short = explain(head, latents, paradigm, digits="exact"), explain(head, latents, paradigm)
    explained = 0
    for narrow, wide in zip(exact, short, strict=True):
        assert isinstance(narrow, Certificate) == isinstance(wide, Certificate)
        if isinstance(narrow, Certificate):
            explained += 1
            assert wide.size <= narrow.size + 1 and digits_of(wide.statements) <= FEW_DIGITS
            assert wide.minimal == narrow.minimal or wide.size != narrow.size
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


def test_at_three_digits_all_are_explained():
    """What makes the test above one."""
    head = small_head("euclidean", 1)
    results = explain(head, small_latents(head, images=2, seed=1), "projection", digits=3)
    assert all(isinstance(each, Certificate) for each in results)


def test_a_tolerance_says_how_short_numbers_are():
    head = small_head("euclidean", 1)
    latents = small_latents(head, images=2, seed=1)
    for each in explain(head, latents, "projection", tolerance=0.01):
        assert isinstance(each, Unexplained) or all((Decimal(text) * 100) % 1 == 0 for text in told(each.statements))
    with pytest.raises(UsageError, match="digits is 3 and tolerance 0"):
        SearchOptions("projection", tolerance=0.01, digits=3)


@pytest.mark.parametrize("given", [0, 9, -1, True, 2.0, "3", "few", None])
def test_other_digits_are_refused(given):
    with pytest.raises(UsageError, match="expected 1 to 8, 'fewest' or 'exact'"):
        check_digits(given)


def test_the_least_unit_grows_with_what_an_observable_can_be():
    assert least_unit(small_head("euclidean", depth=6)) == 1e-8
    assert least_unit(small_head("euclidean", depth=64)) == 1e-7
    assert least_unit(small_head("softmax")) == 1e-9
