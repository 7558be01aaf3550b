"""Statements about the patches of one image, under any paradigm: what one more, or one less, would say.

`Statements` bounds each trial anew; of statements that bound by themselves `Apart` keeps what trials share. All bounds
are rounded outward.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from verale.bounds import Projection, Simplex, SpatialParadigm, Triangle
from verale.bounds.intervals import ranges_of_listed
from verale.rounding import Enclosure
from verale.search.problem import Problem

_ALIKE = 1e-12
"""The same end may be computed with other last bits."""

_ROOM = 4
"""So many more statements a patch have room at first."""


@dataclass(frozen=True, eq=False)
class Trial:
    """Some patches (S,) with one statement more, or one less, each.

    Attributes:
        patches: (S,).
        which: (S,) the prototypes that are stated too, or the places of the statements that are not.
        ranges: (S, P) of their observables.
        state: what else becomes theirs.
    """

    patches: Tensor
    which: Tensor
    ranges: Enclosure
    state: Any = None


class Statements:
    """Statements about L patches.

    Args:
        problem: the image.
        paradigm: how statements bound observables.

    Attributes:
        stated: (L, M) prototypes in the order in which they were stated; any behind these.
        count: (L,) how many there are.
        ranges: (L, P) what they say of the observables.
    """

    def __init__(self, problem: Problem, paradigm: Any) -> None:
        self.paradigm, self.observed = paradigm, problem.observed
        self.stated = torch.zeros(problem.patches, _ROOM, dtype=torch.int64)
        self.count = torch.zeros(problem.patches, dtype=torch.int64)
        self.ranges = self._bounds(torch.arange(problem.patches), self.stated, self.count)

    @property
    def there(self) -> Tensor:
        """(L, M) bool, where there is a statement."""
        return torch.arange(self.stated.shape[1]) < self.count[:, None]

    def begin(self, stated: Tensor, count: Tensor) -> None:
        """State these, and nothing else."""
        self.stated, self.count = pad(stated, (0, _ROOM)), count
        self.ranges = self._bounds(torch.arange(len(count)), self.stated, count)

    def tried(self, patches: Tensor, prototypes: Tensor) -> Trial:
        """What a statement more about some patches would say."""
        count = self.count[patches]
        stated = self.stated[patches, : int(count.max()) + 1].clone()
        stated[torch.arange(len(patches)), count] = prototypes
        return Trial(patches, prototypes, self._bounds(patches, stated, count + 1))

    def add(self, trial: Trial, at: Tensor) -> None:
        """State what was tried, at some places of the trial, of different patches."""
        patches = trial.patches[at]
        if int(self.count.max()) + 1 >= self.stated.shape[1]:
            self.stated = pad(self.stated, (0, self.stated.shape[1]))
        self.stated[patches, self.count[patches]] = trial.which[at]
        self.count[patches] += 1
        self._enter(patches, trial.ranges[at])

    def without(self, patches: Tensor, places: Tensor) -> Trial:
        """What is said of some patches without the statement at a place."""
        return Trial(patches, places, self._bounds(patches, *self._less(patches, places)))

    def delete(self, trial: Trial, count: int) -> None:
        """Withdraw the first few statements of a trial, which are about different patches."""
        patches = trial.patches[:count]
        self.stated[patches], self.count[patches] = self._less(patches, trial.which[:count])
        self._enter(patches, trial.ranges[:count])

    def _enter(self, patches: Tensor, ranges: Enclosure) -> None:
        self.ranges.lower[patches], self.ranges.upper[patches] = ranges.lower, ranges.upper

    def _less(self, patches: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        """The statements about some patches without one each."""
        gone = torch.arange(self.stated.shape[1]) == places[:, None]
        order = gone.long().argsort(dim=1, stable=True)
        return self.stated[patches].gather(1, order), self.count[patches] - 1

    def _bounds(self, patches: Tensor, stated: Tensor, count: Tensor) -> Enclosure:
        """(S, P) what statements (S, M), of which the first few count, say of some patches."""
        if isinstance(self.paradigm, Projection):
            return ranges_of_listed(self.paradigm, stated, count, self.observed[patches])
        if isinstance(self.paradigm, Simplex):
            entered = torch.zeros(len(patches), self.observed.shape[1] + 1, dtype=torch.bool)
            nothing = torch.arange(stated.shape[1]) >= count[:, None]
            entered.scatter_(1, stated.masked_fill(nothing, self.observed.shape[1]), True)
            return self.paradigm.of_masses(entered[:, :-1], self.observed[patches])
        lists = [each[:length] for each, length in zip(stated.tolist(), count.tolist(), strict=True)]
        ranges: Enclosure = self.paradigm.ranges(lists, self.observed[patches])
        return ranges


class Apart(Statements):
    """Statements that bound by themselves; of each patch and prototype, the two tightest ends are kept."""

    def __init__(self, problem: Problem, paradigm: Triangle) -> None:
        super().__init__(problem, paradigm)
        # the two tightest ends, with signs under which greater ones are tighter, and which statement the first is of
        self._first = self._signed(self.ranges)
        self._second = self._first.clone()
        self._by = torch.full_like(self._first, -1, dtype=torch.int64)
        self._domain = self._first[:, :1].clone()

    def begin(self, stated: Tensor, count: Tensor) -> None:
        self._first = self._domain.expand_as(self._first).clone()
        self._second = self._first.clone()
        self._by.fill_(-1)
        self.stated, self.count = torch.zeros_like(self.stated), torch.zeros_like(self.count)
        self._show()
        for place in range(int(count.max())):
            patches = (count > place).nonzero()[:, 0]
            self.add(self.tried(patches, stated[patches, place]), torch.arange(len(patches)))

    def tried(self, patches: Tensor, prototypes: Tensor) -> Trial:
        alone = self.paradigm.alone(prototypes, self.observed[patches, prototypes])
        known = self.ranges
        tighter = torch.maximum(alone.lower, known.lower[patches]), torch.minimum(alone.upper, known.upper[patches])
        return Trial(patches, prototypes, Enclosure.unchecked(*tighter), alone)

    def add(self, trial: Trial, at: Tensor) -> None:
        patches = trial.patches[at]
        new = torch.stack([trial.state.lower[at], -trial.state.upper[at]])
        first, place = self._first[:, patches], self.count[patches][None, :, None]
        self._second[:, patches] = torch.maximum(self._second[:, patches], torch.minimum(first, new))
        self._by[:, patches] = torch.where(new > first, place, self._by[:, patches])
        self._first[:, patches] = torch.maximum(first, new)
        super().add(trial, at)

    def without(self, patches: Tensor, places: Tensor) -> Trial:
        first = self._first[:, patches]
        ends = torch.where(self._by[:, patches] == places[:, None], self._second[:, patches], first)
        return Trial(patches, places, Enclosure.unchecked(ends[0], -ends[1]))

    def delete(self, trial: Trial, count: int) -> None:
        patches, places = trial.patches[:count], trial.which[:count]
        deleted = self.stated[patches, places]
        gone = self._signed(self.paradigm.alone(deleted, self.observed[patches, deleted]))
        super().delete(trial, count)
        by, second = self._by[:, patches], self._second[:, patches]
        was_first = by == places[:, None]
        by -= (by > places[:, None]).long()
        self._by[:, patches], self._first[:, patches] = by, self._signed(trial.ranges[:count])
        # Where it was the first or the second, the two are found anew.
        end, row, prototype = (was_first | (gone >= second - _ALIKE * (1 + second.abs()))).nonzero(as_tuple=True)
        patch, most = patches[row], max(1, int(self.count[patches].max()))
        stated, there = self.stated[patch, :most], self.there[patch, :most]
        given = self.observed[patch[:, None], stated]
        ends = self._signed(self.paradigm.of(stated, given, prototype[:, None].expand_as(stated)))
        values = torch.where(end[:, None] == 0, ends[0], ends[1]).masked_fill_(~there, -torch.inf)
        domain = self._domain[end, 0, prototype]
        first, place = values.max(1)
        rest = values.scatter_(1, place[:, None], -torch.inf).amax(1)
        where = end, patch, prototype
        self._by[where] = torch.where(first > domain, place, -1)
        self._first[where], self._second[where] = torch.maximum(first, domain), torch.maximum(rest, domain)
        self._show()

    def _show(self) -> None:
        self.ranges = Enclosure.unchecked(self._first[0], -self._first[1])

    def _signed(self, ranges: Enclosure) -> Tensor:
        """Ends of which the greater is the tighter."""
        return torch.stack([ranges.lower, -ranges.upper])


def statements_of(problem: Problem, paradigm: SpatialParadigm) -> Statements:
    """None yet, about the only image."""
    return Apart(problem, paradigm) if isinstance(paradigm, Triangle) else Statements(problem, paradigm)
