"""Evidence: prototypes of the class are active at least so much, and all others together take back at most so much.

A batch of images is searched together: each step is a few operations on (images, sets or statements, prototypes).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import cast

import numpy as np
import torch
from torch import Tensor

from verale.bounds import LinearMargins, activation_range
from verale.certificate import ActivationStatement, Prices, Statement, SumStatement
from verale.errors import UsageError
from verale.head import Head, Linear
from verale.head.head import belonging
from verale.rounding import Enclosure, down
from verale.search.digits import (
    FEW_DIGITS,
    FEWEST_DIGITS,
    MOST_DIGITS,
    Tolerance,
    in_digits,
    margins_in_digits,
)
from verale.search.options import SearchOptions
from verale.search.paradigms.of_activations import OfActivations
from verale.search.problem import Explanation, NoExplanation, Problem, Solution, shortened
from verale.search.prove import UNSETTLED

_AT_ONCE = 2**12
"""Sets of prototypes that are tried together; where there are more of one size, prototypes are added one by one."""
_ENTRIES = 2**17
"""So many margins of an image's sets are computed at once."""
_TURNS = 4
"""Only once in so many rounds is it asked whether all images are done: on a GPU the question costs a pause."""

_OPEN = NoExplanation("the class stays open though all of its prototypes are stated")


