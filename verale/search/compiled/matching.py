"""The best prices of a rival: those that sum to what the heaviest matching of patches to its prototypes gives.

A rival's excess over the predicted class is what an assignment of remainders to its prototypes can give it
(`verale.bounds.assignment`): patch l gives prototype k at most w_k (R_l - o_k)^+, if k is not stated at l. The heaviest
matching is what it gives at most; the least prices sum to as much and prove it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from verale.bounds import domain_range
from verale.rounding import UNIT
from verale.search.compiled.arrays import largest
from verale.search.compiled.masses import Floats, Indices, most_left
from verale.search.compiled.parts import part
from verale.search.problem import Problem

__all__ = [
    "PricedMasses",
    "PricedRivals",
    "Workspace",
    "excess_of",
    "pay_alone",
    "priced_masses",
    "rivals_of",
    "solve",
    "weight_of",
    "workspace_of",
]

_SLACK = 1e-13
"""How far rounding may move a zero, relative to the largest weight."""


class PricedRivals(NamedTuple):
    """For each of K rivals the prototypes k with w_k = W_rival,k - W_predicted,k > 0, the greatest w_k first.

    Attributes:
        low, high: (L, P) the ends that statements give to masses; the same where they are exact.
        least: (P,) what masses are at least over the domain.
        weights: (K, P) W_predicted - W_rival.
        bias: (K,) b_predicted - b_rival.
        needed: (K,) how many there are.
        paying, gain: (K, Q) the prototypes and their w_k.
        position: (K, P) where a prototype stands among them, or -1.
        noise: (K,) more than rounding can move a margin. A remainder has P rounding errors; a sum over prototypes and
            patches has one for each of its terms.
    """

    low: Floats
    high: Floats
    least: Floats
    weights: Floats
    bias: Floats
    needed: Indices
    paying: Indices
    gain: Floats
    position: Indices
    noise: Floats


def rivals_of(problem: Problem) -> PricedRivals:
    """The only image of a problem, and the rivals of its class."""
    head, predicted = problem.head, int(problem.margins.predicted[0])
    weight = head.weight.cpu().double().numpy()
    own_bias = np.zeros(head.classes) if head.bias is None else head.bias.cpu().double().numpy()
    rivals = [c for c in range(head.classes) if c != predicted]
    weights, bias = weight[predicted] - weight[rivals], own_bias[predicted] - own_bias[rivals]
    ends = problem.observed.lower, problem.observed.upper, domain_range(head).lower
    low, high, least = (np.ascontiguousarray(end.cpu().numpy()) for end in ends)
    if not problem.tolerance:
        low = high = (low + high) / 2
    needed: Indices = (weights < 0).sum(1)
    paying = np.ascontiguousarray(np.argsort(weights, axis=1, kind="stable")[:, : needed.max()])
    gain = -np.take_along_axis(weights, paying, 1).clip(max=0)
    position = np.full(weights.shape, -1)
    np.put_along_axis(position, paying, np.where(gain > 0, np.arange(paying.shape[1]), -1), 1)
    noise = (4 * sum(low.shape) + 64) * UNIT * (np.abs(weights).sum(1) + np.abs(bias))
    return PricedRivals(low, high, least, weights, bias, needed, paying, gain, position, noise)


class PricedMasses(NamedTuple):
    """What is stated, and for each rival prices that bound what is left to it.

    Attributes:
        left: (L,) the remainders.
        order, rank: (L,) the patches by remainder, the greatest first, and where each of them stands.
        stated: (L, P) bool.
        floors, tops: (L, P) the ends of the masses: the lower ones of `simplex`, the upper ones by the statements
            alone, 0 where none is stated.
        floor, top: (P,) the greatest of these.
        known: (K,) the margins if no prototype got a remainder.
        price: (K, Q) v_k.
        excess: (K, L) how much a patch can give beyond the prices.
        sums: (K, 2) of both.
        partner: (K, Q) the patch that each prototype had in the rival's last matching, or -1.
    """

    left: Floats
    order: Indices
    rank: Indices
    stated: NDArray[np.bool_]
    floors: Floats
    tops: Floats
    floor: Floats
    top: Floats
    known: Floats
    price: Floats
    excess: Floats
    sums: Floats
    partner: Indices


def priced_masses(rivals: PricedRivals, patches: Indices, prototypes: Indices) -> PricedMasses:
    """What is stated, and room for what follows."""
    (count, size), competitors = rivals.low.shape, len(rivals.bias)
    left, stated = np.ones(count), np.zeros((count, size), np.bool_)
    stated[patches, prototypes] = True
    np.subtract.at(left, patches, rivals.low[patches, prototypes])
    left = np.maximum(left, 0.0)
    order, rank = np.argsort(-left, kind="stable"), np.empty(count, np.int64)
    rank[order] = np.arange(count)
    price, partner = np.zeros(rivals.gain.shape), np.full(rivals.gain.shape, -1)
    excess, sums = np.zeros((competitors, count)), np.zeros((competitors, 2))
    ends, greatest = (np.zeros((count, size)), np.zeros((count, size))), (np.zeros(size), np.zeros(size))
    known = np.zeros(competitors)
    return PricedMasses(left, order, rank, stated, *ends, *greatest, known, price, excess, sums, partner)


@part
def pay_alone(rivals: PricedRivals, priced: PricedMasses, rival: int) -> None:
    """Let each prototype pay for the largest remainder that is open to it, as under `simplex`."""
    priced.excess[rival], priced.sums[rival] = 0.0, 0.0
    for at in range(rivals.needed[rival]):
        patch = most_left(priced.order, priced.stated, rivals.paying[rival, at], -1)
        priced.price[rival, at] = 0.0 if patch < 0 else weight_of(rivals, priced, rival, at, patch)
        priced.sums[rival, 0] += priced.price[rival, at]


class Workspace(NamedTuple):
    """Memory that is used again and again.

    Attributes:
        excess, margins: (K,) of a trial.
        doubtful: (K,) rivals.
        at_most: (K,) upper bounds of their margins.
        price, saved: (K, Q) and (K, L), of the rivals that a trial changes.
        sums: (K, 2) of these.
        rows, columns: (L,) and (Q,) the patches and the positions that matter to a rival.
        weight, transposed: (L * Q,) what each of these patches can give.
        u, v, of_row, of_column: the prices and partners of both.
        distance, before, visited, path, way: what the search for a shortest path needs.
    """

    excess: Floats
    margins: Floats
    doubtful: Indices
    at_most: Floats
    price: Floats
    saved: Floats
    sums: Floats
    rows: Indices
    columns: Indices
    weight: Floats
    transposed: Floats
    u: Floats
    v: Floats
    of_row: Indices
    of_column: Indices
    distance: Floats
    before: Indices
    visited: NDArray[np.bool_]
    path: Indices
    way: Floats


def workspace_of(rivals: PricedRivals, patches: int) -> Workspace:
    competitors, columns = rivals.gain.shape
    longest = max(patches, columns) + 1
    return Workspace(
        np.empty(competitors),
        np.empty(competitors),
        np.empty(competitors, np.int64),
        np.empty(competitors),
        np.empty((competitors, columns)),
        np.empty((competitors, patches)),
        np.empty((competitors, 2)),
        np.empty(patches, np.int64),
        np.empty(columns, np.int64),
        np.empty(patches * columns),
        np.empty(patches * columns),
        np.empty(patches),
        np.empty(columns),
        np.empty(patches, np.int64),
        np.empty(columns, np.int64),
        np.empty(longest),
        np.empty(longest, np.int64),
        np.empty(longest, np.bool_),
        np.empty(longest, np.int64),
        np.empty(longest),
    )


@part
def weight_of(rivals: PricedRivals, priced: PricedMasses, rival: int, at: int, patch: int) -> float:
    """w_k (R_l - o_k)^+, 0 where k is stated."""
    k = rivals.paying[rival, at]
    if priced.stated[patch, k]:
        return 0.0
    return float(rivals.gain[rival, at] * max(priced.left[patch] - priced.top[k], 0.0))


@part
def excess_of(rivals: PricedRivals, priced: PricedMasses, rival: int, patch: int) -> float:
    """How much a patch can give beyond the prices."""
    most = 0.0
    for at in range(rivals.needed[rival]):
        most = max(most, weight_of(rivals, priced, rival, at, patch) - priced.price[rival, at])
    return most


@part
def solve(rivals: PricedRivals, priced: PricedMasses, room: Workspace, rival: int) -> float:
    """Set a rival's best prices, and excess; returns what its matching gives it. No prices sum to less.

    It begins with the prices and the matching that the rival has. Of q prototypes that can gain anything, only the
    q + 1 patches count that can give one of them most. Proof: in the problem of these patches alone, the best prices
    leave no excess at a patch without a partner. Each prototype has one among its q + 1 patches, since at most q have a
    partner. So its price is at least what that patch can give, and that is no less than what any patch outside can
    give: none of these has an excess either. The prices are feasible for all patches, they sum to what the matching
    gives, and so both are best for all patches.
    """
    for patch in range(len(priced.left)):
        priced.excess[rival, patch] = 0.0
    columns, most = 0, priced.left[priced.order[0]]
    for at in range(rivals.needed[rival]):
        if most > priced.top[rivals.paying[rival, at]]:
            room.columns[columns] = at
            columns += 1
        else:
            priced.price[rival, at], priced.partner[rival, at] = 0.0, -1
    rows = _rows(rivals, priced, room, rival, columns)
    weight = room.weight[: rows * columns].reshape(rows, columns)
    transposed = room.transposed[: rows * columns].reshape(columns, rows)
    u, v = room.u[:rows], room.v[:columns]
    of_row, of_column = room.of_row[:rows], room.of_column[:columns]
    greatest = 0.0
    for row in range(rows):
        for column in range(columns):
            weight[row, column] = weight_of(rivals, priced, rival, room.columns[column], room.rows[row])
            transposed[column, row] = weight[row, column]
            greatest = max(greatest, weight[row, column])
    slack = _SLACK * greatest
    of_row[:], of_column[:] = -1, -1
    for column in range(columns):  # no price need exceed what a patch can give
        v[column] = min(priced.price[rival, room.columns[column]], largest(transposed[column]))
    for row in range(rows):
        u[row] = _beyond(weight[row], v)
    for column in range(columns):
        for row in range(rows):
            partner = priced.partner[rival, room.columns[column]]
            if room.rows[row] == partner and weight[row, column] - u[row] - v[column] >= -slack:
                of_row[row], of_column[column] = column, row
    for row in range(rows):
        if of_row[row] < 0 and u[row] > slack:
            _match(weight, u, v, of_row, of_column, row, room)
    for column in range(columns):
        if of_column[column] < 0 and v[column] > slack:
            _match(transposed, v, u, of_column, of_row, column, room)
    given, prices, excess = 0.0, 0.0, 0.0
    for column in range(columns):
        at, row = room.columns[column], of_column[column]
        priced.price[rival, at], priced.partner[rival, at] = v[column], -1 if row < 0 else room.rows[row]
        prices += v[column]
        given += 0.0 if row < 0 else weight[row, column]
    for row in range(rows):
        beyond = _beyond(weight[row], v)
        priced.excess[rival, room.rows[row]] = beyond
        excess += beyond
    priced.sums[rival, 0], priced.sums[rival, 1] = prices, excess
    return given


@part
def _beyond(weight: Floats, v: Floats) -> float:
    """How much a patch can give beyond the prices of the positions that matter."""
    beyond = 0.0
    for column in range(len(v)):
        beyond = max(beyond, weight[column] - v[column])
    return beyond


@part
def _rows(rivals: PricedRivals, priced: PricedMasses, room: Workspace, rival: int, columns: int) -> int:
    """List the patches with the greatest remainders, until each prototype has q + 1 at which it is not stated."""
    room.way[:columns] = columns + 1
    short, rows = columns, 0
    for patch in priced.order:
        if short == 0:
            break
        room.rows[rows] = patch
        rows += 1
        for column in range(columns):
            if not priced.stated[patch, rivals.paying[rival, room.columns[column]]]:
                room.way[column] -= 1
                short -= room.way[column] == 0
    return rows


@part
def _match(
    weight: Floats, u: Floats, v: Floats, of_row: Indices, of_column: Indices, start: int, room: Workspace
) -> None:
    """Find the row a partner, or another price: a shortest augmenting path.

    Reference: Kuhn, The Hungarian method for the assignment problem (1955).
    """
    columns = len(v)
    distance, before, visited = room.distance[:columns], room.before[:columns], room.visited[:columns]
    distance[:], before[:], visited[:] = np.inf, -1, False
    room.path[0], room.way[0] = start, 0.0
    steps, row, way, limit, last = 1, start, 0.0, u[start], start
    while True:
        column = -1
        for each in range(columns):
            if not visited[each]:
                reached = way + u[row] + v[each] - weight[row, each]
                if reached < distance[each]:
                    distance[each], before[each] = reached, row
                if column < 0 or distance[each] < distance[column]:
                    column = each
        if column < 0 or distance[column] >= limit:
            column, length = -1, limit
            break
        if of_column[column] < 0:
            length = distance[column]
            break
        visited[column] = True
        row, way = of_column[column], max(way, distance[column])
        room.path[steps], room.way[steps] = row, way
        steps += 1
        if way + u[row] < limit:
            limit, last = way + u[row], row
    for step in range(steps):
        row = room.path[step]
        u[row] = max(0.0, u[row] - max(0.0, length - room.way[step]))
    for each in range(columns):
        if visited[each]:
            v[each] += max(0.0, length - distance[each])
    if column < 0:
        if last == start:
            return
        column = of_row[last]
        of_row[last] = -1
    row = -1
    while row != start:
        row = before[column]
        of_column[column] = row
        following = of_row[row]
        of_row[row] = column
        column = following
