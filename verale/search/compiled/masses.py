"""Growing for exact masses: as in `grow`, but only what a statement changes is computed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from verale.search.compiled.arrays import first_greatest, first_least, overwrite
from verale.search.compiled.jit import entry
from verale.search.compiled.parts import part

__all__ = ["GIVEN_UP", "GROWN", "STAYS_OPEN", "Masses", "grow_masses", "move", "most_left"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

GROWN, STAYS_OPEN, GIVEN_UP = 0, 1, 2
"""How growth ends."""

_STATEMENTS_PER_ROUND = 16


class Masses(NamedTuple):
    """One image of L patches, a head of P prototypes, and K rivals of the predicted class. All numbers are estimates.

    Attributes:
        mass: (L, P) the masses.
        weights: (K, P) W_predicted - W_rival.
        bias: (K,) b_predicted - b_rival.
        first, rival, weight: the entries of `weights` other than 0, prototype by prototype: those of prototype k are
            from first[k] to first[k + 1].
    """

    mass: Floats
    weights: Floats
    bias: Floats
    first: Indices
    rival: Indices
    weight: Floats

    @classmethod
    def of(cls, mass: Floats, weights: Floats, bias: Floats) -> Masses:
        """List the weights other than 0."""
        prototype, rival = map(np.ascontiguousarray, np.nonzero(weights.T))
        first = np.searchsorted(prototype, np.arange(weights.shape[1] + 1))
        return cls(mass, weights, bias, first, rival, weights[rival, prototype])


class GrowingMasses(NamedTuple):
    """What is stated, and what follows from it.

    Attributes:
        left: (L,) the remainders.
        order, rank: (L,) the patches by remainder, the greatest first, and where each of them stands.
        stated: (L, P) bool.
        low, high: (P,) the ends of the activations; the lower ones are the greatest stated masses.
        highest: (P,) the patch with the greatest remainder among those at which the prototype is not stated, or -1.
        margins: (K,) lower bounds of the margins.
        attained: (P,) the patch with the greatest mass.
        statements: (L * P, 2) patches and prototypes.
        loss: (P,) what not knowing each activation costs.
        used: (L,) which patches have a statement of this round.
        tried: (2, K) the margins after either of two statements.
    """

    left: Floats
    order: Indices
    rank: Indices
    stated: NDArray[np.bool_]
    low: Floats
    high: Floats
    highest: Indices
    margins: Floats
    attained: Indices
    statements: Indices
    loss: Floats
    used: NDArray[np.bool_]
    tried: Floats


@part
def move(order: Indices, rank: Indices, left: Floats, patch: int) -> None:
    """Put a patch where it belongs after its remainder has changed; the remainders fall along `order`."""
    at = rank[patch]
    while at > 0 and left[order[at - 1]] < left[patch]:
        order[at] = order[at - 1]
        rank[order[at]] = at
        at -= 1
    while at < len(order) - 1 and left[order[at + 1]] > left[patch]:
        order[at] = order[at + 1]
        rank[order[at]] = at
        at += 1
    order[at] = patch
    rank[patch] = at


@part
def most_left(order: Indices, stated: NDArray[np.bool_], prototype: int, without: int) -> int:
    """The patch with the greatest remainder at which a prototype is not stated, but for one patch; -1 for none."""
    for patch in order:
        if patch != without and not stated[patch, prototype]:
            return int(patch)
    return -1


def grow_masses(image: Masses, guard: float, most: float) -> tuple[int, Indices]:
    """How growth ended, and the statements (S, 2), patches and prototypes, in their order.

    Args:
        image: what to explain.
        guard: a rival is closed when its margin exceeds this.
        most: growth with more statements is given up.
    """
    patches, size = image.mass.shape
    growing = GrowingMasses(
        np.ones(patches),
        np.arange(patches),
        np.arange(patches),
        np.zeros((patches, size), np.bool_),
        np.zeros(size),
        np.ones(size),
        np.zeros(size, np.int64),
        image.bias.copy(),
        image.mass.argmax(0),
        np.empty((patches * size, 2), np.int64),
        np.empty(size),
        np.empty(patches, np.bool_),
        np.empty((2, len(image.bias))),
    )
    end, count = _grow(image, growing, guard, most)
    return end, growing.statements[:count].copy()


@entry
def _grow(image: Masses, growing: GrowingMasses, guard: float, most: float) -> tuple[int, int]:
    """How growth ended, and how many statements there are."""
    size = image.mass.shape[1]
    for k in range(size):
        for at in range(image.first[k], image.first[k + 1]):
            growing.margins[image.rival[at]] += min(image.weight[at], 0.0)
    attained, statements, count = growing.attained, growing.statements, 0
    loss, used, one, two = growing.loss, growing.used, growing.tried[0], growing.tried[1]
    while True:
        worst = first_least(growing.margins)
        if growing.margins[worst] > guard:
            return GROWN, count
        if count > most:
            return GIVEN_UP, count
        for k in range(size):
            weight = image.weights[worst, k]
            if weight > 0:
                loss[k] = weight * (image.mass[attained[k], k] - growing.low[k])
            else:
                loss[k] = -weight * (growing.high[k] - image.mass[attained[k], k])
        used[:] = False
        deficit, promised, before = guard - growing.margins[worst], 0.0, count
        while count - before < _STATEMENTS_PER_ROUND and (count == before or promised < deficit):
            named = first_greatest(loss)
            if not loss[named] > 0:
                break
            promise, loss[named] = loss[named], -1.0
            patch = attained[named] if image.weights[worst, named] > 0 else growing.highest[named]
            if patch < 0 or used[patch] or growing.stated[patch, named]:
                continue
            used[patch] = True
            promised += promise
            chosen = _largest(image, growing, patch)
            tried = one
            _try(image, growing, patch, chosen, one)
            if chosen != named:
                _try(image, growing, patch, named, two)
                if _deficit(two) < _deficit(one):
                    chosen, tried = named, two
            overwrite(growing.margins, tried)
            _state(image, growing, patch, chosen)
            statements[count, 0], statements[count, 1] = patch, chosen
            count += 1
        if count == before:
            return STAYS_OPEN, count


@part
def _largest(image: Masses, growing: GrowingMasses, patch: int) -> int:
    """The largest mass of a patch that is not stated."""
    best = -1
    for k in range(image.mass.shape[1]):
        if not growing.stated[patch, k] and (best < 0 or image.mass[patch, k] > image.mass[patch, best]):
            best = k
    return best


@part
def _deficit(margins: Floats) -> float:
    """How much the open rivals lack."""
    total = 0.0
    for margin in margins:
        total -= min(margin, 0.0)
    return total


@part
def _try(image: Masses, growing: GrowingMasses, patch: int, stated: int, margins: Floats) -> None:
    """Write the margins with one more statement."""
    mass = image.mass[patch, stated]
    left = max(growing.left[patch] - mass, 0.0)
    overwrite(margins, growing.margins)
    for k in range(image.mass.shape[1]):
        if growing.highest[k] != patch and k != stated:
            continue
        low = max(growing.low[k], mass) if k == stated else growing.low[k]
        high = max(low, left) if k != stated else low
        other = most_left(growing.order, growing.stated, k, patch)
        if other >= 0:
            high = max(high, growing.left[other])
        fall, rise = growing.high[k] - min(high, growing.high[k]), low - growing.low[k]
        if fall != 0 or rise != 0:
            for at in range(image.first[k], image.first[k + 1]):
                weight = image.weight[at]
                margins[image.rival[at]] += weight * rise if weight > 0 else -weight * fall


@part
def _state(image: Masses, growing: GrowingMasses, patch: int, stated: int) -> None:
    """Enter a statement."""
    mass = image.mass[patch, stated]
    growing.left[patch] = max(growing.left[patch] - mass, 0.0)
    growing.stated[patch, stated] = True
    growing.low[stated] = max(growing.low[stated], mass)
    move(growing.order, growing.rank, growing.left, patch)
    for k in range(image.mass.shape[1]):
        if growing.highest[k] == patch or k == stated:
            highest = most_left(growing.order, growing.stated, k, -1)
            high = growing.low[k] if highest < 0 else max(growing.low[k], growing.left[highest])
            growing.highest[k], growing.high[k] = highest, min(high, growing.high[k])
