"""What is left of a run, how it is cut, and in which order rows are told."""

from __future__ import annotations

from verale.runs.run import cut, gaps, in_order
from verale.runs.table import Explained


def told(done: list[range], left: list[int]) -> list[list[int]]:
    """The images whose rows are told after each part that is done."""
    parts: list[list[int]] = []

    def finishing():
        for part in done:
            parts.append([])
            yield [Explained(index) for index in part]

    for row in in_order(finishing(), left):
        parts[-1].append(row.index)
    return parts


def test_rows_are_told_in_order_as_soon_as_all_before_them_are_there() -> None:
    done = [range(2, 4), range(4, 6), range(2), range(6, 7)]
    assert told(done, [*range(7)]) == [[], [], [0, 1, 2, 3, 4, 5], [6]]


def test_what_was_done_before_holds_nothing_up() -> None:
    assert told([range(8, 9), range(2, 4)], [2, 3, 8]) == [[], [2, 3, 8]]


def test_gaps_are_cut_at_whole_batches() -> None:
    assert gaps({*range(8, 16), *range(3)}, 20) == [(3, 8), (16, 20)]
    assert gaps({0}, 1) == []
    assert cut([(3, 8), (16, 20)], 4) == [(3, 4), (4, 8), (16, 20)]
