r"""Growing in rounds: statements against the worst rival of each image, about many of its patches at once.

A patch knows its base x_0 (its first stated prototype; the ball's centre unless observables are distances) and
orthonormal directions e_i that span the stated b_k = x_k - x_0. A statement about prototype k adds the direction e =
r / |r|, r being the part of b_k orthogonal to the others, and <z - x_0, e> is known then. With t_j = <e, b_j>,

    the part of b_j orthogonal to the span loses t_j^2 (`across`), the middle of m_j moves by multiples of
    <z - x_0, e> t_j, and the ball around the foot in which z lies loses <z - x_0, e>^2.

All of it is estimated. What growth gives is proved by `verale.bounds.spans`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from verale.bounds.projection import DEPENDENT
from verale.bounds.spans import Spans
from verale.search.rounds.images import Images, likeness_between, likeness_of

SLOTS = 16
"""So many patches of an image get a statement in a round."""

_FEWEST_SLOTS = 2
"""Slots that no image uses are left out, but not below this: the last bits of a product of matrices may depend on how
many rows there are, if these are fewer than 4."""

_TINY = 1e-300
_LIVELY = 0.75
"""Images that are done, and rivals that are closed, are left out when fewer than this share is still open."""

_TURNS = 4
"""Only once in so many rounds is it asked which images are done: on a GPU the question costs a pause."""

_OF_PATCHES = (
    "table", "ball", "whole", "base", "foot", "directions", "number", "stated", "used", "count", "nearest", "observed",
    "open",
)  # fmt: skip
_OF_IMAGES = (
    "weights", "positive", "negative", "bias", "actual", "attained", "likeness", "low", "high", "exceeding",
)  # fmt: skip


class Growth:
    """The patches of N images while statements about them are added; rows are patches, image by image, and one more to
    which the slots point that are not used.

    Attributes:
        images: the images.
        stated: (R, M) prototypes in the order in which they were stated.
        used: (R, M) whether they became directions, or the base.
        count: (R,) how many there are.
    """

    def __init__(self, images: Images) -> None:
        self.images, space = images, images.space
        rows, size = len(images) * images.patches, images.size
        self.columns = space.points.T.contiguous()  # of prototypes; a base enters with a last coordinate of 1
        if space.is_distance:
            self.columns = torch.cat([self.columns, torch.ones(1, size, dtype=torch.float64)])
        self.farthest = float((space.squares if space.reach is None else space.reach).max())
        self.slots = min(SLOTS, images.patches)
        self.room = min(space.points.shape[1] + 1, size)
        depth = space.points.shape[1]
        # across, the middle of the signed observable, the least and the greatest likeness
        self.table = torch.empty(rows + 1, 4, size, dtype=torch.float64)
        self.table[:, 0] = 0.0 if space.is_distance else space.squares
        self.table[:, 1] = space.shift
        self.table[:, 2], self.table[:, 3] = space.domain
        if images.hidden is not None:
            self.table[:-1, 2:].view(len(images), images.patches, 2, size).masked_fill_(
                images.hidden[:, None], -torch.inf
            )
        self.ball = torch.full((rows + 1,), space.whole, dtype=torch.float64)
        self.whole = self.ball.clone()
        self.base = torch.full((rows + 1,), -1)
        self.base[-1] = 0
        self.foot = torch.zeros(rows + 1, depth, dtype=torch.float64)
        self.directions = torch.zeros(rows + 1, 4, depth, dtype=torch.float64)
        self.number = torch.zeros(rows + 1, dtype=torch.int64)
        self.stated = torch.zeros(rows + 1, 8, dtype=torch.int64)
        self.used = torch.zeros(rows + 1, 8, dtype=torch.bool)
        self.count = torch.zeros(rows + 1, dtype=torch.int64)
        self.observed = torch.cat([images.observed.view(rows, size), space.shift[None]])
        self.founding = space.is_distance  # whether some patch may have no base yet
        self.weights, self.positive, self.negative, self.bias = (
            images.weights, images.positive, images.negative, images.bias,
        )  # fmt: skip
        self.likeness = images.likeness
        self.actual, self.attained = images.actual, images.attained
        self.nearest = torch.cat([images.nearest.flatten(), torch.zeros(1, dtype=torch.int64)])
        self.open = torch.ones(rows + 1, size, dtype=torch.bool)
        if images.allowed is not None:
            self.open[:-1] = images.allowed.repeat(len(images), 1)

    def begin_with(self, spans: Spans) -> None:
        """Begin with what is stated already; all patches are clear."""
        space, distance = self.images.space, self.images.space.is_distance
        low, high = likeness_of(spans.ranges(False), space)
        some = spans.count > 0
        entries = torch.stack([spans.across, space.sign * spans.middle, low, high], 1)
        if self.images.hidden is not None:
            hidden = self.images.hidden.repeat(len(self.images), 1)
            entries[:, 2:].masked_fill_(hidden[:, None], -torch.inf)
        self.table[:-1] = torch.where(some[:, None, None], entries, self.table[:-1])
        self.ball[:-1] = torch.where(some, spans.ball.clamp(min=0), self.ball[:-1])
        directions, foot = spans.in_coordinates(space.points)
        room, most = directions.shape[1], spans.stated.shape[1]
        self.directions = torch.zeros(len(self.ball), room + 2, directions.shape[2], dtype=torch.float64)
        self.directions[:-1, :room], self.foot[:-1] = directions, foot
        self.number[:-1] = (spans.count - int(distance)).clamp(min=0)
        if distance:
            base = spans.stated[:, 0]
            self.base[:-1] = torch.where(some, base, -1)
            whole = -self.observed[:-1].gather(1, base[:, None])[:, 0]
            self.whole[:-1] = torch.where(some, whole, 0.0)
            self.founding = bool((self.base < 0).any())
        self.stated = torch.zeros(len(self.ball), most + 2, dtype=torch.int64)
        self.used = torch.zeros(len(self.ball), most + 2, dtype=torch.bool)
        self.stated[:-1, :most], self.used[:-1, :most], self.count[:-1] = spans.stated, spans.there, spans.count
        rows, places = spans.there.nonzero(as_tuple=True)
        self.open[rows, spans.stated[rows, places]] = False

    def _own(self, rows: Tensor, prototypes: Tensor) -> Tensor:
        """The likenesses that are stated."""
        images = self.images
        observed, peak = self.observed[rows, prototypes], images.space.peak
        return observed if peak is None else -(observed - peak[prototypes]).abs()

    def _try(self, rows: Tensor, old: Tensor, prototypes: Tensor) -> tuple[Tensor, ...]:
        """What some patches (S,) would be, were one of the candidates (S, 2) stated too: (S, 2, ...) each.

        Args:
            old: (S, 4, P) their entries of the table.
        """
        space = self.images.space
        shape, depth, size = prototypes.shape, space.points.shape[1], self.images.size
        vectors = space.points.index_select(0, prototypes.flatten()).view(*shape, depth)
        base = space.points.index_select(0, self.base[rows].clamp(min=0)) if space.is_distance else None
        if base is not None:
            vectors = vectors - base[:, None]
        directions = self.directions.index_select(0, rows)
        rest = vectors
        for _ in range(2):
            rest = rest - (rest @ directions.transpose(1, 2)) @ directions
        square, own = rest.square().sum(2), vectors.square().sum(2)
        usable = (square > DEPENDENT * own) & (square > space.least_residual) & (self.number[rows] < self.room)[:, None]
        unit = rest * (square.clamp(min=_TINY).rsqrt() * usable)[:, :, None]
        observed = self.observed.index_select(0, rows).gather(1, prototypes)
        offset = (
            (self.whole[rows][:, None] + own + observed) / 2 if base is not None else observed - space.shift[prototypes]
        )
        centre = (offset - (vectors * self.foot[rows][:, None]).sum(2)) * square.clamp(min=_TINY).rsqrt() * usable
        weights = unit if base is None else torch.cat([unit, -(unit @ base[:, :, None])], 2)
        along = (weights.view(-1, weights.shape[2]) @ self.columns).view(*shape, size)
        across = torch.addcmul(old[:, None, 0], along, along, value=-1)
        middle = torch.addcmul(old[:, None, 1], along, centre[:, :, None], value=2.0 if base is not None else 1.0)
        ball = (self.ball[rows][:, None] - centre.square()).clamp_(min=0)
        swing = (across * (ball * (4.0 if base is not None else 1.0))[:, :, None]).clamp_(min=0).sqrt_()
        low, high = likeness_between(middle - swing, swing.add_(middle), space.peak)
        low, high = torch.maximum(low, old[:, None, 2], out=low), torch.minimum(high, old[:, None, 3], out=high)
        at = prototypes[:, :, None]
        stated = self._own(rows[:, None], prototypes)[:, :, None]
        low.scatter_(2, at, stated)
        high.scatter_(2, at, stated)
        if self.founding:  # the prototype of the first statement about a patch is its base
            first = (self.base[rows] < 0).nonzero()[:, 0]
            bases, start = prototypes[first], -self.observed[rows[first]].gather(1, prototypes[first])
            reach = space.reach.index_select(0, bases.flatten()).view(*bases.shape, size)  # type: ignore[union-attr]
            middles, swing = -start[:, :, None] - reach, (reach * start[:, :, None]).sqrt_().mul_(2)
            least, most = likeness_between(middles - swing, middles + swing, space.peak)
            least, most = torch.maximum(least, old[first][:, None, 2]), torch.minimum(most, old[first][:, None, 3])
            own_, at = self._own(rows[first][:, None], bases)[:, :, None], bases[:, :, None]
            across[first], middle[first], ball[first] = reach, middles, start
            low[first], high[first] = least.scatter_(2, at, own_), most.scatter_(2, at, own_)
            unit[first], centre[first], usable[first] = 0.0, 0.0, False
        if self.images.hidden is not None:
            hidden = (old[:, 3] == -torch.inf)[:, None]
            low.masked_fill_(hidden, -torch.inf)
            high.masked_fill_(hidden, -torch.inf)
        return across, middle, low, high, ball, unit, centre, usable

    def _commit(self, rows: Tensor, prototypes: Tensor, entries: Tensor, ball: Tensor, unit: Tensor, centre: Tensor,
                usable: Tensor) -> None:  # fmt: skip
        self.table.index_copy_(0, rows, entries)
        self.ball[rows] = ball
        used = usable
        if self.founding:
            first = self.base[rows] < 0
            self.base[rows] = torch.where(first, prototypes, self.base[rows])
            self.whole[rows] = torch.where(first, ball, self.whole[rows])
            self.founding, used = bool((self.base < 0).any()), usable | first
        if int(self.number.max()) + 1 >= self.directions.shape[1]:
            self.directions = torch.cat([self.directions, torch.zeros_like(self.directions)], 1)
        self.directions[rows, self.number[rows]] = unit
        self.number[rows] += usable.long()
        self.foot[rows] += centre[:, None] * unit
        self.number[-1] = 0
        self.directions[-1] = 0.0
        self.foot[-1] = 0.0
        if int(self.count.max()) + 1 >= self.stated.shape[1]:
            self.stated = torch.cat([self.stated, torch.zeros_like(self.stated)], 1)
            self.used = torch.cat([self.used, torch.zeros_like(self.used)], 1)
        self.stated[rows, self.count[rows]] = prototypes
        self.used[rows, self.count[rows]] = used
        self.count[rows] += 1
        self.open[rows, prototypes] = False
        self.count[-1] = 0

    def grow(self, guard: float, most: Tensor) -> Tensor:
        """Add statements until all margins exceed `guard`; (N,) bool, whether they do in the end. An image with
        more than `most` (N,) statements is given up.

        In each round, the worst rival of each image names the activations that cost it most, and each of those names a
        patch: the one that attains the activation (to prove it high) or the one that may exceed it most (to prove it
        low). As many patches as the rival's deficit calls for get one statement each, at most `SLOTS`: the named
        prototype, or the one that explains most of what is unknown of the latent. Each patch takes the one that leaves
        the smaller sum of deficits of all rivals when the other patches of the round take the latter.
        """
        total, patches, size = len(most), self.images.patches, self.images.size
        self.live = torch.arange(total)
        self.grown = torch.zeros(total, dtype=torch.bool)
        self.lists: list[tuple[Tensor, Tensor, Tensor]] = []
        if self.founding:  # of each patch the most similar prototype is stated
            rows = torch.arange(len(self.nearest) - 1)
            if self.images.allowed is not None:
                rows = rows[self.open[:-1].any(1)]
            rows = rows[self.base[rows] < 0]
            prototypes = self.nearest[rows]
            tried = self._try(rows, self.table.index_select(0, rows), prototypes[:, None])
            entries = torch.stack([each[:, 0] for each in tried[:4]], 1)
            self._commit(rows, prototypes, entries, *(each[:, 0] for each in tried[4:]))
        table = self.table[:-1].view(-1, patches, 4, size)
        self.low = table[:, :, 2].amax(1)
        self.high, self.exceeding = self._greatest(table[:, :, 3])
        turn = 0
        while len(self.live):
            count = len(self.live)
            low, high = (self.images.similar(each.clone()) for each in (self.low, self.high))
            margins = self._margins(low[:, None], high[:, None])[:, 0]
            least, rival = margins.min(1)
            open_ = least <= guard
            if turn % _TURNS == 0:
                if not bool(open_.any()):
                    break
                going = open_ & (self.count[:-1].view(count, patches).sum(1) <= most[self.live])
                if int(going.sum()) <= _LIVELY * count or bool((open_ & ~going).any()):
                    self._leave(going, ~open_)
                    self._fewer_rivals(margins[going] > guard)
                    continue
                if self._fewer_rivals(margins > guard):
                    continue
            turn += 1
            weight = self.weights[torch.arange(count), rival]
            rises = weight > 0
            loss = weight * (self.actual - torch.where(rises, low, high))
            patch = torch.where(rises, self.attained, self.exceeding)
            stated = self.open[:-1].view(count, patches, size)
            can = stated.gather(1, patch[:, None])[:, 0]
            if self.images.allowed is not None:
                forbidden = ~self.images.allowed.gather(0, patch)
                can |= forbidden & stated.any(2).gather(1, patch)
            loss.masked_fill_(~(can & open_[:, None]), -1.0)
            costliest = torch.full((count, patches), -1.0, dtype=torch.float64).scatter_reduce_(1, patch, loss, "amax")
            names = (loss == costliest.gather(1, patch)) & (loss > 0)
            index = torch.where(names, torch.arange(size), size - 1)
            named = torch.full((count, patches), size - 1).scatter_reduce_(1, patch, index, "amin")
            promised, chosen = costliest.topk(self.slots, 1)
            kept = (promised > 0) & (promised.cumsum(1) - promised < guard - least[:, None])
            stuck = open_ & ~kept[:, 0]
            if bool(stuck.any()):
                self._leave(~stuck, torch.zeros_like(stuck))
                continue
            few = _FEWEST_SLOTS
            while few < self.slots and bool(kept[:, few:].any()):
                few *= 2
            chosen, kept = chosen[:, :few], kept[:, :few]
            self._round(chosen, named.gather(1, chosen), kept, guard)
        self._leave(torch.zeros(len(self.live), dtype=torch.bool), torch.ones(len(self.live), dtype=torch.bool))
        return self.grown

    def _round(self, patch: Tensor, named: Tensor, kept: Tensor, guard: float) -> None:
        """State something about the patches (N, S) of some slots."""
        count, slots = patch.shape
        patches, size = self.images.patches, self.images.size
        rows = torch.where(kept, torch.arange(count)[:, None] * patches + patch, count * patches).flatten()
        named = named.flatten()
        old = self.table.index_select(0, rows)
        if self.images.allowed is not None:
            is_open = self.open[rows]
            named = torch.where(is_open.gather(1, named[:, None])[:, 0], named, is_open.to(torch.uint8).argmax(1))
        self.table[:, 2:].index_fill_(0, rows, -torch.inf)
        table = self.table[:-1].view(count, patches, 4, size)
        rest_low = table[:, :, 2].amax(1)
        rest_high, rest_at = self._greatest(table[:, :, 3])
        # What says most of the patches, by orthogonal matching pursuit: along whose unexplained part the unexplained
        # latent lies most.
        across = old[:, 0]
        score = (self.observed.index_select(0, rows) - old[:, 1]).square_() / across.clamp(min=_TINY)
        score.masked_fill_(across <= DEPENDENT * self.farthest, -1.0)
        if self.images.allowed is not None:
            score.masked_fill_(~self.open.index_select(0, rows), -2.0)
        best, at = score.max(1)
        pursued = torch.where((best > 0) & self.open[rows, at], at, named)
        across, middle, low, high, ball, unit, centre, usable = self._try(rows, old, torch.stack([pursued, named], 1))
        low, high = (
            each.view(count, slots, 2, size).masked_fill_(~kept[:, :, None, None], -torch.inf) for each in (low, high)
        )
        nearest = torch.maximum(low, _others(low[:, :, 0], rest_low)[:, :, None])
        farthest = torch.maximum(high, _others(high[:, :, 0], rest_high)[:, :, None])
        margins = self._margins(
            *(self.images.similar(each).view(count, 2 * slots, size) for each in (nearest, farthest))
        )
        lacking = (guard - margins).clamp_(min=0).sum(2).view(-1, 2)
        pick = (lacking[:, 1] < lacking[:, 0]).long()
        at = torch.arange(len(rows)) * 2 + pick
        entries = torch.stack([each.view(-1, size).index_select(0, at) for each in (across, middle, low, high)], 1)
        self._commit(
            rows, torch.where(pick > 0, named, pursued), entries,
            *(each.flatten(0, 1).index_select(0, at) for each in (ball, unit, centre, usable)),
        )  # fmt: skip
        entries = entries.view(count, slots, 4, size)
        self.low = torch.maximum(rest_low, entries[:, :, 2].amax(1))
        new, slot = entries[:, :, 3].max(1)
        self.high, self.exceeding = (
            torch.maximum(rest_high, new),
            torch.where(new > rest_high, patch.gather(1, slot), rest_at),
        )

    def _greatest(self, high: Tensor) -> tuple[Tensor, Tensor]:
        """(N, P) the greatest of the patches, and which one it is; of several without a statement the most similar."""
        if not self.founding:
            return high.max(1)
        greatest = high.amax(1)
        return greatest, self.likeness.masked_fill(high < greatest[:, None], -torch.inf).argmax(1)

    def _margins(self, low: Tensor, high: Tensor) -> Tensor:
        """(N, B, K) of activations (N, B, P)."""
        return torch.baddbmm(self.bias[:, None], low, self.positive).baddbmm_(high, self.negative)

    def _leave(self, kept: Tensor, grown: Tensor) -> None:
        """Go on with some of the images; of the others, note their statements and which are grown."""
        patches, left = self.images.patches, ~kept
        of_left = left.repeat_interleave(patches).nonzero()[:, 0]
        listed, used, count = self.stated[of_left], self.used[of_left], self.count[of_left]
        used = used & (torch.arange(used.shape[1]) < count[:, None])
        order = (~used).long().argsort(dim=1, stable=True)
        self.lists.append((self.live[left], listed.gather(1, order), used.sum(1)))
        self.grown[self.live[left]] = grown[left]
        self.live = self.live[kept]
        index = torch.cat([kept.repeat_interleave(patches), torch.ones(1, dtype=torch.bool)]).nonzero()[:, 0]
        for name in _OF_PATCHES:
            setattr(self, name, getattr(self, name).index_select(0, index))
        for name in _OF_IMAGES:
            setattr(self, name, getattr(self, name)[kept])

    def _fewer_rivals(self, closed: Tensor) -> bool:
        """Whether rivals were left out: bounds only get tighter, so closed ones (N, K) stay closed."""
        most = int((~closed).sum(1).max()) if len(closed) else 0
        if not 0 < most <= _LIVELY * closed.shape[1]:
            return False
        kept = closed.long().argsort(dim=1, stable=True)[:, :most]
        wide = kept[:, None].expand(-1, self.images.size, -1)
        self.positive, self.negative = self.positive.gather(2, wide), self.negative.gather(2, wide)
        self.weights = self.weights.gather(1, kept[:, :, None].expand(-1, -1, self.images.size))
        self.bias = self.bias.gather(1, kept)
        return True

    def statements(self) -> tuple[Tensor, Tensor]:
        """(N * L, M) the stated prototypes, and (N * L,) how many there are; without those that add next to nothing to
        the others of their patch."""
        room = max(int(each[2].max()) if each[2].numel() else 0 for each in self.lists)
        total, patches = len(self.grown), self.images.patches
        stated = torch.zeros(total, patches, max(room, 1), dtype=torch.int64)
        count = torch.zeros(total, patches, dtype=torch.int64)
        for live, listed, number in self.lists:
            width = min(room, listed.shape[1])
            stated[live, :, :width] = listed.view(len(live), patches, listed.shape[1])[:, :, :width]
            count[live] = number.view(len(live), patches)
        return stated.flatten(0, 1), count.flatten()


def _others(values: Tensor, rest: Tensor) -> Tensor:
    """(N, S, P): for each slot the greatest of the others' values (N, S, P), and of the rest (N, P)."""
    slots = values.shape[1]
    levels = [values]
    while levels[-1].shape[1] > 1:
        last = levels[-1]
        if last.shape[1] % 2:
            levels[-1] = last = torch.cat([last, torch.full_like(last[:, :1], -torch.inf)], 1)
        levels.append(torch.maximum(last[:, 0::2], last[:, 1::2]))
    others = rest[:, None]
    for level in reversed(levels[:-1]):
        above, others = others, torch.empty_like(level)
        pairs = level.shape[1] // 2
        torch.maximum(level[:, 1::2], above[:, :pairs], out=others[:, 0::2])
        torch.maximum(level[:, 0::2], above[:, :pairs], out=others[:, 1::2])
    return others[:, :slots]
