"""The search in machine code: exp, log and their like, which numba takes from the C library, too.

Its sums stand in its sources, and are compiled without permission to reorder or to fuse; so they are the same on every
processor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from . import seed
from .moves import steps

__all__ = ["shake"]

FUNCTIONS = ("exp", "expm1", "log", "log1p", "tanh")


def shake(module: ModuleType) -> None:
    if module.__name__.endswith(".jit"):
        _keep_apart(module)
    else:
        _call_shaken(module)


def _keep_apart(module: Any) -> None:
    """What is compiled here never runs where nothing is shaken, and not with another seed."""
    of: Callable[[Any], str] = module._Place.get_disambiguator
    module._Place.get_disambiguator = lambda self: f"{of(self)}-shaken-{seed()}"


def _call_shaken(module: ModuleType) -> None:
    """Functions of a module that has them as parts."""
    from verale.search.compiled.parts import part

    of, step = seed(), part(steps)
    largest, least = np.int64(0x7FE0000000000000), np.int64(0x0010000000000000)

    def move(value: float) -> float:
        bits = np.float64(value).view(np.int64)
        size = bits & np.int64(0x7FFFFFFFFFFFFFFF)
        if size < least or size >= largest or size & np.int64(0x3FFFFFF) == 0:
            return value
        return np.int64(bits + step(size, of, 1)).view(np.float64)

    mover, shaken = part(move), ModuleType("math")
    vars(shaken).update(vars(math))
    for name in FUNCTIONS:
        setattr(shaken, name, part(_of(getattr(math, name), mover)))
    module.math = shaken  # type: ignore[attr-defined]


def _of(function: Any, mover: Any) -> Callable[[float], float]:
    def call(x: float) -> float:
        return mover(function(x))

    return call
