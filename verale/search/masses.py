"""Masses: what statements about the masses of patches say, growth in rounds, and what remainders can give a rival.

Statements are added until the ranges of `verale.bounds.Simplex` entail the class, for a head of masses as they are,
maxima over patches and a linear readout. Plain float64: nothing here is proved.

A rival's excess over the predicted class is what an assignment of remainders to its prototypes can give it
(`verale.bounds.simplex`): patch l gives prototype k at most x_lk = w_k (R_l - o_k)^+, or nothing where k is stated
at l. The heaviest matching of patches and prototypes is what it gives at most; the best prices sum to as much.

All rivals are bounded together. Since (R - o)^+ <= R (1 - o / M)^+ for R <= M, the greatest remainder, x_lk is at most
the product of R_l and v_k = w_k (1 - o_k / M)^+. The heaviest matching of a product pairs the greatest with the
greatest. Only rivals that this leaves open need a matching of their own, on the host, by scipy.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from verale.bounds import LinearMargins, domain_range
from verale.certificate.words import below
from verale.paradigms import ORDERS
from verale.rounding import UNIT
from verale.search.problem import NoExplanation, Problem, given_up

GUARDS = (1e-9, 0.0)
"""A rival is closed in growth when its margin exceeds the first, or the second where it stays open at the first."""

_PATCHES_PER_ROUND = 8
_SHARE_PER_ROUND = 8
"""In a round one patch in so many gets a statement, but no fewer than those."""
_MOST_PAIRS = 2**16
"""Of images with more pairs of patch and prototype growth begins and ends with levels: its rounds become too many."""
_LEVELS = 4
"""Levels of remainders, for each factor of two."""
_LEAST_LEVEL = 2.0**-60
_EAGER = 2.0
"""A round states as much as seems to be needed for so many times what the worst rival lacks."""
_NO_COST = 1e-9
"""What a statement that costs nothing counts as."""
_STATED = -1.0
"""Stands in the place of a remainder where a mass is stated."""


@dataclass(frozen=True, eq=False)
class Masses:
    """N images of L patches, a head of P prototypes and C classes. All numbers are estimates.

    Attributes:
        low, high: (N, L, P) the ends that statements give to masses.
        floor, cap: (P,) what masses are at least and at most over the domain.
        allowed: (L, P) bool, which pairs may be stated.
        costs: (L, P) what statements cost.
        positive, negative: (N, P, C) the positive and the negative parts of W_predicted - W_c.
        bias: (N, C) b_predicted - b_c; infinite at the predicted class.
        noise: (N, C) more than rounding can move a margin. A remainder has P rounding errors; a sum over prototypes and
            patches has one for each of its terms.
    """

    low: Tensor
    high: Tensor
    floor: Tensor
    cap: Tensor
    allowed: Tensor
    costs: Tensor
    positive: Tensor
    negative: Tensor
    bias: Tensor
    noise: Tensor

    @classmethod
    def of(cls, problem: Problem) -> Masses:
        """The images of a problem; its head has a linear readout, as all softmax heads."""
        patches, size = problem.patches, problem.head.size
        low, high = (end.view(-1, patches, size) for end in (problem.observed.lower, problem.observed.upper))
        if not problem.tolerance:
            low = high = (low + high) / 2
        margins, domain = cast(LinearMargins, problem.margins), domain_range(problem.head)
        rounded = margins.sensitivity + margins.bias.nan_to_num(0.0, 0.0, 0.0).abs()
        return cls(
            low=low,
            high=high,
            floor=domain.lower,
            cap=domain.upper,
            allowed=(problem.patches_left[:, None] & problem.prototypes_left).to(low.device),
            costs=problem.costs.of_pairs(patches, size).to(low.device),
            positive=margins.positive,
            negative=margins.negative,
            bias=margins.bias,
            noise=(4 * (patches + size) + 64) * UNIT * rounded,
        )

    def __len__(self) -> int:
        return len(self.low)

    def take(self, images: Tensor) -> Masses:
        """Some of the images."""
        shared = ("floor", "cap", "allowed", "costs")
        return replace(self, **{f.name: getattr(self, f.name)[images] for f in fields(self) if f.name not in shared})

    def margins(self, lower: Tensor, upper: Tensor) -> Tensor:
        """(N, B, C) the margins of activations between some ends (N, B, P)."""
        return torch.baddbmm(self.bias[:, None], lower, self.positive).baddbmm_(upper, self.negative)


class Grown(NamedTuple):
    """How growth ended for one image: the statements (L, P) bool, and why they do not entail the class, if so."""

    stated: Tensor
    failure: NoExplanation | None


def grow_masses(masses: Masses, order: str, most: list[float]) -> list[Grown]:
    """For each image statements that entail the class, or why there are none.

    Args:
        masses: N images.
        order: `rival` or `nearest`.
        most: for each image, growth with more statements is given up.
    """
    in_levels = masses.low[:1].numel() > _MOST_PAIRS
    grown: dict[int, Grown] = {}
    images = list(range(len(masses)))
    for guard in GUARDS:
        if not images:
            break
        some = masses.take(torch.tensor(images, device=masses.low.device))
        limits = torch.tensor([most[image] for image in images], device=masses.low.device)
        in_rounds = order == ORDERS[0] and not in_levels
        ended = _Growth(some, guard, limits).run() if in_rounds else _swept(some, guard, limits, order == ORDERS[0])
        grown |= zip(images, ended, strict=True)
        images = [image for image in images if (failure := grown[image].failure) is not None and failure.stays_open]
    return [grown[image] for image in range(len(masses))]


@dataclass(eq=False)
class _State:
    """What is stated of n images, and what follows.

    Attributes:
        stated: (n, L, P) bool.
        left: (n, L) the remainders.
        open_: (n, L, P) the remainders where a mass is not stated.
        floor, top: (n, P) the greatest ends of stated masses over the patches.
    """

    stated: Tensor
    left: Tensor
    open_: Tensor
    floor: Tensor
    top: Tensor

    @classmethod
    def of(cls, masses: Masses, stated: Tensor) -> _State:
        low = masses.low * stated
        left = (1 - low.sum(2)).clamp(min=0)
        top = (torch.minimum(masses.high, masses.low + left[..., None]) * stated).amax(1)
        open_ = left[..., None].where(~stated, _STATED)
        return cls(stated, left, open_, torch.maximum(masses.floor, low.amax(1)), top)

    def high(self, masses: Masses) -> Tensor:
        """(n, P) what activations are at most."""
        return torch.minimum(masses.cap, torch.maximum(self.top, self.open_.amax(1)))


class _Growth:
    """Growth of statements against the worst rival, in rounds.

    In each round every image's worst rival names patches. To prove an activation high, that is the patch that attains
    it. To prove activations low, those whose remainders are the greatest: as many as have to shrink for what the rival
    lacks. Each patch gets one statement: its largest mass, or the prototype that costs the rival's margin most. Both
    are judged by what all open rivals lack if all other patches of the round get their largest mass.
    """

    def __init__(self, masses: Masses, guard: float, most: Tensor) -> None:
        self._masses, self._guard, self._most = masses, guard, most
        self._images = torch.arange(len(masses), device=masses.low.device)
        self._state = _State.of(masses, torch.zeros_like(masses.low, dtype=torch.bool))
        self._count = torch.zeros_like(self._images)
        middle = (masses.low + masses.high) / 2
        self._actual, self._attained = middle.max(1)
        self._worth = (middle / masses.costs.clamp(min=_NO_COST)).where(masses.allowed, _STATED)
        self._avoids = not bool(masses.allowed.all())

    def run(self) -> list[Grown]:
        """How growth ended for each image."""
        every: dict[int, Grown] = {}
        while len(self._images):
            masses, state = self._masses, self._state
            least, worst = masses.margins(state.floor[:, None], state.high(masses)[:, None])[:, 0].min(1)
            grown, too_many = least > self._guard, self._count > self._most
            chosen, named, used = self._named(worst, least)
            stuck = ~(grown | too_many | used.any(1))
            ended = grown | too_many | stuck
            for row in ended.nonzero()[:, 0].tolist():
                failure = None if bool(grown[row]) else given_up(int(self._count[row]))
                if bool(stuck[row]):
                    open_ = f"class {int(worst[row])} stays open (margin >= {below(float(least[row]))})"
                    why = f"{open_} though every statement that could help is made"
                    failure = NoExplanation(why, stays_open=True)
                every[int(self._images[row])] = Grown(state.stated[row].clone(), failure)
            if bool(ended.any()):
                (rows,) = (~ended).nonzero(as_tuple=True)
                self._masses = masses.take(rows)
                self._state = _State(*(getattr(state, f.name)[rows] for f in fields(state)))
                for name in ("_images", "_most", "_count", "_actual", "_attained", "_worth"):
                    setattr(self, name, getattr(self, name)[rows])
                chosen, named, used = chosen[rows], named[rows], used[rows]
            if len(self._images):
                self._add(chosen, named, used)
        return [every[image] for image in range(len(every))]

    def _named(self, worst: Tensor, least: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Patches (n, R) that the worst rivals name, the prototypes that they name there, and which patches count."""
        masses, state = self._masses, self._state
        (_, patches, size), costs = masses.low.shape, masses.costs.clamp(min=_NO_COST)
        prototypes = torch.arange(size, device=worst.device)
        plus, minus = (
            end.gather(2, worst[:, None, None].expand(-1, size, 1))[..., 0]
            for end in (masses.positive, masses.negative)
        )
        lacks = _EAGER * (self._guard - least)
        # What it would gain if an activation were proved high, at the patch that attains it.
        gain = plus * (self._actual - state.floor) / costs[self._attained, prototypes]
        gain = gain.masked_fill(state.stated.gather(1, self._attained[:, None])[:, 0], 0.0)
        by_patch = torch.zeros_like(state.left).scatter_reduce(1, self._attained, gain, "amax")
        first = prototypes.where((gain > 0) & (gain == by_patch.gather(1, self._attained)), size - 1)
        raised = torch.full_like(state.left, size - 1, dtype=torch.int64)
        raised = raised.scatter_reduce(1, self._attained, first, "amin")
        # What each patch may take from it, where its remainder is among the greatest.
        seen = torch.maximum(state.top, self._actual)
        taken = (state.open_ - seen[:, None]).clamp_(min=0).mul_(-minus[:, None]).div_(costs)
        most = taken.amax(2)
        weight = (-minus * (state.open_.amax(1) > seen)).sum(1)
        level = state.left.masked_fill(most <= 0, 0.0).amax(1) - lacks / weight.clamp(min=1e-300)
        most = most.where((state.left >= level[:, None]) & (weight > 0)[:, None], 0.0)
        values = torch.maximum(by_patch, most)
        if self._avoids:
            values = values.masked_fill(~(masses.allowed & ~state.stated).any(2), 0.0)
        values, chosen = values.topk(min(patches, max(_PATCHES_PER_ROUND, patches // _SHARE_PER_ROUND)), dim=1)
        used = (values > 0) & (values.cumsum(1) - values < lacks[:, None])
        rows = torch.arange(len(chosen), device=worst.device)[:, None]
        lowered = taken[rows, chosen].argmax(2)
        named = raised.gather(1, chosen).where(by_patch.gather(1, chosen) > most.gather(1, chosen), lowered)
        return chosen, named, used

    def _add(self, chosen: Tensor, named: Tensor, used: Tensor) -> None:
        """State one mass of each of the patches (n, R) that count: the largest or, where that is better, the named."""
        masses, state = self._masses, self._state
        rows = torch.arange(len(chosen), device=chosen.device)[:, None]
        was = state.stated[rows, chosen]
        largest = self._worth[rows, chosen].masked_fill(was, _STATED).argmax(2)
        first, second = (
            _Ends.of(masses, state.left.gather(1, chosen), chosen, each, used) for each in (largest, named)
        )
        floor = state.floor.scatter_reduce(1, largest, first.low, "amax")
        top = state.top.scatter_reduce(1, largest, first.high, "amax")
        others = state.open_.clone()
        before = others[rows, chosen]
        others[rows, chosen] = _STATED
        rest = others.amax(1)
        after = first.open_(was, largest).where(used[..., None], before)
        greatest, at = after.max(1)
        next_ = torch.maximum(after.scatter(1, at[:, None], _STATED).amax(1), rest)
        greatest = torch.maximum(greatest, rest)
        high = torch.minimum(masses.cap, torch.maximum(top, greatest))
        lack = masses.margins(floor[:, None], high[:, None]).clamp(max=0).sum(2)
        # The same, but for one patch, which gets the named prototype.
        turn = torch.arange(chosen.shape[1], device=chosen.device)[:, None]
        elsewhere = next_[:, None].where(at[:, None] == turn, greatest[:, None])
        same = (largest[:, :, None] == largest[:, None]) & (turn != turn.T)
        ends = []
        for whole, base, stated_first, stated_second in (
            (floor, state.floor, first.low, second.low),
            (top, state.top, first.high, second.high),
        ):
            without = torch.maximum(base.gather(1, largest), (stated_first[:, None] * same).amax(2))
            end = whole[:, None].expand(-1, chosen.shape[1], -1).scatter(2, largest[..., None], without[..., None])
            ends.append(end.scatter_reduce(2, named[..., None], stated_second[..., None], "amax"))
        open_second = second.open_(was, named)
        high = torch.minimum(masses.cap, torch.maximum(torch.maximum(ends[1], elsewhere), open_second))
        better = masses.margins(ends[0], high).clamp(max=0).sum(2) > lack
        may = masses.allowed[chosen, named] & ~was.gather(2, named[..., None])[..., 0]
        dearer = masses.costs[chosen, named] > masses.costs[chosen, largest]
        better &= used & may & ~dearer
        prototype, ends_ = named.where(better, largest), second.where(better, first)
        stated, place = state.stated.flatten(1), chosen * masses.low.shape[2] + prototype
        stated.scatter_(1, place, stated.gather(1, place) | used)
        state.left = state.left.scatter(1, chosen, ends_.left)
        state.floor = state.floor.scatter_reduce(1, prototype, ends_.low, "amax")
        state.top = state.top.scatter_reduce(1, prototype, ends_.high, "amax")
        self._count = self._count + used.sum(1)
        state.open_[rows, chosen] = open_second.where(better[..., None], after)


@dataclass(frozen=True, eq=False)
class _Ends:
    """The ends (n, R) of one more stated mass of each of some patches, and their remainders with it."""

    low: Tensor
    high: Tensor
    left: Tensor

    @classmethod
    def of(cls, masses: Masses, left: Tensor, chosen: Tensor, prototype: Tensor, used: Tensor) -> _Ends:
        rows = torch.arange(len(chosen), device=chosen.device)[:, None]
        low, high = (end[rows, chosen, prototype] * used for end in (masses.low, masses.high))
        left = (left - low).clamp(min=0)
        return cls(low, torch.minimum(high, low + left), left)

    def where(self, condition: Tensor, other: _Ends) -> _Ends:
        return _Ends(*(getattr(self, f.name).where(condition, getattr(other, f.name)) for f in fields(self)))

    def open_(self, was: Tensor, prototype: Tensor) -> Tensor:
        """(n, R, P) the remainders where a mass is not stated."""
        return self.left[..., None].where(~was, _STATED).scatter(2, prototype[..., None], _STATED)


def _swept(masses: Masses, guard: float, most: Tensor, in_levels: bool) -> list[Grown]:
    """Growth in the published order (Soria et al., arXiv 2511.16588): of all patches the r largest masses, for the
    least r that entails the class. Or by levels: of each patch the largest masses until its remainder is below a level,
    the same for all patches and the greatest that entails the class."""
    ordered, order = masses.low.where(masses.allowed, _STATED).sort(dim=2, descending=True, stable=True)
    ranks = torch.arange(ordered.shape[2], device=ordered.device).expand_as(ordered)
    if in_levels:
        largest = ordered.clamp(min=0)
        left = (1 - largest.cumsum(2) + largest).clamp(min=_LEAST_LEVEL, max=1.0)
        ranks = (-_LEVELS * left.log2()).floor().to(torch.int64)
    rank = torch.empty_like(order).scatter_(2, order, ranks)

    def stated(count: Tensor) -> Tensor:
        return (rank < count[:, None, None]) & masses.allowed

    last = int(rank.max()) + 1
    closed = rank.new_full((len(masses),), last + 1)
    open_ = torch.full_like(closed, -1)
    while bool((closed - open_ > 1).any()):  # the margins grow with what is stated
        tried = torch.div(open_ + closed, 2, rounding_mode="floor")
        state = _State.of(masses, stated(tried))
        closes = masses.margins(state.floor[:, None], state.high(masses)[:, None])[:, 0].amin(1) > guard
        closed, open_ = tried.where(closes, closed), tried.where(~closes, open_)
    before = stated(closed - 1).sum((1, 2)).tolist()
    every = "every statement that could help is made" if in_levels else "every pair is stated"
    grown: list[Grown] = []
    for some, count, fewer, limit in zip(stated(closed), closed.tolist(), before, most.tolist(), strict=True):
        failure = NoExplanation(f"the class stays open though {every}", stays_open=True) if count > last else None
        grown.append(Grown(some, given_up(fewer) if fewer > limit else failure))
    return grown


_SLACK = 1e-13
"""Prices have risen enough when rounding may move them further, relative to the most that a patch can give."""

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Payers:
    """For each rival of N images the prototypes k with w_k = W_c,k - W_predicted,k > 0, the greatest first.

    Attributes:
        weight: (N, C, Q) w_k, 0 where there are fewer.
        prototype: (N, C, Q) k.
    """

    weight: Tensor
    prototype: Tensor

    @classmethod
    def of(cls, masses: Masses, stated: int) -> Payers:
        """Those that count where an image of L patches has at most so many statements: L of them get something, and no
        more than the stated ones get nothing although they come first."""
        weight = -masses.negative.transpose(1, 2)
        count = max(1, min(int((weight > 0).sum(2).max()), masses.low.shape[1] + stated))
        weight, prototype = weight.topk(count, dim=2)
        return cls(weight.clamp(min=0), prototype)

    def bounded(self, left: Tensor, top: Tensor, margins: Tensor, above: Tensor) -> Tensor:
        """Lower bounds (N, C) of the margins that the best prices prove.

        Args:
            left: (N, L) remainders.
            top: (N, P) the greatest stated ends of activations.
            margins: (N, C) those if no prototype got a remainder.
            above: (N, C) what margins have to exceed. Where w_k R_l, without o_k, shows this, it is the bound.
        """
        greatest = left.sort(1, descending=True).values
        count = min(self.weight.shape[2], greatest.shape[1])
        bound = margins - (self.weight[..., :count] @ greatest[:, :count, None])[..., 0]
        images, rivals = (bound <= above).nonzero(as_tuple=True)
        value = self.values(images, rivals, left, top).topk(count, dim=1).values
        bound[images, rivals] = margins[images, rivals] - (value * greatest[images, :count]).sum(1)
        return bound

    def values(self, images: Tensor, rivals: Tensor, left: Tensor, top: Tensor) -> Tensor:
        """(B, Q) the v_k of some rivals."""
        most = left.amax(1).clamp(min=1e-300)[images, None]
        tops = top[images[:, None], self.prototype[images, rivals]]
        return self.weight[images, rivals] * (1 - tops / most).clamp(min=0)

    def prices(self, images: Tensor, rivals: Tensor, left: Tensor, top: Tensor) -> Tensor:
        """(B, Q) the least prices with which the bound's product proves it, for some rivals.

        With both sorted, price_i - price_(i+1) = (v_i - v_(i+1)) R_(i+1), and R is 0 after the last patch.
        """
        value, order = self.values(images, rivals, left, top).sort(1, descending=True)
        count = min(value.shape[1], left.shape[1])
        fall = value[:, :count] - torch.nn.functional.pad(value, (0, 1))[:, 1 : count + 1]
        greatest = torch.nn.functional.pad(left.sort(1, descending=True).values, (0, 1))[images, 1 : count + 1]
        price = (fall * greatest).flip(1).cumsum(1).flip(1)
        return torch.zeros_like(value).scatter(1, order[:, :count], price)


@dataclass(frozen=True, eq=False)
class Matching:
    """A heaviest matching of patches and some prototypes.

    Attributes:
        gives: (L, Q) what patches can give these prototypes.
        prototypes: (Q,) which these are.
        patches, columns: (M,) the pairs that are matched.
    """

    gives: Floats
    prototypes: Indices
    patches: Indices
    columns: Indices

    @property
    def gained(self) -> Floats:
        """(M,) what each pair gives."""
        gained: Floats = self.gives[self.patches, self.columns]
        return gained


def heaviest_matching(weight: Floats, left: Floats, top: Floats, stated: NDArray[np.bool_]) -> Matching:
    """The heaviest matching for one rival.

    Args:
        weight: (P,) w_k; those up to 0 get nothing.
        left: (L,) remainders.
        top: (P,) o_k.
        stated: (L, P) what is stated.
    """
    (prototypes,) = ((weight > 0) & (top < left.max())).nonzero()
    gives = weight[prototypes] * np.maximum(left[:, None] - top[prototypes], 0.0)
    gives[stated[:, prototypes]] = 0.0
    return Matching(gives, prototypes, *linear_sum_assignment(gives, maximize=True))


def least_prices(matching: Matching) -> Floats:
    """(Q,) the least prices that sum, with what patches can give beyond them, to what a heaviest matching gives.

    A patch keeps what its pair gives less the price; a price is at least what any patch would give beyond what it
    keeps. From prices of 0 these rise, each along a path of pairs: first those whose pairs give least.
    """
    gives, prices = np.ascontiguousarray(matching.gives.T), np.zeros(matching.gives.shape[1])
    gained = matching.gained
    keeps = np.zeros(gives.shape[1])
    keeps[matching.patches] = gained
    order = gained.argsort(kind="stable")
    pairs = list(zip(matching.columns[order].tolist(), matching.patches[order].tolist(), strict=True))
    slack = _SLACK * float(gives.max(initial=0.0))
    for _ in prices:
        for column, patch in pairs:
            rise = float((gives[column] - keeps).max()) - prices[column]
            if rise > 0:
                prices[column] += rise
                keeps[patch] = max(keeps[patch] - rise, 0.0)
        if float(((gives - keeps).max(1, initial=0.0) - prices).max(initial=0.0)) <= slack:
            break
    return prices
