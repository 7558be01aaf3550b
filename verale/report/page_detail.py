"""The details of certificates in the page: their bytes, and all that is computed of them for readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from verale.certificate.words import about
from verale.checker.certificate import ActivationStatement, Certificate
from verale.checker.errors import FormatError, UnprovedError
from verale.report.collect import Collection, Item
from verale.report.explanation import conditions
from verale.report.grid import Grid
from verale.report.page_check import Checking
from verale.report.plainness import plain_patches

if TYPE_CHECKING:
    from verale.adapters.fields import ReceptiveFields
    from verale.checker import Auditor
    from verale.report.estimates import Estimates
    from verale.report.shares import Ledger
    from verale.report.standing import Standing

__all__ = ["Details", "InFull"]

_MEMBERS = 20
"""The most prototypes of a reason that are told one by one."""


@dataclass(frozen=True, eq=False)
class InFull:
    """A certificate that the page shows in full.

    Attributes:
        item: which has it.
        data: its bytes.
        certificate: what they say.
        picture: the image as a data URI; empty without one.
    """

    item: Item
    data: bytes
    certificate: Certificate
    picture: str


@dataclass(frozen=True, eq=False)
class Details:
    """What the details of all certificates of a page share.

    Attributes:
        collection: what the page shows.
        checking: the checker in the page; None without it.
        observable: what comparing a patch with a prototype gives.
        fields: the receptive fields of the patches; None where they are not known.
        checker: says what statements prove of activations, that of the verdicts where they are given now; None without
            a head.
        standing: how activations stand among those of all images, where known.
    """

    collection: Collection
    checking: Checking | None
    observable: str
    fields: ReceptiveFields | None
    checker: Auditor | None
    standing: Standing | None

    @classmethod
    def of(
        cls, collection: Collection, checking: Checking | None, observable: str, fields: ReceptiveFields | None
    ) -> Details:
        """Of a page. Raises InputError: the checker cannot use the head."""
        if collection.head_file is None:
            return cls(collection, checking, observable, fields, None, None)
        from verale.report.standing import Standing
        from verale.runs.arguments import auditor_for

        checker = collection.auditor or auditor_for(collection.head_file)
        return cls(collection, checking, observable, fields, checker, Standing.of(collection))

    def of_several(self, shown: Sequence[InFull]) -> list[tuple[dict[str, object], list[int] | None]]:
        """Some certificates with estimates for people, and what the checker in the page is asked.

        Also the prototypes that add to each proved lead, those that add most first; None where that is not known.
        """
        from verale.report.estimates import estimates_of_item

        estimates = [estimates_of_item(self.collection, each.item, each.certificate) for each in shown]
        ledgers = [self._ledger(*each) for each in zip(shown, (one.second for one in estimates), strict=True)]
        told = [self._told(*each) for each in zip(shown, estimates, ledgers, strict=True)]
        return list(zip(told, [None if ledger is None else _adding(ledger) for ledger in ledgers], strict=True))

    def _told(self, shown: InFull, estimates: Estimates, ledger: Ledger | None) -> dict[str, object]:
        collection, certificate, item = self.collection, shown.certificate, shown.item
        grid = collection.grid_of(certificate.patches, certificate.network)
        count = collection.prototypes_of(certificate)
        predicted = collection.name_of(certificate.predicted)
        claim = "" if item.summary is None else item.summary.claim(predicted)
        return {
            "text": shown.data.decode(),
            "claim": f"{claim} {item.begun}".strip(),
            "paradigm": certificate.paradigm,
            "grid": None if grid is None else asdict(grid),
            "similarity": [None if value is None else about(value) for value in estimates.similarity],
            "attained": estimates.attained if any(patch is not None for patch in estimates.attained) else [],
            "best": estimates.best,
            "ahead": list(map(about, estimates.ahead)),
            "count": count,
            "conditions": conditions(certificate, self.observable.lower(), count),
            "second": estimates.second,
            "adds": [None if value is None else about(value) for value in estimates.adds],
            "heat": _columns([(patch, about(value)) for patch, value in sorted(estimates.heat.items())], 2),
            "reasons": [] if ledger is None else _reasons(certificate, ledger),
            "rival": None if ledger is None else ledger.rival,
            "bounded": None if count is None else _bounded(certificate, count),
            "standing": self._standing(item, certificate),
            "plain": self._plain(shown.picture, grid, [*estimates.attained, *estimates.best, *_patches(certificate)]),
            "questions": None if self.checking is None else self.checking.questions(certificate),
        }

    def _ledger(self, shown: InFull, second: int | None) -> Ledger | None:
        """Of the lead over the runner-up of the image; without latents over the class with the least margin. The
        checker is asked where there may be one, and where it has not run out of its limit just now."""
        record, head = shown.item.record, self.collection.head
        if self.checker is None or head is None or (record and record["reason"] == "limit"):
            return None
        from verale.report.shares import ledger_of, stated_over

        rival = _closest(shown.certificate) if second is None else second
        if rival is None or stated_over(shown.certificate, head, rival) is None:
            return None
        try:
            numbers = self.checker.numbers(shown.data)
        except (FormatError, UnprovedError):  # of another head, or beyond the limit
            return None
        return ledger_of(shown.certificate, head, numbers, rival)

    def _standing(self, item: Item, certificate: Certificate) -> dict[int, str]:
        """By statement about an activation: where the image's own stands among all images."""
        count = self.collection.prototypes_of(certificate)
        if self.standing is None or item.index is None or item.index >= len(self.standing) or count is None:
            return {}
        return {
            number: self.standing.told(item.index, statement.prototype)
            for number, statement in enumerate(certificate.statements)
            if isinstance(statement, ActivationStatement) and statement.prototype < count
        }

    def _plain(self, picture: str, grid: Grid | None, patches: Sequence[int | None]) -> dict[int, str]:
        if not picture or grid is None or grid.rows * grid.columns == 1:
            return {}
        return plain_patches(picture, grid, {patch for patch in patches if patch is not None}, self.fields)


