"""Growing in machine code: statements against the worst rival until all rivals lose; see `verale.search.grow`."""

from __future__ import annotations

import math

import numpy as np

from verale.search.compiled.blame import Blame, blame_patches, first_open
from verale.search.compiled.hull import DEPENDENT, PatchHulls, candidate, commit, hulls_of, try_statement
from verale.search.compiled.image import MAXIMUM, Booleans, Floats, ImageArrays, Integers
from verale.search.compiled.jit import entry, part
from verale.search.compiled.pool import Pooled, all_margins, pool, replace_pooled, try_pooled

__all__ = ["GIVEN_UP", "GROWN", "STAYS_OPEN", "grow_statements"]

GROWN, STAYS_OPEN, GIVEN_UP = 0, 1, 2
"""How growth ends."""

_STATEMENTS_PER_ROUND = 16


@entry
def grow_statements(image: ImageArrays, room: int, guard: float, most: float) -> tuple[int, Integers]:
    """Statements whose margins all exceed `guard`, as (S, 2) patches and prototypes in their order, and how it ended.

    Args:
        image: what to explain.
        room: directions of a patch, at most.
        guard: a rival is closed when its margin exceeds this.
        most: growth with more statements is given up.
    """
    patches, size = image.low.shape
    hulls = hulls_of(image, patches, room)
    trials = candidate(size, room), candidate(size, room)
    pooled = pool(image, hulls.lower, hulls.upper)
    weights, margins = image.weights, all_margins(image, pooled)
    tried = np.empty((2, len(margins)))
    open_ = image.allowed.copy()
    statements, count = np.empty((patches * size, 2), np.int64), 0
    loss, patch_used = np.empty(size), np.zeros(patches, np.bool_)
    blame = Blame(np.empty(patches), np.empty(patches), np.zeros(patches, np.int64), np.empty(patches))
    while True:
        rival = _worst(margins)
        if margins[rival] > guard:
            return GROWN, statements[:count].copy()
        if count > most:
            return GIVEN_UP, statements[:count].copy()
        still = _still_open(margins, guard)
        if 4 * len(still) <= 3 * len(margins):
            weights, margins = weights[:, still].copy(), margins[still].copy()
            tried = np.empty((2, len(still)))
            rival = _worst(margins)
        _losses(image, pooled, weights, rival, loss)
        if image.pooling != MAXIMUM:
            blame_patches(image, pooled, weights[:, rival], loss, open_, blame)
        patch_used[:] = False
        deficit, promised, stated = guard - margins[rival], 0.0, 0
        while stated < _STATEMENTS_PER_ROUND and not (stated > 0 and promised >= deficit):
            if image.pooling == MAXIMUM:
                patch, named = _costliest(image, pooled, weights, rival, loss, open_, patch_used)
            else:
                patch, named = _most_blamed(blame, patch_used)
            if patch < 0:
                break
            promised += loss[named] if image.pooling == MAXIMUM else blame.most[patch]
            loss[named] = -1.0
            patch_used[patch] = True
            if not open_[patch, named]:
                named = first_open(open_[patch])
            pursued = _most_explaining(image, hulls, patch, open_[patch], named)
            chosen, best = pursued, 0
            try_statement(image, hulls, patch, patch, pursued, trials[0])
            try_pooled(image, weights, pooled, patch, trials[0].lower, trials[0].upper, margins, tried[0])
            if named != pursued:
                try_statement(image, hulls, patch, patch, named, trials[1])
                try_pooled(image, weights, pooled, patch, trials[1].lower, trials[1].upper, margins, tried[1])
                if _deficit(tried[1], guard) < _deficit(tried[0], guard):
                    chosen, best = named, 1
            trial = trials[best]
            commit(image, hulls, patch, patch, chosen, trial)
            replace_pooled(image, pooled, patch, trial.lower, trial.upper)
            margins[:] = tried[best]
            open_[patch, chosen] = False
            statements[count, 0], statements[count, 1] = patch, chosen
            count += 1
            stated += 1
        if stated == 0:
            return STAYS_OPEN, statements[:count].copy()


@part
def _worst(margins: Floats) -> int:
    """The rival with the least margin."""
    worst = 0
    for c in range(len(margins)):
        if margins[c] < margins[worst]:
            worst = c
    return worst


@part
def _still_open(margins: Floats, guard: float) -> Integers:
    """The rivals that are not closed; bounds only get tighter, so closed ones stay closed."""
    kept, count = np.empty(len(margins), np.int64), 0
    for c in range(len(margins)):
        if not margins[c] > guard:
            kept[count] = c
            count += 1
    return kept[:count]


@part
def _deficit(margins: Floats, guard: float) -> float:
    """The sum of what open rivals lack."""
    total = 0.0
    for margin in margins:
        total += max(guard - margin, 0.0)
    return total


@part
def _losses(image: ImageArrays, pooled: Pooled, weights: Floats, rival: int, loss: Floats) -> None:
    """What not knowing each activation costs against a rival."""
    for k in range(len(loss)):
        weight = weights[k, rival]
        if weight > 0.0:
            loss[k] = weight * (image.actual[k] - pooled.low[k])
        else:
            loss[k] = weight * (image.actual[k] - pooled.high[k])


@part
def _costliest(
    image: ImageArrays, pooled: Pooled, weights: Floats, rival: int, loss: Floats, open_: Booleans,
    patch_used: Booleans,
) -> tuple[int, int]:  # fmt: skip
    """The patch and the prototype to state for the costliest activation that a statement can help; (-1, -1) if none.

    To prove an activation high, the patch that attains it is stated; to prove it low, the one that may exceed it most.
    A pair that must be avoided is named too: another one of its patch may help.
    """
    attained, exceeding, allowed = image.attained, pooled.nearest.patch[0], image.allowed
    where, named, most = -1, -1, 0.0
    for k in range(len(loss)):
        if loss[k] > most:
            patch = attained[k] if weights[k, rival] > 0.0 else exceeding[k]
            if not patch_used[patch] and (open_[patch, k] or (not allowed[patch, k] and first_open(open_[patch]) >= 0)):
                where, named, most = patch, k, loss[k]
    return where, named


@part
def _most_blamed(blame: Blame, patch_used: Booleans) -> tuple[int, int]:
    """The patch that is blamed most in total, and the prototype that it is blamed for most; (-1, -1) if none."""
    where, most = -1, -math.inf
    for patch in range(len(patch_used)):
        if not patch_used[patch] and blame.most[patch] > 0.0 and blame.total[patch] > most:
            where, most = patch, blame.total[patch]
    return (where, blame.prototype[where]) if where >= 0 else (-1, -1)


@part
def _most_explaining(image: ImageArrays, hulls: PatchHulls, patch: int, open_: Booleans, named: int) -> int:
    """Orthogonal matching pursuit: the prototype whose unexplained part the unexplained latent lies along most."""
    best, most = named, -math.inf
    for k in range(len(open_)):
        if not open_[k]:
            continue
        observed = (image.low[patch, k] + image.high[patch, k]) / 2
        if image.distance and hulls.base[patch] < 0:
            score = -observed
        else:
            across = hulls.across[patch, k]
            if image.distance:
                unexplained = (hulls.whole[patch] + hulls.reach[patch, k] - observed) / 2 - hulls.along[patch, k]
            else:
                unexplained = observed - image.shift[k] - hulls.along[patch, k]
            score = -1.0
            if across > DEPENDENT * hulls.reach[patch, k]:
                score = unexplained * unexplained / max(across, 1e-300)
        if score > most:
            best, most = k, score
    return best
