"""The count of work: what makes a proof longer makes it greater, and patches that are alike count once."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from verale.checker.certificate import ActivationStatement, Certificate, OrderStatement, PatchStatement
from verale.checker.cost import Cost, cost, require_within
from verale.checker.errors import UnprovedError
from verale.checker.head import Head
from verale.checker.head_file import read_head
from verale.soundness.independent import files

COUNT, DEPTH, PATCHES = 40, 8, 10


def head(**parts: Any) -> Head:
    prototypes = None if parts.get("geometry") == files.SOFTMAX else [[0.5] * DEPTH] * COUNT
    return read_head(files.head([[1.0] * COUNT] * 2, prototypes, **parts))


METRIC = head()
MASSES = head(geometry=files.SOFTMAX, similarity=files.IDENTITY, domain=files.domain(None, None))
MEANS = [
    head(pooling={"kind": "top_mean", "k": 3}),
    head(pooling={"kind": "max_minus_mean"}),
    head(pooling={"kind": "max_minus_mean_distance"}),
]


def stated(paradigm: str, *statements: Any, patches: int = PATCHES, prices: Any = None) -> Certificate:
    margins = (None, Fraction(1))
    return Certificate("", None, 0, paradigm, patches, statements, margins, ("entailment",), prices or {})


def spatial(patches: int, prototypes: int, width: float = 0.0) -> list[PatchStatement]:
    return [PatchStatement(i, j, Fraction(0), Fraction(width)) for i in range(patches) for j in range(prototypes)]


def steps(certificate: Certificate, of: Head = METRIC, patches: int = 0, minimality: bool = False) -> int:
    return cost(certificate, of, 128, patches, minimality).steps


def test_more_statements_take_more() -> None:
    for paradigm, of in (
        *((name, METRIC) for name in ("projection", "triangle", "hypersphere")),
        *((name, MASSES) for name in ("simplex", "assignment")),
    ):
        counts = [steps(stated(paradigm, *spatial(2, n)), of) for n in (0, 1, 2, 20)]
        assert counts == sorted(set(counts))
    pooled = [ActivationStatement(j, Fraction(0), Fraction(1)) for j in range(20)]
    assert steps(stated("top_k")) < steps(stated("top_k", *pooled, OrderStatement((0,), Fraction(1))))


def test_wide_statements_about_one_patch_take_more() -> None:
    narrow, wide = (stated("projection", *spatial(3, 10, width)) for width in (0.0, 0.5))
    assert steps(wide) > 5 * steps(narrow)
    assert steps(stated("projection", *spatial(3, 1, 0.5))) == steps(stated("projection", *spatial(3, 1)))


@pytest.mark.parametrize("paradigm", ["projection", "top_k", "assignment"])
def test_minimality_and_an_image_take_more(paradigm: str) -> None:
    of = MASSES if paradigm == "assignment" else METRIC
    statements = (
        [ActivationStatement(j, Fraction(0), Fraction(1)) for j in range(9)] if paradigm == "top_k" else spatial(3, 3)
    )
    once = stated(paradigm, *statements)
    assert steps(once, of) < steps(once, of, patches=PATCHES) < steps(once, of, patches=PATCHES, minimality=True)


def test_prices_take_more() -> None:
    assert steps(stated("assignment", prices={1: {0: Fraction(1)}}), MASSES) > steps(stated("assignment"), MASSES)


def test_means_keep_every_stated_patch() -> None:
    once, together = stated("projection", *spatial(9, 1)), 9 * (3 * COUNT + DEPTH + 4)
    assert cost(once, METRIC, 128, 0, False).numbers == 2 * COUNT + together
    assert cost(once, METRIC, 128, 0, True).numbers == 2 * 10 * COUNT + together
    for of in MEANS:
        assert cost(once, of, 128, 0, False).numbers == 2 * 10 * COUNT + together
        assert steps(once, of) > steps(once)
    assert cost(once, MEANS[0], 128, 0, True).numbers == 2 * 30 * COUNT + together
    assert cost(stated("top_k"), METRIC, 128, 0, False).numbers == 2 * COUNT


def test_patches_that_are_alike_count_once_and_bits_count() -> None:
    assert steps(stated("projection", patches=10**17)) == steps(stated("projection"))
    once = stated("projection")
    assert cost(once, METRIC, 1280, 0, False).steps == 5 * cost(once, METRIC, 128, 0, False).steps


def test_what_is_refused() -> None:
    require_within(10, Cost(10, 0))
    with pytest.raises(UnprovedError, match="takes about 11 steps, expected at most 10; raise the limit") as caught:
        require_within(10, Cost(11, 0))
    assert caught.value.reason == "limit"
    with pytest.raises(UnprovedError, match="keeps about 33554433 numbers at once"):
        require_within(10, Cost(1, 2**25 + 1))
