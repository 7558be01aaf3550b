"""From observables to similarities, and so from pooled observables to activations.

The observable m is the working one; a cosine's working observable is divided by |A_k|, which is enclosed. What each
similarity does with a range of m is in `similarities`. For a unimodal one x = |m - c| replaces m, patch by patch,
before pooling.

**Inward.** Minimality needs ranges that certainly lie within the reference ranges (certificates/v1.md). There ranges
are of the observables, not the working ones, and every end is rounded to the other side. *Proof.* Each end of a result
is a monotone function of the ends that it is computed from, so from ends within comes an end within, and rounding moves
it further in.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..head import COSINES
from .space import Ranges, Space
from .work import OPERATION

__all__ = ["Box", "SimilarityRule"]

_MOST_REMEMBERED = 2**16


@dataclass(frozen=True)
class Box:
    """Ranges [lower[j], upper[j]] of the activations of all prototypes, at 2^-bits: enclosures, or if they are rounded
    inward, within the reference ranges; then a lower end may exceed an upper one by rounding."""

    lower: list[int]
    upper: list[int]
    bits: int
    inward: bool = False


class SimilarityRule:
    """Similarities of one head. Remembers some of the values that it has computed."""

    def __init__(self, space: Space, inward: bool = False) -> None:
        self._space, self._similarity, self._inward = space, space.head.similarity, inward
        self._low, self._high = (1, 0) if inward else (0, 1)  # which end of an enclosure is a lower, which an upper end
        self._computed: dict[tuple[int, int, int], tuple[int, int]] = {}

    def comparable(self, ranges: Ranges) -> Ranges:
        """What the similarity falls or rises with, given the working observables of one patch."""
        if not self._similarity.unimodal:
            return ranges
        lower, upper = self._observed(ranges)
        each = enumerate(zip(lower, _finite(upper), strict=True))
        ends = [self._similarity.argument(j, low, high, self._space.bits, self._inward) for j, (low, high) in each]
        return Ranges([near for near, _ in ends], [far for _, far in ends])

    def activations(self, pooled: Ranges) -> Box:
        """Enclosures of activations, given pooled `comparable` ranges; of similarities, given those of one patch."""
        bits, own, inward = self._space.bits, self._similarity.own.rows[0], self._inward
        if self._similarity.falls:
            least = [0] * len(pooled.lower)
            if pooled.upper is not None:
                far = (max(0, high) for high in pooled.upper)
                least = [self.at(high, number)[self._low] for high, number in zip(far, own, strict=True)]
            most = [self.at(low, number)[self._high] for low, number in zip(pooled.lower, own, strict=True)]
            return Box(least, most, bits, inward)
        lower, infinite_or_upper = self._observed(pooled)
        upper = _finite(infinite_or_upper)
        if self._similarity.unchanged:
            return Box(lower, upper, bits, inward)
        return Box(
            [self.at(low, number)[self._low] for low, number in zip(lower, own, strict=True)],
            [self.at(high, number)[self._high] for high, number in zip(upper, own, strict=True)],
            bits,
            inward,
        )

    def at(self, value: int, own: int, parts: int = 1) -> tuple[int, int]:
        """S(value / parts), value on the grid; see `Similarity.at`."""
        key = value, own, parts
        if key not in self._computed:
            if len(self._computed) == _MOST_REMEMBERED:
                self._computed.clear()
            work = self._space.work
            work.take(4 * OPERATION + (work.series if self._similarity.series else 0))
            kernel, bits = self._space.kernel, self._space.bits
            self._computed[key] = self._similarity.at(kernel, value, bits, own, bits, parts)
        return self._computed[key]

    def _observed(self, working: Ranges) -> tuple[list[int], list[int] | None]:
        """The ends of the observables on the grid; inward they are given."""
        space, bits = self._space, self._space.bits
        lower, upper = list(working.lower), working.upper
        if upper is not None and space.head.geometry in COSINES and not self._inward:
            # A quotient is least over the greater norm where it is positive, over the smaller where it is negative.
            lower = [
                (low << bits) // (norm[1] if low > 0 else norm[0]) for low, norm in zip(lower, space.norms, strict=True)
            ]
            upper = [
                -((-high << bits) // (norm[0] if high > 0 else norm[1]))
                for high, norm in zip(upper, space.norms, strict=True)
            ]
        return lower, upper


def _finite(upper: list[int] | None) -> list[int]:
    if upper is None:
        raise ValueError("only a squared distance can be unbounded, and not under every similarity")
    return upper
