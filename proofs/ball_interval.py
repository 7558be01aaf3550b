"""The ball lemma under intervals: with lo_j <= |z - p_j|^2 <= hi_j, multipliers lam_j that sum to one, c and kappa as
in `ball_identity`,

    |z - c|^2 + kappa  <=  sum over lam_j > 0 of lam_j hi_j  +  sum over lam_j < 0 of lam_j lo_j,
    |z - c|^2 + kappa  >=  sum over lam_j > 0 of lam_j lo_j  +  sum over lam_j < 0 of lam_j hi_j.

As `projection` uses it: with v = z - p_0, b_i = p_i - p_0 and gamma = sum sigma_i b_i for any real sigma,

    |v - gamma|^2 = (1 - sum sigma_i) d_0^2 + sum sigma_i (d_i^2 - |b_i|^2) + |gamma|^2,

where every d^2 = |z - p|^2 occurs once and is taken at the end that the sign of its coefficient requires. If the upper
end is negative, no latent satisfies the statements, and 0 is as good. A negative lower end may be replaced by 0.

Proof. By `ball_identity` the middle is sum lam_j d_j^2. A term lam_j d_j^2 lies between lam_j lo_j and lam_j hi_j, in
this order for lam_j >= 0 and in the other for lam_j < 0; the inequalities are added. The second identity is the first
for lam_0 = 1 - sum sigma_i, lam_i = sigma_i, with p_0 as the origin.

What Z3 covers: one term, and one more term on a sum, from which any number follows by induction; and the whole, in
inner products and so in any dimension, for two and three anchors. More anchors are left to the proof above.

The first twin says of balls what "Beyond L2", Lemma 1, says of caps: it uses the ends of an equality although the
latent is only known to lie in the balls, without a lower end. It fails if a multiplier is negative, that is, if the
foot of the plane lies outside the segment.

Reference: docs/design.md, 3.1, 3.4; Soria et al., arXiv 2608.16773, Lemma 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3

from .lemma import Case, Lemma, main


def _end(multiplier: z3.ArithRef, where_positive: z3.ArithRef, where_negative: z3.ArithRef) -> z3.ArithRef:
    return multiplier * z3.If(multiplier > 0, where_positive, where_negative)


def _ball(anchors: int) -> Case:
    """|v - gamma|^2 for a base and further anchors, in the inner products of v and the b_i."""
    sigma, low, high = (z3.RealVector(name, anchors) for name in ("sigma", "low", "high"))
    vb = z3.RealVector("vb", anchors)
    bb = [[z3.Real(f"bb_{min(i, j)}_{max(i, j)}") for j in range(anchors)] for i in range(anchors)]
    base, low_0, high_0 = z3.Reals("base low_0 high_0")
    span = range(anchors)
    distances = [base - 2 * vb[i] + bb[i][i] for i in span]
    form = z3.Sum([sigma[i] * sigma[j] * bb[i][j] for i in span for j in span])
    square = base - 2 * z3.Sum([sigma[i] * vb[i] for i in span]) + form
    rest = form - z3.Sum([sigma[i] * bb[i][i] for i in span])
    own = 1 - z3.Sum(sigma)
    most = _end(own, high_0, low_0) + z3.Sum([_end(sigma[i], high[i], low[i]) for i in span]) + rest
    least = _end(own, low_0, high_0) + z3.Sum([_end(sigma[i], low[i], high[i]) for i in span]) + rest
    stated = [z3.And(low[i] <= distances[i], distances[i] <= high[i]) for i in span]
    return Case(
        f"|z - c|^2 between its ends, {anchors + 1} anchors, any dimension",
        [low_0 <= base, base <= high_0, *stated],
        z3.And(least <= square, square <= most),
    )


def _on_a_line(multipliers: Sequence[int], positions: Sequence[int]) -> tuple[list[z3.ArithRef], z3.ArithRef]:
    """The squared distances of z from anchors on a line, and |z - c|^2 + kappa: real points, for the twins."""
    z = z3.Real("z")
    pairs = list(zip(multipliers, positions, strict=True))
    centre = sum(m * p for m, p in pairs)
    kappa = sum(m * p * p for m, p in pairs) - centre * centre
    return [(z - p) * (z - p) for p in positions], (z - centre) * (z - centre) + kappa


LAM, X, LOW, HIGH, SUM, LEAST, MOST = z3.Reals("lam x low high sum least most")
HIGHS = z3.RealVector("high", 2)
LOWS = z3.RealVector("low", 2)
DISTANCES, WHOLE = _on_a_line((2, -1), (0, 1))
CAPS = [DISTANCES[j] <= HIGHS[j] for j in range(2)]
SHELLS = [*CAPS, *(LOWS[j] <= DISTANCES[j] for j in range(2))]

LEMMA = Lemma(
    rules=("search",),
    code=("verale/bounds/projection.py", "verale/bounds/hypersphere.py"),
    cases=(
        Case(
            "one term",
            [LOW <= X, X <= HIGH],
            z3.And(_end(LAM, LOW, HIGH) <= LAM * X, LAM * X <= _end(LAM, HIGH, LOW)),
        ),
        Case(
            "one more term: any number of them",
            [LOW <= X, X <= HIGH, LEAST <= SUM, SUM <= MOST],
            z3.And(LEAST + _end(LAM, LOW, HIGH) <= SUM + LAM * X, SUM + LAM * X <= MOST + _end(LAM, HIGH, LOW)),
        ),
        _ball(1),
        _ball(2),
    ),
    twins=(
        Case(
            "balls instead of shells, where no lower end is known",
            CAPS,
            WHOLE <= 2 * HIGHS[0] - HIGHS[1],
        ),
        Case("a negative multiplier takes the same end as a positive one", SHELLS, WHOLE <= 2 * HIGHS[0] - HIGHS[1]),
        Case("the lower end with the upper one's ends", SHELLS, WHOLE >= 2 * HIGHS[0] - LOWS[1]),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
