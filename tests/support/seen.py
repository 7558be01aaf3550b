"""A head, its network and pictures, as files of a folder; what `verale explain` makes of them."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from PIL import Image
from support.commands import in_process
from support.small import small_head
from support.torch_networks import frozen_network, random_pictures

from verale.head import Box, Head, as_patches
from verale.network import FrozenNetwork, pictures_file

COUNT = 4
"""How many pictures there are."""


def write_pictures(folder: Path, network: FrozenNetwork | None = None) -> Path:
    """Write a head `h`, its network `n`, and the pictures `p`, PNG files in a folder a class, and `p.safetensors`."""
    network, pictures = network or frozen_network("residual"), random_pictures(COUNT)
    points = as_patches(network.latents(pictures))[:, 0]
    weight = torch.randn(3, COUNT, generator=torch.Generator().manual_seed(3))
    given = small_head("euclidean")
    Head(weight, given.geometry, given.similarity, prototypes=points.float(), domain=Box()).save(folder / "h")
    network.save(folder / "n")
    for number, picture in enumerate(pictures):
        stream = io.BytesIO()
        Image.fromarray(picture.permute(1, 2, 0).numpy()).save(stream, "PNG")
        path = folder / "p" / f"class {number % 3}" / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(stream.getvalue())
    (folder / "p.safetensors").write_bytes(pictures_file(pictures))
    return folder


def explain_pictures(folder: Path, *options: object, pictures: str = "p", out: str = "out") -> Any:
    """`verale explain` of them into a folder beside them."""
    given = ("--head", folder / "h", "--network", folder / "n", "--images", folder / pictures)
    return in_process("explain", *given, "--paradigm", "top_k", "--out", folder / out, *options)


def explained_pictures(arithmetic: str = "real") -> Path:
    """A run of these pictures, made once a process, beside what it is made of. No test changes it."""
    folder = Path(_pictures().name)
    if not (folder / arithmetic).exists():
        assert explain_pictures(folder, "--arithmetic", arithmetic, out=arithmetic).returncode == 0
    return folder / arithmetic


@cache
def _pictures() -> TemporaryDirectory[str]:
    folder = TemporaryDirectory()
    write_pictures(Path(folder.name))
    return folder
