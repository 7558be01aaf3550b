"""A frozen network survives its file; what breaks network-v1.md is refused with the layer's name."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import safetensors.torch
import torch
from support.torch_networks import MEAN, NETWORKS, SHAPE, STD, frozen_network, random_pictures

from verale.checker.read.network_file import METADATA_KEY as NETWORK_KEY
from verale.checker.read.network_file import read_network
from verale.errors import InputError, NetworkError, UsageError
from verale.network import FrozenNetwork, walk
from verale.network.layers import (
    AveragePooling,
    Clamp,
    Convolution,
    LeakyRectifier,
    NetworkLayer,
    Product,
    Rectifier,
    Sum,
)

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")


def rewritten(network: FrozenNetwork, **fields: Any) -> bytes:
    """The network's file with fields of its description replaced."""
    data = network.to_bytes()
    length = int.from_bytes(data[:8], "little")
    description = json.loads(json.loads(data[8 : 8 + length])["__metadata__"][NETWORK_KEY])
    for name, value in fields.items():
        description[name] = value(description[name]) if callable(value) else value
    return safetensors.torch.save(safetensors.torch.load(data), metadata={NETWORK_KEY: json.dumps(description)})


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_survives_its_file(name: str, tmp_path) -> None:
    network = frozen_network(name)
    network.save(tmp_path / "network.safetensors")
    loaded = FrozenNetwork.load(tmp_path / "network.safetensors")
    assert loaded.to_bytes() == network.to_bytes() and loaded.digest == network.digest
    assert (loaded.shape, loaded.mean, loaded.std) == (SHAPE, MEAN, STD)
    pictures = random_pictures(2)
    assert torch.equal(loaded.latents(pictures), network.latents(pictures))


@pytest.mark.parametrize("name", NETWORKS)
def test_the_checker_reads_the_same_network(name: str) -> None:
    network = frozen_network(name)
    read = read_network(network.to_bytes())
    assert read.sha256 == network.digest
    assert {each.name: each.shape for each in read.layers} == network.shapes


def test_outputs_are_forgotten_when_nothing_reads_them() -> None:
    network, held = frozen_network("residual"), []

    class Counted:
        def __init__(self) -> None:
            held.append(1)

        def __del__(self) -> None:
            held.pop()

    most = 0
    for _, output in walk(network, Counted(), lambda layer, inputs: Counted()):
        most = max(most, len(held))
        del output
    assert most < len(network.layers) and not held


def with_layer(index: int, **fields: Any) -> Any:
    return lambda layers: [*layers[:index], layers[index] | fields, *layers[index + 1 :]]


FILES: dict[str, tuple[dict[str, Any], str]] = {
    "version": ({"version": 2}, "version is 2, expected 1"),
    "kind": ({"layers": with_layer(1, kind="softmax")}, r"layers\[1\] is .* whose kind is one of conv2d"),
    "too large": ({"layers": with_layer(0, padding=[4096, 4096])}, "gives .* entries, expected at most"),
}
"""Some of what is refused: tests/corpus has the rest."""


def network() -> FrozenNetwork:
    return FrozenNetwork(
        SHAPE, MEAN, STD,
        (
            NetworkLayer("0", ("picture",), Convolution((1, 1), (0, 0), (1, 1), 1, torch.ones(2, 3, 3, 3))),
            NetworkLayer("1", ("0",), Rectifier()),
            NetworkLayer("2", ("1", "1"), Sum()),
        ),
    )  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_a_malformed_file_is_refused(case: str, tmp_path) -> None:
    fields, expected = FILES[case]
    path = tmp_path / "network.safetensors"
    path.write_bytes(rewritten(network(), **fields))
    with pytest.raises(InputError, match=expected):
        FrozenNetwork.load(path)


@pytest.mark.parametrize("data", [b"", b"{}", safetensors.torch.save({"a": torch.zeros(1)})])
def test_what_is_no_network_file_is_refused(data: bytes) -> None:
    with pytest.raises(NetworkError, match=r"^network file: "):
        FrozenNetwork.from_bytes(data)


def layer(operation: Any, *inputs: str) -> NetworkLayer:
    return NetworkLayer("x", inputs or ("2",), operation)


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        (layer(LeakyRectifier(2.0)), "slope 2.0, expected 0 to 1"),
        (layer(Clamp(1.0, 0.0)), "clamps from 1.0 to 0.0, expected finite ends in order"),
        (layer(Clamp(0.0, float("inf"))), "clamps from 0.0 to inf, expected finite ends in order"),
        (layer(Product(), "2", "picture"), "does not fit what it reads"),
        (layer(Sum(), "2"), "reads 1 inputs, expected two or more"),
        (
            layer(Convolution((1, 1), (0, 0), (1, 1), 1, torch.ones(3, 2, 1, 1), torch.ones(2))),
            "expected one a channel",
        ),
        (layer(AveragePooling((20, 20), (1, 1), (0, 0))), "does not fit what it reads"),
        (layer(Convolution((1, 1), (0, 0), (1, 1), 1, torch.full((1, 2, 1, 1), torch.nan))), "finite"),
        (layer(Convolution((1, 1), (0, 0), (1, 1), 1, torch.ones(1, 2, 1, 1, dtype=torch.float16))), "float16"),
        (
            layer(Convolution((1, 1), (0, 0), (1, 1), 1, torch.ones(1, 2, 1, 1), -torch.ones(1), torch.zeros(1))),
            "layer 'x.magnitude': is no bound of a bias",
        ),
        (layer(Convolution((1, 1), (2000, 2000), (1, 1), 1, torch.ones(1, 2, 60, 60))), "products, expected at most"),
    ],
)
def test_layers_that_do_not_fit_are_refused(added: NetworkLayer, expected: str) -> None:
    given = network()
    with pytest.raises(NetworkError, match=expected):
        replace(given, layers=(*given.layers, added))


def test_pictures_of_another_kind_are_refused() -> None:
    with pytest.raises(UsageError, match="expected uint8"):
        network().latents(torch.zeros(1, *SHAPE))
    with pytest.raises(UsageError, match="expected uint8"):
        network().latents(torch.zeros(1, 3, 8, 8, dtype=torch.uint8))
