"""a = S(min_l d_l) - S(mean_l d_l) with d_l in [lo_l, hi_l], l = 1..L, d_l >= 0, S decreasing and convex, has exactly
the range

    sup = max_l (S(lo_l) - S((lo_l + sum_{i != l} hi_i) / L)),
    inf = S(T) - S(mean_l max(lo_l, T)) with T = min_l hi_l.

Proof. *Increments shrink*: for x <= y and h >= 0, S(x) - S(x + h) >= S(y) - S(y + h). The points x + h and y lie
between x and y + h, at shares of the way that sum to one. S is convex, so at both points it is at most the chord, and
the two chord values sum to S(x) + S(y + h).

Sup: let m = d_l be the least and M = (m + sum_{i != l} hi_i) / L, so mean d <= M and a <= S(m) - S(M). With
h = (m - lo_l) / L and N = M - h, the mean of the term of l, lo_l <= N; by increments
S(N) - S(M) <= S(lo_l) - S(lo_l + h), which is at most S(lo_l) - S(m) as lo_l + h <= m. So
S(m) - S(M) <= S(lo_l) - S(N). Conversely d_l = lo_l and d_i = hi_i has min d <= lo_l, so its a is at least the term of
l.

Inf: let m = min d <= T and M = mean max(lo_l, m) <= mean d, so a >= S(m) - S(M). From m to T that mean grows to N, by
h = N - M <= T - m; by increments S(M) - S(N) <= S(m) - S(m + h) <= S(m) - S(T). So S(m) - S(M) >= S(T) - S(N). It is
attained at d_l = max(lo_l, T) <= hi_l, whose least is T, as the patch with hi_l = T has it.

This is the proof of the docstring in `verale/checker/reading/pooling.py` without its derivatives. `log_ratio` proves
that log_ratio is decreasing and convex. An infinite hi_l stands for its limit: S = 0 there.

Z3 proves the increments from convexity at the two points, as polynomials; the two ends for one, two and three
patches, with S a free function of which only the instances named above are given; what attains them; and that a
candidate of greater distance and smaller sum never gives more, on which `_unbeaten` rests.

What Z3 does not do: any number of patches (the human proof), and the limit.

Reference: docs/design.md, 3.3.
"""

from __future__ import annotations

from dataclasses import replace

import z3

from .lemma import Case, Lemma, greatest, least, main

_S = z3.Function("S", z3.RealSort(), z3.RealSort())


def _falls(x: z3.ArithRef, y: z3.ArithRef) -> z3.BoolRef:
    return z3.Implies(x <= y, _S(x) >= _S(y))


def _shrink(x: z3.ArithRef, y: z3.ArithRef, h: z3.ArithRef) -> z3.BoolRef:
    return z3.Implies(z3.And(x <= y, h >= 0), _S(x) - _S(x + h) >= _S(y) - _S(y + h))


class _Patches:
    """L patches, the first of which is the nearest, as the order does not matter."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.d, self.lo, self.hi = (z3.RealVector(name, count) for name in ("d", "lo", "hi"))
        self.ranges = [
            z3.And(0 <= low, low <= d, d <= high) for d, low, high in zip(self.d, self.lo, self.hi, strict=True)
        ]
        self.given = [*self.ranges, *(self.d[0] <= other for other in self.d[1:])]
        self.near = least(*self.hi)

    @property
    def value(self) -> z3.ArithRef:
        return _S(self.d[0]) - _S(self.mean(self.d))

    def mean(self, d: list[z3.ArithRef]) -> z3.ArithRef:
        return z3.Sum(d) / self.count

    def at_least(self, d: z3.ArithRef) -> z3.ArithRef:
        """The mean where no patch is nearer than d."""
        return self.mean([greatest(low, d) for low in self.lo])

    def term(self, patch: int, d: z3.ArithRef) -> z3.ArithRef:
        """The mean with one patch at d and the others at their farthest."""
        return self.mean([d, *(high for i, high in enumerate(self.hi) if i != patch)])


def _supremum(count: int, convex: bool = True) -> Case:
    p = _Patches(count)
    m, low, far, step = p.d[0], p.lo[0], p.term(0, p.d[0]), (p.d[0] - p.lo[0]) / count
    start = p.term(0, low)
    given = [
        *p.given,
        _falls(p.mean(p.d), far),
        _falls(low + step, m),
        _falls(low, m),
        _falls(start, far),
    ]
    if convex:
        given.append(_shrink(low, start, step))
    return Case(f"the upper end, {count} patches", given, p.value <= _S(low) - _S(start))


def _infimum(count: int, near: z3.ArithRef | None = None) -> Case:
    p = _Patches(count)
    m, near = p.d[0], p.near if near is None else near
    start, end = p.at_least(m), p.at_least(near)
    step = end - start
    given = [*p.given, _falls(start, p.mean(p.d)), _falls(m + step, near), _shrink(m, start, step)]
    return Case(f"the lower end, {count} patches", given, p.value >= _S(near) - _S(end))


def _attained(count: int) -> Case:
    """Where the least distance is T and the mean is the one of the lower end; where the least is at most lo_l."""
    p = _Patches(count)
    lowest = [greatest(low, p.near) for low in p.lo]
    claims = [least(*lowest) == p.near, p.mean(lowest) == p.at_least(p.near)]
    claims += [z3.And(low <= d, d <= high) for low, d, high in zip(p.lo, lowest, p.hi, strict=True)]
    for patch in range(count):
        other = [p.lo[i] if i == patch else p.hi[i] for i in range(count)]
        claims += [least(*other) <= p.lo[patch], p.mean(other) == p.term(patch, p.lo[patch])]
    return Case(f"what attains the ends, {count} patches", p.ranges, z3.And(claims))


def _increments() -> Case:
    """S at x, x + h, y and y + h; its values at the two in between are at most those of the chord."""
    x, y, h, first, one, other, last = z3.Reals("x y h S_x S_xh S_y S_yh")
    way = y + h - x
    chord = [one * way <= first * (way - h) + last * h, other * way <= first * h + last * (way - h)]
    return Case(
        "increments of a convex function shrink", [x <= y, h > 0, *chord], first - one >= other - last, "qfnra-nlsat"
    )


_NEAR, _FAR, _SUM, _LESS = z3.Reals("near far sum less")
_TWO = _Patches(2)

LEMMA = Lemma(
    rules=("pooling",),
    code=("verale/checker/reading/pooling.py", "verale/bounds/pooling.py"),
    cases=(
        _increments(),
        *(case(count) for count in (1, 2, 3) for case in (_supremum, _infimum, _attained)),
        Case(
            "a candidate that another beats",
            [_NEAR <= _FAR, _LESS <= _SUM, _falls(_NEAR, _FAR), _falls(_LESS, _SUM)],
            _S(_FAR) - _S(_LESS) <= _S(_NEAR) - _S(_SUM),
        ),
    ),
    twins=(
        replace(_supremum(2, convex=False), says="the upper end, two patches, S not convex"),
        replace(_infimum(2, near=_TWO.lo[0]), says="the lower end from a lower end"),
        Case(
            "both terms from the lower ends",
            [*_TWO.given, _S(_TWO.lo[0]) > _S(_TWO.d[0]), _TWO.lo[0] < _TWO.d[0]],
            _TWO.value <= _S(_TWO.lo[0]) - _S(_TWO.mean(_TWO.lo)),
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
