"""The search on the CPU: machine code that searches image by image, in plain float64. It chooses statements and proves
nothing.

What it chooses is proved by `verale.search.machine_code`, rounded outward. Only `span`, `proof` and
`ranges` do arithmetic of proofs: sums whose error is bounded in any order.
"""

from __future__ import annotations

from verale.bounds.observables import CoordinateSums

__all__ = ["fastest_sums"]


def fastest_sums() -> CoordinateSums:
    """In machine code: then no bit of a statement depends on a library of matrix products."""
    from verale.search.compiled.observed import compiled_products, compiled_squares

    return CoordinateSums(compiled_squares, compiled_products)
