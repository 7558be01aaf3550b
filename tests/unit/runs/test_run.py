"""Parts of a run: what is left, how it is cut, and in which order it is told."""

from __future__ import annotations

from verale.runs.run import Finished, cut, gaps, in_order


def told(done: list[tuple[int, int]], left: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """The parts that are told after each part that is done."""
    parts: list[list[tuple[int, int]]] = []

    def finishing():
        for part in done:
            parts.append([])
            yield Finished(*part, None)

    for part in in_order(finishing(), left):
        parts[-1].append((part.start, part.stop))
    return parts


def test_parts_are_told_in_order_as_soon_as_all_before_them_are_there() -> None:
    assert told([(2, 4), (4, 6), (0, 2), (6, 7)], [(0, 7)]) == [[], [], [(0, 2), (2, 4), (4, 6)], [(6, 7)]]


def test_what_was_done_before_holds_nothing_up() -> None:
    assert told([(8, 9), (2, 4)], [(2, 4), (8, 9)]) == [[], [(2, 4), (8, 9)]]


def test_a_part_that_was_split_is_told_in_its_pieces() -> None:
    """Another split may be done before the first piece."""
    assert told([(1, 2), (2, 4), (0, 1)], [(0, 4)]) == [[], [], [(0, 1), (1, 2), (2, 4)]]


def test_gaps_are_cut_at_whole_batches() -> None:
    assert gaps([(8, 16), (0, 3)], 20) == [(3, 8), (16, 20)]
    assert cut([(3, 8), (16, 20)], 4) == [(3, 4), (4, 8), (16, 20)]
