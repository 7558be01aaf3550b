"""Outward-rounded tensor arithmetic in float64."""

from verale.rounding.directed import INFLATE, TRANSCENDENTAL_ULPS, UNDERFLOW, UNIT, down, gamma, root, up
from verale.rounding.enclosure import Enclosure, UndecidedError

__all__ = [
    "INFLATE",
    "TRANSCENDENTAL_ULPS",
    "UNDERFLOW",
    "UNIT",
    "Enclosure",
    "UndecidedError",
    "down",
    "gamma",
    "root",
    "up",
]
