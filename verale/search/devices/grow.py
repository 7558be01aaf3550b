"""Growing in a block: statements against the worst rival until all rivals lose; see `verale.search.compiled.grow`."""

from __future__ import annotations

import triton.language as tl

from verale.search.devices.jit import part
from verale.search.devices.nearest import replace_patch, try_margins
from verale.search.devices.patch import take_step, try_adding, try_ranges

__all__ = ["GIVEN_UP", "GROWN", "NO_ROOM", "STAYS_OPEN", "grow_statements"]

GROWN = tl.constexpr(0)
STAYS_OPEN = tl.constexpr(1)
GIVEN_UP = tl.constexpr(2)
NO_ROOM = tl.constexpr(3)
_GROWING = tl.constexpr(4)
"""How growth ends."""

_STATEMENTS_PER_ROUND = tl.constexpr(16)


@part
def grow_statements(block: tl.tuple, sizes: tl.constexpr) -> tl.tensor:
    """State pairs until all margins exceed the guard: how it ended, how many there are, and how many steps it tried."""
    head, image, work = block.head, block.image, block.work
    guard, most = tl.load(head.numbers + 3), tl.load(image.most)
    c = tl.arange(0, sizes.classes)
    outcome = tl.full((), _GROWING, tl.int32)
    count, tried, round_ = tl.full((), 0, tl.int32), tl.full((), 0, tl.int32), tl.full((), 0, tl.int32)
    while outcome == _GROWING:
        margins = tl.load(work.margins + c, mask=c < head.classes, other=float("inf"))
        worst, rival = tl.min(margins, 0), tl.argmin(margins, 0)
        outcome = tl.where(count + _STATEMENTS_PER_ROUND > sizes.statements, NO_ROOM, _GROWING)
        outcome = tl.where(count > most, GIVEN_UP, outcome)
        outcome = tl.where(worst > guard, GROWN, outcome)
        if outcome == _GROWING:
            round_ += 1
            before = count
            count, tried = _round(block, rival, guard - worst, guard, round_, count, tried, sizes)
            outcome = tl.where(count == before, STAYS_OPEN, _GROWING)
    return outcome, count, tried


@part
def _round(
    block: tl.tuple,
    rival: tl.tensor,
    deficit: tl.tensor,
    guard: tl.tensor,
    round_: tl.tensor,
    count: tl.tensor,
    tried: tl.tensor,
    sizes: tl.constexpr,
) -> tl.tensor:
    """One round of statements against a rival."""
    head, image, work, k, inside = block.head, block.image, block.work, block.k, block.inside
    predicted = tl.load(image.predicted)
    weight = tl.load(head.weight + predicted * head.size + k, mask=inside, other=0.0)
    weight -= tl.load(head.weight + rival * head.size + k, mask=inside, other=0.0)
    actual = tl.load(image.actual + k, mask=inside, other=0.0)
    high = tl.load(work.high + k, mask=inside, other=0.0)
    low = tl.load(work.low + k, mask=inside, other=0.0)
    loss = weight * (actual - tl.where(weight > 0, low, high))
    loss = tl.where(inside, loss, -1.0)
    promised = tl.full((), 0, tl.float64)
    stated, looking = tl.full((), 0, tl.int32), tl.full((), 1, tl.int32)
    while looking == 1:
        patch, named, most = _costliest(block, weight, loss, round_)
        looking = tl.where(most > 0, 1, 0)
        if looking == 1:
            promised += most
            loss = tl.where(k == named, -1.0, loss)
            tl.debug_barrier()
            tl.store(work.used + patch, round_)
            prototype, named = _prototypes_to_try(block, patch, named, sizes)
            row = tl.load(work.row_of + patch)
            for option in range(2):
                if (option == 0) | (named != prototype):
                    entered = tl.where(option == 0, prototype, named)
                    try_adding(block, row, patch, entered, option, sizes)
                    try_ranges(block, patch, option, entered, -1, sizes)
                    try_margins(block, patch, option, sizes)
                    tried += 1
            option = tl.where((named != prototype) & _is_better(block, guard, sizes), 1, 0)
            entered = tl.where(option == 0, prototype, named)
            take_step(block, row, entered, 0, option, sizes)
            replace_patch(block, patch, option, sizes)
            _state(block, patch, entered, option, count, sizes)
            count += 1
            stated += 1
            looking = tl.where((stated < _STATEMENTS_PER_ROUND) & (promised < deficit), 1, 0)
    return count, tried


