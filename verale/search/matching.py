"""The heaviest matching of patches to prototypes, and the prices which prove that no matching is heavier.

These are estimates for the search; the proof is elsewhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Indices", "Matching", "ranked"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_SLACK = 1e-13
"""How far rounding may move a zero, relative to the largest weight."""


class Matching:
    """A matching of n rows to m columns.

    Attributes:
        of_row, of_column: (n,) and (m,), the partner of each row and column, -1 for none.
    """

    def __init__(self, of_row: Indices, of_column: Indices) -> None:
        self.of_row, self.of_column = of_row, of_column

    def weight(self, weights: Floats) -> float:
        """The sum of the matched weights."""
        rows = np.flatnonzero(self.of_row >= 0)
        return float(weights[rows, self.of_row[rows]].sum())

    def of_rows(self, rows: Indices, count: int) -> Matching:
        """The same matching, where its rows are some of `count` rows."""
        of_row = np.full(count, -1)
        of_row[rows] = self.of_row
        return Matching(of_row, np.where(self.of_column < 0, -1, rows[self.of_column]))

    def improve(self, weights: Floats, u: Floats, v: Floats) -> None:
        """Change the matching to a heaviest one and the prices to the least, in place.

        Args:
            weights: (n, m), >= 0.
            u, v: (n,) and (m,) prices >= 0 with u_i + v_j >= weights_ij. At the end sum u + sum v is the matching's
                weight.

        Reference: Kuhn, The Hungarian method for the assignment problem (1955); shortest augmenting paths.
        """
        slack = _SLACK * float(weights.max(initial=0.0))
        rows = np.flatnonzero(self.of_row >= 0)
        columns = self.of_row[rows]
        loose = weights[rows, columns] - u[rows] - v[columns] < -slack
        self.of_row[rows[loose]], self.of_column[columns[loose]] = -1, -1
        for row in np.flatnonzero((self.of_row < 0) & (u > slack)):
            _match_row(weights, u, v, self.of_row, self.of_column, int(row))
        for column in np.flatnonzero((self.of_column < 0) & (v > slack)):
            _match_row(weights.T, v, u, self.of_column, self.of_row, int(column))


def _match_row(weights: Floats, u: Floats, v: Floats, of_row: Indices, of_column: Indices, start: int) -> None:
    """Give an unmatched row with a price a partner, or lower its price to 0.

    It follows the shortest path, in units of u_i + v_j - weights_ij, from the row to an unmatched column, or to a row
    whose price is used up on the way and that gives up its partner.
    """
    distance = np.full(len(v), np.inf)
    before = np.full(len(v), -1)
    unvisited = np.ones(len(v), dtype=bool)
    rows, columns = [(start, 0.0)], []
    row, way, limit, last = start, 0.0, float(u[start]), start
    while True:
        reached = (way + u[row]) + v - weights[row]
        shorter = (reached < distance) & unvisited
        distance[shorter], before[shorter] = reached[shorter], row
        column = int(np.where(unvisited, distance, np.inf).argmin())
        if not unvisited[column] or distance[column] >= limit:
            column, length = -1, limit
            break
        if of_column[column] < 0:
            length = float(distance[column])
            break
        unvisited[column] = False
        columns.append(column)
        row, way = int(of_column[column]), max(way, float(distance[column]))
        rows.append((row, way))
        if way + u[row] < limit:
            limit, last = way + float(u[row]), row
    for row, way in rows:
        u[row] = max(0.0, u[row] - max(0.0, length - way))
    v[columns] += np.maximum(0.0, length - distance[columns])
    if column < 0:
        if last == start:
            return
        column, of_row[last] = int(of_row[last]), -1
    row = -1
    while row != start:
        row = int(before[column])
        of_column[column] = row
        of_row[row], column = column, int(of_row[row])


def ranked(gain: Floats, left: Floats, top: Floats) -> tuple[Floats, Matching]:
    """Prices and a matching by rank; the best ones if no w_k (R_l - o_k) is negative and nothing is stated.

    Products of sorted factors have the greatest sum in sorted order; prices with v_i - v_i+1 = (w_i - w_i+1) R_i+1
    prove it.

    Args:
        gain: (q,) w_k, the greatest first.
        left: (L,) R_l.
        top: (q,) o_k.
    """
    rows, columns = np.argsort(-left, kind="stable"), np.arange(len(gain))
    descending = np.zeros(len(gain) + len(left) + 1)
    descending[: len(rows)] = left[rows]
    for _ in range(2):  # leave out the prototypes that gain nothing at their rank
        columns = columns[descending[: len(columns)] > top[columns]]
    worth = gain[columns]
    steps = (worth - np.append(worth[1:], 0.0)) * descending[1 : len(columns) + 1]
    prices = np.zeros(len(gain))
    prices[columns] = (steps[::-1].cumsum()[::-1] - worth * top[columns]).clip(min=0)
    of_row, of_column = np.full(len(left), -1), np.full(len(gain), -1)
    paired = min(len(rows), len(columns))
    of_row[rows[:paired]], of_column[columns[:paired]] = columns[:paired], rows[:paired]
    return prices, Matching(of_row, of_column)
