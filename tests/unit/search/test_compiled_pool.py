"""Margins, updated patch by patch, agree with those of all patches, whatever the pooling."""

from __future__ import annotations

import numpy as np
import torch
from support.cases import every
from support.compiled import ADMITTED, first_image, margins_of, pooled_from

from verale.bounds import pooling_of
from verale.rounding import Enclosure
from verale.search.compiled.pool import replace_pooled, try_pooled


def random_ends(image, generator):
    """Ranges (L, P) around the observables, within the domain."""
    shape = image.low.shape
    lower = np.maximum(image.low - generator.random(shape), image.lower)
    return lower, np.minimum(image.low + generator.random(shape), image.upper)


def rounded_margins(problem, lower, upper):
    box = pooling_of(problem.head).box(Enclosure(torch.from_numpy(lower), torch.from_numpy(upper)))
    margins = problem.margins.lower(box[None, None])[0, 0]
    return margins[margins < torch.inf].numpy()


@every("name", ADMITTED)
def test_margins_follow_the_patches(name):
    problem, _, image = first_image(name)
    generator = np.random.default_rng(1)
    lower, upper = random_ends(image, generator)
    pooled = pooled_from(image, lower, upper)
    margins = margins_of(image, pooled)
    tried = np.empty_like(margins)
    for patch in (0, 3, 0, 1, 4, 2, 3):
        others = random_ends(image, generator)
        lower[patch], upper[patch] = others[0][patch], others[1][patch]
        try_pooled(image, image.weights, pooled, patch, lower[patch], upper[patch], margins, tried)
        np.testing.assert_allclose(tried, rounded_margins(problem, lower, upper), rtol=1e-9, atol=1e-9)
        replace_pooled(image, pooled, patch, lower[patch], upper[patch])
        margins = margins_of(image, pooled)
        np.testing.assert_allclose(tried, margins, rtol=1e-9, atol=1e-9)
