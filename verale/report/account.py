"""Why the class is ahead, in points that add up as they are shown. Linear readouts.

With D_j = W_kj - W_cj, of the predicted class k and a rival c, the lead over c is

    b_k - b_c  +  sum of D_j a_j over the prototypes j of class k  -  what all others take back,

where a prototype is of class k if no class has a greater weight for it (certificates/v1.md). For those D_j >= 0, so the
lower ends of their activations count. What the others take back is at most the sum that is stated, or what the ends of
their activations give, whichever is less.

Soundness: ends are the checker's (`Numbers`) and all sums are exact; each shown part is rounded once, what the class
gets down and what is taken back up, and totals are sums of shown parts. So each is proved where the statements hold. Of
all rivals the one is shown over which the exact lead is least; the shown lead is at most that, so it holds over every
class. Where less than a stated margin comes out, as where a margin is bounded as a whole (`joint`, `assignment`), and
with trees and maxima, there is no account.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import gt

from verale.certificate.words import about, below, enumerated, lower_end, upper_end
from verale.checker.certificate import ActivationStatement, Certificate, SumStatement
from verale.checker.errors import FormatError, UnprovedError
from verale.checker.head import Head
from verale.checker.numbers import Numbers

_CLOSEST = 12
"""The most rivals that are told one by one."""
_NAMED = 3
"""The most prototypes that a line in words names."""
_MOST_PLACES = 12
"""Of decimals, behind the point."""
_SHORT = 7
"""Letters of a sum that is told as it is stated."""
_FACTOR_DIGITS = range(4, 13)
"""Of the factors of points."""
_KEPT = Fraction(4, 5)
"""Of the lead, so much is left at least by rounding."""


@dataclass(frozen=True)
class Line:
    """A prototype of the class: at least how active it is (`similarity`), about its `weight` D_j, and at least what
    their product is; and the number of the `statement` about it, None where its activation follows from others."""

    prototype: int
    statement: int | None
    similarity: str
    weight: str
    points: str


@dataclass(frozen=True)
class Against:
    """One rival class: at least what the class gets of its prototypes and the biases, at most what all prototypes of
    other classes take back, below 0 where they give something, and the difference."""

    rival: int
    given: str
    taken: str
    lead: str


@dataclass(frozen=True)
class Account:
    """Why a class is ahead of the rival that comes closest, and so of every other class.

    Attributes:
        predicted: the class.
        rival: the class that comes closest.
        stated: its prototypes of which something is stated, those that give most first.
        implied: those that are more active than they have to be, as follows from the statements; likewise.
        by_implied: what these give together; empty without any.
        start: what the biases give; empty where they are equal.
        rest: what all further prototypes of the class give at least; empty where that is 0.
        together: all of that.
        taken: what the prototypes of other classes take back at most; below 0 where they give something.
        total: the number of the statement that says so; None where it follows from several.
        lead: the difference.
        closest: the rivals that come closest, the first of them `rival`.
    """

    predicted: int
    rival: int
    stated: tuple[Line, ...]
    implied: tuple[Line, ...]
    by_implied: str
    start: str
    rest: str
    together: str
    taken: str
    total: int | None
    lead: str
    closest: tuple[Against, ...]

    @property
    def adding(self) -> list[int]:
        """The prototypes that give something, those that give most first."""
        lines = sorted((*self.stated, *self.implied), key=lambda line: -Fraction(line.points))
        return [line.prototype for line in lines if Fraction(line.points) > 0]

    def in_words(self, name: Callable[[int], str]) -> Iterator[tuple[str, str]]:
        """Line by line what gives or takes points, and how many; `name` gives that of a class."""
        for line in self.stated:
            yield f"prototype {line.prototype}", f"at least {line.similarity} x about {line.weight} = {line.points}"
        if self.implied:
            names = [str(line.prototype) for line in self.implied[:_NAMED]]
            more = len(self.implied) - len(names)
            names += [f"{more} other{'s' if more > 1 else ''}"] if more else []
            which = f"prototype{'s' if len(self.implied) > 1 else ''} {enumerated(names)}"
            yield f"and {which}, which the statements bound too", f"at least {self.by_implied}"
        if self.start:
            yield "the class's head start (bias)", self.start
        if self.rest:
            yield f"further prototypes of class {name(self.predicted)}", f"at least {self.rest}"
        yield "together", f"at least {self.together}"
        if self.taken.startswith("-"):
            yield "all prototypes of other classes together give it", f"at least {self.taken[1:]}"
        else:
            yield "all prototypes of other classes together take back", f"at most {self.taken}"
        yield f"so class {name(self.predicted)} leads every other class by", f"at least {self.lead}"


def proved_account(
    data: bytes, certificate: Certificate, head: Head, numbers: Callable[[bytes], Numbers]
) -> Account | None:
    """The account of a certificate, perhaps of another head; None where there is none, or the checker does not say
    what its statements prove. `numbers` says that of a certificate's bytes (`Auditor.numbers`), and is asked only
    where there may be an account, whatever is proved."""
    rivals = sum(margin is not None for margin in certificate.margins)
    fits = certificate.predicted < head.classes == len(certificate.margins)
    if head.readout != "linear" or not fits or not rivals:
        return None
    try:
        return account_of(certificate, head, numbers(data))
    except (FormatError, UnprovedError):  # of another head, or beyond the limit
        return None


def account_of(certificate: Certificate, head: Head, numbers: Numbers) -> Account | None:
    """The account of a certificate of a head with a linear readout, given what its statements prove; None where there
    is none (see above), an end is missing, or statements contradict each other."""
    lows = [each.low for each in numbers.activations]
    columns = lows, [each.high for each in numbers.activations], [each.low for each in numbers.domain]
    ends = [[end for end in column if end is not None] for column in columns]
    if any(len(column) < head.count for column in ends) or any(map(gt, ends[0], ends[1])):
        return None
    ledger = _Ledger(certificate, head, ends)
    rivals = [c for c, margin in enumerate(certificate.margins) if margin is not None]
    given = {c: ledger.start(c) + ledger.gives(c, ledger.own) for c in rivals}
    taken = {c: ledger.takes(c) for c in rivals}
    leads = {c: given[c] - taken[c][0] for c in rivals}
    ordered = sorted(rivals, key=lambda c: (leads[c], c))
    if not ordered or leads[ordered[0]] <= 0 or any(leads[c] < (certificate.margins[c] or 0) for c in rivals):
        return None
    # So many places at least that a sum is told as it is stated, where that takes few.
    texts = [upper_end(each.upper) for _, each in ledger.sums]
    places = max([1, *(len(text.partition(".")[2]) for text in texts if "e" not in text and len(text) <= _SHORT)])
    while True:
        account = _told(ledger, ordered, given, taken, places)
        if Fraction(account.lead) >= _KEPT * leads[ordered[0]] or places >= _MOST_PLACES:
            return account
        places += 1


class _Ledger:
    """The numbers of an account, exactly: `weight` (C, P) times `unit`; the ends of activations `low`, `high`, and
    `least`, the lower ends without statements, (P,) times `fine`; `bias` (C,)."""

    def __init__(self, certificate: Certificate, head: Head, ends: Sequence[Sequence[Fraction]]) -> None:
        fine = math.lcm(*(end.denominator for column in ends for end in column))
        self.low, self.high, self.least = ([end.numerator * (fine // end.denominator) for end in each] for each in ends)
        self.fine, self.unit, self.weight = fine, 1 << head.weight.bits, head.weight.rows
        self.bias = [Fraction(each, 1 << head.bias.bits) for each in head.bias.rows[0]]
        self.predicted = certificate.predicted
        # The prototypes that belong to the class, and those that do not.
        mine = head.belong(certificate.predicted)
        self.own, self.others = ([j for j, own in enumerate(mine) if own == is_own] for is_own in (True, False))
        # By prototype the number of the statement about its activation, and the lower end that it states.
        numbered = list(enumerate(certificate.statements))
        self.stated: dict[int, tuple[int, Fraction]] = {
            each.prototype: (number, each.lower)
            for number, each in numbered
            if isinstance(each, ActivationStatement) and each.lower is not None
        }
        self.sums = [(number, each) for number, each in numbered if isinstance(each, SumStatement)]

    def gives(self, rival: int, prototypes: Iterable[int], over: Sequence[int] | None = None) -> Fraction:
        """What prototypes of the class give at least; or how much more than other lower ends would."""
        own, other, low = self.weight[self.predicted], self.weight[rival], self.low
        if over is None:
            total = sum((own[j] - other[j]) * low[j] for j in prototypes)
        else:
            total = sum((own[j] - other[j]) * (low[j] - over[j]) for j in prototypes)
        return Fraction(total, self.unit * self.fine)

    def start(self, rival: int) -> Fraction:
        """What the biases give."""
        return self.bias[self.predicted] - self.bias[rival]

    def takes(self, rival: int) -> tuple[Fraction, int | None]:
        """What the prototypes of other classes take back at most, and the number of the statement that says so."""
        own, other, low, high = self.weight[self.predicted], self.weight[rival], self.low, self.high
        total = 0
        for j in self.others:
            difference = other[j] - own[j]
            total += difference * (high[j] if difference > 0 else low[j])
        taken, by = Fraction(total, self.unit * self.fine), None
        for number, each in self.sums:
            if each.about(rival) and each.upper <= taken:
                taken, by = each.upper, number
        return taken, by


def _told(
    ledger: _Ledger,
    ordered: Sequence[int],
    given: Mapping[int, Fraction],
    taken: Mapping[int, tuple[Fraction, int | None]],
    places: int,
) -> Account:
    """The account with so many places, of rivals in order."""
    rival = ordered[0]
    scale = int(10**places)

    def down(value: Fraction) -> int:
        return math.floor(value * scale)

    def text(units: int) -> str:
        """As a decimal with all its places: what stands below each other lines up."""
        sign, digits = "-" if units < 0 else "", str(abs(units)).rjust(places + 1, "0")
        return f"{sign}{digits[:-places]}.{digits[-places:]}"

    def line(j: int) -> tuple[int, Line]:
        number, stated = ledger.stated.get(j, (None, None))
        low = Fraction(ledger.low[j], ledger.fine)
        units = down(ledger.gives(rival, [j]))
        difference = Fraction(ledger.weight[ledger.predicted][j] - ledger.weight[rival][j], ledger.unit)  # D_j
        for digits in _FACTOR_DIGITS:  # so many that the product, as it is shown, gives the points
            similarity = lower_end(low) if low == stated else below(low, digits)
            weight = about(difference, digits)
            if down(Fraction(similarity) * Fraction(weight)) == units:
                break
        return units, Line(j, number, similarity, weight, text(units))

    unsaid = [j for j in ledger.own if j not in ledger.stated]
    implied = [j for j in unsaid if down(ledger.gives(rival, [j], ledger.least)) > 0]
    stated_lines, implied_lines = (
        sorted(map(line, some), key=lambda one: -one[0])
        for some in ([j for j in ledger.own if j in ledger.stated], implied)
    )
    start, rest = down(ledger.start(rival)), down(ledger.gives(rival, set(unsaid).difference(implied)))
    by_implied = sum(units for units, _ in implied_lines)
    together = sum(units for units, _ in stated_lines) + by_implied + start + rest

    def against(other: int, get: int) -> tuple[int, int]:
        """What is taken back, and the lead that is left. A sum is told as it is stated, unless that says too much."""
        exact, by = taken[other]
        if by is not None:
            told = -down(-Fraction(upper_end(exact)))
            if Fraction(get - told, scale) <= given[other] - exact:
                return told, get - told
        return -down(-exact), get + down(-exact)

    closest = []
    for other in ordered[:_CLOSEST]:
        get = together if other == rival else down(given[other])
        back, lead = against(other, get)
        closest.append(Against(other, text(get), text(back), text(lead)))
    return Account(
        predicted=ledger.predicted,
        rival=rival,
        stated=tuple(each for _, each in stated_lines),
        implied=tuple(each for _, each in implied_lines),
        by_implied=text(by_implied) if implied_lines else "",
        start=text(start) if start else "",
        rest=text(rest) if rest else "",
        together=text(together),
        taken=closest[0].taken,
        total=taken[rival][1],
        lead=closest[0].lead,
        closest=tuple(closest),
    )
