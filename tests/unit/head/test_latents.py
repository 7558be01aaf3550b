"""Latents: shapes, refusals, and a digest that depends on values alone."""

from __future__ import annotations

import pytest
import safetensors.torch
import torch

from verale.errors import InputError, LatentsError
from verale.head import as_patches, digest, load_latents, save_latents


def test_grid_and_list_layout_are_the_same_patches():
    grid = torch.rand(2, 3, 4, 5)
    patches = as_patches(grid)
    assert patches.shape == (2, 20, 3)
    assert patches.dtype == torch.float64
    assert torch.equal(patches[1, 2 * 5 + 3], grid[1, :, 2, 3].double())
    assert torch.equal(as_patches(patches), patches)


def test_digest_depends_on_values_not_on_layout_or_dtype():
    grid = torch.rand(1, 3, 4, 5)
    first = digest(as_patches(grid)[0])
    assert digest(as_patches(grid.double().contiguous(memory_format=torch.channels_last))[0]) == first
    assert digest(as_patches(grid.flatten(2).transpose(1, 2))[0]) == first
    changed = grid.clone()
    changed[0, 0, 0, 0] = torch.nextafter(changed[0, 0, 0, 0], torch.tensor(2.0))
    assert digest(as_patches(changed)[0]) != first
    assert digest(torch.zeros(2, 3)) != digest(torch.zeros(3, 2))


@pytest.mark.parametrize(
    ("latents", "reason"),
    [
        (torch.zeros(2, 3), "shape"),
        (torch.zeros(2, 0, 3), "shape"),
        (torch.zeros(2, 3, 4, dtype=torch.int64), "dtype"),
        (torch.tensor([[[0.0, torch.nan]]]), "image 0"),
    ],
)
def test_what_are_no_latents_is_refused(latents, reason):
    with pytest.raises(LatentsError, match=reason):
        as_patches(latents)


def test_latents_survive_their_file(tmp_path):
    grid = torch.rand(2, 3, 4, 5)
    save_latents(tmp_path / "latents.safetensors", grid)
    assert torch.equal(load_latents(tmp_path / "latents.safetensors"), grid)
    (tmp_path / "other.safetensors").write_bytes(safetensors.torch.save({"weights": grid}))
    with pytest.raises(InputError, match="holds weights"):
        load_latents(tmp_path / "other.safetensors")
    (tmp_path / "broken.safetensors").write_bytes(b"12345678{")
    with pytest.raises(InputError, match=r"broken\.safetensors"):
        load_latents(tmp_path / "broken.safetensors")
