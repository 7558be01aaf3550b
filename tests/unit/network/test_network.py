"""A frozen network survives its file; what breaks network-v1.md is refused with the layer's name."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any
from weakref import WeakSet

import pytest
import torch
from PIL import Image
from support.torch_networks import MEAN, NETWORKS, SHAPE, STD, frozen_network, random_pictures
from torch import Tensor

from verale.checker.read.pictures import PictureFile, Pictures, StoredPictures, opened_files
from verale.errors import NetworkError, UsageError
from verale.network import (
    NOT_CLAIMED,
    FrozenNetwork,
    picture_digest,
    pictures_file,
    pictures_of,
    require_binary32,
    walk,
)
from verale.network.layers import (
    AveragePooling,
    Clamp,
    Concatenation,
    Convolution,
    Flattening,
    FullConnection,
    Gaussian,
    InverseRoot,
    LeakyRectifier,
    NetworkLayer,
    Product,
    Rectifier,
    SpatialMaximum,
    Sum,
    Upsampling,
)

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_survives_its_file(name: str, tmp_path) -> None:
    network = frozen_network(name)
    network.save(tmp_path / "network.safetensors")
    loaded = FrozenNetwork.load(tmp_path / "network.safetensors")
    assert loaded.to_bytes() == network.to_bytes() and loaded.digest == network.digest
    assert (loaded.shape, loaded.mean, loaded.std) == (SHAPE, MEAN, STD)
    pictures = random_pictures(2)
    assert torch.equal(loaded.latents(pictures), network.latents(pictures))


def network() -> FrozenNetwork:
    return FrozenNetwork(
        SHAPE, MEAN, STD,
        (
            NetworkLayer("0", ("picture",), Convolution((1, 1), (0, 0), (1, 1), 1, torch.ones(2, 3, 3, 3))),
            NetworkLayer("1", ("0",), Rectifier()),
            NetworkLayer("2", ("1", "1"), Sum()),
        ),
    )  # fmt: skip


def layer(operation: Any, *inputs: str) -> NetworkLayer:
    return NetworkLayer("x", inputs or ("2",), operation)


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        (layer(LeakyRectifier(2.0)), "network layer 'x': has the slope 2.0, expected 0 to 1"),
        (layer(Clamp(1.0, 0.0)), "network layer 'x': clamps from 1.0 to 0.0, expected finite ends in order"),
        (layer(Clamp(0.0, float("inf"))), "network layer 'x': clamps from 0.0 to inf, expected finite ends in order"),
        (replace(layer(Rectifier()), name="\ud800"), r"network layer '\\ud800': is no name, expected letters"),
        (layer(FullConnection(torch.ones(2, 72, dtype=torch.complex128))), "'x.weight': is torch.complex128, expected"),
        (layer(Convolution((1, 1), (2000, 2000), (1, 1), 1, torch.ones(1, 2, 60, 60))), "products, expected at most"),
    ],
)
def test_layers_that_do_not_fit_are_refused(added: NetworkLayer, expected: str) -> None:
    given = network()
    with pytest.raises(NetworkError, match=expected):
        replace(given, layers=(*given.layers, added))
    with pytest.raises(NetworkError, match=r"has the std .*nan.*, expected finite numbers"):
        replace(given, std=(float("nan"), 1, 1))


def test_outputs_are_forgotten_when_nothing_reads_them() -> None:
    class Output:
        pass

    residual, held, most = frozen_network("residual"), WeakSet[Output](), 0

    def compute(layer: NetworkLayer, inputs: Sequence[Output]) -> Output:
        held.add(output := Output())
        return output

    for _ in walk(residual, Output(), compute):
        most = max(most, len(held))
    assert 0 < most < len(residual.layers) / 2


def test_layers_may_share_their_weights() -> None:
    weight = torch.ones(3, 3, 1, 1)
    same = [Convolution((1, 1), (0, 0), (1, 1), 1, each) for each in (weight, weight, weight.clone())]
    tied, apart = (
        replace(network(), layers=(NetworkLayer("0", ("picture",), first), NetworkLayer("1", ("0",), second)))
        for first, second in (same[:2], same[1:])
    )
    assert tied.to_bytes() == apart.to_bytes()


def test_pictures_of_another_kind_are_refused() -> None:
    with pytest.raises(UsageError, match="expected uint8"):
        network().latents(torch.zeros(1, *SHAPE))
    with pytest.raises(UsageError, match="expected uint8"):
        network().latents(torch.zeros(1, 3, 8, 8, dtype=torch.uint8))


# Of which networks nothing is claimed in binary32: what a file shows of it is refused before anything is explained.


def one_of(*operations: object, mean: float = 0.5, std: float = 0.25) -> FrozenNetwork:
    names = ["picture", *map(str, range(len(operations)))]
    layers = [NetworkLayer(names[n + 1], (names[n],), each) for n, each in enumerate(operations)]  # type: ignore[arg-type]
    return FrozenNetwork((1, 2, 2), (mean,), (std,), tuple(layers))


def convolution(weight: float, bias: float | None = None, magnitude: float | None = None) -> Convolution:
    def tensor(number: float | None) -> Tensor | None:
        return None if number is None else torch.tensor([number], dtype=torch.float64)

    kernel = torch.full((1, 1, 1, 1), weight, dtype=torch.float64)
    return Convolution((1, 1), (0, 0), (1, 1), 1, kernel, tensor(bias), tensor(magnitude))


CLAIMED = [
    one_of(convolution(1.0), Rectifier()),
    one_of(convolution(2.0**40, 2.0**40), LeakyRectifier(0.0), LeakyRectifier(2.0**-100)),
    one_of(convolution(1.0), Clamp(0.0, 6.0)),
    one_of(convolution(2.0**32, 1.0, 2.0**32), std=2.0**-125),
]
REFUSED = {
    "layer '1': has the slope 1e-40, which float32 may take as 0": one_of(convolution(1.0), LeakyRectifier(1e-40)),
    "layer '1': is of the kind gaussian, of which nothing is claimed": one_of(convolution(1.0), Gaussian()),
    "layer '1': is of the kind inverse_root, of which": one_of(convolution(1.0), InverseRoot()),
    "layer '1': has ends of up to 1e\\+38, which may overflow": one_of(convolution(1.0), Clamp(0.0, 1e38)),
    "layer '0': has numbers of up to 1e\\+39, which may overflow": one_of(convolution(1e39)),
    "layer '0': has numbers of up to 1e\\+300, which may": one_of(convolution(1.0, -1e300)),
    "layer '0': has a batch normalisation folded in": one_of(convolution(1.0, 1.0, NOT_CLAIMED)),
    "'0': .* its magnitude or its weight is beyond 2": one_of(convolution(-(2.0**33), 1.0, 2.0)),
    "'input': has mean .* and std .*, which may overflow": one_of(convolution(1.0), std=2.0**-126),
    "'input': has mean \\(1e\\+300,\\)": one_of(convolution(1.0), mean=1e300),
}


@pytest.mark.parametrize("number", range(len(CLAIMED)))
def test_what_is_claimed_is_not_refused(number: int) -> None:
    require_binary32(CLAIMED[number])


@pytest.mark.parametrize("message", REFUSED)
def test_what_a_file_excludes_is_refused_with_layer_value_and_remedy(message: str) -> None:
    with pytest.raises(NetworkError, match=message) as error:
        require_binary32(REFUSED[message])
    assert str(error.value).endswith("only real arithmetic is claimed of this network (arithmetic='real')")


def test_a_sum_that_is_too_long_is_refused() -> None:
    terms = 2**21
    layers = (
        NetworkLayer("flat", ("picture",), Convolution((1, 1), (0, 0), (1, 1), 1, torch.ones(1, 1, terms, 1))),
        NetworkLayer("one", ("flat",), Rectifier()),
    )
    with pytest.raises(NetworkError, match=f"'flat': sums {terms} products, expected at most {terms - 32} in float32"):
        require_binary32(FrozenNetwork((1, terms, 1), (0.0,), (1.0,), layers))


# Pictures are tensors of the values that the checker reads, and have the digest that it computes.


SMALL = (3, 5, 4)


def png(picture: torch.Tensor) -> bytes:
    """A PNG of uint8 (C, H, W)."""
    stream = io.BytesIO()
    array = picture[0] if len(picture) == 1 else picture.permute(1, 2, 0)
    Image.fromarray(array.numpy()).save(stream, "PNG")
    return stream.getvalue()


def opened(data: bytes, shape: tuple[int, int, int]) -> StoredPictures:
    (stored,) = opened_files([PictureFile("p", lambda: data)], shape)
    assert isinstance(stored, StoredPictures)
    return stored


@pytest.mark.parametrize("shape", [SMALL, (1, 5, 4)])
def test_a_png_and_a_tensor_are_the_same_picture(shape: tuple[int, int, int]) -> None:
    pictures = random_pictures(3, shape=shape)
    assert torch.equal(pictures_of(opened(png(pictures[1]), shape)), pictures[1:2])
    assert torch.equal(pictures_of(opened(pictures_file(pictures), shape)), pictures)
    assert pictures_of(opened(pictures_file(pictures[:0]), shape)).shape == (0, *shape)
    head = "verale.picture.v1 {} {} {}\n".format(*shape).encode()
    assert picture_digest(pictures[1]) == hashlib.sha256(head + bytes(pictures[1].flatten().tolist())).hexdigest()
    for data in png(pictures[1]), pictures_file(pictures):
        assert Pictures([PictureFile("p", lambda data=data: data)], shape).find(picture_digest(pictures[1])) is not None


def test_a_tensor_can_be_written_and_leaves_the_file_as_it_is() -> None:
    pictures = random_pictures(2, shape=SMALL)
    data = pictures_file(pictures)
    loaded = pictures_of(opened(data, SMALL))
    loaded.zero_()
    assert data == pictures_file(pictures)


# Each layer computes what network-v1.md says, entry by entry in exact numbers.


def drawn(*shape: int, seed: int = 0) -> Tensor:
    """Small integers, so that no sum rounds."""
    return torch.randint(-8, 9, shape, generator=torch.Generator().manual_seed(seed)).double()


def entry(given: Tensor, c: int, y: int, x: int) -> float | None:
    _, _, rows, columns = given.shape
    return float(given[0, c, y, x]) if 0 <= y < rows and 0 <= x < columns else None


def test_convolution() -> None:
    given, weight, bias = drawn(1, 4, 7, 6), drawn(6, 2, 2, 3, seed=1), drawn(6, seed=2)
    made = Convolution((2, 1), (1, 2), (2, 1), 2, weight, bias)(given)
    assert made.shape == (1, 6, 4, 8)
    for o, y, x in product(range(6), range(4), range(8)):
        expected = float(bias[o])
        for c, a, b in product(range(2), range(2), range(3)):
            found = entry(given, o * 2 // 6 * 2 + c, y * 2 + a * 2 - 1, x + b - 2)
            expected += float(weight[o, c, a, b]) * (found or 0.0)
        assert float(made[0, o, y, x]) == expected


def test_poolings() -> None:
    given = drawn(1, 2, 6, 7)
    largest, mean = (each((2, 4), (2, 1), (1, 2))(given) for each in (SpatialMaximum, AveragePooling))
    for c, y, x in product(range(2), range(4), range(8)):
        window = [entry(given, c, 2 * y + a - 1, x + b - 2) for a, b in product(range(2), range(4))]
        inside = [each for each in window if each is not None]
        assert float(largest[0, c, y, x]) == max(inside)
        assert float(mean[0, c, y, x]) == sum(inside) / 8


def test_the_others() -> None:
    given, other = drawn(1, 2, 2, 3), drawn(1, 2, 2, 3, seed=1)
    assert torch.equal(Sum()(given, other, given), 2 * given + other)
    assert torch.equal(Concatenation()(given, other)[:, 2:], other)
    assert torch.equal(Rectifier()(given), given.clamp(min=0))
    assert torch.equal(LeakyRectifier(0.5)(given), torch.where(given >= 0, given, given / 2))
    assert torch.equal(Product()(given, other), given * other)
    assert torch.equal(Product()(given, other[:, :1, :, :1])[0, 1, 1], given[0, 1, 1] * other[0, 0, 1, 0])
    with pytest.raises(ValueError, match=r"a factor of \(2, 2, 3\) for \(1, 2, 3\)"):
        Product()(given[:, :1], other)
    assert torch.equal(Clamp(-0.25, 0.5)(given), given.clamp(min=-0.25).clamp(max=0.5))
    assert float((Gaussian()(given) - torch.special.ndtr(given)).abs().max()) < 1e-15
    assert torch.equal(InverseRoot()(given.square() + 1), (given.square() + 1).rsqrt())
    assert Flattening()(given)[0, (1 * 2 + 1) * 3 + 2] == given[0, 1, 1, 2]
    assert Upsampling((2, 3))(given)[0, 1, 3, 8] == given[0, 1, 1, 2]
    weight = drawn(4, 12, seed=3)
    assert torch.equal(FullConnection(weight)(given.flatten(1))[0], weight @ given.flatten())
