"""The engine for every paradigm of patches, pooling and readout: grow, delete and prove one image by rounded bounds.

`growth` and `deletion` know what one statement more, or less, changes, for `projection` of heads with a maximum as
pooling and a linear readout. Here it is `statements` that says what trials would say of the observables, and what every
pooling and readout has, `Dropping.alone` and `Margins.lower`, what follows for the margins; many trials at once, all
rounded outward. So what growth and deletion leave is proved as it stands.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from verale.bounds import ExactParadigm, LinearMargins, SpatialParadigm, pooling_of
from verale.bounds.pooling import WholeDropping
from verale.certificate.words import below
from verale.head import Softmax
from verale.paradigms import ORDERS
from verale.rounding import Enclosure
from verale.search.costs import NEARLY_FREE
from verale.search.problem import NoExplanation, Pair, Problem, given_up
from verale.search.prove import Proved, SpatialExplanation, by_patch, not_surely_needed
from verale.search.rounds.statements import statements_of

GUARDS = (1e-6, 1e-9, 0.0)
"""Growth ends when all margins exceed a guard; where a class stays open, the smaller ones serve."""

_SLOTS = (4, 16, 32)
_SLOTS_OF_MEANS = (16, 64, 8)
"""At least and at most so many patches get a statement in a round, one for so many statements as there are. In a mean
all patches have their share, so that more of them are worth a statement."""

_AT_LAST = 0.1
"""What not knowing a patch would cost if all others were known counts this share."""

_PATCHES_A_SLOT = 4
"""Of many patches, at most one in so many gets a statement in a round."""

_LATER = 1e-3
"""What is not known of a patch counts this share, though activations do not change before more is known of others."""

_COMPARABLE = 0.5
"""Where statements differ in cost, those of a round gain at least this share of what the best gains for its cost."""

_FEWER = 2 / 3
"""If too many deletions were tried together, this share of them is tried next."""

_TRIED = 4
"""So many statements of a patch are tried again in a round of deletions."""

_ENTRIES_AT_ONCE = 2**17
"""So many bounds are computed at once where statements are left out: 1 MiB, which a cache holds."""

_HUGE, _TINY = 1e150, 1e-300


class Stepwise:
    """Proposes statements for the images of one problem, and has them proved.

    Attributes:
        problem: N images.
        paradigm: how statements bound observables.
        guards: a margin of plain floats counts as positive above a guard. The first is tried first; where the proof
            fails greater ones are, and where the class stays open smaller ones.
    """

    guards: tuple[float, ...] = GUARDS

    def __init__(self, problem: Problem, paradigm: SpatialParadigm, order: str = ORDERS[0]) -> None:
        self.problem, self.paradigm, self._order = problem, paradigm, order

    def choose(self, images: list[int], guard: float, most: list[float]) -> list[list[Pair] | NoExplanation | None]:
        """For each image the statements, why there are none, or None where the engine finds none.

        Args:
            images: their indices.
            guard: one of the guards.
            most: for each image, how many statements are too many before shrinking.
        """
        choices: list[list[Pair] | NoExplanation | None] = []
        for image, limit in zip(images, most, strict=True):
            stating = _Stating(self.problem.take([image]), self.paradigm, guard)
            failure = stating.grow(limit) if self._order == ORDERS[0] else stating.sweep(limit)
            choices.append(stating.shrunk() if failure is None else failure)
        return choices

    def prove(self, chosen: dict[int, list[Pair]]) -> dict[int, Proved | None]:
        """What statements prove of some images, rounded outward; None where a margin is not positive."""
        proved: dict[int, Proved | None] = dict.fromkeys(chosen)
        exact = self.paradigm if isinstance(self.paradigm, ExactParadigm) and not self.problem.tolerance else None
        keeps_order = self.paradigm.ordered or bool(self.problem.tolerance)
        for image, pairs in chosen.items():
            one = self.problem.take([image])
            (margins,) = one.proved_margins(one.ranges(self.paradigm, [pairs]))
            if bool((margins > 0).all()):
                doubtful = [] if exact is None else not_surely_needed(one, exact, pairs)
                is_minimal = exact is not None and not doubtful
                proved[image] = SpatialExplanation(by_patch(pairs, keeps_order), margins, is_minimal), doubtful
        return proved


def first_statements(problem: Problem, paradigm: SpatialParadigm, most: int) -> list[Pair]:
    """At most so many statements about the only image in the order in which they are added to it; none is dropped."""
    stating = _Stating(problem, paradigm, GUARDS[0])
    stating.grow(most)
    return stating.added[:most]


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
        self._known = self._pooling.dropping(problem.observed)
        self._hidden = head.pooling.hidden(problem.patches, head.size)
        self._unlike = problem.dissimilarities()[0]
        self._open = problem.patches_left[:, None] & problem.prototypes_left
        self._unstated, self._refused = torch.ones_like(self._open), torch.zeros_like(self._open)
        self._costs = problem.costs.of_pairs(problem.patches, head.size).clamp(min=NEARLY_FREE)
        # What must not be stated costs what its patch's cheapest statement does.
        cheapest = self._costs.masked_fill(~self._open, torch.inf).amin(1, keepdim=True).clamp(max=_HUGE)
        self._prices = torch.where(self._open, self._costs, cheapest)
        self._statements = statements_of(problem, paradigm)
        self.added: list[Pair] = []
        self._pool()

    def grow(self, most: float) -> NoExplanation | None:
        """Add statements until all margins exceed the guard; why that was not reached.

        In each round, the worst rival names of each patch what would gain its margin most, as if all of a patch were
        known. As many patches as its deficit calls for get one statement each: the one named, or the one that explains
        most of what is unknown; whichever leaves the smaller sum of all rivals' deficits for its cost.
        """
        forced = False
        while True:
            least, rival = self._margins.min(0)
            if float(least) > self._guard:
                return None
            if len(self.added) > most:
                return given_up(len(self.added))
            # What the rival's margin would gain if of an activation all were known that a patch's statements say, for
            # the cost of the statement that names it; -1 where nothing can be stated.
            everything = self._pooled.alone(self._patches, self._problem.observed)
            rises, falls = self._weights(int(rival))
            worth = rises * _gap(everything.lower, self._box.lower) + falls * _gap(self._box.upper, everything.upper)
            worth += _AT_LAST * self._unknown(self._patches, self._statements.ranges, rises, falls)
            worth.nan_to_num_(0.0, _HUGE).div_(self._prices)
            can = self._unstated & self._open.any(1, keepdim=True)
            worth.masked_fill_(~can if self._hidden is None else ~can | self._hidden, -1.0)
            promised, named = worth.max(1)
            fewest, greatest, share = _SLOTS_OF_MEANS if isinstance(self._pooled, WholeDropping) else _SLOTS
            greatest = max(greatest, len(self._patches) // _PATCHES_A_SLOT)
            slots = min(greatest, max(fewest, len(self.added) // share))
            order = promised.argsort(descending=True, stable=True)[:slots]
            order = order[promised[order] > 0]
            if not len(order) and bool(self._refused.any()):
                forced, self._open = True, self._open | self._refused
                self._refused = torch.zeros_like(self._open)
                continue
            if not len(order):
                return NoExplanation(
                    f"class {int(rival)} stays open (margin >= {below(float(least))}) though every statement that could"
                    " help is made",
                    stays_open=True,
                )
            if self._problem.costs:  # others may be dear, and not needed after these
                order = order[promised[order] >= _COMPARABLE * promised[order[0]]]
            lacking = self._guard - float(least)
            gains = promised[order] * self._prices[order, named[order]]
            order = order[gains.cumsum(0) - gains < lacking] if math.isfinite(lacking) else order
            self._round(order, named[order], int(rival), forced)

    def _round(self, patches: Tensor, named: Tensor, rival: int, forced: bool) -> None:
        """State one thing about each of some patches; unless `forced`, nothing that makes bounds worse."""
        pursued = self._most_explaining()[patches]
        named = torch.where(self._open[patches, named], named, pursued)
        rows, tried = patches.repeat(2), torch.cat([pursued, named])
        trial = self._statements.tried(rows, tried)
        margins = self._lower(self._pooled.alone(rows, trial.ranges))
        gain = self._lacking(self._margins[None]) - self._lacking(margins)
        costs = self._costs[rows, tried].view(2, -1)
        unknown = self._unknown(rows, trial.ranges, *self._weights(rival)).nan_to_num(_HUGE, _HUGE).sum(1)
        value = (gain - _AT_LAST * unknown).view(2, -1)
        value = torch.where(value > 0, value / costs, value * costs)
        better = (value[1] > value[0]) | ((value[1] == value[0]) & (costs[1] < costs[0]))
        at = torch.where(better, len(patches), 0) + torch.arange(len(patches))
        if self._paradigm.ordered and not forced:  # a statement may make bounds worse
            worse = gain[at] < 0
            refused = rows[at[worse]], tried[at[worse]]
            self._open[refused], self._refused[refused] = False, True
            at = at[~worse]
        self._statements.add(trial, at)
        self.added += zip(rows[at].tolist(), tried[at].tolist(), strict=True)
        self._open[rows[at], tried[at]] = self._unstated[rows[at], tried[at]] = False
        self._pool()

    def _lacking(self, margins: Tensor) -> Tensor:
        """(S,) the sums of what margins (S, K) lack."""
        return (self._guard - margins).clamp(min=0).nan_to_num(_HUGE, _HUGE).clamp(max=_HUGE).sum(1)

    def _unknown(self, patches: Tensor, ranges: Enclosure, rises: Tensor, falls: Tensor) -> Tensor:
        """(S, P) what a margin lacks where all is known of all patches but one, and of this one ranges (S, P)."""
        box, own = self._known.alone(patches, ranges), self._problem.activations
        return rises * _gap(own.lower, box.lower) + falls * _gap(box.upper, own.upper)

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
        ends, observed = self._statements.ranges, self._problem.observed
        middle, half = (ends.lower + ends.upper) / 2, (ends.upper - ends.lower) / 2
        score = ((observed.lower + observed.upper) / 2 - middle).abs() / half.clamp(min=_TINY)
        bare = (self._statements.count == 0) | isinstance(self._head.geometry, Softmax)
        score = torch.where(bare[:, None], -self._unlike, score.nan_to_num(0.0)).clamp(-_HUGE, _HUGE)
        score = torch.where(score > 0, score / self._costs, score * self._costs)
        return score.clamp(min=-_HUGE).masked_fill(~self._open, -torch.inf).argmax(1)

    def sweep(self, most: float) -> NoExplanation | None:
        """The same in the published order (Soria et al., arXiv 2511.16588): the nearest prototype of every patch that
        may have statements, then the second nearest, and so on."""
        patches = self._problem.patches_left
        left = self._problem.prototypes_left.nonzero()[:, 0]
        nearest = left[self._unlike[:, left].argsort(dim=1, stable=True)]

        def state(depth: int) -> bool:
            self._statements.begin(nearest[:, :depth], patches.long() * depth)
            self._pool()
            return bool((self._margins > self._guard).all())

        # all numbers a patch are tried, or powers of two where more statements say no less
        depths = list(range(len(left) + 1))
        if not self._paradigm.ordered:
            depths = [0, *(2**n for n in range(len(left).bit_length()) if 2**n < len(left)), len(left)]
        depth = next((depth for depth in depths if state(depth)), None)
        if depth is not None and not self._paradigm.ordered:
            low = depth // 2
            while depth - low > 1:
                middle = (low + depth) // 2
                low, depth = (low, middle) if state(middle) else (middle, depth)
            state(depth)
        count = int(self._statements.count.sum())
        if count > most:
            return given_up(count)
        if depth is None:
            return NoExplanation("the class stays open though every pair is stated", stays_open=True)
        listed = patches.nonzero()[:, 0].tolist()
        self.added = [(patch, int(nearest[patch, rank])) for rank in range(depth) for patch in listed]
        return None

    def shrunk(self) -> list[Pair]:
        """What is left when no statement can be deleted; those that cost most go before others, then those that leave
        most. Where bounds depend on the order of statements, the last ones go first.

        First every deletion is tried alone: what is needed then is so for good, because margins only fall. So old
        ones are upper bounds: of each patch those with the greatest are tried again. Where the order of statements
        matters, margins may rise when one goes, and all are tried anew until none can be deleted.
        """
        known = self._statements
        while True:
            before = int(known.count.sum())
            self._shrink()
            if not self._paradigm.ordered or int(known.count.sum()) == before:
                break
        return [
            (patch, j)
            for patch, (stated, count) in enumerate(zip(known.stated.tolist(), known.count.tolist(), strict=True))
            for j in stated[:count]
        ]

    def _shrink(self) -> None:
        """Delete statements one after the other; one that was needed is not tried again."""
        known, guard = self._statements, self._guard
        if guard <= GUARDS[0]:
            guard = min(guard, float(self._problem.noise))
        rank = torch.zeros_like(self._costs)
        for place, pair in enumerate(self.added if self._paradigm.ordered else ()):
            rank[pair] = place
        left = torch.full(known.stated.shape, torch.inf, dtype=torch.float64)  # margins when it was last tried
        undecided = known.there
        rows, places = self._to_try(undecided, left, rank)
        while len(rows):
            step = max(1, _ENTRIES_AT_ONCE // self._head.size)
            trials = [(rows[begin : begin + step], places[begin : begin + step]) for begin in range(0, len(rows), step)]
            margins = torch.cat(  # (S, K), without each of the statements
                [self._lower(self._pooled.alone(at, self._statements.without(at, of).ranges)) for at, of in trials]
            )
            least = margins.amin(1)
            left[rows, places] = least
            undecided[rows, places] = least > guard
            rows, places, margins = (each[least > guard] for each in (rows, places, margins))
            if len(rows):
                # of the highest level, for each patch the statement that goes first; the first one first
                level, score = self._keys(rows, places, left, rank)
                gone = (level == level.max()).nonzero()[:, 0]
                gone = gone[score[gone].argsort(descending=True, stable=True)]
                gone = gone[_first_of_each(rows[gone], 1)]
                rows, places, margins = rows[gone], places[gone], margins[gone]
                count = self._delete(rows, places, margins, guard)
                rows, places = rows[:count], places[:count]
                order = (torch.arange(left.shape[1]) == places[:, None]).long().argsort(dim=1, stable=True)
                undecided[rows, places] = False
                left[rows], undecided[rows] = left[rows].gather(1, order), undecided[rows].gather(1, order)
            rows, places = self._to_try(undecided, left, rank)

    def _keys(self, rows: Tensor, places: Tensor, left: Tensor, rank: Tensor) -> tuple[Tensor, Tensor]:
        """Levels, of which the greatest go first, and within a level scores."""
        stated = self._statements.stated[rows, places]
        score = rank[rows, stated] if self._paradigm.ordered else left[rows, places]
        return self._costs[rows, stated], score

    def _to_try(self, undecided: Tensor, left: Tensor, rank: Tensor) -> tuple[Tensor, Tensor]:
        """Of the highest level, the few statements of each patch that go first; at first, all that were not tried."""
        rows, places = undecided.nonzero(as_tuple=True)
        if not len(rows):
            return rows, places
        level, score = self._keys(rows, places, left, rank)
        new = left[rows, places].isinf()
        if bool(new.any()):
            return rows[new], places[new]
        free = (level == level.max()).nonzero()[:, 0]
        free = free[score[free].argsort(descending=True, stable=True)]
        tried = 1 if self._paradigm.ordered else _TRIED
        free = free[_first_of_each(rows[free], tried)].sort().values
        return rows[free], places[free]

    def _delete(self, rows: Tensor, places: Tensor, margins: Tensor, guard: float) -> int:
        """Delete the first few of some statements about different patches: as many as leave all margins above a guard,
        at least one; how many."""
        lost = (self._margins - margins).nan_to_num(0.0, 0.0, 0.0).cumsum(0)
        count = max(1, int((self._margins - lost > guard).all(1).long().cumprod(0).sum()))
        trial, now = self._statements.without(rows[:count], places[:count]), self._statements.ranges
        while count > 1:
            lower, upper = now.lower.clone(), now.upper.clone()
            lower[rows[:count]], upper[rows[:count]] = trial.ranges.lower[:count], trial.ranges.upper[:count]
            box = self._pooling.box(Enclosure.unchecked(lower, upper))
            if bool((self._lower(box[None])[0] > guard).all()):
                break
            count = max(1, int(count * _FEWER))
        self._statements.delete(trial, count)
        self._pool()
        return count

    def _pool(self) -> None:
        self._pooled = self._pooling.dropping(self._statements.ranges)
        self._box = self._pooling.box(self._statements.ranges)
        (self._margins,) = self._lower(self._box[None])

    def _lower(self, box: Enclosure) -> Tensor:
        """(S, K) margins from boxes (S, P)."""
        return self._problem.margins.lower(box[None])[0]


def _first_of_each(rows: Tensor, count: int) -> Tensor:
    """(S,) bool, which are the first few of their row."""
    order = rows.argsort(stable=True)
    number = torch.bincount(rows)
    start = (number.cumsum(0) - number)[rows[order]]
    chosen = torch.empty_like(rows, dtype=torch.bool)
    chosen[order] = torch.arange(len(rows)) - start < count
    return chosen


def _gap(greater: Tensor, less: Tensor) -> Tensor:
    return (greater - less).clamp(min=0)
