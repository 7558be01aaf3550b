"""The head at one image's latents: enclosures of observables and activations.

Everything starts from the exact values of the stored floats. Squared distances and inner products are exact. A cosine
    <z, A> / (|A| (|z| + E))    or    <z, A> / (|A| (|z|^2 + E)^(1/2))
and a softmax mass exp(z_j - max z) / sum_i exp(z_i - max z) are enclosed with a given number of bits. Similarities and
poolings are those of the rules, applied to ranges as narrow as these enclosures.

The head over a box of latents: enclosures of observables and activations that hold for every latent tensor in it.

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

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from ..dyadic import Exact, ceil_at, dot, floor_at, sqrt_ends
from ..head import COSINES
from ..network.enclosure import EnclosedLatents
from .pooling import Box, pooled
from .space import Space

__all__ = ["BoxEvaluation", "Evaluation", "HeadEvaluation"]

_Ends: TypeAlias = tuple[int, int]


class HeadEvaluation(ABC):
    """The head at latents that are known, or known to lie in a box. Whatever takes too long raises UnprovedError.

    Args:
        patches: L.
        places: bits of observables that are exact but for the box.
        width: bits of the latents' integers, or more.

    """

    def __init__(self, space: Space, patches: int, places: int, width: int) -> None:
        self._space = space
        self._patches = patches
        self._exact = space.head.geometry in ("euclidean", "inner_product")
        self._places, self._width = places, width
        self._norms: dict[tuple[int, int], _Ends] = {}
        self._boxes: dict[int, Box] = {}

    @property
    def count(self) -> int:
        """P."""
        return self._space.head.count

    def observable(self, patch: int, prototype: int, bits: int) -> tuple[Fraction, Fraction]:
        """An enclosure of m(z_patch, p_prototype)."""
        self._space.arithmetic.clock.look()
        (low,), (high,) = self._working([patch], prototype, bits)
        low, high = self._observed(low, high, prototype, bits)
        unit = 1 << self._unit(bits)
        return Fraction(low, unit), Fraction(high, unit)

    def activations(self, bits: int) -> Box:
        """The enclosures of all activations at 2^-bits."""
        if bits not in self._boxes:
            patches = range(self._patches)
            ends = [self._of_prototype(patches, j, bits) for j in range(self.count)]
            self._boxes[bits] = Box([low for low, _ in ends], [high for _, high in ends], bits)
        return self._boxes[bits]

    def _of_prototype(self, patches: Sequence[int], j: int, bits: int) -> _Ends:
        self._space.arithmetic.clock.look()
        return self._activation(*self._working(patches, j, bits), j, bits)

    def greatest(self, prototypes: Sequence[int], bits: int) -> _Ends:
        """An enclosure at 2^-bits of the greatest activation among some prototypes."""
        box = self.activations(bits)
        return max(box.lower[j] for j in prototypes), max(box.upper[j] for j in prototypes)

    def least(self, prototypes: Sequence[int], bits: int) -> _Ends:
        """An enclosure at 2^-bits of the least activation among some prototypes."""
        box = self.activations(bits)
        return min(box.lower[j] for j in prototypes), min(box.upper[j] for j in prototypes)

    def _activation(self, lows: Sequence[int], highs: Sequence[int], prototype: int, bits: int) -> _Ends:
        """Pooled over the patches, given the ends of one prototype's working observables."""
        head = self._space.head
        if head.pooling == "masked_max":
            seen = head.patches_of(prototype, len(lows))
            lows, highs = [lows[patch] for patch in seen], [highs[patch] for patch in seen]
        if head.pooling in ("max", "masked_max") and not head.similarity.unimodal:  # the similarity of one is enough
            pick = min if head.geometry == "euclidean" else max
            return self._similar(pick(lows), pick(highs), prototype, bits)
        each: Iterable[_Ends] = zip(lows, highs, strict=True)
        if head.pooling != "max_minus_mean_distance":
            each = (self._similar(low, high, prototype, bits) for low, high in each)
        mean = partial(self._of_mean, head.similarity.own.rows[0][prototype], bits)
        return pooled(head, [(low, high, 1) for low, high in each], mean)

    def _similar(self, low: int, high: int, prototype: int, bits: int) -> _Ends:
        """S at 2^-bits of a working observable in [low, high]."""
        space, ends = self._space, self._observed(low, high, prototype, bits)
        return space.head.similarity.ends(space.arithmetic, prototype, *ends, self._unit(bits), bits)

    def _of_mean(self, own: int, bits: int, total: int, parts: int) -> _Ends:
        """S at 2^-bits of the mean of distances."""
        return self._space.head.similarity.at(self._space.arithmetic, total, self._places, own, bits, parts)

    def _unit(self, bits: int) -> int:
        """Bits of the unit of observables."""
        return self._places if self._exact else bits

    @abstractmethod
    def _working(self, patches: Sequence[int], prototype: int, bits: int) -> tuple[list[int], list[int]]:
        """The lower and the upper ends of the working observables of some patches."""

    def _observed(self, low: int, high: int, prototype: int, bits: int) -> _Ends:
        """The ends of an observable, given those of the working one."""
        if self._space.head.geometry not in COSINES:
            return low, high
        norm = self._norm(prototype, bits)
        # By Cauchy and Schwarz no cosine leaves [-1, 1].
        return max(-1 << bits, (low << bits) // norm[low > 0]), min(1 << bits, -((-high << bits) // norm[high <= 0]))

    def _norm(self, prototype: int, bits: int) -> _Ends:
        """|A| at 2^-bits."""
        key = prototype, bits
        if key not in self._norms:
            self._norms[key] = sqrt_ends(self._space.squares[prototype] << 2 * bits)
        return self._norms[key]


class Evaluation(HeadEvaluation):
    """The head at the latents (L, D) of one image, which lie in the head's domain."""

    def __init__(self, space: Space, latents: Exact) -> None:
        head = space.head
        places = max(2 * max(latents.bits, head.prototypes.bits), head.similarity.places)
        most = max(max(max(row), -min(row)) for row in latents.rows).bit_length()
        super().__init__(space, len(latents.rows), places, max(places, 2 * most))
        self._latents = latents
        self._squares = [dot(row, row) << places - 2 * latents.bits for row in latents.rows]
        self._lengths: dict[tuple[int, int], _Ends] = {}
        self._totals: dict[tuple[int, int], _Ends] = {}

    def greatest(self, prototypes: Sequence[int], bits: int) -> _Ends:
        """An enclosure at 2^-bits of the greatest activation among some prototypes."""
        if self._space.head.geometry == "softmax" and self._space.head.pooling == "max":
            # At each patch the greatest mass is the one of the greatest channel; the similarity rises with it.
            rows = enumerate(self._latents.rows)
            ends = [self._mass(patch, max(prototypes, key=row.__getitem__), bits) for patch, row in rows]
            return self._similar(max(low for low, _ in ends), max(high for _, high in ends), prototypes[0], bits)
        return super().greatest(prototypes, bits)

    def _products(self, patches: Sequence[int], prototype: int) -> list[int]:
        """<z_l, A_j> for some l; none for softmax, which has no prototypes."""
        if not self._space.vectors:
            return []
        vector = self._space.vectors[prototype]
        return [dot(self._latents.rows[patch], vector) for patch in patches]

    def _working(self, patches: Sequence[int], prototype: int, bits: int) -> tuple[list[int], list[int]]:
        space, own, other = self._space, self._latents.bits, self._space.head.prototypes.bits
        products = self._products(patches, prototype)
        if self._exact:
            places = self._places - own - other
            if space.head.geometry == "inner_product":
                values = [product << places for product in products]
            else:  # |z|^2 - 2 <z, p> + |p|^2
                square = space.squares[prototype] << self._places - 2 * other
                values = [
                    self._squares[patch] - (product << places + 1) + square
                    for patch, product in zip(patches, products, strict=True)
                ]
            return values, values
        if space.head.geometry == "softmax":
            ends = [self._mass(patch, prototype, bits) for patch in patches]
        else:
            # A quotient is least over the greater length where it is positive, over the smaller where it is negative.
            each = zip(products, (self._length(patch, bits) for patch in patches), strict=True)
            ends = [
                ((product << 2 * bits) // length[product > 0], -((-product << 2 * bits) // length[product <= 0]))
                for product, length in each
            ]
        return [low for low, _ in ends], [high for _, high in ends]

    def _length(self, patch: int, bits: int) -> _Ends:
        """|z| + E or (|z|^2 + E)^(1/2) at 2^-bits in the unit of the latents' integers."""
        key = patch, bits
        if key not in self._lengths:
            head, places = self._space.head, self._latents.bits + bits
            square = dot(self._latents.rows[patch], self._latents.rows[patch]) << 2 * bits
            if head.geometry == "cosine":
                low, high = sqrt_ends(square)
                low, high = low + floor_at(head.epsilon, places), high + ceil_at(head.epsilon, places)
            else:
                low = sqrt_ends(square + floor_at(head.epsilon, 2 * places))[0]
                high = sqrt_ends(square + ceil_at(head.epsilon, 2 * places))[1]
            # A zero latent has <z, A> = 0, so its cosine is 0 for any divisor.
            self._lengths[key] = max(1, low), max(1, high)
        return self._lengths[key]

    def _mass(self, patch: int, prototype: int, bits: int) -> _Ends:
        """exp(z_j - max z) / sum_i exp(z_i - max z) at 2^-bits, rounded outward."""
        row, unit = self._latents.rows[patch], -self._latents.bits
        top = max(row)
        key = patch, bits
        if key not in self._totals:
            self._totals[key] = self._space.arithmetic.exp_sum([entry - top for entry in row], unit, bits)
        least, greatest = self._totals[key]
        low, high = self._space.arithmetic.exp(row[prototype] - top, unit, bits)
        return (low << bits) // greatest, min(1 << bits, -((-high << bits) // least))


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
            low, high = (
                [self._space.arithmetic.exp(end - top, -self._bits, bits) for end in ends[patch]]
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
