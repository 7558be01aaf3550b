"""a = max_l g_l - mean_l g_l with g_l in [lo_l, hi_l], l = 1..L, has exactly the range

    sup = max_l ((L - 1) hi_l - sum_{i != l} lo_i) / L,    inf = mean_l max(0, t - hi_l) with t = max_l lo_l.

Proof. Let g_l be the greatest: a = ((L - 1) g_l - sum_{i != l} g_i) / L is at most the term of l. Conversely g_l = hi_l
and g_i = lo_i has max g >= hi_l, so its a is at least that term. For inf let M = max g >= t. As g_l <= min(hi_l, M),
a >= M - mean min(hi_l, M) = mean max(0, M - hi_l), which does not fall with M, so M = t gives the least. It is attained
at g_l = min(hi_l, t), which is at least lo_l.

Z3 proves both ends, and that the values above attain them, for one to four patches; the problem is linear. Any L is the
human proof. Z3 also proves that bounding the two terms separately (the published form) is never tighter.

Reference: docs/design.md, 3.3; Beyond L2 (arXiv 2608.16773), section 3.5.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, greatest, least, main

_ZERO = z3.RealVal(0)


class _Patches:
    """L patches."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.g, self.lo, self.hi = (z3.RealVector(name, count) for name in ("g", "lo", "hi"))
        self.given = [
            z3.And(self.lo[patch] <= self.g[patch], self.g[patch] <= self.hi[patch]) for patch in range(count)
        ]
        self.terms = [
            ((count - 1) * self.hi[patch] - z3.Sum(self.lo) + self.lo[patch]) / count for patch in range(count)
        ]
        self.highest = greatest(*self.lo)
        self.inf = z3.Sum([greatest(_ZERO, self.highest - high) for high in self.hi]) / count

    def value(self, g: list[z3.ArithRef]) -> z3.ArithRef:
        return greatest(*g) - z3.Sum(g) / self.count


def _range(count: int) -> Case:
    p = _Patches(count)
    a = p.value(p.g)
    return Case(f"the range, {count} patches", p.given, z3.And(p.inf <= a, a <= greatest(*p.terms)))


def _attained(count: int) -> Case:
    p = _Patches(count)
    lowest = [least(high, p.highest) for high in p.hi]
    claims = [p.value(lowest) == p.inf, *(low <= g for low, g in zip(p.lo, lowest, strict=True))]
    for patch in range(count):
        claims.append(p.value([p.hi[i] if i == patch else p.lo[i] for i in range(count)]) >= p.terms[patch])
    return Case(f"both ends attained, {count} patches", p.given, z3.And(claims))


def _apart(count: int) -> Case:
    p = _Patches(count)
    most, least_ = greatest(*p.hi) - z3.Sum(p.lo) / count, p.highest - z3.Sum(p.hi) / count
    return Case(f"not looser than apart, {count} patches", p.given, z3.And(greatest(*p.terms) <= most, p.inf >= least_))


_TWO, _THREE = _Patches(2), _Patches(3)

LEMMA = Lemma(
    rules=("pooling",),
    code=("verale/checker/reading/pooling.py", "verale/bounds/pooling.py"),
    cases=tuple(case(count) for count in (1, 2, 3, 4) for case in (_range, _attained, _apart)),
    twins=(
        Case(
            "the supremum is at the greatest upper end",
            [*_TWO.given, _TWO.hi[0] >= _TWO.hi[1]],
            _TWO.value(_TWO.g) <= _TWO.terms[0],
        ),
        Case(
            "each end from ends of its own kind",
            _THREE.given,
            _THREE.value(_THREE.g) <= greatest(*_THREE.hi) - z3.Sum(_THREE.hi) / 3,
        ),
        Case(
            "the infimum with the greatest upper end",
            _THREE.given,
            _THREE.value(_THREE.g) >= z3.Sum([greatest(*_THREE.hi) - high for high in _THREE.hi]) / 3,
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
