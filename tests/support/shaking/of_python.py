"""Functions of `math` and of numpy, and sums of floats, where a module calls them by name."""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Callable, Iterable
from functools import cache, wraps
from types import ModuleType
from typing import Any

__all__ = ["FUNCTIONS", "shake"]

FUNCTIONS = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "erf", "erfc", "exp", "expm1"),
    *("gamma", "lgamma", "log", "log10", "log1p", "log2", "pow", "sin", "sinh", "tan", "tanh"),
)
"""What the C library computes, and no standard says how well. `math.hypot` and `math.dist` are Python's own."""


def shake(module: ModuleType) -> None:
    """Let a module call shaken functions."""
    for name, value in list(vars(module).items()):
        if value is math:
            setattr(module, name, _MATH)
        elif value is sys.modules.get("numpy"):
            setattr(module, name, _numpy())
        elif name in FUNCTIONS and value is getattr(math, name):
            setattr(module, name, getattr(_MATH, name))
    vars(module).setdefault("sum", _sum)


@cache
def _numpy() -> ModuleType:
    from .of_numpy import functions

    return functions(sys.modules["numpy"])


def _shaken(function: Callable[..., float]) -> Callable[..., float]:
    @wraps(function)
    def call(*arguments: Any) -> float:
        from .moves import moved

        return moved(function(*arguments))

    return call


_MATH = ModuleType("math")
vars(_MATH).update(vars(math), **{name: _shaken(getattr(math, name)) for name in FUNCTIONS})


def _sum(iterable: Iterable[Any], /, start: Any = 0) -> Any:
    """As Python adds floats from 3.12 on, where this one is older, and as the older ones do, where it is not."""
    terms = [*iterable]
    if not any(type(term) is float for term in terms) or not all(
        type(each) in (int, float) for each in [start, *terms]
    ):
        return builtins.sum(terms, start)
    total, lost = float(start), 0.0
    for term in terms:
        larger, smaller = (total, term) if abs(total) >= abs(term) else (term, total)
        total += term
        lost += larger - total + smaller
    return total + lost if sys.version_info < (3, 12) and math.isfinite(lost) else total
