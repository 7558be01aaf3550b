"""What a layer gives, entry by entry between two ends on a grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Ends"]


@dataclass(frozen=True)
class Ends:
    """The entries of a layer, in the order (c, y, x): entry i lies in [lower[i], upper[i]] 2^-bits, all integers."""

    lower: list[int]
    upper: list[int]

    def mapped(self, low: Callable[[int], int], high: Callable[[int], int]) -> Ends:
        """A function that does not fall, entry by entry: `low` gives no more than it, and `high` no less."""
        return Ends(list(map(low, self.lower)), list(map(high, self.upper)))

    def centred(self) -> tuple[list[int], list[int]]:
        """Centres and radii: entry i lies within radii[i] of centres[i]. The centre is floor((lower + upper) / 2), so
        the lower end is no farther from it than the upper one."""
        centres = [low + high >> 1 for low, high in zip(self.lower, self.upper, strict=True)]
        return centres, [high - centre for high, centre in zip(self.upper, centres, strict=True)]
