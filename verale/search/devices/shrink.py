"""Shrinking in a block: the statement whose deletion leaves most goes first; see `verale.search.compiled.shrink`."""

from __future__ import annotations

import triton.language as tl

from verale.search.devices.jit import part
from verale.search.devices.nearest import replace_patch, try_margins
from verale.search.devices.patch import rank_one_step_of, row_without, take_step, try_deleting, try_ranges

__all__ = ["shrink_statements"]


@part
def shrink_statements(block: tl.tuple, count: tl.tensor, sizes: tl.constexpr) -> tl.tensor:
    """Mark the statements to keep; returns how many steps were tried."""
    head, image, work = block.head, block.image, block.work
    guard = tl.load(head.numbers + 3)
    s, c = tl.arange(0, sizes.statements), tl.arange(0, sizes.classes)
    listed = s < count
    tl.store(work.without + s, tl.full((sizes.statements,), float("inf"), tl.float64), mask=listed)
    tl.store(work.undecided + s, 1, mask=listed)
    tl.store(work.kept + s, 1, mask=listed)
    tl.debug_barrier()
    pairs = tl.load(work.statements + s, mask=listed, other=0)
    first = tl.load(image.early + pairs, mask=listed, other=0) != 0
    spare = head.patches + tl.full((), 0, tl.int32)
    next_, tried, remaining = tl.full((), 0, tl.int32), tl.full((), 0, tl.int32), count
    while remaining > 0:
        without = tl.load(work.without + s, mask=listed, other=float("-inf"))
        undecided = tl.load(work.undecided + s, mask=listed, other=0) != 0
        all_tried = next_ == count
        index = tl.where(all_tried, _greatest(without, undecided, first), next_)
        next_ = tl.where(all_tried, next_, next_ + 1)
        pair = tl.load(work.statements + index)
        patch, prototype = pair // head.size, pair % head.size
        row = tl.load(work.row_of + patch)
        slot = rank_one_step_of(block, row, prototype, sizes)
        if slot >= 0:
            try_deleting(block, row, slot, 0, sizes)
        else:
            row_without(block, spare, patch, prototype, sizes)
        try_ranges(block, patch, 0, -1, prototype, sizes)
        try_margins(block, patch, 0, sizes)
        tried += 1
        margins = tl.load(work.step_margins + c, mask=c < head.classes, other=float("inf"))
        least = tl.min(margins, 0)
        without = tl.where(s == index, least, without)
        needed = ~(least > guard)
        deleted = ~needed & all_tried & (_greatest(without, undecided, first) == index)
        tl.store(work.without + index, least)
        if needed | deleted:
            tl.store(work.undecided + index, 0)
            remaining -= 1
        if deleted:
            tl.store(work.kept + index, 0)
            tl.store(work.margins + c, margins, mask=c < head.classes)
            tl.store(work.stated + pair, 0)
            if slot >= 0:
                take_step(block, row, prototype, slot, 0, sizes)
            else:
                tl.store(work.row_of + patch, spare)
                spare = row
            replace_patch(block, patch, 0, sizes)
        tl.debug_barrier()
    return tried


@part
def _greatest(without: tl.tensor, undecided: tl.tensor, first: tl.tensor) -> tl.tensor:
    """The undecided statement without which most is left; of those that go first, if any."""
    early = undecided & first
    among = tl.where(tl.max(early.to(tl.int32), 0) > 0, early, undecided)
    return tl.argmax(tl.where(among, without, float("-inf")), 0)
