"""Attacks by a changed head under the same certificate."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator

from corpus.writing.reject.building import case

from verale.soundness.corpus.cases import Case
from verale.soundness.corpus.editing import described, entries
from verale.soundness.independent.readers import Document


def of_heads(cases: dict[str, Case]) -> Iterator[Case]:
    """A number of the head changed: under the certificate as it was, and under one with the changed head's digest."""
    changes: list[tuple[str, str, str, Callable[[bytes], bytes]]] = [
        ("projection-euclidean", "epsilon", "margin", lambda head: _epsilon_times(head, "similarity", 1.25)),
        ("projection-cosine", "epsilon", "instance", lambda head: _epsilon_times(head, "geometry", 2.0)),
        ("projection-euclidean", "weight", "margin", lambda head: tensor_times(head, "weight", 0.875)),
        ("simplex-softmax", "bias", "margin", _biases),
        ("projection-euclidean-exponential-scaled", "scale", "entailment", _scales),
        ("projection-cosine-quadratic-scaled", "peak", "entailment", lambda head: tensor_times(head, "peak", 1.5)),
        ("projection-euclidean", "prototypes", "instance", lambda head: tensor_times(head, "prototypes", 0.5)),
        ("simplex-softmax-threshold", "threshold", "refuted", _threshold_up),
    ]
    for name, part, reason, change in changes:
        original = cases[name]
        head = change(original.head)
        document = json.loads(original.certificate)
        document.pop("extensions")
        comment = f"The {part} of the head changed after the certificate was made."
        yield case(f"head-{part}-{name}", comment, document, head, None, "subject", original.latents)
        document["subject"][0]["digest"]["sha256"] = hashlib.sha256(head).hexdigest()
        comment = f"The {part} of the head changed, and its digest in the certificate with it."
        yield case(f"head-{part}-{name}-redigested", comment, document, head, None, reason, original.latents)


def _threshold_up(head: bytes) -> bytes:
    return described(head, lambda description: description["similarity"].update(threshold=(0.9375).hex()))


def _scales(head: bytes) -> bytes:
    """The scales of the first and the last prototype multiplied by 64."""
    values, rebuilt = entries(head, "scale")
    return rebuilt([64 * values[0], *values[1:-1], 64 * values[-1]])


def _biases(head: bytes) -> bytes:
    values, rebuilt = entries(head, "bias")
    return rebuilt([value + i / 64 for i, value in enumerate(values)])


def _epsilon_times(head: bytes, part: str, factor: float) -> bytes:
    """A head with the epsilon of a part multiplied."""

    def change(description: Document) -> None:
        description[part]["epsilon"] = (factor * float.fromhex(description[part]["epsilon"])).hex()

    return described(head, change)


def tensor_times(head: bytes, name: str, factor: float) -> bytes:
    """A head with the entries of a tensor multiplied."""
    values, rebuilt = entries(head, name)
    return rebuilt([factor * value for value in values])
