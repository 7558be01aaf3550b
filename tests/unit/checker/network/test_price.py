"""What a network takes is counted before it is computed: from its shapes, and from how long its integers are.

How long they become is a bound that holds, and what is counted grows with what a kernel is asked for: no test measures
time, `benchmarks.demands_of_pictures` does.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import prod
from typing import Any

import pytest
from support.network_truth import drawn
from support.networks import layer, network_file

from verale.checker.kernel import Kernel, load_kernel
from verale.checker.network.enclosure import Enclosure
from verale.checker.network.ends import Ends
from verale.checker.network.price import Sizes, bits_before, price
from verale.checker.network.sums import Sums
from verale.checker.read.layers import TENSORS, Network
from verale.checker.read.network_file import read_network
from verale.checker.read.pictures import Picture

KERNEL = load_kernel("arb")


def sizes_of(network: Network) -> dict[str, Sizes]:
    return {each.name: Sizes.of(each) for each in network.layers if each.kind in TENSORS}


def steps_of(network: Network, bits: int, kernel: str = "arb") -> int:
    return price(network, kernel, bits, sizes_of(network))[0]


def scaled(weights: Sequence[float], kind: str = "relu", dtype: str = "F64", shape: Any = (1, 1, 1)) -> bytes:
    """A chain of convolutions by these numbers, then a layer of a kind."""
    layers = [layer(f"c{i}", "conv2d", f"c{i - 1}" if i else "picture") for i in range(len(weights))]
    tensors = {f"c{i}.weight": [[[[weight]]]] for i, weight in enumerate(weights)}
    return network_file([*layers, layer("last", kind, layers[-1]["name"])], tensors, shape, dtype=dtype)


EXTREME = {
    "great": scaled([2.0**1000, 2.0**900, 2.0**-1000]),
    "greatest": scaled([1.7976931348623157e308] * 3),
    "small": scaled([2.0**-1074, 5e-324, 1.5]),
    "of all sizes": network_file(
        [layer("a", "conv2d", "picture"), layer("b", "sigmoid", "a"), layer("c", "conv2d", "b")],
        {"a.weight": [[[[2.0**k]]] for k in (-1074, -500, 0, 500, 1000)], "c.weight": [[[[1e300]]] * 5]},
        (1, 2, 2),
    ),
    "whose row of one grows": network_file(
        [layer("a", "conv2d", "picture"), layer("b", "conv2d", "a"), layer("c", "conv2d", "b")],
        {
            name: [[[[1e20]]] * n, *[[[[0.0]]] * n] * 7]
            for name, n in (("a.weight", 1), ("b.weight", 8), ("c.weight", 8))
        },
        (1, 1, 1),
    ),
    "biased": network_file(
        [layer("a", "conv2d", "picture"), layer("b", "add", "a", "a", "a")],
        {"a.weight": [[[[1e-300]]]], "a.bias": [-1e300]},
        (1, 2, 1),
    ),
    "normalised": network_file([layer("a", "relu", "picture")], {}, (1, 1, 2), [1e300], [5e-324]),
    "rounded to zero": network_file([layer("a", "conv2d", "picture")], {"a.weight": [[[[0.0]]]]}, (1, 1, 1)),
}


def networks() -> list[tuple[str, bytes]]:
    found = [(f"drawn {seed}", seed) for seed in range(1, 40)]
    files = []
    for name, seed in found:
        try:
            files.append((name, drawn(seed).file()))
        except ValueError:
            continue
    return [*EXTREME.items(), *files]


def recorded(network: Network, arithmetic: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Enclosure, dict[str, Ends]]:
    """The ends of each layer, for a picture in which all bytes are the greatest or the least."""
    ends: dict[str, Ends] = {}
    given = Enclosure._given

    def watched(self: Enclosure, one: Any, read: list[Ends]) -> Ends:
        ends[one.name] = given(self, one, read)
        return ends[one.name]

    monkeypatch.setattr(Enclosure, "_given", watched)
    enclosure = Enclosure(network, KERNEL, arithmetic)
    source = random.Random(1)
    enclosure.latents(Picture(network.shape, bytes(source.choice((0, 255)) for _ in range(prod(network.shape)))))
    return enclosure, ends


def test_no_number_is_longer_than_what_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    longest = 0
    for name, data in networks():
        network = read_network(data)
        sizes, before = sizes_of(network), bits_before(network, sizes_of(network))
        enclosure, ends = recorded(network, "real", monkeypatch)
        for one in network.layers:
            most = max(map(abs, (*ends[one.name].lower, *ends[one.name].upper))).bit_length()
            assert most <= enclosure.bits + before[one.name] + 2, (name, one.name)
            longest = max(longest, most)
            if one.kind in TENSORS:
                sums = Sums(one, KERNEL, enclosure.bits, binary32=False)
                weights = [int(entry) for group in sums._groups for row in group.weights.tolist() for entry in row]
                assert max(map(abs, weights)).bit_length() <= sizes[one.name].bits(enclosure.bits + 16) + 1, name
    assert longest > 3000


class Counting:
    """A kernel that adds up the bits that it multiplies, and the squares of those of its series."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel, self.name, self.products, self.series = kernel, kernel.name, 0, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)

    def product(self, left: Any, right: list[list[int]]) -> list[list[int]]:
        longest = max(abs(int(entry)).bit_length() for row in left.tolist() for entry in row)
        other = max(abs(entry).bit_length() for row in right for entry in row)
        self.products += left.nrows() * left.ncols() * len(right[0]) * (1 + longest * other)
        return self._kernel.product(left, right)

    def exp(self, mantissa: int, exponent: int, bits: int) -> tuple[int, int]:
        self.series += bits**2
        return self._kernel.exp(mantissa, exponent, bits)


