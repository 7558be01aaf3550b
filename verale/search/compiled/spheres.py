"""Hypersphere in plain float64: one virtual anchor a patch, moved by each statement; see `verale.bounds.hypersphere`.

Rows keep the prototypes of the statements that moved the anchor (`anchors`), their weights in it (`offset`), what they
state (`centre`, half of its width `spoiled`), the anchor's moment (`whole`), and whether it may have moved otherwise in
the checker (`least`): then nothing more is concluded.
"""

from __future__ import annotations

import math

from verale.search.compiled.arrays import overwrite
from verale.search.compiled.image import Floats, ImageArrays
from verale.search.compiled.parts import part
from verale.search.compiled.rows import AS_DIRECTION, UNUSED, Candidate, PatchHulls, add_rows

__all__ = ["commit_to_sphere", "try_in_sphere"]

_STEPS = 2.0**18
_CONCENTRIC = 2.0**-13
"""See `verale.bounds.hypersphere`."""
_UNDECIDED = 1e-4
"""A multiplier that is so near to the middle of two multiples may be rounded to either, by other digits."""


@part
def try_in_sphere(
    image: ImageArrays, pairs: Floats, hulls: PatchHulls, row: int, patch: int, prototype: int, trial: Candidate
) -> None:
    """What the patch in this row would be if the observable of a prototype were stated too, but for its own ends."""
    overwrite(trial.lower, hulls.lower[row])
    overwrite(trial.upper, hulls.upper[row])
    trial.ends[1], trial.ends[4] = hulls.least[row], UNUSED
    count = hulls.directions[row]
    if hulls.least[row] > 0.0 or count == len(trial.row):
        return
    stated = (image.low[patch, prototype] + image.high[patch, prototype]) / 2
    width = (image.high[patch, prototype] - image.low[patch, prototype]) / 2
    own, new, moves, decided = 0.0, 1.0, True, True
    if count > 0:
        own, new, moves, decided = _multipliers(image.distance, pairs, hulls, row, prototype, stated)
    if not decided:
        trial.ends[1] = 1.0
    if not (decided and moves):
        return
    anchors, sums = hulls.anchors[row], trial.direction
    for i in range(count):
        trial.row[i] = own * hulls.offset[row, i]
    trial.row[count] = new
    for k in range(len(sums)):
        sums[k] = new * pairs[prototype, k]
    add_rows(pairs, anchors[:count], trial.row, sums)
    moment, radius, spread = new * sums[prototype], new * stated, abs(new) * width
    for i in range(count):
        weight = trial.row[i]
        moment += weight * sums[anchors[i]]
        radius += weight * hulls.centre[row, i]
        spread += abs(weight) * hulls.spoiled[row, i]
    if image.distance:
        moment /= 2
        _bound_distances(trial, moment, radius - moment, spread)
    else:
        _bound_cosines(trial, math.sqrt(max(moment, 1e-300)), radius, spread)
    trial.ends[0], trial.ends[2], trial.ends[3], trial.ends[4] = moment, stated, width, AS_DIRECTION


@part
def _multipliers(
    distance: bool, pairs: Floats, hulls: PatchHulls, row: int, prototype: int, stated: float
) -> tuple[float, float, bool, bool]:
    """Of the anchor and of the prototype; whether the anchor moves; whether plain floats can tell."""
    inner, radius, moment = 0.0, 0.0, hulls.whole[row]
    for i in range(hulls.directions[row]):
        inner += hulls.offset[row, i] * pairs[hulls.anchors[row, i], prototype]
        radius += hulls.offset[row, i] * hulls.centre[row, i]
    if distance:
        radius -= moment
        apart, least = inner - moment, _CONCENTRIC * (radius + stated)
        if not apart > least:
            return 0.0, 0.0, False, apart < least * (1 - _UNDECIDED)
        new, is_sure = _rounded(0.5 + (radius - stated) / (2 * apart))
        return 1 - new, new, True, is_sure and apart > least * (1 + _UNDECIDED)
    spread, least = moment - inner * inner, _CONCENTRIC * moment
    if not spread > least:
        return 0.0, 0.0, False, spread < least * (1 - _UNDECIDED)
    own, new = (radius - stated * inner) / spread, (stated * moment - radius * inner) / spread
    length = own * radius + new * stated
    clear = spread > least * (1 + _UNDECIDED)
    if not length > _CONCENTRIC:
        return 0.0, 0.0, False, clear and length < _CONCENTRIC * (1 - _UNDECIDED)
    own, own_sure = _rounded(own)
    new, new_sure = _rounded(new)
    return own, new, True, clear and own_sure and new_sure and length > _CONCENTRIC * (1 + _UNDECIDED)


@part
def _rounded(multiplier: float) -> tuple[float, bool]:
    """The nearest multiple, and whether it is surely that one."""
    steps = multiplier * _STEPS + 0.5
    nearest = math.floor(steps)
    return nearest / _STEPS, _UNDECIDED < steps - nearest < 1 - _UNDECIDED


@part
def _bound_distances(trial: Candidate, moment: float, radius: float, spread: float) -> None:
    inner, outer = math.sqrt(max(radius - spread, 0.0)), math.sqrt(max(radius + spread, 0.0))
    for k in range(len(trial.lower)):
        apart = math.sqrt(max(trial.direction[k] - moment, 0.0))
        least, most = max(apart - outer, inner - apart, 0.0), apart + outer
        trial.lower[k], trial.upper[k] = max(trial.lower[k], least * least), min(trial.upper[k], most * most)


@part
def _bound_cosines(trial: Candidate, length: float, radius: float, spread: float) -> None:
    low, high = (radius - spread) / length, (radius + spread) / length
    nearest = max(low, -high, 0.0)
    rest = math.sqrt(max(1 - nearest * nearest, 0.0))
    for k in range(len(trial.lower)):
        inner = min(max(trial.direction[k] / length, -1.0), 1.0)
        swing = rest * math.sqrt(1 - inner * inner)
        first, last = low * inner, high * inner
        trial.lower[k] = max(trial.lower[k], min(first, last) - swing)
        trial.upper[k] = min(trial.upper[k], max(first, last) + swing)


@part
def commit_to_sphere(
    image: ImageArrays, hulls: PatchHulls, row: int, patch: int, prototype: int, trial: Candidate
) -> None:
    """The patch becomes what was tried, but for its ranges."""
    hulls.least[row] = trial.ends[1]
    if trial.ends[4] == AS_DIRECTION:
        new = hulls.directions[row]
        hulls.anchors[row, new] = prototype
        overwrite(hulls.offset[row, : new + 1], trial.row)
        hulls.centre[row, new], hulls.spoiled[row, new] = trial.ends[2], trial.ends[3]
        hulls.whole[row] = trial.ends[0]
        hulls.directions[row] = new + 1
