"""Whether kernels agree: whose verdict on a certificate is stronger, and what is wrong.

A verdict is stronger if it goes further in certificates/v1.md, "Verification": the instance holds, the class is
entailed with some margins, with those that are stated, every statement is needed. What is decided, PROVED or REFUTED,
is the strongest. Whatever a reader refuses is refused before any kernel is asked: there verdicts have to be the same.
Minimality is asked for too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial

from verale.checker import Auditor, Status
from verale.checker.errors import ExecutableError
from verale.soundness.corpus.cases import outcome_of
from verale.soundness.sets import Group, Question

NAMES = ("arb", "mpmath", "proved")

Said = tuple[str, str]
"""Status and reason; of a file that cannot be used INPUT_ERROR and which file; of an executable that dies ENDED."""

ENDED = ("EXECUTABLE_ERROR", "executable")
KINDS = ("same", "more", "less", "apart")
"""What the proved checker proves beside the Python one: the same, more or less; or they cannot be compared."""

_UNDECIDED = ("limit", "uncovered", "instance", "entailment", "margin", "minimality", "witness")
"""The reasons of NOT_PROVED and NOT_REFUTED, from the weakest."""
_DECIDED = ("PROVED", "REFUTED")
_CONTRADICTIONS = {("PROVED", "instance"), ("REFUTED", "margin"), ("REFUTED", "minimality")}
_LIMIT = ("NOT_PROVED", "limit")
"""What `mpmath` may say where `arb` does not: it takes more time for the same."""


@dataclass(frozen=True)
class Comparison:
    """What the kernels say of a certificate, by their names."""

    group: Group
    question: Question
    said: Mapping[str, Said]

    @property
    def kind(self) -> str:
        """One of KINDS."""
        python, proved = self.said["arb"], self.said["proved"]
        if python == proved and proved != ENDED:
            return "same"
        ranks = rank(python), rank(proved)
        if _contradict(python, proved) or _contradict(proved, python):
            return "apart"
        if ranks[0] is None or ranks[1] is None or ranks[0] == ranks[1]:
            return "apart"
        return "more" if ranks[0] < ranks[1] else "less"

    @property
    def wrong(self) -> tuple[str, ...]:
        """What must not be, a line each."""
        said = self.said
        named = ", ".join(f"{kernel}: {' '.join(verdict).strip()}" for kernel, verdict in said.items())
        lines = []
        if self.kind == "apart" or said["mpmath"] not in (said["arb"], _LIMIT):
            lines.append(f"{self.question.name}: the kernels disagree ({named})")
        if self.question.false and any(status == "PROVED" for status, _ in said.values()):
            lines.append(f"{self.question.name}: it is marked as false ({named})")
        return tuple(lines)


def asked(group: Group, kernel: str) -> list[Said]:
    """The verdicts of a kernel on a group's certificates, in their order."""
    auditor = cache(partial(Auditor, group.head, group.latents, kernel))
    return [_said(auditor, question) for question in group.questions]


def compared(groups: Iterable[Group], ask: Callable[[Group, str], list[Said]] = asked) -> Iterator[Comparison]:
    """The kernels' verdicts on certificates, side by side."""
    for group in groups:
        for question, *said in zip(group.questions, *(ask(group, kernel) for kernel in NAMES), strict=True):
            yield Comparison(group, question, dict(zip(NAMES, said, strict=True)))


def unproved(groups: Iterable[Group], kernel: str) -> tuple[int, list[str]]:
    """How many certificates there are, and which of them a kernel does not prove, a line each."""
    tried, lines = 0, []
    for group in groups:
        auditor = Auditor(group.head, group.latents, kernel)
        for question in group.questions:
            tried += 1
            verdict = auditor.check(question.certificate, minimality=True)
            if verdict.status is not Status.PROVED:
                lines.append(f"{question.name}: {verdict.reason}: {verdict.message}")
    return tried, lines


def rank(verdict: Said) -> int | None:
    """How strong a verdict is; None if it is not a kernel's."""
    status, reason = verdict
    if status in _DECIDED:
        return len(_UNDECIDED)
    return _UNDECIDED.index(reason) if reason in _UNDECIDED else None


def _contradict(one: Said, other: Said) -> bool:
    """Whether one decides what the other has seen to be otherwise: that the image is none of the claim's, or that the
    statements entail the class."""
    return (one[0], other[1]) in _CONTRADICTIONS


def _said(auditor: Callable[[], Auditor], question: Question) -> Said:
    try:
        return outcome_of(auditor, question.certificate, question.witness)
    except ExecutableError:
        return ENDED
