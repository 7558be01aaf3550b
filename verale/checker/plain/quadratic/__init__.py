"""The rule of the geometric paradigms (`facts`): what other rules use of it."""

from __future__ import annotations

from .rule import QuadraticRule

__all__ = ["QuadraticRule"]
