"""Statements about patches beside others: those that the others make superfluous are dropped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy

from torch import Tensor

from verale.bounds import Projection, pooling_of
from verale.certificate import Statement
from verale.rounding import Enclosure
from verale.search.at_once import range_without, ranges_from_scratch, ranges_without_each
from verale.search.problem import Pair, Problem
from verale.search.stated import statements_about

__all__ = ["Patches"]


class Patches:
    """Statements about patches of the only image of a problem.

    Attributes:
        pairs: the statements.
        box: (P,) ranges of the activations, given these alone.
    """

    def __init__(self, problem: Problem, projection: Projection, pairs: Sequence[Pair]) -> None:
        self._problem, self._projection, self.pairs = problem, projection, list(pairs)
        self._ranges = ranges_from_scratch(problem, projection, [self.pairs])
        self.box = pooling_of(problem.head).box(self._ranges)

    def copy(self) -> Patches:
        """The same statements, to be dropped from."""
        return copy(self)

    @property
    def statements(self) -> list[Statement]:
        """The statements themselves."""
        return statements_about(self._problem, self.pairs)

    def drop(self, order: Sequence[Pair], proves: Callable[[Enclosure], Tensor]) -> None:
        """Drop each pair in turn if what is left proves the class; once.

        Args:
            order: all pairs.
            proves: for boxes (S, P) of activations that pairs leave, whether the class follows (S,).
        """
        if not self.pairs:
            return
        self.pairs = self.pairs.copy()
        pooled = pooling_of(self._problem.head).dropping(self._ranges)
        pairs, ranges = ranges_without_each(self._problem, self._projection, self._problem.by_patch([self.pairs]))
        alone = {pair: ranges[index : index + 1] for index, pair in enumerate(pairs)}
        boxes = pooled.alone(self._problem.index([patch for patch, _ in pairs]), ranges)
        may = {pair for pair, proved in zip(pairs, proves(boxes).tolist(), strict=True) if proved}
        changed: set[int] = set()
        for pair in order:
            if pair not in may:  # with fewer of the others it is needed, too
                continue
            without = alone[pair]
            if pair[0] in changed:
                without = range_without(self._problem, self._projection, self.pairs, pair)
            where = self._problem.index([pair[0]])
            box = pooled.alone(where, without)
            if bool(proves(box)):
                pooled.replace(where, without)
                self.pairs.remove(pair)
                self.box = box[0]
                changed.add(pair[0])
