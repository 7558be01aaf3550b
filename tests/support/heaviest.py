"""The margins that the best prices prove, from scratch, by an exact matching of all patches."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from verale.search.masses import Masses


def known_and_given(problem, pairs):
    """Of the only image (C,) the margins if no prototype got a remainder, infinite at its class; for each class (L, P)
    what a patch can give a prototype."""
    masses = Masses.of(problem)
    stated = np.zeros(masses.low[0].shape, bool)
    stated[tuple(np.array(pairs, dtype=np.int64).reshape(-1, 2).T)] = True
    low, high = (np.where(stated, end[0].numpy(), 0) for end in (masses.low, masses.high))
    left = (1 - low.sum(1, keepdims=True)).clip(0)
    alone = 1 - (high.sum(1, keepdims=True) - high)
    determined = stated.sum(1, keepdims=True) - stated == stated.shape[1] - 1
    floor = np.maximum(np.where(determined, np.maximum(low, alone), low), masses.floor.numpy()).max(0)
    top = np.where(stated, np.minimum(high, low + left), 0).max(0)
    positive, negative, bias = (each[0].numpy() for each in (masses.positive, masses.negative, masses.bias))
    known = bias + floor @ positive + top @ negative
    return known, [np.where(stated, 0, left - top).clip(0) * -weights for weights in negative.T]


def heaviest_left(problem, pairs):
    """(C,) the margins that the best prices prove, from scratch: all patches, an exact matching."""
    known, given = known_and_given(problem, pairs)
    return known - [each[linear_sum_assignment(each, maximize=True)].sum() for each in given]
