"""Attacks by another head, another image, or an image outside the domain."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import nextafter

from corpus.writing.reject.building import BOX, COSINE, NEGATED, case

from verale.soundness.corpus.cases import Case
from verale.soundness.independent import files


def of_subjects(cases: dict[str, Case]) -> Iterator[Case]:
    """All of them, given the accepted cases."""
    original, other = cases["projection-euclidean"], cases["projection-euclidean-nchw"]
    comment = "The certificate of one head given with another."
    document = json.loads(original.certificate)
    document.pop("extensions")
    yield case("another-head", comment, document, other.head, None, "subject", original.latents)
    comment = "The latents of another image."
    yield case("another-image", comment, document, original.head, None, "subject", other.latents)
    comment = "One bit of the image's latents changed."
    data = files.given(original.latents)
    flipped = bytes([*data[:-8], data[-8] ^ 1, *data[-7:]])
    yield case("latents-one-bit", comment, document, original.head, None, "subject", flipped)

    document["predicate"]["statements"][0]["patch"] = document["predicate"]["patches"]
    comment = "The certificate of one head given with another, and a patch that is not there: the head comes first."
    yield case("another-head-and-patch", comment, document, other.head, None, "subject", original.latents)
    comment = "The latents of another image, and a patch that is not there: the latents come first."
    yield case("another-image-and-patch", comment, document, original.head, None, "subject", other.latents)
    yield from _zeros()

    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [2.0, 0.0]], **NEGATED, domain=files.domain(-1.0, 1.0))
    comment = "A coordinate one binary64 outside the head's domain."
    image = [[nextafter(1.0, 2.0), 0.0], [0.0, 0.0]]
    document = files.document(head, [files.patch_statement(1, 0, 0.0, 0.0)], patches=2, image=image)
    yield case("outside-the-box", comment, document, head, image, "instance")
    ball = files.head(
        [[1.0, 0.0], [0.0, 1.0]],
        [[1.0, 0.0], [-1.0, 0.0]],
        geometry={"kind": "inner_product", "radius": (1.0).hex()},
        similarity=files.IDENTITY,
        domain=files.domain(None, None),
    )
    comment = "A latent a hair longer than the radius of the head's domain."
    image = [[nextafter(0.6, 1.0), 0.8]]
    document = files.document(ball, [files.patch_statement(0, 0, 0.5, 0.75)], image=image)
    yield case("outside-the-ball", comment, document, ball, image, "instance")
    cosine = files.head([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]], **COSINE)
    comment = "A zero latent, of which a cosine without epsilon says nothing."
    image = [[1.0, 0.0], [0.0, 0.0]]
    document = files.document(cosine, [files.patch_statement(0, 0, 0.5, 1.0)], patches=2, image=image)
    yield case("zero-latent", comment, document, cosine, image, "instance")


def _zeros() -> Iterator[Case]:
    """The image that is named has -0 where the one that is given has 0, or the other way round."""
    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [2.0, 0.0]], **NEGATED, **BOX)
    for name, named, given in (("minus-zero-given", 0.0, -0.0), ("minus-zero-named", -0.0, 0.0)):
        document = files.document(head, [files.patch_statement(0, 0, 0.0, 0.0)], image=[[named, 0.0]])
        comment = f"The digest of an image with the coordinate {named} given with one that has {given}."
        yield case(name, comment, document, head, [[given, 0.0]], "subject")
