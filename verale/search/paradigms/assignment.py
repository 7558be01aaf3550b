"""Assignment: statements about masses, and prices that prove the class where a patch pays once (softmax heads)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from torch import Tensor

from verale.bounds import Assignment, LinearMargins, SimplexRows, assignment_margins, domain_range
from verale.certificate import Prices, Statement
from verale.head import Head
from verale.paradigms import ORDERS
from verale.rounding import UNIT, Enclosure
from verale.search.compiled import is_available
from verale.search.grow import given_up
from verale.search.matching import Floats, Indices, Matching
from verale.search.needed import surely_needed
from verale.search.paradigms.of_patches import OfPatches
from verale.search.problem import Pair, Problem
from verale.search.prove import HOPELESS, Explained, Proved, SpatialExplanation, propose_and_prove
from verale.search.shrink import proved_margins
from verale.search.spatial import GROWTHS, UNSETTLED
from verale.search.stated import pairs_of

if TYPE_CHECKING:
    from verale.search.compiled.assigned import Assigned

__all__ = ["AssignmentSearch", "explain_assignment", "is_assigned_alone"]

_PRICE_SHARE = 8
"""Prices are rounded up to few digits, which costs at most one part in so many of a margin."""


def explain_assignment(
    problem: Problem, paradigm: Assignment, order: str, most: list[float] | None = None
) -> list[Explained]:
    """For each image an explanation, or the reason why there is none; `most` as in `explain_spatial`.

    Statements are added until the ranges of `simplex` entail the class, which is sound here too because `assignment` is
    never looser. Then each is dropped if for every rival the best prices still prove a positive margin. The costliest
    goes first; of those that cost the same, the one whose patch has the least remainder without it.

    Where it can, each image by itself is searched in machine code (`verale.search.compiled`).

    Soundness: the search uses plain floats; the result is proved from nothing but the statements and the prices.
    """
    explained: dict[int, Explained] = {}
    if not (problem.tolerance or problem.costs) and is_assigned_alone(problem.head, paradigm):
        explained = propose_and_prove(_MachineCode(problem, paradigm, order), most)
    rest = [image for image in range(len(problem)) if image not in explained]
    if rest:
        limits = None if most is None else [HOPELESS * most[image] for image in rest]
        growths, _ = GROWTHS[order](problem.take(rest), paradigm, limits)
        for image, growth in zip(rest, growths, strict=True):
            explained[image] = growth.failure or _dropped(problem.take([image]), paradigm, growth.pairs)
    return [explained[image] for image in range(len(problem))]


def is_assigned_alone(head: Head, paradigm: Assignment) -> bool:
    """Whether images are searched one by one, in machine code, which knows masses that only their statements bound.

    Then no image's certificate depends on the others.
    """
    bounded = head.domain.lower is not None or head.domain.upper is not None
    return not bounded and paradigm.device.type == "cpu" and is_available()


class _MachineCode:
    """See `verale.search.prove.Engine`. Growth has a guard of its own; deletion knows which statements are needed."""

    guards: tuple[float, ...] = (0.0,)

    def __init__(self, problem: Problem, paradigm: Assignment, order: str) -> None:
        self.problem, self.paradigm, self._order = problem, paradigm, order
        self._assigned: dict[int, tuple[_Rivals, Assigned]] = {}

    def choose(
        self, images: list[int], guard: float, most: list[float], early: list[list[Pair]]
    ) -> list[list[Pair] | str | None]:
        """See `Engine`."""
        return [self._chosen(image, limit) for image, limit in zip(images, most, strict=True)]

    def prove(self, chosen: dict[int, list[Pair]]) -> dict[int, Proved | None]:
        """See `Engine`: what was chosen last, with its prices."""
        return {image: self._proved(image) for image in chosen}

    def _chosen(self, image: int, limit: float) -> list[Pair] | str | None:
        from verale.search.compiled.assigned import choose_masses, drop_masses

        one = self.problem.take([image])
        rivals = _Rivals.of(one)
        if self._order == ORDERS[0] and not one.avoid:
            grown = choose_masses(rivals.mass, rivals.weights, rivals.bias, limit)
        else:
            (growth,), _ = GROWTHS[self._order](one, self.paradigm, [limit])
            grown = None if growth.failure else growth.pairs
        if isinstance(grown, int):
            return given_up(grown)
        assigned = None if grown is None else drop_masses(rivals.mass, rivals.weights, rivals.bias, rivals.noise, grown)
        if assigned is None:
            return None
        self._assigned[image] = rivals, assigned
        return assigned.pairs

    def _proved(self, image: int) -> Proved | None:
        rivals, assigned = self._assigned[image]

        def prices(rival: int) -> Floats:
            row = rivals.rivals.index(rival)
            return rounded_up(assigned.prices[row], float(assigned.margins[row]))

        proved = _proved(self.problem.take([image]), self.paradigm, assigned.pairs, prices, assigned.minimal)
        return None if isinstance(proved, str) else (proved, [])


def _dropped(problem: Problem, paradigm: Assignment, pairs: list[Pair]) -> Explained:
    """The explanation of one image from statements that entail its class."""
    trials = _Trials(problem, sorted(pairs))
    trials.drop_all()
    minimal = trials.minimal and _open_to_ranges(problem, paradigm, trials.pairs)
    return _proved(problem, paradigm, trials.pairs, trials.prices, minimal)


def _open_to_ranges(problem: Problem, paradigm: Assignment, pairs: list[Pair]) -> bool:
    """Whether without any one statement the ranges of `simplex` surely leave a rival open, as the best prices do.

    Prices do what the statements allow, so nobody needs to ask, unless the logits are bounded: a mass then has a range
    of its own, of which the prices take the lower end alone.
    """
    if problem.head.domain.lower is None or problem.head.domain.upper is None:
        return True
    return not problem.tolerance and surely_needed(problem, paradigm, [pairs])[0]


def _proved(
    problem: Problem, paradigm: Assignment, pairs: list[Pair], prices: Callable[[int], Floats], minimal: bool
) -> Explained:
    """The explanation of one image with its margins, from rows that know its statements alone.

    Args:
        prices: (P,) of a rival.
    """
    rows = paradigm.from_statements(problem.patches, *_stated(problem, pairs))
    margins: Tensor = proved_margins(problem, rows)[0]
    (open_,) = torch.nonzero(~(margins > 0), as_tuple=True)
    stated: dict[int, dict[int, float]] = {}
    for rival in open_.tolist():
        row = prices(rival)
        (priced,) = row.nonzero()
        stated[rival] = dict(zip(priced.tolist(), row[priced].tolist(), strict=True))
    margins = _with_prices(problem, rows, margins, stated)
    if not bool((margins > 0).all()):
        return UNSETTLED
    return SpatialExplanation(pairs, margins, minimal, stated)


def _with_prices(problem: Problem, rows: SimplexRows, margins: Tensor, prices: dict[int, dict[int, float]]) -> Tensor:
    """Margins (C,) of ranges or, where that is greater, of prices."""
    if not prices:
        return margins
    paid = margins.new_zeros(len(prices), problem.head.size)
    for row, of_rival in zip(paid, prices.values(), strict=True):
        row[problem.index(list(of_rival))] = row.new_tensor(list(of_rival.values()))
    linear, rivals = cast(LinearMargins, problem.margins), problem.index(list(prices))  # softmax heads have no other
    by_prices = assignment_margins(rows, linear.keep(rivals[None]), paid)
    margins[rivals] = torch.maximum(margins[rivals], by_prices.flatten())
    return margins


def _stated(problem: Problem, pairs: list[Pair]) -> tuple[Tensor, Tensor, Enclosure]:
    """The patches, prototypes and intervals of statements."""
    patches, prototypes = problem.index([patch for patch, _ in pairs]), problem.index([k for _, k in pairs])
    return patches, prototypes, problem.observed[patches, prototypes]


def rounded_up(prices: Floats, margin: float) -> Floats:
    """Prices (P,) rounded up to a grid that is as coarse as the margin that they prove allows."""
    needed = np.count_nonzero(prices)
    if not (margin > 0 and needed):
        return prices
    grid = 2.0 ** math.floor(math.log2(margin / (_PRICE_SHARE * needed)))
    rounded: Floats = np.ceil(prices / grid) * grid
    return rounded


@dataclass(frozen=True)
class _Rivals:
    """One image and the rivals of its class, as arrays of plain floats.

    Attributes:
        mass: (L, P) the masses, the midpoints of what is stated.
        rivals: (K,) classes.
        weights: (K, P) W_predicted - W_rival.
        bias: (K,) b_predicted - b_rival.
        noise: (K,) more than rounding can move a margin. A remainder has P rounding errors; a sum over prototypes and
            patches has one for each of its terms.
    """

    mass: Floats
    rivals: list[int]
    weights: Floats
    bias: Floats
    noise: Floats

    @classmethod
    def of(cls, problem: Problem) -> _Rivals:
        predicted = int(problem.margins.predicted[0])
        weight, bias = _linear(problem.head)
        rivals = [c for c in range(len(weight)) if c != predicted]
        weights, lead = weight[predicted] - weight[rivals], bias[predicted] - bias[rivals]
        mass: Floats = ((problem.observed.lower + problem.observed.upper) / 2).cpu().numpy()
        noise = (4 * sum(mass.shape) + 64) * UNIT * (np.abs(weights).sum(1) + np.abs(lead))
        return cls(mass, rivals, weights, lead, noise)


class _Trials:
    """The remaining statements of one image, what they leave open, and for every rival prices that close it.

    For each of K rivals only the prototypes with w_k > 0 count, the greatest first. The arrays are (K, Q): their
    indices and weights, padded with w_k = 0.

    Attributes:
        pairs: the remaining statements.
        minimal: whether every statement is needed: the last time that each was tried, the class was missed by more than
            rounding can explain.
    """

    def __init__(self, problem: Problem, pairs: list[Pair]) -> None:
        self.pairs, self.minimal = pairs, True
        self._monotone, self._costs = not problem.tolerance, problem.costs
        self._low = problem.observed.lower.cpu().numpy()
        self._high = problem.observed.upper.cpu().numpy()
        self._least: Floats = domain_range(problem.head).lower.numpy()
        self._stated = np.zeros(self._low.shape, dtype=bool)
        self._stated[tuple(np.array(pairs, dtype=np.int64).reshape(-1, 2).T)] = True
        self._left, self._tops, self._floors = np.zeros(len(self._low)), self._low * 0, self._low * 0
        for patch in range(len(self._low)):
            self._left[patch], self._tops[patch], self._floors[patch] = self._patch(patch)
        self._top, self._floor = self._tops.max(0), self._floors.max(0)
        self._undo: list[tuple[Any, Any, Any]] = []

        image = _Rivals.of(problem)
        difference = -image.weights
        self._rivals, self._bias, self._noise = image.rivals, image.bias, image.noise
        self._pay = difference.clip(max=0)
        self._needed = (difference > 0).sum(1)
        self._paying = np.argsort(-difference, axis=1, kind="stable")[:, : self._needed.max()]
        self._gain = np.take_along_axis(difference, self._paying, 1).clip(min=0)

        # As under simplex, each prototype may take the largest remainder that is open to it, and pays for that.
        most = np.where(self._stated, 0.0, self._left[:, None]).max(0)
        self._prices = self._gain * (most - self._top).clip(min=0)[self._paying]
        self._excess = np.zeros((len(self._rivals), len(self._low)))
        self._matchings: dict[int, Matching] = {}

    def drop_all(self) -> None:
        """Drop statements until none can be dropped.

        Statements by equality give monotone bounds: a deletion that fails once fails for every subset too, and one pass
        is enough. Wide ones do not. A stated mass counts with its upper end, and leaves to its patch only what its
        lower end leaves; a second statement about the patch may cost more than it saves.
        """
        before: list[Pair] = []
        while before != self.pairs:
            before, self.minimal = self.pairs, True
            self.pairs = sorted(self._one_pass())
            if self._monotone:
                break

    def _one_pass(self) -> list[Pair]:
        """Try each statement once; those that stay.

        The costliest goes first; of those that cost the same, the one whose patch has the least remainder without it.
        """
        undecided: dict[float, dict[int, list[int]]] = {}
        for patch, k in sorted(self.pairs, key=lambda pair: -self._low[pair]):
            undecided.setdefault(self._costs.of_pair((patch, k)), {}).setdefault(patch, []).append(k)
        kept = []
        for _, alike in sorted(undecided.items(), reverse=True):
            while alike:
                patch = min(alike, key=lambda patch: self._left[patch] + self._low[patch, alike[patch][-1]])
                k = alike[patch].pop()
                if not alike[patch]:
                    del alike[patch]
                if not self._drop(patch, k):
                    kept.append((patch, k))
        return kept

    def prices(self, rival: int) -> Floats:
        """The best prices (P,) of a rival, rounded up."""
        row = self._rivals.index(rival)
        margin = float(self._known()[row]) - self._solve(row)
        prices: Floats = np.zeros(self._low.shape[1])
        prices[self._of(row)[0]] = self._prices[row, : self._needed[row]]
        return rounded_up(prices, margin)

    def _patch(self, patch: int) -> tuple[float, Floats, Floats]:
        """A patch's remainder, and the ends of its masses: the lower ones of `simplex`, the upper ones by the
        statements alone, 0 where none is stated."""
        stated, low, high = self._stated[patch], self._low[patch], self._high[patch]
        left = max(0.0, 1.0 - float(low[stated].sum()))
        floor = np.where(stated, low, 0.0)
        if stated.sum() >= len(stated) - 1:  # the other masses determine the last one
            others = float(high[stated].sum()) - np.where(stated, high, 0.0)
            floor = np.where(stated & ~stated.all(), floor, np.maximum(floor, 1.0 - others))
        return left, np.where(stated, np.minimum(high, low + left), 0.0), np.maximum(floor, self._least)

    def _drop(self, patch: int, prototype: int) -> bool:
        """Drop a statement if every rival stays closed; whether it was dropped."""
        self._undo.clear()
        tops, floors = self._tops[patch].copy(), self._floors[patch].copy()
        self._set(self._stated, (patch, prototype), False)
        for kept, value in zip((self._left, self._tops, self._floors), self._patch(patch), strict=True):
            self._set(kept, patch, value)
        (moved,) = np.nonzero((self._tops[patch] != tops) | (self._floors[patch] != floors))
        self._set(self._top, moved, self._tops[:, moved].max(0))
        self._set(self._floor, moved, self._floors[:, moved].max(0))
        self._adjust_prices(patch, moved)
        if self._closed():
            return True
        for array, index, value in reversed(self._undo):
            array[index] = value
        return False

    def _set(self, array: Any, index: Any, value: Any) -> None:
        self._undo.append((array, index, array[index].copy()))
        array[index] = value

    def _adjust_prices(self, patch: int, moved: Indices) -> None:
        """Prices after a change, quickly, not the best: prototypes whose top sank pay for the other patches."""
        for k in moved:
            where = np.nonzero((self._paying == k) & (self._gain > 0))
            gap = np.where(self._stated[:, k], 0.0, self._left - self._top[k]).clip(min=0)
            gap[patch] = 0.0
            paid = self._prices[where]
            beyond = self._gain[where][:, None] * gap - paid[:, None] - self._excess[where[0]]
            self._set(self._prices, where, paid + beyond.max(1).clip(min=0))
        gap = np.where(self._stated[patch], 0.0, self._left[patch] - self._top).clip(min=0)
        excess = (self._gain * gap[self._paying] - self._prices).max(1, initial=0.0)
        self._set(self._excess, (slice(None), patch), excess)

    def _closed(self) -> bool:
        """Whether the best prices close every rival. Quick prices and earlier matchings decide most cases."""
        known = self._known()
        margins = known - self._prices.sum(1) - self._excess.sum(1)
        doubtful = np.flatnonzero(margins <= self._noise).tolist()
        at_most = {rival: known[rival] - self._matched(rival) for rival in doubtful if rival in self._matchings}
        if any(most < -self._noise[rival] for rival, most in at_most.items()):
            return False
        for rival in sorted(doubtful, key=lambda rival: at_most.get(rival, np.inf)):  # the most likely to fail first
            if known[rival] - self._solve(rival) <= self._noise[rival]:
                self.minimal &= bool(known[rival] - self._matched(rival) < -self._noise[rival])
                return False
        return True

    def _matched(self, rival: int) -> float:
        """What a rival's matching gives it; no prices sum to less."""
        return self._matchings[rival].weight(self._weights(rival))

    def _known(self) -> Floats:
        """(K,) the margins if no prototype got a remainder."""
        known: Floats = self._bias - self._pay @ self._floor - (self._gain * self._top[self._paying]).sum(1)
        return known

    def _weights(self, rival: int) -> Floats:
        """(L, q) w_k (R_l - o_k)^+ for the prototypes with w_k > 0, 0 where k is stated."""
        chosen, gain = self._of(rival)
        gap: Floats = np.where(self._stated[:, chosen], 0.0, self._left[:, None] - self._top[chosen]).clip(min=0)
        return gain * gap

    def _of(self, rival: int) -> tuple[Indices, Floats]:
        """The prototypes with w_k > 0, and w_k."""
        needed = self._needed[rival]
        return self._paying[rival, :needed], self._gain[rival, :needed]

    def _solve(self, rival: int) -> float:
        """Set the best prices of a rival; returns the sum of the prices and of the patches' excess.

        Of q prototypes, only the q + 1 patches count that can give one of them most. Proof: in the problem of these
        patches alone, the best prices leave no excess at a patch without a partner. Each prototype has one among its
        q + 1 patches, since at most q have a partner. So its price is at least what that patch can give, and that is no
        less than what any patch outside can give: none of these has an excess either. The prices are feasible for all
        patches, they sum to what the matching gives, and so both are best for all patches.
        """
        weights, (chosen, gain) = self._weights(rival), self._of(rival)
        rows = self._rows(chosen)
        v, matching = _ranked(gain, self._left[rows], self._top[chosen])
        u = (weights[rows] - v).max(1, initial=0.0)
        matching.improve(weights[rows], u, v)
        self._matchings[rival] = matching.of_rows(rows, len(weights))
        self._set(self._prices, (rival, slice(len(v))), v)
        self._set(self._excess, rival, (weights - v).max(1, initial=0.0))
        return float(self._prices[rival].sum() + self._excess[rival].sum())

    def _rows(self, chosen: Indices) -> Indices:
        """The patches with the greatest remainders, until each of q prototypes has q + 1 at which it is not stated."""
        order: Indices = np.argsort(-self._left, kind="stable")
        enough = (~self._stated[order][:, chosen]).cumsum(0) > len(chosen)
        short = int((~enough.all(1)).sum())
        return order[: short + 1]


