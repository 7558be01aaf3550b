"""The search in machine code, image by image, in plain float64: it chooses statements and proves nothing.

What it chooses is proved by `verale.search.spatial`, rounded outward, as what any other search chooses. Only `duals`
does arithmetic of proofs: sums whose error is bounded in any order. Without numba, and for heads and paradigms that it
does not have, the search on tensors is used.
"""

from __future__ import annotations

from functools import cache

from verale.bounds.observables import TENSOR_SUMS, CoordinateSums
from verale.search.compiled.image import admits
from verale.search.compiled.settings import import_numba

__all__ = ["admits", "fastest_sums", "is_available"]


@cache
def is_available() -> bool:
    """Whether numba is there, and fits the numpy that is there. It is imported, so ask this last."""
    try:
        import_numba()
    except ImportError:
        return False
    return True


def fastest_sums() -> CoordinateSums:
    """In machine code: then no bit of a statement depends on a library of matrix products."""
    if not is_available():
        return TENSOR_SUMS
    from verale.search.compiled.observed import compiled_products, compiled_squares

    return CoordinateSums(compiled_squares, compiled_products)
