"""The page's overview: the numbers at its top, and the table by class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from verale.certificate.words import about, below, written
from verale.report.collect import Collection, Item

__all__ = ["overview"]


def overview(collection: Collection) -> dict[str, object]:
    """The values of the template's variables, by name."""
    items = collection.items
    numbers = _numbers(items)
    explain = [item.seconds for item in items if item.seconds is not None]
    audit = [item.record["seconds"] for item in items if item.record is not None and item.record["seconds"] is not None]
    return {
        "images": len(items),
        "certificates": len(collection.paths),
        "statuses": Counter(item.status for item in items),
        "mistakes": sum(item.correct is False for item in items),
        "judged": sum(item.correct is not None for item in items),
        "caveats": Counter(item.verdict.caveat for item in items if item.verdict.caveat),
        **numbers,
        "explain_seconds": about(median(explain), 2) if explain else "",
        "audit_seconds": about(median(audit), 2) if audit else "",
        "by_class": list(_by_class(collection)),
    }


def _numbers(items: Sequence[Item]) -> dict[str, str]:
    """Median size, least margin and number of correct classes of some items; empty where unknown."""
    summaries = [item.summary for item in items if item.summary is not None]
    margins = [summary.margin for summary in summaries if summary.margin is not None]
    judged = [item.correct for item in items if item.correct is not None]
    return {
        "median_size": written(median(summary.size for summary in summaries)) if summaries else "",
        "least_margin": below(min(margins)) if margins else "",
        "correct": f"{sum(judged)} of {len(judged)}" if judged else "",
    }


def _by_class(collection: Collection) -> Iterator[dict[str, Any]]:
    """Of each class, that images get or that is their true one: the images that get it, and how many those are."""
    of_class: dict[int, list[Item]] = {}
    labelled = Counter(item.label for item in collection.items if item.label is not None)
    for item in collection.items:
        if item.predicted is not None:
            of_class.setdefault(item.predicted, []).append(item)
    for label in labelled:
        of_class.setdefault(label, [])
    for predicted, items in sorted(of_class.items()):
        yield {
            "predicted": predicted,
            "name": collection.name_of(predicted),
            "images": len(items),
            "proved": sum(item.status == "PROVED" for item in items),
            "labelled": labelled[predicted],
            **_numbers(items),
        }
