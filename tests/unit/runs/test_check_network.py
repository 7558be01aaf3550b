"""A network file beside the module that it was taken from."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from support.own_network import OwnNetwork, own_images
from torch import nn

import verale
from verale.adapters import head_of
from verale.errors import NetworkError, UsageError

LAYER = "add_on_layers"


def compared(network: OwnNetwork, file: object, images=None):
    head = head_of("protopnet", network.state_dict())
    return verale.check(head, network, LAYER, own_images(12) if images is None else images, network=file)


def frozen(network: nn.Module, layer: str | None = LAYER, **options):
    return verale.export_network(network, layer, (3, 8, 8), **options)


def test_the_networks_own_file_agrees() -> None:
    network = OwnNetwork()
    comparison = compared(network, frozen(network))
    assert comparison.agrees and comparison.of_network == ""
    assert "The network file computes this network's latents, layer by layer in float64." in str(comparison)
    assert "network file" not in str(compared(network, None))


def test_the_first_layer_that_differs_is_named() -> None:
    network = OwnNetwork()
    file = frozen(network)
    with torch.no_grad():
        network.add_on_layers[0].weight[0, 0] += 1e-5
    comparison = compared(network, file)
    assert not comparison.agrees
    assert "layer 'add_on_layers.0' of the network file differs from the module's: numbers differ" in str(comparison)


def test_another_layers_file_is_noticed() -> None:
    network = OwnNetwork()
    comparison = compared(network, frozen(network, "features"))
    assert not comparison.agrees and "the latents are those of layer 'add_on_layers.1'" in str(comparison)


def test_another_normalisation_is_noticed() -> None:
    network = OwnNetwork()
    for numbers in ({"mean": (0.5, 0.5, 0.5)}, {"std": (0.5, 0.5, 0.5)}, {"mean": (2.0, 2.0, 2.0)}):
        comparison = compared(network, frozen(network, **numbers))
        assert not comparison.agrees and "does it have the network's normalisation?" in str(comparison)


def test_what_cannot_be_compared_is_refused() -> None:
    network = OwnNetwork()
    with pytest.raises(UsageError, match=r"network is a path .*, expected a network file"):
        compared(network, "network.safetensors")
    with pytest.raises(UsageError, match=r"expected \(N, C, H, W\) with the network's"):
        compared(network, replace(frozen(network), shape=(3, 10, 8)))
    file = frozen(network)
    network.add_on_layers[1] = nn.Mish()
    with pytest.raises(NetworkError, match="Mish"):
        compared(network, file)
