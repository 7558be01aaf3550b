"""Short: explanations in few digits, as many statements as before, which still entail the class and are all needed."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
import safetensors.torch
import torch
from support.digits import digits_of, told
from support.small import GEOMETRIES, small_head, small_latents, varied_head

from verale.certificate import Certificate, OrderStatement
from verale.checker import Auditor, Status
from verale.errors import UsageError
from verale.search import SearchOptions, Unexplained
from verale.search.digits import FEW_DIGITS, MOST_DIGITS, fewest_digits
from verale.search.explain import explain


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
