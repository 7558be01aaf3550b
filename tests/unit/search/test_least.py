"""The least size of an explanation: none whose activations are taken one by one is smaller, by trying all of them."""

from __future__ import annotations

import json

import pytest
import torch
from support.activations import cheapest
from support.small import small_head, small_latents, varied_head

from verale.checker.least import proved_least
from verale.errors import UsageError
from verale.head import as_patches, save_latents
from verale.search.activations import Activations
from verale.search.least import least_document
from verale.search.problem import Problem


@pytest.mark.parametrize("name", ["euclidean", "cosine", "softmax", "negated", "inner product", "top mean"])
def test_no_explanation_is_smaller(name, tmp_path) -> None:
    plain = name in ("euclidean", "cosine", "softmax")
    met = []
    for seed in range(2):
        sizes = {"prototypes": 5, "depth": 4, "classes": 3}
        head = small_head(name, seed, **sizes) if plain else varied_head(name, seed, **sizes)
        latents = small_latents(head, images=1, seed=seed)
        save_latents(tmp_path / "latents", latents)
        image = as_patches(latents)[0]
        least, document = least_document(head, image)
        for kernel in ("arb", "mpmath"):
            assert proved_least(document, head.to_bytes(), (tmp_path / "latents").read_bytes(), kernel) == least
        true = cheapest(Activations(Problem.of(head, image[None])))
        assert least <= true
        met.append(least == true)
    assert any(met), "the bound is never met"


def test_cells_are_split_until_the_bound_is_the_least_of_all() -> None:
    """A document names every cell by where it was cut."""
    head = small_head("euclidean", prototypes=12)
    least, document = least_document(head, as_patches(small_latents(head, images=1))[0])
    cells = json.loads(document)["cells"]
    splits = sum("split" in each for each in cells)
    assert len(cells) == 2 * splits + 1 and splits > 0 and least > 1


def test_other_readouts_are_refused() -> None:
    head = varied_head("tree")
    with pytest.raises(UsageError, match="the readout is soft_tree, expected linear"):
        least_document(head, torch.zeros(1, head.depth, dtype=torch.float64))