@part
def _costliest(block: tl.tuple, weight: tl.tensor, loss: tl.tensor, round_: tl.tensor) -> tl.tensor:
    """The patch and the prototype to state for the costliest activation that a statement can help, and its cost.

    See `verale.search.compiled.grow`.
    """
    head, image, work, k, inside = block.head, block.image, block.work, block.k, block.inside
    attained = tl.load(image.attained + k, mask=inside, other=0)
    exceeding = tl.load(work.patch + k, mask=inside, other=0)
    patch = tl.where(weight > 0, attained, exceeding)
    is_free = tl.load(work.used + patch, mask=inside, other=0) != round_
    allowed = tl.load(head.allowed + patch * head.size + k, mask=inside, other=0) != 0
    stated = tl.load(work.stated + patch * head.size + k, mask=inside, other=0) != 0
    another = tl.load(work.left + patch, mask=inside, other=0) > 0
    helps = tl.where(allowed, ~stated, another)
    cost = tl.where(inside & is_free & helps, loss, -1.0)
    named = tl.argmax(cost, 0)
    return tl.sum(tl.where(k == named, patch, 0), 0), named, tl.max(cost, 0)


@part
def _prototypes_to_try(block: tl.tuple, patch: tl.tensor, named: tl.tensor, sizes: tl.constexpr) -> tl.tensor:
    """The prototype that explains most of what is unknown of the latent, and the named one, or another if that one may
    not be stated."""
    head, image, work, k, inside = block.head, block.image, block.work, block.k, block.inside
    row = tl.load(work.row_of + patch)
    stated = tl.load(work.stated + patch * head.size + k, mask=inside, other=1) != 0
    open_ = (tl.load(head.allowed + patch * head.size + k, mask=inside, other=0) != 0) & ~stated
    is_open = tl.sum(tl.where((k == named) & open_, 1, 0), 0) > 0
    named = tl.where(is_open, named, tl.argmax(open_.to(tl.int32), 0))
    observed = tl.load(image.observed + patch * head.size + k, mask=inside, other=0.0)
    along = tl.load(work.along + row * head.size + k, mask=inside, other=0.0)
    across = tl.load(work.across + row * head.size + k, mask=inside, other=0.0)
    reach = tl.load(head.gram + k * head.size + k, mask=inside, other=0.0)
    if sizes.distance:
        base = tl.load(work.base + row)
        origin = tl.maximum(base, 0)
        reach -= 2 * tl.load(head.gram + origin * head.size + k, mask=inside, other=0.0)
        reach = tl.maximum(reach + tl.load(head.gram + origin * head.size + origin), 0.0)
        unexplained = (tl.load(work.whole + row) + reach - observed) / 2 - along
    else:
        unexplained = observed - tl.load(head.shift + k, mask=inside, other=0.0) - along
    score = tl.where(across > 1e-9 * reach, unexplained * unexplained / tl.maximum(across, 1e-300), -1.0)
    if sizes.distance:
        score = tl.where(base < 0, -observed, score)
    return tl.argmax(tl.where(open_, score, float("-inf")), 0), named


@part
def _is_better(block: tl.tuple, guard: tl.tensor, sizes: tl.constexpr) -> tl.tensor:
    """Whether open rivals lack less after the second step."""
    head, work = block.head, block.work
    c = tl.arange(0, sizes.classes)
    there = c < head.classes
    first = tl.load(work.step_margins + c, mask=there, other=float("inf"))
    second = tl.load(work.step_margins + head.classes + c, mask=there, other=float("inf"))
    return tl.sum(tl.maximum(guard - second, 0.0), 0) < tl.sum(tl.maximum(guard - first, 0.0), 0)


@part
def _state(
    block: tl.tuple, patch: tl.tensor, prototype: tl.tensor, option: tl.tensor, count: tl.tensor, sizes: tl.constexpr
) -> None:
    """Record a statement, and the margins after it."""
    head, work = block.head, block.work
    c = tl.arange(0, sizes.classes)
    margins = tl.load(work.step_margins + option * head.classes + c, mask=c < head.classes, other=0.0)
    left = tl.load(work.left + patch)
    tl.debug_barrier()
    tl.store(work.margins + c, margins, mask=c < head.classes)
    tl.store(work.stated + patch * head.size + prototype, 1)
    tl.store(work.left + patch, left - 1)
    tl.store(work.statements + count, patch * head.size + prototype)
    tl.debug_barrier()
