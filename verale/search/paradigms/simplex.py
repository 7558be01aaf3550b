"""Simplex: statements about masses, each patch for itself (softmax heads)."""

from __future__ import annotations

from verale.bounds import Simplex
from verale.paradigms import ORDERS
from verale.search.paradigms.of_patches import OfPatches

__all__ = ["SimplexSearch"]


class SimplexSearch(OfPatches):
    """See `verale.bounds.Simplex`. Neither order is better for most images, so both are tried."""

    name = "simplex"
    bounds = Simplex
    tried_orders = ORDERS
