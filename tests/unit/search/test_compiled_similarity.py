"""Similarities without rounding lie in the enclosures, whatever the similarity."""

from __future__ import annotations

import numpy as np
import torch
from support.cases import every
from support.compiled import ADMITTED, first_image

from verale.bounds import oriented, pooled_activation
from verale.head import Softmax
from verale.head.similarity import SIMILARITIES
from verale.rounding import Enclosure
from verale.search.compiled.similarity import orient, similarity

SLACK = 1e-12


@every("name", ADMITTED)
def test_ends_lie_within_rounding_of_the_enclosures(name):
    problem, _, image = first_image(name)
    generator = np.random.default_rng(0)
    lower = image.low[0] - generator.random(problem.head.size)
    upper = image.low[0] + generator.random(problem.head.size)
    lower, upper = np.clip(lower, image.lower, image.upper), np.clip(upper, image.lower, image.upper)
    near, far = np.empty_like(lower), np.empty_like(upper)
    orient(image, 0, lower, upper, near, far)
    ends = oriented(problem.head, Enclosure(torch.from_numpy(lower), torch.from_numpy(upper)))
    shown = ~image.hidden[0]
    for ours, bound in zip((near, far), ends, strict=True):
        np.testing.assert_allclose(ours[shown], bound.numpy()[shown], rtol=SLACK, atol=SLACK)
        assert np.isinf(ours[~shown]).all()
    box = pooled_activation(problem.head, *ends)
    for values, bound in ((near, box.upper), (far, box.lower)):
        ours = [
            similarity(image.formula, scale, peak, value)
            for scale, peak, value in zip(image.scale, image.peak, values, strict=True)
        ]
        np.testing.assert_allclose(np.array(ours)[shown], bound.numpy()[shown], rtol=SLACK, atol=SLACK)


def test_the_heads_have_every_similarity_of_metric_heads():
    similarities = {each.part for each in SIMILARITIES.values() if set(each.part.geometries) != {Softmax}}
    assert {type(first_image(name)[0].head.similarity) for name in ADMITTED} == similarities
