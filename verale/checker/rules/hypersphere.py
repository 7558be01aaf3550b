"""The paradigm `hypersphere`: the statements about a patch, one after the other, move a virtual anchor c. Each position
of c bounds every observable; the range is the intersection of these bounds.

**Rule, euclidean.** c starts at the first statement's prototype. Let rho^2 be |z - c|^2 and d^2 the next observable, to
p, both at the middles of what is stated, and x = |p - c|^2. Where x <= (rho^2 + d^2) / 2^13, c stays. Else it becomes
(1 - t) c + t p, t being 1/2 + (rho^2 - d^2) / (2 x) rounded to a multiple of 2^-18: the foot of the plane in which the
spheres about c and p meet.

**Lemma.** Let c = sum w_i p_i with sum w_i = 1. Then |z - c|^2 = sum w_i d_i^2 - sum w_i |p_i|^2 + |c|^2 for every z.
With r = |z - c| in [r_lo, r_hi] and q = |p_k - c|: max(0, q - r_hi, r_lo - q) <= d_k <= q + r_hi.
*Proof.* |z - p_i|^2 = |z - c|^2 + 2 <z - c, c - p_i> + |c - p_i|^2; with the weights w_i the middle terms sum to 0, and
sum w_i |c - p_i|^2 = sum w_i |p_i|^2 - |c|^2. The rest is the triangle inequality for z, c and p_k.

**Rule, cosine.** u = z / (|z| + E), q_i = p_i / |p_i|, |u| <= 1. c starts at q_0. Let s be <u, c> and m the next
observable, with q, both at their middles. c becomes a c + b q, the projection of u on the span of c and q, that is
    a = (s - m <c, q>) / x,  b = (m |c|^2 - s <c, q>) / x,  x = |c|^2 - <c, q>^2,  each rounded to a multiple of 2^-18;
it stays where x <= |c|^2 / 2^13 or the projection's squared length a s + b m <= 2^-13.

**Lemma.** Let c be any vector, s = <u, c>, g = <c, A> and n = |c|^2 > 0. Then <u, A> n lies within
((n - s^2) (n |A|^2 - g^2))^(1/2) of s g.
*Proof.* u - (s / n) c and A - (g / n) c are orthogonal to c. Their squares are |u|^2 - s^2 / n <= 1 - s^2 / n and
|A|^2 - g^2 / n, their product is <u, A> - s g / n. Cauchy and Schwarz.

Both lemmas hold for any weights, so any rounding of a multiplier is sound. The rounding is coarse so that a search in
float64 finds the same c. Integers are exact; roots, quotients and ends are rounded outward to the grid.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..certificate import PatchStatement
from ..dyadic import ceil_shift, dot, floor_shift
from .projection import Projection
from .space import Ranges, Space

__all__ = ["Hypersphere"]

_STEP_BITS = 18
_CONCENTRIC_BITS = 13
_WEIGHT_BITS = 128  # of the weights of the c; far more than float64 has


@dataclass(frozen=True)
class _Position:
    """One position of c: the integer vector c = sum w_i A_i at 2^-e, |c|^2 at 2^-2e, and the ends of |z - c|^2 on the
    grid (euclidean) or of <u, c> at 2^-e (cosine)."""

    centre: list[int]
    square: int
    low: int
    high: int


class Hypersphere:
    """Ranges of one patch of a euclidean or cosine head."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._stated = Projection(space).stated
        self._euclidean = space.head.geometry == "euclidean"
        longest = 1 if self._euclidean else max(high for _, high in space.norms) >> space.bits
        self._bits = _WEIGHT_BITS + longest.bit_length()  # e

    def ranges(self, statements: Sequence[PatchStatement]) -> Ranges:
        """The range of every working observable of a patch, given its statements in their order: what every position of
        c says, intersected with the domain's range and with what is stated about the observable itself."""
        if not statements:
            return self._space.domain
        kernel = self._space.kernel
        stated = [self._stated(statement) for statement in statements]
        prototypes = [statement.prototype for statement in statements]
        positions = list((self._spheres if self._euclidean else self._poles)(prototypes, stated))
        centres = kernel.matrix(list(zip(*([*position.centre, 0] for position in positions), strict=True)))
        lower: list[int] = []
        upper: list[int] = []
        for chunk in self._space.chunks:
            products = zip(*kernel.rows(kernel.product(chunk.extended, centres)), strict=True)
            each = [
                (self._distances if self._euclidean else self._products)(position, chunk.squares, row)
                for position, row in zip(positions, products, strict=True)
            ]
            lower += map(max, zip(*(low for low, _ in each), strict=True))
            upper += map(min, zip(*(high for _, high in each), strict=True))
        for prototype, (low, high) in zip(prototypes, stated, strict=True):
            lower[prototype] = max(lower[prototype], low)
            upper[prototype] = min(upper[prototype], high)
        return Ranges(lower, upper).met(self._space.domain)

    def _spheres(self, prototypes: Sequence[int], stated: Sequence[tuple[int, int]]) -> Iterator[_Position]:
        """The positions of c, euclidean. The weights sum to 1 exactly."""
        e, lift = self._bits, self._space.lift
        one, step = 1 << e, 1 << _STEP_BITS
        vectors: list[list[int]] = []
        weights: list[int] = []
        ends: list[tuple[int, int]] = []
        centre, square, moment = [0] * self._space.head.depth, 0, 0
        for prototype, (low, high) in zip(prototypes, stated, strict=True):
            vector = self._space.vectors[prototype]
            share = step
            if weights:  # everything doubled, at 2^-2e on the grid
                apart = (dot(vector, vector) << 2 * e) - (dot(centre, vector) << e + 1) + square << lift
                radius = (sum(w * (a + b) for w, (a, b) in zip(weights, ends, strict=True)) << e) - 2 * moment
                distance = low + high << 2 * e
                if apart << _CONCENTRIC_BITS + 1 <= radius + distance:
                    continue
                share = ((2 * apart + radius - distance << _STEP_BITS) + 2 * apart) // (4 * apart)
            weights = [w * (step - share) >> _STEP_BITS for w in weights]
            weights.append(one - sum(weights))
            vectors.append(vector)
            ends.append((low, high))
            centre, square = _combined(weights, vectors)
            moment = (sum(w * dot(v, v) for w, v in zip(weights, vectors, strict=True)) << e) - square << lift
            least, most = _ends(weights, ends)
            yield _Position(
                centre,
                square,
                max(0, (least << e) - moment >> 2 * e),
                max(0, ceil_shift((most << e) - moment, -2 * e)),
            )

    def _poles(self, prototypes: Sequence[int], stated: Sequence[tuple[int, int]]) -> Iterator[_Position]:
        """The positions of c, cosine. A weight of A_i is that of q_i over |A_i|."""
        e, bits = self._bits, self._space.bits
        vectors: list[list[int]] = []
        weights: list[int] = []
        ends: list[tuple[int, int]] = []
        centre, square = [0] * self._space.head.depth, 0
        for prototype, (low, high) in zip(prototypes, stated, strict=True):
            vector, (length, _) = self._space.vectors[prototype], self._space.norms[prototype]
            own, new = 0, 1 << _STEP_BITS
            if weights:  # with A for q: <c, A>, 2 s, 2 m |A|, x |A|^2, and 2 a and 2 b / |A| times that
                g, own_square = dot(centre, vector), dot(vector, vector)
                s, m = sum(w * (a + b) for w, (a, b) in zip(weights, ends, strict=True)), low + high
                x = square * own_square - g * g
                if x << _CONCENTRIC_BITS <= square * own_square:
                    continue
                a, b = s * own_square - m * g, m * square - s * g
                if a * s + b * m << _CONCENTRIC_BITS <= x << 2 * bits + 2:
                    continue
                own = ((a << e - bits + _STEP_BITS) + x) // (2 * x)
                new = ((b * length << _STEP_BITS) + (x << 2 * bits)) // (x << 2 * bits + 1)
            weights = [w * own >> _STEP_BITS for w in weights]
            weights.append((new << e + bits - _STEP_BITS) // length)
            vectors.append(vector)
            ends.append((low, high))
            centre, square = _combined(weights, vectors)
            least, most = _ends(weights, ends)
            yield _Position(centre, square, least >> bits, ceil_shift(most, -bits))

    def _distances(self, at: _Position, squares: list[int], products: Sequence[int]) -> tuple[list[int], list[int]]:
        """Ends of |z - p_k|^2 = q^2 + r^2 -+ 2 q r for targets with these <A_k, A_k> and <c, A_k>."""
        integer, isqrt = self._space.kernel.integer, self._space.kernel.isqrt
        e, places = self._bits, self._space.lift - 2 * self._bits
        square, low, high = map(integer, (at.square, at.low, at.high))
        lower, upper = [], []
        for own, product in zip(squares, products, strict=True):
            q = floor_shift((own << 2 * e) - (product << e + 1) + square, places)  # at most 1 below q^2
            root = isqrt((q + 1) * high) + 1
            upper.append(q + 1 + high + 2 * root)
            if q >= high:
                lower.append(q + high - 2 * root)
            elif q < low:
                lower.append(q + low - 2 * isqrt((q + 1) * low) - 2)
            else:
                lower.append(integer(0))
        return lower, upper

    def _products(self, at: _Position, squares: list[int], products: Sequence[int]) -> tuple[list[int], list[int]]:
        """Ends of <u, A_k>, for targets with these <A_k, A_k> and <c, A_k>."""
        integer, isqrt, bits = self._space.kernel.integer, self._space.kernel.isqrt, self._space.bits
        n = max(1, at.square)  # if c = 0, no divisor makes the range wrong
        least = max(0, at.low, -at.high)
        n, low, high, rest = map(integer, (n, at.low, at.high, max(0, n - least * least)))
        lower, upper = [], []
        for own, product in zip(squares, products, strict=True):
            root = isqrt(rest * (n * own - product * product)) + 1
            first, second = low * product, high * product
            if first > second:
                first, second = second, first
            lower.append((first - root << bits) // n)
            upper.append(-((-(second + root) << bits) // n))
        return lower, upper


def _combined(weights: Sequence[int], vectors: Sequence[list[int]]) -> tuple[list[int], int]:
    """sum w_i v_i and its square."""
    centre = [dot(weights, column) for column in zip(*vectors, strict=True)]
    return centre, dot(centre, centre)


def _ends(weights: Sequence[int], ends: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The least and the greatest sum w_i x_i for x_i between the ends."""
    least = sum(w * (low if w > 0 else high) for w, (low, high) in zip(weights, ends, strict=True))
    return least, sum(w * (high if w > 0 else low) for w, (low, high) in zip(weights, ends, strict=True))
