"""Dropping in machine code, for masses: statements go while the best prices still prove every margin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from verale.search.compiled.arrays import first_least, overwrite
from verale.search.compiled.jit import entry
from verale.search.compiled.masses import Floats, Indices, move
from verale.search.compiled.matching import (
    PricedMasses,
    PricedRivals,
    Workspace,
    excess_of,
    pay_alone,
    priced_masses,
    solve,
    weight_of,
    workspace_of,
)
from verale.search.compiled.parts import part

__all__ = ["drop_statements"]


class MassDropping(NamedTuple):
    """The S statements while they are dropped, and what is found.

    Attributes:
        prototypes, first, next_: (S,) and (G * L + 1,) as given to `drop_statements`, and (L,) where the next ones to
            try are.
        key: (L,) each patch's remainder without its next statement.
        kept: (S,) which of them are kept.
        prices: (K, P) and margins: (K,) what they prove.
    """

    prototypes: Indices
    first: Indices
    next_: Indices
    key: Floats
    kept: NDArray[np.bool_]
    prices: Floats
    margins: Floats


def drop_statements(
    rivals: PricedRivals, patches: Indices, prototypes: Indices, first: Indices, once: bool
) -> tuple[NDArray[np.bool_], bool, Floats, Floats]:
    """Drop statements until none can be dropped.

    Of each group the statement goes first whose patch has the least remainder without it. Statements by equality give
    monotone bounds: a statement whose deletion fails is needed from then on. So a patch's statements are tried from the
    smallest mass to the greatest, and each once. Wide ones do not. A stated mass counts with its upper end, and leaves
    to its patch only what its lower end leaves; a second statement about the patch may cost more than it saves.

    Args:
        rivals: the image.
        patches, prototypes: (S,) what is stated, group by group and patch by patch, the smallest mass of each first.
        first: (G * L + 1,) where the statements of each of G groups about each patch begin.
        once: whether each statement is tried once.

    Returns:
        (S,) which of them are kept; whether each of these is surely needed; (K, P) prices, the best ones
        where those of `simplex` do not do; (K,) the margins that they prove.
    """
    count = len(rivals.low)
    dropping = MassDropping(
        prototypes,
        first,
        np.zeros(count, np.int64),
        np.empty(count),
        np.ones(len(patches), np.bool_),
        np.zeros(rivals.weights.shape),
        np.empty(len(rivals.bias)),
    )
    priced, room = priced_masses(rivals, patches, prototypes), workspace_of(rivals, count)
    minimal = _drop_all(rivals, priced, room, dropping, once)
    return dropping.kept, minimal, dropping.prices, dropping.margins


@entry
def _drop_all(rivals: PricedRivals, priced: PricedMasses, room: Workspace, dropping: MassDropping, once: bool) -> bool:
    """See `drop_statements`; whether each statement that is kept is surely needed."""
    _begin(rivals, priced)
    minimal, goes_on = True, True
    while goes_on:
        minimal, goes_on = True, False
        for group in range(0, len(dropping.first) - 1, len(priced.left)):
            dropped, certain = _drop_group(rivals, priced, room, dropping, group)
            minimal = minimal and certain
            goes_on = goes_on or (dropped and not once)
    prices, margins = dropping.prices, dropping.margins
    for rival in range(len(margins)):
        pay_alone(rivals, priced, rival)
        if priced.known[rival] - priced.sums[rival, 0] <= rivals.noise[rival]:
            solve(rivals, priced, room, rival)
        margins[rival] = priced.known[rival] - priced.sums[rival, 0] - priced.sums[rival, 1]
        for at in range(rivals.needed[rival]):
            prices[rival, rivals.paying[rival, at]] = priced.price[rival, at]
    return minimal


@part
def _begin(rivals: PricedRivals, priced: PricedMasses) -> None:
    """What is known of the masses if everything is stated, and each prototype pays alone."""
    for patch in range(len(priced.left)):
        _enter_ends(rivals, priced, patch, -1)
    for rival in range(len(rivals.bias)):
        priced.known[rival] = rivals.bias[rival]
        for k in range(len(priced.top)):
            weight = rivals.weights[rival, k]
            priced.known[rival] += weight * (priced.floor[k] if weight > 0.0 else priced.top[k])
        pay_alone(rivals, priced, rival)


@part
def _drop_group(
    rivals: PricedRivals, priced: PricedMasses, room: Workspace, dropping: MassDropping, group: int
) -> tuple[bool, bool]:
    """Try the statements of a group: whether one was dropped, and whether each that stays is surely needed."""
    some, minimal, key, next_ = False, True, dropping.key, dropping.next_
    for patch in range(len(key)):
        next_[patch] = dropping.first[group + patch]
        key[patch] = _remainder_without(rivals, priced, dropping, group, patch)
    while True:
        patch = first_least(key)
        if key[patch] == np.inf:
            return some, minimal
        dropped, certain = _drop(rivals, priced, room, patch, dropping.prototypes[next_[patch]])
        dropping.kept[next_[patch]] = not dropped
        some, minimal = some or dropped, minimal and certain
        next_[patch] += 1
        key[patch] = _remainder_without(rivals, priced, dropping, group, patch)


@part
def _remainder_without(
    rivals: PricedRivals, priced: PricedMasses, dropping: MassDropping, group: int, patch: int
) -> float:
    """A patch's remainder without its next statement; infinite if there is none."""
    at, end = dropping.next_[patch], dropping.first[group + patch + 1]
    while at < end and not dropping.kept[at]:
        at += 1
    dropping.next_[patch] = at
    if at == end:
        return np.inf
    return float(priced.left[patch] + rivals.low[patch, dropping.prototypes[at]])


