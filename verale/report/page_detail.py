"""The details of one certificate in the page: its bytes, and all that is computed of it for readers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from verale.certificate.words import about
from verale.checker.certificate import ActivationStatement, Certificate
from verale.report.collect import CertificateSummary, Collection, Item, read_item
from verale.report.explanation import conditions
from verale.report.grid import Grid
from verale.report.page_check import Checking, deflated
from verale.report.plainness import plain_patches

if TYPE_CHECKING:
    from torch import Tensor

    from verale.adapters.fields import ReceptiveFields
    from verale.report.ends import ProvedEnds
    from verale.report.shares import Ledger

__all__ = ["Details"]

_MEMBERS = 60
"""The most prototypes of a reason that are told one by one."""


@dataclass(frozen=True, eq=False)
class Details:
    """What the details of all certificates of a page share.

    Attributes:
        collection: what the page shows.
        checking: the checker in the page; None without it.
        observable: what comparing a patch with a prototype gives.
        fields: the receptive fields of the patches; None where they are not known.
        ends: what statements prove of activations; None without a head.
        activations: (N, P) of all images, where known.
    """

    collection: Collection
    checking: Checking | None
    observable: str
    fields: ReceptiveFields | None
    ends: ProvedEnds | None
    activations: Tensor | None

    @classmethod
    def of(
        cls, collection: Collection, checking: Checking | None, observable: str, fields: ReceptiveFields | None
    ) -> Details:
        """Of a page."""
        if collection.head is None:
            return cls(collection, checking, observable, fields, None, None)
        from verale.report.ends import ProvedEnds
        from verale.report.standing import activations_of

        ends, activations = ProvedEnds(collection.head), activations_of(collection)
        return cls(collection, checking, observable, fields, ends, activations)

    def deflated(self, item: Item, picture: str) -> tuple[str, list[int] | None]:
        """One certificate with estimates for people, and what the checker in the page is asked: JSON, deflated.

        Also the prototypes that add to the proved lead, those that add most first; None where that is not known.

        Args:
            item: which has a readable certificate.
            picture: the image as a data URI; empty without one.
        """
        from verale.report.estimates import estimates_of_item

        collection = self.collection
        data, certificate = read_item(item)
        summary, estimates = CertificateSummary.of(certificate), estimates_of_item(collection, item, certificate)
        grid = collection.grid_of(summary.patches, summary.network)
        count = collection.prototypes_of(certificate)
        ledger = self._ledger(certificate, estimates.second)
        detail = {
            "text": data.decode(),
            "claim": f"{summary.claim(collection.name_of(summary.predicted))} {item.begun}".strip(),
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
            "heat": [[patch, about(value)] for patch, value in sorted(estimates.heat.items())],
            "reasons": [] if ledger is None else _reasons(certificate, ledger),
            "rival": None if ledger is None else ledger.rival,
            "bounded": None if count is None else _bounded(certificate, count),
            "standing": self._standing(item, certificate),
            "plain": self._plain(picture, grid, [*estimates.attained, *estimates.best, *_patches(certificate)]),
            "questions": None if self.checking is None else self.checking.questions(certificate),
        }
        adding = None if ledger is None else _adding(ledger)
        return deflated(json.dumps(detail, separators=(",", ":")).encode()), adding

    def _ledger(self, certificate: Certificate, second: int | None) -> Ledger | None:
        """Of the lead over the runner-up of the image; without latents over the class with the least margin."""
        if self.ends is None:
            return None
        from verale.report.shares import ledger_of

        leads = {rival: margin for rival, margin in enumerate(certificate.margins) if margin is not None}
        if second is None and leads:
            second = min(leads, key=leads.__getitem__)
        return None if second is None else ledger_of(certificate, self.ends, second)

    def _standing(self, item: Item, certificate: Certificate) -> dict[int, str]:
        """By statement about an activation: where the image's own stands among all images."""
        count = self.collection.prototypes_of(certificate)
        if self.activations is None or item.index is None or item.index >= len(self.activations) or count is None:
            return {}
        from verale.report.standing import standing

        return {
            number: standing(self.activations, item.index, statement.prototype)
            for number, statement in enumerate(certificate.statements)
            if isinstance(statement, ActivationStatement) and statement.prototype < count
        }

    def _plain(self, picture: str, grid: Grid | None, patches: Sequence[int | None]) -> dict[int, str]:
        if not picture or grid is None or grid.rows * grid.columns == 1:
            return {}
        return plain_patches(picture, grid, {patch for patch in patches if patch is not None}, self.fields)


def _patches(certificate: Certificate) -> list[int]:
    return [patch for s in certificate.statements if (patch := getattr(s, "patch", None)) is not None]


def _bounded(certificate: Certificate, count: int) -> list[int]:
    from verale.certificate.reach import bounded

    reach = bounded(certificate.statements, count, certificate.patches)
    return [reach.prototypes, reach.pairs]


def _adding(ledger: Ledger) -> list[int]:
    parts = [part for reason in ledger.reasons for part in reason.parts if part.amount > 0]
    return [part.prototype for part in sorted(parts, key=lambda part: -part.amount)]


def _reasons(certificate: Certificate, ledger: Ledger) -> list[dict[str, object]]:
    """What carries the lead, as the page's script takes it."""
    from verale.report.shares import carried_by, part_in_words

    return [
        {
            "statements": list(reason.statements),
            "share": share_in_words(reason.share),
            "carries": carried_by(certificate, reason),
            "parts": [[part.prototype, part_in_words(part)] for part in reason.parts[:_MEMBERS]],
            "more": max(0, len(reason.parts) - _MEMBERS),
        }
        for reason in ledger.reasons
    ]


def share_in_words(share: Fraction) -> str:
    """A share in percent, rounded down: `84 %`, and 100 % only of all; `less than 1 %`."""
    return f"{int(100 * share)} %" if 100 * share >= 1 else "less than 1 %"