def _ranked(gain: Floats, left: Floats, top: Floats) -> tuple[Floats, Matching]:
    """Prices and a matching by rank; the best ones if no w_k (R_l - o_k) is negative and nothing is stated.

    Products of sorted factors have the greatest sum in sorted order; prices with v_i - v_i+1 = (w_i - w_i+1) R_i+1
    prove it.

    Args:
        gain: (q,) w_k, the greatest first.
        left: (L,) R_l.
        top: (q,) o_k.
    """
    rows, columns = np.argsort(-left, kind="stable"), np.arange(len(gain))
    descending = np.zeros(len(gain) + len(left) + 1)
    descending[: len(rows)] = left[rows]
    for _ in range(2):  # leave out the prototypes that gain nothing at their rank
        columns = columns[descending[: len(columns)] > top[columns]]
    worth = gain[columns]
    steps = (worth - np.append(worth[1:], 0.0)) * descending[1 : len(columns) + 1]
    prices = np.zeros(len(gain))
    prices[columns] = (steps[::-1].cumsum()[::-1] - worth * top[columns]).clip(min=0)
    of_row, of_column = np.full(len(left), -1), np.full(len(gain), -1)
    paired = min(len(rows), len(columns))
    of_row[rows[:paired]], of_column[columns[:paired]] = columns[:paired], rows[:paired]
    return prices, Matching(of_row, of_column)


