"""Max pooling of activations, done on the working observables before the similarity, with which it commutes.

A decreasing similarity (log_ratio of a squared distance) turns the largest activation into the smallest observable, an
increasing one into the largest. Ends pool apart: min_l m_l lies in [min lower, min upper], max_l m_l in [max lower, max
upper].
"""

from __future__ import annotations

from collections.abc import Iterable

from .space import Ranges

__all__ = ["pool"]


def pool(ranges: Iterable[Ranges], smallest: bool) -> Ranges:
    """The range of the pooled observable of every prototype, over the patches' ranges (at least one), taken in turn."""
    each = iter(ranges)
    first = next(each)
    lower, upper = first.lower, first.upper
    for other in each:
        lower = _pick(lower, other.lower, smallest)
        if upper is None or other.upper is None:  # infinite ends, squared distances only: no candidate for the smallest
            upper = other.upper if upper is None else upper
        else:
            upper = _pick(upper, other.upper, smallest)
    return Ranges(lower, upper)


def _pick(left: list[int], right: list[int], smallest: bool) -> list[int]:
    if smallest:
        return [a if a < b else b for a, b in zip(left, right, strict=True)]
    return [a if a > b else b for a, b in zip(left, right, strict=True)]
