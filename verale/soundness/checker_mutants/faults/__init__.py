"""The faults, by room of the checker, and those that no attack detects, each with the reason for that."""

from __future__ import annotations

from verale.soundness.checker_mutants.faults import (
    activations,
    arithmetic,
    command,
    deployment,
    files,
    least,
    minimality,
    mixed,
    patches,
    proved,
    quadratic,
    readers,
)
from verale.soundness.checker_mutants.mutant import Fault

__all__ = ["FAULTS", "SURVIVORS"]

FAULTS = [
    Fault(file, *each)
    for room in (
        arithmetic,
        activations,
        patches,
        quadratic,
        minimality,
        mixed,
        least,
        files,
        readers,
        command,
        deployment,
        proved,
    )
    for file, faults in room.FAULTS.items()
    for each in faults
]

SURVIVORS = {
    # Refused by another check as well.
    "safetensors_reader.py: a header may have any length": "`read_object` has the same limit",
    "safetensors_reader.py: a tensor may end behind the file": (
        "then the tensors do not end where the file does, or a later one does not begin where it has to"
    ),
    "head_file.py: a tree may have one leaf": (
        "a head without prototypes counts the columns of its weights, one, for which the tree has no node"
    ),
    "certificate.py: there may be no patch": "a head has a column or more, and an image no fewer patches",
    "file_auditor.py: too little memory ends all": "the handler of all other errors takes it; only the words differ",
    # Any weights are sound.
    "rules/quadratic/dual.py: weights go past 0": "it costs bounds, of which `tests/unit/checker/rules/test_dual.py` tells",
    # Another computation of the same.
    "kernel/mpmath_kernel.py: log's argument is not brought near 1 from above": (
        "before it 1/2 < n / d < 2, so |n - d| / (n + d) < 1/3, and |t| <= 1/3 is all that the remainder is proved for"
    ),
    "kernel/mpmath_kernel.py: exp is not checked to be reduced": (
        "the check never fails: k is the integer nearest to x / ln 2, up to 2^-64 |x|, so |r| <= ln 2 / 2 + 2^-40 < 1/2"
        " where |x| < 2^22, as it is; r's own width is below 2^-30 with 32 guard bits"
    ),
    "rules/matching.py: a row begins at its least": (
        "what is added to a row's price is added to all distances, and taken off again with the shortest: nothing changes"
    ),
    "rules/assignment.py: a matching takes from a tie": (
        "where an old matching leaves exactly 0, the heaviest leaves no more, so it is not provable either way; it only"
        " takes longer"
    ),
    # Sound as well: the rules hold for any choice.
    "rules/assignment.py: prices are rounded down": (
        "the rule holds for any prices >= 0, and the same rounded ones are paid for and taken off"
    ),
    "rules/quadratic/facts.py: a latent has a length": (
        "of |y|^2 <= R^2 the low end is never used: of a product A is minus the weight of |y|^2, and A > 0"
    ),
    "rules/quadratic/multipliers.py: the smallest pivot first": (
        "the rule holds for any weights (the attack with poor ones), and v1.md leaves them open"
    ),
}
"""Faults that no attack detects, and why."""
