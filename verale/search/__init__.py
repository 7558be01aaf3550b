"""Search: how an explanation is found. Grow, then shrink; no state survives an image."""

from verale.search.explain import (
    ORDERS,
    PARADIGMS,
    Batches,
    Options,
    Unexplained,
    best_paradigm,
    explain,
    explain_batches,
)
from verale.search.refute import counterexamples

__all__ = [
    "ORDERS",
    "PARADIGMS",
    "Batches",
    "Options",
    "Unexplained",
    "best_paradigm",
    "counterexamples",
    "explain",
    "explain_batches",
]
