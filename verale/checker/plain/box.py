"""The head over a box of latents: enclosures of observables and activations that hold for every latent tensor in it.

Let coordinate d of a latent lie in [lo_d, hi_d].

- A squared distance to p is a sum of (z_d - p_d)^2, each of which lies between the squares of max(0, lo_d - p_d, p_d -
  hi_d) and of max(p_d - lo_d, hi_d - p_d). A product <z, A> lies between <lo, A+> + <hi, A-> and <hi, A+> + <lo, A->,
  A+ and A- the positive and the negative part of A. Both ranges are exact.
- A cosine is <z, A> divided by |A| and a length, |z| + E or (|z|^2 + E)^(1/2), which grow with |z|, and |z|^2 lies
  between sums as those of a distance to 0. A quotient is least over the greater length where the product is positive,
  over the smaller where it is negative. Where the smaller may be 0, <u, A> lies within |A| all the same (Cauchy and
  Schwarz, |u| <= 1).
- A mass e_j / (e_j + sum of the others), e = exp(z - t) for any t, rises with z_j and falls with every other z_i. So it
  is least at lo_j and the other hi_i, and greatest at hi_j and the other lo_i. t is the greatest hi_i.

Similarities and poolings are those of the rules, applied to these ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ..dyadic import ceil_at, dot, floor_at, sqrt_ends
from ..network.enclosure import EnclosedLatents
from .evaluation import HeadEvaluation
from .space import Space
from .work import OPERATION

__all__ = ["BoxEvaluation"]

_Ends: TypeAlias = tuple[int, int]


class BoxEvaluation(HeadEvaluation):
    """The head at every latent tensor of a box in the head's domain."""

    def __init__(self, space: Space, latents: EnclosedLatents) -> None:
        head = space.head
        self._bits = latents.bits if head.geometry != "euclidean" else max(latents.bits, head.prototypes.bits)
        raised = self._bits - latents.bits
        self._lower = [[low << raised for low in row] for row in latents.lower]
        self._upper = [[high << raised for high in row] for row in latents.upper]
        own = self._bits if head.geometry == "euclidean" else self._bits + head.prototypes.bits
        places = max(2 * own if head.geometry == "euclidean" else own, head.similarity.places)
        most = max(max(map(abs, row)) for row in (*self._lower, *self._upper)).bit_length()
        super().__init__(space, len(latents.lower), places, max(places, 2 * most))
        self._lengths: dict[tuple[int, int], _Ends] = {}
        self._totals: dict[tuple[int, int], tuple[list[_Ends], list[_Ends], int, int]] = {}

    def _steps(self) -> int:
        """A coordinate's square is not a term of an inner product."""
        head = self._space.head
        return super()._steps() + self.count * self._patches * head.depth * 4 * OPERATION

    def _working(self, patches: Sequence[int], prototype: int, bits: int) -> tuple[list[int], list[int]]:
        match self._space.head.geometry:
            case "euclidean":
                ends = [self._distance(patch, prototype) for patch in patches]
            case "inner_product":
                places = self._places - self._bits - self._space.head.prototypes.bits
                products = [self._product(patch, prototype) for patch in patches]
                ends = [(low << places, high << places) for low, high in products]
            case "softmax":
                ends = [self._mass(patch, prototype, bits) for patch in patches]
            case _:
                ends = [self._quotient(patch, prototype, bits) for patch in patches]
        return [low for low, _ in ends], [high for _, high in ends]

    def _distance(self, patch: int, prototype: int) -> _Ends:
        raised = self._bits - self._space.head.prototypes.bits
        near = far = 0
        each = zip(self._lower[patch], self._upper[patch], self._space.vectors[prototype], strict=True)
        for low, high, entry in each:
            below, above = low - (entry << raised), high - (entry << raised)
            far += max(below * below, above * above)
            if below > 0 or above < 0:
                near += min(below * below, above * above)
        places = self._places - 2 * self._bits
        return near << places, far << places

    def _product(self, patch: int, prototype: int) -> _Ends:
        vector = self._space.vectors[prototype]
        positive, negative = [max(0, entry) for entry in vector], [min(0, entry) for entry in vector]
        lower, upper = self._lower[patch], self._upper[patch]
        return dot(lower, positive) + dot(upper, negative), dot(upper, positive) + dot(lower, negative)

    def _quotient(self, patch: int, prototype: int, bits: int) -> _Ends:
        """<u, A> at 2^-bits."""
        low, high = self._product(patch, prototype)
        least, most = self._length(patch, bits)
        if least <= 0:
            norm = self._norm(prototype, bits)[1]
            return -norm, norm
        return (low << 2 * bits) // (most if low > 0 else least), -(
            (-high << 2 * bits) // (least if high > 0 else most)
        )

    def _length(self, patch: int, bits: int) -> _Ends:
        """|z| + E or (|z|^2 + E)^(1/2) at 2^-bits in the unit of the latents' integers."""
        key = patch, bits
        if key not in self._lengths:
            head, places = self._space.head, self._bits + bits
            each = list(zip(self._lower[patch], self._upper[patch], strict=True))
            near = sum(max(0, low, -high) ** 2 for low, high in each) << 2 * bits
            far = sum(max(-low, high) ** 2 for low, high in each) << 2 * bits
            if head.geometry == "cosine":
                low, high = sqrt_ends(near)[0], sqrt_ends(far)[1]
                self._lengths[key] = low + floor_at(head.epsilon, places), high + ceil_at(head.epsilon, places)
            else:
                least, most = floor_at(head.epsilon, 2 * places), ceil_at(head.epsilon, 2 * places)
                self._lengths[key] = sqrt_ends(near + least)[0], sqrt_ends(far + most)[1]
        return self._lengths[key]

    def _mass(self, patch: int, prototype: int, bits: int) -> _Ends:
        key = patch, bits
        if key not in self._totals:
            top = max(self._upper[patch])
            self.work.take(2 * len(self._lower[patch]) * self.work.series, bits)
            low, high = (
                [self._space.kernel.exp(end - top, -self._bits, bits) for end in ends[patch]]
                for ends in (self._lower, self._upper)
            )
            self._totals[key] = low, high, sum(end for end, _ in low), sum(end for _, end in high)
        low, high, least, most = self._totals[key]
        one = 1 << bits
        fewest, greatest = least - low[prototype][0], most - high[prototype][1]  # what the others sum to
        own = low[prototype][0]
        below = (own << bits) // (own + greatest) if own > 0 else 0
        own = high[prototype][1]
        return below, min(one, -((-own << bits) // (own + fewest)))
