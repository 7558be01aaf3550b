"""The head evaluated at one image's latents: observables and activations, enclosed.

Everything starts from the exact values of the stored floats. A squared distance is exact. A cosine
    <z, A> / (|A| (|z| + E))
and a softmax mass exp(z_j - max z) / sum_i exp(z_i - max z) are enclosed with as many bits as asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial

from ..dyadic import Exact, ceil_at, dot, floor_at, sqrt_ends
from .pooling import max_minus_mean, max_minus_mean_distance
from .similarity import Box, log_ratio
from .space import Space

__all__ = ["Evaluation"]


class Evaluation:
    """The head at the latents (L, D) of one image. The latents lie in the head's domain."""

    def __init__(self, space: Space, latents: Exact) -> None:
        self._space = space
        self._latents = latents
        self._places = 2 * max(latents.bits, space.head.prototypes.bits)
        raise_by = self._places - 2 * latents.bits
        self._squares = [space.kernel.integer(dot(row, row) << raise_by) for row in latents.rows]
        self._lengths: dict[tuple[int, int], tuple[int, int]] = {}
        self._norms: dict[tuple[int, int], tuple[int, int]] = {}
        self._totals: dict[tuple[int, int], tuple[int, int]] = {}
        self._boxes: dict[int, Box] = {}

    @property
    def count(self) -> int:
        """P."""
        return self._space.head.count

    def observable(self, patch: int, prototype: int, bits: int) -> tuple[Fraction, Fraction]:
        """An enclosure of m(z_patch, p_prototype)."""
        head = self._space.head
        if head.geometry == "softmax":
            low, high = self._mass(patch, prototype, bits)
        else:
            product = dot(self._latents.rows[patch], head.prototypes.rows[prototype])
            if head.geometry == "euclidean":
                distance = Fraction(self._nearest([(patch, product)], prototype), 1 << self._places)
                return distance, distance
            low, high = self._greatest([(self._length(patch, bits), product)], prototype, bits)
        return Fraction(low, 1 << bits), Fraction(high, 1 << bits)

    def activations(self, bits: int) -> Box:
        """The enclosures of all activations at 2^-bits."""
        if bits not in self._boxes:
            if self._space.head.pooling != "max":
                ends = self._focal(bits)
            elif self._space.head.geometry == "softmax":
                ends = [self.greatest([j], bits) for j in range(self._space.head.count)]
            else:
                ends = self._pooled(bits)
            self._boxes[bits] = Box([low for low, _ in ends], [high for _, high in ends], bits)
        return self._boxes[bits]

    def greatest(self, prototypes: Sequence[int], bits: int) -> tuple[int, int]:
        """An enclosure at 2^-bits of the greatest activation among some prototypes."""
        if self._space.head.geometry == "softmax" and self._space.head.pooling == "max":
            # At each patch the greatest mass is the one of the greatest channel.
            rows = enumerate(self._latents.rows)
            ends = [self._mass(patch, max(prototypes, key=row.__getitem__), bits) for patch, row in rows]
            return max(low for low, _ in ends), max(high for _, high in ends)
        box = self.activations(bits)
        return max(box.lower[j] for j in prototypes), max(box.upper[j] for j in prototypes)

    def _pooled(self, bits: int) -> list[tuple[int, int]]:
        columns, patches = self._products(), range(len(self._latents.rows))
        if self._space.head.geometry == "euclidean":
            distances = (self._nearest(zip(patches, column, strict=True), j) for j, column in enumerate(columns))
            return [self._log_ratio(distance, 1, j, bits) for j, distance in enumerate(distances)]
        lengths = [self._length(patch, bits) for patch in patches]
        return [self._greatest(list(zip(lengths, column, strict=True)), j, bits) for j, column in enumerate(columns)]

    def _focal(self, bits: int) -> list[tuple[int, int]]:
        """Each patch is known up to the width of an enclosure, a distance exactly."""
        head, patches = self._space.head, range(len(self._latents.rows))
        if head.geometry == "softmax":
            return [max_minus_mean([(*self._mass(patch, j, bits), 1) for patch in patches]) for j in range(head.count)]
        found = []
        for j, column in enumerate(self._products()):
            if head.geometry == "cosine":
                lengths = (self._length(patch, bits) for patch in patches)
                cosines = (self._greatest([pair], j, bits) for pair in zip(lengths, column, strict=True))
                found.append(max_minus_mean([(*ends, 1) for ends in cosines]))
                continue
            distances = [self._nearest([pair], j) for pair in zip(patches, column, strict=True)]
            similarity = partial(self._log_ratio, prototype=j, bits=bits)
            if head.pooling == "max_minus_mean":
                found.append(max_minus_mean([(*similarity(distance, 1), 1) for distance in distances]))
            else:
                found.append(max_minus_mean_distance([(distance, distance, 1) for distance in distances], similarity))
        return found

    def _products(self) -> list[tuple[int, ...]]:
        """<z_l, A_j> for all l, one tuple for each j."""
        kernel = self._space.kernel
        latents = kernel.matrix([[*row, 0] for row in self._latents.rows])
        return [
            column
            for chunk in self._space.chunks
            for column in zip(*kernel.rows(kernel.product(latents, chunk.extended)), strict=True)
        ]

    def _log_ratio(self, distance: int, parts: int, prototype: int, bits: int) -> tuple[int, int]:
        """S(distance / parts) at 2^-bits, rounded outward; the distance is one of `_nearest`, or a sum of such."""
        space = self._space
        scale = space.head.scales.rows[0][prototype]
        return log_ratio(space.head, space.kernel, distance, self._places, scale, bits, parts)

    def _nearest(self, products: Iterable[tuple[int, int]], prototype: int) -> int:
        """The least squared distance |z|^2 - 2 <z, p> + |p|^2, exactly, at 2^-places; products are (patch, <z, A>)."""
        own, other = self._latents.bits, self._space.head.prototypes.bits
        places = self._places - own - other + 1
        least = min(self._squares[patch] - (product << places) for patch, product in products)
        return int(least + (self._space.squares[prototype] << self._places - 2 * other))

    def _greatest(self, products: Sequence[tuple[tuple[int, int], int]], prototype: int, bits: int) -> tuple[int, int]:
        """The greatest cosine at 2^-bits, rounded outward; products are ((lo, hi) of |z| + E, <z, A>)."""
        low = max(int(product << 2 * bits) // ends[product > 0] for ends, product in products)
        high = max(-(int(-product << 2 * bits) // ends[product <= 0]) for ends, product in products)
        norm = self._norm(prototype, bits)
        # By Cauchy and Schwarz no cosine leaves [-1, 1].
        return max(-1 << bits, (low << bits) // norm[low > 0]), min(1 << bits, -((-high << bits) // norm[high <= 0]))

    def _length(self, patch: int, bits: int) -> tuple[int, int]:
        """|z| + E at 2^-bits in the unit of the latents' integers."""
        key = patch, bits
        if key not in self._lengths:
            epsilon, places = self._space.head.epsilon, self._latents.bits + bits
            low, high = sqrt_ends(sum(entry * entry for entry in self._latents.rows[patch]) << 2 * bits)
            # A zero latent has <z, A> = 0 and the cosine 0, whatever it is divided by.
            self._lengths[key] = max(1, low + floor_at(epsilon, places)), max(1, high + ceil_at(epsilon, places))
        return self._lengths[key]

    def _norm(self, prototype: int, bits: int) -> tuple[int, int]:
        """|A| at 2^-bits."""
        key = prototype, bits
        if key not in self._norms:
            self._norms[key] = sqrt_ends(int(self._space.squares[prototype]) << 2 * bits)
        return self._norms[key]

    def _mass(self, patch: int, prototype: int, bits: int) -> tuple[int, int]:
        """exp(z_j - max z) / sum_i exp(z_i - max z) at 2^-bits, rounded outward."""
        row, unit = self._latents.rows[patch], -self._latents.bits
        top = max(row)
        key = patch, bits
        if key not in self._totals:
            self._totals[key] = self._space.kernel.exp_sum([entry - top for entry in row], unit, bits)
        least, greatest = self._totals[key]
        low, high = self._space.kernel.exp(row[prototype] - top, unit, bits)
        return (low << bits) // greatest, min(1 << bits, -((-high << bits) // least))
