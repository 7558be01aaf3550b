"""The heaviest matching of patches to prototypes, and the prices that prove that there is no heavier one.

An estimate for the search: what it finds is proved elsewhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Matching", "Places"]

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

_SLACK = 1e-13
"""Relative to the largest weight, what rounding may make of zero."""


class Matching:
    """A matching of n rows to m columns.

    Attributes:
        of_row, of_column: (n,) and (m,), the partner of each, -1 for none.
    """

    def __init__(self, of_row: Places, of_column: Places) -> None:
        self.of_row, self.of_column = of_row, of_column

    def weight(self, weights: Floats) -> float:
        """The sum of the matched weights."""
        rows = np.flatnonzero(self.of_row >= 0)
        return float(weights[rows, self.of_row[rows]].sum())

    def improve(self, weights: Floats, u: Floats, v: Floats) -> None:
        """Make the matching heaviest and the prices least, in place.

        Args:
            weights: (n, m), >= 0.
            u, v: (n,) and (m,), >= 0, u_i + v_j >= weights_ij. At the end sum u + sum v is the matching's weight.

        Reference: Kuhn, The Hungarian method for the assignment problem (1955); shortest augmenting paths.
        """
        slack = _SLACK * float(weights.max(initial=0.0))
        rows = np.flatnonzero(self.of_row >= 0)
        columns = self.of_row[rows]
        loose = weights[rows, columns] - u[rows] - v[columns] < -slack
        self.of_row[rows[loose]], self.of_column[columns[loose]] = -1, -1
        for row in np.flatnonzero((self.of_row < 0) & (u > slack)):
            _settle(weights, u, v, self.of_row, self.of_column, int(row))
        for column in np.flatnonzero((self.of_column < 0) & (v > slack)):
            _settle(weights.T, v, u, self.of_column, self.of_row, int(column))


def _settle(weights: Floats, u: Floats, v: Floats, of_row: Places, of_column: Places, start: int) -> None:
    """Find a single row with a price a partner, or lower its price to 0.

    The shortest path, in units of u_i + v_j - weights_ij, from the row to a single column, or to a row whose price is
    used up on the way and that gives its partner away.
    """
    distance = np.full(len(v), np.inf)
    before = np.full(len(v), -1)
    unseen = np.ones(len(v), dtype=bool)
    rows, columns = [(start, 0.0)], []
    row, way, limit, last = start, 0.0, float(u[start]), start
    while True:
        reached = (way + u[row]) + v - weights[row]
        shorter = (reached < distance) & unseen
        distance[shorter], before[shorter] = reached[shorter], row
        column = int(np.where(unseen, distance, np.inf).argmin())
        if not unseen[column] or distance[column] >= limit:
            column, length = -1, limit
            break
        if of_column[column] < 0:
            length = float(distance[column])
            break
        unseen[column] = False
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