class EvidenceSearch(OfActivations):
    """The fewest prototypes of the predicted class whose activations, and one sum, entail it.

    A weight of such a prototype is greatest for the class, so only the lower end of its activation counts. Where
    activations bound those of neighbouring prototypes (`Linked`), one statement speaks for several.
    """

    name = "evidence"

    def __init__(self, head: Head, patches: int, options: SearchOptions) -> None:
        super().__init__(head, patches, options)
        self._range = activation_range(head, patches)
        belong = belonging(head, torch.arange(head.classes))
        self._most = int(belong.sum(1).max())
        self._members = (~belong).long().argsort(dim=1, stable=True)[:, : self._most]
        self._belong = belong.gather(1, self._members)
        # All sets of so many of M prototypes, the smaller ones first, as long as there are not too many: (S, M);
        # the sets of one less without the last prototype of each; and that prototype.
        self._sets: list[tuple[Tensor, Tensor, Tensor]] = []
        before: dict[tuple[int, ...], int] = {(): 0}
        for size in range(1, self._most + 1):
            if math.comb(self._most, size) > _AT_ONCE:
                break
            sets = list(combinations(range(self._most), size))
            chosen = torch.zeros(len(sets), self._most, dtype=torch.bool).scatter_(1, torch.tensor(sets), True)
            shorter = torch.tensor([before[each[:-1]] for each in sets])
            self._sets.append((chosen, shorter, torch.tensor([each[-1] for each in sets])))
            before = {each: at for at, each in enumerate(sets)}

    @classmethod
    def require(cls, head: Head, patches: int) -> None:
        super().require(head, patches)
        if not isinstance(head.readout, Linear):
            raise UsageError(f"paradigm {cls.name!r} needs a linear readout: it states a sum of weighted activations")

    @property
    def is_alone(self) -> bool:
        return False

    @property
    def bytes_per_patch(self) -> int:
        """See `ParadigmSearch`: what each prototype of a class says of all prototypes, shared among patches."""
        return 16 * self._most * self.head.size // self.patches

    def propose(self, problem: Problem, most: list[float]) -> list[Solution]:
        """See `ParadigmSearch`: in short numbers at once, and in exact ones where these leave the class open."""
        solutions: list[Solution] = [_OPEN] * len(problem)
        tried = [problem.stated_activations()]
        if self.options.digits == FEWEST_DIGITS and not problem.tolerance:
            tried.insert(0, Tolerance(digits=FEW_DIGITS).widened(problem.activations))
        for observed in tried:
            left = [image for image, solution in enumerate(solutions) if isinstance(solution, NoExplanation)]
            if left:
                is_short = bool(problem.tolerance) or observed is not tried[-1]
                found = self._search(problem.take(left), observed[problem.index(left)], is_short)
                for image, solution in zip(left, found, strict=True):
                    solutions[image] = solution
        return solutions

    def prove(self, problem: Problem, statements: Sequence[Statement], prices: Sequence[Prices] = ()) -> Tensor:
        return self._proved_of(problem, [[statements]])[0, 0]

    def in_short_numbers(
        self, problem: Problem, solutions: Sequence[Explanation], digits: int | str, least: float
    ) -> list[Explanation | None]:
        """See `ParadigmSearch`: all numbers of digits are tried together."""
        tried = [range(1, FEW_DIGITS + 1), range(FEW_DIGITS + 1, MOST_DIGITS + 1)]
        if digits != FEWEST_DIGITS:
            tried = [range(int(digits), int(digits) + 1)]
        short: list[Explanation | None] = [None] * len(solutions)
        for numbers in tried:
            left = [image for image, solution in enumerate(short) if solution is None]
            if not left:
                break
            wide = [[in_digits(solutions[image].statements, number, least) for number in numbers] for image in left]
            margins = self._proved_of(problem.take(left), wide)
            for image, versions, proved in zip(left, wide, margins, strict=True):
                place = next((at for at, least in enumerate(proved.amin(1).tolist()) if least > 0), None)
                if place is not None:
                    short[image] = replace(
                        solutions[image], statements=versions[place], margins=margins_in_digits(proved[place])
                    )
        if digits != FEWEST_DIGITS:
            return short
        return [new or old for new, old in zip(short, solutions, strict=True)]

    def _search(self, problem: Problem, observed: Enclosure, is_short: bool) -> list[Solution]:
        """Solutions whose statements give the ends `observed` (N, P); sums are told in few digits or in exact ones."""
        case = self._case(problem)
        floors = observed.lower.gather(1, case.members)
        left = problem.prototypes_left & (observed.lower > self._range.lower)
        may = case.are & left.gather(1, case.members)
        rows = self.links().floors(floors.where(may, -math.inf), case.members)
        table = rows.gather(2, case.members[:, None].expand(-1, self._most, -1))
        need = (case.margins.error - case.margins.bias).nan_to_num(neginf=-math.inf)
        taken = case.margins.taken_back(observed, belonging(self.head, case.margins.predicted))

        def told(upper: Tensor) -> Tensor:  # what sums are at most, at least 0
            upper = upper.clamp(min=0)
            whole = Enclosure.unchecked(upper, upper)
            return Tolerance(digits=FEW_DIGITS).widened(whole).upper if is_short else upper

        of_all = told(taken.amax(1, keepdim=True))
        ahead = (table.masked_fill(~may[:, :, None], -math.inf).amax(1)[:, None] @ case.own.positive)[:, 0]
        # What others give the class that they favour most may be too much for one that is closer: it is named.
        close = ~(ahead > need + of_all) & (need > -math.inf)
        of_close = told(taken.masked_fill(~close, -math.inf).amax(1, keepdim=True))
        some = close.any(1, keepdim=True)
        sums = _Sums(torch.cat([of_all, of_close], 1), torch.cat([torch.ones_like(some), some], 1), close)
        need = need + sums.allowed
        possible = (ahead > need).all(1)
        stated = self._fewest(table, may, case.own.positive, need, possible)
        sums = case.without_needless_sums(_met(rows, stated, self._range.lower), sums)
        stated, without = case.without_needless(rows, stated, sums)
        box = _met(rows, stated, self._range.lower)[:, None]
        proved = case.proved(box, sums.allowed[:, None])
        fewer = torch.stack([sums.without(at).allowed for at in range(2)], 1)
        spared = self.links().may_be_proved(case.margins, torch.cat([without, case.proved(box, fewer)], 1))
        needed = (~(spared & torch.cat([stated, sums.there], 1)).any(1)).tolist()
        order = (
            (case.own.positive.amax(2) * floors).where(stated, -math.inf).argsort(dim=1, descending=True, stable=True)
        )
        members, ends = case.members.gather(1, order).tolist(), floors.gather(1, order).tolist()
        counts, possibly = stated.sum(1).tolist(), possible.tolist()
        solutions: list[Solution] = []
        for image, (of_sums, margins) in enumerate(zip(sums.statements(), proved[:, 0].cpu(), strict=True)):
            if not possibly[image] or not bool((margins > 0).all()):
                solutions.append(UNSETTLED if possibly[image] else _OPEN)
                continue
            own = list(zip(members[image], ends[image], strict=True))[: counts[image]]
            shown = [ActivationStatement(j, low, math.inf) for j, low in own]
            solutions.append(Explanation([*shown, *of_sums], shortened(margins), needed[image]))
        return solutions

    def _fewest(self, table: Tensor, may: Tensor, gains: Tensor, need: Tensor, possible: Tensor) -> Tensor:
        """(N, M) bool: of each image the fewest rows of its table (N, M, M) whose greatest entries give each rival's
        need, and of these sets the one that leaves most. None where all rows together do not.

        Args:
            may: (N, M) bool, the rows.
            gains: (N, M, C) what a unit of each entry gives against each rival.
            need: (N, C).
            possible: (N,) bool, whether all rows together do.
        """
        stated, open_ = torch.zeros_like(may), possible
        ends, usable = table, may
        for size, (sets, shorter, last) in enumerate(self._sets, start=1):
            if size > 1:
                ends = torch.maximum(ends[:, shorter], table[:, last])
                usable = usable[:, shorter] & may[:, last]
            parts = torch.split(ends, max(1, _ENTRIES // need.shape[1]), 1)
            left = torch.cat([_over(part, gains, need).amin(2) for part in parts], 1).masked_fill(~usable, -math.inf)
            most, at = left.max(1)
            found = open_ & (most > 0)
            stated, open_ = torch.where(found[:, None], sets[at], stated), open_ & ~found
            if not bool(open_.any()):
                return stated
        # For images that are open: rows, each chosen as it leaves the least shortfall, until none is left.
        ends = torch.full_like(table[:, :1], -math.inf)
        for turn in range(self._most):
            if turn % _TURNS == 0 and not bool(open_.any()):
                break
            tried = torch.maximum(table, ends)
            over = _over(tried, gains, need)
            short = over.clamp(max=0).sum(2) + 1e-9 * over.amin(2)
            best = short.masked_fill(~may | stated, -math.inf).argmax(1)[:, None, None]
            stated = stated | (may & open_[:, None]).logical_and(torch.arange(self._most) == best[:, :, 0])
            ends = torch.take_along_dim(tried, best, 1)
            open_ = open_ & ~(torch.take_along_dim(over, best, 1)[:, 0] > 0).all(1)
        return stated

    def _case(self, problem: Problem) -> _Case:
        margins = cast(LinearMargins, problem.margins)  # `require` takes no other readout
        members, are = self._members[margins.predicted], self._belong[margins.predicted]
        own = margins.positive.gather(1, members[:, :, None].expand(-1, -1, self.head.classes)) * are[:, :, None]
        return _Case(margins, replace(margins, positive=own, negative=torch.zeros_like(own)), members, are, self._range)

    def _proved_of(self, problem: Problem, versions: Sequence[Sequence[Sequence[Statement]]]) -> Tensor:
        """(N, B, C) margins that B versions of the statements about each of N images prove.

        Soundness: each statement counts by itself, with its lower end alone; see `_Case.proved`.
        """
        count, every = len(versions[0]), [some for one in versions for some in one]
        shown = [[each for each in some if isinstance(each, ActivationStatement)] for some in every]
        most = max(self._most, *map(len, shown))
        named = [[*(each.prototype for each in some), *[0] * (most - len(some))] for some in shown]
        floors = [[*(each.lower for each in some), *[-math.inf] * (most - len(some))] for some in shown]
        allowed = np.full((len(every), self.head.classes), np.inf)
        for row, some in zip(allowed, every, strict=True):
            for each in some:
                if isinstance(each, SumStatement):
                    about = slice(None) if each.rivals is None else list(each.rivals)
                    row[about] = row[about].clip(max=each.upper)
        box = self.links().floors(torch.tensor(floors, dtype=torch.float64), torch.tensor(named)).amax(1)
        shape = len(problem), count, -1
        return self._case(problem).proved(box.view(shape), torch.tensor(allowed).view(shape))


@dataclass(frozen=True, eq=False)
class _Sums:
    """The sums that are stated of N images: of all rivals, and of some that are close.

    Attributes:
        upper: (N, 2).
        there: (N, 2) bool.
        close: (N, C) bool.
    """

    upper: Tensor
    there: Tensor
    close: Tensor

    def without(self, at: int) -> _Sums:
        """Without one of the two."""
        there = self.there.clone()
        there[:, at] = False
        return replace(self, there=there)

    @property
    def allowed(self) -> Tensor:
        """(N, C) the most that sums allow others to take back for each rival."""
        upper = self.upper.where(self.there, math.inf)
        return torch.minimum(upper[:, :1], upper[:, 1:].where(self.close, math.inf))

    def statements(self) -> list[list[SumStatement]]:
        """Those of each image."""
        told: list[list[SumStatement]] = []
        for upper, there, close in zip(self.upper.tolist(), self.there.tolist(), self.close.cpu(), strict=True):
            every, some = (None, upper[0]), (tuple(close.nonzero()[:, 0].tolist()), upper[1])
            told.append([SumStatement(*each) for each, is_there in zip((every, some), there, strict=True) if is_there])
        return told


@dataclass(frozen=True, eq=False)
class _Case:
    """What N images are to be explained for.

    Attributes:
        margins: against all rivals.
        own: the same of the M prototypes of each image's class alone; padded.
        members: (N, M) which these are.
        are: (N, M) bool, which are no padding.
        range: (P,) of the activations.
    """

    margins: LinearMargins
    own: LinearMargins
    members: Tensor
    are: Tensor
    range: Enclosure

    def proved(self, lower: Tensor, allowed: Tensor) -> Tensor:
        """(N, B, C) lower bounds of the margins, given lower ends (N, B, P) of the activations, and what sums allow
        others to take back (N, B, C).

        Soundness: the difference of two logits is what the prototypes of the class give, at least the first term, less
        what all others take back, which a sum bounds; and it is what all give. The greater bound counts. No weight of
        the class's own prototypes is greater for a rival, so their upper ends say nothing.
        """
        whole = self.margins.lower(Enclosure.unchecked(lower, self.range.upper.expand_as(lower)))
        ends = lower.gather(2, self.members[:, None].expand(-1, lower.shape[1], -1)).where(self.are[:, None], 0.0)
        alone = self.own.lower(Enclosure.unchecked(ends, ends))
        return torch.fmax(whole, down(alone - allowed))  # fmax: of the class itself both may be infinite

    def without_needless_sums(self, lower: Tensor, sums: _Sums) -> _Sums:
        """The sums without those that lower ends (N, P) make needless."""
        for at in range(2):
            fewer = sums.without(at)
            needless = (self.proved(lower[:, None], fewer.allowed[:, None]) > 0).all(2)
            sums = replace(sums, there=torch.where(needless, fewer.there, sums.there))
        return sums

    def without_needless(self, rows: Tensor, stated: Tensor, sums: _Sums) -> tuple[Tensor, Tensor]:
        """The statements (N, M) bool without those that the others make needless: one by one, that without which the
        least margin stays greatest; and the margins (N, M, C) without each alone.

        Args:
            rows: (N, M, P) the lower ends that follow from each.
            stated: (N, M) bool.
            sums: what else is stated.
        """
        while True:
            kept = rows.where(stated[:, :, None], self.range.lower)
            greatest, at = kept.max(1, keepdim=True)
            others = kept.scatter(1, at, self.range.lower.expand_as(greatest)).amax(1, keepdim=True)
            alone = torch.where(torch.arange(kept.shape[1])[:, None] == at, others, greatest)
            without = self.proved(alone, sums.allowed[:, None])
            least, first = without.amin(2).masked_fill(~stated, -math.inf).max(1)
            needless = (least > 0)[:, None] & (torch.arange(kept.shape[1]) == first[:, None])
            if not bool(needless.any()):
                return stated, without
            stated = stated & ~needless


def _met(rows: Tensor, stated: Tensor, everywhere: Tensor) -> Tensor:
    """(N, P) the greatest of the rows (N, M, P) that are stated (N, M), and of `everywhere` (P,)."""
    return rows.where(stated[:, :, None], everywhere).amax(1)


def _over(ends: Tensor, gains: Tensor, need: Tensor) -> Tensor:
    """(N, B, C) what ends (N, B, M) give beyond each rival's need."""
    return (ends @ gains - need[:, None]).nan_to_num(-math.inf, math.inf, -math.inf)
