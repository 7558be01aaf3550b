"""A rule in words: one sentence with all bounds, in the numbers of its certificate, and the class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verale.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    SumStatement,
)
from verale.certificate.statements import bounds_in_words, statement_in_words
from verale.certificate.words import meant_by

if TYPE_CHECKING:
    from verale.head import Geometry

_OBSERVABLES = {
    "euclidean": ("squared distance", "from"),
    "cosine": ("cosine", "with"),
    "rooted_cosine": ("cosine", "with"),
    "inner_product": ("inner product", "with"),
    "softmax": ("mass", "of"),
}
"""By the geometry's name in head files: what statements about a patch speak of, and how it stands to a prototype."""


def conditions(certificate: Certificate, geometry: Geometry, prototypes: int) -> str:
    """The statements of a certificate in one sentence, which the class follows.

    Bounds of the same kind stand together, those that ask for likeness first: "squared distance at most 0.36 from
    prototype 5, at least 0.43 from prototype 2 and 0.62 from 4".

    Args:
        certificate: whose statements are meant.
        geometry: of its head.
        prototypes: how many its head has.
    """
    about_patch = any(isinstance(each, PatchStatement) for each in certificate.statements)
    noun, stands = _OBSERVABLES[geometry.kind] if about_patch else ("activation", "of")
    said = [
        (bounds_in_words(each), each.prototype)
        for each in certificate.statements
        if isinstance(each, PatchStatement | ActivationStatement)
    ]
    near = ("at most", "at least") if about_patch and geometry.is_distance else ("at least", "at most")
    parts = []
    for kind in (*near, "from"):
        bounds = [f"{words.removeprefix(f'{kind} ')} {stands} {j}" for words, j in said if words.startswith(kind)]
        if bounds:
            number, _, prototype = bounds[0].rpartition(" ")
            *first, last = [f"{number} prototype {prototype}", *bounds[1:]]  # the first names what it counts
            parts.append(f"{kind} {', '.join(first)} and {last}" if first else f"{kind} {last}")
    for each in certificate.statements:
        if isinstance(each, OrderStatement | FloorStatement):
            parts.append(f"{bounds_in_words(each)} of {meant_by(each.exempt, prototypes)}")
    sums = [each for each in certificate.statements if isinstance(each, SumStatement)]
    parts += [" ".join(statement_in_words(each, prototypes)) for each in sums]
    return f"{noun} {', '.join(parts)}" if parts else "any image"
