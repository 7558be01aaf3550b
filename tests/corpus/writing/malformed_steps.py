"""`certificates/malformed`: paradigms that a head does not have, and two things that are wrong at once."""

from __future__ import annotations

import json
from collections.abc import Iterator

from verale.soundness.corpus.cases import Case
from verale.soundness.independent import files

__all__ = ["malformed_paradigms", "malformed_twice"]


def malformed_paradigms() -> Iterator[Case]:
    """Paradigms of heads that they are not defined for, of which nothing else is wrong."""
    rows, weight, masks = [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]], {"similarity": files.IDENTITY}
    cosine = masks | {"geometry": files.cosine(0.0)}
    product = masks | {"geometry": {"kind": "inner_product", "radius": (1.0).hex()}}
    heads: list[tuple[str, str, files.Part]] = [
        ("joint", "maximum", cosine | {"readout": {"kind": "maximum"}}),
        ("joint", "top_mean", cosine | {"pooling": {"kind": "top_mean", "k": 1}}),
        ("joint", "max_minus_mean", cosine | {"pooling": {"kind": "max_minus_mean"}}),
        ("mixed", "inner_product", product),
        ("mixed", "softmax", masks | {"geometry": files.SOFTMAX}),
        ("assignment", "cosine", cosine),
        ("assignment", "inner_product", product),
        ("simplex", "inner_product", product),
        ("sparse", "cosine", cosine),
        ("triangle", "softmax", masks | {"geometry": files.SOFTMAX}),
    ]
    for paradigm, part, parts in heads:
        prototypes = None if part == "softmax" else rows
        head = files.head(weight, prototypes, [4.0, 0.0], **(parts | {"domain": files.domain(None, None)}))
        data = files.certificate(head, [], paradigm=paradigm)
        comment = f"{paradigm} of a head with {part}; the bias alone proves the class."
        yield Case(f"malformed/{paradigm}-{part}", data, head, None, "MALFORMED", "malformed", comment)
    parts = {"pooling": {"kind": "max_minus_mean_distance"}, "readout": {"kind": "maximum"}}
    head = files.head(weight, rows, [64.0, 0.0], **parts)
    comment = "The pooling max_minus_mean_distance with the readout maximum."
    proof = files.certificate(head, [])
    yield Case("malformed/head-mean-distance-maximum", proof, head, None, "INPUT_ERROR", "head", comment)


def malformed_twice(cases: dict[str, Case]) -> Iterator[Case]:
    """Two things are wrong, and the first step decides."""
    original, other = cases["projection-euclidean"], cases["projection-euclidean-nchw"]
    document = json.loads(original.certificate)
    document["predicate"]["patches"] = 0
    data, comment = files.encode(document), "The certificate of another head, without a patch: its form comes first."
    yield Case("malformed/another-head-no-patch", data, other.head, None, "MALFORMED", "malformed", comment)
    broken, head = files.given(original.latents)[:-1], original.head[:-1]
    for name, comment, file, latents, reason in (
        ("head-and-certificate", "A head and a certificate, both cut: the head comes first.", head, None, "head"),
        ("latents-and-certificate", "Latents and a certificate, both cut.", original.head, broken, "latents"),
        ("head-and-latents", "A head and latents, both cut: the head comes first.", head, broken, "head"),
    ):
        certificate = original.certificate if "certificate" not in name else original.certificate[:-3]
        yield Case(f"malformed/{name}", certificate, file, latents, "INPUT_ERROR", reason, comment)
    unnamed = cases["no-statement"]
    comment = "Latents that are cut, though the certificate names none."
    yield Case(
        "malformed/latents-not-named", unnamed.certificate, unnamed.head, broken, "INPUT_ERROR", "latents", comment
    )
