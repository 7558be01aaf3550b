"""The deployment claim: the head computed in binary32 gives the certified class (certificates/v1.md, "Deployment").

Let the computed activations a'_j lie in [lo'_j, hi'_j], and A_j be no less than their sizes.

**linear**: the logit o'_c is a sum of the n_c products w_cj a'_j with w_cj != 0 and of the bias, if that is not 0. So
    |o'_c - (sum_j w_cj a'_j + b_c)| <= r_c = gamma_n (sum_j |w_cj| A_j + |b_c|) + eta,
n = n_c + 3, one more where weights or biases are no binary32 numbers and were rounded; products with 0 are exact, and
adding 0 is; eta covers underflow as below. Hence
    o'_predicted - o'_c >= (least difference of the logits over the box of the a'_j) - r_predicted - r_c.
It is also at least the proved real margin minus sum_j |D_j| |a'_j - a_j| minus the same, D = W_predicted - W_c.
*Proof.* Both bound sum_j D_j a'_j: over all a' in the box, and from the real activations. Let a_j in [lo_j, hi_j] be a
maximum of masses or products, or the negated distance of the one patch, as `assignment` and `joint` need. Then
    |a'_j - a_j| <= max(lo_j - lo'_j, hi'_j - hi_j).
*Proof.* What these lose does not fall as their size grows, so it is the most at one of the two ends, to which all of it
is added: hi of a mass, lo of a negated distance, either of others, which lose the same everywhere.

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
- exponential: the exponent -s x has <2>, where x of a cosine c is the distance 1 - c. Then k ulps. negated -s x: <1>.
Underflow moves s x by at most 2^-126 (s + x + 2). Where s is no binary32 number, it was rounded, or computed by an
exponential: <2 k + 2> more. S is monotone, so over a range of x + t it lies between its ends. Where s x of
exponential may be below 0, by b <= 1, it is at most e^b <= 1 + b + b^2.

**Maxima.** A pooled observable x, the least distance or the greatest of any other, has an activation a = S(x) in a
known range [A, B]. As S is monotone, x lies between what S takes to B and to A (`Similarity.inverse`). A distance that
nothing bounds is at most the farthest that latents can be. Of rectified an x below 0 may be taken for 0: what is
computed of it is never below 0, nor above what may be computed of 0, as all products lose the same.
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
from fractions import Fraction
from math import isqrt
from operator import neg, sub

from ..certificate import Certificate, Statement, sums_of
from ..deployment import LARGEST, TINY, UNIT, Deployment, are_binary32, gamma, is_binary32, unproved
from ..dyadic import about, ceil_at, ceil_shift, dot, floor_at, floor_shift, quotient
from ..read.similarities import COSINES
from .facts import by_patch
from .margin import lower_bound
from .space import Box, Space

_TOGETHER = ("assignment", "joint")
_ZERO = Fraction(0)


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
    head, winner, patches = space.head, certificate.predicted, certificate.patches
    if head.readout == "soft_tree":
        raise unproved("the readout soft_tree is not covered")
    if not space.known_prototypes:
        raise unproved("prototypes of the head are no binary32 numbers, so they are not those that are deployed")
    if sums_of(certificate.statements):
        raise unproved("statements about sums are not covered")
    computed = Computed(space, deployment, Losses(space, deployment, certificate.statements, patches))
    real = enumerate(zip(box.lower, box.upper, strict=True))
    ends = [computed.range(j, low, high, patches) for j, (low, high) in real]
    wide = Box([low for low, _ in ends], [high for _, high in ends], box.bits)
    sizes = list(map(max, map(neg, wide.lower), wide.upper))
    biases = [ceil_shift(abs(bias), box.bits - head.bias.bits) for bias in head.bias.rows[0]]
    roundings = [Fraction(_read_out(space, sizes, biases, c), 1 << box.bits) for c in range(head.classes)]
    apart = list(map(max, map(sub, box.lower, wide.lower), map(sub, wide.upper, box.upper)))

    def left(rival: int, margin: Fraction) -> Fraction:
        least = lower_bound(head, wide, winner, rival)
        if certificate.paradigm in _TOGETHER:
            weights = map(abs, map(sub, head.weight.rows[winner], head.weight.rows[rival]))
            least = max(least, margin - Fraction(dot(weights, apart), 1 << head.weight.bits + box.bits))
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


def _read_out(space: Space, sizes: Sequence[int], biases: Sequence[int], c: int) -> int:
    """r_c, where the activations and biases have at most these sizes."""
    weights, places = list(map(abs, space.head.weight.rows[c])), space.head.weight.bits
    if space.head.readout == "maximum":
        total = most = max(size + bias for w, size, bias in zip(weights, sizes, biases, strict=True) if w)
        count = 2
    else:
        total = ceil_shift(dot(weights, sizes), -places) + biases[c]
        most = total + ceil_shift(max(weights), space.bits - places) + max(sizes)
        count = sum(map(bool, weights)) + 3 + (not space.known_readout)
    _require_small("logits", most, space.bits)
    return _part(gamma(count), total) + _part(16 * (count + 1) * TINY, most + (1 << space.bits))


def _part(share: Fraction, size: int) -> int:
    """A share of a number, rounded up."""
    return quotient(share.numerator * size, share.denominator, True)


def _root(square: int) -> int:
    """No less than the root."""
    return isqrt(max(0, square)) + 1


def _require_small(what: str, size: int, bits: int) -> None:
    """Raises UnprovedError unless 16 times a number at 2^-bits does not overflow."""
    if size * 16 > LARGEST.numerator << bits:
        raise unproved(f"{what} may overflow in binary32")


def _require_epsilon(whose: str, epsilon: Fraction) -> None:
    """Raises UnprovedError unless an epsilon is neither so small nor so great that numbers leave binary32."""
    if epsilon * 2**64 < 1:
        raise unproved(f"the {whose} epsilon is less than 2^-64, which is not covered")
    _require_small(f"the {whose} epsilon", epsilon.numerator, epsilon.denominator.bit_length() - 1)


class Losses:
    """How far computed observables may be from real ones. Numbers that are no shares are on the grid, rounded up.

    Attributes:
        farthest: (P,) no less than the size of any real observable of any patch.
        fixed: (P,) what is lost whatever the size.
        share: of the size, what is lost besides.
        squares, products: of |z|^2 + |p|^2 and of 2 |z| |p|, what is lost besides where squared distances are expanded.
        lengths: (P,) |p|.
        reach: R.

    Raises:
        UnprovedError: numbers that may overflow, or of which nothing is known.
    """

    def __init__(self, space: Space, deployment: Deployment, statements: Sequence[Statement], patches: int) -> None:
        head, bits = space.head, space.bits
        self._bits, self.farthest = bits, [1 << bits] * head.count
        self.share = self.squares = self.products = _ZERO
        if head.geometry == "softmax":
            self.share = gamma(head.count + 4 * deployment.exp + 8 + head.count.bit_length())
            fixed = UNIT / 2 + (deployment.exp + 2) * (head.count + 2) * TINY
            self.fixed = [ceil_at(fixed, bits)] * head.count
            return
        places = 2 * (bits - head.prototypes.bits)
        self.lengths = [_root(ceil_shift(square, places)) for square in space.squares]
        self.reach = _reach(space, statements, patches, self.lengths)
        _require_small("distances or products", (self.reach + max(self.lengths)) ** 2, 2 * bits)
        sizes = [self.reach + p + (1 << bits) for p in self.lengths]
        self.fixed = [ceil_shift(64 * (head.depth + 1) * size * size, -126 - bits) for size in sizes]  # eta
        if head.geometry in COSINES:
            self.fixed = _cosines(space, deployment, self.reach, self.fixed)
        elif head.geometry == "inner_product":
            self.farthest = [ceil_shift(self.reach * p, -bits) for p in self.lengths]
            share = gamma(head.depth + 2)
            self.fixed = [_part(share, far) + eta for far, eta in zip(self.farthest, self.fixed, strict=True)]
        else:
            self.farthest = [ceil_shift((self.reach + p) ** 2, -bits) for p in self.lengths]
            if space.domain.upper is not None:
                self.farthest = list(map(min, self.farthest, space.domain.upper))
            rooted = head.depth + 3 + 4 * deployment.sqrt + 3
            if deployment.formula == "direct":
                self.share = gamma(rooted)
            else:
                self.products = gamma(rooted + 1)
                self.squares = gamma(rooted + 1 + (head.depth + 1) * (deployment.formula == "cdist"))

    def loss(self, j: int, size: int) -> int:
        """E: no less than how far a computed observable is off whose real size is at most this."""
        lost = _part(self.share, size) + self.fixed[j]
        if self.squares:
            p = self.lengths[j]
            z = min(self.reach, p + _root(size << self._bits))
            lost += ceil_shift(_part(self.squares, z * z + p * p) + _part(2 * self.products, z * p), -self._bits)
        return lost

    def least(self, j: int, low: int) -> int:
        """What computed observables are at least, if the real ones are at least `low`."""
        if self.squares:
            turn = _part((self.squares + self.products) / (1 - self.squares), self.lengths[j])
            if low << self._bits < turn * turn:
                return -self.loss(j, ceil_shift(turn * turn, -self._bits))
        return low - self.loss(j, abs(low))

    def most(self, j: int, high: int) -> int:
        """What the computed observable of a patch is at most, if the real one is at most `high`."""
        return high + self.loss(j, abs(high))


def _reach(space: Space, statements: Sequence[Statement], patches: int, lengths: Sequence[int]) -> int:
    """R."""
    head, bits = space.head, space.bits
    reaches = [] if head.radius is None else [ceil_at(head.radius, bits)]
    if head.lower is not None and head.upper is not None:
        reaches.append(_root(ceil_at(head.depth * max(head.lower**2, head.upper**2), 2 * bits)))
    groups = by_patch(statements)[0].values() if head.geometry == "euclidean" else ()
    stated = [[(s.prototype, s.upper) for s in group if s.upper is not None] for group in groups]
    if len(stated) == patches and all(stated):
        reaches.append(max(min(lengths[i] + _root(ceil_at(h, 2 * bits)) for i, h in near) for near in stated))
    if not reaches:
        raise unproved("the domain has no two ends, so latents may overflow in binary32")
    return min(reaches)


def _cosines(space: Space, deployment: Deployment, reach: int, etas: Sequence[int]) -> list[int]:
    """What cosines lose."""
    head, bits, one = space.head, space.bits, 1 << space.bits
    if head.epsilon:
        _require_epsilon("cosine's", head.epsilon)
    least = floor_at(max(head.lower or _ZERO, -(head.upper or _ZERO), _ZERO), bits)  # |z|, or less
    if head.geometry == "cosine":
        least += floor_at(head.epsilon, bits)
    else:
        least = max(least, isqrt(floor_at(head.epsilon, 2 * bits)))
    root, found = _root(ceil_shift(8 * head.depth * (one + reach), bits - 126)), []
    for (length, _), eta in zip(space.norms, etas, strict=True):
        own = min(one, floor_shift(length, -head.prototypes.bits))
        if min(own, least) < root * 8:
            raise unproved("a prototype, or a latent and the cosine's epsilon, are so near to 0 that squares underflow")
        shares = (Fraction(2 * root, least) + Fraction(4 * root, own)) / UNIT
        lost = gamma(3 * head.depth + 8 * deployment.sqrt + 16 + shares) + 5 * UNIT
        found.append(ceil_at(lost + Fraction(2 * eta << bits, own * min(one, least)), bits))
    return found


class Computed:
    """Computed activations of one head. Where exponentials are of cosines, observables are the distances 1 - c.

    Raises:
        UnprovedError: a similarity that is not covered, or numbers that may overflow.
    """

    def __init__(self, space: Space, deployment: Deployment, losses: Losses) -> None:
        self._space, self._losses, self._head, bits = space, losses, space.head, space.bits
        similarity, values = space.head.similarity, space.head.similarity.values
        self._name, self._one, self._places = similarity.name, 1 << bits, similarity.scale.bits
        scaled = 1 if are_binary32(similarity.scale) else 2 * deployment.exp + 3
        rounded = dict.fromkeys(("identity", "rectified", "threshold"), (0, 0, 0)) | {
            "negated": (scaled, 0, 0),
            "log_ratio": (scaled, deployment.log, 4),
            "exp_distance": (4 * deployment.sqrt + 4, deployment.exp, 0),
            "exponential": (scaled + 1, deployment.exp, 0),
        }
        if self._name not in rounded:
            raise unproved(f"the similarity {self._name} is not covered")
        argument, ulps, last = rounded[self._name]
        self._share, self._ulps = gamma(argument), 2 * ulps * UNIT
        self._fixed = ceil_at(gamma(last) * (1 + self._ulps) + (ulps and ulps + 1) * TINY, bits)
        _require_epsilon("similarity's", values.get("epsilon", Fraction(1)))
        if self._name == "threshold" and not is_binary32(values["threshold"]):
            raise unproved("the similarity's threshold is no binary32 number")
        self._away = self._name == "exponential" and self._head.geometry in COSINES
        self._farthest = [2 * self._one] * self._head.count if self._away else losses.farthest
        self._epsilon = floor_at(values.get("epsilon", _ZERO), bits)  # exact
        moved = ceil_at(4 * TINY, bits) + _part(self._share, self._epsilon) if self._name == "exp_distance" else 0
        self._moved = [moved] * self._head.count
        self._scales = similarity.scale.rows[0]
        if "scale" in similarity.chain.tensors:
            unit, largest = 1 << self._places, max(self._scales)
            far = [losses.most(j, size) for j, size in enumerate(self._farthest)]
            _require_small("scaled distances", (unit + largest) * (self._one + max(far)), self._places + bits)
            if min(self._scales) * LARGEST < unit:
                raise unproved("scaled distances may underflow in binary32")
            self._moved = [
                _part(TINY / scale, (scale << bits) + unit * (size + 2 * self._one))
                for scale, size in zip(self._scales, far, strict=True)
            ]

    def range(self, j: int, low: int, high: int, patches: int) -> tuple[int, int]:
        """The range of a computed activation, given that of the real one."""
        if self._head.pooling not in ("max", "masked_max"):
            shift = self._shift(j, patches)
            return low - shift, high + shift
        near, far = self._observables(j, min(low, high), high)  # where low > high no latents satisfy the statements
        return self._similar(j, self._losses.least(j, near), self._losses.most(j, far))

    def _observables(self, j: int, low: int, high: int) -> tuple[int, int]:
        """The range of a pooled observable, given that of its similarity."""
        similarity, farthest = self._head.similarity, self._farthest[j]
        first, last = (high, low) if similarity.falls else (low, high)
        near, _ = similarity.inverse(self._space.arithmetic, j, first, self._space.bits)
        _, far = similarity.inverse(self._space.arithmetic, j, last, self._space.bits)
        if self._away:
            near, far = (None if end is None else self._one - end for end in (far, near))
        near, far = near or 0, farthest if far is None else far
        if self._name in ("log_ratio", "exp_distance", "exponential"):
            near, far = max(0, near), max(0, min(far, farthest))
        return near, far

    def _similar(self, j: int, low: int, high: int) -> tuple[int, int]:
        """The range of the computed similarity to computed observables in this range."""
        if self._name in ("log_ratio", "exp_distance"):
            low, high = max(0, low), max(high, -low)
        low, high = low - self._off(j, low), high + self._off(j, high)
        beyond = 0
        if self._name == "log_ratio":
            low = max(0, low)
        elif self._name == "exponential":
            beyond = ceil_shift(max(0, -low) * self._scales[j], -self._places)
            if beyond > self._one:
                raise unproved("exponentials may overflow in binary32")
        least, most = self._at(j, low, high)
        most += beyond + ceil_shift(beyond * beyond, -self._space.bits)
        return least - self._rounding(least), most + self._rounding(most)

    def _off(self, j: int, x: int) -> int:
        """By how much an observable x would have to be off to have the similarity that is computed, but for
        `_rounding`."""
        return _part(self._share, abs(x)) + self._moved[j]

    def _rounding(self, similarity: int) -> int:
        """What the last operations lose, if they give at most this in real arithmetic."""
        return _part(self._ulps, abs(similarity)) + self._fixed

    def _at(self, j: int, low: int, high: int) -> tuple[int, int]:
        """The range of S over one of x."""
        if self._away:
            low, high = self._one - high, self._one - low
        bits = self._space.bits
        return self._head.similarity.ends(self._space.arithmetic, j, low, high, bits, bits)

    def _shift(self, j: int, patches: int) -> int:
        """How far a computed activation may be from the real one, for poolings with a mean."""
        head, losses, far = self._head, self._losses, self._farthest[j]
        if self._name not in ("identity", "rectified", "negated", "log_ratio"):
            raise unproved(f"the similarity {self._name} is not covered with the pooling {head.pooling}")
        mean = min(head.k, patches) if head.pooling == "top_mean" else patches
        share, lost = gamma(mean + 1), losses.loss(j, far)
        each = self._apart(j, far, lost, losses.share)
        size = max(map(abs, self._at(j, 0, far))) + each
        _require_small("sums of distances or similarities", max(far, size) * mean, self._space.bits)
        if head.pooling == "top_mean":
            return each + _part(share, size)
        if head.pooling == "max_minus_mean":
            return 2 * each + _part(share + 3 * UNIT, size)
        lost += _part(share, far + lost)
        return each + self._apart(j, far, lost, losses.share and losses.share + 2 * share) + _part(3 * UNIT, size)

    def _apart(self, j: int, far: int, loss: int, share: Fraction) -> int:
        """No less than how far the computed similarity of a patch is from the real one.

        Args:
            far: no less than the size of the observable.
            loss: what it is off by.
            share: the share of it that it is off by, but for `fixed`; 0 if that is not known.
        """
        total, bits = loss + self._off(j, far + loss), self._space.bits
        first = max(total, self._space.domain.lower[j])
        least, most = self._at(j, first - total, first)
        apart, greatest = most - least, max(map(abs, self._at(j, 0, far)))
        if share and self._name == "log_ratio":
            every = share + self._share + share * self._share
            steep = (self._scales[j] + (1 << self._places)) * (2 * self._losses.fixed[j] + self._moved[j])
            apart = min(
                apart, ceil_at(every / (1 - every), bits) + quotient(steep << bits, self._epsilon << self._places, True)
            )
        return apart + self._rounding(greatest)
