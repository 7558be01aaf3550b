r"""One patch in a block: what one statement more, or one less, makes of it.

Let b_j be the anchors of a patch relative to its base, K their Gram matrix, o_j = <b_j, z - base>. Both ways a step is
a vector s = sum_j u_j b_j and a number f, and with p_k = <s, b_k> and t = <s, z - base>

    along_k  gains  f t p_k,    across_k  loses  f p_k^2,    |foot|^2  gains  f t^2,    K^-1  gains  f u u^T.

To enter an anchor n, s is what the others leave of b_n: u = (-K^-1 k, 1) where k_j = <b_j, b_n>, and f = 1 / across_n.
To delete anchor q, u is the row q of K^-1, s the dual of b_q, and f = -1 / (K^-1)_qq: row and column q become zero.

Every function that writes ends with a barrier, so what it wrote can be read by all threads of the block.
"""

from __future__ import annotations

import triton.language as tl

from verale.search.devices.jit import part
from verale.search.devices.nearest import orient

__all__ = ["row_without", "rank_one_step_of", "reset_row", "take_step", "try_adding", "try_deleting", "try_ranges"]

_DEPENDENT = tl.constexpr(1e-9)
"""See `verale.bounds.projection`."""

_AS_BASE = tl.constexpr(0.0)
_AS_DIRECTION = tl.constexpr(1.0)
_UNUSED = tl.constexpr(2.0)
_DELETED = tl.constexpr(3.0)
_BUILT_AGAIN = tl.constexpr(4.0)
"""Kinds of steps, at `_KIND`."""

_KIND = tl.constexpr(0)
_FACTOR = tl.constexpr(1)
_OFFSET = tl.constexpr(2)
_WHOLE = tl.constexpr(3)
_SQUARE = tl.constexpr(4)
_NUMBERS = tl.constexpr(8)
"""Where a step's numbers are, and for how many there is room."""


@part
def reset_row(block: tl.tuple, row: tl.tensor, sizes: tl.constexpr) -> None:
    """A row without statements."""
    head, work, k, inside = block.head, block.work, block.k, block.inside
    reach = tl.full((sizes.prototypes,), 0, tl.float64)
    if not sizes.distance:
        reach = tl.load(head.gram + k * head.size + k, mask=inside, other=0.0)
    tl.store(work.along + row * head.size + k, tl.full((sizes.prototypes,), 0, tl.float64), mask=inside)
    tl.store(work.across + row * head.size + k, reach, mask=inside)
    tl.store(work.count + row, 0)
    tl.store(work.base + row, -1)
    tl.store(work.unused + row, 0)
    tl.store(work.whole + row, tl.load(head.numbers))
    tl.store(work.square + row, tl.full((), 0, tl.float64))
    tl.debug_barrier()


@part
def _inner(block: tl.tuple, one: tl.tensor, other: tl.tensor, base: tl.tensor, sizes: tl.constexpr) -> tl.tensor:
    """<b_one, b_other>."""
    head = block.head
    product = tl.load(head.gram + one * head.size + other)
    if sizes.distance:
        product -= tl.load(head.gram + one * head.size + base) - tl.load(head.gram + base * head.size + base)
        product -= tl.load(head.gram + base * head.size + other)
    return product


@part
def _reach(block: tl.tuple, base: tl.tensor) -> tl.tensor:
    """(P,) squared distances from a prototype."""
    head, k, inside = block.head, block.k, block.inside
    own = tl.load(head.gram + k * head.size + k, mask=inside, other=0.0)
    shared = tl.load(head.gram + base * head.size + k, mask=inside, other=0.0)
    return tl.maximum(own - 2 * shared + tl.load(head.gram + base * head.size + base), 0.0)


