"""What carries the proved lead over a rival: what each prototype, and each statement, gains. Linear readouts.

With D_j = W_kj - W_cj, of the predicted class k and a rival c, the proved lead is a ledger:

    lead = b_k - b_c + sum_j D_j e_j,     e_j = low_j where D_j > 0, else up_j,

where the statements prove that the activation of prototype j lies in [low_j, up_j]. Without statements e_j would be the
end w_j over the domain. So D_j (e_j - w_j) >= 0 is what the lead owes to the bound of prototype j: its *gain*. Its
share is the gain over the sum of all gains. A statement has the gains of those prototypes whose end it gives.
Statements about patches and the same prototype have its gain together; without them, others may be bounded less tightly
too.

Soundness: the ends hold, rounded outward, and the sums are exact fractions. So the lead is proved, and so are the
amounts that a prototype adds at least, or takes at most. A share says how a bound is made up, not what the network
does; it is no probability. Under `joint` and `assignment`, and with trees and maxima, a margin is bounded as a whole:
there is no ledger, and nothing is said. Nor is there one where so many statements about patches would take seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from verale.certificate.words import about, above, below, enumerated
from verale.checker.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    PatchStatement,
)
from verale.errors import VeraleError
from verale.head import Head, Linear
from verale.paradigms import PARADIGMS
from verale.report.ends import End, ProvedEnds

__all__ = ["Ledger", "Part", "Reason", "carried_by", "ledger_of", "part_in_words"]

_NAMED = 3
"""The most prototypes that a clause about some together names."""


@dataclass(frozen=True)
class Part:
    """A prototype in the ledger.

    Attributes:
        prototype: its number.
        amount: D_j e_j, what it adds to the lead at least; below 0, what it takes at most.
        worst: D_j w_j, the same without statements.
    """

    prototype: int
    amount: Fraction
    worst: Fraction

    @property
    def gain(self) -> Fraction:
        """What the lead owes to the bound of this prototype."""
        return self.amount - self.worst


@dataclass(frozen=True)
class Reason:
    """One statement, or all about one prototype, and what the lead owes to it.

    Attributes:
        statements: their indices; none where statements about other prototypes bound these only together.
        parts: the prototypes that it bounds most tightly, those that gain most first.
        share: of all gains.
    """

    statements: tuple[int, ...]
    parts: tuple[Part, ...]
    share: Fraction

    @property
    def gain(self) -> Fraction:
        """Of all its prototypes."""
        return sum((part.gain for part in self.parts), Fraction())


@dataclass(frozen=True)
class Ledger:
    """How the proved lead over one rival comes about.

    Attributes:
        rival: the other class.
        lead: what is proved.
        reasons: those to which the lead owes most first.
    """

    rival: int
    lead: Fraction
    reasons: tuple[Reason, ...]


def ledger_of(certificate: Certificate, bounds: ProvedEnds, rival: int) -> Ledger | None:
    """The ledger of the lead over a rival; None where there is none (see above), and where no lead is proved."""
    head = bounds.head
    if not isinstance(head.readout, Linear) or not _fits(certificate, head) or rival == certificate.predicted:
        return None
    try:
        ends = bounds.of(certificate)
    except VeraleError:
        return None
    if ends is None:
        return None
    lead = Fraction()
    if head.bias is not None:
        lead += Fraction(float(head.bias[certificate.predicted])) - Fraction(float(head.bias[rival]))
    weight = head.weight[[certificate.predicted, rival]].double().tolist()
    gained: dict[tuple[int, ...], list[Part]] = {}
    for prototype, (own, other) in enumerate(zip(*weight, strict=True)):
        difference = Fraction(own) - Fraction(other)
        end = ends.lower[prototype] if difference > 0 else ends.upper[prototype]
        if not difference:
            continue
        part = _part(prototype, difference, end)
        lead += part.amount
        if part.gain > 0:
            gained.setdefault(end.by, []).append(part)
    total = sum((part.gain for parts in gained.values() for part in parts), Fraction())
    if lead <= 0:
        return None
    reasons = [
        Reason(by, tuple(sorted(parts, key=lambda part: -part.gain)), sum((p.gain for p in parts), Fraction()) / total)
        for by, parts in gained.items()
    ]
    return Ledger(rival, lead, tuple(sorted(reasons, key=lambda reason: -reason.share)))


def carried_by(certificate: Certificate, reason: Reason) -> list[str]:
    """What is proved that a reason does for the lead: clauses without their subject, the statement or statements.

    Amounts are rounded to the safe side. What could be if nothing were stated is "about".
    """
    statements = [certificate.statements[index] for index in reason.statements]
    own = {each.prototype for each in statements if isinstance(each, PatchStatement | ActivationStatement)}
    said = [_does(part) for part in reason.parts if part.prototype in own]
    others = [part for part in reason.parts if part.prototype not in own]
    for adding in (False, True):
        some = [part for part in others if (part.amount >= 0) == adding]
        if some:
            said.append(_together(some, adding))
    return said


def part_in_words(part: Part) -> str:
    """What is proved of one prototype: `takes at most 0.3 of about 2.1`."""
    if part.amount >= 0:
        return f"adds at least {below(part.amount)}"
    return f"takes at most {_most(part.amount)} of about {about(-part.worst)}"


def _does(part: Part) -> str:
    if part.amount >= 0:
        return f"adds at least {below(part.amount)} to the lead"
    return f"takes at most {_most(part.amount)} from the lead ({_unstated(part.worst)})"


def _together(parts: Sequence[Part], adding: bool) -> str:
    names = [str(part.prototype) for part in parts[:_NAMED]]
    more = len(parts) - len(names)
    listed = enumerated([*names, *([f"{more} other{'s' if more > 1 else ''}"] if more else [])])
    who = f"prototype{'s' if len(parts) > 1 else ''} {listed}"
    amount = sum((part.amount for part in parts), Fraction())
    if adding:
        return f"makes {who} add at least {below(amount)} to the lead"
    worst = sum((part.worst for part in parts), Fraction())
    return f"keeps {who} from taking more than {_most(amount)} from the lead ({_unstated(worst)})"


def _unstated(worst: Fraction) -> str:
    return f"about {about(-worst)} if nothing were stated"


def _most(amount: Fraction) -> str:
    """The size of an amount below 0, rounded up."""
    return above(-amount)


def _part(prototype: int, difference: Fraction, end: End) -> Part:
    return Part(prototype, difference * Fraction(end.value), difference * Fraction(end.domain))


def _fits(certificate: Certificate, head: Head) -> bool:
    """Whether the certificate speaks of classes, prototypes and patches that there are."""
    if certificate.head != head.digest or certificate.predicted >= head.classes:
        return False
    if head.geometry.kind not in PARADIGMS[certificate.paradigm].geometries:
        return False
    for each in certificate.statements:
        named = each.exempt if isinstance(each, OrderStatement | FloorStatement) else (each.prototype,)
        if any(prototype >= head.size for prototype in named):
            return False
        if isinstance(each, PatchStatement) and each.patch >= certificate.patches:
            return False
    return certificate.patches >= head.pooling.least_patches
