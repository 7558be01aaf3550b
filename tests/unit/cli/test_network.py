"""`verale network`: networks become files, and files are shown."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from support.commands import in_process
from support.networks import layer, network_file
from support.prototypedl import save_whole, small
from support.seen import explain_pictures, write_pictures
from torch import nn

from verale.adapters import load_model
from verale.adapters.published.prototypedl import Autoencoder
from verale.network import NOT_CLAIMED, FrozenNetwork


@pytest.fixture
def model(tmp_path: Path) -> Path:
    save_whole(small(), tmp_path / "model.pth")
    return tmp_path / "model.pth"


def test_a_prototypedl_becomes_a_network_file(model: Path, tmp_path: Path) -> None:
    done = in_process("network", "export", model, "-o", tmp_path / "n.safetensors")
    assert done.returncode == 0, done.stderr
    network = FrozenNetwork.load(tmp_path / "n.safetensors")
    assert "9 layers from pictures 1 x 28 x 28 to latents 8, sha256 " + network.digest in done.stderr
    pictures = torch.randint(256, (3, 1, 28, 28), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    own = Autoencoder(load_model(model)).latents(pictures.float() / 255)
    torch.testing.assert_close(network.latents(pictures, torch.float32), own, rtol=1e-5, atol=1e-6)
    shown = in_process("network", "show", tmp_path / "n.safetensors")
    assert shown.returncode == 0 and network.digest in shown.stdout and "flatten" in shown.stdout


def test_what_patches_depend_on_is_shown(tmp_path: Path) -> None:
    pool = layer("a", "avg_pool2d", "picture", kernel=[3, 2], stride=[2, 2], padding=[1, 0])
    for name, layers, said in (
        ("pool", [pool], "each of 2 x 2 patches depends on at most 3 x 2 of 4 x 4 pixels; of its square a patch sees"),
        ("flat", [layer("a", "flatten", "picture")], "the only patch can depend on the whole picture of 4 x 4 pixels"),
    ):
        (tmp_path / name).write_bytes(network_file(layers, {}, (1, 4, 4)))
        shown = in_process("network", "show", tmp_path / name)
        assert shown.returncode == 0 and said in " ".join(shown.stdout.split())
    assert "alone at least 50.0 %, the best one 100.0 %" in " ".join(
        in_process("network", "show", tmp_path / "pool").stdout.split()
    )
    record = json.loads(in_process("network", "show", "--json", tmp_path / "pool").stdout)
    assert record["receptive_fields"] == {
        "rows": [[0, 2], [1, 4]],
        "columns": [[0, 2], [2, 4]],
        "whole": False,
        "alone": {"rows": [0.5, 1.0], "columns": [1.0, 1.0]},
    }
    large = layer("a", "max_pool2d", "picture", kernel=[4096, 1], stride=[1, 1], padding=[0, 0])
    (tmp_path / "n").write_bytes(network_file([large], {}, (1, 9000, 1)))
    assert "which pixels patches depend on is not computed" in in_process("network", "show", tmp_path / "n").stdout
    assert json.loads(in_process("network", "show", "--json", tmp_path / "n").stdout)["receptive_fields"] is None


def test_a_file_of_which_nothing_is_claimed_in_float32_is_told_so(tmp_path: Path) -> None:
    """By export, by show, and by what would explain it in float32, which names file, layer and remedy."""
    write_pictures(tmp_path)
    network = FrozenNetwork.load(tmp_path / "n")
    first, *rest = network.layers
    wide = torch.full_like(first.operation.bias, NOT_CLAIMED)
    first = replace(first, operation=replace(first.operation, magnitude=wide))
    FrozenNetwork(network.shape, network.mean, network.std, (first, *rest)).save(tmp_path / "n")
    expected = (
        f"network layer '{first.name}': has a batch normalisation folded in of which nothing is claimed in float32"
    )
    assert expected in in_process("network", "show", tmp_path / "n").stdout
    refused = explain_pictures(tmp_path, "--arithmetic", "float32")
    assert refused.returncode == 9 and not (tmp_path / "out").exists()
    assert f"{tmp_path / 'n'}: {expected}" in refused.stderr and "(--arithmetic real)" in refused.stderr
    assert explain_pictures(tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (("--size", "0x3"), 2, "'0x3' is no size, expected rows and columns such as 224x224"),
        (("--size", "64"), 9, "does not fit images"),
        (("-o", "."), 9, "is a folder, expected the name of a file to write"),
    ],
)
def test_wrong_options_are_told_in_a_line(
    model: Path, tmp_path: Path, arguments: tuple[str, ...], code: int, expected: str
) -> None:
    done = in_process("network", "export", model, "-o", tmp_path / "n.safetensors", *arguments, cwd=tmp_path)
    assert done.returncode == code and expected in done.stderr and not (tmp_path / "n.safetensors").exists()
    assert len(done.stderr.splitlines()) == 1


def test_what_is_no_network_and_what_is_of_another_architecture_is_refused(tmp_path):
    torch.save(nn.Linear(2, 2).state_dict(), tmp_path / "state.pth")
    for command in (("network", "show"), ("network", "export", "-o", tmp_path / "n")):
        done = in_process(*command, tmp_path / "state.pth")
        assert done.returncode == 9 and len(done.stderr.splitlines()) == 1
    torch.save(nn.Sequential(nn.Conv2d(3, 4, 2), nn.Sigmoid()), tmp_path / "model.pth")
    done = in_process("network", "export", tmp_path / "model.pth", "-o", tmp_path / "n")
    assert done.returncode == 9 and not (tmp_path / "n").exists()
    assert "is a whole Sequential, and of files only a PrototypeDL's encoder is known" in done.stderr
    assert "write verale.export_network(model, layer, (3, 224, 224)" in done.stderr
