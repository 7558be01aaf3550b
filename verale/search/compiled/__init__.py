"""The search in machine code, image by image, in plain float64: it chooses statements and proves nothing.

What it chooses is proved by `verale.search.spatial`, rounded outward, as what any other search chooses. Only `duals`
does arithmetic of proofs: sums whose error is bounded in any order. Without numba, and for heads, paradigms and devices
that it does not have, the search on tensors is used.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from verale.search.compiled.image import admits

__all__ = ["admits", "is_available"]


@cache
def is_available() -> bool:
    """Whether numba is there, and fits the numpy that is there. It is imported, so ask this last."""
    try:
        import_module("numba")
    except ImportError:
        return False
    return True
