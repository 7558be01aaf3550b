"""Shrinking in machine code: the statement whose deletion leaves most goes first.

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

from verale.search.compiled.arrays import least, overwrite
from verale.search.compiled.hull import bound
from verale.search.compiled.image import PROJECTION, Booleans, Floats, ImageArrays, Integers
from verale.search.compiled.jit import entry
from verale.search.compiled.parts import part
from verale.search.compiled.patch import commit, try_statement
from verale.search.compiled.pool import Pooled, all_margins, pool, pooled_of, replace_pooled, try_pooled
from verale.search.compiled.rows import AS_DIRECTION, Candidate, PatchHulls, add_rows, candidate, hulls_of, reset

__all__ = [
    "DualBases",
    "StatedPairs",
    "build_all",
    "by_patch",
    "duals_of",
    "find_dual",
    "shrink_statements",
    "without_statement",
]


class DualBases(NamedTuple):
    """The dual basis of each patch's anchors.

    Attributes:
        known: (L,) whether it is up to date.
        usable: (L,) whether statements can be deleted by it.
        inverse: (L, M, M) K^-1.
        foot: (L, M) c.
        products: (L, M, P) <s_q, b_k>.
        square: (L,) |foot|^2.
        places: (M,) 0, 1, 2...
    """

    known: Booleans
    usable: Booleans
    inverse: Floats
    foot: Floats
    products: Floats
    square: Floats
    places: Integers


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


class Shrinking(NamedTuple):
    """Memory for deletions, of S statements.

    Attributes:
        margins, tried: (K,) the margins, and those without a statement.
        kept, undecided: (S,) statements.
        left: (S,) the least margin that was left without each of them.
    """

    margins: Floats
    tried: Floats
    kept: Booleans
    undecided: Booleans
    left: Floats


def shrink_statements(
    image: ImageArrays, statements: Integers, rank: Floats, exact: bool, guard: float
) -> tuple[Booleans, Floats]:
    """Which statements to keep, and the least margin that was left without each of them when it was last tried.

    First every deletion is tried alone: a statement that is needed then stays needed, because bounds are monotone.
    Margins without the others only fall, so an old one is an upper bound: the statement with the greatest is tried
    again, and goes if it is still the greatest.

    Args:
        image: what is explained.
        statements: (S, 2) patches and prototypes.
        rank: (S,) those of a greater rank go before others, if they can.
        exact: whether the statements are equations, not intervals.
        guard: a deletion must leave all margins above this.
    """
    count, (patches, size) = len(statements), image.low.shape
    stated = by_patch(image, statements)
    room, rivals = min(stated.prototype.shape[1], image.room), len(image.bias)
    shrinking = Shrinking(
        np.empty(rivals),
        np.empty(rivals),
        np.ones(count, np.bool_),
        np.ones(count, np.bool_),
        np.full(count, math.inf),
    )
    exact = exact and image.bounds == PROJECTION
    hulls = hulls_of(image, patches + 1, room)
    duals = duals_of(patches, room if exact else 0, size)
    trial, spare, pooled = candidate(size, room), candidate(size, room), pooled_of(image)
    _shrink(image, statements, rank, exact, guard, shrinking, stated, hulls, duals, trial, spare, pooled)
    return shrinking.kept, shrinking.left


@entry
def _shrink(
    image: ImageArrays, statements: Integers, rank: Floats, exact: bool, guard: float, shrinking: Shrinking,
    stated: StatedPairs, hulls: PatchHulls, duals: DualBases, trial: Candidate, spare: Candidate, pooled: Pooled,
) -> None:  # fmt: skip
    """See `shrink_statements`. `hulls` has one row more than there are patches, to build in."""
    margins, tried, left = shrinking.margins, shrinking.tried, shrinking.left
    kept, undecided = shrinking.kept, shrinking.undecided
    build_all(image, hulls, stated, trial)
    pool(image, pooled, hulls.lower[: len(stated.length)], hulls.upper[: len(stated.length)])
    all_margins(image, pooled, margins)
    count = len(statements)
    next_, remaining = 0, count
    while remaining > 0:
        all_tried = next_ == count
        if all_tried:
            index = _greatest(left, undecided, rank)
        else:
            index, next_ = next_, next_ + 1
        patch, place = statements[index, 0], _place(stated, statements[index, 0], index)
        if exact and not duals.known[patch]:
            find_dual(image, hulls, stated, duals, patch)
        without_statement(image, hulls, stated, duals, patch, place, exact, trial)
        try_pooled(image, image.weights, pooled, patch, trial.lower, trial.upper, margins, tried)
        left[index] = least(tried)
        if not left[index] > guard:
            undecided[index] = False
            remaining -= 1
        elif all_tried and index == _greatest(left, undecided, rank):
            kept[index] = undecided[index] = False
            remaining -= 1
            _drop(image, hulls, stated, duals, patch, place, exact, trial, spare)
            replace_pooled(image, pooled, patch, trial.lower, trial.upper)
            overwrite(margins, tried)


@part
def _greatest(left: Floats, undecided: Booleans, rank: Floats) -> int:
    """The undecided statement of the greatest rank; of those the one without which most is left."""
    best = -1
    for index in range(len(left)):
        if undecided[index] and (
            best < 0 or rank[index] > rank[best] or (rank[index] == rank[best] and left[index] > left[best])
        ):
            best = index
    return best


def by_patch(image: ImageArrays, statements: Integers) -> StatedPairs:
    """The statements of each patch."""
    patches = len(image.low)
    length = np.bincount(statements[:, 0], minlength=patches)
    room = max(int(length.max()), 1)
    stated = StatedPairs(
        length,
        np.zeros((patches, room), np.int64),
        np.zeros((patches, room), np.int64),
        np.full((patches, room), -1),
    )
    order = np.argsort(statements[:, 0], kind="stable")
    patch = statements[order, 0]
    place = np.arange(len(order)) - (np.cumsum(length) - length)[patch]
    stated.prototype[patch, place], stated.statement[patch, place] = statements[order, 1], order
    return stated


@part
def _place(stated: StatedPairs, patch: int, index: int) -> int:
    """Where a statement is among those of its patch."""
    place = 0
    while stated.statement[patch, place] != index:
        place += 1
    return place


@part
def build_all(image: ImageArrays, hulls: PatchHulls, stated: StatedPairs, trial: Candidate) -> None:
    """What the statements say of the patches."""
    for patch in range(len(stated.length)):
        _build(image, hulls, stated, patch, patch, -1, trial)


def duals_of(patches: int, room: int, size: int) -> DualBases:
    """Room for dual bases of M anchors each."""
    return DualBases(
        np.zeros(patches, np.bool_),
        np.zeros(patches, np.bool_),
        np.empty((patches, room, room)),
        np.empty((patches, room)),
        np.empty((patches, room, size)),
        np.empty(patches),
        np.arange(room),
    )


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
                stated.direction[patch, place] = hulls.directions[row] - 1 if trial.ends[4] == AS_DIRECTION else -1


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
        overwrite(trial.lower, hulls.lower[scratch])
        overwrite(trial.upper, hulls.upper[scratch])
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
        add_rows(duals.products[patch], duals.places[:count], trial.row, products)
    else:
        own, foot = duals.inverse[patch, q, q], duals.foot[patch, q]
        overwrite(products, duals.products[patch, q])
    share = foot / own
    for k in range(len(products)):
        product = products[k]
        trial.along[k] = hulls.along[patch, k] - share * product
        trial.across[k] = hulls.across[patch, k] + product * product / own
    whole = hulls.whole[patch]
    ball = max(whole - duals.square[patch] + foot * share, 0.0)
    bound(
        image, whole, hulls.least[patch], ball, 0.0, hulls.reach[patch], trial.along, trial.across,
        image.lower, image.upper, trial.lower, trial.upper,
    )  # fmt: skip
    for other in range(stated.length[patch]):
        if other != place:
            k = stated.prototype[patch, other]
            trial.lower[k] = max(trial.lower[k], image.low[patch, k])
            trial.upper[k] = min(trial.upper[k], image.high[patch, k])


@part
def _drop(
    image: ImageArrays, hulls: PatchHulls, stated: StatedPairs, duals: DualBases, patch: int, place: int, exact: bool,
    trial: Candidate, spare: Candidate,
) -> None:  # fmt: skip
    """Drop a statement, after `without_statement` of the same, whose direction and coefficients are used up."""
    q = stated.direction[patch, place]
    for following in range(place, stated.length[patch] - 1):
        stated.prototype[patch, following] = stated.prototype[patch, following + 1]
        stated.statement[patch, following] = stated.statement[patch, following + 1]
        stated.direction[patch, following] = stated.direction[patch, following + 1]
    stated.length[patch] -= 1
    if not exact or q < 0 or not duals.usable[patch]:
        duals.known[patch] = False
        _build(image, hulls, stated, patch, patch, -1, spare)
        return
    overwrite(hulls.lower[patch], trial.lower)
    overwrite(hulls.upper[patch], trial.upper)
    overwrite(hulls.along[patch], trial.along)
    overwrite(hulls.across[patch], trial.across)
    last = hulls.directions[patch] - 1
    inverse, foot, products = duals.inverse[patch], duals.foot[patch], duals.products[patch]
    duals.square[patch] -= foot[q] ** 2 / inverse[q, q]
    removed, row = trial.direction, trial.row
    overwrite(removed, products[q])
    overwrite(row, inverse[q])
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
        overwrite(products[r], products[r + 1])
        overwrite(inverse[r], inverse[r + 1])
    for c in range(q, last):
        for r in range(last):
            inverse[r, c] = inverse[r, c + 1]
    for each in range(stated.length[patch]):
        if stated.direction[patch, each] > q:
            stated.direction[patch, each] -= 1
    hulls.directions[patch] = last
