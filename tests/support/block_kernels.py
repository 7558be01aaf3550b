"""Kernels of the tests; imported only where they are interpreted."""

from __future__ import annotations

import triton.language as tl

from verale.search.devices.jit import part
from verale.search.devices.patch import (
    rank_one_step_of,
    reset_row,
    row_without,
    take_step,
    try_adding,
    try_deleting,
    try_ranges,
)
from verale.search.devices.tables import Block

__all__ = ["enter_and_delete", "read_too_early", "write_too_early", "write_twice"]


@part
def enter_and_delete(
    head: tl.tuple, image: tl.tuple, work: tl.tuple, prototypes: tl.tensor, count: tl.tensor, deleted: tl.tensor,
    found: tl.tensor, sizes: tl.constexpr,
) -> None:  # fmt: skip
    """State prototypes about patch 0; delete one of them, by a step if it can be (1) and by building again (0)."""
    k = tl.arange(0, sizes.prototypes)
    block = Block(head, image, work, k, k < head.size)
    reset_row(block, 0, sizes)
    for index in range(count):
        prototype = tl.load(prototypes + index)
        try_adding(block, 0, 0, prototype, 0, sizes)
        take_step(block, 0, prototype, 0, 0, sizes)
        tl.store(work.stated + prototype, 1)
    tl.debug_barrier()
    slot = rank_one_step_of(block, 0, deleted, sizes)
    tl.store(found, slot)
    row_without(block, head.patches, 0, deleted, sizes)
    try_ranges(block, 0, 0, -1, deleted, sizes)
    if slot >= 0:
        try_deleting(block, 0, slot, 1, sizes)
        try_ranges(block, 0, 1, -1, deleted, sizes)


@part
def read_too_early(numbers: tl.tensor) -> None:
    k = tl.arange(0, 8)
    tl.store(numbers + k, k.to(tl.float32))
    tl.store(numbers + k, tl.load(numbers + 7 - k))


@part
def write_too_early(numbers: tl.tensor) -> None:
    k = tl.arange(0, 8)
    reverse = tl.load(numbers + 7 - k)
    tl.store(numbers + k, reverse)


@part
def write_twice(numbers: tl.tensor) -> None:
    k = tl.arange(0, 8)
    tl.store(numbers + k, k.to(tl.float32))
    tl.store(numbers + 7 - k, k.to(tl.float32))
