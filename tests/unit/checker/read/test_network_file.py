"""Network files: what is read of them. What is refused: `corpus/messages.txt`."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import Any

import pytest
from support.networks import layer, network_file, small_network

from verale.checker.errors import NetworkError
from verale.checker.read.network_file import Network, read_network


def shapes(*layers: dict[str, Any], tensors: dict[str, Any] | None = None, **options: Any) -> list[tuple[int, ...]]:
    network = read_network(network_file(list(layers), tensors or {}, **options))
    return [each.shape for each in network.layers]


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


def test_shapes_follow_from_what_layers_read() -> None:
    weight = [[[[1.0] * 3] * 2]] * 4
    fields: dict[str, Any] = {"stride": [2, 3], "padding": [1, 2], "dilation": [3, 1]}
    convolved = layer("a", "conv2d", "picture", **fields)
    assert shapes(convolved, tensors={"a.weight": weight}, shape=(1, 6, 7)) == [(4, 3, 3)]
    flat = [layer("f", "flatten", "picture"), layer("g", "linear", "f"), layer("h", "concat", "f", "g")]
    assert shapes(*flat, tensors={"g.weight": [[0.0] * 12] * 5}, shape=(3, 2, 2)) == [(12,), (5,), (17,)]
    up = [layer("u", "upsample_nearest", "picture", scale=[2, 3]), layer("c", "concat", "u", "u")]
    assert shapes(*up) == [(1, 8, 12), (2, 8, 12)]
    pooled = layer("p", "avg_pool2d", "picture", kernel=[3, 2], stride=[2, 1], padding=[1, 0])
    assert shapes(pooled) == [(1, 2, 3)]


def test_one_patch_of_a_linear_output() -> None:
    network = read_network(
        network_file([layer("f", "flatten", "picture"), layer("g", "linear", "f")], {"g.weight": [[0.5] * 16] * 3})
    )
    assert (network.depth, network.patches) == (3, 1)


def test_refuses_too_many_layers() -> None:
    layers = [layer(f"a{i}", "relu", f"a{i - 1}" if i else "picture") for i in range(4097)]
    with pytest.raises(NetworkError, match=r"^network file: layers is .*, expected a list of 1 to 4096 layers"):
        read_network(network_file(layers, {}))
