"""A run: what is asked of many images, the store that has the results, and the workers that do what is left.

Whether the workers are processes of this machine or of a Ray cluster: what is done is taken over, what is left is cut
into parts, and parts are told in the images' order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Generic, TypeVar

from verale.runs.table import Explained

if TYPE_CHECKING:
    from verale.runs.store import RunFolder

__all__ = ["ExplainRun", "Finished", "Range", "cut", "gaps", "in_order"]

Range = tuple[int, int]
"""Rows, or images: from the first up to, but not including, the second."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Finished(Generic[Result]):
    """A part that needs no more work: its results are in the store.

    Attributes:
        start, stop: its rows.
        result: what came of them.
    """

    start: int
    stop: int
    result: Result


@dataclass(frozen=True, eq=False)
class ExplainRun:
    """A run over `total` images. Iterating over it explains those that are left, and gives their rows.

    Rows come in the images' order, each once it and those before it are in the store.

    Attributes:
        store: what has the results.
        total: how many images there are.
        work: explains ranges of images, part by part, in any order; the rows of a part are in the store.
        compared: whether the head's file says that its logits were compared with the network's.
    """

    store: RunFolder
    total: int
    work: Callable[[list[Range]], Iterator[Finished[list[Explained]]]]
    compared: bool = True

    @property
    def done(self) -> int:
        """How many images are explained."""
        return sum(stop - start for start, stop in self.store.done)

    @property
    def rows(self) -> list[Explained]:
        """The rows of images that are explained, in the images' order."""
        return list(self.store.rows())

    def parts(self) -> Iterator[Finished[list[Explained]]]:
        """The same in parts."""
        left = gaps(self.store.done, self.total)
        yield from in_order(self.work(left), left)
        self.store.finish(self.total)

    def __iter__(self) -> Iterator[Explained]:
        for part in self.parts():
            yield from part.result


def gaps(ranges: Iterable[Range], total: int) -> list[Range]:
    """The ranges of [0, total) that no range covers."""
    uncovered, reached = [], 0
    for start, stop in sorted(ranges):
        if start > reached:
            uncovered.append((reached, start))
        reached = max(reached, stop)
    return [*uncovered, (reached, total)] if reached < total else uncovered


def cut(ranges: Iterable[Range], step: int) -> list[Range]:
    """Parts of ranges, cut at the multiples of a step."""
    parts: list[Range] = []
    for start, stop in ranges:
        parts += pairwise([start, *range((start // step + 1) * step, stop, step), stop])
    return parts


def in_order(parts: Iterable[Finished[Result]], left: Iterable[Range]) -> Iterator[Finished[Result]]:
    """Parts of what is left in the order of their rows, each as soon as all before it are there."""
    todo, waiting = deque(left), dict[int, Finished[Result]]()
    for part in parts:
        waiting[part.start] = part
        while todo and todo[0][0] in waiting:
            start, stop = todo.popleft()
            first = waiting.pop(start)
            if first.stop < stop:
                todo.appendleft((first.stop, stop))
            yield first
