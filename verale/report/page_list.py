"""The page's list: one row an item, stored column by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from verale.certificate.words import about, below
from verale.checker.verdict import claim_in_words
from verale.report.collect import Collection, Item
from verale.report.images import AS_NOTED

__all__ = ["columns_of", "image_words", "runs_of", "unproved", "with_pictures"]

_PICTURED = 6
"""The most prototypes pictured in a line."""


def columns_of(collection: Collection) -> dict[str, list[Any]]:
    """The columns by name; `run` is an index in `runs_of`, and `known` one in `image_words`,
    `unproved` one in `unproved`."""
    runs, words, sentences = runs_of(collection), image_words(collection), unproved(collection)
    rows = [_row(collection, item) for item in collection.items]
    for item, row in zip(collection.items, rows, strict=True):
        row["run"] = None if item.record is None else runs.index(_run(item.record))
        row["known"] = words.index(item.image_is)
        row["unproved"] = sentences.index(item.not_proved)
    return {name: [row[name] for row in rows] for name in rows[0]}


def _row(collection: Collection, item: Item) -> dict[str, Any]:
    summary, record = item.summary, item.record or {}
    return {
        "name": item.name,
        "image": "" if item.file is None else "/".join(item.file.parts[-2:]),
        "index": item.index,
        "match": "" if item.image_note == AS_NOTED else item.image_note,
        "predicted": item.predicted,
        "label": item.label,
        "size": None if summary is None else summary.size,
        "bounds": _bounds(collection, item),
        "margin": None if summary is None or summary.margin is None else below(summary.margin),
        "explain": _rounded(item.seconds),
        "audit": _rounded(record.get("seconds")),
        "status": item.status,
        "caveat": item.caveat,
        "message": record.get("message") or item.problem,
        "claims": [[claim_in_words(one, record), state] for one, state in record.get("claims", {}).items()],
        "pictured": summary.arithmetic if summary is not None and item.proves_picture else None,
        "why": "" if summary is None else summary.brief,
        "prototypes": _pictured(collection, item),
        "others": item.others or None,
        "paradigm": None if summary is None else summary.paradigm,
        "sha256": item.sha256,
    }


def _pictured(collection: Collection, item: Item) -> list[int]:
    """The first prototypes of an explanation that have a picture; where it is known which add to the proved lead, the
    page shows those instead."""
    return [] if item.summary is None else with_pictures(collection, item.summary.prototypes)


def with_pictures(collection: Collection, prototypes: Sequence[int]) -> list[int]:
    """The first of some prototypes that have a picture, or come from a training image."""
    known = [j for j in prototypes if j in collection.pictures or j in collection.source.origins]
    return known[:_PICTURED]


def _bounds(collection: Collection, item: Item) -> str | None:
    """How much the statements bound, beside their number: of a clause about all others that is more than one."""
    if item.summary is None or item.summary.bounded is None or collection.head is None:
        return None
    bounded, size = item.summary.bounded, collection.head.size
    prototypes, pairs = bounded.prototypes, bounded.pairs
    of_pairs = f", {pairs} of {size * item.summary.patches} pairs" if pairs and item.summary.patches > 1 else ""
    return f"on {prototypes} of {size} prototypes{of_pairs}"


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else float(about(seconds, 3))


def _run(record: Any) -> dict[str, str]:
    """What proved a certificate: the kernel that proved every claim, or the choice of the audit."""
    proved = set(record.get("by", {}).values())
    kernel = proved.pop() if len(proved) == 1 else record["run"]["kernel"]
    checker = record["run"]["checker"]
    return {"kernel": kernel, "checker": checker["sha256"], "variable": checker.get("variable", "")}


def image_words(collection: Collection) -> list[str]:
    """What is known of images: each thing that is said of one, once."""
    return list(dict.fromkeys(item.image_is for item in collection.items))


def unproved(collection: Collection) -> list[str]:
    """What verdicts do not say: each sentence of one, once."""
    return list(dict.fromkeys(item.not_proved for item in collection.items))


def runs_of(collection: Collection) -> list[dict[str, str]]:
    """The distinct kernels and checkers that audited certificates."""
    runs: list[dict[str, str]] = []
    for item in collection.items:
        if item.record is not None and _run(item.record) not in runs:
            runs.append(_run(item.record))
    return runs
