"""Shrinking in machine code: the statement whose deletion leaves most goes first; see `verale.search.shrink`.

Of exact statements about a patch, let K be the Gram matrix of the anchors b_j used as directions, s_q = sum_j
(K^-1)_qj b_j the dual basis, o_j = <b_j, z - base> and c = K^-1 o. Then, without anchor q,

    along_k  loses  c_q / (K^-1)_qq <s_q, b_k>,   across_k gains <s_q, b_k>^2 / (K^-1)_qq,
    |foot|^2 loses  c_q^2 / (K^-1)_qq,            s_r      loses (K^-1)_rq / (K^-1)_qq s_q,

so that a deletion costs O(P). Without the base, s_q is s_0 = - sum_q s_q, and c_q and <s_q, b_k> gain 1, as they are
barycentric coordinates (`span`). Intervals and dependent anchors are deleted by building the patch again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from verale.search.compiled.hull import (
    Candidate,
    PatchHulls,
    add_rows,
    bound,
    candidate,
    commit,
    hulls_of,
    reset,
    try_statement,
)
from verale.search.compiled.image import Booleans, Floats, ImageArrays, Integers
from verale.search.compiled.jit import entry, part
from verale.search.compiled.pool import all_margins, pool, replace_pooled, try_pooled

__all__ = ["DualBases", "StatedPairs", "built", "by_patch", "find_dual", "shrink_statements", "without_statement"]


class DualBases(NamedTuple):
    """The dual basis of each patch's anchors.

    Attributes:
        known: (L,) whether it is up to date.
        usable: (L,) whether statements can be deleted by it.
        inverse: (L, M, M) K^-1.
        foot: (L, M) c.
        products: (L, M, P) <s_q, b_k>.
        square: (L,) |foot|^2.
    """

    known: Booleans
    usable: Booleans
    inverse: Floats
    foot: Floats
    products: Floats
    square: Floats


class StatedPairs(NamedTuple):
    """The statements that are left, patch by patch.

    Attributes:
        length: (L,) how many.
        prototype: (L, M) which prototypes, in their order.
        statement: (L, M) which of all statements they are.
        direction: (L, M) which direction each is, or -1.
    """

    length: Integers
    prototype: Integers
    statement: Integers
    direction: Integers


@entry
def shrink_statements(
    image: ImageArrays, statements: Integers, first: Booleans, exact: bool, guard: float
) -> tuple[Booleans, Floats]:
    """Which statements to keep, and the least margin that was left without each of them when it was last tried.

    First every deletion is tried alone: a statement that is needed then stays needed, because bounds are monotone.
    Margins without the others only fall, so an old one is an upper bound: the statement with the greatest is tried
    again, and goes if it is still the greatest.

    Args:
        image: what is explained.
        statements: (S, 2) patches and prototypes.
        first: (S,) which of them go before all others, if they can.
        exact: whether the statements are equations, not intervals.
        guard: a deletion must leave all margins above this.
    """
    count = len(statements)
    stated = by_patch(image, statements)
    hulls, duals, trial = built(image, stated)
    pooled = pool(image, hulls.lower[: len(stated.length)], hulls.upper[: len(stated.length)])
    margins = all_margins(image, pooled)
    tried = np.empty(len(margins))
    kept, undecided = np.ones(count, np.bool_), np.ones(count, np.bool_)
    left = np.full(count, math.inf)
    next_, remaining = 0, count
    while remaining > 0:
        all_tried = next_ == count
        if all_tried:
            index = _greatest(left, undecided, first)
        else:
            index, next_ = next_, next_ + 1
        patch, place = statements[index, 0], _place(stated, statements[index, 0], index)
        if exact and not duals.known[patch]:
            find_dual(image, hulls, stated, duals, patch)
        without_statement(image, hulls, stated, duals, patch, place, exact, trial)
        try_pooled(image, image.weights, pooled, patch, trial.lower, trial.upper, margins, tried)
        left[index] = tried.min()
        if not left[index] > guard:
            undecided[index] = False
            remaining -= 1
        elif all_tried and index == _greatest(left, undecided, first):
            kept[index] = undecided[index] = False
            remaining -= 1
            _drop(image, hulls, stated, duals, patch, place, exact, trial)
            replace_pooled(image, pooled, patch, trial.lower, trial.upper)
            margins[:] = tried
    return kept, left


@part
def _greatest(left: Floats, undecided: Booleans, first: Booleans) -> int:
    """The undecided statement without which most is left; of those that go first, if any."""
    best = -1
    for index in range(len(left)):
        if undecided[index] and (
            best < 0 or (first[index] and not first[best]) or (first[index] == first[best] and left[index] > left[best])
        ):
            best = index
    return best


@part
def by_patch(image: ImageArrays, statements: Integers) -> StatedPairs:
    """The statements of each patch."""
    patches = image.low.shape[0]
    count = np.zeros(patches, np.int64)
    for index in range(len(statements)):
        count[statements[index, 0]] += 1
    room = max(count.max(), 1)
    stated = StatedPairs(
        np.zeros(patches, np.int64),
        np.zeros((patches, room), np.int64),
        np.zeros((patches, room), np.int64),
        np.full((patches, room), -1),
    )
    for index in range(len(statements)):
        patch = statements[index, 0]
        place = stated.length[patch]
        stated.prototype[patch, place], stated.statement[patch, place] = statements[index, 1], index
        stated.length[patch] += 1
    return stated


@part
def _place(stated: StatedPairs, patch: int, index: int) -> int:
    """Where a statement is among those of its patch."""
    place = 0
    while stated.statement[patch, place] != index:
        place += 1
    return place


@part
def built(image: ImageArrays, stated: StatedPairs) -> tuple[PatchHulls, DualBases, Candidate]:
    """What the statements say of the patches, with one row more to build in; room for dual bases, and for a trial."""
    patches, room = stated.prototype.shape
    size = image.gram.shape[0]
    hulls, trial = hulls_of(image, patches + 1, room), candidate(size, room)
    for patch in range(patches):
        _build(image, hulls, stated, patch, patch, -1, trial)
    duals = DualBases(
        np.zeros(patches, np.bool_),
        np.zeros(patches, np.bool_),
        np.empty((patches, room, room)),
        np.empty((patches, room)),
        np.empty((patches, room, size)),
        np.empty(patches),
    )
    return hulls, duals, trial


@part
def _build(
    image: ImageArrays, hulls: PatchHulls, stated: StatedPairs, row: int, patch: int, without: int, trial: Candidate
) -> None:
    """Build a patch in a row from its statements, all but one."""
    reset(image, hulls, row)
    for place in range(stated.length[patch]):
        if place != without:
            prototype = stated.prototype[patch, place]
            try_statement(image, hulls, row, patch, prototype, trial)
            commit(image, hulls, row, patch, prototype, trial)
            if without < 0:
                stated.direction[patch, place] = hulls.directions[row] - 1 if trial.ends[4] == 1.0 else -1


@part
def find_dual(image: ImageArrays, hulls: PatchHulls, stated: StatedPairs, duals: DualBases, patch: int) -> None:
    """The dual basis of a patch, from the coefficients C of its directions: K^-1 = C^T C."""
    gram, count, base = image.gram, hulls.directions[patch], hulls.base[patch]
    duals.known[patch], duals.usable[patch] = True, hulls.dropped[patch] == 0
    coefficients, anchors = hulls.coefficients[patch], hulls.anchors[patch]
    inverse, foot = duals.inverse[patch], duals.foot[patch]
    duals.square[patch] = 0.0
    for q in range(count):
        duals.square[patch] += hulls.centre[patch, q] ** 2
        foot[q] = 0.0
        for j in range(count):
            inverse[q, j] = 0.0
            for i in range(max(q, j), count):
                inverse[q, j] += coefficients[i, q] * coefficients[i, j]
            foot[q] += inverse[q, j] * hulls.offset[patch, j]
        products = duals.products[patch, q]
        products[:] = 0.0
        total, corner = 0.0, 0.0
        for j in range(count):
            weight, anchor = inverse[q, j], anchors[j]
            total += weight
            if image.distance:
                corner += weight * (gram[anchor, base] - gram[base, base])
        add_rows(gram, anchors[:count], inverse[q], products)
        if image.distance:
            for k in range(len(products)):
                products[k] -= total * gram[base, k] + corner


@part
def without_statement(
    image: ImageArrays, hulls: PatchHulls, stated: StatedPairs, duals: DualBases, patch: int, place: int, exact: bool,
    trial: Candidate,
) -> None:  # fmt: skip
    """What a patch is without one of its statements: its ranges, and what they are made of."""
    q, count = stated.direction[patch, place], hulls.directions[patch]
    is_base = image.distance and q < 0 and stated.prototype[patch, place] == hulls.base[patch]
    if not exact or (q < 0 and (not is_base or count == 0)) or not duals.usable[patch]:
        scratch = len(hulls.directions) - 1
        _build(image, hulls, stated, scratch, patch, place, trial)
        trial.lower[:], trial.upper[:] = hulls.lower[scratch], hulls.upper[scratch]
        return
    products = trial.direction
    if is_base:
        own, foot = 0.0, 1.0
        for r in range(count):
            foot -= duals.foot[patch, r]
            for c in range(count):
                own += duals.inverse[patch, r, c]
        trial.row[:count] = -1.0
        products[:] = 1.0
        add_rows(duals.products[patch], np.arange(count), trial.row, products)
    else:
        own, foot = duals.inverse[patch, q, q], duals.foot[patch, q]
        products[:] = duals.products[patch, q]
    share = foot / own
    for k in range(len(products)):
        product = products[k]
        trial.along[k] = hulls.along[patch, k] - share * product
        trial.across[k] = hulls.across[patch, k] + product * product / own
    whole = hulls.whole[patch]
    ball = max(whole - duals.square[patch] + foot * share, 0.0)
    bound(
        image, whole, hulls.least[patch], ball, 0.0, hulls.reach[patch], trial.along, trial.across,
        (image.lower, image.upper), trial.lower, trial.upper,
    )  # fmt: skip
    for other in range(stated.length[patch]):
        if other != place:
            k = stated.prototype[patch, other]
            trial.lower[k] = max(trial.lower[k], image.low[patch, k])
            trial.upper[k] = min(trial.upper[k], image.high[patch, k])


@part
def _drop(
    image: ImageArrays, hulls: PatchHulls, stated: StatedPairs, duals: DualBases, patch: int, place: int, exact: bool,
    trial: Candidate,
) -> None:  # fmt: skip
    """Drop a statement, after `without_statement` of the same."""
    q = stated.direction[patch, place]
    for following in range(place, stated.length[patch] - 1):
        for values in (stated.prototype, stated.statement, stated.direction):
            values[patch, following] = values[patch, following + 1]
    stated.length[patch] -= 1
    if not exact or q < 0 or not duals.usable[patch]:
        duals.known[patch] = False
        room = candidate(image.gram.shape[0], len(trial.row))
        _build(image, hulls, stated, patch, patch, -1, room)
        return
    hulls.lower[patch], hulls.upper[patch] = trial.lower, trial.upper
    hulls.along[patch], hulls.across[patch] = trial.along, trial.across
    last = hulls.directions[patch] - 1
    inverse, foot, products = duals.inverse[patch], duals.foot[patch], duals.products[patch]
    duals.square[patch] -= foot[q] ** 2 / inverse[q, q]
    removed, row = products[q].copy(), inverse[q].copy()
    for r in range(last + 1):
        share = row[r] / row[q]
        if r != q:
            foot[r] -= share * foot[q]
            for k in range(len(removed)):
                products[r, k] -= share * removed[k]
            for c in range(last + 1):
                inverse[r, c] -= share * row[c]
    for r in range(q, last):  # close the gap
        foot[r] = foot[r + 1]
        products[r] = products[r + 1]
        inverse[r] = inverse[r + 1]
    for c in range(q, last):
        inverse[:last, c] = inverse[:last, c + 1]
    for each in range(stated.length[patch]):
        if stated.direction[patch, each] > q:
            stated.direction[patch, each] -= 1
    hulls.directions[patch] = last
