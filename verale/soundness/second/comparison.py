"""The checker and the second checker about the same files: where they differ, and whether that is a fault.

Both are sound if what they prove is true, and neither has to prove all that is. So one of them may prove a claim of
which the other says that it cannot: that is listed. Everything else is a fault: a rule of the format on which they
differ, a claim that one proves and the other calls false.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from verale.checker import Auditor
from verale.soundness.corpus.cases import Case, judged
from verale.soundness.second import SecondChecker, SecondVerdict

__all__ = ["Agreement", "Comparison", "Relation", "compared", "relation"]

_PROOFS = {"instance", "entailment", "margin", "minimality", "limit"}
"""Reasons of NOT_PROVED that say that a proof was not found: of `instance`, only where a statement is undecided."""


class Relation(Enum):
    """How two verdicts on the same files stand to each other."""

    SAME = "the same verdict"
    REASON = "neither proves it, for different reasons"
    SECOND = "second proves more"
    CHECKER = "checker proves more"
    WRONG = "at odds"


@dataclass(frozen=True)
class Comparison:
    """Both verdicts on one certificate.

    Attributes:
        relation: how they stand to each other.
        checker: status and reason that the checker gives.
        second: what the second checker says.
    """

    relation: Relation
    checker: tuple[str, str]
    second: SecondVerdict

    def __str__(self) -> str:
        checker, second = " ".join(self.checker), f"{self.second.status} {self.second.reason}"
        detail = f" ({self.second.detail})" if self.second.detail else ""
        return f"{self.relation.value}: checker {checker.strip()}, second {second.strip()}{detail}"


@dataclass
class Agreement:
    """Counts of comparisons.

    Attributes:
        relations: how often each was found.
        listed: the certificates of which one proves more than the other, in words.
        wrong: the faults, in words.
    """

    relations: Counter[Relation] = field(default_factory=Counter)
    listed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def add(self, name: str, comparison: Comparison, fault: str | None = None) -> None:
        """Count one.

        Args:
            name: of the certificate.
            comparison: what was found.
            fault: what else is wrong with these verdicts, if anything.
        """
        self.relations[comparison.relation] += 1
        if fault is not None or comparison.relation is Relation.WRONG:
            self.wrong.append(f"{name}: {comparison}" + (f"; {fault}" if fault else ""))
        elif comparison.relation in (Relation.SECOND, Relation.CHECKER):
            self.listed.append(f"{name}: {comparison}")

    def __str__(self) -> str:
        counts = [(self.relations[each], each.value) for each in Relation if each is not Relation.WRONG]
        return ", ".join(f"{count:,} {words}" for count, words in counts if count)


def relation(checker: tuple[str, str], second: SecondVerdict) -> Relation:
    """How the checker's verdict stands to the second's."""
    if checker == (second.status, second.reason):
        return Relation.SAME
    statuses = checker[0], second.status
    unproved = checker[1] in _PROOFS, second.reason in _PROOFS and not _is_false(second)
    if statuses == ("NOT_PROVED", "NOT_PROVED") and all(unproved):
        return Relation.REASON
    if statuses == ("NOT_PROVED", "PROVED") and unproved[0]:
        return Relation.SECOND
    if statuses == ("PROVED", "NOT_PROVED") and unproved[1]:
        return Relation.CHECKER
    return Relation.WRONG


def _is_false(second: SecondVerdict) -> bool:
    """Whether it says that a claim of the latents is false, and not only that it cannot be decided."""
    return second.reason == "instance" and not second.detail.endswith("cannot be decided")


def compared(checker: SecondChecker, case: Case, auditor: Any = Auditor) -> Comparison:
    """Ask both about a case; what its verdict should be plays no part.

    Args:
        checker: the second checker.
        case: its files.
        auditor: the checker, or a faulty one.
    """
    if case.witness is not None:
        verdict = case.verdict("arb")
        second = checker.refute(case.certificate, case.head, case.witness)
    else:
        verdict = judged(auditor, case.certificate, case.head, case.latents)
        second = checker.audit(case.certificate, case.head, case.latents)
    return Comparison(relation(verdict, second), verdict, second)
