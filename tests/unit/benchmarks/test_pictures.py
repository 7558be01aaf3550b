"""How far explanations from pictures go: what the page says is what was explained, audited and enclosed."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from torch import nn

from benchmarks.pictures import auditing, explaining
from benchmarks.pictures.networks import Subject, write
from benchmarks.pictures.page import WAYS, page
from verale.adapters.freezing import export_network
from verale.head import Box, Euclidean, Head, LogRatio

COUNT = 2


def subject() -> Subject:
    """A network of two convolutions whose prototypes are latents of its pictures."""
    generator = torch.Generator().manual_seed(5)
    torch.manual_seed(5)
    module = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 3, 3), nn.Sigmoid()).eval()
    network = export_network(module, None, (1, 8, 8))
    pictures = torch.randint(0, 256, (COUNT, 1, 8, 8), dtype=torch.uint8, generator=generator)
    latents = network.latents(pictures, torch.float32).flatten(2)
    weight = torch.tensor([[1.0, -0.5], [-0.5, 1.0]])
    head = Head(
        weight=weight,
        prototypes=torch.stack([latents[0, :, 3], latents[1, :, 7]]),
        geometry=Euclidean(),
        similarity=LogRatio(epsilon=1e-4),
        domain=Box(0, 1),
    )
    return Subject("two convolutions", network, head, pictures)


def test_every_way_is_measured_audited_and_shown(tmp_path: Path) -> None:
    """And what claims nothing of the picture is not proved."""
    folder = tmp_path / "small"
    write(subject(), folder)
    for way in WAYS:
        (folder / way).mkdir()
        (folder / way / "machine.json").write_text(json.dumps({"cpu": "this one"}))
        explaining.main(folder, way, 0, COUNT, "readable")
        auditing.main(folder, way, 0, COUNT, "arb", 1)
    text, proved = page(tmp_path, ["small"])
    assert proved and f"{3 * COUNT} certificates, {3 * COUNT} proved." in text
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| small | ")]
    explained = [row for row in rows if row[1] in ("from latents", "real", "float32")]
    assert [row[2:5] for row in explained] == [[str(COUNT)] * 3] * 3
    (first,) = (row for row in rows if row[1:4] == ["0", "conv2d", "1"])
    real, single = float(first[4]), float(first[6])
    assert 0 < real < 2.0**-40 < single < 1e-3
    assert "- small: cpu this one" in text
    (folder / "real" / "000001.ale.json").write_bytes((folder / "latents" / "000001.ale.json").read_bytes())
    auditing.main(folder, "real", 0, COUNT, "arb", 1)
    text, proved = page(tmp_path, ["small"])
    assert not proved
    assert f"{3 * COUNT} certificates, {3 * COUNT - 1} proved." in text and "- small, real, 1: not proved:" in text
