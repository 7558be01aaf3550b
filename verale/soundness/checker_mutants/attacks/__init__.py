"""The attacks on a copy of the checker, in the order in which they are tried: the corpora and small properties.

Each takes what imports a module of the copy, and the kernel; it returns what it finds wrong, "" for nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

import flint

from verale.soundness.checker_mutants.attacks.activations import margins, similarities
from verale.soundness.checker_mutants.attacks.arithmetic import (
    foreign_integers,
    matching,
    numbers,
    transcendentals,
)
from verale.soundness.checker_mutants.attacks.command import commands_differ, records_differ
from verale.soundness.checker_mutants.attacks.containment import ranges_contain
from verale.soundness.checker_mutants.attacks.corpora import verdicts_differ
from verale.soundness.checker_mutants.attacks.deployment import deployments_lose_less
from verale.soundness.checker_mutants.attacks.least import least_sizes
from verale.soundness.checker_mutants.attacks.limits import work_is_counted
from verale.soundness.checker_mutants.attacks.lipschitz import activations_bound_others
from verale.soundness.checker_mutants.attacks.proved import dialogues, proved_verdicts, texts_differ
from verale.soundness.checker_mutants.attacks.readers import json_at_its_limits, tensors_at_their_limits
from verale.soundness.checker_mutants.attacks.screening import screened_ranges_contain
from verale.soundness.checker_mutants.attacks.verdicts import margins_in_records, two_kernels, witnesses
from verale.soundness.checker_mutants.attacks.within import ranges_lie_within
from verale.soundness.checker_mutants.mutant import Fault, injected
from verale.soundness.extremes import Import, attained, next_to_the_grid, one_way, poor_multipliers
from verale.soundness.independent import arithmetic

__all__ = ["ATTACKS", "detected_by", "detections"]

Attack = Callable[[Import, str], str]

ATTACKS: tuple[tuple[str, Attack], ...] = (
    ("numbers", numbers),
    ("kernel", transcendentals),
    ("backend", foreign_integers),
    ("matching", matching),
    ("corpora", verdicts_differ),
    ("JSON", json_at_its_limits),
    ("tensors", tensors_at_their_limits),
    ("margins in records", margins_in_records),
    ("two kernels", two_kernels),
    ("answers", proved_verdicts),
    ("witnesses", witnesses),
    ("records", records_differ),
    ("commands", commands_differ),
    ("limits", work_is_counted),
    ("next to the grid", next_to_the_grid),
    ("attained", attained),
    ("one way", one_way),
    ("poor multipliers", poor_multipliers),
    ("margins", margins),
    ("similarities", similarities),
    ("deployments", deployments_lose_less),
    ("activations", activations_bound_others),
    ("containment", ranges_contain),
    ("within", ranges_lie_within),
    ("screening", screened_ranges_contain),
)

OF_PROVED: tuple[tuple[str, Attack], ...] = (
    ("texts", texts_differ),
    ("answers", proved_verdicts),
    ("dialogues", dialogues),
)
"""On what asks the proved checker alone."""

OF_LEAST: tuple[tuple[str, Attack], ...] = (("least sizes", least_sizes),)
"""On what proves that no explanation is smaller, which no verdict needs."""


def detected_by(fault: Fault | None, attacks: Sequence[tuple[str, Attack]] | None = None) -> str | None:
    """The first attack that detects the fault, and what it finds; None if no attack does. An error of the copy detects
    the fault too.

    Args:
        fault: what is injected; None for nothing.
        attacks: those that are tried; by default all on the files that the fault is in.

    Raises:
        ValueError, SyntaxError: a fault that cannot be injected (`Fault.code`).
    """
    if attacks is None:
        attacks = (*ATTACKS, *OF_PROVED, *OF_LEAST) if fault is None else _attacks_on(fault.file)
    kernel = "mpmath" if fault is not None and "mpmath" in fault.file else "arb"
    with injected(fault) as module, flint.ctx.workprec(arithmetic.PRECISION):
        for name, attack in attacks:
            try:
                wrong = attack(module, kernel)
            except Exception as error:
                return f"{name}: {type(error).__name__}"
            if wrong:
                return f"{name}: {wrong}"
    return None


def detections(faults: Iterable[Fault]) -> Iterator[tuple[Fault, str | None]]:
    """Each fault, and what `detected_by` says of it.

    What has detected more of a file's faults so far is tried on the next one earlier: a file's faults fall to the same
    few attacks, and one of another kind may take seconds in vain.
    """
    detected: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for fault in faults:
        so_far = detected[fault.file]
        found = detected_by(fault, sorted(_attacks_on(fault.file), key=lambda attack: -so_far[attack[0]]))
        if found is not None:
            so_far[found.partition(":")[0]] += 1
        yield fault, found


def _attacks_on(file: str) -> Sequence[tuple[str, Attack]]:
    if file.startswith("proved/"):
        return OF_PROVED
    return OF_LEAST if file.endswith("least.py") else ATTACKS
