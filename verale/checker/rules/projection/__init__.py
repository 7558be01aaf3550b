"""The paradigm `projection` (README.md): what other rules use of it."""

from __future__ import annotations

from .rule import TOGETHER, WIDE, Projection

__all__ = ["TOGETHER", "WIDE", "Projection"]
