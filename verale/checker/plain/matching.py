"""The heaviest matching of a matrix of integers: a witness for minimality, which needs no proof."""

from __future__ import annotations

from collections.abc import Callable, Sequence

__all__ = ["heaviest_matching"]


def heaviest_matching(
    weights: Sequence[Sequence[int]], passed: Callable[[int], None] = lambda columns: None
) -> list[tuple[int, int]]:
    """Pairs (row, column), each row and column at most once, of greatest total weight.

    Args:
        weights: a matrix of numbers >= 0.
        passed: told how many columns each step of a path looks at; may raise.

    Reference: Kuhn, The Hungarian method for the assignment problem (1955), by shortest augmenting paths.
    """
    columns = len(weights[0]) if weights else 0
    if len(weights) > columns:
        return [(row, column) for column, row in heaviest_matching(list(zip(*weights, strict=True)), passed)]
    # For the rows so far, weights[i][j] <= of_row[i] + of_column[j], with equality where j's partner is i.
    of_row, of_column, partner = [0] * len(weights), [0] * columns, [-1] * columns
    for entering, own in enumerate(weights):
        of_row[entering] = max(own)
        distance = [of_row[entering] + price - weight for price, weight in zip(of_column, own, strict=True)]
        before = [-1] * columns
        unvisited, visited = set(range(columns)), []
        while True:
            passed(len(unvisited))
            column = min(unvisited, key=distance.__getitem__)
            unvisited.remove(column)
            row = partner[column]
            if row < 0:
                break
            visited.append(column)
            way, own = distance[column] + of_row[row], weights[row]
            for j in unvisited:
                reached = way + of_column[j] - own[j]
                if reached < distance[j]:
                    distance[j], before[j] = reached, column
        of_row[entering] -= distance[column]
        for j in visited:
            of_row[partner[j]] -= distance[column] - distance[j]
            of_column[j] += distance[column] - distance[j]
        while before[column] >= 0:
            partner[column] = partner[before[column]]
            column = before[column]
        partner[column] = entering
    return [(row, column) for column, row in enumerate(partner) if row >= 0]
