"""A head in exact numbers, and the rules that its parts keep (certificates/v1.md, "The head file")."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .dyadic import Exact, about
from .errors import HeadError
from .similarities import COSINES, GEOMETRIES, SIMILARITIES, Similarity

__all__ = ["COSINES", "GEOMETRIES", "Head"]


@dataclass(frozen=True)
class Head:
    """A prototype head. Checks itself when built.

    Attributes:
        sha256: digest of the file's bytes.
        geometry, pooling, readout: the kinds of these parts, by the names that v1.md gives them.
        similarity: with its numbers (`similarities`).
        lower, upper: the domain of every latent coordinate, None where unbounded.
        weight: (C, P); for a soft tree (C, P + 1), its leaves.
        bias: (1, C), zeros if the file has none; for the readout `maximum` (1, P).
        prototypes: (P, D); no rows for softmax.
        depth: D.
        epsilon: of a cosine; otherwise 0.
        radius: of inner products; None without a ball.
        k: of the pooling top_mean.
        mask: of the pooling masked_max, for each prototype the columns that it looks at, rising; otherwise empty.
        columns: how many there are; the last one stands for all further patches. 1 without a mask.
        absent, present: the children of each node of a soft tree: a later node, or a leaf q as -1 - q.
    """

    sha256: str
    geometry: str
    similarity: Similarity
    pooling: str
    readout: str
    lower: Fraction | None
    upper: Fraction | None
    weight: Exact
    bias: Exact
    prototypes: Exact
    depth: int
    epsilon: Fraction = Fraction(0)
    radius: Fraction | None = None
    k: int = 0
    mask: tuple[tuple[int, ...], ...] = ()
    columns: int = 1
    absent: tuple[int, ...] = ()
    present: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.geometry not in self.similarity.geometries:
            expected = " or ".join(name for name, each in SIMILARITIES.items() if self.geometry in each.geometries)
            raise HeadError(f"similarity is {self.similarity.name}, expected {expected} for {self.geometry}")
        self._check_domain()
        self.similarity.check()
        self._check_pooling()
        self._check_readout()

    @property
    def classes(self) -> int:
        """C."""
        return len(self.weight.rows)

    @property
    def count(self) -> int:
        """P."""
        return len(self.prototypes.rows or self.weight.rows[0])

    def column(self, patch: int) -> int:
        """The column of the mask that stands for a patch."""
        return min(patch, self.columns - 1)

    def patches_of(self, prototype: int, patches: int) -> list[int]:
        """Which of so many patches a prototype of a masked_max head looks at."""
        seen = self.mask[prototype]
        return [*seen, *(range(self.columns, patches) if seen[-1] == self.columns - 1 else ())]

    def _check_domain(self) -> None:
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            raise HeadError(f"domain: lower is {about(self.lower)}, expected less than upper, {about(self.upper)}")
        bounded = self.lower is not None and self.upper is not None
        if self.radius is not None and self.radius <= 0:
            raise HeadError(
                f"geometry: radius is {about(self.radius)}, expected a positive number, or null for no ball"
            )
        nearest = max(self.lower or Fraction(0), -(self.upper or Fraction(0)), Fraction(0))
        if self.radius is not None and self.depth * nearest**2 > self.radius**2:
            raise HeadError(
                f"domain is empty: latents with {self.depth} coordinates, each at least {about(nearest)} away from 0,"
                f" are longer than the radius, {about(self.radius)}; expected latents both in the box and in the ball"
            )
        if self.geometry == "inner_product" and self.radius is None and not bounded:
            raise HeadError("domain is unbounded, expected two ends, or a radius of the geometry, for inner_product")
        if self.geometry == "euclidean" and not self.similarity.has_limit and not bounded:
            raise HeadError(
                f"domain is unbounded, expected two ends: {self.similarity.name} has no least value without"
            )
        if self.geometry in COSINES:
            if self.epsilon < 0:
                raise HeadError(f"geometry: epsilon is {about(self.epsilon)}, expected at least 0")
            for j, row in enumerate(self.prototypes.rows):
                if not any(row):
                    raise HeadError(f"prototypes: row {j} is zero, which has no direction: expected none for cosine")

    def _check_pooling(self) -> None:
        if self.pooling == "max_minus_mean_distance" and self.geometry != "euclidean":
            raise HeadError(f"pooling is {self.pooling}, which is defined for euclidean only, not for {self.geometry}")
        if self.pooling.startswith("max_minus") and not self.similarity.focal:
            expected = " and ".join(name for name, each in SIMILARITIES.items() if each.focal)
            raise HeadError(f"pooling is {self.pooling}, which is defined for {expected} only")
        if self.pooling.startswith("max_minus") and self.readout != "linear":
            raise HeadError(f"pooling is {self.pooling}, which is defined for linear only, not for {self.readout}")
        if self.pooling == "top_mean" and self.k < 1:
            raise HeadError(f"pooling: k is {self.k}, expected at least 1")

    def _check_readout(self) -> None:
        if self.geometry == "softmax" and self.readout != "linear":
            raise HeadError(f"readout is {self.readout}, expected linear for softmax")
        if self.readout == "maximum":
            one = 1 << self.weight.bits
            for c, row in enumerate(self.weight.rows):
                if not any(row) or any(entry not in (0, one) for entry in row):
                    raise HeadError(f"weight: row {c} is not of 0 and 1 with a 1, expected which prototypes it has")
        if self.readout == "soft_tree":
            if not self.similarity.in_unit or self.pooling != "max":
                expected = " or ".join(name for name, each in SIMILARITIES.items() if each.in_unit)
                raise HeadError(f"readout is soft_tree, expected activations in [0, 1]: {expected}, pooling max")
            self._check_tree()

    def _check_tree(self) -> None:
        count = len(self.absent)
        if len(self.present) != count or self.count != count:
            raise HeadError(
                f"readout has {count} absent and {len(self.present)} present children for {self.count} prototypes,"
                " expected one of each for each"
            )
        for node, children in enumerate(zip(self.absent, self.present, strict=True)):
            for child in children:
                if not (node < child < count or -1 - count <= child < 0):
                    raise HeadError(
                        f"readout: node {node} has the child {child}, expected a later node,"
                        f" or a leaf from -1 to {-1 - count}"
                    )
        if len({*self.absent, *self.present}) != 2 * count:
            raise HeadError("readout has a node or a leaf with two parents, expected a tree")
