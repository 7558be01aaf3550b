"""Where the demonstration's prototypes come from: the packaged training images are the right ones."""

from __future__ import annotations

from pathlib import Path

import torch
from PIL import Image

from verale.adapters.cabrnet import load_head
from verale.demo.network import IMAGES, PROJECTION, load_images, load_network, source_of


def test_every_prototype_is_the_latent_of_its_image_at_its_place():
    described = source_of(load_images()).record
    prototypes = load_head(described["run"]).prototypes
    origins, network = described["prototypes"], load_network()
    assert sorted(origin["prototype"] for origin in origins) == list(range(len(prototypes)))
    assert {Path(origin["file"]) for origin in origins} == set(PROJECTION.iterdir())
    for origin in origins:
        with Image.open(origin["file"]) as image:
            pixels = torch.frombuffer(bytearray(image.convert("L").tobytes()), dtype=torch.uint8)
        latents = network.latents(pixels.view(1, 1, 32, 32))[0, :, origin["row"], origin["column"]].float()
        torch.testing.assert_close(latents, prototypes[origin["prototype"]], rtol=0, atol=1e-5)


def test_images_and_classes():
    digits = load_images()
    described = source_of(digits).record
    assert described["classes"] == [str(n) for n in range(10)]
    assert [IMAGES / one["file"] for one in described["images"]] == list(digits.paths)
    assert [one["label"] for one in described["images"]] == list(digits.labels)
