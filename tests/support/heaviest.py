"""The margins that the best prices prove, from scratch, by an exact matching of all patches."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from verale.search.compiled.matching import rivals_of

__all__ = ["heaviest_left", "known_and_given"]


def known_and_given(image, pairs):
    """(K,) the margins if no prototype got a remainder; for each rival (L, P) what a patch can give a prototype."""
    stated = np.zeros(image.low.shape, bool)
    stated[tuple(np.array(pairs, dtype=np.int64).reshape(-1, 2).T)] = True
    low, high = np.where(stated, image.low, 0), np.where(stated, image.high, 0)
    left = (1 - low.sum(1, keepdims=True)).clip(0)
    alone = 1 - (high.sum(1, keepdims=True) - high)
    determined = stated.sum(1, keepdims=True) - stated == stated.shape[1] - 1
    floor = np.maximum(np.where(determined, np.maximum(low, alone), low), image.least).max(0)
    top = np.where(stated, np.minimum(high, low + left), 0).max(0)
    known = image.bias + image.weights.clip(0) @ floor + image.weights.clip(max=0) @ top
    return known, [np.where(stated, 0, left - top).clip(0) * -row.clip(max=0) for row in image.weights]


def heaviest_left(problem, pairs):
    """(K,) the margins that the best prices prove, from scratch: all patches, an exact matching."""
    known, given = known_and_given(rivals_of(problem), pairs)
    return known - [each[linear_sum_assignment(each, maximize=True)].sum() for each in given]
