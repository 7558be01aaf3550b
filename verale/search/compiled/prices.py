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
        prototypes, first, next_: (S,) and (L + 1,) as given to `drop_statements`, and where the next ones to try are.
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
    rivals: PricedRivals, patches: Indices, prototypes: Indices, first: Indices
) -> tuple[NDArray[np.bool_], bool, Floats, Floats]:
    """Drop statements until none can be dropped.

    The statement goes first whose patch has the least remainder without it. Bounds are monotone: a statement whose
    deletion fails is needed from then on. So a patch's statements are tried from the smallest mass to the greatest.

    Args:
        rivals: the image.
        patches, prototypes: (S,) what is stated, patch by patch, the smallest mass of each first; of no patch all
            masses but one or more.
        first: (L + 1,) where each patch's statements begin.

    Returns:
        (S,) which of them are kept; whether each of these is surely needed; (K, P) prices, the best ones
        where those of `simplex` do not do; (K,) the margins that they prove.
    """
    dropping = MassDropping(
        prototypes,
        first,
        first[:-1].copy(),
        np.full(len(first) - 1, np.inf),
        np.ones(len(patches), np.bool_),
        np.zeros(rivals.weights.shape),
        np.empty(len(rivals.bias)),
    )
    priced, room = priced_masses(rivals, patches, prototypes), workspace_of(rivals, len(first) - 1)
    minimal = _drop_all(rivals, priced, room, dropping)
    return dropping.kept, minimal, dropping.prices, dropping.margins


@entry
def _drop_all(rivals: PricedRivals, priced: PricedMasses, room: Workspace, dropping: MassDropping) -> bool:
    """See `drop_statements`; whether each statement that is kept is surely needed."""
    for rival in range(len(rivals.bias)):
        for k in range(len(priced.top)):
            priced.known[rival] += rivals.weights[rival, k] * priced.top[k]
        pay_alone(rivals, priced, rival)
    minimal, key, next_ = True, dropping.key, dropping.next_
    for patch in range(len(key)):
        key[patch] = _remainder_without(rivals, priced, dropping, patch)
    while len(key):
        patch = first_least(key)
        if key[patch] == np.inf:
            break
        dropped, certain = _drop(rivals, priced, room, patch, dropping.prototypes[next_[patch]])
        dropping.kept[next_[patch]] = not dropped
        minimal = minimal and certain
        next_[patch] += 1
        key[patch] = _remainder_without(rivals, priced, dropping, patch)
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
def _remainder_without(rivals: PricedRivals, priced: PricedMasses, dropping: MassDropping, patch: int) -> float:
    """A patch's remainder without its next statement; infinite if there is none."""
    at = dropping.next_[patch]
    if at == dropping.first[patch + 1]:
        return np.inf
    return float(priced.left[patch] + rivals.mass[patch, dropping.prototypes[at]])


@part
def _drop(rivals: PricedRivals, priced: PricedMasses, room: Workspace, patch: int, prototype: int) -> tuple[bool, bool]:
    """Drop a statement if every rival stays closed. Whether it was dropped; if not, whether it is surely needed."""
    mass, left, top = rivals.mass[patch, prototype], priced.left[patch], priced.top[prototype]
    lower = top
    if mass >= top:
        lower = 0.0
        for other in range(len(priced.left)):
            if other != patch and priced.stated[other, prototype]:
                lower = max(lower, rivals.mass[other, prototype])
    sunk = top - lower
    _shift(rivals, priced, patch, prototype, left + mass, lower, sunk, False)
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
    _shift(rivals, priced, patch, prototype, left, top, -sunk, True)
    return False, certain


@part
def _shift(
    rivals: PricedRivals,
    priced: PricedMasses,
    patch: int,
    prototype: int,
    left: float,
    top: float,
    sunk: float,
    stated: bool,
) -> None:
    """Give a patch another remainder and a prototype another top; its prices pay for what the top has sunk."""
    priced.left[patch], priced.top[prototype], priced.stated[patch, prototype] = left, top, stated
    move(priced.order, priced.rank, priced.left, patch)
    if sunk == 0:
        return
    for rival in range(len(rivals.bias)):
        cost = rivals.weights[rival, prototype] * sunk
        priced.known[rival] -= cost
        at = rivals.position[rival, prototype]
        if at >= 0:
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