@part
def try_adding(
    block: tl.tuple, row: tl.tensor, patch: tl.tensor, prototype: tl.tensor, option: tl.tensor, sizes: tl.constexpr
) -> None:
    """A step: the observable of a prototype is stated too; as base, as a direction, or for itself alone."""
    head, image, work, k, inside = block.head, block.image, block.work, block.k, block.inside
    base, count = tl.load(work.base + row), tl.load(work.count + row)
    whole, square = tl.load(work.whole + row), tl.load(work.square + row)
    observed = tl.load(image.observed + patch * head.size + prototype)
    residual = tl.load(work.across + row * head.size + prototype)
    origin = tl.maximum(base, 0)
    reach = _inner(block, prototype, prototype, origin, sizes)
    directs = (residual > reach * _DEPENDENT) & (residual > tl.load(head.numbers + 1)) & (count < sizes.room)
    offset = observed - tl.load(head.shift + prototype)
    if sizes.distance:
        directs = directs & (base >= 0)
        offset = (whole + reach - observed) / 2
    used = tl.where(directs, count, 0)
    own = tl.where(directs, 1.0, 0.0).to(tl.float64)

    j = tl.arange(0, sizes.room)
    combination = own * tl.where(j == count, 1.0, 0.0)
    for begin in range(0, used, sizes.anchors):
        i = begin + tl.arange(0, sizes.anchors)
        there = i < used
        anchor = tl.load(work.anchors + row * sizes.room + i, mask=there, other=0)
        known = tl.where(there, _inner(block, anchor, prototype, origin, sizes), 0.0)
        at = (row * sizes.room + i[:, None]) * sizes.room + j[None, :]
        inverse = tl.load(work.inverse + at, mask=there[:, None] & (j < used)[None, :], other=0.0)
        combination -= tl.sum(known[:, None] * inverse, 0)
    tl.store(work.combination + option * sizes.room + j, combination)
    tl.debug_barrier()

    product, foot = _products(block, row, origin, option, used, prototype, own, sizes)
    foot += own * offset
    factor = own / tl.where(directs, residual, 1.0)
    along = tl.load(work.along + row * head.size + k, mask=inside, other=0.0) + factor * foot * product
    across = tl.load(work.across + row * head.size + k, mask=inside, other=0.0) - factor * product * product
    square += factor * foot * foot
    kind = tl.where(directs, _AS_DIRECTION, _UNUSED)
    if sizes.distance:
        founds = base < 0
        kind = tl.where(founds, _AS_BASE, kind)
        along = tl.where(founds, 0.0, along)
        across = tl.where(founds, _reach(block, prototype), across)
        whole = tl.where(founds, observed, whole)
        square = tl.where(founds, 0.0, square)
        base = tl.where(founds, prototype, base)
    _store_step(block, option, kind, factor, offset, whole, square, base, along, across)


@part
def try_deleting(block: tl.tuple, row: tl.tensor, slot: tl.tensor, option: tl.tensor, sizes: tl.constexpr) -> None:
    """A step: the anchor in a slot is deleted. Of rows whose statements are all used; the base is not in a slot."""
    head, work, k, inside = block.head, block.work, block.k, block.inside
    base, count = tl.load(work.base + row), tl.load(work.count + row)
    j = tl.arange(0, sizes.room)
    inverse = work.inverse + (row * sizes.room + slot) * sizes.room
    tl.store(work.combination + option * sizes.room + j, tl.load(inverse + j, mask=j < count, other=0.0))
    tl.debug_barrier()
    nothing = tl.full((), 0, tl.float64)
    product, foot = _products(block, row, tl.maximum(base, 0), option, count, 0, nothing, sizes)
    factor = -1 / tl.load(inverse + slot)
    along = tl.load(work.along + row * head.size + k, mask=inside, other=0.0) + factor * foot * product
    across = tl.load(work.across + row * head.size + k, mask=inside, other=0.0) - factor * product * product
    square = tl.load(work.square + row) + factor * foot * foot
    whole = tl.load(work.whole + row)
    _store_step(block, option, _DELETED, factor, nothing, whole, square, base, along, across)


@part
def rank_one_step_of(block: tl.tuple, row: tl.tensor, prototype: tl.tensor, sizes: tl.constexpr) -> tl.tensor:
    """The slot of a prototype, if its statement can be deleted by a step; otherwise -1."""
    work = block.work
    j = tl.arange(0, sizes.room)
    anchor = tl.load(work.anchors + row * sizes.room + j, mask=j < tl.load(work.count + row), other=-1)
    slot = tl.max(tl.where(anchor == prototype, j, -1), 0)
    return tl.where(tl.load(work.unused + row) == 0, slot, -1)