def _closest(certificate: Certificate) -> int | None:
    leads = {rival: margin for rival, margin in enumerate(certificate.margins) if margin is not None}
    return min(leads, key=leads.__getitem__, default=None)


def _patches(certificate: Certificate) -> list[int]:
    return [patch for s in certificate.statements if (patch := getattr(s, "patch", None)) is not None]


def _bounded(certificate: Certificate, count: int) -> list[int]:
    from verale.certificate.reach import bounded

    reach = bounded(certificate.statements, count, certificate.patches)
    return [reach.prototypes, reach.pairs]


def _adding(ledger: Ledger) -> list[int]:
    parts = [part for reason in ledger.reasons for part in reason.parts if part.amount > 0]
    parts.sort(key=lambda part: -part.amount)
    return [part.prototype for part in parts if part.prototype is not None]


def _columns(lines: Sequence[Sequence[object]], count: int) -> list[list[object]]:
    """Lines as columns, of which a page takes fewer bytes."""
    return [[line[column] for line in lines] for column in range(count)]


def _reasons(certificate: Certificate, ledger: Ledger) -> list[dict[str, object]]:
    """What carries the lead, as the page's script takes it."""
    from verale.report.shares import carried_by, part_in_numbers

    return [
        {
            "statements": list(reason.statements),
            "share": share_in_words(reason.share),
            "carries": carried_by(certificate, reason),
            "parts": _columns(
                [
                    (part.prototype, *part_in_numbers(part))
                    for part in reason.parts[:_MEMBERS]
                    if part.prototype is not None
                ],
                3,
            ),
            "more": max(0, len(reason.parts) - _MEMBERS),
        }
        for reason in ledger.reasons
    ]


def share_in_words(share: Fraction) -> str:
    """A share in percent, rounded down: `84 %`, and 100 % only of all; `less than 1 %`."""
    whole = 100 * share.numerator // share.denominator
    return f"{whole} %" if whole >= 1 else "less than 1 %"
