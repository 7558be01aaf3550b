"""The table: one row an image, as a data frame, Parquet or CSV."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verale.certificate.words import AS_LABELLED, float_below
from verale.report.collect import Collection, Item
from verale.runs.inputs import SOURCE
from verale.runs.table import csv_line

if TYPE_CHECKING:
    import pandas


__all__ = ["encode", "frame"]


@dataclass(frozen=True)
class _Row:
    """An item, whose values the columns are."""

    collection: Collection
    item: Item

    @property
    def record(self) -> Mapping[str, Any]:
        return self.item.record or {}

    @property
    def named(self) -> str:
        return self.collection.name_of(self.item.predicted)

    @property
    def named_by(self) -> str | None:
        """What names the class; None where it has only its number."""
        if self.item.predicted is None or self.collection.classes is None:
            return None
        return SOURCE if self.collection.own_names else "head"

    def claim(self, name: str) -> str | None:
        """What became of a claim."""
        state: str | None = self.record.get("claims", {}).get(name)
        return state

    def stated(self, name: str) -> Any:
        """What the certificate says; None without a readable one."""
        return getattr(self.item.certificate, name, None)

    def bounded(self, name: str) -> int | None:
        """What the statements bound; None without the certificate's head."""
        return getattr(self.item.bounded, name, None)


_COLUMNS: dict[str, tuple[str, Callable[[_Row], Any]]] = {
    "index": ("Int64", lambda row: row.item.index),
    "certificate": ("string", lambda row: _text(row.item.path)),
    "sha256": ("string", lambda row: row.item.sha256),
    "image": ("string", lambda row: _text(row.item.file)),
    "image_verified": ("boolean", lambda row: None if row.item.image is None else not row.item.image_note),
    "image_is": ("string", lambda row: row.item.image_is or None),
    "label": ("Int64", lambda row: row.item.label),
    "label_is": ("string", lambda row: None if row.item.label is None else f"{AS_LABELLED}, which nothing checks"),
    "predicted": ("Int64", lambda row: row.item.predicted),
    "class": (
        "string",
        lambda row: None if row.item.predicted is None else _text(row.named),
    ),
    "class_named_by": ("string", lambda row: row.named_by),
    "correct": ("boolean", lambda row: row.item.correct),
    "paradigm": ("string", lambda row: row.stated("paradigm")),
    "statements": ("Int64", lambda row: row.item.size),
    "patches": ("Int64", lambda row: row.stated("patches")),
    "bounded_prototypes": ("Int64", lambda row: row.bounded("prototypes")),
    "prototypes": ("Int64", lambda row: row.item.count),
    "bounded_pairs": ("Int64", lambda row: row.bounded("pairs")),
    "pairs": ("Int64", lambda row: None if row.item.count is None else row.item.count * row.stated("patches")),
    "margin": ("Float64", lambda row: None if row.item.margin is None else float_below(row.item.margin)),
    "explain_seconds": ("Float64", lambda row: row.item.seconds),
    "audit_seconds": ("Float64", lambda row: row.record.get("seconds")),
    "status": ("string", lambda row: row.item.status),
    "reason": ("string", lambda row: row.record.get("reason") or None),
    "message": ("string", lambda row: _text(row.record.get("message") or row.item.problem)),
    "entailment": ("string", lambda row: row.claim("entailment")),
    "instance": ("string", lambda row: row.claim("instance")),
    "picture": ("string", lambda row: row.claim("picture")),
    "arithmetic": ("string", lambda row: row.stated("arithmetic")),
    "minimality": ("string", lambda row: row.claim("minimality")),
    "head": ("string", lambda row: row.stated("head")),
    "latents": ("string", lambda row: row.stated("latents")),
    "network": ("string", lambda row: row.stated("network")),
    "picture_sha256": ("string", lambda row: row.stated("picture")),
}
"""Of each column its type and its value."""


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

    rows = [_Row(collection, item) for item in collection.items]
    return pd.DataFrame({name: pd.array(list(map(of, rows)), dtype=kind) for name, (kind, of) in _COLUMNS.items()})


def encode(collection: Collection, kind: str) -> bytes:
    """The bytes of the table's file, `parquet` or `csv`; CSV as `csv_line` writes it."""
    if kind == "csv":
        rows = (_Row(collection, item) for item in collection.items)
        cells = [list(_COLUMNS), *([of(row) for _, of in _COLUMNS.values()] for row in rows)]
        return "".join(f"{csv_line(row)}\n" for row in cells).encode("utf-8", "backslashreplace")
    stream = io.BytesIO()
    frame(collection).to_parquet(stream, index=False)
    return stream.getvalue()


def _text(value: object) -> str | None:
    """Text that UTF-8 can encode: names of files may hold other bytes, which are escaped. None where there is none."""
    return None if value is None else str(value).encode("utf-8", "backslashreplace").decode()
