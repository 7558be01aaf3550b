"""The page's list, one row an item, stored column by column; and its overview: the numbers at its top, and the table by
class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from verale.certificate.words import PROVED_PICTURE, about, below, written
from verale.checker.verdict import claim_in_words
from verale.report.collect import Collection, Item
from verale.report.explanation import in_brief
from verale.report.images import AS_NOTED
from verale.report.vocabulary import of_kernel

__all__ = ["columns_of", "overview", "with_pictures"]

_PICTURED = 6
"""The most prototypes pictured in a line."""


def columns_of(collection: Collection) -> dict[str, list[Any]]:
    """The columns by name. What many lines have in common is deflated to hardly anything."""
    columns = {name: [of(item) for item in collection.items] for name, of in _COLUMNS.items()}
    columns["message"] = [message.replace(f"{collection.folder}/", "") for message in columns["message"]]
    return columns


def _of_record(of: Callable[[Mapping[str, Any]], Any], missing: Any = None) -> Callable[[Item], Any]:
    return lambda item: missing if item.record is None else of(item.record)


def _claims(record: Mapping[str, Any]) -> list[list[str]]:
    return [[claim_in_words(one, record), state] for one, state in record.get("claims", {}).items()]


def _bounds(item: Item) -> str | None:
    """How much the statements bound, beside their number: of a clause about all others that is more than one."""
    certificate, bounded, size = item.certificate, item.bounded, item.count
    if certificate is None or bounded is None or size is None:
        return None
    prototypes, pairs = bounded.prototypes, bounded.pairs
    of_pairs = f", {pairs} of {size * certificate.patches} pairs" if pairs and certificate.patches > 1 else ""
    return f"on {prototypes} of {size} prototypes{of_pairs}"


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else float(about(seconds, 3))


def _run(record: Mapping[str, Any]) -> dict[str, str]:
    """What proved a certificate: the kernel that proved every claim, or the choice of the audit; also in words."""
    proved = set(record.get("by", {}).values())
    kernel = proved.pop() if len(proved) == 1 else record["run"]["kernel"]
    checker = record["run"]["checker"]
    variable = checker.get("variable", "")
    words = of_kernel(kernel, variable)
    return {"kernel": kernel, "checker": checker["sha256"], "variable": variable, "words": words}


def _image_sentence(item: Item) -> str:
    """What is known of an image; empty where nothing is."""
    if item.image_is == PROVED_PICTURE:
        return "The picture shown is the one that was proved."
    return f"The image is {item.image_is}." if item.image_is else ""


_COLUMNS: dict[str, Callable[[Item], Any]] = {
    "name": lambda item: item.name,
    "image": lambda item: "" if item.file is None else "/".join(item.file.parts[-2:]),
    "match": lambda item: "" if item.image_note == AS_NOTED else item.image_note,
    "predicted": lambda item: item.predicted,
    "label": lambda item: item.label,
    "size": lambda item: item.size,
    "margin": lambda item: None if item.margin is None else below(item.margin),
    "explain": lambda item: _rounded(item.seconds),
    "audit": _of_record(lambda record: _rounded(record.get("seconds"))),
    "status": lambda item: item.status,
    "caveat": lambda item: item.verdict.caveat,
    "scope": lambda item: item.verdict.scope,
    "claims": _of_record(_claims, []),
    "pictured": lambda item: item.certificate.arithmetic if item.certificate and item.proves_picture else None,
    "why": lambda item: "" if item.certificate is None else in_brief(item.certificate, item.count),
    "others": lambda item: item.others or None,
    "sha256": lambda item: item.sha256,
    "bounds": _bounds,
    "run": _of_record(_run),
    "known": _image_sentence,
    "unproved": lambda item: item.verdict.not_proved,
    "message": lambda item: (item.record or {}).get("message") or item.problem,
}
"""What a line shows of an item, by the column."""


def with_pictures(collection: Collection, prototypes: Sequence[int]) -> list[int]:
    """The first of some prototypes that have a picture, or come from a training image."""
    known = [j for j in prototypes if j in collection.pictures or j in collection.source.origins]
    return known[:_PICTURED]


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
    sizes = [item.size for item in items if item.size is not None]
    margins = [item.margin for item in items if item.margin is not None]
    judged = [item.correct for item in items if item.correct is not None]
    return {
        "median_size": written(median(sizes)) if sizes else "",
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
