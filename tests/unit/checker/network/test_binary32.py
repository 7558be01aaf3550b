"""Computed in binary32, no latent leaves its ends: whatever the order of sums, with the errors that are allowed at
their worst, and with batch normalisation folded. As torch computes it: `tests/unit/bounds/test_network.py`."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import pytest
from support.network_binary32 import Adversary, folded, near
from support.network_truth import Drawn, drawn
from support.networks import layer

from verale.checker.arithmetic import Arithmetic
from verale.checker.errors import UnprovedError
from verale.checker.network import binary32
from verale.checker.network.enclosure import EnclosedLatents, Enclosure
from verale.checker.options import KERNELS, load_arithmetic
from verale.checker.read.network_file import read_network
from verale.checker.read.pictures import Picture

UNIT = Fraction(1, 2**24)


ARB, MPMATH = map(load_arithmetic, KERNELS)


@pytest.fixture(params=[ARB, MPMATH], ids=KERNELS, scope="module")
def kernel(request: pytest.FixtureRequest) -> Arithmetic:
    return request.param


def enclosed(network: Drawn, picture: bytes, kernel: Arithmetic, arithmetic: str = "float32") -> EnclosedLatents:
    return Enclosure(read_network(network.file()), kernel, arithmetic).latents(Picture(network.shape, picture))


def require_held(box: EnclosedLatents, latents: dict[tuple[int, ...], float], shape: tuple[int, ...]) -> None:
    for at in product(*map(range, shape)):
        patch = at[1] * shape[2] + at[2] if len(at) == 3 else 0
        value = Fraction(latents[at]) * 2**box.bits
        assert box.lower[patch][at[0]] <= value <= box.upper[patch][at[0]], at


def pixels(network: Drawn, seed: int) -> bytes:
    source = random.Random(seed)
    return bytes(source.choice([0, 255, source.randrange(256)]) for _ in range(prod(network.shape)))


@pytest.mark.parametrize("first", [0, *(pytest.param(n, marks=pytest.mark.long) for n in (10, 20, 30, 40, 50))])
def test_no_order_leaves_the_ends(first: int, kernel: Arithmetic) -> None:
    count = 0
    for seed in range(first, first + 10, 1 if kernel is ARB else 3):
        try:
            network = drawn(seed)
        except ValueError:
            continue
        picture = pixels(network, seed)
        box = enclosed(network, picture, kernel)
        for attempt in range(2):
            shape, latents = Adversary(100 * seed + attempt).given(network, picture)[network.layers[-1]["name"]]
            require_held(box, latents, shape)
            count += 1
    assert count >= (14 if kernel is ARB else 4)


def batch_normed(seed: int) -> tuple[Drawn, dict[str, dict[str, Any]]]:
    """Two convolutions with batch normalisation, folded, and the numbers that they were folded from."""
    source = random.Random(seed)

    def numbers(count: int, low: float, high: float) -> list[float]:
        return [near(source.uniform(low, high)) for _ in range(count)]

    layers = [
        layer("a", "conv2d", "picture", padding=[1, 1]),
        layer("b", "relu", "a"),
        layer("c", "conv2d", "b"),
        layer("d", "sigmoid", "c"),
    ]
    norms: dict[str, dict[str, Any]] = {}
    tensors: dict[str, Any] = {}
    scale = source.choice([1e-3, 1.0, 30.0])
    for name, outputs, inputs in (("a", 3, 1), ("c", 2, 3)):
        weight = [[[numbers(2, -1, 1) for _ in range(2)] for _ in range(inputs)] for _ in range(outputs)]
        norms[name] = {
            "weight": weight,
            "mean": numbers(outputs, -3 * scale, 3 * scale),
            "var": numbers(outputs, 1e-6, 4 * scale**2),
            "gamma": numbers(outputs, -2, 2),
            "beta": numbers(outputs, -1, 1),
        }
        if source.random() < 0.5:
            norms[name]["bias"] = numbers(outputs, -1, 1)
        for part, values in zip(("weight", "bias", "magnitude"), folded(norms[name]), strict=True):
            tensors[f"{name}.{part}"] = values
    return Drawn(layers, tensors, (1, 4, 4), [0.5], [0.25]), norms


def test_a_batch_normalisation_that_is_not_folded_stays_inside(kernel: Arithmetic) -> None:
    for seed in range(6 if kernel is ARB else 2):
        network, norms = batch_normed(seed)
        picture = pixels(network, seed)
        box = enclosed(network, picture, kernel)
        for attempt in range(2):
            adversary = Adversary(seed * 50 + attempt)
            for given in (norms, None):  # as it was, and folded
                shape, latents = adversary.given(network, picture, given)["d"]
                require_held(box, latents, shape)


@pytest.mark.parametrize("dtype", ["F32", "F64"])
@pytest.mark.parametrize("bias", [None, 0.7, -300.0])
def test_the_worst_roundings_of_one_sum_stay_inside_and_nearly_reach_the_ends(
    dtype: str, bias: float | None, kernel: Arithmetic
) -> None:
    """Each term with all its roundings upwards, or downwards."""
    source = random.Random(f"{dtype}{bias}")
    weight = [source.uniform(-1, 1) for _ in range(50)]
    if dtype == "F32":
        weight = list(map(near, weight))
    tensors: dict[str, Any] = {"a.weight": [[[weight[i : i + 10] for i in range(0, 50, 10)]]]}
    if bias is not None:
        tensors["a.bias"] = [near(bias)]
    network = Drawn([layer("a", "conv2d", "picture")], tensors, (1, 5, 10), [0.0], [1.0], dtype)
    picture = bytes([255 * source.randrange(2) for _ in range(50)])  # 0 and 1, of which only 1 is rounded
    box = enclosed(network, picture, kernel)
    terms = [Fraction(w) for w, v in zip(weight, picture, strict=True) if v]
    one = Fraction(tensors.get("a.bias", [0.0])[0])
    roundings = 51 + 1 + (dtype == "F64") + 6  # 6 of the picture: the quotients 2 each, the difference, and std
    for up in (True, False):
        moved = sum(w / (1 - UNIT) ** roundings if (w > 0) == up else w * (1 - UNIT) ** roundings for w in terms)
        moved += one / (1 - UNIT) ** 52 if (one > 0) == up else one * (1 - UNIT) ** 52
        assert box.lower[0][0] <= moved * 2**box.bits <= box.upper[0][0]
    size = sum(map(abs, terms)) + abs(one)
    assert box.upper[0][0] - box.lower[0][0] <= 2.6 * (roundings + 1) * UNIT * size * 2**box.bits


@pytest.mark.parametrize("kind", ["sigmoid", "tanh"])
def test_the_worst_function_stays_inside_and_no_end_leaves_its_range(kind: str, kernel: Arithmetic) -> None:
    layers = [layer("a", "conv2d", "picture"), layer("b", kind, "a")]
    network = Drawn(layers, {"a.weight": [[[[40.0]]]]}, (1, 2, 3), [0.5], [1.0])
    picture = bytes([0, 100, 127, 128, 140, 255])
    real, computed = (enclosed(network, picture, kernel, arithmetic) for arithmetic in ("real", "float32"))
    one = 1 << computed.bits
    pairs = zip(real.lower, real.upper, computed.lower, computed.upper, strict=True)
    for (low,), (high,), (least,), (most,) in pairs:
        size = max(abs(low), abs(high)) >> real.bits - computed.bits
        assert (0 if kind == "sigmoid" else -one) <= least and most <= one
        assert least <= max(0 if kind == "sigmoid" else -one, (low >> real.bits - computed.bits) - 16 * size / 2**24)
        assert min(one, (high >> real.bits - computed.bits) + 16 * size / 2**24) <= most


@pytest.mark.parametrize("ends", [(0.1, 0.7), (-0.3, 6.0), (0.0, 1 / 3), (-(2.0**-30), 2.0**-30 / 3)])
def test_the_ends_of_a_clamp_are_rounded(ends: tuple[float, float], kernel: Arithmetic) -> None:
    layers = [layer("a", "clamp", "picture", lower=ends[0].hex(), upper=ends[1].hex())]
    network = Drawn(layers, {}, (1, 1, 4), [0.2], [0.5])
    picture = bytes([0, 255, 51, 52])
    box = enclosed(network, picture, kernel)
    for attempt in range(8):
        shape, latents = Adversary(attempt).given(network, picture)["a"]
        require_held(box, latents, shape)
    assert max(high - low for low, high in zip(box.lower[1], box.upper[1], strict=True)) <= 2 ** (box.bits - 19)


def test_refuses_what_it_cannot_bound() -> None:
    def conv(weight: float, bias: float = 0.0, dtype: str = "F64", **fields: Any) -> Drawn:
        tensors = {"a.weight": [[[[weight]]]], "a.bias": [bias]} | fields
        return Drawn([layer("a", "conv2d", "picture")], tensors, (1, 1, 1), [0.0], [1.0], dtype)

    networks = {
        "numbers of the layer a may overflow": [conv(1e38), conv(1.0, 1e38), conv(1e300), conv(1e-9, 1e300)],
        "mean or std may overflow": [
            Drawn([layer("a", "relu", "picture")], {}, (1, 1, 1), [0.0], [1e-300]),
            Drawn([layer("a", "relu", "picture")], {}, (1, 1, 1), [1e300], [1.0]),
        ],
        "the normalised picture may overflow": [
            Drawn([layer("a", "relu", "picture")], {}, (1, 1, 1), [0.0], [2.0**-125])
        ],
        "the slope of the layer a may underflow": [
            Drawn([layer("a", "leaky_relu", "picture", slope="0x1p-130")], {}, (1, 1, 1), [1.0], [1.0])
        ],
    }
    for kind, count in (("multiply", 2), ("gaussian", 1), ("inverse_root", 1)):
        each = Drawn([layer("a", kind, *["picture"] * count)], {}, (1, 1, 1), [-1.0], [1.0])
        networks[rf"nothing is claimed of the layer a \({kind}\), which libraries compute in several ways"] = [each]
    networks["numbers of the layer a may overflow"] += [
        Drawn([layer("a", "clamp", "picture", lower=low.hex(), upper=high.hex())], {}, (1, 1, 1), [0.0], [1.0])
        for low, high in ((-1e38, 0.0), (0.0, 1e38))
    ]
    networks["of the layer a nothing is claimed: its magnitude or its weight is beyond 2"] = [
        conv(1.0, 2.0, **{"a.magnitude": [2.0**33]}),
        conv(2.0**33, 2.0, **{"a.magnitude": [2.0]}),
    ]
    grown = [layer("b", "conv2d", "picture"), layer("a", "conv2d", "b")]
    folded = {"b.weight": [[[[2.0**33]]]], "a.weight": [[[[1.0]]]], "a.bias": [2.0], "a.magnitude": [2.0]}
    networks["numbers of the layer a may overflow"] += [Drawn(grown, folded, (1, 1, 1), [0.0], [1.0])]
    twice = [layer("a", "conv2d", "picture"), layer("b", "add", "a", "a")]
    large = Drawn(twice, {"a.weight": [[[[2.0**123]]]]}, (1, 1, 1), [0.0], [1.0])
    networks["numbers of the layer b may overflow"] = [large]
    for message, each in networks.items():
        for network in each:
            with pytest.raises(UnprovedError, match=message) as error:
                enclosed(network, bytes([255]), ARB)
            assert error.value.reason == "picture"
            enclosed(network, bytes([255]), ARB, "real")


def test_a_sum_that_is_too_long_is_refused() -> None:
    assert binary32.share(1 << 40, 2**21) > 1 << 37
    with pytest.raises(UnprovedError, match="sums of about 2097153 roundings are too long"):
        binary32.share(1, 2**21 + 1)


def worst() -> Iterator[tuple[str, Drawn, bytes, Fraction]]:
    """Networks, and a latent with every rounding upwards, or downwards, as far as the text allows."""
    source, one = random.Random(3), 1 - Fraction(1, 2**24)
    weight = [source.uniform(0.5, 1) for _ in range(40)]
    picture, shape = bytes([255]) * 40, (1, 5, 8)
    kernel = [[[weight[i : i + 8] for i in range(0, 40, 8)]]]
    own: dict[str, Any] = {"a.weight": kernel, "a.bias": [0.75]}
    total = sum(map(Fraction, weight))
    for up in (1, -1):
        sums = Drawn([layer("a", "conv2d", "picture")], own, shape, [0.0], [1.0])
        yield f"sum {up}", sums, picture, total / one ** (up * (41 + 2 + 6)) + Fraction(3, 4) / one ** (up * 42)
        norm = Drawn(sums.layers, own | {"a.magnitude": [1000.0]}, shape, [0.0], [1.0])
        lost = 1000 * (1 / one**53 - 1)
        yield f"norm {up}", norm, picture, total + Fraction(3, 4) + up * lost
        mean = Drawn([layer("a", "avg_pool2d", "picture", kernel=[5, 8])], {}, shape, [0.0], [1.0])
        yield f"mean {up}", mean, picture, 1 / one ** (up * (42 + 6))
        leaky = Drawn([layer("a", "leaky_relu", "picture", slope=(0.1).hex())], {}, (1, 1, 1), [1.0], [1.0])
        yield f"leaky {up}", leaky, bytes([0]), -Fraction(0.1) / one ** (up * (2 + 4))
        clamp = Drawn(
            [layer("a", "clamp", "picture", lower=(-1.0).hex(), upper=(0.1).hex())], {}, (1, 1, 1), [0.0], [1.0]
        )
        yield f"clamp {up}", clamp, bytes([255]), Fraction(0.1) / one**up
        added = Drawn([layer("a", "add", "picture", "picture")], {}, (1, 1, 1), [0.0], [1.0])
        yield f"add {up}", added, bytes([255]), 2 / one ** (up * (2 + 6))
        smooth = Drawn([layer("a", "sigmoid", "picture")], {}, (1, 1, 1), [0.0], [1.0])
        yield f"sigmoid {up}", smooth, bytes([0]), Fraction(1, 2) + up * Fraction(8, 2**24)


def test_roundings_that_all_go_to_one_side_leave_no_end() -> None:
    for name, network, picture, value in worst():
        box = enclosed(network, picture, ARB)
        assert box.lower[0][0] <= value * 2**box.bits <= box.upper[0][0], name
