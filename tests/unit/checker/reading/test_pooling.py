"""Focal pooling: the ranges are the exact ones, rounded outward, and certificates that need every statement."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import product
from time import process_time
from typing import Any

import pytest
from support import files
from support.exact import Head as ExactHead
from support.rationals import root

from verale.checker import Status, check
from verale.checker.dyadic import ceil_at, exact
from verale.checker.head import read_head
from verale.checker.network.enclosure import EnclosedLatents
from verale.checker.options import KERNELS, load_arithmetic
from verale.checker.reading.evaluation import Evaluation
from verale.checker.reading.pooling import Pooling, pooled
from verale.checker.reading.space import Ranges, Space

EPSILON = 2.0**-10
UNIT = 2**40
Column = list[tuple[int, int | None, int]]


def similar(total: int, count: int) -> float:
    d = total / UNIT / count
    return math.log((d + 1) / (d + EPSILON))


def enclosed(total: int, count: int) -> tuple[int, int]:
    """S in float64, with room for its error: the tests below look at far more than the last bits."""
    value = similar(total, count) * UNIT
    return math.floor(value) - 2, math.ceil(value) + 2


def random_column(generator: random.Random, patches: int) -> Column:
    column: Column = []
    for _ in range(patches):
        low = generator.choice((0, generator.getrandbits(36), generator.getrandbits(42)))
        high = low + generator.choice((0, generator.getrandbits(38), generator.getrandbits(42)))
        column.append((low, high, 1))
    return column


def corners(column: Column) -> list[tuple[int, ...]]:
    """Every combination of values at which a minimum, a maximum or a clamp can change."""
    ends = [end for low, high, _ in column for end in (low, high) if end is not None]
    choices = [{min(max(end, low), high or 0) for end in ends} for low, high, _ in column]
    return list(product(*choices))


def max_minus_mean(column: Column) -> tuple[int, int]:
    return pooled(read_head(head("max_minus_mean")), column, enclosed)


def max_minus_mean_distance(column: Column) -> tuple[int, int]:
    return pooled(read_head(head("max_minus_mean_distance")), column, enclosed)


def top_mean(column: Column, k: int) -> tuple[int, int]:
    of = read_head(head("max_minus_mean"))
    of.pooling, of.k = "top_mean", k
    return pooled(of, column, enclosed)


@pytest.mark.parametrize("patches", [1, 2, 3, 4])
def test_of_similarities_the_range_is_the_exact_one(patches: int) -> None:
    """Of the greatest minus the mean, and of means of the greatest k."""
    generator = random.Random(patches)
    for _ in range(20):
        column: Column = [(low - UNIT, (high or 0) - UNIT, 1) for low, high, _ in random_column(generator, patches)]
        points = [sorted(point, reverse=True) for point in corners(column)]
        found = [(max_minus_mean(column), [point[0] - Fraction(sum(point), patches) for point in points])]
        for k in (1, 2, 3, 10**17):
            kept = min(k, patches)
            found.append((top_mean(column, k), [Fraction(sum(point[:kept]), kept) for point in points]))
        assert all(ends == (math.floor(min(truths)), math.ceil(max(truths))) for ends, truths in found)


@pytest.mark.parametrize("patches", [1, 2, 3, 4])
def test_max_minus_mean_distance_is_the_exact_range(patches: int) -> None:
    generator = random.Random(patches)
    for _ in range(40):
        column = random_column(generator, patches)
        low, high = max_minus_mean_distance(column)
        truths = [(similar(min(point), 1) - similar(sum(point), patches)) * UNIT for point in corners(column)]
        assert min(truths) - 9 < low <= max(0, min(truths) + 1)
        assert max(truths) - 1 <= high < max(truths) + 9


@pytest.mark.parametrize("infinite", [1, 2, 3])
def test_an_infinite_distance_is_the_limit_of_large_ones(infinite: int) -> None:
    generator = random.Random(infinite)
    for _ in range(40):
        column = random_column(generator, 3)
        for index in range(infinite):
            column[index] = (column[index][0], None, 1)
        far: Column = [(low, 1 << 120 if high is None else high, count) for low, high, count in column]
        result, limit = (max_minus_mean_distance(each) for each in (column, far))
        assert abs(result[0] - limit[0]) < 9
        assert abs(result[1] - limit[1]) < 9


def test_patches_that_are_alike_count_as_often_as_there_are() -> None:
    generator = random.Random(7)
    for _ in range(40):
        column = random_column(generator, 3)
        counts = [generator.randrange(1, 5) for _ in column]
        together: Column = [(low, high, count) for (low, high, _), count in zip(column, counts, strict=True)]
        apart: Column = [entry for entry, count in zip(column, counts, strict=True) for _ in range(count)]
        assert max_minus_mean(together) == max_minus_mean(apart)
        for k in (1, 2, 4, 9, 99):
            assert top_mean(together, k) == top_mean(apart, k)
        assert max_minus_mean_distance(together) == max_minus_mean_distance(apart)
        one_infinite: Column = [(together[0][0], None, counts[0]), *together[1:]]
        apart = [(apart[0][0], None, 1)] * counts[0] + apart[counts[0] :]
        assert max_minus_mean_distance(one_infinite) == max_minus_mean_distance(apart)


def test_a_similarity_is_bounded() -> None:
    with pytest.raises(ValueError, match="can be unbounded"):
        max_minus_mean([(0, None, 1)])
    with pytest.raises(ValueError, match="can be unbounded"):
        top_mean([(0, None, 1)], 1)


def test_statements_that_no_latent_satisfies_do_no_harm() -> None:
    """A negative upper end of a distance says so, and the logarithm is not asked for it."""
    low, high = max_minus_mean_distance([(0, -5, 1), (UNIT, 2 * UNIT, 1)])
    assert 0 <= low <= high


# A head of one prototype at 0 over [0, 1], one coordinate: class 0 wins where a > BAR. With one patch at 0 and one at 1
# a is about (6.9 - 0.7) / 2 = 3.1 (max_minus_mean) or 6.9 - 1.1 = 5.8 (of the mean distance).
KINDS = ("max_minus_mean", "max_minus_mean_distance")
BAR = 2.5
FIRST, SECOND = files.patch_statement(0, 0, 0.0, 0.0), files.patch_statement(1, 0, 1.0, 1.0)


def head(kind: str, bar: float = BAR, **changes: Any) -> bytes:
    return files.head([[1.0], [0.0]], [[0.0]], [0.0, bar], pooling={"kind": kind}, **changes)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("patches", [1, 2, 5])
def test_the_range_over_the_domain(patches: int, kind: str) -> None:
    """All patches but one at 1, that one at 0."""
    box = Pooling(Space(read_head(head(kind)), load_arithmetic("arb"))).box({}, patches)
    mean = (similar(0, 1) + (patches - 1) * similar(UNIT, 1)) / patches
    if kind == "max_minus_mean_distance":
        mean = similar((patches - 1) * UNIT, patches)
    assert box.lower == [0]
    assert box.upper[0] / 2**box.bits == pytest.approx(similar(0, 1) - mean, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_billion_patches(kind: str, kernel: str) -> None:
    """Patches without statements are all alike: their number is a factor, no loop."""
    start = process_time()
    many = 10**17
    data = head(kind, bar=-1.0)
    certificate = files.certificate(data, [FIRST, SECOND], patches=many)
    assert check(certificate, data, kernel=kernel).status is Status.PROVED
    top_k = files.certificate(data, [files.order_clause([], 9.0)], patches=many, paradigm="top_k")
    assert check(top_k, data, kernel=kernel).status is Status.PROVED
    assert process_time() - start < 5


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_mean_of_whole_distances_is_no_whole_number(kernel: str) -> None:
    """Exact distances 0, 1, 1 need no bit after the point, their mean does."""
    space = Space(read_head(head(KINDS[1])), load_arithmetic(kernel))
    box = Evaluation(space, EnclosedLatents.exactly(exact([0.0, 1.0, 1.0], 1))).activations(64)
    truth = similar(0, 1) - similar(2 * UNIT, 3)
    assert box.lower[0] / 2**64 == pytest.approx(truth, abs=1e-12)
    assert box.upper[0] / 2**64 == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("patches", [3, 4, 10**17])
def test_patches_without_statements_have_the_columns_of_a_mask(patches: int) -> None:
    """An upper end is the domain's, unless there are statements about all patches that the prototype looks at."""
    mask = [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    data = files.head([[1.0] * 2] * 2, [[0.0]] * 2, mask=mask, pooling={"kind": "masked_max"})
    space = Space(read_head(data), load_arithmetic("arb"))
    pooling, half = Pooling(space), [1 << space.bits - 1] * 2
    middle, domain = (pooling.similarities(each).upper for each in (Ranges(half, half), space.domain))
    part = pooling.part(Ranges(half, half))
    for stated, full in (
        ([], []),
        ([0, 2], [0]),
        ([1], []),
        ([1, 2], [1] if patches == 3 else []),
        ([0, 1, patches - 1], [0, 1] if patches == 3 else [0]),
        ([0, *range(1, min(patches, 4))], [0, 1] if patches < 5 else [0]),
    ):
        box = pooling.box(dict.fromkeys(stated, part), patches)
        assert box.upper == [(middle if j in full else domain)[j] for j in range(2)]


@pytest.mark.parametrize("k", [1, 2, 5, 10**17])
def test_top_mean_counts_patches_without_statements(k: int) -> None:
    """One patch at 0, the others anywhere in [0, 1]: the mean of k is at least that of one S(0) and k - 1 S(1)."""
    for patches in (1, 2, 10**17):
        kept = min(k, patches)
        least = (math.log(1 / EPSILON) + (kept - 1) * similar(UNIT, 1)) / kept
        for bar, proved in ((least - 1e-9, True), (least + 1e-9, False)):
            data = files.head([[1.0], [0.0]], [[0.0]], [0.0, bar], pooling={"kind": "top_mean", "k": k})
            for kernel in KERNELS:
                verdict = check(files.certificate(data, [FIRST], patches=patches), data, kernel=kernel)
                assert (verdict.status is Status.PROVED) == proved


# From pooled observables to activations, and pooling itself.


WEIGHT = [[1.0] * 3, [0.0] * 3]
EUCLIDEAN = {"geometry": files.EUCLIDEAN, "domain": files.domain(0.0, 1.0)}


def space(geometry: str, kernel: str, epsilon: float = 1e-4) -> Space:
    rows = [[3.0, -4.0], [0.1, 1e-30], [5e-324, 1e200]]
    if geometry == "euclidean":
        return Space(read_head(files.head(WEIGHT, rows, similarity=files.log_ratio(epsilon))), load_arithmetic(kernel))
    return Space(
        read_head(files.head(WEIGHT, rows, geometry=files.cosine(0.0), similarity=files.IDENTITY)),
        load_arithmetic(kernel),
    )


def test_an_infinite_distance_has_similarity_zero_and_a_negative_one_is_none() -> None:
    where = space("euclidean", "arb")
    assert Pooling(where).similarities(Ranges([0, 0, 0], None)).lower == [0, 0, 0]
    similarity = Pooling(where)
    assert similarity.similarities(Ranges([0] * 3, [-5] * 3)) == similarity.similarities(Ranges([0] * 3, [0] * 3))


@pytest.mark.parametrize("kernel", KERNELS)
def test_cosines_are_divided_by_the_norm_outward(kernel: str) -> None:
    where = space("cosine", kernel)
    norms = [root(Fraction(int(square))) for square in where.squares]
    generator = random.Random(2)
    for more in (0, 3000) * 25:  # far beyond any cosine it shows which end of the norm divides
        lows = [-generator.getrandbits(where.bits + more), generator.getrandbits(where.bits + more), 0]
        highs = [generator.choice((-1, 0, 1)) + low for low in lows]
        box = Pooling(where).similarities(Ranges(lows, highs))
        for low, high, least, greatest, norm in zip(lows, highs, box.lower, box.upper, norms, strict=True):
            assert least <= max(low / end for end in norm)
            assert greatest >= min(high / end for end in norm)
            assert more or least > min(low / end for end in norm) - 2
            assert more or greatest < max(high / end for end in norm) + 2


def of_kind(similarity: dict[str, Any], kernel: str = "arb", **parts: Any) -> Space:
    """A head of three prototypes (0.6, 0.8)."""
    changes = EUCLIDEAN | parts | {"similarity": similarity}
    points = None if changes["geometry"] == files.SOFTMAX else [[0.6, 0.8]] * 3
    return Space(read_head(files.head(WEIGHT, points, **changes)), load_arithmetic(kernel))


EXP_DISTANCE = {"kind": "exp_distance", "epsilon": (1e-14).hex()}


def test_infinite_distances_have_the_limit_zero() -> None:
    for similarity in (EXP_DISTANCE, {"kind": "exponential"}):
        where = of_kind(similarity)
        box = Pooling(where).similarities(Ranges([0] * 3, None))
        assert box.lower == [0] * 3
        assert max(box.upper) <= 1 << where.bits
    with pytest.raises(ValueError, match="only a squared distance can be unbounded"):
        Pooling(of_kind({"kind": "quadratic"})).similarities(Ranges([0] * 3, None))


@pytest.mark.parametrize("kernel", KERNELS)
def test_exponentials_do_not_exceed_one(kernel: str) -> None:
    """Nor does an end beyond what a cosine can be make them: exp of a large number is not asked for."""
    where = of_kind({"kind": "exponential"}, kernel, geometry=files.cosine(0.5), domain=files.domain(None, None))
    far = 10**40 << where.bits
    assert Pooling(where).similarities(Ranges([far] * 3, [far] * 3)).upper == [1 << where.bits] * 3
    slight = ExactHead(WEIGHT, [[0.5]] * 3, {"similarity": {"kind": "exponential"}}, scale=[2.0**-80] * 3)
    where = Space(read_head(slight.data), load_arithmetic(kernel))
    assert where.arithmetic.exp(-1, -where.bits - 80, where.bits)[1] > 1 << where.bits  # what is cut
    assert Pooling(where).similarities(Ranges([1] * 3, [1] * 3)).upper == [1 << where.bits] * 3
    plain = ExactHead(WEIGHT, [[0.5]] * 3, {"similarity": {"kind": "exp_distance", "epsilon": "0x0p+0"}})
    where = Space(read_head(plain.data), load_arithmetic(kernel))
    box = Pooling(where).similarities(Ranges([0] * 3, [0] * 3))
    assert box.lower == box.upper == [1 << where.bits] * 3


def test_a_threshold_is_met_exactly() -> None:
    """At t the mass counts, one unit of the grid below it does not; a mass that may be either is 0 or more."""
    where = of_kind({"kind": "threshold", "threshold": (0.3).hex()}, geometry=files.SOFTMAX)
    t = ceil_at(Fraction(0.3), where.bits)
    assert Fraction(t, 1 << where.bits) == Fraction(0.3)
    result = Pooling(where).similarities(Ranges([t, t - 1, 0], [t + 5, t + 5, t - 1]))
    assert (result.lower, result.upper) == ([t, 0, 0], [t + 5, t + 5, 0])
