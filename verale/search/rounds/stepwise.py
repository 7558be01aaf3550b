"""The engine for every paradigm of patches, pooling and readout: grow, delete and prove one image by rounded bounds.

`growth` and `deletion` know what one statement more, or less, changes, for `projection` of heads with a maximum as
pooling and a linear readout. Here each trial is bounded anew, many trials at once, through what every paradigm, pooling
and readout has: `SpatialParadigm.ranges`, `Dropping.alone` and `Margins.lower`. So what growth and deletion leave is
proved as it stands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from verale.bounds import ExactParadigm, LinearMargins, SpatialParadigm, pooling_of
from verale.bounds.similarity import activation
from verale.certificate.words import below
from verale.head import Softmax
from verale.paradigms import ORDERS
from verale.rounding import Enclosure
from verale.search.at_once import ranges_from_scratch, ranges_of, ranges_without_each
from verale.search.costs import NEARLY_FREE
from verale.search.needed import noise_of, not_surely_needed, proved_margins
from verale.search.problem import Pair, Problem, given_up
from verale.search.prove import Proved, SpatialExplanation, StaysOpen, by_patch

__all__ = ["GUARDS", "Stepwise", "first_statements"]

GUARDS = (1e-6, 1e-9, 0.0)
"""Growth ends when all margins exceed a guard; where a class stays open, the smaller ones serve."""

_SLOTS = 16
"""So many patches get a statement in a round."""

_LATER = 1e-3
"""What is not known of a patch counts this share, though activations do not change before more is known of others."""

_COMPARABLE = 0.5
"""Where statements differ in cost, those of a round gain at least this share of what the best gains for its cost."""

_FEWER = 2 / 3
"""If too many deletions were tried together, this share of them is tried next."""

_HUGE, _TINY = 1e150, 1e-300


class Stepwise:
    """See `verale.search.prove.Engine`.

    Args:
        problem: N images.
        paradigm: how statements bound observables.
        order: in which statements are added.
    """

    guards: tuple[float, ...] = GUARDS

    def __init__(self, problem: Problem, paradigm: SpatialParadigm, order: str = ORDERS[0]) -> None:
        self.problem, self.paradigm, self._order = problem, paradigm, order

    def choose(
        self, images: list[int], guard: float, most: list[float], early: list[list[Pair]]
    ) -> list[list[Pair] | str | None]:
        """See `Engine`."""
        choices: list[list[Pair] | str | None] = []
        for image, limit, first in zip(images, most, early, strict=True):
            stating = _Stating(self.problem.take([image]), self.paradigm, guard)
            failure = stating.grow(limit) if self._order == ORDERS[0] else stating.sweep(limit)
            choices.append(stating.shrunk(set(first)) if failure is None else failure)
        return choices

    def prove(self, chosen: dict[int, list[Pair]]) -> dict[int, Proved | None]:
        """See `Engine`."""
        return {image: self._prove(self.problem.take([image]), pairs) for image, pairs in chosen.items()}

    def _prove(self, problem: Problem, pairs: list[Pair]) -> Proved | None:
        (margins,) = proved_margins(problem, ranges_from_scratch(problem, self.paradigm, [pairs]))
        if not bool((margins > 0).all()):
            return None
        doubtful: list[Pair] = []
        exact = self.paradigm if isinstance(self.paradigm, ExactParadigm) and not problem.tolerance else None
        if exact is not None:
            (doubtful,) = not_surely_needed(problem, exact, [pairs])
        keeps_order = self.paradigm.ordered or bool(problem.tolerance)
        return SpatialExplanation(by_patch(pairs, keeps_order), margins, exact is not None and not doubtful), doubtful


def first_statements(problem: Problem, paradigm: SpatialParadigm) -> list[Pair]:
    """Statements about the only image in the order in which they are added to it; none is dropped."""
    stating = _Stating(problem, paradigm, GUARDS[0])
    stating.grow(math.inf)
    return stating.added


class _Stating:
    """One image while statements about it are added and deleted.

    Attributes:
        added: the statements, in the order in which they were added.
    """

    def __init__(self, problem: Problem, paradigm: SpatialParadigm, guard: float) -> None:
        self._problem, self._paradigm, self._guard = problem, paradigm, guard
        head = self._head = problem.head
        self._pooling = pooling_of(head)
        self._patches = torch.arange(problem.patches)
        self._actual = activation(head, problem.observed)
        self._hidden = head.pooling.hidden(problem.patches, head.size)
        self._unlike = problem.dissimilarities()[0]
        self._open = problem.patches_left[:, None] & problem.prototypes_left
        self._unstated, self._refused = torch.ones_like(self._open), torch.zeros_like(self._open)
        self._costs = problem.costs.of_pairs(problem.patches, head.size).clamp(min=NEARLY_FREE)
        # What must not be stated costs what its patch's cheapest statement does.
        cheapest = self._costs.masked_fill(~self._open, torch.inf).amin(1, keepdim=True).clamp(max=_HUGE)
        self._prices = torch.where(self._open, self._costs, cheapest)
        self._stated: list[list[int]] = [[] for _ in range(problem.patches)]
        self.added: list[Pair] = []
        self._bound()

    # Growth

    def grow(self, most: float) -> str | None:
        """Add statements until all margins exceed the guard; why that was not reached.

        In each round, the worst rival names of each patch what would gain its margin most, as if all of a patch were
        known. As many patches as its deficit calls for get one statement each: the one named, or the one that explains
        most of what is unknown; whichever leaves the smaller sum of all rivals' deficits for its cost.
        """
        of_distances = self._head.geometry.is_distance and not self._problem.costs
        if of_distances or bool((self._margins == -math.inf).any()):
            bare = self._open.any(1).nonzero()[:, 0]
            self._add(bare, self._unlike.masked_fill(~self._open, torch.inf).argmin(1)[bare])
        forced = False
        while True:
            least, rival = self._margins.min(0)
            if float(least) > self._guard:
                return None
            if len(self.added) > most:
                return given_up(len(self.added))
            worth = self._worth(int(rival))
            promised, named = worth.max(1)
            order = promised.argsort(descending=True, stable=True)[:_SLOTS]
            order = order[promised[order] > 0]
            if not len(order) and bool(self._refused.any()):
                forced, self._open = True, self._open | self._refused
                self._refused = torch.zeros_like(self._open)
                continue
            if not len(order):
                return StaysOpen(self._why_open())
            if self._problem.costs:  # others may be dear, and not needed after these
                order = order[promised[order] >= _COMPARABLE * promised[order[0]]]
            lacking = self._guard - float(least)
            gains = promised[order] * self._prices[order, named[order]]
            order = order[gains.cumsum(0) - gains < lacking] if math.isfinite(lacking) else order
            self._round(order, named[order], forced)

    def _round(self, patches: Tensor, named: Tensor, forced: bool) -> None:
        """State one thing about each of some patches; unless `forced`, nothing that makes bounds worse."""
        pursued = self._most_explaining()[patches]
        named = torch.where(self._open[patches, named], named, pursued)
        rows, tried = patches.repeat(2), torch.cat([pursued, named])
        ranges = self._ranges(rows.tolist(), tried.tolist())
        margins = self._lower(self._pooled.alone(rows, ranges))
        now = self._lacking(self._margins[None])
        gain = now - self._lacking(margins)
        costs = self._costs[rows, tried].view(2, -1)
        value = gain.view(2, -1) / costs
        better = (value[1] > value[0]) | ((value[1] == value[0]) & (costs[1] < costs[0]))
        at = torch.where(better, len(patches), 0) + torch.arange(len(patches))
        if self._paradigm.ordered and not forced:  # a statement may make bounds worse
            worse = gain[at] < 0
            refused = rows[at[worse]], tried[at[worse]]
            self._open[refused], self._refused[refused] = False, True
            at = at[~worse]
        self._add(rows[at], tried[at], ranges[at])

    def _lacking(self, margins: Tensor) -> Tensor:
        """(S,) the sums of what margins (S, K) lack."""
        return (self._guard - margins).clamp(min=0).nan_to_num(_HUGE, _HUGE).clamp(max=_HUGE).sum(1)

    def _worth(self, rival: int) -> Tensor:
        """(L, P) what the worst rival's margin would gain if of an activation all were known that a patch's statements
        say, for the cost of the statement that names it; -1 where nothing can be stated."""
        everything = self._pooled.alone(self._patches, self._problem.observed)
        similar, actual = activation(self._head, self._ranges_now), self._actual
        rises, falls = self._weights(rival)
        gained = rises * (_gap(everything.lower, self._box.lower) + _LATER * _gap(actual.lower, similar.lower))
        gained += falls * (_gap(self._box.upper, everything.upper) + _LATER * _gap(similar.upper, actual.upper))
        gained.nan_to_num_(0.0, _HUGE).div_(self._prices)
        can = self._unstated & self._open.any(1, keepdim=True)
        return gained.masked_fill_(~can if self._hidden is None else ~can | self._hidden, -1.0)

    def _weights(self, rival: int) -> tuple[Tensor, Tensor]:
        """(P,) each, what the rival's margin gains per unit by which the lower end of an activation rises, and its
        upper end falls; estimates."""
        margins = self._problem.margins
        if isinstance(margins, LinearMargins):
            return margins.positive[0, :, rival], -margins.negative[0, :, rival]
        box, own = self._box, self._problem.activations
        size = len(box.lower)
        weights = []
        for end, known, sign in (("lower", own.lower[0], 1), ("upper", own.upper[0], -1)):
            ends = {"lower": box.lower.repeat(size, 1), "upper": box.upper.repeat(size, 1)}
            ends[end].diagonal().copy_(known)
            gain = self._lower(Enclosure.unchecked(ends["lower"], ends["upper"]))[:, rival] - self._margins[rival]
            change = (sign * (known - getattr(box, end))).clamp(min=_TINY)
            weight = (gain.clamp(min=0) / change).nan_to_num(0.0, _HUGE)
            weights.append(weight)
        least = _LATER * max(float(each.amax()) for each in weights)  # what is not reached now may be later
        least = least if least > 0 else 1.0
        return weights[0].clamp(min=least), weights[1].clamp(min=least)

    def _most_explaining(self) -> Tensor:
        """(L,) the prototypes that say most of the patches: whose observable lies nearest an end of its range, measured
        by its width; of patches without a statement the nearest, and of masses the greatest."""
        ends, observed = self._ranges_now, self._problem.observed
        middle, half = (ends.lower + ends.upper) / 2, (ends.upper - ends.lower) / 2
        score = ((observed.lower + observed.upper) / 2 - middle).abs() / half.clamp(min=_TINY)
        bare = torch.tensor([not each or isinstance(self._head.geometry, Softmax) for each in self._stated])
        score = torch.where(bare[:, None], -self._unlike, score.nan_to_num(0.0)).clamp(-_HUGE, _HUGE)
        score = torch.where(score > 0, score / self._costs, score * self._costs)
        return score.clamp(min=-_HUGE).masked_fill(~self._open, -torch.inf).argmax(1)

    def sweep(self, most: float) -> str | None:
        """The same in the published order (Soria et al., arXiv 2511.16588): the nearest prototype of every patch that
        may have statements, then the second nearest, and so on."""
        patches = self._problem.patches_left.nonzero()[:, 0].tolist()
        left = self._problem.prototypes_left.nonzero()[:, 0]
        nearest = left[self._unlike[:, left].argsort(dim=1, stable=True)].tolist()

        def state(depth: int) -> bool:
            self._stated = [nearest[patch][:depth] if patch in set(patches) else [] for patch in range(len(nearest))]
            self._bound()
            return bool((self._margins > self._guard).all())

        depth = next((depth for depth in self._depths(len(left)) if state(depth)), None)
        if depth is not None and not self._paradigm.ordered:
            low = depth // 2
            while depth - low > 1:
                middle = (low + depth) // 2
                low, depth = (low, middle) if state(middle) else (middle, depth)
            state(depth)
        count = sum(map(len, self._stated))
        if count > most:
            return given_up(count)
        self.added = [
            (patch, nearest[patch][rank]) for rank in range(0 if depth is None else depth) for patch in patches
        ]
        return StaysOpen("the class stays open though every pair is stated") if depth is None else None

    def _depths(self, most: int) -> list[int]:
        """How many statements a patch are tried: all, or powers of two where more of them say no less."""
        if self._paradigm.ordered:
            return list(range(most + 1))
        return [0, *(2**n for n in range(most.bit_length()) if 2**n < most), most]

    def _why_open(self) -> str:
        margins = self._problem.margins
        rival = int(self._margins.argmin())
        return (
            f"class {int(margins.rivals[0, rival])} stays open (margin >= {below(float(self._margins[rival]))}) though"
            " every statement that could help is made"
        )

    # Deletion

    def shrunk(self, early: set[Pair]) -> list[Pair]:
        """What is left when no statement can be deleted; those that are deleted early go before others, then those that
        cost most, then those that leave most. Where bounds depend on the order of statements, the last ones go
        first."""
        guard, ordered = self._guard, self._paradigm.ordered
        if guard <= GUARDS[0]:
            guard = min(guard, float(noise_of(self._problem)[0]))
        needed: set[Pair] = set()
        rank = {pair: place for place, pair in enumerate(self.added)}
        while True:
            groups = {patch: stated for patch, stated in enumerate(self._stated) if stated}
            among = {patch: [j for j in stated if (patch, j) not in needed] for patch, stated in groups.items()}
            pairs, ranges = ranges_without_each(self._problem, self._paradigm, groups, among)
            if not pairs:
                break
            margins = self._lower(self._pooled.alone(torch.tensor([patch for patch, _ in pairs]), ranges))
            least = margins.amin(1).tolist()
            if not ordered:
                needed |= {pair for pair, margin in zip(pairs, least, strict=True) if not margin > guard}
            free = [at for at, margin in enumerate(least) if margin > guard]
            if not free:
                break
            levels = {at: (pairs[at] not in early, -float(self._costs[pairs[at]])) for at in free}
            free = [at for at in free if levels[at] == min(levels.values())]
            free.sort(key=lambda at: -rank[pairs[at]] if ordered else -least[at])
            offers = sorted({pairs[at][0]: at for at in reversed(free)}.values(), key=free.index)  # of each patch one
            self._delete([pairs[at] for at in offers], margins[offers], ranges[offers], guard)
        return [(patch, j) for patch, stated in enumerate(self._stated) for j in stated]

    def _delete(self, pairs: list[Pair], margins: Tensor, ranges: Enclosure, guard: float) -> None:
        """Delete the first few of some statements about different patches: as many as leave all margins above a guard,
        at least one."""
        lost = (self._margins - margins).nan_to_num(0.0, 0.0, 0.0).cumsum(0)
        count = max(1, int((self._margins - lost > guard).all(1).long().cumprod(0).sum()))
        while True:
            rows = torch.tensor([patch for patch, _ in pairs[:count]])
            lower, upper = self._ranges_now.lower.clone(), self._ranges_now.upper.clone()
            lower[rows], upper[rows] = ranges.lower[:count], ranges.upper[:count]
            whole = Enclosure.unchecked(lower, upper)
            if count == 1 or bool((self._lower(self._pooling.box(whole)[None])[0] > guard).all()):
                break
            count = max(1, int(count * _FEWER))
        for patch, j in pairs[:count]:
            self._stated[patch].remove(j)
        self._enter(whole)

    # Bounds

    def _bound(self) -> None:
        self._enter(ranges_of(self._problem, self._paradigm, self._patches.tolist(), self._stated))

    def _enter(self, ranges: Enclosure) -> None:
        self._ranges_now, self._pooled = ranges, self._pooling.dropping(ranges)
        self._box = self._pooling.box(ranges)
        (self._margins,) = self._lower(self._box[None])

    def _ranges(self, patches: Sequence[int], prototypes: Sequence[int]) -> Enclosure:
        """(S, P) of some patches, were a statement more made about each."""
        stated = [[*self._stated[patch], j] for patch, j in zip(patches, prototypes, strict=True)]
        return ranges_of(self._problem, self._paradigm, list(patches), stated)

    def _add(self, patches: Tensor, prototypes: Tensor, ranges: Enclosure | None = None) -> None:
        """State something about some patches, each once; `ranges` are those that they have then."""
        ranges = self._ranges(patches.tolist(), prototypes.tolist()) if ranges is None else ranges
        for patch, j in zip(patches.tolist(), prototypes.tolist(), strict=True):
            self._stated[patch].append(j)
            self.added.append((patch, j))
        self._open[patches, prototypes] = self._unstated[patches, prototypes] = False
        lower, upper = self._ranges_now.lower.clone(), self._ranges_now.upper.clone()
        lower[patches], upper[patches] = ranges.lower, ranges.upper
        self._enter(Enclosure.unchecked(lower, upper))

    def _lower(self, box: Enclosure) -> Tensor:
        """(S, K) margins from boxes (S, P)."""
        return self._problem.margins.lower(box[None])[0]


def _gap(greater: Tensor, less: Tensor) -> Tensor:
    return (greater - less).clamp(min=0)
