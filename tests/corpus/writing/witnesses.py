"""`certificates/witness`: refutation by a witness, and witnesses that refute nothing.

Every certificate is false: it forgets that what it states leaves a rival room. The heads are small enough to reckon by
hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import nextafter
from typing import Any

from corpus.writing.accept.chosen import SOFTMAX
from corpus.writing.reject.building import BOX, COSINE, NEGATED
from corpus.writing.storing import encoded

from verale.soundness.corpus.cases import Case
from verale.soundness.corpus.recipes import MAXIMUM, UNBOUNDED, top_mean
from verale.soundness.independent import files

__all__ = ["witness_cases"]

_TWO = [[1.0, 0.0], [0.0, 1.0]]
"""Weights of two classes, a prototype each."""

_ROOTED = COSINE | {"geometry": {"kind": "rooted_cosine", "epsilon": (2.0**-4).hex()}}
_INNER: files.Part = {
    "geometry": {"kind": "inner_product", "radius": (2.0).hex()},
    "similarity": files.IDENTITY,
    "domain": UNBOUNDED,
}
_STUMP: files.Part = {
    "similarity": {"kind": "exp_distance", "epsilon": (0.0).hex()},
    "readout": {"kind": "soft_tree", "absent": [-1], "present": [-2]},
}


def witness_cases() -> Iterator[Case]:
    """All of them."""
    yield from _geometries()
    yield from _poolings()
    yield from _readouts()
    yield from _paradigms()
    yield from _none()
    yield from _wrong_files()


def _case(
    name: str,
    comment: str,
    head: bytes,
    stated: list[Any],
    witness: files.Matrix,
    outcome: tuple[str, str] = ("REFUTED", "refuted"),
    **options: Any,
) -> Case:
    """A case whose certificate names no image unless `image` is given."""
    document = files.document(head, stated, **({"patches": len(witness)} | options))
    return Case(
        f"witness/{name}", encoded(document, comment), head, None, *outcome, comment, witness=files.latents([witness])
    )


def _geometries() -> Iterator[Case]:
    head = files.head(_TWO, [[0.0], [1.0]], **NEGATED, **BOX)
    stated = [files.patch_statement(0, 0, 0.0625, 0.0625)]
    comment = "Patch 0 is near prototype 0; patch 1, of which nothing is stated, is at prototype 1."
    yield _case("euclidean", comment, head, stated, [[0.25], [1.0]])
    comment = "Another image is named; a witness need not be it."
    yield _case("another-image", comment, head, stated, [[0.25], [1.0]], image=[[0.25], [0.25]])
    for name, parts in (("cosine", COSINE), ("rooted_cosine", _ROOTED)):
        head = files.head(_TWO, [[1.0, 0.0], [0.0, 1.0]], **parts)
        comment = "A latent between two prototypes, nearer to the second as far as is stated of the first."
        yield _case(name, comment, head, [files.patch_statement(0, 0, 0.5, 0.75)], [[3.0, 4.0]])
    head = files.head(_TWO, [[1.0, 0.0], [0.0, 1.0]], **_INNER)
    comment = "The product with prototype 0 is stated to be 1; that with prototype 1 may be 1.5."
    yield _case("inner_product", comment, head, [files.patch_statement(0, 0, 1.0, 1.0)], [[1.0, 1.5]])
    head = files.head(_TWO, **SOFTMAX)
    comment = "A mass between 1/4 and 1/2 leaves at least as much for the other channel."
    yield _case("softmax", comment, head, [files.patch_statement(0, 0, 0.25, 0.5)], [[0.0, 1.0]], paradigm="simplex")


def _poolings() -> Iterator[Case]:
    head = files.head([[1.0], [0.0]], [[0.0]], [1.0, 0.0], pooling=top_mean(2), **NEGATED, **BOX)
    comment = "The mean of the two greatest of three: one patch is stated, the two others are far."
    stated = [files.patch_statement(0, 0, 0.0, 0.0)]
    yield _case("top_mean", comment, head, stated, [[0.0], [2.0], [-2.0]])
    banks = {"kind": "banks", "class_token": 1}
    head = files.head(_TWO, [[0.0], [2.0]], pooling=banks, **NEGATED, **BOX)
    comment = "Prototype 0 looks at patch 0 alone, of which nothing is stated."
    yield _case("banks", comment, head, [files.patch_statement(1, 0, 0.0, 0.0)], [[3.0], [0.0]])
    mask = [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    head = files.head(_TWO, [[0.0], [2.0]], pooling={"kind": "masked_max"}, mask=mask, **NEGATED, **BOX)
    comment = "Prototype 1 looks at the patches 1 and 2, of which only one is stated."
    stated = [files.patch_statement(0, 0, 0.0, 1.0), files.patch_statement(1, 1, 4.0, 4.0)]
    yield _case("masked_max", comment, head, stated, [[1.0], [0.0], [2.0]])
    head = files.head(
        [[1.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [0.0, 0.5], pooling={"kind": "max_minus_mean"}, **COSINE
    )
    comment = "What one patch shows is taken back by the mean of all: here they are alike."
    stated = [files.patch_statement(0, 0, 0.5, 1.0)]
    yield _case("max_minus_mean", comment, head, stated, [[3.0, 4.0], [3.0, 4.0]])


def _readouts() -> Iterator[Case]:
    head = files.head([[0.0, 1.0], [0.5, 0.0]], [[0.0]], **_STUMP, **BOX)
    comment = "A tree of one node: its activation exp(-2) is small, so the absent leaf decides."
    yield _case("soft_tree", comment, head, [files.patch_statement(0, 0, 1.0, 4.0)], [[2.0]])
    weight, points = [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [[0.0], [1.0], [3.0]]
    head = files.head(weight, points, [0.0, 0.0, 0.0], readout=MAXIMUM, **NEGATED, **BOX)
    comment = "The greatest of a class's activations counts: patch 1 is at the rival's prototype."
    yield _case("maximum", comment, head, [files.patch_statement(0, 0, 0.25, 0.25)], [[-0.5], [3.0]])


def _paradigms() -> Iterator[Case]:
    head = files.head(_TWO, [[0.0], [2.0]], **NEGATED, **BOX)
    comment = "An activation is stated, and a bound for all others; both allow a rival that is as near."
    stated = [files.activation_statement(0, -1.0, 0.0), files.order_clause([0], 0.0)]
    yield _case("top_k", comment, head, stated, [[1.0], [2.0]], paradigm="top_k")
    head = files.head(_TWO, **SOFTMAX)
    comment = "A mass of at least 1/4 at some patch; another patch shows the rival."
    stated = [files.activation_statement(0, 0.25, 0.5)]
    yield _case("sparse", comment, head, stated, [[0.0, 0.0], [-1.0, 1.0]], paradigm="sparse")
    comment = "Prices cannot help: a patch of which nothing is stated shows the rival."
    stated = [files.patch_statement(0, 0, 0.5, 0.5)]
    yield _case("assignment", comment, head, stated, [[0.0, 0.0], [-1.0, 1.0]], paradigm="assignment")
    head = files.head(_TWO, [[0.0, 0.0], [2.0, 0.0]], [0.5, 0.0], **NEGATED, **BOX)
    comment = "A distance of 1 from prototype 0 leaves a whole circle, which touches that about prototype 1."
    stated = [files.patch_statement(0, 0, 1.0, 1.5)]
    for paradigm in ("triangle", "hypersphere"):
        yield _case(paradigm, comment, head, stated, [[1.125, 0.0]], paradigm=paradigm)


def _none() -> Iterator[Case]:
    """Witnesses that refute nothing."""
    head = files.head(_TWO, [[0.0], [1.0]], **NEGATED, **BOX)
    stated = [files.patch_statement(0, 0, 0.0625, 0.0625)]
    none = ("NOT_REFUTED", "witness")
    comment = "The witness is classified as claimed: nothing follows."
    yield _case("classified-alike", comment, head, stated, [[0.25], [0.25]], none)
    comment = "A tie in rational numbers: the rival's logit is as great, so the margin is not positive."
    yield _case("tie", comment, head, [], [[0.5]])
    comment = "One binary64 nearer to prototype 0 than the tie: nothing follows."
    yield _case("beside-the-tie", comment, head, [], [[nextafter(0.5, 0.0)]], none)
    false = ("NOT_REFUTED", "instance")
    comment = "The rival wins, but the statement is false of the witness by one binary64."
    yield _case("statement-false", comment, head, stated, [[nextafter(0.25, 1.0)], [1.0]], false)
    comment = "The rival wins, but the witness lies one binary64 outside the domain."
    small = files.head(_TWO, [[0.0], [1.0]], **NEGATED, domain=files.domain(-1.0, 1.0))
    yield _case("outside-the-domain", comment, small, stated, [[0.25], [nextafter(1.0, 2.0)]], false)
    comment = "The rival wins, but the witness has another number of patches."
    yield _case("patches", comment, head, stated, [[0.25], [1.0]], false, patches=3)


def _wrong_files() -> Iterator[Case]:
    """Files of a witness, a head or a certificate that do not fit."""
    head = files.head(_TWO, [[0.0], [1.0]], **NEGATED, **BOX)
    other = files.head([[1.0, 0.0], [0.0, 2.0]], [[0.0], [1.0]], **NEGATED, **BOX)
    witness = [[1.0]]

    def case(name: str, comment: str, document: Any, latents: bytes, outcome: tuple[str, str]) -> Case:
        return Case(f"witness/{name}", encoded(document, comment), head, None, *outcome, comment, witness=latents)

    document = files.document(other, [])
    comment = "The certificate of another head."
    yield case("another-head", comment, document, files.latents([witness]), ("NOT_REFUTED", "subject"))
    document = files.document(head, [files.patch_statement(1, 0, 0.0, 1.0)])
    comment = "A statement about a patch that does not exist."
    yield case("malformed", comment, document, files.latents([witness]), ("MALFORMED", "malformed"))
    document = files.document(head, [])
    comment = "Two images: a witness is one."
    yield case("two-images", comment, document, files.latents([witness, witness]), ("INPUT_ERROR", "latents"))
    comment = "Latents of another depth than the head's prototypes."
    yield case("depth", comment, document, files.latents([[[1.0, 0.0]]]), ("INPUT_ERROR", "latents"))
