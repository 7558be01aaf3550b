"""The faults, by room of the checker, and those that no attack detects, each with the reason for that."""

from __future__ import annotations

from verale.soundness.checker_mutants.faults import activations, arithmetic, files, patches, projection
from verale.soundness.checker_mutants.mutant import Fault

__all__ = ["FAULTS", "SURVIVORS"]

FAULTS = [
    Fault(file, *each)
    for room in (arithmetic, activations, patches, projection, files)
    for file, faults in room.FAULTS.items()
    for each in faults
]

SURVIVORS = {
    # Another computation of the same.
    "kernel/mpmath_kernel.py: log's argument is not brought near 1 from above": "|t| <= 1/3 is all that the series needs",
    "kernel/mpmath_kernel.py: exp is not checked to be reduced": "the check never fails with the guard bits there are",
    "rules/matching.py: a row begins at its least": (
        "what is added to a row's price is added to all distances, and taken off again with the shortest: nothing changes"
    ),
    "rules/assignment.py: a matching takes from a tie": "the same answer, later",
    "certificate.py: a class may be one too far": "margins, null exactly at predicted, refuse it",
    # Sound as well: the rules hold for any choice.
    "rules/assignment.py: prices are rounded down": "any prices are sound",
    "rules/projection/multipliers.py: the smallest pivot first": "any multipliers are sound, and v1.md leaves their choice open",
    # Proves less.
    "rules/margin.py: an activation beyond [0, 1] is not cut": (
        "a tree is linear in each activation, so beyond [0, 1] it is less than at the worse end, and activations are cut"
        " to [0, 1] before"
    ),
    "rules/evaluation.py: the greatest is the least": "only says of a false clause that it cannot be decided",
    # Covered by slack: nothing that is false follows.
    "rules/projection/span.py: swings are rounded down": (
        "at most two units of the grid, so of the coarse unit: the doubt has 7 s^2 of these to spare, s >= 2 as in"
        " `coarse`. It bounds s (|a_k| + |c| + s), or 4 s (y + s) with y <= |c| + |a_k|, by 8 s (|c| + m + |a_k|), m >= s"
    ),
}
"""Faults that no attack detects, and why."""
