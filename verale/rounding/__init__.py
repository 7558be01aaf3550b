"""Outward-rounded tensor arithmetic in float64."""

from verale.rounding.enclosure import (
    INFLATE,
    TRANSCENDENTAL_ULPS,
    UNDERFLOW,
    UNIT,
    Enclosure,
    UndecidedError,
    down,
    gamma,
    root,
    up,
)

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