def test_what_is_multiplied_is_counted() -> None:
    """Where numbers are long: the bits of both factors of all products, and the squares of those of all series."""
    for name, data in networks():
        network, kernel = read_network(data), Counting(KERNEL)
        enclosure = Enclosure(network, kernel)  # type: ignore[arg-type]
        enclosure.latents(Picture(network.shape, bytes([255] * prod(network.shape))))
        assert kernel.products / 400_000 + kernel.series / 10_000 <= enclosure.steps, name


@pytest.mark.parametrize("kernel", ["arb", "mpmath"])
def test_long_numbers_count_more(kernel: str) -> None:
    """So do their products, with the square, where two are long; and sigmoids with the square of the grid's bits."""
    plain, long = (read_network(scaled([weight])) for weight in (1.0, 2.0**1000))
    assert steps_of(long, 100, kernel) > steps_of(plain, 100, kernel)
    sigmoid = read_network(network_file([layer("a", "sigmoid", "picture")], {}, (1, 4, 4)))
    few, many, most = (steps_of(sigmoid, bits, kernel) for bits in (64, 64_000, 128_000))
    assert many > 1000 * few and most > 3.8 * many
    weights = [[[[2.0 ** (1000 - 2000 * (x % 2)) for x in range(10)]] * 10]] * 64
    products = read_network(network_file([layer("a", "conv2d", "picture")], {"a.weight": weights}, (1, 20, 20)))
    assert steps_of(products, 4000, kernel) > 2 * steps_of(products, 1000, kernel) > 3 * steps_of(products, 100, kernel)


def test_groups_channels_and_layers_count() -> None:
    def of(channels: int, groups: int) -> Network:
        layers = [layer("a", "conv2d", "picture"), layer("b", "conv2d", "a", groups=groups)]
        weight = [[[[1.0]]] * (channels // groups)] * channels
        return read_network(network_file(layers, {"a.weight": [[[[1.0]]]] * channels, "b.weight": weight}, (1, 1, 1)))

    assert steps_of(of(64, 64), 64) > 64 * 400
    assert steps_of(of(64, 1), 64) > 128 * 300
    relus = [layer(f"r{i}", "relu", f"r{i - 1}" if i else "picture") for i in range(500)]
    assert steps_of(read_network(network_file(relus, {}, (1, 1, 1))), 64) > 500 * 200


def test_long_numbers_take_memory() -> None:
    """As many as they are long."""
    short, long = (read_network(scaled([w, w], shape=(1, 20, 20))) for w in (1.0, 2.0**1000))
    numbers = [price(each, "arb", 64, sizes_of(each))[1] for each in (short, long)]
    assert numbers[1] > 2 * numbers[0]
