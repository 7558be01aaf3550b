"""The paradigms, by name: what each one's statements are about, and for which geometries it is defined.

One table for search, command line, demo and soundness suite; it needs no torch. The checker has its own, and a test
compares the two (`tests/unit/test_paradigms.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ORDERS", "PARADIGMS", "Paradigm", "paradigms_of"]

ORDERS = ("rival", "nearest")
"""The orders in which statements about patches are chosen: against the worst open rival, or the published one."""

_COSINES = ("cosine", "rooted_cosine")


@dataclass(frozen=True)
class Paradigm:
    """One way from statements to bounds.

    Attributes:
        name: as certificates spell it.
        spatial: whether statements are about patches; otherwise they are about activations.
        geometries: the geometries it is defined for, as head files spell them.
        minimal: whether a certificate may claim that every statement is needed.
    """

    name: str
    spatial: bool
    geometries: tuple[str, ...]
    minimal: bool = True


PARADIGMS: dict[str, Paradigm] = {
    paradigm.name: paradigm
    for paradigm in (
        Paradigm("projection", True, ("euclidean", *_COSINES, "inner_product")),
        Paradigm("triangle", True, ("euclidean", *_COSINES, "inner_product"), minimal=False),
        Paradigm("hypersphere", True, ("euclidean", *_COSINES), minimal=False),
        Paradigm("simplex", True, ("softmax",)),
        Paradigm("assignment", True, ("softmax",)),
        Paradigm("sparse", False, ("softmax",)),
        Paradigm("top_k", False, ("euclidean", *_COSINES, "inner_product", "softmax")),
    )
}
"""Every paradigm by its name."""


def paradigms_of(geometry: str) -> tuple[str, ...]:
    """The names of the paradigms that a geometry has."""
    return tuple(name for name, paradigm in PARADIGMS.items() if geometry in paradigm.geometries)
