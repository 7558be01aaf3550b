"""Latents: shapes, refusals, and a digest that depends on values alone."""

from __future__ import annotations

import pytest
import safetensors.torch
import torch

from verale.errors import InputError
from verale.head import as_patches, digest, load_labelled, load_latents, save_latents


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


def test_latents_survive_their_file(tmp_path):
    grid = torch.rand(2, 3, 4, 5)
    save_latents(tmp_path / "latents.safetensors", grid)
    assert torch.equal(load_latents(tmp_path / "latents.safetensors"), grid)
    (tmp_path / "other.safetensors").write_bytes(safetensors.torch.save({"weights": grid}))
    with pytest.raises(InputError, match="holds 'weights', expected a tensor 'latents'"):
        load_latents(tmp_path / "other.safetensors")
    (tmp_path / "broken.safetensors").write_bytes(b"12345678{")
    with pytest.raises(InputError, match=r"broken\.safetensors"):
        load_latents(tmp_path / "broken.safetensors")


def test_a_type_that_torch_does_not_have_is_refused(tmp_path):
    header = b'{"latents":{"dtype":"F8_E8M0","shape":[1,1,1],"data_offsets":[0,1]}}'
    (tmp_path / "z").write_bytes(len(header).to_bytes(8, "little") + header + bytes(1))
    with pytest.raises(InputError, match="dtype is 'F8_E8M0', expected one of BOOL"):
        load_latents(tmp_path / "z")


def test_labels_travel_with_the_latents(tmp_path):
    latents = torch.rand(3, 2, 2, 2)
    save_latents(tmp_path / "z", latents, labels=[2, 0, 1])
    assert load_labelled(tmp_path / "z")[1] == [2, 0, 1]
    assert torch.equal(load_latents(tmp_path / "z"), latents)
    save_latents(tmp_path / "z", latents)
    assert load_labelled(tmp_path / "z")[1] is None


@pytest.mark.parametrize("labels", [torch.rand(3), torch.zeros(3, 1, dtype=torch.int64), torch.zeros(3).to(torch.bool)])
def test_what_are_no_labels_is_refused(labels, tmp_path):
    tensors = {"latents": torch.rand(3, 2, 2, 2), "labels": labels}
    (tmp_path / "z").write_bytes(safetensors.torch.save(tensors))
    with pytest.raises(InputError, match=r"z: holds labels .*expected one integer an image"):
        load_labelled(tmp_path / "z")
