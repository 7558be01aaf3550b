"""The problem: images to explain, with their observables and the margins to prove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from verale.bounds import Margins, SpatialParadigm, dissimilarity, margins_of, observe, pooling_of
from verale.bounds.domain import box_ranges
from verale.certificate import ActivationStatement, Certificate, PatchStatement, Prices, Statement
from verale.errors import VeraleError
from verale.head import Head, read_out
from verale.rounding import UNIT, Enclosure
from verale.search.costs import NOTHING, UNIT_COSTS, Avoid, Costs
from verale.search.digits import EXACT, SOME, Tolerance
from verale.version import __version__

NOISE = 4
"""A margin must miss zero by so many of its rounding errors before minimality is claimed."""

_EVALUATION = 64
"""So many times the rounding error of a margin, similarities and pooling are rounded less."""

Pair = tuple[int, int]
"""(patch, prototype)."""


class UnexplainedError(VeraleError):
    """The search has no explanation under the paradigm; the message says why."""


@dataclass(frozen=True)
class NoExplanation:
    """That a search has no explanation of an image.

    Attributes:
        reason: why.
        stays_open: whether every statement that could help is made; there may be one at smaller margins.
    """

    reason: str
    stays_open: bool = False

    def but(self, words: str) -> NoExplanation:
        """The same, with more words behind its reason."""
        return replace(self, reason=self.reason + words)


@dataclass(frozen=True, eq=False)
class Explanation:
    """An explanation of one image.

    Attributes:
        statements: those about patches or single activations first, then clauses and sums.
        margins: (C,) proved.
        minimal: whether every statement is surely needed: without it, bounds miss the class by more than rounding can
            explain.
        prices: the checker's hints.
    """

    statements: list[Statement]
    margins: Tensor
    minimal: bool
    prices: tuple[Prices, ...] = ()

    def certificate(
        self, head: Head, subject: Mapping[str, Any], predicted: int, paradigm: str, patches: int
    ) -> Certificate:
        """The certificate that states it of a subject: latents, or a picture and its network."""
        margins = enumerate(self.margins.tolist())
        return Certificate(
            head=head.digest,
            **subject,
            predicted=predicted,
            paradigm=paradigm,
            patches=patches,
            statements=tuple(self.statements),
            margins=tuple(None if rival == predicted else margin for rival, margin in margins),
            minimal=self.minimal,
            version=__version__,
            prices=self.prices,
        )


Solution = Explanation | NoExplanation


def given_up(count: int) -> NoExplanation:
    """Where a search became too large."""
    return NoExplanation(f"given up at {count} statements: a smaller explanation is known")


class GivenUpError(UnexplainedError):
    """The search was given up, because another explanation is smaller than what it would find."""


@dataclass(frozen=True, eq=False)
class Problem:
    """N images of one head, of L patches each.

    Attributes:
        head: the head.
        patches: L.
        observed: (N * L, P) enclosure of m(z_l, p_j), image by image, widened to the tolerance: the intervals that
            statements give.
        activations: (N, P) enclosure of a_j, not widened.
        tolerance: how far the intervals of statements are widened.
        margins: the differences of logits to bound.
        settled: (N,) the least margin when every observable is stated. Where it is not positive, no class certainly
            beats all others, so no class can be entailed.
        avoid: what must not be stated.
        costs: what statements cost.
    """

    head: Head
    patches: int
    observed: Enclosure
    activations: Enclosure
    tolerance: Tolerance
    margins: Margins
    settled: Tensor
    avoid: Avoid = NOTHING
    costs: Costs = UNIT_COSTS

    @classmethod
    def of(
        cls,
        head: Head,
        images: Tensor,
        tolerance: Tolerance = EXACT,
        avoid: Avoid = NOTHING,
        costs: Costs = UNIT_COSTS,
    ) -> Problem:
        """Observe images (N, L, D) float64. Raises LatentsError for latents that do not fit."""
        count = len(images)
        observed = observe(head, images)
        activations = pooling_of(head).box(observed.view(count, images.shape[1], head.size))
        logits = read_out(head, (activations.lower + activations.upper) / 2)
        margins = margins_of(head, logits.argmax(1), images.shape[1])
        settled = _margins(margins, activations).amin(1)
        return cls(head, images.shape[1], observed, activations, EXACT, margins, settled, avoid, costs).widened(
            tolerance
        )

    def over(self, box: Enclosure) -> Problem:
        """The only image, of whose latents a box (L, D) in the head's domain is known. Its statements are as wide as
        the ranges over the box, so none of them may be taken for an equality."""
        observed = box_ranges(self.head, box)
        activations = pooling_of(self.head).box(observed[None])
        settled = _margins(self.margins, activations).amin(1)
        return replace(self, observed=observed, activations=activations, settled=settled, tolerance=SOME)

    def widened(self, tolerance: Tolerance) -> Problem:
        """The same images, observed exactly here, with wider statements."""
        if not tolerance:
            return self
        stated = tolerance.widened(self.observed)
        return replace(self, observed=stated, tolerance=tolerance, settled=self.proved_margins(stated).amin(1))

    def with_ends(self, statements: Sequence[Statement]) -> Problem:
        """The only image, with the ends that statements about single observables and activations give instead of its
        own."""
        pairs = [each for each in statements if isinstance(each, PatchStatement)]
        own = [each for each in statements if isinstance(each, ActivationStatement)]
        patches, prototypes = self.index([each.patch for each in pairs]), self.index([each.prototype for each in pairs])
        stated = self.index([each.prototype for each in own])
        return replace(
            self,
            observed=_replaced(self.observed, (patches, prototypes), pairs),
            activations=_replaced(self.activations, (stated * 0, stated), own),
            tolerance=SOME,
        )

    def __len__(self) -> int:
        return len(self.settled)

    @property
    def is_finite(self) -> bool:
        """Whether all observables are known. Of numbers beyond float64 nothing is, and no estimate is one of them."""
        return bool(self.observed.lower.isfinite().all() and self.observed.upper.isfinite().all())

    def ranges(self, paradigm: SpatialParadigm, explanations: list[list[Pair]]) -> Enclosure:
        """(N * L, P) what the explanations alone say of all patches, not how the search came to them."""
        stated = self.by_patch(explanations)
        return paradigm.ranges([stated.get(row, []) for row in range(len(self) * self.patches)], self.observed)

    def proved_margins(self, ranges: Enclosure) -> Tensor:
        """(N, C) proved margins, from ranges (N * L, P) of all patches."""
        return _margins(self.margins, pooling_of(self.head).box(ranges.view(len(self), self.patches, -1)))

    @property
    def noise(self) -> Tensor:
        """(N,) more than rounding lowers a margin from given ranges of observables.

        A similarity is rounded a few times, relative to the greatest one, which `error` counts for every prototype. Of
        a cosine m, 1 - m is rounded before it is multiplied by the scale.
        """
        noise = _EVALUATION * self.margins.error
        if self.head.scale is not None:
            noise = noise + _EVALUATION * UNIT * float(self.head.scale.max()) * self.margins.sensitivity
        return noise.amax(1)

    def stated_activations(self) -> Enclosure:
        """(N, P) the intervals that statements about activations give."""
        return self.tolerance.widened(self.activations)

    @property
    def prototypes_left(self) -> Tensor:
        """(P,) bool: which prototypes may be stated."""
        return torch.ones(self.head.size, dtype=torch.bool).index_fill(0, self.index(self.avoid.prototypes), False)

    @property
    def patches_left(self) -> Tensor:
        """(L,) bool: which patches statements may be about."""
        return torch.ones(self.patches, dtype=torch.bool).index_fill(0, self.index(self.avoid.patches), False)

    def index(self, values: Sequence[int]) -> Tensor:
        """Integers as an index."""
        return torch.tensor(values, dtype=torch.int64)

    def by_patch(self, explanations: list[list[Pair]]) -> dict[int, list[int]]:
        """The stated prototypes of each row that has a statement, in their order."""
        stated: dict[int, list[int]] = {}
        for image, pairs in enumerate(explanations):
            for patch, prototype in pairs:
                stated.setdefault(image * self.patches + patch, []).append(prototype)
        return stated

    def take(self, chosen: list[int]) -> Problem:
        """Some of the images."""
        if chosen == list(range(len(self))):
            return self
        images = self.index(chosen)
        rows = (images[:, None] * self.patches + torch.arange(self.patches)).flatten()
        return replace(
            self,
            observed=self.observed[rows],
            activations=self.activations[images],
            margins=self.margins.take(images),
            settled=self.settled[images],
        )

    def dissimilarities(self) -> Tensor:
        """(N, L, P) small means similar, infinite where pooling ignores the patch; an estimate."""
        middle = dissimilarity(self.head, (self.observed.lower + self.observed.upper) / 2)
        middle = middle.view(len(self), self.patches, self.head.size)
        hidden = self.head.pooling.hidden(self.patches, self.head.size)
        return middle if hidden is None else middle.masked_fill(hidden, torch.inf)


def _margins(margins: Margins, activations: Enclosure) -> Tensor:
    """(N, C) lower bounds, one box of activations (N, P) an image."""
    return margins.lower(activations[:, None])[:, 0]


def _replaced(
    ends: Enclosure, where: tuple[Tensor, Tensor], statements: Sequence[PatchStatement | ActivationStatement]
) -> Enclosure:
    lower, upper = ends.lower.clone(), ends.upper.clone()
    lower[where] = lower.new_tensor([each.lower for each in statements])
    upper[where] = upper.new_tensor([each.upper for each in statements])
    return Enclosure(lower, upper)


def shortened(margins: Tensor) -> Tensor:
    """Margins rounded down to float32: still proved, shorter, and free of the last bits, which depend on the batch."""
    short = margins.to(torch.float32)
    lower = torch.nextafter(short, torch.full_like(short, -torch.inf))
    short = torch.where(short.to(torch.float64) > margins, lower, short)
    return torch.where(short > 0, short.to(torch.float64), margins)
