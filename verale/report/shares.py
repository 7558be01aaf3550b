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

from collections.abc import Iterable, Sequence
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
from verale.head import Head, Linear
from verale.paradigms import PARADIGMS
from verale.report.ends import Ends, ProvedEnds

__all__ = ["Ledger", "Part", "Reason", "carried_by", "ledger_of", "ledgers_of", "part_in_numbers"]

_NAMED = 3
"""The most prototypes that a clause about some together names."""


@dataclass(frozen=True)
class Part:
    """A prototype in the ledger. Its numbers are whole numbers of a unit, so that sums are exact without fractions.

    Attributes:
        prototype: its number.
        unit: 2 to the minus `unit` is the unit.
        added, unbounded: `amount` and `worst` in this unit.
    """

    prototype: int
    unit: int
    added: int
    unbounded: int

    @property
    def amount(self) -> Fraction:
        """D_j e_j, what it adds to the lead at least; below 0, what it takes at most."""
        return Fraction(self.added, 1 << self.unit)

    @property
    def worst(self) -> Fraction:
        """D_j w_j, the same without statements."""
        return Fraction(self.unbounded, 1 << self.unit)

    @property
    def gained(self) -> int:
        """What the lead owes to the bound of this prototype, in the unit."""
        return self.added - self.unbounded


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
        return sum((part.amount - part.worst for part in self.parts), Fraction())


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
    return ledgers_of([(certificate, rival)], bounds)[0]


def ledgers_of(leads: Sequence[tuple[Certificate, int | None]], bounds: ProvedEnds) -> list[Ledger | None]:
    """The ledgers of several leads, each over a rival; without a rival there is none."""
    head = bounds.head
    if not isinstance(head.readout, Linear):
        return [None] * len(leads)
    meant = {
        number: (certificate, rival)
        for number, (certificate, rival) in enumerate(leads)
        if rival is not None and rival != certificate.predicted and _fits(certificate, head)
    }
    ends = bounds.of([certificate for certificate, _ in meant.values()])
    ledgers: list[Ledger | None] = [None] * len(leads)
    rows: dict[int, list[float]] = {}
    for (number, (certificate, rival)), own in zip(meant.items(), ends, strict=True):
        if own is not None:
            for each in (certificate.predicted, rival):
                if each not in rows:
                    rows[each] = head.weight[each].double().tolist()
            bias = [0.0, 0.0] if head.bias is None else head.bias[[certificate.predicted, rival]].double().tolist()
            ledgers[number] = _ledger(rival, rows[certificate.predicted], rows[rival], bias, own)
    return ledgers


def _ledger(
    rival: int, own: Sequence[float], other: Sequence[float], bias: Sequence[float], ends: Ends
) -> Ledger | None:
    """The ledger of the lead over a rival, of the weights (P,) of both classes, and of their biases."""
    met = []
    for prototype, (weight, against) in enumerate(zip(own, other, strict=True)):
        if weight != against:
            end = (ends.lower if weight > against else ends.upper)[prototype]
            met.append((prototype, (weight, against), (end.value, end.domain), end.by))
    weights = _places(number for _, pair, _, _ in met for number in pair)
    bounds = _places(number for _, _, pair, _ in met for number in pair)
    unit = max(weights + bounds, _places(bias))
    lead = _whole(bias[0], unit) - _whole(bias[1], unit)
    gained: dict[tuple[int, ...], list[Part]] = {}
    for prototype, (weight, against), (value, domain), by in met:
        difference = _whole(weight, unit - bounds) - _whole(against, unit - bounds)
        part = Part(prototype, unit, difference * _whole(value, bounds), difference * _whole(domain, bounds))
        lead += part.added
        if part.gained > 0:
            gained.setdefault(by, []).append(part)
    if lead <= 0:
        return None
    gains = {by: sum(part.gained for part in parts) for by, parts in gained.items()}
    total = sum(gains.values())
    reasons = tuple(
        Reason(by, tuple(sorted(gained[by], key=lambda part: -part.gained)), Fraction(gains[by], total))
        for by in sorted(gains, key=lambda by: -gains[by])
    )
    return Ledger(rival, Fraction(lead, 1 << unit), reasons)


def _places(numbers: Iterable[float]) -> int:
    """After how many binary digits behind the point all these numbers end."""
    return max((number.as_integer_ratio()[1] for number in numbers), default=1).bit_length() - 1


def _whole(number: float, places: int) -> int:
    """A number in units of 2 to the minus `places`, of which it is a multiple."""
    top, bottom = number.as_integer_ratio()
    return top << (places - bottom.bit_length() + 1)


def carried_by(certificate: Certificate, reason: Reason) -> list[str]:
    """What is proved that a reason does for the lead: clauses without their subject, the statement or statements.

    Amounts are rounded to the safe side. What could be if nothing were stated is "about".
    """
    statements = [certificate.statements[index] for index in reason.statements]
    own = {each.prototype for each in statements if isinstance(each, PatchStatement | ActivationStatement)}
    said = [_does(part) for part in reason.parts if part.prototype in own]
    others = [part for part in reason.parts if part.prototype not in own]
    for adding in (False, True):
        some = [part for part in others if (part.added >= 0) == adding]
        if some:
            said.append(_together(some, adding))
    return said


def part_in_numbers(part: Part) -> tuple[str, str]:
    """What is proved that one prototype adds at least, or below 0 takes at most, rounded down; and about what it takes
    if nothing were stated, of one that takes."""
    return below(part.amount), about(-part.worst) if part.added < 0 else ""


def _does(part: Part) -> str:
    if part.added >= 0:
        return f"adds at least {below(part.amount)} to the lead"
    return f"takes at most {_most(part.amount)} from the lead ({_unstated(part.worst)})"


def _together(parts: Sequence[Part], adding: bool) -> str:
    names = [str(part.prototype) for part in parts[:_NAMED]]
    more = len(parts) - len(names)
    listed = enumerated([*names, *([f"{more} other{'s' if more > 1 else ''}"] if more else [])])
    who = f"prototype{'s' if len(parts) > 1 else ''} {listed}"
    unit = 1 << parts[0].unit
    amount = Fraction(sum(part.added for part in parts), unit)
    if adding:
        return f"makes {who} add at least {below(amount)} to the lead"
    worst = Fraction(sum(part.unbounded for part in parts), unit)
    return f"keeps {who} from taking more than {_most(amount)} from the lead ({_unstated(worst)})"


def _unstated(worst: Fraction) -> str:
    return f"about {about(-worst)} if nothing were stated"


def _most(amount: Fraction) -> str:
    """The size of an amount below 0, rounded up."""
    return above(-amount)


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
