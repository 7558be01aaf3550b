"""Latents: shapes, refusals, and a digest that depends on values alone."""

from __future__ import annotations

import numpy as np
import pytest
import safetensors.torch
import torch

from verale.errors import InputError, LatentsError
from verale.head import as_patches, digest, digest_of_all, load_labelled, load_latents, save_latents
from verale.head.latents import (
    require_channels,
    require_labels,
    tensor_of,
)


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


def test_the_digest_of_all_depends_on_every_image_and_their_order():
    images = torch.rand(3, 4, 2, dtype=torch.float64)
    assert len({digest_of_all(each) for each in (images, images[:2], images.flip(0), images[:0])}) == 4


# Arguments: what becomes a tensor, with which values, and what is told of the rest.


VALUES = torch.rand(2, 3, 4)


@pytest.mark.parametrize(
    "array",
    [
        VALUES.numpy(),
        VALUES.numpy().astype(">f4"),
        np.asfortranarray(VALUES.numpy()),
        VALUES.numpy()[::-1].copy()[::-1],
        np.frombuffer(VALUES.numpy().tobytes(), np.float32).reshape(VALUES.shape),
    ],
)
def test_an_array_of_any_form_has_the_same_values(array):
    tensor = tensor_of(array)
    assert tensor.dtype == torch.float32 and torch.equal(tensor, VALUES)


def test_numbers_of_python_stay_what_they_are():
    """0.1 is not a float32."""
    assert tensor_of([[0.1, 2]]).tolist() == [[0.1, 2.0]]
    assert tensor_of((0.1,)).dtype == torch.float64


@pytest.mark.parametrize("value", [None, "text", {}, object(), ["a"], [[1], [1, 2]], np.array([object()])])
def test_what_holds_no_numbers_is_none(value):
    assert tensor_of(value) is None


@pytest.mark.parametrize(
    ("shape", "remedy"),
    [
        ((6, 2, 3), r"latents\[None\]"),
        ((2, 6, 3), r"latents.swapaxes\(1, 2\)"),
        ((2, 3, 4, 6), r"movedim\(-1, 1\)"),
        ((2, 3, 6, 4), "another network"),
        ((2, 3, 4), "another network"),
    ],
)
def test_the_likeliest_mistake_is_told(shape, remedy):
    require_channels((2, 6, 3, 4), 6)
    require_channels((6, 6, 6), 6)
    with pytest.raises(LatentsError, match=f"expected the head's 6: .*{remedy}"):
        require_channels(shape, 6)


def test_labels_are_integers_one_for_each_image():
    assert require_labels(torch.tensor([1, 0]), 2) == require_labels(np.array([1, 0]), 2) == require_labels((1, 0), 2)
    with pytest.raises(LatentsError, match="there are 2 labels for 3 images"):
        require_labels([1, 0], 3)
    for wrong in (1, "ab", [0.5, 1.0], torch.zeros(2, 1)):
        with pytest.raises(LatentsError, match="expected one integer for each image"):
            require_labels(wrong, 2)
