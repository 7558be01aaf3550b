"""From pooled observables to activations, and pooling itself."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from support import files
from support.exact import Head as ExactHead
from support.rationals import root

from verale.checker.dyadic import ceil_at, floor_at
from verale.checker.head import read_head
from verale.checker.options import KERNELS, load_arithmetic
from verale.checker.reading.pooling import Pooling
from verale.checker.reading.space import Ranges, Space

WEIGHT = [[1.0] * 3, [0.0] * 3]
EUCLIDEAN = {"geometry": files.EUCLIDEAN, "domain": files.domain(0.0, 1.0)}
COSINE = {"geometry": files.cosine(0.5)}
INNER = {"geometry": {"kind": "inner_product", "radius": None}, "domain": files.domain(0.0, 1.0)}


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


KINDS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "negated": ({}, EUCLIDEAN),
    "log_ratio": ({"epsilon": (1e-4).hex()}, EUCLIDEAN),
    "exp_distance": ({"epsilon": (1e-14).hex()}, EUCLIDEAN),
    "exponential": ({}, EUCLIDEAN),
    "exponential of cosines": ({}, COSINE),
    "quadratic": ({}, EUCLIDEAN),
    "quadratic of inner products": ({}, INNER),
    "rectified": ({}, INNER),
    "threshold": ({"threshold": (0.3).hex()}, {"geometry": files.SOFTMAX}),
}
SCALES, PEAKS = [0.1, 1.0, 7.0], [0.1, -0.7, 3.0]


def kind_space(name: str, kernel: str) -> Space:
    kind, (fields, changes) = name.split()[0], KINDS[name]
    softmax = changes["geometry"] == files.SOFTMAX
    built = ExactHead(
        WEIGHT[:2],
        None if softmax else [[0.6, 0.8]] * 3,
        {**changes, "similarity": {"kind": kind, **fields}},
        scale=SCALES if kind in ("negated", "exponential") else None,
        peak=PEAKS if kind == "quadratic" else None,
    )
    return Space(read_head(built.data), load_arithmetic(kernel))


def truth(name: str, m: Fraction, j: int) -> Any:
    """S(m), in mpmath's 400 digits."""
    x, scale = mpmath.mpf(m.numerator) / m.denominator, mpmath.mpf(SCALES[j])
    match name:
        case "negated":
            return -scale * x
        case "log_ratio":
            return mpmath.log((x + 1) / (x + mpmath.mpf(1e-4)))
        case "exp_distance":
            return mpmath.exp(-mpmath.sqrt(x + mpmath.mpf(1e-14)))
        case "exponential":
            return mpmath.exp(-scale * x)
        case "exponential of cosines":
            return mpmath.exp(-scale * (1 - x))
        case "rectified":
            return max(mpmath.mpf(0), x)
        case "threshold":
            return x if m >= Fraction(0.3) else mpmath.mpf(0)
        case _:
            return -((x - mpmath.mpf(PEAKS[j])) ** 2)


def domain_of(name: str, generator: random.Random) -> tuple[Fraction, Fraction]:
    low, high = sorted(Fraction(generator.getrandbits(130), 1 << 130) for _ in "lh")
    if "inner" in name or name == "rectified":
        low, high = 4 * low - 2, 4 * high - 2
    elif name not in ("threshold", "exponential of cosines"):
        low, high = 20 * low, 20 * high
    return low, high


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", KINDS)
def test_every_similarity_takes_a_range_to_its_exact_range(name: str, kernel: str) -> None:
    """Both at the grid's precision (`Pooling`) and at another (`Similarity.ends`): tight to the last units."""
    where = kind_space(name, kernel)
    similarity, generator = Pooling(where), random.Random(name)
    with mpmath.workdps(400):
        for trial in range(40):
            ends = [domain_of(name, generator) for _ in range(3)]
            if trial % 4 == 0:
                ends = [(low, low) for low, _ in ends]
            lower, upper = (
                [floor_at(low, where.bits) for low, _ in ends],
                [ceil_at(high, where.bits) for _, high in ends],
            )
            ranges = Ranges(lower, upper)
            if where.head.geometry == "cosine":  # the working observable is |A| m
                norms = where.norms
                ranges = Ranges(
                    [low * norm[0] >> where.bits for low, norm in zip(lower, norms, strict=True)],
                    [(high * norm[1] >> where.bits) + 1 for high, norm in zip(upper, norms, strict=True)],
                )
            box = similarity.similarities(ranges)
            for j, (low, high) in enumerate(zip(lower, upper, strict=True)):
                values = [truth(name, Fraction(end, 1 << where.bits), j) for end in (low, high)]
                if "quadratic" in name and low <= PEAKS[j] * 2**where.bits <= high:
                    values.append(mpmath.mpf(0))
                other = where.head.similarity.ends(where.arithmetic, j, low, high, where.bits, 60)
                for (least, most), bits in (((box.lower[j], box.upper[j]), box.bits), (other, 60)):
                    assert 0 <= min(values) * mpmath.mpf(2) ** bits - least < 400
                    assert 0 <= most - max(values) * mpmath.mpf(2) ** bits < 400


def test_infinite_distances_have_the_limit_zero() -> None:
    for name in ("exp_distance", "exponential"):
        where = kind_space(name, "arb")
        box = Pooling(where).similarities(Ranges([0] * 3, None))
        assert box.lower == [0] * 3
        assert max(box.upper) <= 1 << where.bits
    with pytest.raises(ValueError, match="only a squared distance can be unbounded"):
        Pooling(kind_space("quadratic", "arb")).similarities(Ranges([0] * 3, None))


@pytest.mark.parametrize("kernel", KERNELS)
def test_exponentials_do_not_exceed_one(kernel: str) -> None:
    """Nor does an end beyond what a cosine can be make them: exp of a large number is not asked for."""
    where = kind_space("exponential of cosines", kernel)
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
    where = kind_space("threshold", "arb")
    t = ceil_at(Fraction(0.3), where.bits)
    assert Fraction(t, 1 << where.bits) == Fraction(0.3)
    result = Pooling(where).similarities(Ranges([t, t - 1, 0], [t + 5, t + 5, t - 1]))
    assert (result.lower, result.upper) == ([t, 0, 0], [t + 5, t + 5, 0])
