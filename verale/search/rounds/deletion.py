"""Deleting in rounds: every statement is tried without the others' change at once, and many of different patches go
together.

In each round, every undecided statement of each image is left out alone, by `verale.bounds.spans`. One without which
some margin is not above the guard is needed, and stays so: bounds only widen when others are deleted. Of the others,
each patch offers the one whose deletion leaves most; as many of an image's patches as its margins allow, first by the
sum of what each deletion costs every rival, delete theirs together. What is left in the end is proved, and so is, from
within, that no statement can be dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import torch
from torch import Tensor

from verale.bounds import Projection
from verale.bounds.spans import Deletions, Spans
from verale.rounding import Enclosure
from verale.search.rounds.images import Images, likeness_of

_ENTRIES_AT_ONCE = 2**18
"""So many coordinates of slopes are gathered at once."""

_TILE = 32
"""So many statements of an image are tried at once."""

_FEWER = 2 / 3
"""If too many deletions were tried together, this share of them is tried next."""


class Deletion:
    """N images whose statements are deleted.

    Args:
        images: the images.
        paradigm: the head's.
        observed: (N * L, P) enclosures of their observables.
        stated: (N * L, M) prototypes, those that count first.
        count: (N * L,) how many count.

    Attributes:
        spans: what the statements that are left say.
        spared: (N,) how many statements were needed only for the margins that are asked for, when they were tried.
    """

    def __init__(
        self, images: Images, paradigm: Projection, observed: Enclosure, stated: Tensor, count: Tensor
    ) -> None:
        self.images, self._paradigm, self._observed = images, paradigm, observed
        self.spans = Spans(paradigm, stated, count, observed)
        self.spared = torch.zeros(len(images), dtype=torch.int64)

    @cached_property
    def _deletions(self) -> Deletions:
        return self.spans.deletions()

    @property
    def least(self) -> Tensor:
        """(N,) the least margin, from without; an estimate."""
        return self._margins_of(self._likeness(self.spans.ranges(False))).amin(1)

    def shrink(self, guard: Tensor) -> None:
        """Delete statements until none can be deleted that leaves all margins above `guard` (N,)."""
        spans, images = self.spans, self.images
        count, patches = len(images), images.patches
        low, high = self._likeness(spans.ranges(False))
        undecided = spans.there & spans.clear[:, None]
        undecided &= (self._margins_of((low, high)).amin(1) > guard).repeat_interleave(patches)[:, None]
        while True:
            rows, places = undecided.nonzero(as_tuple=True)
            if not len(rows):
                break
            margins = self._without(rows, places, (low, high), False)
            least = margins.amin(1)
            needed = least <= guard[rows // patches]
            asked = (margins[needed] + images.asked[rows[needed] // patches]).amin(1) > guard[rows[needed] // patches]
            self.spared += torch.bincount(rows[needed][asked] // patches, minlength=count)
            undecided[rows[needed], places[needed]] = False
            rows, places, margins, least = (each[~needed] for each in (rows, places, margins, least))
            if not len(rows):
                break
            # of each patch the one that leaves most, by patch
            best = torch.full((count * patches,), -torch.inf, dtype=torch.float64).scatter_reduce_(
                0, rows, least, "amax"
            )
            at = torch.where(least == best[rows], torch.arange(len(rows)), len(rows))
            offer = torch.full((count * patches,), len(rows)).scatter_reduce_(0, rows, at, "amin")
            offer = offer[offer < len(rows)]
            rows, places, margins, least = (each[offer] for each in (rows, places, margins, least))
            taken = self._together(rows, places, margins, least, (low, high), guard)
            rows, places = rows[taken], places[taken]
            low[rows], high[rows] = self._likeness(spans.ranges_without(self._deletions, rows, places, False), rows)
            gone = torch.zeros_like(spans.there[rows])
            gone[torch.arange(len(rows)), places] = True
            order = gone.long().argsort(dim=1, stable=True)
            stated, left = spans.stated[rows].gather(1, order), spans.count[rows] - 1
            undecided[rows] = (undecided[rows] & ~gone).gather(1, order)
            new = Spans(self._paradigm, stated, left, self._observed[rows])
            spans.replace(rows, new, self._deletions, new.deletions())
            undecided[rows] &= spans.clear[rows][:, None]

    def _together(
        self, rows: Tensor, places: Tensor, margins: Tensor, least: Tensor, likeness: tuple[Tensor, Tensor],
        guard: Tensor,
    ) -> Tensor:  # fmt: skip
        """(S,) bool, which deletions of S different patches are made: of each image the first few that leave most."""
        images = self.images
        count, patches = len(images), images.patches
        image = rows // patches
        low, high = self._likeness(self.spans.ranges_without(self._deletions, rows, places, False), rows)
        now = self._margins_of(likeness)
        score = torch.full((count * patches,), -torch.inf, dtype=torch.float64)
        score[rows] = least
        order = score.view(count, patches).argsort(dim=1, descending=True, stable=True)
        rank = order.argsort(1).flatten()[rows]
        lost = torch.zeros(count * patches, now.shape[1], dtype=torch.float64)
        lost[rows] = (now[image] - margins).nan_to_num(0.0, 0.0, 0.0)
        lost = lost.view(count, patches, -1).gather(1, order[:, :, None].expand(-1, -1, now.shape[1])).cumsum(1)
        offered = torch.bincount(image, minlength=count)
        fits = (now[:, None] - lost > guard[:, None, None]).all(2).cumprod(1).sum(1)
        taken = torch.minimum(fits.clamp(min=1), offered)
        while True:
            gone = rank < taken[image]
            replaced = [
                end.index_copy(0, rows[gone], new[gone]) for end, new in zip(likeness, (low, high), strict=True)
            ]
            left = self._margins_of((replaced[0], replaced[1])).amin(1)
            too_many = (left <= guard) & (taken > 1)
            if not bool(too_many.any()):
                return gone
            taken = torch.where(too_many, (taken * _FEWER).long().clamp(min=1), taken)

    def lost(self, widened: Callable[[Enclosure], Enclosure]) -> Tensor:
        """(N, K) what margins lose where `widened` widens every stated interval, to first order; an estimate.

        Of each prototype only the patches count that attain the least and the greatest activation.
        """
        spans, images, slopes = self.spans, self.images, self.spans.slopes()
        count, patches, size = len(images), images.patches, images.size
        stated = torch.where(spans.there, spans.stated, spans.stated[:, :1])
        own = Enclosure.unchecked(*(end.gather(1, stated) for end in (self._observed.lower, self._observed.upper)))
        wide = widened(own)
        # (R, M) how far the ends of stated intervals move
        below, above = (own.lower - wide.lower) * spans.there, (wide.upper - own.upper) * spans.there
        ranges = spans.ranges(False)
        likeness = self._likeness(Enclosure.unchecked(ranges.lower.clone(), ranges.upper.clone()))
        first = torch.arange(count)[:, None] * patches
        rows = torch.stack([end.view(count, patches, size).argmax(1) + first for end in likeness], 1).flatten()
        prototypes = torch.arange(size).repeat(2 * count)
        lower, upper = ranges.lower[rows, prototypes], ranges.upper[rows, prototypes]
        step = max(1, _ENTRIES_AT_ONCE // max(1, slopes.vectors[0].numel()))
        for part in (slice(begin, begin + step) for begin in range(0, len(rows), step)):
            down, up = below[rows[part]], above[rows[part]]
            of_lower, of_upper = spans.slopes_of_ends(slopes, rows[part], prototypes[part])
            lower[part] -= torch.maximum(of_lower * down, -of_lower * up).sum(1)
            upper[part] += torch.maximum(of_upper * up, -of_upper * down).sum(1)
        wide = Enclosure.unchecked(*(end.view(count, 2, size) for end in (lower, upper))).intersect(
            self._paradigm.domain
        )
        low, high = likeness_of(wide, images.space)
        low, high = (images.similar(end.contiguous()) for end in (low[:, :1], high[:, 1:]))
        return self._margins_of(likeness) - self._margins(low, high, torch.arange(count))[:, 0]

    def doubtful(self, noise: Tensor, asked: Tensor) -> Tensor:
        """(R, M) bool, the statements of which it is not sure that no checker can do without them.

        Args:
            noise: (N,) by how much a margin without a statement has to miss 0.
            asked: (N,) bool, the images whose statements are in question; of others none is sure.
        """
        spans, images = self.spans, self.images
        known = asked.repeat_interleave(images.patches)[:, None]
        rows, places = (spans.there & known).nonzero(as_tuple=True)
        doubt = spans.there & ~known
        if not len(rows):
            return doubt
        within = self._with_actual(spans.ranges(True), slice(None))
        low, high = self._likeness(within)
        margins = self._without(rows, places, (low, high), True)
        sure = margins.amin(1) < -noise[rows // images.patches]
        sure &= spans.clear[rows] & (self._deletions.clear[rows, places] | (spans.count[rows] == 1))
        doubt[rows[~sure], places[~sure]] = True
        return doubt

    def _with_actual(self, ranges: Enclosure, rows: Tensor | slice) -> Enclosure:
        """Ranges from within, and the image's own observables."""
        own = self._observed[rows]
        return Enclosure.unchecked(torch.minimum(ranges.lower, own.upper), torch.maximum(ranges.upper, own.lower))

    def _without(
        self, rows: Tensor, places: Tensor, likeness: tuple[Tensor, Tensor], within: bool
    ) -> Tensor:  # fmt: skip
        """(S, K) margins without each of S statements, patch by patch; `likeness` (R, P) is what all of them leave."""
        images = self.images
        patches, size = images.patches, images.size
        others = [_greatest_of_others(end.view(-1, patches, size)).flatten(0, 1) for end in likeness]
        count = torch.bincount(rows // patches, minlength=len(images))
        start = count.cumsum(0) - count
        margins = torch.empty(len(rows), images.bias.shape[1], dtype=torch.float64)
        for begin in range(0, int(count.max()), _TILE):
            some = (count > begin).nonzero()[:, 0]
            at = begin + torch.arange(_TILE)
            at = (start[some][:, None] + torch.where(at < count[some][:, None], at, 0)).flatten()
            ranges = self.spans.ranges_without(self._deletions, rows[at], places[at], within)
            if within:
                ranges = self._with_actual(ranges, rows[at])
            low, high = self._likeness(ranges, rows[at])
            low, high = (
                images.similar(torch.maximum(end, other.index_select(0, rows[at]), out=end))
                for end, other in zip((low, high), others, strict=True)
            )
            margins[at] = self._margins(low.view(-1, _TILE, size), high.view(-1, _TILE, size), some).flatten(0, 1)
        return margins

    def _likeness(self, ranges: Enclosure, rows: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The least and the greatest likeness that ranges (R, P) allow, whose memory is used."""
        images = self.images
        low, high = likeness_of(ranges, images.space)
        if images.hidden is not None:
            hidden = images.hidden.repeat(len(images), 1) if rows is None else images.hidden[rows % images.patches]
            low, high = low.masked_fill(hidden, -torch.inf), high.masked_fill(hidden, -torch.inf)
        return low, high

    def _margins_of(self, likeness: tuple[Tensor, Tensor]) -> Tensor:
        """(N, K) of the likenesses (R, P) of all patches."""
        images = self.images
        low, high = (images.similar(end.view(-1, images.patches, images.size).amax(1)[:, None]) for end in likeness)
        return self._margins(low, high, torch.arange(len(images)))[:, 0]

    def _margins(self, low: Tensor, high: Tensor, some: Tensor) -> Tensor:
        """(N, B, K) of activations (N, B, P) of some of the images."""
        images = self.images
        bias, positive, negative = images.bias, images.positive, images.negative
        if len(some) < len(images):
            bias, positive, negative = bias[some], positive[some], negative[some]
        return torch.baddbmm(bias[:, None], low, positive).baddbmm_(high, negative)


def _greatest_of_others(values: Tensor) -> Tensor:
    """(N, L, P): for each patch the greatest of the other patches' values."""
    greatest, at = values.max(1, keepdim=True)
    second = values.scatter(1, at, -torch.inf).amax(1, keepdim=True)
    return greatest.expand_as(values).scatter(1, at, second)
