"""The attacks on a copy of the checker, in the order in which they are tried: the corpora and small properties.

Each takes what imports a module of the copy, and the kernel; it returns what it finds wrong, "" for nothing.
"""

from __future__ import annotations

import flint

from verale.soundness.checker_mutants.attacks.activations import margins, similarities
from verale.soundness.checker_mutants.attacks.arithmetic import matching, numbers, transcendentals
from verale.soundness.checker_mutants.attacks.containment import ranges_contain
from verale.soundness.checker_mutants.attacks.corpora import verdicts_differ
from verale.soundness.checker_mutants.attacks.screening import screened_ranges_contain
from verale.soundness.checker_mutants.mutant import Fault, injected
from verale.soundness.extremes import attained, next_to_the_grid, one_way, poor_multipliers
from verale.soundness.independent import arithmetic

__all__ = ["ATTACKS", "detected_by"]

ATTACKS = (
    ("numbers", numbers),
    ("kernel", transcendentals),
    ("matching", matching),
    ("corpora", verdicts_differ),
    ("next to the grid", next_to_the_grid),
    ("attained", attained),
    ("one way", one_way),
    ("poor multipliers", poor_multipliers),
    ("margins", margins),
    ("similarities", similarities),
    ("containment", ranges_contain),
    ("screening", screened_ranges_contain),
)


def detected_by(fault: Fault | None) -> str | None:
    """The first attack that detects the fault, and what it finds; None if no attack does. An error of the copy detects
    the fault too.

    Raises:
        ValueError, SyntaxError: a fault that cannot be injected (`Fault.code`).
    """
    kernel = "mpmath" if fault is not None and "mpmath" in fault.file else "arb"
    with injected(fault) as module, flint.ctx.workprec(arithmetic.PRECISION):
        for name, attack in ATTACKS:
            try:
                wrong = attack(module, kernel)
            except Exception as error:
                return f"{name}: {type(error).__name__}"
            if wrong:
                return f"{name}: {wrong}"
    return None
