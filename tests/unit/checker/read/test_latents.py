"""The latents file: shapes, digests by value, what is refused."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from support import files

from verale.checker.read import latents as latents_module
from verale.checker.read.latents import Latents

GENERATOR = random.Random(1)
IMAGES = [[[GENERATOR.choice((0.0, -0.0, 0.5, -1.25, 3.0)) for _ in range(3)] for _ in range(4)] for _ in range(5)]


def values(result: object) -> list[list[Fraction]]:
    found = result.exact  # type: ignore[attr-defined]
    return [[Fraction(entry, 1 << found.bits) for entry in row] for row in found.rows]


@pytest.mark.parametrize(
    "data",
    [
        files.latents(IMAGES),
        files.latents(IMAGES, "F32"),
        files.latents_nchw(IMAGES, 2, 2),
        files.latents_nchw(IMAGES, 1, 4),
    ],
    ids=["NLD", "NLD F32", "NCHW 2x2", "NCHW 1x4"],
)
def test_finds_every_image_by_its_values_in_any_layout(data: bytes) -> None:
    latents = Latents(data, 3)
    for image in (IMAGES[3], IMAGES[0], IMAGES[4], IMAGES[0]):
        result = latents.find(files.digest(image))
        assert result is not None
        assert values(result) == [[Fraction(x) for x in row] for row in image]
    assert latents.find("0" * 64) is None
    assert latents.find(files.digest(IMAGES[1])) is not None


def test_the_digest_is_the_same_on_a_big_endian_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """There tensors are swapped on reading and swapped back for the digest; here both swaps are seen."""
    latents = Latents(files.latents(IMAGES), 3)
    monkeypatch.setattr(latents_module.sys, "byteorder", "big")
    assert latents.find(files.digest(IMAGES[0])) is not None
