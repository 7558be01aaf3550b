"""From pooled observables to activations, or from those of one patch to similarities.

- euclidean, log_ratio: S(d) = ln((s d + 1) / (s d + E)) with the prototype's scale s > 0 falls strictly for 0 < E < 1,
  since the derivative of ln((x + 1) / (x + E)) is (E - 1) / ((x + 1)(x + E)): the ends change places. An infinite d has
  S = 0.
- cosine, identity: the working observable <u, A_k> divided by |A_k|, an enclosure of which is at hand.
- softmax, identity: as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..head import Head
from ..kernel import Kernel
from .space import Ranges, Space

__all__ = ["Box", "Similarity", "log_ratio"]


@dataclass(frozen=True)
class Box:
    """Enclosures [lower[j], upper[j]] of the activations of all prototypes, at 2^-bits."""

    lower: list[int]
    upper: list[int]
    bits: int


class Similarity:
    """Activations of one head; remembers the logarithms it has taken."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._taken: dict[tuple[int, int, int], tuple[int, int]] = {}

    def activations(self, pooled: Ranges) -> Box:
        """The activations' enclosures, given the pooled working observables'; the similarities', given one patch's."""
        space, bits = self._space, self._space.bits
        lower = [int(low) for low in pooled.lower]
        upper = None if pooled.upper is None else [int(high) for high in pooled.upper]
        if space.head.geometry == "euclidean":
            scales = space.head.scales.rows[0]
            least = [0] * len(lower)
            if upper is not None:
                least = [self.log_ratio(max(0, high), scale)[0] for high, scale in zip(upper, scales, strict=True)]
            return Box(least, [self.log_ratio(*pair)[1] for pair in zip(lower, scales, strict=True)], bits)
        if upper is None:
            raise ValueError("only a squared distance can be unbounded")
        if space.head.geometry == "cosine":
            # A quotient is least over the greater norm where it is positive, over the smaller where it is negative.
            lower = [
                (low << bits) // (norm[1] if low > 0 else norm[0]) for low, norm in zip(lower, space.norms, strict=True)
            ]
            upper = [
                -((-high << bits) // (norm[0] if high > 0 else norm[1]))
                for high, norm in zip(upper, space.norms, strict=True)
            ]
        return Box(lower, upper, bits)

    def log_ratio(self, distance: int, scale: int, parts: int = 1) -> tuple[int, int]:
        """S(distance / parts), distance on the grid and not negative; scale is an entry of `head.scales`."""
        key = distance, scale, parts
        if key not in self._taken:
            space = self._space
            self._taken[key] = log_ratio(space.head, space.kernel, distance, space.bits, scale, space.bits, parts)
        return self._taken[key]


def log_ratio(
    head: Head, kernel: Kernel, distance: int, distance_bits: int, scale: int, bits: int, parts: int = 1
) -> tuple[int, int]:
    """S(distance / (parts 2^distance_bits)) at 2^-bits, rounded outward; scale is an entry of `head.scales`.

    With x = n / parts, ln((x + 1) / (x + E)) = ln((n + parts) / (n + parts E)): a mean is divided exactly.
    """
    places = head.epsilon.denominator.bit_length() - 1  # epsilon is dyadic: numerator / 2^places
    product_bits = distance_bits + head.scales.bits
    scaled = distance * scale << places
    one, epsilon = 1 << product_bits + places, head.epsilon.numerator << product_bits
    return kernel.log(scaled + parts * one, scaled + parts * epsilon, bits)
