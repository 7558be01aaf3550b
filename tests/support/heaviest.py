"""The margins that the best prices prove, from scratch, by an exact matching of all patches."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from verale.search.prices import Rivals

__all__ = ["heaviest_left"]


def heaviest_left(problem, pairs):
    """(K,) the margins that the best prices prove, from scratch: all patches, an exact matching."""
    image = Rivals.of(problem)
    stated = np.zeros(image.mass.shape, bool)
    stated[tuple(np.array(pairs).reshape(-1, 2).T)] = True
    left = 1 - np.where(stated, image.mass, 0).sum(1)
    top = np.where(stated, image.mass, 0).max(0)
    given = (np.where(stated, 0, left[:, None] - top).clip(0) * -weights.clip(max=0) for weights in image.weights)
    heaviest = [each[linear_sum_assignment(each, maximize=True)].sum() for each in given]
    return image.bias + image.weights @ top - heaviest