def _linear(head: Head) -> tuple[Floats, Floats]:
    """The readout's weight (C, P) and bias (C,)."""
    weight: Floats = head.weight.cpu().double().numpy()
    return weight, np.zeros(len(weight)) if head.bias is None else head.bias.cpu().double().numpy()


class AssignmentSearch(OfPatches):
    """See `explain_assignment`."""

    name = "assignment"
    bounds = Assignment
    bounds_margins_whole = True

    @classmethod
    def require(cls, head: Head, patches: int) -> None:
        """See `ParadigmSearch`."""
        super().require(head, patches)
        Assignment.require(head)

    @property
    def is_alone(self) -> bool:
        """See `ParadigmSearch`."""
        return is_assigned_alone(self.head, self.spatial)

    def explain(self, problem: Problem, order: str, most: list[float]) -> list[Explained]:
        """See `OfPatches`."""
        return explain_assignment(problem, self.spatial, order, most)

    def prove(self, problem: Problem, statements: Sequence[Statement], prices: Sequence[Prices] = ()) -> Tensor:
        """See `ParadigmSearch`: with prices of prototypes for some rivals."""
        stated, pairs = problem.with_ends(statements), pairs_of(statements)
        paid = {each.rival: dict(zip(each.prototypes, each.values, strict=True)) for each in prices}
        rows = self.spatial.from_statements(stated.patches, *_stated(stated, pairs))
        return _with_prices(stated, rows, proved_margins(stated, rows)[0], paid)
