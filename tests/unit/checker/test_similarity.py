"""From pooled observables to activations, and pooling itself."""

from __future__ import annotations

import random
from fractions import Fraction

import handmade as hm
import mpmath
import pytest

from verale.checker.head_file import read_head
from verale.checker.kernel import KERNELS, load_kernel
from verale.checker.rules.pooling import pool
from verale.checker.rules.similarity import Similarity
from verale.checker.rules.space import Ranges, Space

WEIGHT = [[1.0] * 3, [0.0] * 3]


def space(geometry: str, kernel: str, epsilon: float = 1e-4) -> Space:
    rows = [[3.0, -4.0], [0.1, 1e-30], [5e-324, 1e200]]
    if geometry == "euclidean":
        return Space(read_head(hm.head(WEIGHT, rows, similarity=hm.log_ratio(epsilon))), load_kernel(kernel))
    return Space(read_head(hm.head(WEIGHT, rows, geometry=hm.cosine(0.0), similarity=hm.IDENTITY)), load_kernel(kernel))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("epsilon", [1e-4, 0.5, 1 - 2.0**-53, 1e-300])
def test_log_ratio_swaps_the_ends(epsilon: float, kernel: str) -> None:
    rows = [[0.5, 0.25]] * 3
    where = Space(read_head(hm.head(WEIGHT, rows, similarity=hm.log_ratio(epsilon))), load_kernel(kernel))
    similarity = Similarity(where)
    generator = random.Random(1)
    with mpmath.workdps(400):
        for _ in range(20):
            lows = [generator.choice((0, 1, generator.getrandbits(where.bits + 4))) for _ in range(3)]
            highs = [low + generator.getrandbits(where.bits) for low in lows]
            box = similarity.activations(Ranges(lows, highs))
            for low, high, least, greatest in zip(lows, highs, box.lower, box.upper, strict=True):
                for d, end, sign in ((low, greatest, 1), (high, least, -1)):
                    x = mpmath.mpf(d) / mpmath.mpf(2) ** where.bits
                    truth = mpmath.log((x + 1) / (x + mpmath.mpf(epsilon))) * mpmath.mpf(2) ** box.bits
                    assert 0 <= sign * (end - truth) <= 2


def test_an_infinite_distance_has_similarity_zero_and_a_negative_one_is_none() -> None:
    where = space("euclidean", "arb")
    assert Similarity(where).activations(Ranges([0, 0, 0], None)).lower == [0, 0, 0]
    similarity = Similarity(where)
    assert similarity.activations(Ranges([0] * 3, [-5] * 3)) == similarity.activations(Ranges([0] * 3, [0] * 3))


def test_only_distances_may_be_infinite() -> None:
    with pytest.raises(ValueError, match="only a squared distance"):
        Similarity(space("cosine", "arb")).activations(Ranges([0, 0, 0], None))


@pytest.mark.parametrize("kernel", KERNELS)
def test_cosines_are_divided_by_the_norm_outward(kernel: str) -> None:
    where = space("cosine", kernel)
    norms = [hm.root(Fraction(int(square))) for square in where.squares]
    generator = random.Random(2)
    for more in (0, 3000) * 25:  # far beyond any cosine it shows which end of the norm divides
        lows = [-generator.getrandbits(where.bits + more), generator.getrandbits(where.bits + more), 0]
        highs = [generator.choice((-1, 0, 1)) + low for low in lows]
        box = Similarity(where).activations(Ranges(lows, highs))
        for low, high, least, greatest, norm in zip(lows, highs, box.lower, box.upper, norms, strict=True):
            assert least <= max(low / end for end in norm)
            assert greatest >= min(high / end for end in norm)
            assert more or least > min(low / end for end in norm) - 2
            assert more or greatest < max(high / end for end in norm) + 2


def test_pooling() -> None:
    ranges = [Ranges([1, 5], [4, 9]), Ranges([2, 3], [3, 8]), Ranges([0, 7], [6, 7])]
    assert pool(ranges, smallest=True) == Ranges([0, 3], [3, 7])
    assert pool(ranges, smallest=False) == Ranges([2, 7], [6, 9])


def test_pooling_of_unbounded_distances() -> None:
    bounded, unbounded = Ranges([1, 5], [4, 9]), Ranges([2, 3], None)
    assert pool([bounded, unbounded], smallest=True) == Ranges([1, 3], [4, 9])
    assert pool([unbounded, bounded], smallest=True) == Ranges([1, 3], [4, 9])
    assert pool([unbounded, unbounded], smallest=True) == unbounded