@part
def _drop(rivals: PricedRivals, priced: PricedMasses, room: Workspace, patch: int, prototype: int) -> tuple[bool, bool]:
    """Drop a statement if every rival stays closed. Whether it was dropped; if not, whether it is surely needed."""
    left = priced.left[patch]
    _enter(rivals, priced, patch, prototype, left + rivals.low[patch, prototype], False)
    closed, certain, solved = _closed(rivals, priced, room, patch)
    if closed:
        for rival in range(len(rivals.bias)):
            priced.sums[rival, 1] += room.excess[rival] - priced.excess[rival, patch]
            priced.excess[rival, patch] = room.excess[rival]
        return True, True
    for at in range(solved):
        rival = room.doubtful[at]
        overwrite(priced.price[rival], room.price[at])
        overwrite(priced.excess[rival], room.saved[at])
        overwrite(priced.sums[rival], room.sums[at])
    _enter(rivals, priced, patch, prototype, left, True)
    return False, certain


@part
def _enter(rivals: PricedRivals, priced: PricedMasses, patch: int, prototype: int, left: float, stated: bool) -> None:
    """State a mass or drop it, with the patch's remainder then. What its top sinks by, its prices pay for."""
    priced.left[patch], priced.stated[patch, prototype] = left, stated
    move(priced.order, priced.rank, priced.left, patch)
    _enter_ends(rivals, priced, patch, prototype)


@part
def _enter_ends(rivals: PricedRivals, priced: PricedMasses, patch: int, prototype: int) -> None:
    """What is known of a patch's masses: by the statements alone at most, and at least as under `simplex`."""
    low, high, stated, left = rivals.low[patch], rivals.high[patch], priced.stated[patch], priced.left[patch]
    count, most = 0, 0.0
    for k in range(len(low)):
        if stated[k]:
            count += 1
            most += high[k]
    for k in range(len(low)):
        floor = top = others = 0.0
        if stated[k]:
            floor, top, others = low[k], min(high[k], low[k] + left), high[k]
        if count == len(low) or (count == len(low) - 1 and not stated[k]):  # the other masses determine this one
            floor = max(floor, 1.0 - (most - others))
        floor = max(floor, rivals.least[k])
        if floor != priced.floors[patch, k] or top != priced.tops[patch, k]:
            before = priced.floor[k], priced.top[k]
            priced.floor[k] = _greatest(priced.floors, patch, k, floor, priced.floor[k])
            priced.top[k] = _greatest(priced.tops, patch, k, top, priced.top[k])
            _follow(rivals, priced, k, before[0] - priced.floor[k], before[1] - priced.top[k], k == prototype)


@part
def _greatest(ends: Floats, patch: int, k: int, end: float, greatest: float) -> float:
    """Enter an end of a patch's mass; the greatest over all patches, which was `greatest`."""
    before = ends[patch, k]
    ends[patch, k] = end
    if end >= greatest:
        return end
    if before < greatest:
        return greatest
    most = end
    for other in range(len(ends)):
        most = max(most, ends[other, k])
    return most


@part
def _follow(rivals: PricedRivals, priced: PricedMasses, k: int, fallen: float, sunk: float, pays: bool) -> None:
    """Margins follow the ends of a prototype's activation. Where its prices do not pay, they stay enough: its top has
    risen."""
    for rival in range(len(rivals.bias)):
        weight = rivals.weights[rival, k]
        cost = weight * (fallen if weight > 0.0 else sunk)
        priced.known[rival] -= cost
        at = rivals.position[rival, k]
        if pays and at >= 0:
            priced.price[rival, at] -= cost
            priced.sums[rival, 0] -= cost


@part
def _closed(rivals: PricedRivals, priced: PricedMasses, room: Workspace, patch: int) -> tuple[bool, bool, int]:
    """Whether the best prices close every rival after a patch's remainder grew, with its new excess in `room.excess`.

    Present prices and earlier matchings decide most cases. Also whether an open rival is surely open, and how many of
    `room.doubtful` were solved; what these had before is kept in `room`.
    """
    count = 0
    for rival in range(len(rivals.bias)):
        room.excess[rival] = excess_of(rivals, priced, rival, patch)
        margin = priced.known[rival] - priced.sums[rival, 0] - priced.sums[rival, 1]
        room.margins[rival] = margin - room.excess[rival] + priced.excess[rival, patch]
        if room.margins[rival] <= rivals.noise[rival]:
            given = 0.0
            for at in range(rivals.needed[rival]):
                if priced.partner[rival, at] >= 0:
                    given += weight_of(rivals, priced, rival, at, priced.partner[rival, at])
            if priced.known[rival] - given < -rivals.noise[rival]:
                return False, True, 0
            room.doubtful[count], room.at_most[count] = rival, priced.known[rival] - given
            count += 1
    for solved in range(count):
        for later in range(solved + 1, count):  # the one that is most likely to fail
            if room.at_most[later] < room.at_most[solved]:
                room.at_most[later], room.at_most[solved] = room.at_most[solved], room.at_most[later]
                room.doubtful[later], room.doubtful[solved] = room.doubtful[solved], room.doubtful[later]
        rival = room.doubtful[solved]
        overwrite(room.price[solved], priced.price[rival])
        overwrite(room.saved[solved], priced.excess[rival])
        overwrite(room.sums[solved], priced.sums[rival])
        given = solve(rivals, priced, room, rival)
        if priced.known[rival] - priced.sums[rival, 0] - priced.sums[rival, 1] <= rivals.noise[rival]:
            return False, priced.known[rival] - given < -rivals.noise[rival], solved + 1
        room.excess[rival] = priced.excess[rival, patch]
    return True, True, count
