"""Statements about masses that the best prices need: deletion in rounds, for a batch of images at once.

In each round an image's statements are dropped together, as many as the best prices allow, in one order: the costliest
first, and of those the one whose patch has the least remainder without it. The next one is needed. So are all others
without which some matching leaves a rival open: most are seen to be needed from the matching that was left, one patch
changed. Rounds go on until every statement is needed. Plain float64: nothing here is proved.

Statements by equality give monotone bounds: what is needed once is needed from then on. Wide ones do not. A stated mass
counts with its upper end, and leaves to its patch only what its lower end leaves; a second statement about the patch
may cost more than it saves. So rounds begin anew until nothing was dropped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from verale.search.masses import Floats, Indices, Masses, Matching, Payers, heaviest_matching, least_prices
from verale.search.problem import Pair

_PRICE_SHARE = 8
"""Prices are rounded up to few digits, which costs at most one part in so many of a margin."""
_GRID = 2.0**40
"""Remainders that differ by less than one part in so many count as the same."""
_REMEMBERED = 2
"""So many of the rivals that were open last decide which statements are needed."""


@dataclass(frozen=True)
class Assigned:
    """What remains of an image's statements.

    Attributes:
        pairs: the statements.
        minimal: whether each of them is surely needed.
        prices: for each rival that `simplex` may leave open the prices of prototypes, rounded up.
        margins: (C,) the margins that the best prices prove, or less, but for rounding; infinite at the class.
    """

    pairs: list[Pair]
    minimal: bool
    prices: dict[int, dict[int, float]]
    margins: Floats


def assign_masses(masses: Masses, stated: Sequence[Tensor], once: bool) -> list[Assigned]:
    """For each image what is left of its statements (L, P), bool.

    Args:
        masses: N images.
        stated: the statements of each.
        once: whether bounds are monotone, so that each statement is tried once.
    """
    dropping = _Dropping(masses, _Statements(masses, stated))
    dropping.run(once)
    return dropping.assigned()


class _Statements:
    """Statements of N images, at most S of one, patch by patch, the costliest first and of those the smallest mass.

    Attributes:
        patch, prototype: (N, S).
        low, high: (N, S) their ends.
        made: (N, S) bool, where there is one.
        level: (N, S) int, the order of costs; the costliest is first.
        fill: whether some patch has a statement about all masses but one.
    """

    def __init__(self, masses: Masses, stated: Sequence[Tensor]) -> None:
        """What is stated (L, P), bool, of each image."""
        counts = [int(pairs.sum()) for pairs in stated]
        shape = len(stated), max(1, *counts)
        patch, prototype, level = (masses.low.new_zeros(shape, dtype=torch.int64) for _ in range(3))
        low, high = masses.low.new_zeros(shape), masses.low.new_zeros(shape)
        made = torch.zeros_like(patch, dtype=torch.bool)
        _, levels = torch.unique(-masses.costs, return_inverse=True)
        for image, (pairs, count) in enumerate(zip(stated, counts, strict=True)):
            where, which = pairs.nonzero(as_tuple=True)
            order = masses.low[image, where, which].argsort(stable=True)
            for key in (levels[where, which], where):
                order = order[key[order].argsort(stable=True)]
            where, which = where[order], which[order]
            patch[image, :count], prototype[image, :count] = where, which
            level[image, :count], made[image, :count] = levels[where, which], True
            low[image, :count], high[image, :count] = masses.low[image, where, which], masses.high[image, where, which]
        self.patch, self.prototype, self.level = patch, prototype, level
        self.low, self.high, self.made = low, high, made
        self.fill = max(int(pairs.sum(1).max()) for pairs in stated) >= masses.low.shape[2] - 1


class _Ends:
    """What some statements say of N images.

    Attributes:
        left: (N, L) the remainders.
        floor: (N, P) the activations at least, as under `simplex`.
        top: (N, P) the greatest stated masses at most, by the statements alone.
        margins: (N, C) the margins if no prototype got a remainder.
    """

    def __init__(self, masses: Masses, statements: _Statements, kept: Tensor) -> None:
        """What those say that are kept, (N, S) bool."""
        count, patches, _ = masses.low.shape
        low = statements.low * kept
        left = (1 - low.new_zeros(count, patches).scatter_add(1, statements.patch, low)).clamp(min=0)
        high = torch.minimum(statements.high, statements.low + left.gather(1, statements.patch)) * kept
        floor = masses.floor.expand(count, -1).scatter_reduce(1, statements.prototype, low, "amax")
        top = torch.zeros_like(floor).scatter_reduce(1, statements.prototype, high, "amax")
        if statements.fill:
            # What masses are at least where all others of their patch are stated: what those leave.
            shape, place = masses.low.shape, statements.patch * masses.low.shape[2] + statements.prototype
            stated = torch.zeros(shape, dtype=torch.bool, device=kept.device)
            stated.flatten(1).scatter_reduce_(1, place, kept, "amax")
            high = torch.zeros_like(masses.low).flatten(1).scatter_add(1, place, statements.high * kept).view(shape)
            others = 1 - (high.sum(2, keepdim=True) - high)
            determined = stated.sum(2, keepdim=True) - stated.long() == shape[2] - 1
            floor = torch.maximum(floor, others.where(determined, 0.0).amax(1))
        self.left, self.floor, self.top = left, floor, top
        self.margins = masses.margins(floor[:, None], top[:, None])[:, 0]


class _Dropping:
    """Deletion of the statements of N images."""

    def __init__(self, masses: Masses, statements: _Statements) -> None:
        self._masses, self._statements = masses, statements
        self._payers = Payers.of(masses, statements.made.shape[1])
        self._kept = statements.made.clone()
        self._needed = torch.zeros_like(self._kept)
        self._sure = [True] * len(masses)
        self._open: list[list[int]] = [[] for _ in range(len(masses))]
        self._hosted = [_OnHost(masses, statements, image) for image in range(len(masses))]

    def run(self, once: bool) -> None:
        """Drop statements until none can be dropped."""
        while True:
            before = self._kept
            while bool((self._kept & ~self._needed).any()):
                self._round()
            if once or bool((before == self._kept).all()):
                return
            self._needed, self._sure = torch.zeros_like(self._needed), [True] * len(self._sure)

    def _round(self) -> None:
        """Drop as many statements of each image as can go together."""
        asked = self._kept & ~self._needed
        count = asked.sum(1)
        rank = self._ranks(asked)
        low, high, step = torch.zeros_like(count), count + 1, torch.ones_like(count)
        sure = [True] * len(count)
        gallops = torch.ones_like(count, dtype=torch.bool)
        while bool((live := high - low > 1).any()):
            tried = torch.minimum(low + step, high - 1).where(gallops, torch.div(low + high, 2, rounding_mode="floor"))
            kept = self._kept & (rank >= tried.where(live, low)[:, None])
            images = live.nonzero()[:, 0].tolist()
            closed, surely = self._closed(kept, images)
            low, high = tried.where(live & closed, low), tried.where(live & ~closed, high)
            gallops, step = gallops & ~(live & ~closed), step * 2
            for image in images:
                if not bool(closed[image]):
                    sure[image] = surely[image]
        self._kept = self._kept & (rank >= low[:, None])
        self._needed = self._needed | ((rank == low[:, None]) & asked)
        self._sure = [one and other for one, other in zip(self._sure, sure, strict=True)]
        self._find_needed(count.nonzero()[:, 0].tolist())

    def _ranks(self, asked: Tensor) -> Tensor:
        """(N, S) the order in which the statements that are asked about go."""
        statements = self._statements
        ends = _Ends(self._masses, statements, self._kept)
        low = statements.low * asked
        of_patch = torch.zeros_like(ends.left).scatter_add(1, statements.patch, low)
        before = (of_patch.cumsum(1) - of_patch).gather(1, statements.patch)
        key = ends.left.gather(1, statements.patch) + low.cumsum(1) - before
        key = (key * _GRID).round()  # rounding decides no tie
        order = key.masked_fill(~asked, math.inf).argsort(dim=1, stable=True)
        level = statements.level.masked_fill(~asked, torch.iinfo(torch.int64).max).gather(1, order)
        order = order.gather(1, level.argsort(dim=1, stable=True))
        ranks = torch.arange(order.shape[1], device=order.device).expand_as(order)
        return torch.empty_like(order).scatter_(1, order, ranks).masked_fill(~asked, order.shape[1])

    def _closed(self, kept: Tensor, images: list[int]) -> tuple[Tensor, dict[int, bool]]:
        """(N,) whether the best prices close every rival; of images where they do not, whether one is surely open."""
        masses = self._masses
        ends = _Ends(masses, self._statements, kept)
        bound = self._payers.bounded(ends.left, ends.top, ends.margins, masses.noise)
        hosted = _Hosted(ends, kept, bound, masses.noise)
        closed, surely = torch.ones(len(kept), dtype=torch.bool), {}
        for image in images:
            noise, margins, bounds = hosted.noise[image], hosted.margins[image], hosted.bound[image]
            recent = self._open[image]
            (doubtful,) = (bounds <= noise).nonzero()
            for rival in sorted(doubtful.tolist(), key=lambda c: (c not in recent, bounds[c])):
                margin = margins[rival]
                if margin >= -noise[rival]:
                    margin -= float(self._hosted[image].matching(rival, hosted, image).gained.sum())
                if margin <= noise[rival]:
                    self._open[image] = [*(c for c in recent if c != rival), rival][-_REMEMBERED:]
                    closed[image], surely[image] = False, bool(margin + noise[rival] < 0)
                    if surely[image]:
                        break
        return closed.to(kept.device), surely

    def _find_needed(self, images: list[int]) -> None:
        """Mark the statements without which a matching leaves a rival open."""
        masses = self._masses
        ends = _Ends(masses, self._statements, self._kept)
        hosted = _Hosted(ends, self._kept, ends.margins, masses.noise)
        for image in images:
            (asked,) = (self._kept[image] & ~self._needed[image]).cpu().numpy().nonzero()
            if len(asked):
                needed = self._hosted[image].needed(asked, self._open[image], hosted, image)
                self._needed[image, torch.from_numpy(needed).to(self._needed.device)] = True

    def assigned(self) -> list[Assigned]:
        """What is left, with prices."""
        masses, statements = self._masses, self._statements
        ends = _Ends(masses, statements, self._kept)
        bound = self._payers.bounded(ends.left, ends.top, ends.margins, torch.full_like(masses.noise, math.inf))
        hosted = _Hosted(ends, self._kept, bound, masses.noise)
        # rivals that stay open, or nearly so, if each prototype may have the largest remainder open to it
        shape, place = masses.low.shape, statements.patch * masses.low.shape[2] + statements.prototype
        left = ends.left[..., None].expand(shape).flatten(1)
        left = left.scatter_reduce(1, place, 1 - 2 * self._kept.to(left), "amin").view(shape)
        alone = masses.margins(ends.floor[:, None], torch.maximum(ends.top, left.amax(1))[:, None])[:, 0]
        images, rivals = (alone <= masses.noise).nonzero(as_tuple=True)
        prices = self._payers.prices(images, rivals, ends.left, ends.top).cpu().numpy()
        prototypes = self._payers.prototype[images, rivals].cpu().numpy()
        priced: list[dict[int, dict[int, float]]] = [{} for _ in range(len(masses))]
        least = [math.inf] * len(masses)  # that the best prices prove, of those rivals that the bound leaves open
        for image, rival in zip(*((hosted.bound <= hosted.noise).nonzero()), strict=True):
            gained = self._hosted[image].matching(rival, hosted, image).gained.sum()
            least[image] = min(least[image], float(hosted.margins[image, rival] - gained))
        for image, rival, price, prototype in zip(images.tolist(), rivals.tolist(), prices, prototypes, strict=True):
            margins = hosted.bound[image]
            if margins[rival] < least[image] or margins[rival] <= hosted.noise[image, rival]:
                matching = self._hosted[image].matching(rival, hosted, image)
                price, prototype = least_prices(matching), matching.prototypes
                margins[rival] = hosted.margins[image, rival] - float(matching.gained.sum())
            (paid,) = price.nonzero()
            rounded = rounded_up(price[paid], float(margins[rival]))
            priced[image][rival] = dict(sorted(zip(prototype[paid].tolist(), rounded.tolist(), strict=True)))
        assigned = []
        for image, kept in enumerate(self._kept):
            pairs = statements.patch[image][kept].tolist(), statements.prototype[image][kept].tolist()
            stated = sorted(zip(*pairs, strict=True))
            assigned.append(Assigned(stated, self._sure[image], priced[image], hosted.bound[image]))
        return assigned


class _Hosted:
    """The same as `_Ends`, with bounds of margins and their noise, as arrays on the host."""

    def __init__(self, ends: _Ends, kept: Tensor, bound: Tensor, noise: Tensor) -> None:
        tensors = ends.left, ends.floor, ends.top, ends.margins, bound, noise
        self.left, self.floor, self.top, self.margins, self.bound, self.noise = (each.cpu().numpy() for each in tensors)
        self.kept: NDArray[np.bool_] = kept.cpu().numpy()


class _OnHost:
    """One image's statements and weights, as arrays on the host.

    Attributes:
        patch, prototype, low, high: (S,).
        positive, weight: (P, C) the positive parts of W_predicted - W_c and of W_c - W_predicted.
        floor: (P,) what masses are at least over the domain.
        shape: L and P.
    """

    def __init__(self, masses: Masses, statements: _Statements, image: int) -> None:
        self.patch, self.prototype, self.low, self.high, self.positive, self.weight = (
            each[image].cpu().numpy()
            for each in (
                *(statements.patch, statements.prototype, statements.low, statements.high),
                *(masses.positive, -masses.negative),
            )
        )
        self.floor = masses.floor.cpu().numpy()
        self.shape = (masses.low.shape[1], masses.low.shape[2])

    def stated(self, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """(L, P) the statements that are kept."""
        stated = np.zeros(self.shape, np.bool_)
        stated[self.patch[kept], self.prototype[kept]] = True
        return stated

    def matching(self, rival: int, hosted: _Hosted, image: int) -> Matching:
        """The heaviest matching for a rival."""
        stated = self.stated(hosted.kept[image])
        return heaviest_matching(self.weight[:, rival], hosted.left[image], hosted.top[image], stated)

    def needed(self, asked: Indices, rivals: list[int], hosted: _Hosted, image: int) -> Indices:
        """Those of some statements without which a matching surely leaves one of these rivals open."""
        kept = hosted.kept[image]
        if np.bincount(self.patch[kept]).max() >= self.shape[1] - 1:
            return asked[:0]  # without one statement the others may determine its mass
        change = _Change(self, asked, hosted, image)
        stated = self.stated(kept)
        open_ = np.zeros(len(asked), np.bool_)
        for rival in rivals:
            margin = change.margins(self, rival, hosted.margins[image, rival])
            noise = hosted.noise[image, rival]
            open_ |= margin - change.at_least(self, rival, stated) < -noise
        if rivals:
            rival = rivals[-1]
            margin, noise = change.margins(self, rival, hosted.margins[image, rival]), hosted.noise[image, rival]
            for at in np.flatnonzero(~open_).tolist():
                left, top = change.without(at)
                patch, prototype = change.patch[at], change.prototype[at]
                stated[patch, prototype] = False
                gained = heaviest_matching(self.weight[:, rival], left, top, stated).gained.sum()
                stated[patch, prototype] = True
                open_[at] = margin[at] - gained < -noise
        return asked[open_]


class _Change:
    """What changes for an image without one statement, for each of M statements. Other tops of the patch may rise too,
    which only lowers margins.

    Attributes:
        patch, prototype: (M,) what each is about.
        left, top: (L,) and (P,) with all statements.
        grown: (M,) the patch's remainder without it.
        floor_fall: (M,) how much less its prototype's activation is at least.
        sunk: (M,) the prototype's top without it.
    """

    def __init__(self, host: _OnHost, asked: Indices, hosted: _Hosted, image: int) -> None:
        self.patch, self.prototype = host.patch[asked], host.prototype[asked]
        self.left, self.top = hosted.left[image], hosted.top[image]
        kept, floor, size = hosted.kept[image], hosted.floor[image][self.prototype], host.shape[1]
        low = np.where(kept, host.low, 0.0)
        high = np.where(kept, np.minimum(host.high, host.low + self.left[host.patch]), 0.0)
        fallen = np.maximum(_others(low, host.prototype, asked, size), host.floor[self.prototype])
        self.sunk = _others(high, host.prototype, asked, size)
        self.grown, self.floor_fall = self.left[self.patch] + host.low[asked], floor - fallen

    def margins(self, host: _OnHost, rival: int, margin: float) -> Floats:
        """(M,) a rival's margin if no prototype got a remainder, which is `margin` with all statements."""
        loss = host.positive[self.prototype, rival] * self.floor_fall
        changed: Floats = margin - loss + host.weight[self.prototype, rival] * (self.top[self.prototype] - self.sunk)
        return changed

    def without(self, at: int) -> tuple[Floats, Floats]:
        """Remainders and tops without one of the statements."""
        left, top = self.left.copy(), self.top.copy()
        left[self.patch[at]], top[self.prototype[at]] = self.grown[at], self.sunk[at]
        return left, top

    def at_least(self, host: _OnHost, rival: int, stated: NDArray[np.bool_]) -> Floats:
        """(M,) what some matching gives a rival without each statement, from the heaviest one with all of them.

        The statement's patch keeps its partner, or gets the statement's prototype, or the partner of another patch;
        the statement's prototype keeps its own partner but where the patch takes it.
        """
        weight = host.weight[:, rival]
        matching = heaviest_matching(weight, self.left, self.top, stated)
        patches, partners, gained = matching.patches, matching.prototypes[matching.columns], matching.gained
        of_patch, partner = np.zeros(len(self.left)), np.full(len(self.left), -1)
        of_patch[patches], partner[patches] = gained, partners
        at_patch, whole = np.full(len(self.top), -1), gained.sum() - of_patch[self.patch]
        at_patch[partners] = patches
        # The prototype's partner is another patch: its top has sunk.
        other = at_patch[self.prototype]
        elsewhere = (other >= 0) & (other != self.patch)
        had = np.where(elsewhere, of_patch[other], 0.0)
        risen = weight[self.prototype] * np.maximum(self.left[other] - self.sunk, 0.0)
        whole -= had
        has = np.where(had > 0, risen, 0.0)
        mate = partner[self.patch]
        top = np.where(mate == self.prototype, self.sunk, self.top[mate])
        keeps = np.where(of_patch[self.patch] > 0, weight[mate] * np.maximum(self.grown - top, 0.0), 0.0)
        gets = np.maximum(weight[self.prototype], 0.0) * np.maximum(self.grown - self.sunk, 0.0)
        takes = weight[partners] * np.maximum(self.grown[:, None] - self.top[partners], 0.0) - gained
        takes[stated[self.patch][:, partners] | (patches == self.patch[:, None])] = 0.0
        takes[elsewhere] = 0.0
        least: Floats = whole + np.maximum(np.maximum(has + keeps, gets), has + takes.max(1, initial=0.0))
        return least


def _others(values: Floats, prototype: Indices, asked: Indices, size: int) -> Floats:
    """(M,) of each statement's prototype, the greatest value of its other statements."""
    order = np.lexsort((values, prototype))
    last = np.full(size, -1)
    last[prototype[order]] = order  # the later one counts
    first, second = np.zeros(size), np.zeros(size)
    first[prototype[order]] = values[order]
    rest = order[last[prototype[order]] != order]
    second[prototype[rest]] = values[rest]
    others: Floats = np.where(last[prototype[asked]] == asked, second[prototype[asked]], first[prototype[asked]])
    return others


def rounded_up(prices: Floats, margin: float) -> Floats:
    """Prices, none of them 0, rounded up to a grid that is as coarse as the margin that they prove allows."""
    if not (margin > 0 and len(prices)):
        return prices
    grid = 2.0 ** math.floor(math.log2(margin / (_PRICE_SHARE * len(prices))))
    rounded: Floats = np.ceil(prices / grid) * grid
    return rounded
