"""From the observables of a patch to its similarities.

The observable m is the working one; a cosine's working observable is divided by |A_k|, which is enclosed. What each
similarity does with a range of m is in `similarities`. For a unimodal one x = |m - c| replaces m.

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


@dataclass(frozen=True)
class Box:
    """Ranges [lower[j], upper[j]] of the activations of all prototypes, at 2^-bits: enclosures, or if they are rounded
    inward, within the reference ranges; then a lower end may exceed an upper one by rounding."""

    lower: list[int]
    upper: list[int]
    bits: int
    inward: bool = False


class SimilarityRule:
    """Similarities of one head."""

    def __init__(self, space: Space, inward: bool = False) -> None:
        self._space, self._similarity, self._inward = space, space.head.similarity, inward

    def box(self, ranges: Ranges) -> Box:
        """Enclosures of the similarities of a patch, given the ranges of its working observables."""
        bits, own, inward = self._space.bits, self._similarity.own.rows[0], self._inward
        lower, upper = self._observed(ranges)
        if self._similarity.unimodal:
            each = enumerate(zip(lower, _finite(upper), strict=True))
            ends = [self._similarity.argument(j, low, high, bits, inward) for j, (low, high) in each]
            lower, upper = [near for near, _ in ends], [far for _, far in ends]
        if self._similarity.unchanged:
            return Box(lower, _finite(upper), bits, inward)
        falls = self._similarity.falls
        if falls and upper is None:
            least = [0] * len(own)  # the limit
        else:
            far = [max(0, high) for high in _finite(upper)] if falls else lower
            least = [self.at(x, number)[inward] for x, number in zip(far, own, strict=True)]
        near = lower if falls else _finite(upper)
        most = [self.at(x, number)[not inward] for x, number in zip(near, own, strict=True)]
        return Box(least, most, bits, inward)

    def at(self, value: int, own: int, parts: int = 1) -> tuple[int, int]:
        """S(value / parts), value on the grid; see `Similarity.at`."""
        work, bits = self._space.work, self._space.bits
        work.take(4 * OPERATION + (work.series if self._similarity.series else 0))
        return self._similarity.at(self._space.kernel, value, bits, own, bits, parts)

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
