"""Attacks on margins that are one target each: what is combined must be the margin, of one patch, and bounded."""

from __future__ import annotations

from collections.abc import Iterator

from corpus.writing.accept.chosen import BARE_COSINE
from corpus.writing.reject.building import BOX, NEGATED, case, twice

from verale.soundness.corpus.cases import Case
from verale.soundness.corpus.recipes import UNBOUNDED
from verale.soundness.independent import files
from verale.soundness.independent.head import Head

AROUND = [[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]
WEIGHT = [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
"""o_0 - o_1 = d_1 + d_2 - d_0 less the bias of the rival: |y|^2 + 2 less that bias, and d_0 = |y|^2."""


def of_margins() -> Iterator[Case]:
    """All of them."""
    yield from _combined()
    yield from _cosines()
    yield from _needless()


def _combined() -> Iterator[Case]:
    head = files.head(WEIGHT, AROUND, [0.0, 2.5], **NEGATED, **BOX)
    comment = "The margin |y|^2 - 1/2 taken at the farther end of |y|^2."
    stated = [files.patch_statement(0, 0, 0.25, 0.75)]
    yield from twice("joint-at-the-farther-end", comment, head, stated, [[0.75, 0.375]], [[0.5, 0.0]], paradigm="joint")
    comment = "The margin |y|^2 - 1/2, of which nothing is stated from below."
    stated = [files.patch_statement(0, 0, None, 0.75)]
    yield from twice(
        "joint-without-a-lower-end", comment, head, stated, [[0.75, 0.375]], [[0.5, 0.0]], paradigm="joint"
    )
    comment = "The margin 1 - 2 |y|^2, of which nothing is stated from above."
    bent = files.head([[2.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]], [1.0, 0.0], **NEGATED, **BOX)
    stated = [files.patch_statement(0, 0, 0.25, None)]
    yield from twice("joint-without-an-upper-end", comment, bent, stated, [[0.5, 0.0]], [[1.0, 0.0]], paradigm="joint")
    parts = {"geometry": files.EUCLIDEAN, "pooling": files.MAX, **NEGATED, **BOX}
    head = Head(WEIGHT, AROUND, parts, bias=[0.0, 1.0], scale=[4.0, 1.0, 1.0]).data
    # d_1 + d_2 - 4 d_0 - 1 = 1 - 2 |y|^2; without scales it would be |y|^2 + 1.
    comment = "A margin that falls with |y|^2, and would rise with it without the scale."
    stated = [files.patch_statement(0, 0, 0.0, 1.0)]
    yield from twice("joint-without-scales", comment, head, stated, [[0.5, 0.0]], [[1.0, 0.0]], paradigm="joint")
    head = files.head([[0.0, 0.0], [1.0, -1.0]], [[1.0, 0.0], [0.0, 1.0]], [0.5, 0.0], **NEGATED, **BOX)
    # d_0 - d_1 + 1/2 = 2 y_1 - 2 y_0 + 1/2
    comment = "The margin 2 y_1 - 2 y_0 + 1/2 taken along one prototype alone."
    stated = [files.patch_statement(0, 0, 1.0, 1.0)]
    yield from twice("joint-along-one", comment, head, stated, [[0.0, 0.0]], [[2.0, 0.0]], paradigm="joint")
    comment = "The margin |y|^2 - 1/4, which is 0 term by term, taken without its bias."
    head = files.head([[-1.0], [0.0]], [[0.0, 0.0]], [0.0, 0.25], **NEGATED, **BOX)
    stated = [files.patch_statement(0, 0, 0.25, 0.5)]
    yield from twice("joint-without-a-bias", comment, head, stated, [[0.625, 0.0]], [[0.5, 0.0]], paradigm="joint")


def _cosines() -> Iterator[Case]:
    head = files.head(
        [[1.0, 1.0], [0.0, 0.0]], [[3.0, 0.0], [0.0, 1.0]], [-1.0, 0.0], **(BARE_COSINE | {"domain": UNBOUNDED})
    )
    # u_0 + u_1 - 1; products with the prototypes would make it 3 u_0 + u_1 - 1.
    comment = "Products with prototypes of other lengths taken for cosines."
    stated = [files.patch_statement(0, 0, 0.5, 1.0)]
    yield from twice("joint-products-for-cosines", comment, head, stated, [[4.0, 3.0]], [[4.0, -3.0]], paradigm="joint")


def _needless() -> Iterator[Case]:
    comment = "Minimality claimed of a statement without which no term has a good end, but |y|^2 + 1/8 is positive."
    head, image = files.head(WEIGHT, AROUND, [0.0, 1.875], **NEGATED, **BOX), [[0.5, 0.0]]
    stated = [files.patch_statement(0, 0, 0.25, 0.25)]
    document = files.document(head, stated, paradigm="joint", image=image, minimality=True)
    yield case("not-minimal-joint", comment, document, head, image, "minimality")
    comment = "Minimality claimed of two statements, of which the first one alone makes |y|^2 - 1/8 positive."
    head = files.head(WEIGHT, AROUND, [0.0, 2.125], **NEGATED, **BOX)
    stated = [files.patch_statement(0, 0, 0.25, 0.25), files.patch_statement(0, 1, 0.0, 4.0)]
    document = files.document(head, stated, paradigm="joint", image=image, minimality=True)
    yield case("not-minimal-joint-second", comment, document, head, image, "minimality")
    comment = "Minimality claimed of a statement, but d_0 - 1/4 is positive over the domain, though not over the space."
    head = files.head([[0.0] * 3, [1.0, 0.0, 0.0]], AROUND, [-0.25, 0.0], **NEGATED, domain=files.domain(0.5, 1.0))
    stated, image = [files.patch_statement(0, 0, 0.5, 0.5)], [[0.5, 0.5]]
    document = files.document(head, stated, paradigm="joint", image=image, minimality=True)
    yield case("not-minimal-joint-domain", comment, document, head, image, "minimality")
