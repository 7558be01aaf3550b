"""The verdict on a certificate, its exit code and its one line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from fractions import Fraction

__all__ = ["EXIT_UNUSABLE", "Status", "Verdict", "most_severe"]

EXIT_UNUSABLE = 9
_EXIT_CODES = {
    "": 0,
    "entailment": 3,
    "margin": 3,
    "kernels": 3,
    "refuted": 4,
    "malformed": 5,
    "subject": 6,
    "instance": 7,
    "minimality": 8,
    "witness": 11,
}
_SEVERITY = (4, 5, EXIT_UNUSABLE, 6, 7, 3, 8, 11, 0)
_DIGITS = 4


class Status(Enum):
    """What was found."""

    PROVED = "PROVED"
    NOT_PROVED = "NOT_PROVED"
    REFUTED = "REFUTED"
    NOT_REFUTED = "NOT_REFUTED"
    MALFORMED = "MALFORMED"


@dataclass(frozen=True)
class Verdict:
    """What the checker found of one certificate.

    Attributes:
        status: the answer.
        reason: the step that failed, "" where none did.
        message: one sentence: what was found, what was expected, what to do.
        claims: every claim of the certificate: "proved" or "not checked".
        predicted, paradigm: those of the certificate, None where it could not be read.
        statements: how many it has, None where it could not be read.
        margins: the proved lower bound for every class, None at `predicted`; empty where the proof did not get there.
    """

    status: Status
    reason: str
    message: str
    claims: Mapping[str, str] = field(default_factory=dict)
    predicted: int | None = None
    paradigm: str | None = None
    statements: int | None = None
    margins: tuple[Fraction | None, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 where PROVED, else a code of its own for each kind of failure."""
        return _EXIT_CODES[self.reason]

    def line(self, name: str) -> str:
        """The verdict on one line, for the certificate of that name."""
        parts = [f"{self.status.value:<10}", _printable(name)]
        if self.predicted is not None:
            parts.append(f"class {self.predicted}  {self.paradigm}  {self.statements} statements")
        if self.status is Status.PROVED:
            least = min(margin for margin in self.margins if margin is not None)
            proved = "+".join(claim for claim, state in self.claims.items() if state == "proved")
            unchecked = "".join(f", {claim} {state}" for claim, state in self.claims.items() if state != "proved")
            parts.append(f"margin >= {_decimal_below(least)}  {proved} proved{unchecked}")
        else:
            parts.append(f"{self.reason}: {_printable(self.message)}")
        return "  ".join(parts)

    def record(self) -> dict[str, object]:
        """The verdict as plain data for JSON; the margin is the least one, rounded down to four digits."""
        least = min((margin for margin in self.margins if margin is not None), default=None)
        return {
            "status": self.status.value,
            "reason": self.reason,
            "message": self.message,
            "exit_code": self.exit_code,
            "claims": dict(self.claims),
            "predicted": self.predicted,
            "paradigm": self.paradigm,
            "statements": self.statements,
            "margin": None if least is None or least <= 0 else _decimal_below(least),
        }


def most_severe(exit_codes: list[int]) -> int:
    """The exit code of several certificates: the first that occurs of refuted, malformed, unreadable file, subject,
    instance, bounds, minimality, no counterexample, proved."""
    return min(exit_codes, key=_SEVERITY.index)


def _decimal_below(value: Fraction) -> str:
    """A positive number in decimal, a few significant digits, rounded down."""
    places = _DIGITS
    while value * 10**places < 10 ** (_DIGITS - 1):
        places += 1
    return str(Decimal(f"{int(value * 10**places)}E-{places}"))


def _printable(name: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in name)
