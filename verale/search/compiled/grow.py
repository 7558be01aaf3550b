"""Growing in machine code: statements against the worst rival until all rivals lose; see `verale.search.grow`."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from verale.search.compiled.arrays import overwrite
from verale.search.compiled.blame import Blame, blame_of, blame_patches, first_open
from verale.search.compiled.hull import DEPENDENT, Candidate, PatchHulls, candidate, commit, hulls_of, try_statement
from verale.search.compiled.image import MAXIMUM, Booleans, Floats, ImageArrays, Integers
from verale.search.compiled.jit import entry
from verale.search.compiled.maximum import Nearest
from verale.search.compiled.parts import part
from verale.search.compiled.pool import Pooled, all_margins, pool, pooled_of, replace_pooled, try_pooled

__all__ = ["GIVEN_UP", "GROWN", "STAYS_OPEN", "grow_statements"]

GROWN, STAYS_OPEN, GIVEN_UP = 0, 1, 2
"""How growth ends."""

_STATEMENTS_PER_ROUND = 16


class GrowthArrays(NamedTuple):
    """Memory for growth.

    Attributes:
        weights: (P * K,) those of rivals that are still open.
        margins: (K,) theirs.
        tried: (2, K) theirs after either of two statements.
        still: (K,) which of the rivals are open.
        open_: (L, P) which pairs can be stated.
        statements: (L * P, 2) patches and prototypes.
        loss: (P,) what not knowing each activation costs.
        patch_used: (L,) which patches have a statement of this round.
    """

    weights: Floats
    margins: Floats
    tried: Floats
    still: Integers
    open_: Booleans
    statements: Integers
    loss: Floats
    patch_used: Booleans


def grow_statements(image: ImageArrays, room: int, guard: float, most: float) -> tuple[int, Integers]:
    """Statements whose margins all exceed `guard`, as (S, 2) patches and prototypes in their order, and how it ended.

    Args:
        image: what to explain.
        room: directions of a patch, at most.
        guard: a rival is closed when its margin exceeds this.
        most: growth with more statements is given up.
    """
    (patches, size), rivals = image.low.shape, len(image.bias)
    growth = GrowthArrays(
        np.empty(size * rivals),
        np.empty(rivals),
        np.empty((2, rivals)),
        np.empty(rivals, np.int64),
        image.allowed.copy(),
        np.empty((patches * size, 2), np.int64),
        np.empty(size),
        np.empty(patches, np.bool_),
    )
    hulls, trials = hulls_of(image, patches, room), (candidate(size, room), candidate(size, room))
    blame = None if image.pooling == MAXIMUM else blame_of(patches)
    end, count = _grow(image, guard, most, growth, hulls, trials, pooled_of(image), blame)
    return end, growth.statements[:count].copy()


@entry
def _grow(
    image: ImageArrays, guard: float, most: float, growth: GrowthArrays, hulls: PatchHulls,
    trials: tuple[Candidate, Candidate], pooled: Pooled, blame: Blame | None,
) -> tuple[int, int]:  # fmt: skip
    """How growth ended, and how many statements there are. `blame` is None under max pooling."""
    pool(image, pooled, hulls.lower, hulls.upper)
    weights, margins, one, two = image.weights, growth.margins, growth.tried[0], growth.tried[1]
    all_margins(image, pooled, margins)
    open_, loss, patch_used, count = growth.open_, growth.loss, growth.patch_used, 0
    while True:
        rival = _worst(margins)
        if margins[rival] > guard:
            return GROWN, count
        if count > most:
            return GIVEN_UP, count
        still = _still_open(margins, guard, growth.still)
        if 4 * still <= 3 * len(margins):
            _leave(weights, margins, growth.still[:still], growth.weights)
            weights, margins = growth.weights[: len(loss) * still].reshape(len(loss), still), margins[:still]
            one, two = growth.tried[0, :still], growth.tried[1, :still]
            rival = _worst(margins)
        _losses(image, pooled, weights, rival, loss)
        if blame is not None:
            blame_patches(image, pooled.patches, weights[:, rival], loss, open_, blame)  # type: ignore[arg-type]
        patch_used[:] = False
        deficit, promised, stated = guard - margins[rival], 0.0, 0
        while stated < _STATEMENTS_PER_ROUND and not (stated > 0 and promised >= deficit):
            patch, named, promise = _next(image, pooled.nearest, blame, weights, rival, loss, open_, patch_used)
            if patch < 0:
                break
            promised += promise
            loss[named] = -1.0
            patch_used[patch] = True
            if not open_[patch, named]:
                named = first_open(open_[patch])
            pursued = _most_explaining(image, hulls, patch, open_[patch], named)
            chosen, trial, tried = pursued, trials[0], one
            try_statement(image, hulls, patch, patch, pursued, trial)
            try_pooled(image, weights, pooled, patch, trial.lower, trial.upper, margins, one)
            if named != pursued:
                other = trials[1]
                try_statement(image, hulls, patch, patch, named, other)
                try_pooled(image, weights, pooled, patch, other.lower, other.upper, margins, two)
                if _deficit(two, guard) < _deficit(one, guard):
                    chosen, trial, tried = named, other, two
            commit(image, hulls, patch, patch, chosen, trial)
            replace_pooled(image, pooled, patch, trial.lower, trial.upper)
            overwrite(margins, tried)
            open_[patch, chosen] = False
            growth.statements[count, 0], growth.statements[count, 1] = patch, chosen
            count += 1
            stated += 1
        if stated == 0:
            return STAYS_OPEN, count


@part
def _worst(margins: Floats) -> int:
    """The rival with the least margin."""
    worst = 0
    for c in range(len(margins)):
        if margins[c] < margins[worst]:
            worst = c
    return worst


@part
def _still_open(margins: Floats, guard: float, still: Integers) -> int:
    """List the rivals that are not closed; bounds only get tighter, so closed ones stay closed."""
    count = 0
    for c in range(len(margins)):
        if not margins[c] > guard:
            still[count] = c
            count += 1
    return count


@part
def _leave(weights: Floats, margins: Floats, still: Integers, kept: Floats) -> None:
    """Keep the margins and the weights (P, K) of some rivals; `kept` may be the memory of these weights, because no
    number is written behind where it was read."""
    count = len(still)
    for k in range(len(weights)):
        for c in range(count):
            kept[k * count + c] = weights[k, still[c]]
    for c in range(count):
        margins[c] = margins[still[c]]


@part
def _deficit(margins: Floats, guard: float) -> float:
    """The sum of what open rivals lack."""
    lacking = 0.0
    for margin in margins:
        lacking += max(guard - margin, 0.0)
    return lacking


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
def _next(
    image: ImageArrays, nearest: Nearest | None, blame: Blame | None, weights: Floats, rival: int, loss: Floats,
    open_: Booleans, patch_used: Booleans,
) -> tuple[int, int, float]:  # fmt: skip
    """The patch and the prototype to state next, and what that is hoped to gain; (-1, -1, 0) if there is none."""
    patch, named, promise = -1, -1, 0.0
    if nearest is not None:
        patch, named = _costliest(image, nearest, weights, rival, loss, open_, patch_used)
        if patch >= 0:
            promise = loss[named]
    if blame is not None:
        patch, named = _most_blamed(blame, patch_used)
        if patch >= 0:
            promise = blame.most[patch]
    return patch, named, promise


@part
def _costliest(
    image: ImageArrays, nearest: Nearest, weights: Floats, rival: int, loss: Floats, open_: Booleans,
    patch_used: Booleans,
) -> tuple[int, int]:  # fmt: skip
    """The patch and the prototype to state for the costliest activation that a statement can help; (-1, -1) if none.

    To prove an activation high, the patch that attains it is stated; to prove it low, the one that may exceed it most.
    A pair that must be avoided is named too: another one of its patch may help.
    """
    attained, exceeding, allowed = image.attained, nearest.patch[0], image.allowed
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
