"""A certificate's plain data as bytes and back: UTF-8 JSON with hex floats."""

from __future__ import annotations

import json
from typing import Any

from verale.errors import CertificateError

__all__ = ["TYPE", "decode", "encode"]

TYPE = "urn:verale:certificate:v1"


def encode(subject: list[dict[str, Any]], predicate: dict[str, Any]) -> bytes:
    """The file's bytes, with one statement a line, so that `diff` can compare two certificates."""
    statements = ",\n".join(map(json.dumps, predicate["statements"]))
    document = {"_type": TYPE, "subject": subject, "predicate": predicate | {"statements": []}}
    text = json.dumps(document, ensure_ascii=False)
    return (text.replace('"statements": []', f'"statements": [\n{statements}\n]', 1) + "\n").encode()


def decode(data: bytes) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Subject and predicate. Raises ValueError, KeyError, TypeError: malformed; CertificateError: an unknown type."""
    document = json.loads(data)
    if document["_type"] != TYPE:
        raise CertificateError(f"_type is {document['_type']!r}, expected {TYPE!r}")
    return document["subject"], document["predicate"]
