"""The deployment claim: the head computed in binary32 gives the certified class (certificates/v1.md, "Deployment").

Let the computed activations a'_j lie in [lo'_j, hi'_j] (`computed`), and A_j be no less than their sizes.

**linear**: the logit o'_c is a sum of the n_c products w_cj a'_j with w_cj != 0 and of the bias, if that is not 0. So
    |o'_c - (sum_j w_cj a'_j + b_c)| <= r_c = gamma_n (sum_j |w_cj| A_j + |b_c|) + eta,
n = n_c + 3, one more where weights or biases are no binary32 numbers and were rounded; products with 0 are exact, and
adding 0 is; eta covers underflow as in `losses`. Hence
    o'_predicted - o'_c >= (least difference of the logits over the box of the a'_j) - r_predicted - r_c.
It is also at least the proved real margin minus sum_j |D_j| |a'_j - a_j| minus the same, D = W_predicted - W_c, where
the differences of activations are known. *Proof.* Both bound sum_j D_j a'_j: over all a' in the box, and from the real
activations.

**maximum**: o'_c is the greatest of the a'_j + b_j, each rounded once, the bias once before: r_c is gamma_2 of the
greatest A_j + |b_j|, and eta.

If all these bounds are positive, o'_predicted > o'_c for every rival.

How far computed observables may be from real ones, whatever latents of the domain satisfy the statements.

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

From what activations really are to what they are computed as in binary32 (`deployment`, `losses`).

**Maxima.** A pooled observable x, the least distance or the greatest of any other, has an activation a = S(x) in a
known range [A, B]. As S is monotone, x lies between what S takes to B and to A, which are found from closed forms:
- log_ratio: s x = (1 - E e^a) / (e^a - 1), which falls with a; for a <= 0 it is the farthest that latents can be.
- exp_distance: x = (ln a)^2 - E; exponential: s x = -ln a, x a distance or 1 less a cosine.
The losses bound what is computed of every patch, so of the pooled one too, whether S is taken before or after
pooling. Then S is computed:
- log_ratio ln((s x + 1) / (s x + E)), the quotient's logarithm, E rounded once: the quotient has <4>, so its logarithm
  is off by gamma_4 and then by k ulps. s x has <1>, and x is replaced by 0, or by its size, where it is negative.
- exp_distance exp(-(x + E)^(1/2)), E rounded once: what is under the root has <2>, and the root, within k ulps, <2 k +
  2>: as if what is under it had <4 k + 4>. x is replaced by 0, or by its size, where it is negative.
- exponential: the exponent has <2>. negated -s x: <1>. identity, rectified, threshold: no rounding.
Underflow moves s x by at most 2^-126 (s + x + 2). Where s is no binary32 number, it was rounded, or computed by an
exponential: <2 k + 2> more.

**Means.** |a' - a| is bounded for all latents: a computed similarity of a patch is within some e of the real one, so
the k-th greatest is, and a mean is but for gamma_(n + 1) of its terms' sizes. With c the loss of a distance:
- log_ratio: S is convex and falls, so S(x - c) - S(x) is greatest at the least x that allows it, x = max(c, lower end
  of the domain's range), and no less than S(x) - S(x + c) anywhere in the range. Where distances are x<n> + c:
  ln(x<n> + 1) and ln(x<n> + E) move the same way, each by at most gamma_n / (1 - gamma_n); and |S'| <= s / E.
- identity, rectified: e = c. negated: s c, and gamma of the greatest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isqrt
from operator import sub
from typing import TypeAlias

from ..certificate import Certificate, PatchStatement, Statement
from ..deployment import LARGEST, TINY, UNIT, Deployment, are_binary32, gamma, is_binary32, unproved
from ..dyadic import about, ceil_at, floor_at
from ..head import COSINES, Head
from .margin import lower_bound
from .pooling import Box
from .space import Space

__all__ = ["Computed", "Losses", "deployed_margins", "losses_of", "require_deployed"]

_TOGETHER = ("assignment", "joint")


def deployed_margins(
    space: Space, certificate: Certificate, box: Box, margins: Sequence[Fraction | None], deployment: Deployment
) -> tuple[Fraction | None, ...]:
    """For every rival a lower bound of what the computed logit of the predicted class exceeds its own by.

    Args:
        box: the ranges of the real activations.
        margins: the proved margins.

    Raises:
        UnprovedError: a head that is not covered, or numbers that may overflow.
    """
    head = space.head
    if head.readout == "soft_tree":
        raise unproved("the readout soft_tree is not covered")
    if not space.known_prototypes:
        raise unproved("prototypes of the head are no binary32 numbers, so they are not those that are deployed")
    losses = losses_of(space, deployment, certificate.statements, certificate.patches)
    computed = Computed(space, deployment, losses)
    ranges = computed.box(box, certificate.patches)
    sizes = [max(abs(low), abs(high)) for low, high in zip(ranges.lower, ranges.upper, strict=True)]
    roundings = [_read_out(space, sizes, ranges.bits, c) for c in range(head.classes)]
    winner, apart = certificate.predicted, None
    if certificate.paradigm in _TOGETHER:
        apart = [computed.difference(j, ends) for j, ends in enumerate(zip(box.lower, box.upper, strict=True))]
    found: list[Fraction | None] = []
    for rival, margin in enumerate(margins):
        if margin is None:
            found.append(None)
            continue
        least = lower_bound(head, ranges, winner, rival)
        if apart is not None:
            least = max(least, margin - _apart(head, apart, ranges.bits, winner, rival))
        found.append(least - roundings[winner] - roundings[rival])
    return tuple(found)


def require_deployed(margins: Sequence[Fraction | None]) -> None:
    """Raises UnprovedError, which names the worst rival, unless all these margins are positive."""
    least, worst = min((margin, rival) for rival, margin in enumerate(margins) if margin is not None)
    if least <= 0:
        raise unproved(
            f"rounding may make up for the margin of rival {worst}, which falls short by {_above(-least)};"
            " state more, or compute the head by a formula that loses less"
        )


def _read_out(space: Space, sizes: Sequence[int], bits: int, c: int) -> Fraction:
    """r_c."""
    head = space.head
    one, weights, bias = 1 << bits + head.weight.bits, head.weight.rows[c], head.bias.rows[0]
    if head.readout == "maximum":
        terms = [
            Fraction(size, 1 << bits) + Fraction(abs(own), 1 << head.bias.bits)
            for size, own, weight in zip(sizes, bias, weights, strict=True)
            if weight
        ]
        total, count, most = max(terms), 2, max(terms)
    else:
        products = [abs(weight) * size for weight, size in zip(weights, sizes, strict=True) if weight]
        total = Fraction(sum(products), one) + Fraction(abs(bias[c]), 1 << head.bias.bits)
        count = len(products) + 3 + (not space.known_readout)
        most = Fraction(max(map(abs, weights)), 1 << head.weight.bits) + Fraction(max(sizes), 1 << bits) + total
    if most * 16 > LARGEST:
        raise unproved("logits may overflow in binary32")
    return gamma(count) * total + 16 * (count + 1) * (1 + most) * TINY


def _apart(head: Head, apart: Sequence[int | None], bits: int, winner: int, rival: int) -> Fraction:
    """sum_j |D_j| |a'_j - a_j|."""
    rows, total = head.weight.rows, 0
    for weight, each in zip(map(sub, rows[winner], rows[rival]), apart, strict=True):
        if weight and each is None:
            raise ValueError("expected masses, products or negated distances, for which margins are bounded together")
        total += abs(weight) * (each or 0)
    return Fraction(total, 1 << bits + head.weight.bits)


def _above(value: Fraction) -> str:
    """A decimal that is no less than a number that is not negative, and near it."""
    return about(value * Fraction(1_000_010, 1_000_000))


_Ends: TypeAlias = tuple[int, int]
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


_GREATEST_EXPONENT = 64
_MAXIMA = ("max", "masked_max")


class Computed:
    """Computed activations of one head.

    Raises:
        UnprovedError: a similarity that is not covered, or numbers that may overflow.
    """

    def __init__(self, space: Space, deployment: Deployment, losses: Losses) -> None:
        self._space, self._deployment, self._losses = space, deployment, losses
        head, self._bits, self._one = space.head, space.bits, 1 << space.bits
        name, own = head.similarity.name, head.similarity.own
        self._away = head.geometry in COSINES
        self._scales = [Fraction(number, 1 << own.bits) for number in own.rows[0]]
        self._series = {
            "identity": self._identity,
            "rectified": self._rectified,
            "threshold": self._threshold,
            "negated": self._negated,
            "log_ratio": self._log_ratio,
            "exp_distance": self._exp_distance,
            "exponential": self._exponential,
        }
        self._inverses: dict[str, Callable[[int, int, int], _Ends]] = {
            "negated": self._of_negated,
            "log_ratio": self._of_log_ratio,
            "exp_distance": self._of_exp_distance,
            "exponential": self._of_exponential,
        }
        if name not in self._series:
            raise unproved(f"the similarity {name} is not covered")
        epsilon = head.similarity.values.get("epsilon")
        if epsilon is not None and epsilon < _LEAST_EPSILON:
            raise unproved(f"the similarity's epsilon is less than 2^-64, and {name} is not covered there")
        if epsilon is not None and epsilon * 16 > LARGEST:
            raise unproved("the similarity's epsilon may overflow in binary32")
        if name == "threshold" and not is_binary32(head.similarity.values["threshold"]):
            raise unproved("the similarity's threshold is no binary32 number")
        roundings = 1 if are_binary32(own) else 2 * deployment.exp + 3
        self._share = gamma(roundings + (name == "exponential"))
        if head.similarity.tensor == "scale":
            self._moved = [
                ceil_at(TINY * (scale + Fraction(far, self._one) + 2), self._bits)
                for scale, far in zip(self._scales, losses.farthest, strict=True)
            ]
            if any(
                (1 + scale) * (1 + Fraction(far, self._one)) * 16 > LARGEST or scale < 1 / LARGEST
                for scale, far in zip(self._scales, losses.farthest, strict=True)
            ):
                raise unproved("scaled distances may overflow in binary32")

    def box(self, real: Box, patches: int) -> Box:
        """The ranges of computed activations, given those of the real ones."""
        head = self._space.head
        if head.pooling not in _MAXIMA:
            shifts = self.shifts(patches)
            lower = [low - shift for low, shift in zip(real.lower, shifts, strict=True)]
            return Box(lower, [high + shift for high, shift in zip(real.upper, shifts, strict=True)], self._bits)
        lower, upper = [], []
        for j, (low, high) in enumerate(zip(real.lower, real.upper, strict=True)):
            ends = self._pooled(j, min(low, high), high)  # where low > high no latents satisfy the statements
            lower.append(ends[0])
            upper.append(ends[1])
        return Box(lower, upper, self._bits)

    def difference(self, j: int, real: _Ends) -> int | None:
        """No less than how far a computed activation is from the real one, in this range: of a mass or of a product,
        the greatest of its patches; of a negated distance, if there is one patch. Otherwise None."""
        losses, name = self._losses, self._space.head.similarity.name
        low, high = real
        if name == "identity":
            return losses.loss(j, max(abs(low), abs(high)))
        if name == "negated":
            far = self._of_negated(j, low, high)[1]
            loss = losses.loss(j, far)
            return _up(self._scales[j], loss) + _up(self._share * self._scales[j], far + loss) + self._moved[j] + 1
        return None

    def shifts(self, patches: int) -> list[int]:
        """How far computed activations may be from the real ones, for poolings with a mean."""
        head = self._space.head
        mean = min(head.k, patches) if head.pooling == "top_mean" else patches
        share = gamma(mean + 1)
        found = []
        for j, far in enumerate(self._losses.farthest):
            each = self._everywhere(j, self._losses.loss(j, far), self._losses.share)
            size = self._size(j) + each
            if Fraction(max(far, size) * mean, self._one) * 16 > LARGEST:
                raise unproved("sums of distances or similarities may overflow in binary32")
            if head.pooling == "max_minus_mean_distance":
                loss = self._losses.loss(j, far)
                loss += _up(share, far + loss)
                both = self._losses.share + 2 * share if self._losses.share else Fraction(0)
                total = each + self._everywhere(j, loss, both) + _up(3 * UNIT, size)
            else:
                of_mean = each + _up(share, size) + 1
                total = of_mean if head.pooling == "top_mean" else each + of_mean + _up(3 * UNIT, size)
            found.append(total + 1)
        return found

    def _size(self, j: int) -> int:
        """No less than the size of any similarity of a patch."""
        head, far = self._space.head, self._losses.farthest[j]
        if head.similarity.name == "log_ratio":
            return self._at(0, j)[1]
        return _up(self._scales[j], far) if head.similarity.name == "negated" else far

    def _everywhere(self, j: int, loss: int, share: Fraction) -> int:
        """No less than how far the computed similarity of a patch is from the real one.

        Args:
            loss: of an observable.
            share: what it is off by, but for `fixed`, divided by the observable; 0 if that is not known.
        """
        head, scale = self._space.head, self._scales[j]
        match head.similarity.name:
            case "identity" | "rectified":
                return loss
            case "negated":
                far = self._losses.farthest[j] + loss
                return _up(scale, loss) + _up(self._share * scale, far) + self._moved[j] + 1
            case "log_ratio":
                epsilon = head.similarity.values["epsilon"]
                loss += _up(self._share, self._losses.farthest[j] + loss) + self._of_moved(j)
                first = max(loss, self._space.domain.lower[j])
                apart = self._at(first - loss, j)[1] - self._at(first, j)[0]
                if share:
                    every = share + self._share + share * self._share
                    steep = (scale + 1) / epsilon
                    moved = _up(steep, self._losses.fixed[j] * 2 + self._of_moved(j))
                    apart = min(apart, _up(every / (1 - every), self._one) + moved + 1)
                return apart + self._logarithm(self._at(0, j)[1])
            case name:
                raise unproved(f"the similarity {name} is not covered with the pooling {head.pooling}")

    def _pooled(self, j: int, low: int, high: int) -> _Ends:
        """The range of a computed activation, given that of the real one."""
        inverse = self._inverses.get(self._space.head.similarity.name)
        name = self._space.head.similarity.name
        near, far = (low, high) if inverse is None else inverse(j, low, high)
        if name == "threshold":
            limit = ceil_at(self._space.head.similarity.values["threshold"], self._bits)
            near, far = (low if low >= limit else 0), max(high, limit)
        return self._series[name](j, self._losses.least(j, near), self._losses.most(j, far))

    def _identity(self, j: int, low: int, high: int) -> _Ends:
        return low, high

    def _rectified(self, j: int, low: int, high: int) -> _Ends:
        return max(0, low), max(0, high)

    def _threshold(self, j: int, low: int, high: int) -> _Ends:
        limit = ceil_at(self._space.head.similarity.values["threshold"], self._bits)
        return low if low >= limit else 0, high if high >= limit else 0

    def _negated(self, j: int, low: int, high: int) -> _Ends:
        ends = [self._scales[j] * end for end in (low, high)]
        lost = [_up(self._share, _up(1, abs(end))) + self._moved[j] + 1 for end in ends]
        return _down(1, -ends[1]) - lost[1], _up(1, -ends[0]) + lost[0]

    def _of_negated(self, j: int, low: int, high: int) -> _Ends:
        return max(0, _down(1 / self._scales[j], -high)), max(0, _up(1 / self._scales[j], -low))

    def _log_ratio(self, j: int, low: int, high: int) -> _Ends:
        low, high = max(0, low), max(high, -low)
        moved = self._of_moved(j)
        most = self._at(max(0, low - _up(self._share, low) - moved), j)[1]
        least = self._at(high + _up(self._share, high) + moved, j)[0]
        return least - self._logarithm(max(0, least)), most + self._logarithm(most)

    def _of_log_ratio(self, j: int, low: int, high: int) -> _Ends:
        space, scale, epsilon = self._space, self._scales[j], self._space.head.similarity.values["epsilon"]
        far = self._losses.farthest[j]
        least = Fraction(space.arithmetic.exp(low, -self._bits, self._bits)[0], self._one)
        most = Fraction(space.arithmetic.exp(high, -self._bits, self._bits)[1], self._one)
        if least > 1:
            far = min(far, ceil_at(max(Fraction(0), (1 - epsilon * least) / (scale * (least - 1))), self._bits))
        if most <= 1:
            return far, far
        return min(far, floor_at(max(Fraction(0), (1 - epsilon * most) / (scale * (most - 1))), self._bits)), far

    def _exp_distance(self, j: int, low: int, high: int) -> _Ends:
        low, high = max(0, low), max(high, -low)
        epsilon, share = self._space.head.similarity.values["epsilon"], gamma(4 * self._deployment.sqrt + 4)
        near, far = low + floor_at(epsilon, self._bits), high + ceil_at(epsilon, self._bits)
        near, far = max(0, near - _up(share, near)), far + _up(share, far)
        return self._exp(-isqrt(far << self._bits) - 1, -isqrt(near << self._bits))

    def _of_exp_distance(self, j: int, low: int, high: int) -> _Ends:
        epsilon, farthest = self._space.head.similarity.values["epsilon"], self._losses.farthest[j]
        near, far = self._logarithms(low, high)
        least = max(0, (near * near >> self._bits) - ceil_at(epsilon, self._bits))
        if far is None:
            return min(least, farthest), farthest
        most = max(0, (far * far >> self._bits) + 1 - floor_at(epsilon, self._bits))
        return min(least, farthest), min(most, farthest)

    def _exponential(self, j: int, low: int, high: int) -> _Ends:
        near, far = (self._one - high, self._one - low) if self._away else (low, high)
        ends = []
        for end, sign in ((far, 1), (near, -1)):
            scaled = self._scales[j] * end
            ends.append(_up(1, sign * scaled) + _up(self._share, _up(1, abs(scaled))) + self._moved[j] + 1)
        return self._exp(-ends[0], ends[1])

    def _of_exponential(self, j: int, low: int, high: int) -> _Ends:
        near, far = self._logarithms(low, high)
        farthest = 2 * self._one if self._away else self._losses.farthest[j]
        least = min(farthest, _down(1 / self._scales[j], near))
        most = farthest if far is None else min(farthest, _up(1 / self._scales[j], far))
        return (self._one - most, self._one - least) if self._away else (least, most)

    def _logarithms(self, low: int, high: int) -> tuple[int, int | None]:
        """The range of -ln a, from 0, of a real activation in [low, high]; None for infinity."""
        log, bits = self._space.arithmetic.log, self._bits
        near = max(0, -log(high, self._one, bits)[1]) if high > 0 else bits << bits
        return near, max(0, -log(low, self._one, bits)[0]) if low > 0 else None

    def _exp(self, low: int, high: int) -> _Ends:
        """The computed exponentials of exponents in this range."""
        arithmetic, bits, lost = self._space.arithmetic, self._bits, 2 * self._deployment.exp * UNIT
        if high > _GREATEST_EXPONENT << bits:
            raise unproved("exponentials may overflow in binary32")
        tiny = ceil_at((self._deployment.exp + 1) * TINY, bits) + 1
        least, most = arithmetic.exp(low, -bits, bits)[0], arithmetic.exp(high, -bits, bits)[1]
        return max(0, least - _up(lost, least) - tiny), most + _up(lost, most) + tiny

    def _logarithm(self, size: int) -> int:
        """How far the computed logarithm of the quotient is off, if it is at most this."""
        share = gamma(4)
        lost = 2 * self._deployment.log * UNIT
        fixed = share + lost * share + (self._deployment.log + 1) * TINY
        return _up(lost, size) + ceil_at(fixed, self._bits) + 1

    def _at(self, x: int, j: int) -> _Ends:
        """An enclosure of S, at x on the grid."""
        head, bits = self._space.head, self._bits
        return head.similarity.at(self._space.arithmetic, x, bits, head.similarity.own.rows[0][j], bits)

    def _of_moved(self, j: int) -> int:
        """By how much underflow of s x moves x."""
        return _up(1 / self._scales[j], self._moved[j]) + 1


def _up(share: Fraction | int, number: Fraction | int) -> int:
    """share * number, rounded up."""
    product = share * Fraction(number)
    return -(-product.numerator // product.denominator)


def _down(share: Fraction | int, number: Fraction | int) -> int:
    """share * number, rounded down."""
    return -_up(share, -number)
