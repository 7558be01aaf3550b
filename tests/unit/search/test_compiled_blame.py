"""Patches are blamed for what they leave unknown."""

from __future__ import annotations

import numpy as np
from support.cases import every
from support.compiled import ADMITTED, OF_MAXIMA, first_image, pooled_from

from verale.search.compiled.blame import blame_of, blame_patches
from verale.search.compiled.image import MEAN_DISTANCE, MEAN_OF_GREATEST


@every("name", [name for name in ADMITTED if name not in OF_MAXIMA])
@every("rival", [0, 1])
def test_losses_are_shared_among_the_patches(name, rival):
    _, _, image = first_image(name)
    generator = np.random.default_rng(rival)
    lower = np.maximum(image.low - generator.random(image.low.shape), image.lower)
    upper = np.minimum(image.low + generator.random(image.low.shape), image.upper)
    open_ = generator.random(image.low.shape) < 0.7
    pooled = pooled_from(image, lower, upper)
    weights = np.ascontiguousarray(image.weights[:, rival])
    loss = np.where(weights > 0, weights * (image.actual - pooled.low), weights * (image.actual - pooled.high))
    blame = blame_of(len(image.low))
    blame_patches(image, pooled.patches, weights, loss, open_, blame)

    expected = np.where(open_, shares_of(image, pooled.patches, weights, loss), 0.0)
    np.testing.assert_allclose(blame.total, expected.sum(1), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(blame.most, expected.max(1), rtol=1e-6, atol=1e-9)
    blamed = blame.most > 0
    np.testing.assert_array_equal(blame.prototype[blamed], expected.argmax(1)[blamed])


def shares_of(image, known, weights, loss):
    """(L, P) as `blame_patches` says in words, all pairs at once."""
    (near, far), (most, least) = known.ends, known.similar
    actual, weight = image.actual_similar.T, np.abs(weights)
    if image.pooling == MEAN_OF_GREATEST:
        count = min(image.greatest, len(actual))
        last = np.sort(actual, 0)[-count]
        lacking = np.where(actual >= last, actual - least, 0.0)
        return weight / count * np.where(weights > 0, lacking, most - np.maximum(actual, last)).clip(0)
    top, exceeding = actual.max(0), (most - actual.max(0)).clip(0)
    attained = np.arange(len(actual))[:, None] == image.attained
    lost = weight * np.where(weights > 0, top - least.max(0), exceeding.max(0)).clip(0)
    if image.pooling == MEAN_DISTANCE:
        unknown = np.where(weights > 0, image.low - near, far - image.low)
    else:
        unknown = np.where(weights > 0, most - actual, actual - least)
    share = unknown.clip(0) / np.maximum(unknown.clip(0).sum(0), 1e-300)
    peak = np.where(weights > 0, attained * lost, weight * exceeding / np.maximum((exceeding > 0).sum(0), 1))
    return np.where(weights == 0, 0.0, peak + (loss - lost).clip(0) * share)
