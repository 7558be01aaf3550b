"""Accepted cases under `mixed` whose numbers are chosen: what one activation says of another."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from corpus.writing.storing import encoded

from verale.soundness.corpus.cases import Case
from verale.soundness.corpus.recipes import GEOMETRIES
from verale.soundness.independent import files
from verale.soundness.independent.arithmetic import below
from verale.soundness.independent.readers import Document

__all__ = ["LINE", "mixed_cases"]

LINE: files.Part = {"similarity": {"kind": "negated"}, "domain": files.domain(-9.0, 9.0)}
_POINTS = [[0.0, 0.0], [3.0, 0.0], [7.0, 0.0]]
_HAIR = Fraction(1, 2**50)
"""An inverse of a similarity, and a root, are known up to less than this."""


def mixed_cases() -> Iterator[Case]:
    """All of them."""
    head = files.head([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], _POINTS, **LINE)
    comment = "Some patch is 1 from 0, so 4 or less from 3, and none is 4 or less from 7. The greatest margin is 1/2."
    stated = [files.activation_statement(0, -1.0, None), files.order_clause([0, 1], -16.5)]
    yield _case("mixed-near-one-near-another", comment, head, stated, [[-1.0, 0.0], [7.0, 4.5]], Fraction(1, 2))

    head = files.head([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]], _POINTS, [-24.0, 0.0], **LINE)
    comment = "No patch is less than 8 from 0 and from 7, so none is less than 5 from 3, which the ceiling exempts."
    stated = [files.order_clause([1], -64.0)]
    yield _case("mixed-ceiling-of-the-exempt", comment, head, stated, [[-8.5, 0.0], [-9.0, 1.0]], Fraction(1))

    head = files.head([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]], _POINTS, [50.0, 0.0], **LINE)
    comment = "Some patch is at most 4 from 0, one at most 4 from 7: one is at most 7 from 3, which the floor exempts."
    stated = [files.floor([1], -16.0)]
    yield _case("mixed-floor-of-the-exempt", comment, head, stated, [[-4.0, 0.0], [9.0, 0.0]], Fraction(1))

    head = files.head([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]], _POINTS, [5.0, 0.0], **LINE)
    comment = "The only patch is 2 from 7; it is 3 or more from 3, as an activation says."
    stated = [files.patch_statement(0, 2, 4.0, 4.0), files.activation_statement(1, None, -9.0)]
    yield _case("mixed-patch-and-activation", comment, head, stated, [[7.0, 2.0]], Fraction(10))

    cosine = GEOMETRIES["cosine"] | {"geometry": files.cosine(0.0), "similarity": files.IDENTITY}
    head = files.head([[0.0, 1.0], [0.0, 0.0]], [[1.0, 0.0], [3.0, 4.0]], [0.125, 0.0], **cosine)
    comment = "A cosine of 0.8 or more to one prototype, whose cosine to another is 0.6: the other's is 0 or more."
    stated = [files.activation_statement(0, 0.8000000000000002, None)]
    yield _case("mixed-sum-of-angles", comment, head, stated, [[3.0, 1.0]], Fraction(1, 8))

    head = files.head([[0.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [3.0, 4.0]], [1.0, 0.0], **cosine)
    comment = "No cosine above -0.6 to one prototype, whose cosine to another is 0.6: none above 0.28 to the other."
    stated = [files.activation_statement(0, None, -0.6000000000000001)]
    yield _case("mixed-difference-of-angles", comment, head, stated, [[-3.0, 1.0], [-1.0, 0.0]], Fraction(18, 25))


def _case(name: str, comment: str, head: bytes, stated: list[Document], image: files.Matrix, margin: Fraction) -> Case:
    """A case whose margin is a hair less than the greatest one."""
    document = files.document(
        head, stated, paradigm="mixed", patches=len(image), image=image, margins=[None, below(margin - _HAIR)]
    )
    return Case(f"accept/{name}", encoded(document, comment), head, files.latents([image]), "PROVED", "", comment)
