"""Boxes of latents hold what torch computes, in float64 and in float32, for networks with every layer."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from support.torch_networks import MEAN, NETWORKS, SHAPE, STD, frozen_network, random_module, random_pictures
from torch import Tensor

from verale.bounds.network import ARITHMETICS, Arithmetic, latent_ranges
from verale.checker.choices import load_arithmetic
from verale.checker.errors import UnprovedError
from verale.checker.network.enclosure import Enclosure as Enclosed
from verale.checker.read.network_file import read_network
from verale.checker.read.pictures import Picture
from verale.demo.network import load_images, load_network
from verale.errors import UsageError
from verale.head import as_patches

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")

SEEDS = range(2)


def torch_latents(name: str, seed: int, pictures: Tensor, dtype: torch.dtype) -> Tensor:
    """What the module itself gives, with its own batch normalisation."""
    mean, std = (torch.tensor(each, dtype=dtype)[:, None, None] for each in (MEAN, STD))
    given = random_module(name, seed).to(dtype)((pictures.to(dtype) / 255 - mean) / std)
    return as_patches(given if given.dim() == 4 else given[:, None])


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_box_holds_what_torch_gives(name: str, seed: int) -> None:
    network, pictures = frozen_network(name, seed), random_pictures(3, seed)
    exact, single = (torch_latents(name, seed, pictures, dtype) for dtype in (torch.float64, torch.float32))
    for picture, one, other in zip(pictures, exact, single, strict=True):
        real, binary32 = (latent_ranges(network, picture, arithmetic).ends for arithmetic in ARITHMETICS)
        # Torch's own float64 rounds too, so it is within the box of real numbers and as much again.
        width = real.upper - real.lower
        assert bool((real.lower - width <= one).all()) and bool((one <= real.upper + width).all())
        assert bool((binary32.lower <= other).all()) and bool((other <= binary32.upper).all())
        assert bool((binary32.lower <= real.lower).all()) and bool((real.upper <= binary32.upper).all())
        assert float(width.max()) < 1e-10 and 0 < float((binary32.upper - binary32.lower).max()) < 1e-2


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
@pytest.mark.parametrize("name", NETWORKS)
def test_the_checkers_box_is_narrower(name: str, arithmetic: Arithmetic) -> None:
    network = frozen_network(name)
    enclosed = Enclosed(read_network(network.to_bytes()), load_arithmetic("arb"), arithmetic)
    for picture in random_pictures(2):
        own = latent_ranges(network, picture, arithmetic).ends
        box = enclosed.latents(Picture(SHAPE, bytes(picture.flatten().tolist())))
        lower, upper = (torch.tensor(end, dtype=torch.float64) * 2.0**-box.bits for end in (box.lower, box.upper))
        assert bool((own.lower <= lower).all()) and bool((upper <= own.upper).all())


def test_the_demos_boxes_are_narrow() -> None:
    from verale.adapters.freezing import export_network

    digits, module = load_images(), load_network()
    network = export_network(module, None, (3, 32, 32), (0.5,) * 3, (0.5,) * 3)
    pictures = ((digits.images[:2] / 2 + 0.5) * 255).round().to(torch.uint8)
    for picture, latents in zip(pictures, as_patches(module.latents(digits.images[:2])), strict=True):
        real, single = (latent_ranges(network, picture, arithmetic).ends for arithmetic in ARITHMETICS)
        assert bool((single.lower <= latents).all()) and bool((latents <= single.upper).all())
        assert float((real.upper - real.lower).max()) < 1e-9
        assert float((single.upper - single.lower).max()) < 0.2


def test_what_overflows_is_not_known() -> None:
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 1, 1), torch.nn.Conv2d(1, 2, 1), torch.nn.Tanh()).double().eval()
    from verale.adapters.freezing import export_network

    module[0].weight.data.fill_(1.0)
    network = export_network(module, None, SHAPE, MEAN, STD)
    for layer in network.layers[:2]:
        layer.operation.weight.fill_(1e300)  # two of them are beyond float64
    found = latent_ranges(network, random_pictures(1)[0]).ends
    assert bool((found.lower == -1).all()) and bool((found.upper == 1).all())


@pytest.mark.parametrize("last", [torch.nn.Sigmoid(), torch.nn.Tanh()])
def test_functions_that_are_all_but_constant_are_known(last: torch.nn.Module) -> None:
    from verale.adapters.freezing import export_network

    module = torch.nn.Sequential(torch.nn.Conv2d(3, 2, 1), last).eval()
    module[0].bias.data = torch.tensor([-1e6, 1e6])
    found = latent_ranges(export_network(module, None, SHAPE), random_pictures(1)[0])
    ends = torch.tensor([0.0 if isinstance(last, torch.nn.Sigmoid) else -1.0, 1.0]).double()
    assert found.roughly == "" and bool((found.ends.lower <= ends).all() and (ends <= found.ends.upper).all())
    assert float((found.ends.upper - found.ends.lower).max()) < 1e-12


def test_numbers_that_may_overflow_in_float32_are_not_known_there_and_told() -> None:
    """As the checker refuses them; a magnitude says nothing in real arithmetic."""
    from torch import nn

    from verale.adapters.freezing import export_network

    module = nn.Sequential(nn.Conv2d(3, 2, 1, bias=False), nn.ReLU(), nn.Conv2d(2, 2, 1), nn.AvgPool2d(2)).eval()
    module[0].weight.data.fill_(2.0**62)
    module[2].weight.data.fill_(2.0**62)
    network, (picture,) = export_network(module, None, SHAPE), random_pictures(1)
    found = latent_ranges(network, picture, "float32")
    assert not bool(found.ends.lower.isfinite().any()) and "numbers of layer 2 may overflow in float32" in found.roughly
    with pytest.raises(UnprovedError, match="numbers of the layer 2 may overflow"):
        Enclosed(read_network(network.to_bytes()), load_arithmetic("arb"), "float32").latents(
            Picture(SHAPE, bytes(picture.flatten().tolist()))
        )
    for layers in ([nn.Conv2d(3, 2, 1), nn.BatchNorm2d(2)], [nn.BatchNorm2d(3), nn.Conv2d(3, 2, 1), nn.BatchNorm2d(2)]):
        network = export_network(nn.Sequential(*layers).eval(), None, SHAPE)
        wide = [
            replace(each, operation=replace(each.operation, magnitude=each.operation.magnitude + 2.0**33))
            for each in network.layers
        ]
        own, other = (latent_ranges(each, picture) for each in (network, replace(network, layers=tuple(wide))))
        assert torch.equal(own.ends.lower, other.ends.lower) and torch.equal(own.ends.upper, other.ends.upper)


def test_a_picture_of_another_shape_is_refused() -> None:
    with pytest.raises(UsageError, match="expected uint8"):
        latent_ranges(frozen_network("one layer"), torch.zeros(3, 4, 4, dtype=torch.uint8))
