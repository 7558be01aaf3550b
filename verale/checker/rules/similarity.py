"""From observables to similarities, and so from pooled observables to activations.

The observable m is the working one but for cosines, where that is divided by |A_k|, an enclosure of which is at hand.
With the prototype's scale s and peak c, both exact:

- identity: m. negated: -s m. rectified: max(0, m). threshold: m where m >= t, else 0, which for a mass m >= 0 does not
  fall with m either, t being positive.
- log_ratio: ln((s m + 1) / (s m + E)) falls strictly for 0 < E < 1, since the derivative of ln((x + 1) / (x + E)) is
  (E - 1) / ((x + 1)(x + E)).
- exp_distance: exp(-(m + E)^(1/2)). exponential: exp(-s m) of a squared distance, exp(-s (1 - m)) of a cosine. None of
  them exceeds 1, as m >= 0, and m <= 1 for a cosine: an end that says otherwise is cut.
- quadratic: -(m - c)^2 is not monotone in m. It falls with x = |m - c|, and m in [lo, hi] says, for c in [c_lo, c_hi],
      max(0, lo - c_hi, c_lo - hi) <= x <= max(hi - c_lo, c_hi - lo),
  both attained where c is known exactly: hence x is put in place of m before anything else, of every patch for itself.

So every similarity either falls with what it is given (squared distances and x) or rises with it (all else), and takes
the ends of a range to the ends of its own, exchanged where it falls. It commutes with max pooling, to which the
smallest or the greatest is enough. An infinite m, of a squared distance alone, has the similarity 0, its limit; negated
and quadratic ones have no limit, and a head with them a bounded domain.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..dyadic import ceil_at, ceil_shift, floor_shift, sqrt_ends
from ..head import COSINES, Head
from ..kernel import Kernel
from .space import Ranges, Space

__all__ = ["Box", "Similarity", "falls", "similarity_at", "similarity_ends"]


@dataclass(frozen=True)
class Box:
    """Enclosures [lower[j], upper[j]] of the activations of all prototypes, at 2^-bits."""

    lower: list[int]
    upper: list[int]
    bits: int


class Similarity:
    """Similarities of one head; remembers those that it has taken."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._taken: dict[tuple[int, int, int], tuple[int, int]] = {}

    def comparable(self, ranges: Ranges) -> Ranges:
        """What the similarity falls or rises with, given the working observables of one patch: those, but for a
        quadratic similarity |m - c|."""
        head, bits = self._space.head, self._space.bits
        if head.similarity != "quadratic":
            return ranges
        lower, upper = self._observed(ranges)
        ends = [
            _off_peak(head, j, low, high, bits) for j, (low, high) in enumerate(zip(lower, _finite(upper), strict=True))
        ]
        return Ranges([near for near, _ in ends], [far for _, far in ends])

    def activations(self, pooled: Ranges) -> Box:
        """The activations' enclosures, given what is `comparable`, pooled; the similarities', given one patch's."""
        head, bits, scales = self._space.head, self._space.bits, self._space.head.scales.rows[0]
        if falls(head):
            lower = [int(low) for low in pooled.lower]
            least = [0] * len(lower)
            if pooled.upper is not None:
                far = (max(0, int(high)) for high in pooled.upper)
                least = [self.at(high, scale)[0] for high, scale in zip(far, scales, strict=True)]
            return Box(least, [self.at(low, scale)[1] for low, scale in zip(lower, scales, strict=True)], bits)
        lower, infinite_or_upper = self._observed(pooled)
        upper = _finite(infinite_or_upper)
        if head.similarity == "identity":
            return Box(lower, upper, bits)
        return Box(
            [self.at(low, scale)[0] for low, scale in zip(lower, scales, strict=True)],
            [self.at(high, scale)[1] for high, scale in zip(upper, scales, strict=True)],
            bits,
        )

    def at(self, value: int, scale: int, parts: int = 1) -> tuple[int, int]:
        """S(value / parts), value on the grid; see `similarity_at`."""
        key = value, scale, parts
        if key not in self._taken:
            space = self._space
            self._taken[key] = similarity_at(space.head, space.kernel, value, space.bits, scale, space.bits, parts)
        return self._taken[key]

    def _observed(self, working: Ranges) -> tuple[list[int], list[int] | None]:
        """The ends of the observables on the grid."""
        space, bits = self._space, self._space.bits
        lower = [int(low) for low in working.lower]
        upper = None if working.upper is None else [int(high) for high in working.upper]
        if upper is not None and space.head.geometry in COSINES:
            # A quotient is least over the greater norm where it is positive, over the smaller where it is negative.
            lower = [
                (low << bits) // (norm[1] if low > 0 else norm[0]) for low, norm in zip(lower, space.norms, strict=True)
            ]
            upper = [
                -((-high << bits) // (norm[0] if high > 0 else norm[1]))
                for high, norm in zip(upper, space.norms, strict=True)
            ]
        return lower, upper


def falls(head: Head) -> bool:
    """Whether the similarity falls with what it is given."""
    return head.geometry == "euclidean" or head.similarity == "quadratic"


def similarity_ends(
    head: Head, kernel: Kernel, prototype: int, low: int, high: int, value_bits: int, bits: int
) -> tuple[int, int]:
    """S(m) at 2^-bits, rounded outward, for an observable m of [low, high] at 2^-value_bits."""
    if head.similarity == "quadratic":
        low, high = _off_peak(head, prototype, low, high, value_bits)
    if falls(head):
        low, high = high, low
    scale = head.scales.rows[0][prototype]
    ends = similarity_at(head, kernel, low, value_bits, scale, bits)
    return ends if low == high else (ends[0], similarity_at(head, kernel, high, value_bits, scale, bits)[1])


def _off_peak(head: Head, prototype: int, low: int, high: int, bits: int) -> tuple[int, int]:
    """The range of |m - c| at 2^-bits, rounded outward."""
    peak, places = head.peaks.rows[0][prototype], bits - head.peaks.bits
    least, most = floor_shift(peak, places), ceil_shift(peak, places)
    return max(0, low - most, least - high), max(high - least, most - low)


def similarity_at(
    head: Head, kernel: Kernel, value: int, value_bits: int, scale: int, bits: int, parts: int = 1
) -> tuple[int, int]:
    """S at 2^-bits, rounded outward, of what is `comparable`: value / (parts 2^value_bits).

    Args:
        value: not negative where the similarity falls.
        scale: an entry of `head.scales`.
        parts: 1 but for log_ratio. With x = n / parts, ln((x + 1) / (x + E)) = ln((n + parts) / (n + parts E)): a mean
            is divided exactly.
    """
    product_bits = value_bits + head.scales.bits
    match head.similarity:
        case "log_ratio":
            places = head.epsilon.denominator.bit_length() - 1  # epsilon is dyadic: numerator / 2^places
            scaled = value * scale << places
            one, epsilon = 1 << product_bits + places, head.epsilon.numerator << product_bits
            return kernel.log(scaled + parts * one, scaled + parts * epsilon, bits)
        case "exp_distance":
            places = head.epsilon.denominator.bit_length() - 1
            root_bits = max(bits, value_bits, places)
            square = (value << 2 * root_bits - value_bits) + (head.epsilon.numerator << 2 * root_bits - places)
            near, far = sqrt_ends(square)
            ends = kernel.exp(-far, -root_bits, bits)[0], kernel.exp(-near, -root_bits, bits)[1]
        case "exponential":
            distance = value if head.geometry == "euclidean" else max(0, (1 << value_bits) - value)
            ends = kernel.exp(-distance * scale, -product_bits, bits)
        case "negated":
            return _rounded(-value * scale, bits - product_bits)
        case "quadratic":
            return _rounded(-value * value, bits - 2 * value_bits)
        case "rectified":
            return _rounded(max(0, value), bits - value_bits)
        case "threshold":
            return _rounded(value if value >= ceil_at(head.threshold, value_bits) else 0, bits - value_bits)
        case _:
            return _rounded(value, bits - value_bits)
    return ends[0], min(1 << bits, ends[1])


def _rounded(value: int, places: int) -> tuple[int, int]:
    return floor_shift(value, places), ceil_shift(value, places)


def _finite(upper: list[int] | None) -> list[int]:
    if upper is None:
        raise ValueError("only a squared distance can be unbounded, and not under every similarity")
    return upper
