"""Rows: what the search knows of each patch, and what it would know with one more statement."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from verale.search.compiled.arrays import overwrite
from verale.search.compiled.image import PROJECTION, Floats, ImageArrays, Integers
from verale.search.compiled.parts import part

__all__ = [
    "AS_BASE",
    "AS_DIRECTION",
    "UNUSED",
    "Candidate",
    "PatchHulls",
    "add_rows",
    "candidate",
    "hulls_of",
    "reset",
]


class PatchHulls(NamedTuple):
    """R patches, with room for M directions each. Names are those of `projection`; other bounds say what they keep.

    Attributes:
        directions: (R,) how many.
        base: (R,) the prototype at the base, or -1.
        dropped: (R,) how many statements are not used as directions.
        whole, least: (R,) the greatest and the least square of the patch's distance from its base.
        anchors: (R, M) prototypes.
        offset, error: (R, M) <b_anchor, z - base>, and half its width.
        coefficients: (R, M, M) lower triangular.
        centre, spoiled: (R, M) <e_i, z - base>, and half its width.
        reach, along, across: (R, P) |b_k|^2, the part of <b_k, z - base> that is known, the square of what is not.
        lower, upper: (R, P) what observables can be.
    """

    directions: Integers
    base: Integers
    dropped: Integers
    whole: Floats
    least: Floats
    anchors: Integers
    offset: Floats
    error: Floats
    coefficients: Floats
    centre: Floats
    spoiled: Floats
    reach: Floats
    along: Floats
    across: Floats
    lower: Floats
    upper: Floats


class Candidate(NamedTuple):
    """What a patch would be after one more statement.

    Attributes:
        row: (M,) the new direction's coefficients.
        known: (M,) room.
        reach, along, across, lower, upper: (P,) as of `PatchHulls`.
        direction: (P,) <e, b_k>.
        ends: (5,) offset, error, centre, spoiled, and how the statement is used: as base, direction or not.
    """

    row: Floats
    known: Floats
    reach: Floats
    along: Floats
    across: Floats
    lower: Floats
    upper: Floats
    direction: Floats
    ends: Floats


AS_BASE, AS_DIRECTION, UNUSED = 0.0, 1.0, 2.0
"""How a statement is used."""


def hulls_of(image: ImageArrays, rows: int, room: int) -> PatchHulls:
    """Patches without statements."""
    size = len(image.gram)
    reach = np.zeros(size) if image.distance or not image.gram.size else np.diagonal(image.gram)
    square = room if image.bounds == PROJECTION else 1
    return PatchHulls(
        np.zeros(rows, np.int64),
        np.full(rows, -1, np.int64),
        np.zeros(rows, np.int64),
        np.full(rows, image.whole),
        np.full(rows, image.whole),
        np.zeros((rows, room), np.int64),
        np.zeros((rows, room)),
        np.zeros((rows, room)),
        np.zeros((rows, square, square)),
        np.zeros((rows, room)),
        np.zeros((rows, room)),
        np.tile(reach, (rows, 1)),
        np.zeros((rows, size)),
        np.tile(reach, (rows, 1)),
        np.tile(image.lower, (rows, 1)),
        np.tile(image.upper, (rows, 1)),
    )


@part
def reset(image: ImageArrays, hulls: PatchHulls, row: int) -> None:
    """Forget a patch's statements."""
    hulls.directions[row], hulls.base[row], hulls.dropped[row] = 0, -1, 0
    hulls.whole[row] = hulls.least[row] = image.whole
    hulls.coefficients[row] = 0.0
    hulls.along[row] = 0.0
    overwrite(hulls.lower[row], image.lower)
    overwrite(hulls.upper[row], image.upper)
    for k in range(image.gram.shape[0]):
        reach = 0.0 if image.distance or image.gram.shape[1] == 0 else image.gram[k, k]
        hulls.reach[row, k] = hulls.across[row, k] = reach


def candidate(size: int, room: int) -> Candidate:
    """Room for a candidate."""
    return Candidate(
        np.zeros(room),
        np.zeros(room),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
        np.zeros(5),
    )


@part
def add_rows(rows: Floats, chosen: Integers, weights: Floats, total: Floats) -> None:
    """Add some rows times their weights to a total (P,), four at a time."""
    count = len(chosen)
    for begin in range(0, count, 4):
        second, third, fourth = min(begin + 1, count - 1), min(begin + 2, count - 1), min(begin + 3, count - 1)
        a, b = weights[begin], weights[second] if begin + 1 < count else 0.0
        c, d = weights[third] if begin + 2 < count else 0.0, weights[fourth] if begin + 3 < count else 0.0
        one, two, three, four = rows[chosen[begin]], rows[chosen[second]], rows[chosen[third]], rows[chosen[fourth]]
        for k in range(len(total)):
            total[k] += a * one[k] + b * two[k] + (c * three[k] + d * four[k])
