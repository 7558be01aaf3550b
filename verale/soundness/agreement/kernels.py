"""The verdicts of one kernel on certificates of one head, and the processor time that they take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import cache

from verale.checker import Auditor, Verdict
from verale.checker.errors import ExecutableError
from verale.checker.proved.claims import NOT_ASKED
from verale.soundness.agreement.sets import Group, Question
from verale.soundness.corpus.cases import outcome_of

__all__ = ["ENDED", "NAMES", "Said", "answered", "asked", "processor", "said"]

NAMES = ("arb", "mpmath", "proved")

Said = tuple[str, str]
"""Status and reason; of a file that cannot be used INPUT_ERROR and which file; of an executable that dies ENDED."""

ENDED = ("EXECUTABLE_ERROR", "executable")


def asked(group: Group, kernel: str) -> list[Said]:
    """The verdicts on a group's certificates, in their order."""

    @cache
    def auditor() -> Auditor:
        return Auditor(group.head, group.latents, kernel)

    return [_verdict(auditor, question) for question in group.questions]


def said(group: Group, kernel: str, certificates: Iterable[bytes]) -> list[Said]:
    """The verdicts on other certificates of the same head and latents."""
    questions = tuple(Question("", certificate) for certificate in certificates)
    return asked(Group(group.head, group.latents, questions), kernel)


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


def processor() -> float:
    """Seconds of this process and of those that it has started and that have ended."""
    import resource  # only where the executable runs: not on Windows

    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime
