"""Pictures are read byte by byte; what would have to be converted is refused by name."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest
import safetensors.torch
import torch
from PIL import Image
from support.torch_networks import random_pictures

from verale.checker.read.pictures import PictureFile, Pictures
from verale.errors import InputError
from verale.network.pictures import load_picture, load_pictures, picture_digest, pictures_file

SHAPE = (3, 5, 4)


def png(picture: torch.Tensor, **options: object) -> bytes:
    """A PNG of uint8 (C, H, W)."""
    stream = io.BytesIO()
    array = picture[0] if len(picture) == 1 else picture.permute(1, 2, 0)
    Image.fromarray(array.numpy()).save(stream, "PNG", **options)
    return stream.getvalue()


@pytest.mark.parametrize("shape", [SHAPE, (1, 5, 4)])
def test_a_png_and_a_tensor_are_the_same_picture(tmp_path: Path, shape: tuple[int, int, int]) -> None:
    pictures = random_pictures(3, shape=shape)
    (tmp_path / "p.png").write_bytes(png(pictures[1]))
    (tmp_path / "p.safetensors").write_bytes(pictures_file(pictures))
    assert torch.equal(load_picture(tmp_path / "p.png", shape), pictures[1])
    assert torch.equal(load_pictures(tmp_path / "p.safetensors", shape), pictures)
    head = "verale.picture.v1 {} {} {}\n".format(*shape).encode()
    assert picture_digest(pictures[1]) == hashlib.sha256(head + bytes(pictures[1].flatten().tolist())).hexdigest()
    files = [PictureFile("p", (tmp_path / name).read_bytes) for name in ("p.png", "p.safetensors")]
    for each in files[0:1], files[1:2]:
        assert Pictures(each, shape).find(picture_digest(pictures[1])) is not None


def converted(mode: str, **options: object) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(random_pictures(1, shape=SHAPE)[0].permute(1, 2, 0).numpy()).convert(mode).save(
        stream, "PNG", **options
    )
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (lambda: converted("L"), "is grey, 8 bits, expected red-green-blue, 8 bits"),
        (lambda: converted("P"), "is a palette"),
        (lambda: converted("RGBA"), "is colours with alpha"),
        (lambda: converted("LA"), "is grey with alpha"),
        (lambda: converted("1"), "is grey, 1 bits"),
        (
            lambda: png(random_pictures(1, shape=(3, 4, 5))[0]),
            "has 4 rows and 5 columns",
        ),
        (lambda: b"\xff\xd8\xff" + bytes(100), "is no PNG file: convert it to 8 bits"),
        (lambda: converted("RGB")[:-30], "cannot be read"),
    ],
)
def test_other_pictures_are_refused(tmp_path: Path, data, expected: str) -> None:
    (tmp_path / "p.png").write_bytes(data())
    with pytest.raises(InputError, match=expected):
        load_picture(tmp_path / "p.png", SHAPE)


@pytest.mark.parametrize(
    "tensors", [{"a": torch.zeros(1)}, {"pictures": torch.zeros(1, *SHAPE)}, {"pictures": random_pictures(1)}]
)
def test_other_tensors_are_refused(tmp_path: Path, tensors: dict[str, torch.Tensor]) -> None:
    (tmp_path / "p").write_bytes(safetensors.torch.save(tensors))
    with pytest.raises(InputError, match="expected 'pictures', uint8"):
        load_pictures(tmp_path / "p", SHAPE)
    (tmp_path / "p").write_bytes(b"no tensors")
    with pytest.raises(InputError, match="readable safetensors file"):
        load_pictures(tmp_path / "p", SHAPE)
