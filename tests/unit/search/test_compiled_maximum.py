"""The nearest patches, as patches change."""

from __future__ import annotations

import numpy as np
from support.cases import every
from support.compiled import OF_MAXIMA, first_image, pooled_from

from verale.search.compiled.pool import replace_pooled


@every("name", OF_MAXIMA)
def test_the_two_nearest_patches_are_known(name):
    _, _, image = first_image(name)
    generator = np.random.default_rng(2)
    lower, upper = image.low - generator.random(image.low.shape), image.low + generator.random(image.low.shape)
    pooled = pooled_from(image, lower, upper).nearest
    for patch in (1, 0, 1, 4, 3, 2, 2):
        rows = image.low[patch] - generator.random(image.low.shape[1]), image.low[patch] + generator.random()
        kept = pooled_from(image, lower, upper)
        replace_pooled(image, kept, patch, *rows)
        lower[patch], upper[patch] = rows
        pooled = kept.nearest
        for end, values in enumerate((pooled.near, pooled.far)):
            in_order = np.sort(values, 1)
            np.testing.assert_array_equal(pooled.nearest[end], in_order[:, 0])
            np.testing.assert_array_equal(pooled.second[end], in_order[:, 1])
            shown = np.isfinite(in_order[:, 0])
            attained = np.take_along_axis(values, pooled.patch[end][:, None], 1)[:, 0]
            np.testing.assert_array_equal(attained[shown], in_order[shown, 0])
