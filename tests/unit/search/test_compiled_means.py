"""Activations of poolings with a mean, from all patches, lie within rounding of the boxes."""

from __future__ import annotations

import numpy as np
import torch
from support.cases import every
from support.compiled import ADMITTED, OF_MAXIMA, first_image, pooled_from

from verale.bounds import pooling_of
from verale.rounding import Enclosure
from verale.search.compiled.pool import replace_pooled

SLACK = 1e-10


@every("name", [name for name in ADMITTED if name not in OF_MAXIMA])
@every("width", [0.02, 1.0])
def test_ends_are_those_of_the_boxes(name, width):
    problem, _, image = first_image(name)
    generator = np.random.default_rng(0)

    def ranges():
        low = np.maximum(image.low - width * generator.random(image.low.shape), image.lower)
        return low, np.minimum(image.low + width * generator.random(image.low.shape), image.upper)

    lower, upper = ranges()
    pooled = pooled_from(image, lower, upper)
    for patch in (None, 2, 0, 4):
        if patch is not None:
            fresh = ranges()
            lower[patch], upper[patch] = fresh[0][patch], fresh[1][patch]
            replace_pooled(image, pooled, patch, lower[patch], upper[patch])
        box = pooling_of(problem.head).box(Enclosure(torch.from_numpy(lower), torch.from_numpy(upper)))
        np.testing.assert_allclose(pooled.high, box.upper.numpy(), rtol=SLACK, atol=SLACK)
        np.testing.assert_allclose(pooled.low, box.lower.numpy(), rtol=SLACK, atol=SLACK)
    assert pooled.nearest is None