@part
def row_without(block: tl.tuple, row: tl.tensor, patch: tl.tensor, prototype: tl.tensor, sizes: tl.constexpr) -> None:
    """Build a row, and a step, from all statements about a patch but one."""
    head, work, k, inside = block.head, block.work, block.k, block.inside
    reset_row(block, row, sizes)
    rest = tl.load(work.stated + patch * head.size + k, mask=inside, other=0).to(tl.int32)
    rest = tl.where(k == prototype, 0, rest)
    for _ in range(tl.sum(rest, 0)):
        first = tl.argmax(rest, 0)
        try_adding(block, row, patch, first, 0, sizes)
        take_step(block, row, first, 0, 0, sizes)
        rest = tl.where(k == first, 0, rest)
    along = tl.load(work.along + row * head.size + k, mask=inside, other=0.0)
    across = tl.load(work.across + row * head.size + k, mask=inside, other=0.0)
    whole, square, base = tl.load(work.whole + row), tl.load(work.square + row), tl.load(work.base + row)
    nothing = tl.full((), 0, tl.float64)
    _store_step(block, 0, _BUILT_AGAIN, nothing, nothing, whole, square, base, along, across)


@part
def try_ranges(
    block: tl.tuple, patch: tl.tensor, option: tl.tensor, added: tl.tensor, deleted: tl.tensor, sizes: tl.constexpr
) -> None:
    """The dissimilarities of a patch after a step that adds or deletes a prototype's statement (-1: none)."""
    head, image, work, k, inside = block.head, block.image, block.work, block.k, block.inside
    numbers = work.step + option * _NUMBERS
    whole, base = tl.load(numbers + _WHOLE), tl.load(work.step_base + option)
    ball = tl.maximum(whole - tl.load(numbers + _SQUARE), 0.0)
    along = tl.load(work.step_along + option * head.size + k, mask=inside, other=0.0)
    across = tl.load(work.step_across + option * head.size + k, mask=inside, other=0.0)
    lower = tl.load(head.lower + k, mask=inside, other=0.0)
    upper = tl.load(head.upper + k, mask=inside, other=0.0)
    swing = tl.sqrt(tl.maximum(across * ball, 0.0))
    if sizes.distance:
        if base >= 0:
            middle = _reach(block, base) - 2 * along + whole
            lower, upper = tl.maximum(lower, middle - 2 * swing), tl.minimum(upper, middle + 2 * swing)
    else:
        middle = along + tl.load(head.shift + k, mask=inside, other=0.0)
        lower, upper = tl.maximum(lower, middle - swing), tl.minimum(upper, middle + swing)
    said = (tl.load(work.stated + patch * head.size + k, mask=inside, other=0) != 0) | (k == added)
    said = said & (k != deleted)
    observed = tl.load(image.observed + patch * head.size + k, mask=inside, other=0.0)
    lower = tl.where(said, tl.maximum(lower, observed), lower)
    upper = tl.where(said, tl.minimum(upper, observed), upper)
    near, far = orient(block, patch, lower, upper, sizes)
    tl.store(work.step_near + option * head.size + k, near, mask=inside)
    tl.store(work.step_far + option * head.size + k, far, mask=inside)
    tl.debug_barrier()


@part
def take_step(
    block: tl.tuple, row: tl.tensor, prototype: tl.tensor, slot: tl.tensor, option: tl.tensor, sizes: tl.constexpr
) -> None:
    """A row becomes what was tried: the prototype was added, or the anchor in the slot deleted."""
    head, work, k, inside = block.head, block.work, block.k, block.inside
    numbers = work.step + option * _NUMBERS
    kind, count = tl.load(numbers + _KIND), tl.load(work.count + row)
    unused = tl.load(work.unused + row)
    along = tl.load(work.step_along + option * head.size + k, mask=inside, other=0.0)
    across = tl.load(work.step_across + option * head.size + k, mask=inside, other=0.0)
    tl.debug_barrier()
    tl.store(work.along + row * head.size + k, along, mask=inside)
    tl.store(work.across + row * head.size + k, across, mask=inside)
    tl.store(work.whole + row, tl.load(numbers + _WHOLE))
    tl.store(work.square + row, tl.load(numbers + _SQUARE))
    tl.store(work.base + row, tl.load(work.step_base + option))
    if kind == _UNUSED:
        tl.store(work.unused + row, unused + 1)
    if kind == _AS_DIRECTION:
        _update_inverse(block, row, count + 1, count, -1, option, sizes)
        tl.store(work.anchors + row * sizes.room + count, prototype)
        tl.store(work.offset + row * sizes.room + count, tl.load(numbers + _OFFSET))
        tl.store(work.count + row, count + 1)
    if kind == _DELETED:
        _update_inverse(block, row, count, count, slot, option, sizes)
        tl.store(work.anchors + row * sizes.room + slot, -1)
    tl.debug_barrier()


