"""The mean of the k greatest of L similarities g_l in [lo_l, hi_l] (of all if there are fewer) lies between that
of the lo_l and that of the hi_l, and attains both. Also, if each is sorted, the i-th greatest of the lo_l is at most
the i-th greatest of the g_l, and that at most the i-th of the hi_l; so the k greatest ends of either kind may be paired
in order, whichever patches they belong to.

Proof. The sum of the k greatest is the greatest sum of any k of them, and no such sum falls when a g_l rises. The i-th
greatest is the maximum over sets of i of their least, which does not fall either. g = lo and g = hi attain the ends.

Z3 proves the range for one to four patches and k of one to four, as the greatest sum of any k; that this is the sum of
the k greatest of a sorted list; and the order of the i-th greatest for three.

Reference: docs/design.md, 3.3.
"""

from __future__ import annotations

from itertools import combinations, pairwise

import z3

from .lemma import Case, Lemma, greatest, least, main


def _sum_of_greatest(values: list[z3.ArithRef], k: int) -> z3.ArithRef:
    return greatest(*(z3.Sum(chosen) for chosen in combinations(values, min(k, len(values)))))


def _sorted(values: list[z3.ArithRef]) -> list[z3.ArithRef]:
    """Three numbers, the greatest first."""
    a, b, c = values
    return [greatest(a, b, c), greatest(least(a, b), least(a, c), least(b, c)), least(a, b, c)]


def _patches(count: int) -> tuple[list[z3.ArithRef], list[z3.ArithRef], list[z3.ArithRef], list[z3.BoolRef]]:
    g, lo, hi = (z3.RealVector(name, count) for name in ("g", "lo", "hi"))
    return g, lo, hi, [z3.And(low <= x, x <= high) for x, low, high in zip(g, lo, hi, strict=True)]


def _case(count: int, k: int) -> Case:
    g, lo, hi, given = _patches(count)
    low, own, high = (_sum_of_greatest(values, k) for values in (lo, g, hi))
    at_low = z3.Implies(z3.And([a == b for a, b in zip(g, lo, strict=True)]), own == low)
    at_high = z3.Implies(z3.And([a == b for a, b in zip(g, hi, strict=True)]), own == high)
    return Case(f"{count} patches, k = {k}", given, z3.And(low <= own, own <= high, at_low, at_high))


_G, _LO, _HI, _RANGES = _patches(3)
_DESCENDING = [a >= b for a, b in pairwise(_G)]

LEMMA = Lemma(
    rules=("pooling",),
    code=("verale/checker/reading/pooling.py", "verale/checker/reading/evaluation.py", "verale/bounds/pooling.py"),
    cases=(
        *(_case(count, k) for count, k in ((1, 2), (2, 2), (3, 2), (3, 4), (4, 2), (4, 3))),
        Case(
            "the k greatest come first",
            _DESCENDING,
            z3.And([_sum_of_greatest(_G, k) == z3.Sum(_G[:k]) for k in (1, 2)]),
        ),
        Case(
            "the i-th greatest are in order",
            _RANGES,
            z3.And(
                [z3.And(low <= own, own <= high) for low, own, high in zip(*map(_sorted, (_LO, _G, _HI)), strict=True)]
            ),
        ),
    ),
    twins=(
        Case(
            "the upper ends of the patches with the greatest lower ends",
            [*_RANGES, _LO[0] >= _LO[1], _LO[1] >= _LO[2]],
            _sum_of_greatest(_G, 2) <= _HI[0] + _HI[1],
        ),
        Case("divided by k where there are fewer", _patches(1)[3], _G[0] / 2 >= _LO[0]),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
