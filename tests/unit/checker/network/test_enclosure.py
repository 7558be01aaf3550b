"""Enclosed latents hold what the formulas give, in exact fractions or in balls of 400 bits, and are narrow."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from math import prod

import flint
import pytest
from support.network_truth import FRACTIONS, Drawn, balls, drawn, given
from support.networks import layer, network_file, small_network

from verale.checker.arithmetic import Arithmetic
from verale.checker.errors import UnprovedError
from verale.checker.network import enclosure as module
from verale.checker.network.enclosure import EnclosedLatents, Enclosure
from verale.checker.network.functions import Ends
from verale.checker.options import KERNELS, load_arithmetic
from verale.checker.read.network_file import read_network
from verale.checker.read.pictures import Picture

SMOOTH = {"sigmoid", "tanh", "gaussian", "inverse_root"}


ARB, MPMATH = map(load_arithmetic, KERNELS)


@pytest.fixture(params=[ARB, MPMATH], ids=KERNELS, scope="module")
def kernel(request: pytest.FixtureRequest) -> Arithmetic:
    return request.param


def pixels(network: Drawn, seed: int) -> bytes:
    source = random.Random(seed)
    return bytes(source.choice([0, 255, source.randrange(256)]) for _ in range(prod(network.shape)))


def enclosed(network: Drawn, picture: bytes, kernel: Arithmetic) -> EnclosedLatents:
    return Enclosure(read_network(network.file()), kernel).latents(Picture(network.shape, picture))


def check(network: Drawn, picture: bytes, kernel: Arithmetic) -> None:
    """Raises AssertionError unless the latents' ends hold the truth and are no farther apart than 2^-40 or 2^-40 of the
    greatest."""
    smooth = any(each["kind"] in SMOOTH for each in network.layers)
    with flint.ctx.workprec(400):
        shape, truth = given(network, picture, balls() if smooth else FRACTIONS)[network.layers[-1]["name"]]
        box = enclosed(network, picture, kernel)
        unit = flint.fmpz(2) ** box.bits if smooth else 1 << box.bits
        assert (len(box.lower), len(box.lower[0])) == (prod(shape[1:]), shape[0])
        widest = max(
            high - low for each in zip(box.lower, box.upper, strict=True) for low, high in zip(*each, strict=True)
        )
        greatest = max(max(map(abs, row)) for row in (*box.lower, *box.upper))
        assert widest <= max(1 << box.bits - 40, greatest >> 40)
        for at in product(*map(range, shape)):
            patch = at[1] * shape[2] + at[2] if len(at) == 3 else 0
            low, high = box.lower[patch][at[0]], box.upper[patch][at[0]]
            assert not truth[at] * unit < low, (at, "below")  # certainly; a ball of 400 bits is narrower than a unit
            assert not truth[at] * unit > high, (at, "above")


def drawable(seeds: range, smooth: bool, products: bool = False) -> list[Drawn]:
    networks = []
    for seed in seeds:
        try:
            networks.append(drawn(seed, smooth, products))
        except ValueError:
            continue
    return networks


@pytest.mark.parametrize("smooth", [False, True])
def test_holds_what_random_networks_give(smooth: bool, kernel: Arithmetic) -> None:
    networks = drawable(range(25), smooth) + drawable(range(200, 225), smooth, products=True)
    assert len(networks) >= 40
    seen = {each["kind"] for network in networks for each in network.layers}
    assert seen == {*module.TENSORS, *module.FUNCTIONS} - (set() if smooth else SMOOTH)
    for seed, network in enumerate(networks[:: 1 if kernel is ARB else 3]):
        check(network, pixels(network, seed), kernel)


def test_a_large_convolution_is_computed_in_pieces(kernel: Arithmetic, monkeypatch) -> None:
    """Of rows, and of parts of a row."""
    networks = drawable(range(100, 112), smooth=False)
    for most in (1, 20, 60):
        monkeypatch.setattr(module, "_AT_ONCE", most)
        for seed, network in enumerate(networks):
            check(network, pixels(network, seed), kernel)


def one(kind: str, tensors: dict[str, list[object]] | None = None, dtype: str = "F64", **fields: object) -> Drawn:
    return Drawn([layer("a", kind, "picture", **fields)], tensors or {}, (1, 2, 2), [0.25], [0.3], dtype)


@pytest.mark.parametrize("kind", ["sigmoid", "tanh", "gaussian"])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 7.0, 30.0, 1e4, 1e9])
def test_functions_far_from_zero_and_near(kind: str, scale: float, kernel: Arithmetic) -> None:
    layers = [layer("a", "conv2d", "picture"), layer("b", kind, "a")]
    for sign in (1, -1):
        network = Drawn(layers, {"a.weight": [[[[sign * scale]]]]}, (1, 2, 2), [0.5], [1.0])
        check(network, bytes([0, 255, 127, 128]), kernel)
        box = enclosed(network, bytes([0, 255, 127, 128]), kernel)
        one_ = 1 << box.bits
        least = -one_ if kind == "tanh" else 0
        assert all(least <= low and high <= one_ for (low,), (high,) in zip(box.lower, box.upper, strict=True))


@pytest.mark.parametrize("size", [1e-12, 1e-3, 1.0, 1e9])
def test_an_inverse_root_of_small_and_large_numbers(size: float, kernel: Arithmetic) -> None:
    layers = [layer("a", "conv2d", "picture"), layer("b", "inverse_root", "a")]
    network = Drawn(layers, {"a.weight": [[[[size]]]], "a.bias": [size / 7]}, (1, 2, 2), [0.0], [1.0])
    check(network, bytes([0, 1, 255, 128]), kernel)


@pytest.mark.parametrize("bias", [0.0, -0.25, 2.0**-80 - 1 / 255])
def test_an_inverse_root_of_what_is_not_positive_is_not_proved(bias: float, kernel: Arithmetic) -> None:
    layers = [layer("a", "conv2d", "picture"), layer("b", "inverse_root", "a")]
    network = Drawn(layers, {"a.weight": [[[[1.0]]]], "a.bias": [bias]}, (1, 1, 2), [0.0], [1.0])
    with pytest.raises(UnprovedError, match="the layer b takes an inverse root of a number that is not shown") as error:
        enclosed(network, bytes([0, 255]), kernel)
    assert error.value.reason == "picture"


@pytest.mark.parametrize("factor", [(2, 2, 3), (2, 1, 1), (1, 2, 3), (1, 1, 3), (2, 2, 1), (1, 1, 1)])
def test_a_factor_is_repeated_along_its_axes(factor: tuple[int, ...], kernel: Arithmetic) -> None:
    """Each number is met by its own factor, whatever the signs."""
    layers = [layer("a", "conv2d", "picture")]
    kernels = [2 if size == 1 < whole else 1 for size, whole in zip(factor[1:], (2, 3), strict=True)]
    kernels[1] += kernels[1] == 2
    layers += [layer("b", "conv2d", "picture"), layer("c", "multiply", "a", "b")]
    weights = [[[[0.5 - o + i - j for j in range(kernels[1])] for i in range(kernels[0])]] for o in range(factor[0])]
    tensors = {"a.weight": [[[[1.5]]], [[[-2.0]]]], "a.bias": [-1.0, 0.25], "b.weight": weights}
    check(Drawn(layers, tensors, (1, 2, 3), [0.4], [0.3]), bytes([0, 255, 31, 7, 100, 200]), kernel)


def test_narrow_after_many_layers(kernel: Arithmetic) -> None:
    """The grid has the bits that layers lose."""
    layers = [layer("l0", "conv2d", "picture")]
    layers += [layer(f"l{i}", "conv2d", f"l{i - 1}") for i in range(1, 40)]
    tensors = {f"l{i}.weight": [[[[16.0 + i]]]] for i in range(40)}
    check(Drawn(layers, tensors, (1, 1, 2), [0.1], [0.1]), bytes([3, 200]), kernel)


def test_weights_that_are_not_kept_are_converted_again(kernel: Arithmetic, monkeypatch) -> None:
    data = small_network()
    kept = Enclosure(read_network(data), kernel)
    picture = Picture((1, 4, 4), bytes(range(16)))
    first = kept.latents(picture)
    monkeypatch.setattr(module, "_MOST_KEPT", 0)
    again = Enclosure(read_network(data), kernel)
    other = Picture((1, 4, 4), bytes(range(1, 17)))
    assert again.latents(picture) == first == kept.latents(picture)
    assert again.latents(other) == kept.latents(other) != first == again.latents(picture)


@pytest.mark.parametrize("larger", [[], [1.7976931348623157e308]])
def test_weights_of_all_sizes(larger: list[float], kernel: Arithmetic) -> None:
    """Of these some are too large for a float on the grid, and what is cut off of others is multiplied by 2^40."""
    weights = [2.0**1000, 2.0**-1073, -(2.0**-1073), 1.0, *larger]
    tensors = {"a.weight": [[[[weight]]] for weight in weights]}
    check(Drawn([layer("a", "conv2d", "picture")], tensors, (1, 1, 1), [0.0], [2.0**-40]), b"\xff", kernel)


SCALED = {
    "signs": [1.0, -1.0, 0.0, -0.375, 2.0**20],
    "fine": [1 / 3, -0.1, 2.0**-30, -(2.0**-50), 5.0],
    "finer than the grid": [2.0**-300, -(2.0**-300), 1.0, 3.0, -7.0],
}


@pytest.mark.parametrize("weights", SCALED.values(), ids=SCALED)
@pytest.mark.parametrize("how", [{}, {"stride": [2, 1]}, {"padding": [1, 0]}], ids=str)
def test_a_channel_times_a_weight(kernel: Arithmetic, weights: list[float], how: dict[str, list[int]]) -> None:
    """Behind a layer whose sums are not known exactly."""
    count = len(weights)
    first = [[[[0.1 * (1 + k)], [-0.7]]] for k in range(count)]
    network = Drawn(
        [layer("a", "conv2d", "picture"), layer("b", "conv2d", "a", groups=count, **how)],
        {
            "a.weight": first,
            "a.bias": [0.3] * count,
            "b.weight": [[[[weight]]] for weight in weights],
            "b.bias": [1 / 7, -1 / 7, 0.0, 1e-200, -3.0],
        },
        (1, 3, 2),
        [0.3],
        [0.7],
    )
    check(network, bytes(range(0, 240, 40)), kernel)


def test_radii_are_rounded_up(kernel: Arithmetic, monkeypatch: pytest.MonkeyPatch) -> None:
    """To so few bits that it can be seen."""
    monkeypatch.setattr(module, "_COARSE", 2)
    layers = [layer("a", "conv2d", "picture"), layer("b", "conv2d", "a", groups=1)]
    tensors = {"a.weight": [[[[0.1]]], [[[0.7]]]], "b.weight": [[[[0.3]], [[0.3]]], [[[1.0]], [[-1.0]]]]}
    check(Drawn(layers, tensors, (1, 2, 3), [0.3], [0.7]), bytes(range(0, 240, 40)), kernel)
    radii = Ends([-5, -7], [5, 7])
    one = read_network(network_file([layer("b", "conv2d", "picture")], {"b.weight": [[[[1.0], [1.0]]]]}, (1, 2, 1)))
    found = module.Sums(one.layers[0], kernel, 3, False).of(radii)
    assert found.lower[0] <= -12 and found.upper[0] >= 12


def test_the_layer_that_widens_most_is_named(kernel: Arithmetic) -> None:
    layers = [layer("a", "conv2d", "picture"), layer("b", "conv2d", "a"), layer("c", "conv2d", "b")]
    weights = {
        "a": [[[[0.1]]], [[[0.1]]]],
        "b": [[[[100.1]], [[100.1]]], [[[1.0]], [[1.0]]]],
        "c": [[[[0.1]], [[0.1]]]],
    }
    tensors = {f"{name}.weight": weight for name, weight in weights.items()}
    network = Drawn(layers, tensors, (1, 2, 2), [0.3], [0.7])
    of = Enclosure(read_network(network.file()), kernel)
    of.latents(Picture(network.shape, b"\x01\x02\x03\x04"))
    assert of.widest[0] == "b" and 190 < of.widest[1] < 220


def test_a_bias_between_units_of_the_grid_is_held(kernel: Arithmetic) -> None:
    for weight in (1.0, -1.0, 0.0):
        tensors = {"a.weight": [[[[weight]]]], "a.bias": [1 / 7]}
        read = read_network(network_file([layer("a", "conv2d", "picture")], tensors, (1, 1, 1)))
        found = module.Sums(read.layers[0], kernel, 3, False).of(Ends([0], [0]))
        assert (found.lower, found.upper) == ([1], [2])


def test_sums_hold_what_is_cut_off_of_a_weight_and_of_a_bias(kernel: Arithmetic) -> None:
    """On a grid of three bits, where weights have 19: of a wide interval what is cut off is 64 units."""
    for weight, bias, radius in ((1 + 2.0**-19 - 2.0**-52, 0.0, 2**25), (1.0, 1 / 7, 0), (1.0, -1 / 7, 0)):
        layers = [layer("a", "flatten", "picture"), layer("b", "linear", "a")]
        read = read_network(network_file(layers, {"b.weight": [[weight]], "b.bias": [bias]}, (1, 1, 1)))
        found = module.Sums(read.layers[1], kernel, 3, False).of(Ends([-radius], [radius]))
        middle, reach = 8 * Fraction(bias), radius * Fraction(weight)
        assert found.lower[0] <= middle - reach and middle + reach <= found.upper[0]


def test_a_steep_normal_distribution(kernel: Arithmetic) -> None:
    """Of what is known roughly: 2^20 (x - 1/5)."""
    layers = [layer("a", "conv2d", "picture"), layer("b", "gaussian", "a")]
    tensors = {"a.weight": [[[[2.0**20]]]], "a.bias": [-(2.0**20) * 0.2]}
    check(Drawn(layers, tensors, (1, 1, 5), [0.0], [1.0]), bytes([0, 51, 102, 153, 204]), kernel)


@pytest.mark.parametrize(
    ("last", "tensors", "mean"),
    [
        (layer("b", "multiply", "a", "picture"), {"a.weight": [[[[-(2.0**20)]]]]}, 0.0),  # unlike signs
        (layer("b", "multiply", "a", "picture"), {"a.weight": [[[[1.0]]], [[[-2.0]]]]}, 0.1),
        (layer("b", "clamp", "a", lower=(3 * 2.0**-70).hex(), upper=(0.25).hex()), {"a.weight": [[[[1.0]]]]}, 0.0),
    ],
    ids=["unlike signs", "a factor of places", "ends of a clamp"],
)
def test_what_few_random_networks_have(
    last: dict[str, object], tensors: dict[str, object], mean: float, kernel: Arithmetic
) -> None:
    layers = [layer("a", "conv2d", "picture"), last]
    network = Drawn(layers, tensors, (1, 1, 5), [mean], [0.7 if mean else 1.0])
    check(network, bytes([0, 51, 102, 153, 204]), kernel)
