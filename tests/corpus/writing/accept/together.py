"""Accepted cases that rest on all of several statements about one patch: about the same latent, or the same masses."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import nextafter, sqrt
from typing import Any

from corpus.writing.accept.chosen import BARE_COSINE, NEGATED, SOFTMAX, with_masses
from corpus.writing.storing import encoded

from verale.checker import Auditor
from verale.soundness.corpus.cases import Case
from verale.soundness.corpus.recipes import UNBOUNDED, inner_product
from verale.soundness.independent import files
from verale.soundness.independent.arithmetic import below, product, squared_distance
from verale.soundness.independent.readers import Document

__all__ = ["together_cases"]

_PRODUCTS: files.Part = {"similarity": files.IDENTITY}


def together_cases() -> Iterator[Case]:
    """All of them."""
    yield from _axes()
    yield from _masses()
    yield from _balls()
    yield from _spaces()
    yield from _zeros()


def _case(
    name: str,
    comment: str,
    head: bytes,
    stated: list[Document],
    image: files.Matrix,
    attained: bool = False,
    **options: Any,
) -> Case:
    """A case of two classes whose margin is the greatest binary64 that both kernels prove; where that is `attained`,
    beyond checkers with rounded weights, the one below it. Minimal unless told otherwise."""
    latents = files.latents([image])
    options = {"minimality": True, "patches": len(image), "image": image, **options}
    hints = options.pop("hints", {})
    document = files.document(head, stated, **options)
    document["predicate"]["hints"] = hints
    proved = Auditor(head, latents, "both").check(files.encode(document)).margins
    bounds = [None if margin is None else below(margin) for margin in proved]
    margins = [None if bound is None else (nextafter(bound, 0) if attained else bound).hex() for bound in bounds]
    document["predicate"]["margins"] = margins
    return Case(f"accept/{name}", encoded(document, comment), head, latents, "PROVED", "", comment)


# Statements about axes, and a target along all of them.


def _axes() -> Iterator[Case]:
    for count, width in ((3, 0.0), (5, 0.0), (5, 2.0**-6), (8, 0.0), (8, 2.0**-6)):
        depth = count - 1
        image = [[0.75 + 0.0625 * (d % 4) for d in range(depth)]]
        rows = [[0.0] * depth, *_units(depth), [1.0] * depth]
        distances = [float(Fraction(squared_distance(image[0], row))) for row in rows]
        head = files.head(_last_counts(count, 0), rows, [distances[-1] + 0.25, 0.0], **NEGATED)
        stated = [files.patch_statement(0, j, distances[j] - width, distances[j] + width) for j in range(count)]
        comment = f"The distance to (1, ..., 1) is known only from those to 0 and to {depth} unit vectors together."
        wide = "-wide" if width else ""
        yield _case(f"together-euclidean-{count}{wide}", comment, head, stated, image, attained=not width)
    for count in (3, 5, 8):
        image = [[0.125 * (1 + d % 3) for d in range(count)]]
        rows = [[(1.0 + j % 2) * x for x in row] for j, row in enumerate(_units(count))] + [[1.0] * count]
        lows = [float(Fraction(product(image[0], row))) for row in rows]
        head = files.head(
            _last_counts(count, 1),
            rows,
            [0.0, lows[-1] - 0.0625],
            **_PRODUCTS,
            geometry=inner_product(1.5),
            domain=UNBOUNDED,
        )
        stated = [files.patch_statement(0, j, lows[j], None) for j in range(count)]
        comment = f"A sum of {count} coordinates, of each of which a lower end is stated."
        yield _case(f"together-inner_product-{count}", comment, head, stated, image)
    for count in (3, 5):
        image = [[1.0 + 0.25 * (d % 3) for d in range(count)]]
        length = sqrt(sum(x * x for x in image[0]))
        rows = [*_units(count), [1.0] * count]
        lows = [round(64 * x / length) / 64 - 2.0**-5 for x in image[0]]
        bias = round(64 * sum(lows) / sqrt(count)) / 64 - 0.0625
        head = files.head(_last_counts(count, 1), rows, [0.0, bias], **BARE_COSINE)
        stated = [files.patch_statement(0, j, low, None) for j, low in enumerate(lows)]
        comment = f"The cosine to (1, ..., 1), from lower ends of those to {count} unit vectors."
        yield _case(f"together-cosine-{count}", comment, head, stated, image)


def _units(count: int) -> files.Matrix:
    return [[float(d == j) for d in range(count)] for j in range(count)]


def _last_counts(count: int, own: int) -> files.Matrix:
    """Weights of two classes where the last of the prototypes, which nothing is stated of, counts alone: against class
    0, which has a bias, or for it."""
    return [[0.0] * count + [float(c == 0)] for c in (0, 1)]


# Masses.


def _masses() -> Iterator[Case]:
    image = [with_masses(0.5625, 0.21875, 0.21875)]
    head = files.head([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]], bias=[0.0, 0.25, -0.75], **SOFTMAX)
    stated = [
        files.patch_statement(0, 0, 0.125, 0.625),
        files.patch_statement(0, 1, None, 0.25),
        files.patch_statement(0, 2, None, 0.25),
    ]
    comment = "All masses are stated: the first is at least 1/2, since the others are at most 1/4 each."
    yield _case("simplex-all-stated", comment, head, stated, image, paradigm="simplex", classes=3)
    image = [with_masses(0.53125, 0.25, 0.21875)]
    stated = [files.patch_statement(0, 0, 0.5, None), files.patch_statement(0, 1, 0.125, 0.9375)]
    comment = "A mass is stated to be at most 15/16, but another one leaves it 1/2."
    head = files.head([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]], bias=[0.625, 0.0], **SOFTMAX)
    yield _case("simplex-what-others-leave", comment, head, stated, image, paradigm="simplex", minimality=False)
    head = files.head([[0.75, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0]], bias=[0.5, 0.0], **SOFTMAX)
    image = [with_masses(*row) for row in ([0.505, 0.2, 0.15, 0.145], *[[0.88, 0.04, 0.04, 0.04]] * 2)]
    stated = [files.patch_statement(patch, 0, low, low + 0.01) for patch, low in enumerate((0.5, 0.875, 0.875))]
    stated.append(files.patch_statement(0, 3, 0.0625, 0.9375))
    prices = {"prices": [{"rival": 1, "prototypes": [1, 2], "prices": [(0.125).hex()] * 2}]}
    comment = "The last mass is stated to be at most 15/16, but what is stated beside it leaves it 1/2."
    yield _case(
        "assignment-what-others-leave",
        comment,
        head,
        stated,
        image,
        paradigm="assignment",
        minimality=False,
        hints=prices,
    )
    head = files.head([[0.75, 0.0, 0.0], [0.0, 1.0, 1.0]], **SOFTMAX)
    image = [with_masses(*row) for row in ([0.505, 0.2475, 0.2475], [0.88, 0.06, 0.06], [0.88, 0.06, 0.06])]
    stated = [files.patch_statement(patch, 0, low, low + 0.01) for patch, low in enumerate((0.5, 0.875, 0.875))]
    paid = [(8.0).hex(), (0.125).hex(), (0.125).hex()]
    prices = {"prices": [{"rival": 1, "prototypes": [0, 1, 2], "prices": paid}]}
    comment = "A price of 8 for a prototype by which the rival does not gain: it is not paid."
    yield _case("assignment-prices-unused", comment, head, stated, image, paradigm="assignment", hints=prices)


# Balls of inner products.


def _balls() -> Iterator[Case]:
    parts = [
        (
            "ball-of-the-box",
            2.0,
            (-1.0, 1.0),
            "The box [-1, 1] lies in a ball of radius 2^(1/2), less than 2.",
        ),
        ("ball-about-0", 2.0, (0.0, 4.0), "The ball about 0 is smaller than the one about the box [0, 4]."),
    ]
    for name, radius, box, comment in parts:
        head = files.head(
            [[0.0, 0.0], [0.0, 1.0]],
            [[1.0, 0.0], [1.0, 1.0]],
            [1.5 if radius > box[1] else 2.75, 0.0],
            **_PRODUCTS,
            geometry=inner_product(radius),
            domain=files.domain(*box),
        )
        stated = [files.patch_statement(0, 0, None, 0.0) if box[0] < 0 else files.patch_statement(0, 0, 1.75, None)]
        image = [[-0.5, 0.25]] if box[0] < 0 else [[1.75, 0.25]]
        yield _case(name, comment, head, stated, image)
    head = files.head(
        [[0.0, 0.0], [0.0, 1.0]],
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0]],
        [3.25, 0.0],
        **_PRODUCTS,
        geometry=inner_product(2.0),
        domain=files.domain(0.0, 2.0),
    )
    comment = "Two balls of radius 2, about 0 and about (1, 1, 1, 1): the first one counts."
    stated = [files.patch_statement(0, 0, 1.0, None)]
    yield _case("balls-of-one-size", comment, head, stated, [[1.25, 0.5, 0.25, 0.25]])


# Margins of one patch.


def _spaces() -> Iterator[Case]:
    # o_0 - o_1 = d_1 + d_2 - d_0 - 9/4 = |y|^2 - 1/4, of which the domain's range of d_0 = |y|^2 alone would give 1/4.
    rows, weight = [[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]], [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    head = files.head(weight, rows, [0.0, 2.25], **(NEGATED | {"domain": files.domain(0.5, 1.0)}))
    comment = (
        "Without its statement the margin |y|^2 - 1/4 is 1/4 or more over the domain; but the joint margin is one over"
        " the space, and term by term there is less: so the statement is needed."
    )
    stated = [files.patch_statement(0, 0, 0.5, 0.5)]
    yield _case("joint-needed-over-the-space", comment, head, stated, [[0.5, 0.5]], paradigm="joint")


# Digests.


def _zeros() -> Iterator[Case]:
    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [2.0, 0.0]], [1.0, 0.0], **NEGATED)
    comment = "A coordinate is -0, as the digest of the image says."
    yield _case("minus-zero", comment, head, [files.patch_statement(0, 0, 0.0, 0.0)], [[-0.0, 0.0]])
