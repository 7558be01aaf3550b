"""Evidence: prototypes of the class are active at least so much, and all others together take back at most so much."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import combinations
from typing import cast

import torch
from torch import Tensor

from verale.bounds import LinearMargins, activation_range
from verale.certificate import ActivationStatement, Statement, SumStatement
from verale.errors import UsageError
from verale.head import Head, Linear
from verale.head.evaluation import belonging
from verale.rounding import Enclosure
from verale.search.activations import ActivationExplanation
from verale.search.digits import FEW_DIGITS, fewest_digits, in_digits, least_unit
from verale.search.linked import Linked
from verale.search.options import SearchOptions
from verale.search.paradigms.of_activations import OfActivationsAlone
from verale.search.problem import Problem, UnexplainedError
from verale.search.prove import UNSETTLED

__all__ = ["EvidenceSearch"]

_AT_ONCE = 2**12
"""Sets of prototypes that are tried together; where there are more of one size, prototypes are added one by one."""


class EvidenceSearch(OfActivationsAlone):
    """The fewest prototypes of the predicted class whose activations, and one sum, entail it.

    A weight of such a prototype is greatest for the class, so only the lower end of its activation counts. Where
    activations bound those of neighbouring prototypes (`Linked`), one statement speaks for several.
    """

    name = "evidence"
    priced = None

    def __init__(self, head: Head, patches: int, options: SearchOptions) -> None:
        super().__init__(head, patches, options)
        self._linked: Linked = Linked(head, patches)
        self._range, self._least_unit = activation_range(head, patches), least_unit(head)

    @classmethod
    def require(cls, head: Head, patches: int) -> None:
        """See `ParadigmSearch`."""
        super().require(head, patches)
        if not isinstance(head.readout, Linear):
            raise UsageError(f"paradigm {cls.name!r} needs a linear readout: it states a sum of weighted activations")

    def explain(self, problem: Problem, most: float) -> ActivationExplanation:
        """See `OfActivations`."""
        stated, margins = problem.stated_activations(), _linear(problem)
        own, observed = belonging(self.head, margins.predicted)[0], stated[0]
        taken = margins.taken_back(stated, own[None])[0]
        candidates = (own & problem.prototypes_left & (observed.lower > self._range.lower)).nonzero()[:, 0]
        table = self._table(observed, candidates, own)
        gains, need = self._programme(margins, own)
        sums = _sums(problem, taken, [])
        chosen = _fewest(table, gains, need + _allowed(sums, taken))
        if chosen is None:
            # What others give the class that they favour most may be too much for one that is closer: it is named.
            ahead = table.amax(0) @ gains if len(table) else torch.zeros_like(need)
            close = (ahead <= need + _allowed(sums, taken)).nonzero()[:, 0].tolist()
            sums = _sums(problem, taken, close)
            chosen = _fewest(table, gains, need + _allowed(sums, taken))
        if chosen is None:
            raise UnexplainedError("the class stays open though all of its prototypes are stated")
        lower = observed.lower.tolist()
        shown = [ActivationStatement(j, lower[j], math.inf) for j in candidates[chosen].tolist()]
        shown.sort(key=lambda each: -float(gains[each.prototype].amax()) * each.lower)
        return self._shortest(problem, [*shown, *sums])

    def _shortest(self, problem: Problem, statements: list[Statement]) -> ActivationExplanation:
        """The statements in as few digits as prove the class."""
        prove = partial(self.prove, problem)
        digits = range(1, FEW_DIGITS if problem.tolerance else 1)
        short = fewest_digits(statements, digits, prove, self._least_unit)
        shown, margins = short or (statements, prove(statements))
        if not bool((margins > 0).all()):
            raise UnexplainedError(UNSETTLED)
        return ActivationExplanation(shown, margins, False)

    def _table(self, observed: Enclosure, candidates: Tensor, own: Tensor) -> Tensor:
        """(S, P) the lower ends that a statement about each of S candidates gives."""
        stated = torch.zeros_like(own)
        stated[candidates] = True
        return self._linked.rows(Enclosure(observed.lower, self._range.upper), stated).lower

    def _programme(self, margins: LinearMargins, own: Tensor) -> tuple[Tensor, Tensor]:
        """(P, C) what a unit of each activation gives against each rival, of the class's own prototypes; and (C,) what
        all have to give together, besides what a sum allows others to take back."""
        gains = margins.positive[0] * own[:, None]
        need = margins.error[0] - margins.bias[0]
        return gains, need.nan_to_num(neginf=-math.inf)


def _linear(problem: Problem) -> LinearMargins:
    """Its margins: the paradigm needs a linear readout, which has no others."""
    return cast(LinearMargins, problem.margins)


def _sums(problem: Problem, taken: Tensor, close: list[int]) -> list[SumStatement]:
    """One sum about all rivals, and one about close ones if there are any; `taken` (C,) is what others take back."""
    rivals = [(None, taken), *([(tuple(close), taken[close])] if close else [])]
    sums: list[Statement] = [SumStatement(about, max(0.0, float(each.amax()))) for about, each in rivals]
    if problem.tolerance:
        sums = in_digits(sums, FEW_DIGITS, 0.0)
    return [each for each in sums if isinstance(each, SumStatement)]


def _allowed(sums: Sequence[SumStatement], taken: Tensor) -> Tensor:
    """(C,) the most that sums allow others to take back for each rival."""
    allowed = torch.full_like(taken, math.inf)
    for each in sums:
        about = slice(None) if each.rivals is None else list(each.rivals)
        allowed[about] = allowed[about].clamp(max=each.upper)
    return allowed


def _fewest(table: Tensor, gains: Tensor, need: Tensor) -> Tensor | None:
    """The fewest rows of a table (S, P) whose greatest entries give each rival's need; of these the set that leaves
    most. None where all rows together do not."""
    count = len(table)
    if not count or not bool(_left(table.amax(0, keepdim=True), gains, need) > 0):
        return None
    for size in range(1, count + 1):
        if math.comb(count, size) > _AT_ONCE:
            return _dropped(table, gains, need, _added(table, gains, need))
        sets = torch.tensor(list(combinations(range(count), size)))
        left = torch.cat([_left(table[part].amax(1), gains, need) for part in torch.split(sets, _rows_at_once(table))])
        best = int(left.argmax())
        if left[best] > 0:
            return sets[best]
    return None


def _left(ends: Tensor, gains: Tensor, need: Tensor) -> Tensor:
    """(B,) the least that lower ends (B, P) leave over all needs."""
    return (ends @ gains - need).amin(1)


def _rows_at_once(table: Tensor) -> int:
    """Of sets, as many as take some 64 MiB."""
    return max(1, 2**23 // max(1, table.numel()))


def _added(table: Tensor, gains: Tensor, need: Tensor) -> list[int]:
    """Rows, each chosen as it leaves the least shortfall, until none is left."""
    chosen: list[int] = []
    ends = torch.full_like(table[0], -math.inf)
    while True:
        tried = torch.maximum(table, ends)
        over = tried @ gains - need
        short = over.clamp(max=0).nan_to_num(posinf=0.0).sum(1) + 1e-9 * over.amin(1)
        short[chosen] = -math.inf
        best = int(short.argmax())
        chosen.append(best)
        ends = tried[best]
        if over[best].amin() > 0 or len(chosen) == len(table):
            return chosen


def _dropped(table: Tensor, gains: Tensor, need: Tensor, chosen: list[int]) -> Tensor:
    """The rows without those that are not needed, the last chosen first."""
    for row in reversed(chosen):
        others = [each for each in chosen if each != row]
        if others and bool(_left(table[others].amax(0, keepdim=True), gains, need) > 0):
            chosen = others
    return torch.tensor(chosen)
