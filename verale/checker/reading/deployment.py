"""The deployment claim: the head computed in binary32 gives the certified class (certificates/v1.md, "Deployment").

Let the computed activations a'_j lie in [lo'_j, hi'_j], and A_j be no less than their sizes.

**linear**: the logit o'_c is a sum of the n_c products w_cj a'_j with w_cj != 0 and of the bias, if that is not 0. So
    |o'_c - (sum_j w_cj a'_j + b_c)| <= r_c = gamma_n (sum_j |w_cj| A_j + |b_c|) + eta,
n = n_c + 3, one more where weights or biases are no binary32 numbers and were rounded; products with 0 are exact, and
adding 0 is; eta covers underflow as below. Hence
    o'_predicted - o'_c >= (least difference of the logits over the box of the a'_j) - r_predicted - r_c.
It is also at least the proved real margin minus sum_j |D_j| |a'_j - a_j| minus the same, D = W_predicted - W_c, where
the differences of activations are known. *Proof.* Both bound sum_j D_j a'_j: over all a' in the box, and from the real
activations.

**maximum**: o'_c is the greatest of the a'_j + b_j, each rounded once, the bias once before: r_c is gamma_2 of the
greatest A_j + |b_j|, and eta.

If all these bounds are positive, o'_predicted > o'_c for every rival.

**Observables** are as far from real ones as this says, whatever latents of the domain satisfy the statements; the
symbols are those of `checker/deployment.py`. R is no less than the length of any patch's latent: by the domain's box or
ball; or, where every patch has a stated distance d_i^2 <= h to a prototype, by |z| <= |p_i| + h^(1/2). A constant

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
d - E(d). With |z| <= |p| + s, s = d^(1/2), G = gamma_m + gamma_n, this is at least
    (1 - gamma_m) s^2 - 2 G |p| s - 2 G |p|^2 - eta,
which rises with s from s = G |p| / (1 - gamma_m) on; with |z| <= R it is d less a constant. So it rises from d = T on,
the square of that s: computed distances are at least lo - E(lo) where lo >= T. Else they are at least -E(T): nearer
ones lose no more, and those from T on are computed as at least T - E(T).

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

**Similarities.** Of a computed observable x what is computed is S at an x + t nearby, off by what the last operations
lose:
- identity, rectified, threshold: nothing is rounded, so it is S(x).
- log_ratio ln((s x + 1) / (s x + E)): a computed s x is x<1> times s, or moved by underflow, and not negative, as x is
  replaced by 0, or by its size, where it is. E is rounded once: the quotient has <4>, so its logarithm is off by
  gamma_4 and then by k ulps.
- exp_distance exp(-(x + E)^(1/2)), E rounded once: what is under the root has <2>, and the root, within k ulps, <2 k +
  2>: as if what is under it had <4 k + 4>, which moves x by a share of x and of E. x is replaced as above. Then k ulps.
- exponential: the exponent -s x, or -s (1 - x), has <2>. Then k ulps. negated -s x: <1>.
Underflow moves s x by at most 2^-126 (s + x + 2). Where s is no binary32 number, it was rounded, or computed by an
exponential: <2 k + 2> more. S is monotone, so over a range of x + t it lies between its ends. Where s x or s (1 - x) of
exponential may be below 0, by b <= 1, it is at most e^b <= 1 + b + b^2.

**Maxima.** A pooled observable x, the least distance or the greatest of any other, has an activation a = S(x) in a
known range [A, B]. As S is monotone, x lies between what S takes to B and to A, which are found from closed forms:
- log_ratio: s x = (1 - E e^a) / (e^a - 1), which falls with a; for a <= 0 it is the farthest that latents can be.
- exp_distance: x = (ln a)^2 - E; exponential: s x = -ln a, x a distance or 1 less a cosine; negated: s x = -a.
- rectified: what is computed differs from a by no more than x does from what is computed of it; so x = a.
- threshold: x = a if that is at least the threshold, which x is below if a = 0.
The losses bound what is computed of every patch, so of the pooled one too, whether S is taken before or after pooling.

**Means.** |a' - a| is bounded for all latents: a computed similarity of a patch is within some e of the real one, so
the k-th greatest is, and a mean is but for gamma_(n + 1) of its terms' sizes. Let x + t, of which S is taken, be within
c of x. S is a convex function here, which falls, or rises by as much as x does where x > 0. So nowhere are S(x) and
S(x + t) farther apart than S(x) and S(x - c) at the least x of the domain that allows it, x = max(c, lower end). Of
log_ratio, where distances are x<n> + c: ln(x<n> + 1) and ln(x<n> + E) move the same way, each by at most gamma_n / (1 -
gamma_n); and |S'| <= s / E.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from operator import neg, sub
from typing import TypeAlias

from ..certificate import Certificate, PatchStatement, Statement
from ..deployment import LARGEST, TINY, UNIT, Deployment, are_binary32, gamma, is_binary32, unproved
from ..dyadic import about, ceil_at, dot, floor_at
from ..head import COSINES, Head
from .margin import lower_bound
from .pooling import Box
from .space import Space

__all__ = ["Computed", "Losses", "deployed_margins", "losses_of", "require_deployed"]

_TOGETHER = ("assignment", "joint")
_LEAST_EPSILON = Fraction(1, 2**64)
_PLACES = 192
"""Of roots."""
_ZERO = Fraction(0)
_Ends: TypeAlias = tuple[Fraction, Fraction]


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
    head, winner, patches, bits = space.head, certificate.predicted, certificate.patches, box.bits
    if head.readout == "soft_tree":
        raise unproved("the readout soft_tree is not covered")
    if not space.known_prototypes:
        raise unproved("prototypes of the head are no binary32 numbers, so they are not those that are deployed")
    computed = Computed(space, deployment, losses_of(space, deployment, certificate.statements, patches))
    one, each = 1 << bits, zip(box.lower, box.upper, strict=True)
    real = [(j, Fraction(low, one), Fraction(high, one)) for j, (low, high) in enumerate(each)]
    ranges = [computed.range(*ends, patches) for ends in real]
    lower, upper = [floor_at(low, bits) for low, _ in ranges], [ceil_at(high, bits) for _, high in ranges]
    sizes = list(map(max, map(neg, lower), upper))
    roundings = [_read_out(space, sizes, bits, c) for c in range(head.classes)]
    together = certificate.paradigm in _TOGETHER
    apart = [ceil_at(computed.difference(*ends), bits) for ends in real] if together else []

    def left(rival: int, margin: Fraction) -> Fraction:
        least = lower_bound(head, Box(lower, upper, bits), winner, rival)
        if together:
            weights = map(abs, map(sub, head.weight.rows[winner], head.weight.rows[rival]))
            least = max(least, margin - Fraction(dot(weights, apart), 1 << head.weight.bits + bits))
        return least - roundings[winner] - roundings[rival]

    return tuple(None if margin is None else left(rival, margin) for rival, margin in enumerate(margins))


def require_deployed(margins: Sequence[Fraction | None]) -> None:
    """Raises UnprovedError, which names the worst rival, unless all these margins are positive."""
    least, worst = min((margin, rival) for rival, margin in enumerate(margins) if margin is not None)
    if least <= 0:
        short = about(-least * Fraction(1_000_010, 1_000_000))  # no less than that, and near it
        raise unproved(
            f"rounding may make up for the margin of rival {worst}, which falls short by {short};"
            " state more, or compute the head by a formula that loses less"
        )


def _read_out(space: Space, sizes: Sequence[int], bits: int, c: int) -> Fraction:
    """r_c, where the activations have at most these sizes at 2^-bits."""
    head, weights = space.head, list(map(abs, space.head.weight.rows[c]))
    if head.readout == "maximum":
        each = zip(weights, sizes, head.bias.rows[0], strict=True)
        total = max(Fraction(size, 1 << bits) + Fraction(abs(b), 1 << head.bias.bits) for w, size, b in each if w)
        most, count = total, 2
    else:
        total = Fraction(dot(weights, sizes), 1 << head.weight.bits + bits)
        total += Fraction(abs(head.bias.rows[0][c]), 1 << head.bias.bits)
        most = total + Fraction(max(weights), 1 << head.weight.bits) + Fraction(max(sizes), 1 << bits)
        count = sum(map(bool, weights)) + 3 + (not space.known_readout)
    if most * 16 > LARGEST:
        raise unproved("logits may overflow in binary32")
    return gamma(count) * total + 16 * (count + 1) * (1 + most) * TINY


@dataclass(frozen=True)
class Losses:
    """How far computed observables may be from real ones.

    Attributes:
        farthest: (P,) no less than the size of any real observable of any patch.
        fixed: (P,) what is lost whatever the size.
        share: of the size, what is lost besides.
        squares, products: of |z|^2 + |p|^2 and of 2 |z| |p|, what is lost besides where squared distances are expanded.
        lengths: (P,) |p|, or more.
        reach: R.
    """

    farthest: Sequence[Fraction]
    fixed: Sequence[Fraction]
    share: Fraction = _ZERO
    squares: Fraction = _ZERO
    products: Fraction = _ZERO
    lengths: Sequence[Fraction] = ()
    reach: Fraction = _ZERO

    def loss(self, j: int, size: Fraction) -> Fraction:
        """E: no less than how far a computed observable is off whose real size is at most this."""
        lost = self.share * size + self.fixed[j]
        if self.squares:
            p = self.lengths[j]
            z = min(self.reach, p + _root(size))
            lost += self.squares * (z * z + p * p) + 2 * self.products * z * p
        return lost

    def least(self, j: int, low: Fraction) -> Fraction:
        """What computed observables are at least, if the real ones are at least `low`."""
        if self.squares:
            turn = ((self.squares + self.products) * self.lengths[j] / (1 - self.squares)) ** 2
            if low < turn:
                return -self.loss(j, turn)
        return low - self.loss(j, abs(low))

    def most(self, j: int, high: Fraction) -> Fraction:
        """What the computed observable of a patch is at most, if the real one is at most `high`."""
        return high + self.loss(j, abs(high))


def losses_of(space: Space, deployment: Deployment, statements: Sequence[Statement], patches: int) -> Losses:
    """What is lost. Raises UnprovedError where the numbers may overflow, or nothing is known."""
    head, every = space.head, range(space.head.count)
    if head.geometry == "softmax":
        roundings = head.count + 4 * deployment.exp + 8 + head.count.bit_length()
        fixed = UNIT / 2 + (deployment.exp + 2) * (head.count + 2) * TINY
        return Losses([Fraction(1) for _ in every], [fixed for _ in every], gamma(roundings))
    lengths = [_root(Fraction(square, 1 << 2 * head.prototypes.bits)) for square in space.squares]
    reach = _reach(head, statements, patches, lengths)
    if (reach + max(lengths)) ** 2 * 16 > LARGEST:
        raise unproved("distances or products may overflow in binary32")
    etas = [64 * (head.depth + 1) * (1 + reach + p) ** 2 * TINY for p in lengths]
    if head.geometry in COSINES:
        return Losses([Fraction(1) for _ in every], _cosines(head, deployment, reach, lengths, etas))
    if head.geometry == "inner_product":
        sizes, share = [reach * p for p in lengths], gamma(head.depth + 2)
        return Losses(sizes, [share * size + eta for size, eta in zip(sizes, etas, strict=True)])
    farthest = [(reach + p) ** 2 for p in lengths]
    if space.domain.upper is not None:
        farthest = [
            min(far, Fraction(end, 1 << space.bits)) for far, end in zip(farthest, space.domain.upper, strict=True)
        ]
    rooted = head.depth + 3 + 4 * deployment.sqrt + 3
    if deployment.formula == "direct":
        return Losses(farthest, etas, gamma(rooted))
    squares = rooted + 1 + (head.depth + 1 if deployment.formula == "cdist" else 0)
    return Losses(farthest, etas, _ZERO, gamma(squares), gamma(rooted + 1), lengths, reach)


def _root(value: Fraction) -> Fraction:
    """The root, or at most 2^(1 - _PLACES) more."""
    return Fraction(isqrt(ceil_at(value, 2 * _PLACES)) + 1, 1 << _PLACES)


def _reach(head: Head, statements: Sequence[Statement], patches: int, lengths: Sequence[Fraction]) -> Fraction:
    """R."""
    reaches = [] if head.radius is None else [head.radius]
    if head.lower is not None and head.upper is not None:
        reaches.append(_root(head.depth * max(head.lower**2, head.upper**2)))
    stated: dict[int, Fraction] = {}
    for s in statements if head.geometry == "euclidean" else ():
        if isinstance(s, PatchStatement) and s.upper is not None:
            length = lengths[s.prototype] + _root(max(s.upper, _ZERO))
            stated[s.patch] = min(length, stated.get(s.patch, length))
    if len(stated) == patches:
        reaches.append(max(stated.values()))
    if not reaches:
        raise unproved("the domain has no two ends, so latents may overflow in binary32")
    return min(reaches)


def _cosines(
    head: Head, deployment: Deployment, reach: Fraction, lengths: Sequence[Fraction], etas: Sequence[Fraction]
) -> list[Fraction]:
    if head.epsilon and head.epsilon < _LEAST_EPSILON:
        raise unproved("the cosine's epsilon is less than 2^-64, expected 0 or more than that")
    if head.epsilon * 16 > LARGEST:
        raise unproved("the cosine's epsilon may overflow in binary32")
    more = Fraction(2, 1 << _PLACES)  # than a root is, at most
    least = max(head.lower or _ZERO, -(head.upper or _ZERO), _ZERO)
    least = least + head.epsilon if head.geometry == "cosine" else max(least, _root(head.epsilon) - more)
    root = _root(8 * head.depth * (1 + reach) * TINY)
    found = []
    for p, eta in zip(lengths, etas, strict=True):
        own = min(p - more, Fraction(1))
        if min(own, least) < root * 8:
            raise unproved("a prototype, or a latent and the cosine's epsilon, are so near to 0 that squares underflow")
        lost = (3 * head.depth + 8 * deployment.sqrt + 16) * UNIT + 2 * root / least + 4 * root / own
        found.append(gamma(lost / UNIT) + 2 * eta / (own * min(least, Fraction(1))) + 5 * UNIT)
    return found


class Computed:
    """Computed activations of one head.

    Raises:
        UnprovedError: a similarity that is not covered, or numbers that may overflow.
    """

    def __init__(self, space: Space, deployment: Deployment, losses: Losses) -> None:
        self._space, self._losses, self._head = space, losses, space.head
        similarity, values = self._head.similarity, self._head.similarity.values
        self._name, epsilon = similarity.name, values.get("epsilon", Fraction(1))
        scaled = 1 if are_binary32(similarity.own) else 2 * deployment.exp + 3
        rounded = dict.fromkeys(("identity", "rectified", "threshold"), (0, 0, 0)) | {
            "negated": (scaled, 0, 0),
            "log_ratio": (scaled, deployment.log, 4),
            "exp_distance": (4 * deployment.sqrt + 4, deployment.exp, 0),
            "exponential": (scaled + 1, deployment.exp, 0),
        }
        if self._name not in rounded:
            raise unproved(f"the similarity {self._name} is not covered")
        argument, ulps, quotient = rounded[self._name]
        self._share, self._ulps = gamma(argument), 2 * ulps * UNIT
        self._fixed = gamma(quotient) * (1 + self._ulps) + (ulps and ulps + 1) * TINY
        if epsilon < _LEAST_EPSILON:
            raise unproved(f"the similarity's epsilon is less than 2^-64, and {self._name} is not covered there")
        if epsilon * 16 > LARGEST:
            raise unproved("the similarity's epsilon may overflow in binary32")
        if self._name == "threshold" and not is_binary32(values["threshold"]):
            raise unproved("the similarity's threshold is no binary32 number")
        self._moved = [_ZERO] * self._head.count
        if self._name == "exp_distance":
            self._moved = [self._share * epsilon + 4 * TINY] * self._head.count
        self._scales = [Fraction(1)] * self._head.count
        if similarity.tensor == "scale":
            self._scales = [Fraction(scale, 1 << similarity.own.bits) for scale in similarity.own.rows[0]]
            greatest = [losses.most(j, far) for j, far in enumerate(losses.farthest)]
            each = list(zip(self._scales, greatest, strict=True))
            if any((1 + scale) * (1 + far) * 16 > LARGEST or scale < 1 / LARGEST for scale, far in each):
                raise unproved("scaled distances may overflow in binary32")
            self._moved = [TINY * (scale + far + 2) / scale for scale, far in each]

    def range(self, j: int, low: Fraction, high: Fraction, patches: int) -> _Ends:
        """The range of a computed activation, given that of the real one."""
        if self._head.pooling not in ("max", "masked_max"):
            shift = self._shift(j, patches)
            return low - shift, high + shift
        near, far = self._observables(j, min(low, high), high)  # where low > high no latents satisfy the statements
        return self._similar(j, self._losses.least(j, near), self._losses.most(j, far))

    def difference(self, j: int, low: Fraction, high: Fraction) -> Fraction:
        """No less than how far a computed activation is from the real one, in this range: of a mass or of a product,
        the greatest of its patches; of a negated distance, if there is one patch."""
        if self._name not in ("identity", "negated"):
            raise ValueError("expected masses, products or negated distances, for which margins are bounded together")
        far = max(map(abs, self._observables(j, low, high)))
        return self._apart(j, far, self._losses.loss(j, far))

    def _observables(self, j: int, low: Fraction, high: Fraction) -> _Ends:
        """The range of a pooled observable, given that of its similarity."""
        if self._name in ("identity", "rectified"):
            return low, high
        if self._name == "threshold":
            limit = self._head.similarity.values["threshold"]
            return (low if low >= limit else _ZERO), max(high, limit)
        far = Fraction(2) if self._head.geometry in COSINES else self._losses.farthest[j]
        nearest, farthest = (min(far, max(_ZERO, self._inverse(j, *end, far))) for end in ((high, 1), (low, 0)))
        return (1 - farthest, 1 - nearest) if self._head.geometry in COSINES else (nearest, farthest)

    def _inverse(self, j: int, activation: Fraction, up: int, far: Fraction) -> Fraction:
        """What distance has this activation; a bound from below where `up` is 1, from above where it is 0. `far` where
        there is none, or it is farther away."""
        arithmetic, bits = self._space.arithmetic, self._space.bits
        a = (ceil_at if up else floor_at)(activation, bits)
        if self._name == "negated":
            return -activation / self._scales[j]
        if self._name == "log_ratio":
            power = Fraction(arithmetic.exp(a, -bits, bits)[up], 1 << bits)
            epsilon = self._head.similarity.values["epsilon"]
            return (1 - epsilon * power) / (self._scales[j] * (power - 1)) if power > 1 else far
        if a <= 0:
            return far
        root = Fraction(max(0, -arithmetic.log(a, 1 << bits, bits)[up]), 1 << bits)
        if self._name == "exponential":
            return root / self._scales[j]
        return root**2 - self._head.similarity.values["epsilon"]

    def _similar(self, j: int, low: Fraction, high: Fraction) -> _Ends:
        """The range of the computed similarity to computed observables in this range."""
        if self._name in ("log_ratio", "exp_distance"):
            low, high = max(_ZERO, low), max(high, -low)
        low, high = low - self._off(j, low), high + self._off(j, high)
        if self._name == "log_ratio":
            low = max(_ZERO, low)
        beyond = _ZERO
        if self._name == "exponential":
            beyond = max(_ZERO, self._scales[j] * (high - 1 if self._head.geometry in COSINES else -low))
            if beyond > 1:
                raise unproved("exponentials may overflow in binary32")
        least, most = self._at(j, low, high)
        most += beyond + beyond * beyond
        return least - self._rounding(least), most + self._rounding(most)

    def _off(self, j: int, x: Fraction) -> Fraction:
        """By how much an observable x would have to be off to have the similarity that is computed, but for
        `_rounding`."""
        away = self._name == "exponential" and self._head.geometry in COSINES
        return self._share * abs(1 - x if away else x) + self._moved[j]

    def _rounding(self, similarity: Fraction) -> Fraction:
        """What the last operations lose, if they give at most this in real arithmetic."""
        return self._ulps * abs(similarity) + self._fixed

    def _at(self, j: int, low: Fraction, high: Fraction) -> _Ends:
        """The range of S over one of x."""
        space, bits = self._space, self._space.bits
        ends = space.head.similarity.ends(space.arithmetic, j, floor_at(low, bits), ceil_at(high, bits), bits, bits)
        return Fraction(ends[0], 1 << bits), Fraction(ends[1], 1 << bits)

    def _shift(self, j: int, patches: int) -> Fraction:
        """How far a computed activation may be from the real one, for poolings with a mean."""
        head, losses, far = self._head, self._losses, self._losses.farthest[j]
        if self._name not in ("identity", "rectified", "negated", "log_ratio"):
            raise unproved(f"the similarity {self._name} is not covered with the pooling {head.pooling}")
        mean = min(head.k, patches) if head.pooling == "top_mean" else patches
        share, lost = gamma(mean + 1), losses.loss(j, far)
        each = self._apart(j, far, lost, losses.share)
        size = max(map(abs, self._at(j, _ZERO, far))) + each
        if max(far, size) * mean * 16 > LARGEST:
            raise unproved("sums of distances or similarities may overflow in binary32")
        if head.pooling == "top_mean":
            return each + share * size
        if head.pooling == "max_minus_mean":
            return 2 * each + (share + 3 * UNIT) * size
        lost += share * (far + lost)
        return each + self._apart(j, far, lost, losses.share and losses.share + 2 * share) + 3 * UNIT * size

    def _apart(self, j: int, far: Fraction, loss: Fraction, share: Fraction = _ZERO) -> Fraction:
        """No less than how far the computed similarity of a patch is from the real one.

        Args:
            far: no less than the size of the observable.
            loss: what it is off by.
            share: the share of it that it is off by, but for `fixed`; 0 if that is not known.
        """
        total = loss + self._share * (far + loss) + self._moved[j]
        first = max(total, Fraction(self._space.domain.lower[j], 1 << self._space.bits))
        least, most = self._at(j, first - total, first)
        apart, greatest = most - least, max(map(abs, self._at(j, _ZERO, far)))
        if share and self._name == "log_ratio":
            every = share + self._share + share * self._share
            steep = (self._scales[j] + 1) / self._head.similarity.values["epsilon"]
            apart = min(apart, every / (1 - every) + steep * (2 * self._losses.fixed[j] + self._moved[j]))
        return apart + self._rounding(greatest)
