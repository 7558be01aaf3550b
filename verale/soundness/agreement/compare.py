"""Which kernel's verdict is stronger, and what is wrong.

A verdict is stronger if it goes further in certificates/v1.md, "Verification": the instance holds, the class is
entailed with some margins, with those that are stated, every statement is needed. What is decided, PROVED or REFUTED,
is the strongest. Whatever a reader refuses is refused before any kernel is asked: there verdicts have to be the same.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache

from verale.checker import Auditor, Verdict
from verale.checker.errors import ExecutableError
from verale.checker.proved.claims import NOT_ASKED
from verale.soundness.agreement.sets import Group, Question, with_margins
from verale.soundness.corpus.cases import outcome_of

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
"""What `mpmath` may say where `arb` does not: it takes more steps for the same."""
_BITS = 52


@dataclass(frozen=True)
class Difference:
    """A certificate on which verdicts differ.

    Attributes:
        name: of the certificate.
        python: what `arb` says.
        proved: what `proved` says.
        lost: of a margin that `proved` proves less of, the least share that has to be given up, a power of two; 1 where
            nothing is proved, 0 where nothing was looked for.
    """

    name: str
    python: Said
    proved: Said
    lost: float = 0.0

    def __str__(self) -> str:
        verdicts = f"{' '.join(self.python).strip()} against {' '.join(self.proved).strip()}"
        return f"{self.name}: {verdicts}" + (f", {self.lost:.0e} of the margins" if 0 < self.lost < 1 else "")


@dataclass
class Compared:
    """What came of one set.

    Attributes:
        kinds: counts by KINDS.
        verdicts: counts by what `arb` and `proved` say.
        differences: by kind, but for the same.
        wrong: what must not be, a line each.
        seconds: of the processor, by kernel.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[tuple[Said, Said]] = field(default_factory=Counter)
    differences: dict[str, list[Difference]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(NAMES, 0.0))

    def worst_first(self, kind: str) -> list[Difference]:
        """The differences of a kind: those that lose the most first."""
        return sorted(self.differences.get(kind, []), key=lambda each: (-each.lost, each.name))


def compared(groups: Iterable[Group]) -> Compared:
    """Compare the kernels' verdicts on certificates."""
    tally = Compared()
    for group in groups:
        found: dict[str, list[Said]] = {}
        for kernel in NAMES:
            start = _processor()
            found[kernel] = _asked(group, kernel)
            tally.seconds[kernel] += _processor() - start
        for number, question in enumerate(group.questions):
            _count(tally, group, question, {kernel: found[kernel][number] for kernel in NAMES})
    return tally


def _count(tally: Compared, group: Group, question: Question, found: dict[str, Said]) -> None:
    python, proved = found["arb"], found["proved"]
    kind = _kind(python, proved)
    tally.kinds[kind] += 1
    tally.verdicts[python, proved] += 1
    if kind != "same":
        lost = _lost(group, question, proved) if kind == "less" else 0.0
        tally.differences.setdefault(kind, []).append(Difference(question.name, python, proved, lost))
    named = [f"{kernel}: {' '.join(verdict).strip()}" for kernel, verdict in found.items()]
    if kind == "apart" or (python != found["mpmath"] and found["mpmath"] != _LIMIT):
        tally.wrong.append(f"{question.name}: the kernels disagree ({', '.join(named)})")
    decided = {status for status, _ in found.values()}.intersection(_DECIDED)
    if question.false and "PROVED" in decided:
        tally.wrong.append(f"{question.name}: it is marked as false ({', '.join(named)})")


def _kind(python: Said, proved: Said) -> str:
    if python == proved and proved != ENDED:
        return "same"
    ranks = _rank(python), _rank(proved)
    if _contradict(python, proved) or _contradict(proved, python):
        return "apart"
    if ranks[0] is None or ranks[1] is None or ranks[0] == ranks[1]:
        return "apart"
    return "more" if ranks[0] < ranks[1] else "less"


def _contradict(one: Said, other: Said) -> bool:
    """Whether one decides what the other has seen to be otherwise: that the image is none of the claim's, or that the
    statements entail the class."""
    return (one[0], other[1]) in _CONTRADICTIONS


def _rank(verdict: Said) -> int | None:
    """How strong a verdict is; None if it is not a kernel's."""
    status, reason = verdict
    if status in _DECIDED:
        return len(_UNDECIDED)
    return _UNDECIDED.index(reason) if reason in _UNDECIDED else None


def _lost(group: Group, question: Question, proved: Said) -> float:
    """The least power of two so that `proved` proves margins smaller by that share."""
    if proved[1] != "margin":
        return 1.0
    least, most = 0, _BITS + 1  # 2^-least is known to be enough, 2^-most is not
    while most - least > 1:
        middle = (least + most) // 2
        fewer = Question("", with_margins(question.certificate, 1 - 2.0**-middle))
        (verdict,) = _asked(Group(group.head, group.latents, (fewer,)), "proved")
        least, most = (least, middle) if _rank(verdict) == _rank(proved) else (middle, most)
    return 2.0**-least


def _asked(group: Group, kernel: str) -> list[Said]:
    """The verdicts of a kernel on a group's certificates, in their order."""

    @cache
    def auditor() -> Auditor:
        return Auditor(group.head, group.latents, kernel)

    return [_verdict(auditor, question) for question in group.questions]


def _verdict(auditor: Callable[[], Auditor], question: Question) -> Said:
    witness = question.witness
    try:
        if witness is not None:
            return outcome_of(lambda: answered(auditor().refute(question.certificate, witness)))
        return outcome_of(lambda: answered(auditor().check(question.certificate, minimality=True)))
    except ExecutableError:
        return ENDED


def answered(verdict: Verdict) -> Verdict:
    """The same. Raises ExecutableError for one that says that the program died: elsewhere this may be for want of
    memory, here no program may."""
    if verdict.message.startswith(NOT_ASKED):
        raise ExecutableError(verdict.message)
    return verdict


def _processor() -> float:
    """Seconds of this process and of those that it has started and that have ended."""
    import resource  # only where the executable runs: not on Windows

    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime
