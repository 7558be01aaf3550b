"""What statements about a patch say of its observables: the projection of `verale.bounds.projection` in plain float64.

A patch has a base (its first prototype; the ball's centre unless observables are distances) and orthonormal directions
e_i = sum_j coefficients_ij b_anchor(j), with b_k = x_k - base. Statements may be intervals: `tilt` and `spoiled` are
what their widths cost.
"""

from __future__ import annotations

import math

from verale.search.compiled.arrays import overwrite
from verale.search.compiled.image import TRIANGLE, Floats, ImageArrays
from verale.search.compiled.parts import part
from verale.search.compiled.rows import AS_BASE, AS_DIRECTION, UNUSED, Candidate, PatchHulls, add_rows

__all__ = ["DEPENDENT", "bound", "commit_to_hull", "try_in_hull"]

DEPENDENT = 1e-9
"""See `verale.bounds.projection`."""

_TOO_WIDE = 1 - 1e-6
"""See `verale.bounds.projection`."""


@part
def bound(
    image: ImageArrays,
    whole: float,
    least: float,
    ball: float,
    tilt: float,
    reach: Floats,
    along: Floats,
    across: Floats,
    first: Floats,
    last: Floats,
    lower: Floats,
    upper: Floats,
) -> None:
    """The ranges of all observables of a patch, within those from `first` to `last`."""
    factor = 2.0 if image.distance else 1.0
    # Short loops with few arrays each: the compiler makes vectors of them.
    for k in range(len(lower)):
        rest = across[k] * ball
        lower[k] = factor * math.sqrt(rest if rest > 0.0 else 0.0)
    if tilt > 0.0:
        for k in range(len(lower)):
            lower[k] += factor * tilt * math.sqrt(max(reach[k] - across[k], 0.0))
    if image.distance:
        for k in range(len(lower)):
            upper[k] = reach[k] - 2 * along[k]
        for k in range(len(lower)):
            swing, middle = lower[k], upper[k]
            lower[k], upper[k] = middle + least - swing, middle + whole + swing
    else:
        shift = image.shift
        for k in range(len(lower)):
            swing, middle = lower[k], along[k] + shift[k]
            lower[k], upper[k] = middle - swing, middle + swing
    for k in range(len(lower)):
        low, high = lower[k], upper[k]
        lower[k] = low if low > first[k] else first[k]
        upper[k] = high if high < last[k] else last[k]


@part
def try_in_hull(image: ImageArrays, hulls: PatchHulls, row: int, patch: int, prototype: int, trial: Candidate) -> None:
    """What the patch in this row would be if the observable of a prototype were stated too, but for its own ends."""
    gram, size, count = image.gram, image.gram.shape[0], hulls.directions[row]
    low, high = image.low[patch, prototype], image.high[patch, prototype]
    middle, error = (low + high) / 2, (high - low) / 2
    trial.ends[:] = 0.0
    whole, least = hulls.whole[row], hulls.least[row]
    if image.distance and hulls.base[row] < 0:
        trial.ends[4] = AS_BASE
        whole, least = high, low
        for k in range(size):
            reach = gram[k, k] - 2 * gram[prototype, k] + gram[prototype, prototype]
            trial.reach[k] = trial.across[k] = reach if reach > 0.0 else 0.0
            trial.along[k] = 0.0
    else:
        overwrite(trial.reach, hulls.reach[row])
        residual = hulls.across[row, prototype]
        # Where prototypes are nearly dependent, rounding leaves more directions than there are dimensions, and room.
        is_full = count == len(trial.row)
        if is_full or not (residual > DEPENDENT * hulls.reach[row, prototype] and residual > image.least_residual):
            trial.ends[4] = UNUSED
            overwrite(trial.along, hulls.along[row])
            overwrite(trial.across, hulls.across[row])
        else:
            if image.distance:
                offset = ((whole + least) / 2 + hulls.reach[row, prototype] - middle) / 2
                error = (error + (whole - least) / 2) / 2
            else:
                offset = middle - image.shift[prototype]
            _add_direction(image, hulls, row, prototype, offset, error, trial)
    weight, spoiled, tilt = trial.ends[2] ** 2, abs(trial.ends[2]) * trial.ends[3], trial.ends[3] ** 2
    for i in range(count):
        weight += hulls.centre[row, i] ** 2
        spoiled += abs(hulls.centre[row, i]) * hulls.spoiled[row, i]
        tilt += hulls.spoiled[row, i] ** 2
    single = not image.distance and count == 0 and trial.ends[1] ** 2 > _TOO_WIDE * whole * gram[prototype, prototype]
    if single:
        overwrite(trial.lower, hulls.lower[row])
        overwrite(trial.upper, hulls.upper[row])
    else:
        ball = max(whole - weight + 2 * spoiled, 0.0)
        bound(
            image, whole, least, ball, math.sqrt(tilt), trial.reach, trial.along, trial.across, hulls.lower[row],
            hulls.upper[row], trial.lower, trial.upper,
        )  # fmt: skip


@part
def _add_direction(
    image: ImageArrays, hulls: PatchHulls, row: int, prototype: int, offset: float, error: float, trial: Candidate
) -> None:
    """The direction of a prototype: orthogonal to the others, of length 1."""
    gram, size, count, base = image.gram, image.gram.shape[0], hulls.directions[row], hulls.base[row]
    coefficients, anchors = hulls.coefficients[row], hulls.anchors[row]
    for j in range(count):
        trial.known[j] = gram[anchors[j], prototype]
        if image.distance:
            trial.known[j] += gram[base, base] - gram[anchors[j], base] - gram[base, prototype]
    inverse = 1 / math.sqrt(hulls.across[row, prototype])
    trial.row[: count + 1] = 0.0
    trial.row[count] = inverse
    for i in range(count):
        overlap = 0.0
        for j in range(i + 1):
            overlap += coefficients[i, j] * trial.known[j]
        for j in range(i + 1):
            trial.row[j] -= inverse * overlap * coefficients[i, j]
    centre, spoiled = inverse * offset, inverse * error
    for k in range(size):
        trial.direction[k] = inverse * gram[prototype, k]
    total, corner = inverse, 0.0
    if image.distance:
        corner = inverse * (gram[prototype, base] - gram[base, base])
    for j in range(count):
        weight, anchor = trial.row[j], anchors[j]
        centre += weight * hulls.offset[row, j]
        spoiled += abs(weight) * hulls.error[row, j]
        total += weight
        if image.distance:
            corner += weight * (gram[anchor, base] - gram[base, base])
    add_rows(gram, anchors[:count], trial.row, trial.direction)
    if image.distance:
        for k in range(size):
            trial.direction[k] -= total * gram[base, k] + corner
    for k in range(size):
        along = trial.direction[k]
        trial.along[k] = hulls.along[row, k] + centre * along
        rest = hulls.across[row, k] - along * along
        trial.across[k] = rest if rest > 0.0 else 0.0
    trial.ends[0], trial.ends[1], trial.ends[2], trial.ends[3] = offset, error, centre, spoiled
    trial.ends[4] = AS_DIRECTION


@part
def commit_to_hull(
    image: ImageArrays, hulls: PatchHulls, row: int, patch: int, prototype: int, trial: Candidate
) -> None:
    """The patch becomes what was tried, but for its ranges. Under `triangle` each statement stays by itself."""
    if image.bounds == TRIANGLE:
        return
    if trial.ends[4] == AS_BASE:
        hulls.base[row] = prototype
        hulls.whole[row], hulls.least[row] = image.high[patch, prototype], image.low[patch, prototype]
        overwrite(hulls.reach[row], trial.reach)
    elif trial.ends[4] == AS_DIRECTION:
        new = hulls.directions[row]
        hulls.anchors[row, new] = prototype
        hulls.offset[row, new], hulls.error[row, new] = trial.ends[0], trial.ends[1]
        hulls.centre[row, new], hulls.spoiled[row, new] = trial.ends[2], trial.ends[3]
        overwrite(hulls.coefficients[row, new, : new + 1], trial.row)
        hulls.directions[row] = new + 1
    else:
        hulls.dropped[row] += 1
    overwrite(hulls.along[row], trial.along)
    overwrite(hulls.across[row], trial.across)
