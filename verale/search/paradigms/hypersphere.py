"""Hypersphere: the published bounds, one statement after the other, for comparison."""

from __future__ import annotations

from verale.bounds import Hypersphere
from verale.search.paradigms.of_patches import OfPatches

__all__ = ["HypersphereSearch"]


class HypersphereSearch(OfPatches):
    """See `verale.bounds.Hypersphere`."""

    name = "hypersphere"
    bounds = Hypersphere
