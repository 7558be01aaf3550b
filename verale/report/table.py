"""The table: one row an image, as a data frame, Parquet or CSV."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from verale.report.collect import CertificateSummary, Collection, Item
from verale.runs.table import csv_line

if TYPE_CHECKING:
    import pandas

__all__ = ["encode", "frame"]

_TYPES = {
    "index": "Int64",
    "certificate": "string",
    "sha256": "string",
    "image": "string",
    "image_verified": "boolean",
    "label": "Int64",
    "predicted": "Int64",
    "class": "string",
    "correct": "boolean",
    "paradigm": "string",
    "statements": "Int64",
    "patches": "Int64",
    "bounded_prototypes": "Int64",
    "prototypes": "Int64",
    "bounded_pairs": "Int64",
    "pairs": "Int64",
    "margin": "Float64",
    "explain_seconds": "Float64",
    "audit_seconds": "Float64",
    "status": "string",
    "reason": "string",
    "message": "string",
    "entailment": "string",
    "instance": "string",
    "minimality": "string",
    "head": "string",
    "latents": "string",
}


def frame(collection: Collection) -> pandas.DataFrame:
    """The table, one row an item.

    `image_verified` is whether digests bind the image's file to the certificate (`verale.report.images`). The
    statements bound `bounded_prototypes` of `prototypes`, and `bounded_pairs` of `pairs` of a patch and a prototype;
    these are missing without the certificate's head. `margin` is the certificate's least margin. `entailment`,
    `instance` and `minimality` are `proved` or `not checked`. Where the certificate does not claim it, the instance is
    `not claimed`, and minimality is missing.
    """
    import pandas as pd

    rows = [_row(collection, item) for item in collection.items]
    return pd.DataFrame({name: pd.array([row[name] for row in rows], dtype=kind) for name, kind in _TYPES.items()})


def encode(collection: Collection, kind: str) -> bytes:
    """The bytes of the table's file, `parquet` or `csv`; CSV as `csv_line` writes it."""
    if kind == "csv":
        rows = [list(_TYPES), *([_row(collection, item)[name] for name in _TYPES] for item in collection.items)]
        return "".join(f"{csv_line(row)}\n" for row in rows).encode("utf-8", "backslashreplace")
    stream = io.BytesIO()
    frame(collection).to_parquet(stream, index=False)
    return stream.getvalue()


def _row(collection: Collection, item: Item) -> dict[str, Any]:
    summary, record = item.summary, item.record or {}
    claims = record.get("claims", {})
    return {
        "index": item.index,
        "certificate": None if item.path is None else _text(str(item.path)),
        "sha256": item.sha256,
        "image": None if item.file is None else _text(str(item.file)),
        "image_verified": None if item.file is None else not item.image_note,
        "label": item.label,
        "predicted": item.predicted,
        "class": _text(collection.name_of(item.predicted)) if item.predicted is not None else None,
        "correct": item.correct,
        "paradigm": None if summary is None else summary.paradigm,
        "statements": None if summary is None else summary.size,
        "patches": None if summary is None else summary.patches,
        **_reach(collection, summary),
        "margin": None if summary is None or summary.margin is None else float(summary.margin),
        "explain_seconds": item.seconds,
        "audit_seconds": record.get("seconds"),
        "status": item.status,
        "reason": record.get("reason") or None,
        "message": _text(record.get("message") or item.problem),
        **{claim: claims.get(claim) for claim in ("entailment", "instance", "minimality")},
        "head": None if summary is None else summary.head,
        "latents": None if summary is None else summary.latents,
    }


def _reach(collection: Collection, summary: CertificateSummary | None) -> dict[str, int | None]:
    if summary is None or summary.bounded is None or collection.head is None:
        return dict.fromkeys(("bounded_prototypes", "prototypes", "bounded_pairs", "pairs"))
    reach, count = summary.bounded, collection.head.size
    return {
        "bounded_prototypes": reach.prototypes,
        "prototypes": count,
        "bounded_pairs": reach.pairs,
        "pairs": count * summary.patches,
    }


def _text(text: str) -> str:
    """Text that UTF-8 can encode: names of files may hold other bytes, which are escaped."""
    return text.encode("utf-8", "backslashreplace").decode()
