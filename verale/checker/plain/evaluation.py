"""The head at one image's latents: enclosures of observables and activations.

Everything starts from the exact values of the stored floats. Squared distances and inner products are exact. A cosine
    <z, A> / (|A| (|z| + E))    or    <z, A> / (|A| (|z|^2 + E)^(1/2))
and a softmax mass exp(z_j - max z) / sum_i exp(z_i - max z) are enclosed with a given number of bits. Similarities and
poolings are those of the rules, applied to ranges as narrow as these enclosures.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from ..dyadic import Exact, ceil_at, dot, floor_at, sqrt_ends
from ..head import COSINES
from .pooling import pooled
from .similarity import Box
from .space import Space
from .work import OPERATION, TERM

__all__ = ["Evaluation", "HeadEvaluation"]

_Ends: TypeAlias = tuple[int, int]


class HeadEvaluation(ABC):
    """The head at latents that are known, or known to lie in a box. Whatever takes too long raises UnprovedError.

    Args:
        patches: L.
        places: bits of observables that are exact but for the box.
        width: bits of the latents' integers, or more.

    Attributes:
        work: what may still be taken.
    """

    def __init__(self, space: Space, patches: int, places: int, width: int) -> None:
        self._space = space
        self._patches = patches
        self._exact = space.head.geometry in ("euclidean", "inner_product")
        self._places, self._width = places, width
        self.work = space.work
        self._norms: dict[tuple[int, int], _Ends] = {}
        self._boxes: dict[int, Box] = {}

    @property
    def count(self) -> int:
        """P."""
        return self._space.head.count

    def observable(self, patch: int, prototype: int, bits: int) -> tuple[Fraction, Fraction]:
        """An enclosure of m(z_patch, p_prototype)."""
        self.work.take(OPERATION * (40 + self._space.head.depth), max(bits, self._width))
        (low,), (high,) = self._working([patch], prototype, bits)
        low, high = self._observed(low, high, prototype, bits)
        unit = 1 << self._unit(bits)
        return Fraction(low, unit), Fraction(high, unit)

    def activations(self, bits: int) -> Box:
        """The enclosures of all activations at 2^-bits."""
        if bits not in self._boxes:
            patches = range(self._patches)
            self.work.take(self._steps(), max(bits, self._width))
            ends = [self._activation(*self._working(patches, j, bits), j, bits) for j in range(self.count)]
            self._boxes[bits] = Box([low for low, _ in ends], [high for _, high in ends], bits)
        return self._boxes[bits]

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
        return space.head.similarity.ends(space.kernel, prototype, *ends, self._unit(bits), bits)

    def _of_mean(self, own: int, bits: int, total: int, parts: int) -> _Ends:
        """S at 2^-bits of the mean of distances."""
        return self._space.head.similarity.at(self._space.kernel, total, self._places, own, bits, parts)

    def _steps(self) -> int:
        """Of all activations, but for masses, which are counted one by one."""
        head, patches = self._space.head, self._patches
        similar = patches if head.pooling not in ("max", "masked_max") or head.similarity.unimodal else 1
        each = 4 * OPERATION + (self.work.series if head.similarity.series else 0)
        observed = OPERATION * (8 if head.geometry in COSINES else 4)  # two quotients, or a difference
        return self.count * (patches * (TERM * head.depth + observed) + 2 * similar * each)

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
        self.work.take(OPERATION * len(latents.rows) * head.depth, self._width)
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
        self.work.take(len(row) + self.work.series, bits)
        if key not in self._totals:
            self.work.take(len(row) * self.work.series // 2, bits)
            self._totals[key] = self._space.kernel.exp_sum([entry - top for entry in row], unit, bits)
        least, greatest = self._totals[key]
        low, high = self._space.kernel.exp(row[prototype] - top, unit, bits)
        return (low << bits) // greatest, min(1 << bits, -((-high << bits) // least))
