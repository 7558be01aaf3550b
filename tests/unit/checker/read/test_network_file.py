"""Network files: what is read of them. What is refused: `corpus/messages.txt`."""

from __future__ import annotations

import hashlib
from fractions import Fraction

import pytest
from support.networks import layer, network_file, small_network

from verale.checker.errors import NetworkError
from verale.checker.read.network_file import Network, read_network


def test_reads_a_small_network() -> None:
    data = small_network()
    network = read_network(data)
    assert isinstance(network, Network)
    assert (network.sha256, network.size) == (hashlib.sha256(data).hexdigest(), len(data))
    assert (network.shape, network.mean, network.std) == ((1, 4, 4), (Fraction(1, 2),), (Fraction(1, 4),))
    assert [each.kind for each in network.layers][:3] == ["conv2d", "relu", "conv2d"]
    assert (network.depth, network.patches) == (2, 4)
    assert [each.shape for each in network.layers] == [*[(2, 4, 4)] * 4, (2, 2, 2), (2, 2, 2), (2, 2, 2)]
    assert [each.products for each in network.layers] == [32 * 9, 32, 32 * 9, 32, 8 * 4, 8 * 2, 8]
    assert network.layers[2].settings.groups == 2 and network.layers[2].inputs == ("stem.relu",)


def test_refuses_too_many_layers() -> None:
    layers = [layer(f"a{i}", "relu", f"a{i - 1}" if i else "picture") for i in range(4097)]
    with pytest.raises(NetworkError, match=r"^network file: layers is .*, expected a list of 1 to 4096 layers"):
        read_network(network_file(layers, {}))
