"""How much work a network is, counted from its shapes before anything is computed (certificates/network-v1.md,
"Limits"). A step is 25 ns at most, as everywhere. Nothing is proved about the counts; they can only refuse.
"""

from __future__ import annotations

from math import prod

from ..read.layers import PICTURE, TENSORS, Layer, Network

__all__ = ["AT_ONCE", "price"]

AT_ONCE = 2**20
"""The entries that are multiplied at once, at most, unless one entry of a layer is computed from more."""
_WINDOW, _ENTRY, _READ, _WEIGHT = 16, 40, 10, 30
"""Steps to put an entry into a matrix that is multiplied, to give an entry, to read one for a pooling, to convert a
weight."""
_PRODUCT = {"arb": 1, "mpmath": 8}
"""Half steps of a product."""
_SERIES = {"arb": 450, "mpmath": 8000}
"""Steps of the ends of a sigmoid or a tanh."""
_BITS = 256
"""A number of so many bits takes twice as long."""


def price(network: Network, kernel: str, bits: int) -> tuple[int, int]:
    """About how many steps a picture takes, and how many numbers are kept at once.

    Args:
        kernel: its name.
        bits: of the grid.
    """
    last = {name: number for number, layer in enumerate(network.layers) for name in layer.inputs}
    kept = {PICTURE: prod(network.shape)}
    steps = most = 0
    for number, layer in enumerate(network.layers):
        steps += _steps(layer, kernel)
        kept[layer.name] = layer.entries
        most = max(most, 2 * sum(kept.values()) + _numbers(layer))
        for name in layer.inputs:
            if last[name] == number:
                kept.pop(name, None)
    return steps * (_BITS + bits) // _BITS, most


def _steps(layer: Layer, kernel: str) -> int:
    steps = _ENTRY * layer.entries
    if layer.kind in TENSORS:
        return steps + _PRODUCT[kernel] * layer.products // 2 + _WINDOW * _windows(layer) + _WEIGHT * _weights(layer)
    if layer.kind in ("sigmoid", "tanh"):
        return steps + _SERIES[kernel] * layer.entries
    return steps + _READ * layer.products * len(layer.inputs)


def _numbers(layer: Layer) -> int:
    """Those that are kept while a layer is computed, besides what it reads and gives."""
    if layer.kind not in TENSORS:
        return layer.products
    at_once = max(layer.terms, min(AT_ONCE, _windows(layer) // layer.settings.groups))
    return 2 * sum(map(prod, layer.read)) + 3 * at_once + 3 * _weights(layer)


def _windows(layer: Layer) -> int:
    """The entries of all matrices that are multiplied."""
    return layer.products // layer.shape[0] * layer.settings.groups


def _weights(layer: Layer) -> int:
    return prod(layer.tensors["weight"].shape)
