"""What the top of the page says of all items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import Any

from verale.certificate.words import below
from verale.report.collect import Collection, Item

__all__ = ["overview"]

_BINS = 24


def overview(collection: Collection) -> dict[str, Any]:
    """The numbers, by the names that the template gives them."""
    items = collection.items
    sizes = [item.summary.size for item in items if item.summary is not None]
    margins = [item.summary.margin for item in items if item.summary is not None and item.summary.margin is not None]
    explain = [item.seconds for item in items if item.seconds is not None]
    audit = [item.record["seconds"] for item in items if item.record is not None and item.record["seconds"] is not None]
    judged = [item.correct for item in items if item.correct is not None]
    return {
        "images": len(items),
        "certificates": len(collection.paths),
        "statuses": Counter(item.status for item in items),
        "median_size": f"{median(sizes):g}" if sizes else None,
        "least_margin": below(min(margins), 4) if margins else None,
        "explain_seconds": f"{median(explain):.2g}" if explain else None,
        "audit_seconds": f"{median(audit):.2g}" if audit else None,
        "correct": f"{sum(judged)} of {len(judged)}" if judged else None,
        "by_class": list(_by_class(collection)),
        "bins": _bins(sizes),
    }


def _by_class(collection: Collection) -> Iterator[dict[str, Any]]:
    of_class: dict[int, list[Item]] = {}
    for item in collection.items:
        if item.predicted is not None:
            of_class.setdefault(item.predicted, []).append(item)
    for predicted, items in sorted(of_class.items()):
        sizes = [item.summary.size for item in items if item.summary is not None]
        margins = [
            item.summary.margin for item in items if item.summary is not None and item.summary.margin is not None
        ]
        judged = [item.correct for item in items if item.correct is not None]
        yield {
            "predicted": predicted,
            "name": collection.name_of(predicted),
            "images": len(items),
            "correct": f"{sum(judged)} of {len(judged)}" if judged else "",
            "proved": sum(item.status == "PROVED" for item in items),
            "sizes": f"{median(sizes):g}" if sizes else "",
            "margin": below(min(margins), 4) if margins else "",
        }


def _bins(sizes: list[int]) -> list[dict[str, Any]]:
    """How many certificates have how many statements, in bins of one width."""
    if len(set(sizes)) < 2:
        return []
    low, high = min(sizes), max(sizes)
    width = -(-(high - low + 1) // _BINS)
    counts = Counter((size - low) // width for size in sizes)
    most = max(counts.values())
    return [
        {
            "low": low + n * width,
            "high": min(high, low + (n + 1) * width - 1),
            "count": counts[n],
            "share": counts[n] / most,
        }
        for n in range((high - low) // width + 1)
    ]
