"""The count of work: what makes a proof longer makes it greater, and patches that are alike count once."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from verale.checker.certificate import ActivationStatement, Certificate, OrderStatement, PatchStatement
from verale.checker.errors import UnprovedError
from verale.checker.head import read_head
from verale.checker.kernel import load_kernel
from verale.checker.limit import LIMIT, STEPS_A_SECOND, allowed
from verale.checker.plain.cost import Cost, cost, require_within
from verale.checker.plain.quadratic import QuadraticRule
from verale.checker.plain.space import Space
from verale.checker.plain.work import Work
from verale.soundness.independent import files

COUNT, DEPTH, PATCHES = 40, 8, 10


def head(kernel: str = "arb", scale: float = 1.0, **parts: Any) -> Space:
    prototypes = None if parts.get("geometry") == files.SOFTMAX else [[0.5 * scale] * DEPTH] * COUNT
    return Space(read_head(files.head([[1.0] * COUNT] * 2, prototypes, **parts)), load_kernel(kernel))


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


def steps(certificate: Certificate, of: Space = METRIC, minimality: bool = False) -> int:
    return cost(certificate, of, minimality).steps


def test_more_statements_take_more() -> None:
    for paradigm, of in (
        *((name, METRIC) for name in ("projection", "triangle", "hypersphere")),
        *((name, MASSES) for name in ("simplex", "assignment")),
    ):
        counts = [steps(stated(paradigm, *spatial(2, n)), of) for n in (0, 1, 2, 20)]
        assert counts == sorted(set(counts))
    pooled = [ActivationStatement(j, Fraction(0), Fraction(1)) for j in range(20)]
    assert steps(stated("top_k")) < steps(stated("top_k", *pooled, OrderStatement((0,), Fraction(1))))


def test_moves_of_the_weights_are_counted_as_they_are_made() -> None:
    """The shape does not tell how wide the intervals are."""
    narrow, wide = (spatial(1, 10, width) for width in (0.0, 0.5))
    assert steps(stated("projection", *narrow)) == steps(stated("projection", *wide))
    rows = [[float(i == j) for j in range(10)] for i in range(10)]
    space = Space(read_head(files.head([[1.0] * 10] * 2, rows)), load_kernel("arb"))
    for width, taken in ((0.0, False), (0.5, True)):
        space.work.allow(2**40)
        QuadraticRule(space).ranges([PatchStatement(0, j, Fraction(j), Fraction(j + width)) for j in range(10)])
        assert (space.work._left < 2**40) == taken
    space.work.allow(1000)
    with pytest.raises(UnprovedError, match=r"takes more than 2\.5e-05 s of processor time"):
        QuadraticRule(space).ranges([PatchStatement(0, j, Fraction(j), Fraction(j + 1)) for j in range(10)])


@pytest.mark.parametrize("paradigm", ["projection", "top_k", "assignment"])
def test_minimality_takes_more(paradigm: str) -> None:
    of = MASSES if paradigm == "assignment" else METRIC
    statements = (
        [ActivationStatement(j, Fraction(0), Fraction(1)) for j in range(9)] if paradigm == "top_k" else spatial(3, 3)
    )
    once = stated(paradigm, *statements)
    assert steps(once, of) < steps(once, of, minimality=True)


def test_what_is_found_of_large_heads_is_within_the_limit() -> None:
    """With 1,000 prototypes, as those trained on CIFAR-100 have them."""
    generator = random.Random(1)
    rows = [[generator.random() for _ in range(64)] for _ in range(1000)]
    of = Space(read_head(files.head([[1.0] * 1000] * 2, rows, dtype="F32")), load_kernel("arb"))
    assert steps(stated("projection", *spatial(64, 1), patches=64), of) < allowed(LIMIT, 1)
    activations = [ActivationStatement(j, Fraction(0), Fraction(1)) for j in range(900)]
    assert steps(stated("top_k", *activations), of, minimality=True) < allowed(LIMIT, 1) // 12


def test_what_is_rounded_inward_takes_more() -> None:
    """A point takes more than a bound, and each statement is dropped once."""
    once = stated("projection", *spatial(1, 8))
    assert steps(once, minimality=True) > 10 * steps(once)


def test_prices_take_more() -> None:
    assert steps(stated("assignment", prices={1: {0: Fraction(1)}}), MASSES) > steps(stated("assignment"), MASSES)


def test_the_ranges_of_every_stated_patch_are_kept() -> None:
    once = stated("projection", *spatial(9, 1))
    for of in (METRIC, *MEANS):
        numbers = cost(once, of, True).numbers * 512 // (512 + of.work.bits)
        assert numbers == pytest.approx(2 * 10 * COUNT + 2 * COUNT + 9, abs=2)


def test_patches_that_are_alike_count_once_and_bits_count() -> None:
    assert steps(stated("projection", patches=10**17)) == steps(stated("projection"))
    long = head(scale=2.0**-600)
    assert long.work.bits > 1024
    assert steps(stated("projection"), long) > 5 * steps(stated("projection"))
    assert cost(stated("projection"), long, False).numbers > 2 * cost(stated("projection"), METRIC, False).numbers


def test_a_slow_kernel_takes_more() -> None:
    once = stated("projection", *spatial(1, 8))
    assert steps(once, head("mpmath")) == steps(once)
    assert head("mpmath").work.series > 10 * METRIC.work.series


def test_large_files_may_take_more() -> None:
    assert allowed(LIMIT, 10) == allowed(LIMIT, 2**20) == LIMIT * STEPS_A_SECOND
    assert allowed(LIMIT, 2**20 + 1) == 2 * LIMIT * STEPS_A_SECOND


def test_work_is_counted_as_it_is_done() -> None:
    work = Work("arb", 128)
    work.take(10**30)  # without a limit
    work.allow(1000, taken=400)
    work.take(500)
    with pytest.raises(
        UnprovedError, match=r"takes more than 2\.5e-05 s of processor time, the most for files"
    ) as caught:
        work.take(100)
    assert caught.value.reason == "limit"
    work.allow(1000)
    with pytest.raises(UnprovedError):
        work.take(500, bits=1024)


def test_what_is_refused() -> None:
    require_within(10, Cost(10, 0))
    with pytest.raises(
        UnprovedError,
        match=r"about 2\.75e-07 s .*, expected at most 2\.5e-07 s for files of this size; raise the limit",
    ) as caught:
        require_within(10, Cost(11, 0))
    assert caught.value.reason == "limit"
    require_within(2880, Cost(1, 10))
    with pytest.raises(UnprovedError, match="keeps about 11 numbers at once, expected at most 10") as caught:
        require_within(2880, Cost(1, 11))
    assert caught.value.reason == "limit"


@pytest.mark.parametrize(("of_network", "less"), [(0, True), (2 * 10**6, False)])
def test_who_keeps_too_many_numbers_is_told_what_helps(of_network: int, less: bool) -> None:
    """To state less helps where the statements are many, not where the network is large."""
    with pytest.raises(UnprovedError, match="raise the limit to try it") as error:
        require_within(288 * 10**6, Cost(1, 2 * 10**6), of_network)
    assert ("state less" in str(error.value)) == less
