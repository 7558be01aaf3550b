"""Growing in machine code: statements against the worst rival, or in the published order, until all rivals lose."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from verale.search.compiled.arrays import overwrite
from verale.search.compiled.blame import Blame, blame_of, blame_patches, first_open
from verale.search.compiled.hull import DEPENDENT
from verale.search.compiled.image import MAXIMUM, PROJECTION, Booleans, Floats, ImageArrays, Integers
from verale.search.compiled.jit import entry
from verale.search.compiled.maximum import Nearest
from verale.search.compiled.parts import part
from verale.search.compiled.patch import commit, try_statement
from verale.search.compiled.pool import Pooled, all_margins, pool, pooled_of, replace_pooled, try_pooled
from verale.search.compiled.readout import wishes
from verale.search.compiled.rows import Candidate, PatchHulls, candidate, hulls_of

__all__ = ["GIVEN_UP", "GROWN", "STAYS_OPEN", "Grown", "grow_statements", "sweep_statements"]

GROWN, STAYS_OPEN, GIVEN_UP = 0, 1, 2
"""How growth ends."""

_STATEMENTS_PER_ROUND = 16


class Grown(NamedTuple):
    """What growth gives.

    Attributes:
        end: how it ended.
        statements: (S, 2) patches and prototypes, in their order.
        worst, margin: the worst rival, by its place among all rivals, and its margin.
    """

    end: int
    statements: Integers
    worst: int
    margin: float


class GrowthArrays(NamedTuple):
    """Memory for growth.

    Attributes:
        weights: (P * K,) those of rivals that are still open.
        margins: (K,) theirs.
        tried: (2, K) theirs after either of two statements.
        still: (K,) which of the rivals are open.
        open_: (L, P) which pairs can be stated.
        statements: (L * P, 2) patches and prototypes.
        wish: (P,) what the worst rival's margin gains with each activation; negative where it has to be low.
        loss: (P,) what not knowing each activation costs.
        patch_used: (L,) which patches have a statement of this round.
    """

    weights: Floats
    margins: Floats
    tried: Floats
    still: Integers
    open_: Booleans
    statements: Integers
    wish: Floats
    loss: Floats
    patch_used: Booleans


def grow_statements(image: ImageArrays, guard: float, most: float) -> Grown:
    """Statements whose margins all exceed `guard`, each against the worst rival.

    A rival is open while its margin is not above the guard. In each round, the worst open rival names the activations
    that cost it most, and each of those names a patch: the one that attains the activation (to prove it high) or one
    that may exceed it (to prove it low). As many patches as the rival's deficit calls for get one statement each:
    either the named prototype (another one where that is avoided), or the one that explains most of what is unknown of
    the latent. The one that leaves the smaller sum of open deficits wins, the latter on a tie. What statements gain is
    divided by what they cost.

    Args:
        image: what to explain.
        guard: a rival is closed when its margin exceeds this.
        most: growth with more statements is given up.
    """
    (patches, size), rivals, room = image.low.shape, len(image.bias), image.room
    growth = GrowthArrays(
        np.empty(size * rivals),
        np.empty(rivals),
        np.empty((2, rivals)),
        np.empty(rivals, np.int64),
        image.allowed.copy(),
        np.empty((patches * size, 2), np.int64),
        np.empty(size),
        np.empty(size),
        np.empty(patches, np.bool_),
    )
    hulls = hulls_of(image, patches, room)
    blame = None if image.pooling == MAXIMUM else blame_of(patches)
    end, count = _grow(
        image, guard, most, growth, hulls, candidate(size, room), candidate(size, room), pooled_of(image), blame
    )
    worst = int(growth.margins.argmin())
    return Grown(end, growth.statements[:count].copy(), worst, float(growth.margins[worst]))


def sweep_statements(image: ImageArrays, order: Integers, width: int, guard: float, most: float) -> Grown:
    """The same in the published order (Soria et al., arXiv 2511.16588): statements (S, 2) as they are listed, `width`
    of them at a time, one a patch."""
    (patches, size), room, margins = image.low.shape, image.room, np.empty(len(image.bias))
    hulls = hulls_of(image, patches, room)
    end, count = _sweep(image, order, width, guard, most, margins, hulls, candidate(size, room), pooled_of(image))
    worst = int(margins.argmin())
    return Grown(end, order[:count], worst, float(margins[worst]))


@entry
def _sweep(
    image: ImageArrays, order: Integers, width: int, guard: float, most: float, margins: Floats, hulls: PatchHulls,
    trial: Candidate, pooled: Pooled,
) -> tuple[int, int]:  # fmt: skip
    """How it ended, and how many statements there are."""
    pool(image, pooled, hulls.lower, hulls.upper)
    count = 0
    while True:
        all_margins(image, pooled, margins)
        if margins[_worst(margins)] > guard:
            return GROWN, count
        if count > most:
            return GIVEN_UP, count
        if count == len(order):
            return STAYS_OPEN, count
        for at in range(count, count + width):
            patch, prototype = order[at, 0], order[at, 1]
            try_statement(image, hulls, patch, patch, prototype, trial)
            commit(image, hulls, patch, patch, prototype, trial)
            replace_pooled(image, pooled, patch, trial.lower, trial.upper)
        count += width


@entry
def _grow(
    image: ImageArrays, guard: float, most: float, growth: GrowthArrays, hulls: PatchHulls,
    first: Candidate, second: Candidate, pooled: Pooled, blame: Blame | None,
) -> tuple[int, int]:  # fmt: skip
    """How growth ended, and how many statements there are. `blame` is None under max pooling."""
    pool(image, pooled, hulls.lower, hulls.upper)
    weights, margins, one, two = image.weights, growth.margins, growth.tried[0], growth.tried[1]
    all_margins(image, pooled, margins)
    open_, wish, loss, patch_used, count = growth.open_, growth.wish, growth.loss, growth.patch_used, 0
    while True:
        rival = _worst(margins)
        if margins[rival] > guard:
            return GROWN, count
        if count > most:
            return GIVEN_UP, count
        still = _still_open(margins, guard, growth.still)
        if image.readout is None and 4 * still <= 3 * len(margins):
            _leave(weights, margins, growth.still[:still], growth.weights)
            weights, margins = growth.weights[: len(loss) * still].reshape(len(loss), still), margins[:still]
            one, two = growth.tried[0, :still], growth.tried[1, :still]
            rival = _worst(margins)
        wishes(image.readout, weights, rival, image.actual, pooled.high, pooled.low, wish)
        _losses(image, pooled, wish, loss)
        if blame is not None:
            blame_patches(image, pooled.patches, wish, loss, open_, blame)  # type: ignore[arg-type]
        patch_used[:] = False
        deficit, promised, stated = guard - margins[rival], 0.0, 0
        while stated < _STATEMENTS_PER_ROUND and not (stated > 0 and promised >= deficit):
            patch, named, promise = _next(image, pooled.nearest, blame, wish, loss, open_, patch_used)
            if patch < 0:
                break
            promised += promise
            loss[named] = -1.0
            patch_used[patch] = True
            if not open_[patch, named]:
                named = first_open(open_[patch])
            pursued = _most_explaining(image, hulls, patch, open_[patch], named)
            chosen, trial, tried = pursued, first, one
            try_statement(image, hulls, patch, patch, pursued, trial)
            try_pooled(image, weights, pooled, patch, trial.lower, trial.upper, margins, one)
            if named != pursued:
                try_statement(image, hulls, patch, patch, named, second)
                try_pooled(image, weights, pooled, patch, second.lower, second.upper, margins, two)
                before, costs = _deficit(margins, guard), image.costs[patch]
                gained, other_gained = before - _deficit(one, guard), before - _deficit(two, guard)
                if other_gained * costs[pursued] > gained * costs[named]:
                    chosen, trial, tried = named, second, two
            commit(image, hulls, patch, patch, chosen, trial)
            replace_pooled(image, pooled, patch, trial.lower, trial.upper)
            overwrite(margins, tried)
            open_[patch, chosen] = False
            growth.statements[count, 0], growth.statements[count, 1] = patch, chosen
            count += 1
            stated += 1
        if stated == 0:
            all_margins(image, pooled, growth.margins)
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
def _losses(image: ImageArrays, pooled: Pooled, wish: Floats, loss: Floats) -> None:
    """What not knowing each activation costs against a rival."""
    for k in range(len(loss)):
        weight = wish[k]
        if weight > 0.0:
            loss[k] = weight * (image.actual[k] - pooled.low[k])
        else:
            loss[k] = weight * (image.actual[k] - pooled.high[k])


@part
def _next(
    image: ImageArrays, nearest: Nearest | None, blame: Blame | None, wish: Floats, loss: Floats, open_: Booleans,
    patch_used: Booleans,
) -> tuple[int, int, float]:  # fmt: skip
    """The patch and the prototype to state next, and what that is hoped to gain; (-1, -1, 0) if there is none."""
    patch, named, promise = -1, -1, 0.0
    if nearest is not None:
        patch, named = _costliest(image, nearest, wish, loss, open_, patch_used)
        if patch >= 0:
            promise = loss[named]
    if blame is not None:
        patch, named = _most_blamed(image, blame, patch_used)
        if patch >= 0:
            promise = blame.most[patch]
    return patch, named, promise


@part
def _costliest(
    image: ImageArrays, nearest: Nearest, wish: Floats, loss: Floats, open_: Booleans, patch_used: Booleans
) -> tuple[int, int]:  # fmt: skip
    """The patch and the prototype to state for the costliest activation that a statement can help; (-1, -1) if none.

    To prove an activation high, the patch that attains it is stated; to prove it low, the one that may exceed it most.
    A pair that must be avoided is named too: another one of its patch may help.
    """
    attained, exceeding, allowed = image.attained, nearest.patch[0], image.allowed
    where, named, most = -1, -1, 0.0
    for k in range(len(loss)):
        if loss[k] > 0.0:
            patch = attained[k] if wish[k] > 0.0 else exceeding[k]
            worth = loss[k] / image.costs[patch, k]
            if not worth > most:
                continue
            if not patch_used[patch] and (open_[patch, k] or (not allowed[patch, k] and first_open(open_[patch]) >= 0)):
                where, named, most = patch, k, worth
    return where, named


@part
def _most_blamed(image: ImageArrays, blame: Blame, patch_used: Booleans) -> tuple[int, int]:
    """The patch that is blamed most in total, and the prototype that it is blamed for most; (-1, -1) if none."""
    where, most = -1, -math.inf
    for patch in range(len(patch_used)):
        worth = blame.total[patch] / image.costs[patch, blame.prototype[patch]]
        if not patch_used[patch] and blame.most[patch] > 0.0 and worth > most:
            where, most = patch, worth
    return (where, blame.prototype[where]) if where >= 0 else (-1, -1)


@part
def _most_explaining(image: ImageArrays, hulls: PatchHulls, patch: int, open_: Booleans, named: int) -> int:
    """The prototype that says most of the patch, by what it costs.

    By orthogonal matching pursuit, that is the one along whose unexplained part the unexplained latent lies most; of
    masses it is the largest, and for other bounds the nearest prototype.
    """
    best, most = named, -math.inf
    for k in range(len(open_)):
        if not open_[k]:
            continue
        observed = (image.low[patch, k] + image.high[patch, k]) / 2
        if image.bounds == PROJECTION and not (image.distance and hulls.base[patch] < 0):
            across = hulls.across[patch, k]
            if image.distance:
                unexplained = (hulls.whole[patch] + hulls.reach[patch, k] - observed) / 2 - hulls.along[patch, k]
            else:
                unexplained = observed - image.shift[k] - hulls.along[patch, k]
            score = -1.0
            if across > DEPENDENT * hulls.reach[patch, k]:
                score = unexplained * unexplained / max(across, 1e-300)
        elif image.bounds != PROJECTION and image.formula.peaked:
            score = -abs(observed - image.peak[k])
        else:
            score = -observed if image.distance else observed
        cost = image.costs[patch, k]
        score = score / cost if score > 0.0 else score * cost
        if score > most:
            best, most = k, score
    return best
