"""Patches are blamed as in the search on tensors."""

from __future__ import annotations

import numpy as np
import torch
from support.cases import every
from support.compiled import ADMITTED, OF_MAXIMA, first_image, pooled_from

from verale.bounds import pooling_of
from verale.rounding import Enclosure
from verale.search.candidates import Needs, candidate_pairs
from verale.search.compiled.blame import blame_of, blame_patches


@every("name", [name for name in ADMITTED if name not in OF_MAXIMA])
@every("rival", [0, 1])
def test_the_patches_and_prototypes_blamed_are_those_of_the_candidates(name, rival):
    problem, _, image = first_image(name)
    generator = np.random.default_rng(rival)
    lower = np.maximum(image.low - generator.random(image.low.shape), image.lower)
    upper = np.minimum(image.low + generator.random(image.low.shape), image.upper)
    open_ = generator.random(image.low.shape) < 0.7
    pooled = pooled_from(image, lower, upper)
    weights = np.ascontiguousarray(image.weights[:, rival])
    loss = np.where(weights > 0, weights * (image.actual - pooled.low), weights * (image.actual - pooled.high))
    blame = blame_of(len(image.low))
    blame_patches(image, pooled.patches, weights, loss, open_, blame)

    as_rows = [torch.from_numpy(each)[None] for each in (np.maximum(weights, 0), np.maximum(-weights, 0), loss)]
    dissimilar = problem.dissimilarities()
    needs = Needs(*as_rows, problem.observed, dissimilar.amin(1), dissimilar.argmin(1), torch.from_numpy(~open_)[None])
    known = pooling_of(problem.head).growing(Enclosure(torch.from_numpy(lower)[None], torch.from_numpy(upper)[None]))
    patch, prototype, promise = (each[0].numpy() for each in candidate_pairs(needs, known))
    np.testing.assert_array_equal(np.argsort(-blame.total, kind="stable")[: len(patch)], patch)
    np.testing.assert_allclose(blame.most[patch], np.maximum(promise, 0), rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(blame.prototype[patch][promise > 0], prototype[promise > 0])
