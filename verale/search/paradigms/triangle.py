"""Triangle: the published bounds, one statement after the other, for comparison."""

from __future__ import annotations

from verale.bounds import Triangle
from verale.search.paradigms.of_patches import OfPatches

__all__ = ["TriangleSearch"]


class TriangleSearch(OfPatches):
    """See `verale.bounds.Triangle`."""

    name = "triangle"
    bounds = Triangle
