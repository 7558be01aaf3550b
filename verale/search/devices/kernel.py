"""The kernel: one launch for a batch, one block an image, growth and shrinking inside it."""

from __future__ import annotations

import triton.language as tl

from verale.search.devices.grow import GROWN, grow_statements
from verale.search.devices.jit import part
from verale.search.devices.nearest import all_margins, orient, pool
from verale.search.devices.patch import reset_row
from verale.search.devices.shrink import shrink_statements
from verale.search.devices.tables import Block, ImageTable, WorkTable

__all__ = ["choose_in_blocks"]


@part
def choose_in_blocks(head: tl.tuple, images: tl.tuple, works: tl.tuple, steps: tl.tuple, sizes: tl.constexpr) -> None:
    """Choose statements for the image of this block."""
    number = tl.program_id(0).to(tl.int64)
    image = ImageTable(*_of_image(images, steps[0], number))
    work = WorkTable(*_of_image(works, steps[1], number))
    k = tl.arange(0, sizes.prototypes)
    block = Block(head, image, work, k, k < head.size)
    _begin(block, sizes)
    outcome, count, grown = grow_statements(block, sizes)
    shrunk = tl.full((), 0, tl.int32)
    if outcome == GROWN:
        shrunk = shrink_statements(block, count, sizes)
    tl.store(work.outcome, outcome)
    tl.store(work.outcome + 1, count)
    tl.store(work.outcome + 2, grown)
    tl.store(work.outcome + 3, shrunk)


@part
def _begin(block: tl.tuple, sizes: tl.constexpr) -> None:
    """No statements."""
    head, work, k, inside = block.head, block.work, block.k, block.inside
    for row in range(head.patches + 1):
        reset_row(block, row, sizes)
    lower = tl.load(head.lower + k, mask=inside, other=0.0)
    upper = tl.load(head.upper + k, mask=inside, other=0.0)
    for patch in range(head.patches):
        near, far = orient(block, patch, lower, upper, sizes)
        allowed = tl.load(head.allowed + patch * head.size + k, mask=inside, other=0).to(tl.int32)
        tl.store(work.near + patch * head.size + k, near, mask=inside)
        tl.store(work.far + patch * head.size + k, far, mask=inside)
        tl.store(work.stated + patch * head.size + k, tl.full((sizes.prototypes,), 0, tl.int8), mask=inside)
        tl.store(work.left + patch, tl.sum(allowed, 0))
        tl.store(work.row_of + patch, patch)
        tl.store(work.used + patch, 0)
    tl.debug_barrier()
    pool(block, inside, sizes)
    all_margins(block, sizes)


@part
def _of_image(table: tl.tuple, steps: tl.tuple, number: tl.tensor) -> tl.tuple:
    """A table from where an image begins."""
    moved = table[:0]
    for field in tl.static_range(len(table)):
        moved = moved + (table[field] + number * steps[field],)  # noqa: RUF005, Triton has no other way
    return moved
