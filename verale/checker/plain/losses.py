"""How far computed observables may be from real ones, whatever latents of the domain satisfy the statements.

The symbols are those of `deployment`. R is no less than the length of any patch's latent: by the domain's box or ball;
or, where every patch has a stated distance d_i^2 <= h to a prototype, by |z| <= |p_i| + h^(1/2). A constant

    eta = 64 (D + 1) (1 + R + |p|)^2 2^-126

covers underflow. *Proof.* Operands that became 0 and a result that underflows change a product of numbers of sizes x
and y by at most 2^-126 (x + y + 2), a sum by 3 2^-126. With coordinates of at most R and |p| these are at most
2^-126 (4 R + 4 |p| + 26) a coordinate, twice as much after later roundings.

**Distances.** d = |z - p|^2 is computed by a formula, perhaps its root is taken and squared, a factor <4 s + 3> if
roots are within s units in the last place.

- direct: a sum of D squares of differences, each <3> before it is added. So it is off by at most gamma_n d + eta,
  n = D + 3 + 4 s + 3.
- expanded: sums of z_i^2, z_i p_i and p_i^2, each <1> and then <D>, and two more additions of the three sums (a factor
  2 is exact): at most gamma_n (|z| + |p|)^2 + eta, n = D + 4 + 4 s + 3, as sum |z_i p_i| <= |z| |p|.
- cdist: one sum of the D + 2 terms -2 z_i p_i, |z|^2 and |p|^2: at most gamma_m (|z|^2 + |p|^2) + 2 gamma_n |z| |p| +
  eta with n = D + 4 + 4 s + 3 and m = n + D + 1, since the two squares are sums themselves. So expanded is covered too.

There |z| <= min(R, |p| + d^(1/2)), so the loss E(d) does not fall as d grows. **Of the nearest patch**, at d in
[lo, hi], the computed distance is at most hi + E(hi). Every patch has d >= lo and a computed distance of at least
lo - E with |z| = R; and, with G = gamma_m + gamma_n and s = d^(1/2), of at least
    d - E(d) >= (1 - gamma_m) s^2 - 2 G |p| s - 2 G |p|^2 - eta,
which rises with s from s = G |p| / (1 - gamma_m) on, and is least there: -2 G |p|^2 - G^2 |p|^2 / (1 - gamma_m) - eta.

**Inner products**: a sum of D products, off by at most gamma_(D + 2) sum |z_i p_i| + eta.

**Cosines.** The product is divided by both lengths, each before or after it is summed; E is added to |z|, or to |z| |p|
where p was divided by its length first, and is rounded once. Each length is a root of a sum of D squares, a factor <a>,
a = (D + 1) / 2 + 2 s + 1; p's may be taken of the divided p again, whose length is 1 but for <a + 1>. So a term has the
factors <D + 1> of its sum, <4 a + 2> of lengths, and at most 6 more: <3 D + 8 s + 16>. The terms' sizes sum to at most
1 by Cauchy and Schwarz. Underflow changes the sum of squares by t <= 8 D (1 + R) 2^-126, its root by at most t^(1/2)
(rooted cosine: what is under the root by t), which is a share of at most x = t^(1/2) / e of the divisor, where e > 0 is
at most |z| + E, or (|z|^2 + E)^(1/2), and t^(1/2) <= e / 8; 1 + x and 1 - x are within <n>, n u = 2 x. Of |p|
likewise, twice. Perhaps 1 - c is computed, and 1 less that: 5 u more, for numbers up to 2.

**Masses.** m = e^X / T, X = z_j - max z <= 0, T = sum e^X >= 1. The computed X is X<1>, which changes e^X by at most
0.37 u (1 + u |X|) where |X| <= 128, since |X| e^X <= 1 / e; elsewhere e^X < 2^-184, and 0 is computed where X
overflows. Of the rest, the exponentials have <2 k + 1>, their sum <P> more, the quotient <1>. As m |X| <= m ln(1 / m)
<= 0.37 too, and sum m |X| <= ln P, a mass is off by at most gamma_n m + u / 2 + (k + 2)(P + 2) 2^-126 with
n = P + 4 k + 8 + b, P < 2^b.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

from ..certificate import PatchStatement, Statement
from ..deployment import LARGEST, TINY, UNIT, Deployment, gamma, unproved
from ..dyadic import ceil_at, floor_at
from ..head import COSINES
from .space import Space

__all__ = ["Losses", "losses_of"]

_LEAST_EPSILON = Fraction(1, 2**64)


class Losses:
    """Of observables that are off by at most a share of their size and a number, each prototype its own.

    Attributes:
        farthest: no less than the size of any real observable of any patch, for each prototype, on the grid.
        share: the greatest share.
    """

    def __init__(self, bits: int, farthest: Sequence[int], share: Fraction, fixed: Sequence[Fraction]) -> None:
        self.farthest, self.share = list(farthest), share
        self._bits = bits
        self.fixed = [ceil_at(each, bits) for each in fixed]

    def loss(self, j: int, size: int) -> int:
        """No less than how far a computed observable is off whose real size is at most this."""
        return _up(self.share, size) + self.fixed[j]

    def most(self, j: int, high: int) -> int:
        """What the computed observable of a patch is at most, if the real one is at most `high`."""
        return high + self.loss(j, abs(high)) if self.share else high + self.fixed[j]

    def least(self, j: int, low: int) -> int:
        """What computed observables are at least, if the real ones are at least `low`, which is not negative if there
        is a share."""
        return low - self.loss(j, abs(low)) if self.share else low - self.fixed[j]


class _Expanded(Losses):
    """Of squared distances by the formulas expanded and cdist."""

    def __init__(
        self,
        bits: int,
        farthest: Sequence[int],
        shares: tuple[Fraction, Fraction],
        fixed: Sequence[Fraction],
        lengths: Sequence[int],
        reach: int,
    ) -> None:
        super().__init__(bits, farthest, Fraction(0), fixed)
        self._squares, self._products = shares
        self._lengths, self._reach = lengths, reach

    def loss(self, j: int, size: int) -> int:
        return self._with(j, min(self._reach, self._lengths[j] + isqrt(size << self._bits) + 1))

    def most(self, j: int, high: int) -> int:
        return high + self.loss(j, high)

    def least(self, j: int, low: int) -> int:
        length, both = self._lengths[j], self._squares + self._products
        turn = both / (1 - self._squares)  # times |p|
        if isqrt(max(0, low) << self._bits) >= _up(turn, length):
            near = low - self._with(j, length + isqrt(low << self._bits) + 1)
        else:
            near = -_up(2 * both + both * turn, (length * length >> self._bits) + 1) - self.fixed[j]
        return max(near, low - self._with(j, self._reach))

    def _with(self, j: int, length: int) -> int:
        """The loss where |z| is at most this."""
        own, bits = self._lengths[j], self._bits
        squares, product = (length * length + own * own >> bits) + 1, (length * own >> bits) + 1
        return _up(self._squares, squares) + 2 * _up(self._products, product) + self.fixed[j]


def losses_of(space: Space, deployment: Deployment, statements: Sequence[Statement], patches: int) -> Losses:
    """What is lost. Raises UnprovedError where the numbers may overflow, or nothing is known."""
    head, bits = space.head, space.bits
    if head.geometry == "softmax":
        own = head.count + 4 * deployment.exp + 8 + head.count.bit_length()
        fixed = UNIT / 2 + (deployment.exp + 2) * (head.count + 2) * TINY
        return Losses(bits, [1 << bits] * head.count, gamma(own), [fixed] * head.count)
    lengths = _lengths(space)
    reach = _reach(space, statements, patches, lengths)
    longest = reach + max(lengths)
    if Fraction(longest, 1 << bits) ** 2 * 16 > LARGEST:
        raise unproved("distances or products may overflow in binary32")
    etas = [64 * (head.depth + 1) * Fraction((1 << bits) + reach + length, 1 << bits) ** 2 * TINY for length in lengths]
    if head.geometry in COSINES:
        return Losses(bits, [1 << bits] * head.count, Fraction(0), _cosines(space, deployment, reach, lengths, etas))
    if head.geometry == "inner_product":
        sizes = [(reach * length >> bits) + 1 for length in lengths]
        share = gamma(head.depth + 2)
        fixed_of = [share * Fraction(size, 1 << bits) + eta for size, eta in zip(sizes, etas, strict=True)]
        return Losses(bits, sizes, Fraction(0), fixed_of)
    farthest = [((reach + length) ** 2 >> bits) + 1 for length in lengths]
    if space.domain.upper is not None:
        farthest = list(map(min, farthest, space.domain.upper))
    rooted = 4 * deployment.sqrt + 3
    if deployment.formula == "direct":
        return Losses(bits, farthest, gamma(head.depth + 3 + rooted), etas)
    products = head.depth + 4 + rooted
    squares = products + (head.depth + 1 if deployment.formula == "cdist" else 0)
    return _Expanded(bits, farthest, (gamma(squares), gamma(products)), etas, lengths, reach)


def _lengths(space: Space) -> list[int]:
    """|p_j| on the grid, rounded up; of cosines too, whose vectors have another unit than prototypes."""
    unit = 2 * space.head.prototypes.bits
    return [isqrt((square << 2 * space.bits >> unit) + 1) + 1 for square in space.squares]


def _reach(space: Space, statements: Sequence[Statement], patches: int, lengths: Sequence[int]) -> int:
    """R on the grid, rounded up."""
    head, bits = space.head, space.bits
    found: list[int] = []
    if head.lower is not None and head.upper is not None:
        square = head.depth * max(head.lower**2, head.upper**2)
        found.append(isqrt(ceil_at(square, 2 * bits)) + 1)
    if head.radius is not None:
        found.append(ceil_at(head.radius, bits))
    by_patch: dict[int, int] = {}
    for s in statements if head.geometry == "euclidean" else ():
        if isinstance(s, PatchStatement) and s.upper is not None:
            length = lengths[s.prototype] + isqrt(ceil_at(max(s.upper, Fraction(0)), 2 * bits)) + 1
            by_patch[s.patch] = min(length, by_patch.get(s.patch, length))
    if len(by_patch) == patches:
        found.append(max(by_patch.values()))
    if not found:
        raise unproved("the domain has no two ends, so latents may overflow in binary32")
    return min(found)


def _cosines(
    space: Space, deployment: Deployment, reach: int, lengths: Sequence[int], etas: Sequence[Fraction]
) -> list[Fraction]:
    head, one = space.head, 1 << space.bits
    if head.epsilon and head.epsilon < _LEAST_EPSILON:
        raise unproved("the cosine's epsilon is less than 2^-64, expected 0 or more than that")
    if head.epsilon * 16 > LARGEST:
        raise unproved("the cosine's epsilon may overflow in binary32")
    nearest: Fraction = max(head.lower or Fraction(0), -(head.upper or Fraction(0)), Fraction(0))
    least = nearest + (head.epsilon if head.geometry == "cosine" else 0)
    if head.geometry == "rooted_cosine":
        least = max(nearest, Fraction(isqrt(floor_at(head.epsilon, 2 * space.bits)), one))
    if least <= 0:
        raise unproved("the cosine's epsilon is 0, and squares of latents near 0 underflow in binary32")
    underflow = 8 * head.depth * (1 + Fraction(reach, one)) * TINY
    root = Fraction(isqrt(ceil_at(underflow, 2 * space.bits + 64)) + 1, one << 32)
    roundings = 3 * head.depth + 8 * deployment.sqrt + 16
    found, unit = [], Fraction(1)
    for length, eta in zip(lengths, etas, strict=True):
        own = Fraction(length - 2, one)  # |p|, rounded down
        if own <= 0 or min(own, least) < root * 8:
            raise unproved("a prototype or the cosine's epsilon is so near to 0 that its square underflows in binary32")
        lost = roundings * UNIT + 2 * root / least + 4 * root / min(own, unit)
        share = gamma(lost / UNIT)
        found.append(share + eta / (min(own, unit) * min(least, unit)) * 2 + 5 * UNIT)
    return found


def _up(share: Fraction, number: int) -> int:
    """share * number, rounded up."""
    return -(-share.numerator * number // share.denominator)
