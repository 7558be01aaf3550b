"""The paradigms, by name: what each one's statements are about, and for which geometries it is defined.

One table for search, command line, demo and soundness suite; it needs no torch. The checker has its own, and a test
compares the two (`tests/unit/test_conventions.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

ORDERS = ("rival", "nearest")
"""The orders in which statements about patches are chosen: against the worst open rival, or the published one."""

HIGHEST = "highest"
"""The order of `top_k` that takes the highest activations, as published, and looks for no smaller explanation."""

READABLE = "readable"
"""Stands for all paradigms that a head has: of each image the explanation is kept that is quickest to read, under its
own paradigm."""

_COSINES = ("cosine", "rooted_cosine")
_METRIC = ("euclidean", *_COSINES, "inner_product")


@dataclass(frozen=True)
class Paradigm:
    """One way from statements to bounds, by its name in certificates.

    Attributes:
        spatial: whether statements are about patches; otherwise they are about activations.
        geometries: the geometries it is defined for, as head files spell them.
        minimal: whether a certificate may claim that every statement is needed.
        seldom_below: a paradigm for some of the same heads whose explanations are the smaller ones, nearly always or
            always; for such a head, this one is not tried.
        one_patch: whether it is for images of one patch alone.
        priced: whether it is known what each end of a statement is worth: then statements can be widened as far as the
            class is proved, and rules fitted to many images.
        several: whether several explanations of an image are found, by dropping statements in random orders.
    """

    name: str
    spatial: bool
    geometries: tuple[str, ...]
    minimal: bool = True
    seldom_below: str | None = None
    one_patch: bool = False
    priced: bool = False
    several: bool = False


PARADIGMS: dict[str, Paradigm] = {
    paradigm.name: paradigm
    for paradigm in (
        Paradigm("projection", True, _METRIC, several=True),
        Paradigm("triangle", True, _METRIC, False, seldom_below="projection"),
        Paradigm("hypersphere", True, ("euclidean", *_COSINES), minimal=False, seldom_below="projection"),
        Paradigm("simplex", True, ("softmax",), seldom_below="assignment", several=True),
        Paradigm("assignment", True, ("softmax",)),
        Paradigm("joint", True, _METRIC, one_patch=True, priced=True),
        Paradigm("evidence", False, (*_METRIC, "softmax")),
        Paradigm("sparse", False, ("softmax",), priced=True, several=True),
        Paradigm("top_k", False, (*_METRIC, "softmax"), priced=True, several=True),
        Paradigm("mixed", False, ("euclidean", *_COSINES), minimal=False),
    )
}
"""Every paradigm by its name."""


def paradigms_of(geometry: str, patches: int = 1) -> tuple[str, ...]:
    """The names of the paradigms that a geometry has, for images of so many patches."""
    return tuple(
        name
        for name, paradigm in PARADIGMS.items()
        if geometry in paradigm.geometries and not (paradigm.one_patch and patches > 1)
    )
