"""The search in machine code, image by image, in plain float64: it chooses statements and proves nothing.

What it chooses is proved by `verale.search.spatial`, rounded outward, as what any other search chooses. Without numba,
and for heads, paradigms and devices that it does not have, the search on tensors is used.
"""

from __future__ import annotations

from importlib.util import find_spec

from verale.search.compiled.image import admits

__all__ = ["admits", "is_available"]


def is_available() -> bool:
    """Whether numba can be imported; it is not imported yet."""
    return find_spec("numba") is not None
