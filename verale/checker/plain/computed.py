"""From what activations really are to what they are computed as in binary32 (`deployment`, `losses`).

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

from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from typing import TypeAlias

from ..deployment import LARGEST, TINY, UNIT, Deployment, are_binary32, gamma, is_binary32, unproved
from ..dyadic import ceil_at, floor_at
from ..head import COSINES
from .losses import Losses
from .similarity import Box
from .space import Space
from .work import OPERATION

__all__ = ["Computed"]

_Ends: TypeAlias = tuple[int, int]
_LEAST_EPSILON = Fraction(1, 2**64)
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
        head, work = self._space.head, self._space.work
        work.take(head.count * (40 * OPERATION + 6 * work.series * head.similarity.series))
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
        least = Fraction(space.kernel.exp(low, -self._bits, self._bits)[0], self._one)
        most = Fraction(space.kernel.exp(high, -self._bits, self._bits)[1], self._one)
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
        log, bits = self._space.kernel.log, self._bits
        near = max(0, -log(high, self._one, bits)[1]) if high > 0 else bits << bits
        return near, max(0, -log(low, self._one, bits)[0]) if low > 0 else None

    def _exp(self, low: int, high: int) -> _Ends:
        """The computed exponentials of exponents in this range."""
        kernel, bits, lost = self._space.kernel, self._bits, 2 * self._deployment.exp * UNIT
        if high > _GREATEST_EXPONENT << bits:
            raise unproved("exponentials may overflow in binary32")
        tiny = ceil_at((self._deployment.exp + 1) * TINY, bits) + 1
        least, most = kernel.exp(low, -bits, bits)[0], kernel.exp(high, -bits, bits)[1]
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
        return head.similarity.at(self._space.kernel, x, bits, head.similarity.own.rows[0][j], bits)

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
