"""The table: one row an image, as a data frame, Parquet or CSV."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from verale.certificate.words import AS_LABELLED, float_below
from verale.report.collect import Collection, Item
from verale.runs.inputs import SOURCE
from verale.runs.table import csv_line

if TYPE_CHECKING:
    import pandas


def _cells(collection: Collection, item: Item) -> dict[str, tuple[str, Any]]:
    """The row of an item: of each column its type and its value."""
    record, certificate, bounded, count = item.record or {}, item.certificate, item.bounded, item.count
    claims: dict[str, str] = record.get("claims", {})
    stated: dict[str, Any] = {} if certificate is None else vars(certificate)
    named_by = SOURCE if collection.own_names else "head"
    is_named = item.predicted is not None and collection.classes is not None
    pairs = None if count is None or certificate is None else count * certificate.patches
    return {
        "index": ("Int64", item.index),
        "certificate": ("string", _text(item.path)),
        "sha256": ("string", item.sha256),
        "image": ("string", _text(item.file)),
        "image_verified": ("boolean", None if item.image is None else not item.image_note),
        "image_is": ("string", item.image_is or None),
        "label": ("Int64", item.label),
        "label_is": ("string", None if item.label is None else f"{AS_LABELLED}, which nothing checks"),
        "predicted": ("Int64", item.predicted),
        "class": ("string", None if item.predicted is None else _text(collection.name_of(item.predicted))),
        "class_named_by": ("string", named_by if is_named else None),
        "correct": ("boolean", item.correct),
        "paradigm": ("string", stated.get("paradigm")),
        "statements": ("Int64", item.size),
        "patches": ("Int64", stated.get("patches")),
        "bounded_prototypes": ("Int64", None if bounded is None else bounded.prototypes),
        "prototypes": ("Int64", count),
        "bounded_pairs": ("Int64", None if bounded is None else bounded.pairs),
        "pairs": ("Int64", pairs),
        "margin": ("Float64", None if item.margin is None else float_below(item.margin)),
        "explain_seconds": ("Float64", item.seconds),
        "audit_seconds": ("Float64", record.get("seconds")),
        "status": ("string", item.status),
        "reason": ("string", record.get("reason") or None),
        "message": ("string", _text(record.get("message") or item.problem)),
        **{name: ("string", claims.get(name)) for name in ("entailment", "instance", "picture")},
        "arithmetic": ("string", stated.get("arithmetic")),
        "minimality": ("string", claims.get("minimality")),
        **{name: ("string", stated.get(name)) for name in ("head", "latents", "network")},
        "picture_sha256": ("string", stated.get("picture")),
    }


def frame(collection: Collection) -> pandas.DataFrame:
    """The table, one row an item.

    `image_verified` is whether the image's file holds the picture that the certificate names; `image_is` says in words
    what is known of it (`verale.report.images`). `label` is as labelled: nothing checks it, nor names of classes by
    `source.json`. The statements bound `bounded_prototypes` of `prototypes`, and `bounded_pairs` of `pairs` of a patch
    and a prototype; these are missing without the certificate's head. `margin` is the certificate's least margin,
    rounded down to four digits. `entailment`, `instance`, `picture` and `minimality` are `proved` or `not checked`, a
    picture in the `arithmetic` of its certificate. Where the certificate claims neither, the instance is `not claimed`;
    what else it does not claim is missing.
    """
    import pandas as pd

    rows = [_cells(collection, item) for item in collection.items]
    kinds = {name: kind for name, (kind, _) in _cells(collection, Item(None)).items()}
    return pd.DataFrame({name: pd.array([row[name][1] for row in rows], dtype=kind) for name, kind in kinds.items()})


def encode(collection: Collection, kind: str) -> bytes:
    """The bytes of the table's file, `parquet` or `csv`; CSV as `csv_line` writes it."""
    if kind == "csv":
        rows = [[value for _, value in _cells(collection, item).values()] for item in collection.items]
        cells = [list(_cells(collection, Item(None))), *rows]
        return "".join(f"{csv_line(row)}\n" for row in cells).encode("utf-8", "backslashreplace")
    stream = io.BytesIO()
    frame(collection).to_parquet(stream, index=False)
    return stream.getvalue()


def _text(value: object) -> str | None:
    """Text that UTF-8 can encode: names of files may hold other bytes, which are escaped. None where there is none."""
    return None if value is None else str(value).encode("utf-8", "backslashreplace").decode()
