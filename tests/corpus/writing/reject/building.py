"""Rejected cases: from a document, twice (with a counterexample too), or by a change of an accepted case."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from corpus.writing.accept.chosen import SOFTMAX
from corpus.writing.storing import encoded

from verale.soundness.corpus.cases import Case
from verale.soundness.independent import files
from verale.soundness.independent.readers import Document

BOX = {"domain": files.domain(-4.0, 4.0)}
NEGATED: files.Part = {"similarity": {"kind": "negated"}}
COSINE = {"geometry": files.cosine(0.0), "similarity": files.IDENTITY, "domain": files.domain(None, None)}
THRESHOLD = SOFTMAX | {"similarity": {"kind": "threshold", "threshold": (0.5).hex()}}


def case(
    name: str,
    comment: str,
    document: Document,
    head: bytes,
    image: files.Matrix | None,
    reason: str,
    latents: bytes | None = None,
) -> Case:
    """A rejected case; `reason` gives its status. The latents are those of the image unless given."""
    if latents is None and image is not None:
        latents = files.latents([image])
    status = {"refuted": "REFUTED", "malformed": "MALFORMED"}.get(reason, "NOT_PROVED")
    return Case(f"reject/{name}", encoded(document, comment), head, latents, status, reason, comment)


def twice(
    name: str,
    comment: str,
    head: bytes,
    stated: list[Any],
    image: files.Matrix,
    other: files.Matrix,
    **options: Any,
) -> Iterator[Case]:
    """An attack at an image and at its counterexample."""
    for suffix, reason, latents in (("", "entailment", image), ("-refuted", "refuted", other)):
        document = files.document(head, stated, image=latents, **({"patches": len(latents)} | options))
        whole = comment + (" Here with the latents of a counterexample." if suffix else "")
        yield case(name + suffix, whole, document, head, latents, reason)


def changed(original: Case, change: Callable[[Document], object]) -> Document:
    """The certificate of an accepted case, changed, without its comment."""
    document: Document = json.loads(original.certificate)
    document.pop("extensions")
    change(document)
    return document


def altered(original: Case, name: str, comment: str, reason: str, change: Callable[[Document], object]) -> Case:
    """An accepted case with its certificate changed."""
    return case(name, comment, changed(original, change), original.head, None, reason, original.latents)
