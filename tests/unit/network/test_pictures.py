"""Pictures are tensors of the values that the checker reads, and have the digest that it computes."""

from __future__ import annotations

import hashlib
import io

import pytest
import torch
from PIL import Image
from support.torch_networks import random_pictures

from verale.checker.read.pictures import PictureFile, Pictures, StoredPictures, opened_files
from verale.network import picture_digest, pictures_file, pictures_of

SHAPE = (3, 5, 4)


def png(picture: torch.Tensor) -> bytes:
    """A PNG of uint8 (C, H, W)."""
    stream = io.BytesIO()
    array = picture[0] if len(picture) == 1 else picture.permute(1, 2, 0)
    Image.fromarray(array.numpy()).save(stream, "PNG")
    return stream.getvalue()


def opened(data: bytes, shape: tuple[int, int, int]) -> StoredPictures:
    (stored,) = opened_files([PictureFile("p", lambda: data)], shape)
    assert isinstance(stored, StoredPictures)
    return stored


@pytest.mark.parametrize("shape", [SHAPE, (1, 5, 4)])
def test_a_png_and_a_tensor_are_the_same_picture(shape: tuple[int, int, int]) -> None:
    pictures = random_pictures(3, shape=shape)
    assert torch.equal(pictures_of(opened(png(pictures[1]), shape)), pictures[1:2])
    assert torch.equal(pictures_of(opened(pictures_file(pictures), shape)), pictures)
    assert pictures_of(opened(pictures_file(pictures[:0]), shape)).shape == (0, *shape)
    head = "verale.picture.v1 {} {} {}\n".format(*shape).encode()
    assert picture_digest(pictures[1]) == hashlib.sha256(head + bytes(pictures[1].flatten().tolist())).hexdigest()
    for data in png(pictures[1]), pictures_file(pictures):
        assert Pictures([PictureFile("p", lambda data=data: data)], shape).find(picture_digest(pictures[1])) is not None


def test_a_tensor_can_be_written_and_leaves_the_file_as_it_is() -> None:
    pictures = random_pictures(2, shape=SHAPE)
    data = pictures_file(pictures)
    loaded = pictures_of(opened(data, SHAPE))
    loaded.zero_()
    assert data == pictures_file(pictures)