@part
def _update_inverse(
    block: tl.tuple,
    row: tl.tensor,
    limit: tl.tensor,
    count: tl.tensor,
    slot: tl.tensor,
    option: tl.tensor,
    sizes: tl.constexpr,
) -> None:
    """K^-1 gains f u u^T; so far it has `count` rows, then `limit`; that of a deleted slot becomes zero."""
    work = block.work
    factor = tl.load(work.step + option * _NUMBERS + _FACTOR)
    j = tl.arange(0, sizes.room)
    across = tl.load(work.combination + option * sizes.room + j, mask=j < limit, other=0.0)
    for begin in range(0, limit, sizes.anchors):
        i = begin + tl.arange(0, sizes.anchors)
        down = tl.load(work.combination + option * sizes.room + i, mask=i < limit, other=0.0)
        at = work.inverse + (row * sizes.room + i[:, None]) * sizes.room + j[None, :]
        inverse = tl.load(at, mask=(i < count)[:, None] & (j < count)[None, :], other=0.0)
        inverse += factor * down[:, None] * across[None, :]
        inverse = tl.where((i == slot)[:, None] | (j == slot)[None, :], 0.0, inverse)
        tl.debug_barrier()
        tl.store(at, inverse, mask=(i < limit)[:, None] & (j < limit)[None, :])


@part
def _products(
    block: tl.tuple,
    row: tl.tensor,
    base: tl.tensor,
    option: tl.tensor,
    count: tl.tensor,
    new: tl.tensor,
    own: tl.tensor,
    sizes: tl.constexpr,
) -> tl.tensor:
    """(P,) <s, b_k>, and <s, z - base> but for the new anchor's part; the new anchor enters with coefficient `own`."""
    head, work, k, inside = block.head, block.work, block.k, block.inside
    product = own * tl.load(head.gram + new * head.size + k, mask=inside, other=0.0)
    total = own
    corner = tl.full((), 0, tl.float64)
    foot = tl.full((), 0, tl.float64)
    if sizes.distance:
        corner += own * tl.load(head.gram + new * head.size + base)
    for begin in range(0, count, sizes.anchors):
        j = begin + tl.arange(0, sizes.anchors)
        there = j < count
        anchor = tl.maximum(tl.load(work.anchors + row * sizes.room + j, mask=there, other=0), 0)
        share = tl.load(work.combination + option * sizes.room + j, mask=there, other=0.0)
        rows = tl.load(
            head.gram + anchor[:, None] * head.size + k[None, :], mask=there[:, None] & inside[None, :], other=0.0
        )
        product += tl.sum(share[:, None] * rows, 0)
        foot += tl.sum(share * tl.load(work.offset + row * sizes.room + j, mask=there, other=0.0), 0)
        if sizes.distance:
            total += tl.sum(share, 0)
            corner += tl.sum(share * tl.load(head.gram + anchor * head.size + base, mask=there, other=0.0), 0)
    if sizes.distance:
        shared = tl.load(head.gram + base * head.size + k, mask=inside, other=0.0)
        product -= total * shared + (corner - total * tl.load(head.gram + base * head.size + base))
    return product, foot


@part
def _store_step(
    block: tl.tuple,
    option: tl.tensor,
    kind: tl.tensor,
    factor: tl.tensor,
    offset: tl.tensor,
    whole: tl.tensor,
    square: tl.tensor,
    base: tl.tensor,
    along: tl.tensor,
    across: tl.tensor,
) -> None:
    head, work, k, inside = block.head, block.work, block.k, block.inside
    numbers = work.step + option * _NUMBERS
    tl.store(numbers + _KIND, kind)
    tl.store(numbers + _FACTOR, factor)
    tl.store(numbers + _OFFSET, offset)
    tl.store(numbers + _WHOLE, whole)
    tl.store(numbers + _SQUARE, square)
    tl.store(work.step_base + option, base)
    tl.store(work.step_along + option * head.size + k, along, mask=inside)
    tl.store(work.step_across + option * head.size + k, tl.maximum(across, 0.0), mask=inside)
    tl.debug_barrier()
