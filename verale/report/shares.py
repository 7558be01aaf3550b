"""What carries the proved lead over a rival: what each prototype, and each statement, gains. Linear readouts.

With D_j = W_kj - W_cj, of the predicted class k and a rival c, the proved lead is a ledger:

    lead = b_k - b_c + sum_j D_j e_j,     e_j = low_j where D_j > 0, else up_j,

where the statements prove that the activation of prototype j lies in [low_j, up_j]. Without statements e_j would be the
end w_j over the domain. So D_j (e_j - w_j) >= 0 is what the lead owes to the bound of prototype j: its *gain*. Its
share is the gain over the sum of all gains. A statement has the gains of those prototypes whose end it gives.
Statements about patches and the same prototype have its gain together; without them, others may be bounded less tightly
too.

Where a sum about c is stated, and proves more, the prototypes that do not belong to the class are one entry: what they
take together, the sum's number at most.

Soundness: the ends are the checker's (`Numbers`), and the sums are exact fractions. So the lead is proved, and so are
the amounts that a prototype adds at least, or takes at most. A share says how a bound is made up, not what the network
does; it is no probability. Which statements give an end is not proved. The checker may prove a greater lead than the
certificate states, and then the ledger is of that. Where it is less, as where a margin is bounded as a whole (`joint`,
`assignment`), and with trees and maxima, there is no ledger, and nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import torch

from verale.bounds.margin import belonging
from verale.certificate.words import about, above, below, enumerated
from verale.checker.certificate import ActivationStatement, Certificate, PatchStatement, SumStatement
from verale.checker.numbers import Numbers
from verale.head import Head, Linear

__all__ = ["Ledger", "Part", "Reason", "carried_by", "ledger_of", "part_in_numbers", "stated_over"]

_NAMED = 3
"""The most prototypes that a clause about some together names."""


@dataclass(frozen=True)
class Part:
    """A prototype in the ledger.

    Attributes:
        prototype: its number; None for all that do not belong to the predicted class together.
        amount: D_j e_j, what it adds to the lead at least; below 0, what it takes at most.
        worst: D_j w_j, the same without statements.
    """

    prototype: int | None
    amount: Fraction
    worst: Fraction

    @cached_property
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
    def of_sum(self) -> bool:
        """Whether it is a sum, which is told after the evidence."""
        return any(part.prototype is None for part in self.parts)

    @cached_property
    def gain(self) -> Fraction:
        """Of all its prototypes."""
        return sum((part.gain for part in self.parts), Fraction())


@dataclass(frozen=True)
class Ledger:
    """How the proved lead over one rival comes about.

    Attributes:
        rival: the other class.
        lead: what is proved.
        reasons: those to which the lead owes most first, and then a sum.
    """

    rival: int
    lead: Fraction
    reasons: tuple[Reason, ...]


def stated_over(certificate: Certificate, head: Head, rival: int) -> Fraction | None:
    """The stated lead over a rival; None where it has no ledger, whatever is proved."""
    if not isinstance(head.readout, Linear) or rival >= head.classes or certificate.predicted >= head.classes:
        return None
    return certificate.margins[rival]


def ledger_of(certificate: Certificate, head: Head, numbers: Numbers, rival: int) -> Ledger | None:
    """The ledger of the lead over a rival; None where there is none (see above).

    Args:
        certificate: a certificate of the head.
        head: the head.
        numbers: what the certificate's statements prove.
        rival: the other class.
    """
    stated = stated_over(certificate, head, rival)
    if stated is None:
        return None
    bias = Fraction()
    if head.bias is not None:
        bias = Fraction(float(head.bias[certificate.predicted])) - Fraction(float(head.bias[rival]))
    weight = head.weight[[certificate.predicted, rival]].double().tolist()
    parts: list[tuple[tuple[int, ...], Part]] = []
    every = zip(*weight, numbers.activations, numbers.domain, numbers.givers, strict=True)
    for prototype, (own, other, ends, domain, givers) in enumerate(every):
        if ends.low is None or ends.high is None or domain.low is None or domain.high is None or ends.low > ends.high:
            return None
        difference = Fraction(own) - Fraction(other)
        if not difference:
            continue
        end, worst, by = (ends.low, domain.low, givers[0]) if difference > 0 else (ends.high, domain.high, givers[1])
        parts.append((by, Part(prototype, difference * end, difference * worst)))
    by_sum = _with_sum(certificate, head, rival, parts)
    lead, parts = max(((_amount(each), each) for each in (parts, by_sum) if each is not None), key=lambda one: one[0])
    if bias + lead < stated:
        return None
    gained: dict[tuple[int, ...], list[Part]] = {}
    for by, part in parts:
        if part.gain > 0:
            gained.setdefault(by, []).append(part)
    total = sum((part.gain for some in gained.values() for part in some), Fraction())
    reasons = [
        Reason(by, tuple(sorted(parts, key=lambda part: -part.gain)), sum((p.gain for p in parts), Fraction()) / total)
        for by, parts in gained.items()
    ]
    return Ledger(rival, bias + lead, tuple(sorted(reasons, key=lambda reason: (reason.of_sum, -reason.share))))


def _amount(parts: Sequence[tuple[tuple[int, ...], Part]]) -> Fraction:
    return sum((part.amount for _, part in parts), Fraction())


def _with_sum(
    certificate: Certificate, head: Head, rival: int, parts: Sequence[tuple[tuple[int, ...], Part]]
) -> list[tuple[tuple[int, ...], Part]] | None:
    """The same with one entry for what the least sum about a rival bounds; None without one."""
    sums = [
        (each.upper, number)
        for number, each in enumerate(certificate.statements)
        if isinstance(each, SumStatement) and each.about(rival)
    ]
    if not sums:
        return None
    most, number = min(sums)
    own = belonging(head, torch.tensor([certificate.predicted]))[0].tolist()
    worst = sum((part.worst for _, part in parts if part.prototype is not None and not own[part.prototype]), Fraction())
    mine = [(by, part) for by, part in parts if part.prototype is not None and own[part.prototype]]
    return [*mine, ((number,), Part(None, -most, worst))]


def carried_by(certificate: Certificate, reason: Reason) -> list[str]:
    """What is proved that a reason does for the lead: clauses without their subject, the statement or statements.

    Amounts are rounded to the safe side. What could be if nothing were stated is "about".
    """
    statements = [certificate.statements[index] for index in reason.statements]
    own: set[int | None] = {None}
    own |= {each.prototype for each in statements if isinstance(each, PatchStatement | ActivationStatement)}
    said = [_does(part) for part in reason.parts if part.prototype in own]
    others = [part for part in reason.parts if part.prototype not in own]
    for adding in (False, True):
        some = [part for part in others if (part.amount >= 0) == adding]
        if some:
            said.append(_together(some, adding))
    return said


def part_in_numbers(part: Part) -> tuple[str, str]:
    """What is proved that one prototype adds at least, or below 0 takes at most, rounded down; and about what it takes
    if nothing were stated, of one that takes."""
    return below(part.amount), about(-part.worst) if part.amount < 0 else ""


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
