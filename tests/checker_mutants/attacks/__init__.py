"""The attacks on a copy of the checker, in the order in which they are tried: the corpora and small properties.

Each takes what imports a module of the copy, and the kernel; it returns what it finds wrong, "" for nothing.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import flint
from checker_mutants.attacks.activations import margins, similarities
from checker_mutants.attacks.arithmetic import (
    foreign_integers,
    matching,
    numbers,
    transcendentals,
)
from checker_mutants.attacks.beside import numbers_beside_verdicts
from checker_mutants.attacks.containment import ranges_contain
from checker_mutants.attacks.corpora import origins_differ, verdicts_differ
from checker_mutants.attacks.deployment import deployments_lose_less
from checker_mutants.attacks.extremes import attained, next_to_the_grid, poor_weights
from checker_mutants.attacks.least import least_sizes
from checker_mutants.attacks.limits import limits_end_proofs
from checker_mutants.attacks.lipschitz import activations_bound_others
from checker_mutants.attacks.pictures import (
    boxes_hold,
    computed_latents_are_held,
    latents_are_held,
    pictures_differ,
)
from checker_mutants.attacks.verdicts import witnesses
from checker_mutants.attacks.within import ranges_lie_within
from checker_mutants.faults import Fault
from checker_mutants.mutant import Import, injected
from support import arithmetic

__all__ = ["detected_by", "detections"]

Attack = Callable[[Import, str], str]

ATTACKS: tuple[tuple[str, Attack], ...] = (
    ("numbers", numbers),
    ("numbers beside verdicts", numbers_beside_verdicts),
    ("kernel", transcendentals),
    ("backend", foreign_integers),
    ("matching", matching),
    ("corpora", verdicts_differ),
    ("pictures", pictures_differ),
    ("origins", origins_differ),
    ("latents of pictures", latents_are_held),
    ("computed latents of pictures", computed_latents_are_held),
    ("witnesses", witnesses),
    ("limits", limits_end_proofs),
    ("next to the grid", next_to_the_grid),
    ("attained", attained),
    ("poor weights", poor_weights),
    ("margins", margins),
    ("similarities", similarities),
    ("deployments", deployments_lose_less),
    ("activations", activations_bound_others),
    ("boxes", boxes_hold),
    ("containment", ranges_contain),
    ("within", ranges_lie_within),
)

OF_LEAST: tuple[tuple[str, Attack], ...] = (("least sizes", least_sizes),)
"""On what proves that no explanation is smaller, which no verdict needs."""

OF_ORIGINS: tuple[tuple[str, Attack], ...] = (("origins", origins_differ),)
"""On what proves which patch a prototype is, which no verdict needs."""

OF_FILES = ATTACKS[: [name for name, _ in ATTACKS].index("next to the grid")]
"""On what no rule computes with: readers, records, lines and codes."""

_OF_RULES = ("certificate.py", "chain.py", "deployment.py", "dyadic.py", "head.py", "read/similarities.py")
_EVERY = (*ATTACKS, *OF_LEAST)
_SLOW = ("containment", "within")
_SECONDS = 60
"""Of processor time, so that no busy machine counts: an attack on a copy that loops for ever ends. On others it takes a
second, but for two, which take three."""


def detected_by(fault: Fault | None, attacks: Sequence[tuple[str, Attack]] | None = None) -> str | None:
    """The first attack that detects the fault, and what it finds; None if no attack does. An error of the copy detects
    the fault too.

    Args:
        fault: what is injected; None for nothing.
        attacks: those that are tried; by default all on the files that the fault is in.

    Raises:
        SyntaxError: the fault is no program.
    """
    if attacks is None:
        attacks = _EVERY if fault is None else _attacks_on(fault.file)
    kernel = "mpmath" if fault is not None and fault.file == "series.py" else "arb"
    sources = {} if fault is None else {fault.file: fault.source}
    with injected(sources) as module, flint.ctx.workprec(arithmetic.PRECISION):
        for name, attack in attacks:
            try:
                with _limited():
                    wrong = attack(module, kernel)
            except Exception as error:
                return f"{name}: {type(error).__name__}"
            if wrong:
                return f"{name}: {wrong}"
    return None


def detections(faults: Iterable[Fault]) -> Iterator[tuple[Fault, str | None]]:
    """Each fault, and what `detected_by` says of it.

    What has detected more faults of a file so far, then more of a room, is tried on the next one earlier: faults that
    are neighbours fall to the same few attacks, and one of another kind may take seconds in vain. What is slow comes
    last where it has detected none of the file's.
    """
    detected: Counter[tuple[str, str]] = Counter()
    for fault in faults:
        file, room = places = fault.file, fault.file.rpartition("/")[0]
        order = sorted(
            _attacks_on(file), key=lambda each: (-detected[file, each[0]], each[0] in _SLOW, -detected[room, each[0]])
        )
        found = detected_by(fault, order)
        if found is not None:
            detected.update((place, found.partition(":")[0]) for place in places)
        yield fault, found


def _attacks_on(file: str) -> Sequence[tuple[str, Attack]]:
    if file.endswith("least.py"):
        return OF_LEAST
    if file == "origins.py":
        return OF_ORIGINS
    if file in (
        "arb.py",
        "arithmetic.py",
        "series.py",
    ):  # what the rules make of their numbers takes longest, and says least
        return [each for each in ATTACKS if each[0] not in _SLOW]
    return ATTACKS if "/" in file or file in _OF_RULES else OF_FILES


@contextmanager
def _limited() -> Iterator[None]:
    def end(number: int, frame: object) -> None:
        raise TimeoutError(f"more than {_SECONDS} seconds")

    old = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)
