"""Boxes of latents hold what torch computes, in float64 and in float32, and the checker's boxes: of every layer, and of
deep networks, which are enclosed in more bits than floats have."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
import torch
from support.torch_networks import (
    MEAN,
    NETWORKS,
    REAL_ALONE,
    SHAPE,
    STD,
    deep_network,
    frozen_network,
    random_module,
    random_pictures,
)
from torch import Tensor, nn

from verale.adapters.freezing import export_network
from verale.bounds import deep
from verale.bounds.network import ARITHMETICS, Arithmetic, latent_ranges
from verale.checker.errors import UnprovedError
from verale.checker.network.enclosure import Enclosure as Enclosed
from verale.checker.options import load_arithmetic
from verale.checker.read.network_file import read_network
from verale.checker.read.pictures import Picture
from verale.demo.network import load_images, load_network
from verale.errors import UsageError
from verale.head import as_patches
from verale.network import FrozenNetwork
from verale.rounding import Enclosure

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")


def torch_latents(name: str, seed: int, pictures: Tensor, dtype: torch.dtype) -> Tensor:
    """What the module itself gives, with its own batch normalisation."""
    mean, std = (torch.tensor(each, dtype=dtype)[:, None, None] for each in (MEAN, STD))
    given = random_module(name, seed).to(dtype)((pictures.to(dtype) / 255 - mean) / std)
    return as_patches(given if given.dim() == 4 else given[:, None])


def checked(network: FrozenNetwork, picture: Tensor, arithmetic: Arithmetic = "real") -> Enclosure:
    """The checker's box, its ends rounded to float64, which is less than the search's box is taken wider."""
    box = Enclosed(read_network(network.to_bytes()), load_arithmetic("arb"), arithmetic).latents(
        Picture(network.shape, bytes(picture.flatten().tolist()))
    )
    lower, upper = (torch.tensor(end, dtype=torch.float64) * 2.0**-box.bits for end in (box.lower, box.upper))
    return Enclosure(lower, upper)


def require_the_checkers(network: FrozenNetwork, picture: Tensor) -> Enclosure:
    """The box is narrow and holds the checker's."""
    own, box = latent_ranges(network, picture), checked(network, picture)
    lower, upper = own.ends.lower, own.ends.upper
    assert own.roughly == "" and bool((lower <= box.lower).all() and (box.upper <= upper).all())
    assert bool((upper - lower <= 2.0**-40 + upper.abs() * 2.0**-50).all())
    return own.ends


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("seed", range(2))
def test_a_box_holds_what_torch_gives_and_the_checkers_box(name: str, seed: int) -> None:
    network, pictures = frozen_network(name, seed), random_pictures(1, seed)
    exact, single = (torch_latents(name, seed, pictures, dtype)[0] for dtype in (torch.float64, torch.float32))
    real, binary32 = require_the_checkers(network, pictures[0]), latent_ranges(network, pictures[0], "float32")
    # Torch's own float64 rounds.
    assert bool((real.lower - 1e-10 <= exact).all()) and bool((exact <= real.upper + 1e-10).all())
    assert "narrower in real arithmetic (--arithmetic real)" in binary32.roughly
    lower, upper = binary32.ends.lower, binary32.ends.upper
    if name in REAL_ALONE:
        assert not bool(lower.isfinite().any() | upper.isfinite().any())
        return
    box = checked(network, pictures[0], "float32")
    for least, most in ((single, single), (real.lower, real.upper), (box.lower, box.upper)):
        assert bool((lower <= least).all() and (most <= upper).all())
    assert bool((box.lower <= single).all() and (single <= box.upper).all())
    assert 0 < float((upper - lower).max()) < 1e-2


def _uneven() -> nn.Module:
    """The checker rounds the small weight's size up by a share of the large one."""
    module = nn.Sequential(nn.Conv2d(3, 2, 1), nn.Conv2d(2, 2, 1, bias=False))
    module[1].weight.data = torch.tensor([[2.0**40, 1.0], [2.0**9 / 3, 0.0]]).view(2, 2, 1, 1)
    return module


def _zeros() -> nn.Module:
    """The checker's means of what is 0 lie around it."""
    module = nn.Sequential(nn.Conv2d(3, 2, 1), nn.ReLU(), nn.AvgPool2d(2))
    nn.init.constant_(module[0].bias, -60.0)
    return module


@pytest.mark.parametrize(
    "made",
    [_uneven, _zeros, lambda: nn.Sequential(nn.Conv2d(3, 2, 1), nn.Hardtanh(-0.1, 0.1))],
    ids=["weights", "means", "clamp"],
)
def test_what_the_checker_rounds_beside_binary32_is_in_the_box(made: Callable[[], nn.Module]) -> None:
    torch.manual_seed(0)
    network, (picture,) = export_network(made().eval(), None, SHAPE, MEAN, STD), random_pictures(1)
    own, box = latent_ranges(network, picture, "float32").ends, checked(network, picture, "float32")
    assert bool((own.lower <= box.lower).all() and (box.upper <= own.upper).all())


class Grown(nn.Module):
    """Gates, whose slopes and factors depend on the picture, behind many convolutions; an uneven window."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3, stride=2, padding=1)
        self.layers = nn.ModuleList(nn.Conv2d(6, 6, 3, padding=1) for _ in range(layers))
        self.gates = nn.ModuleList(nn.Conv2d(6, 6, 1) for _ in range(layers))
        for layer in self.layers:
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")

    def forward(self, images: Tensor) -> Tensor:
        found = self.first(images)
        for layer, gate in zip(self.layers, self.gates, strict=True):
            made = layer(nn.functional.silu(found))
            found = made * nn.functional.hardsigmoid(gate(nn.functional.adaptive_avg_pool2d(made, 1))) + found
        return nn.functional.max_pool2d(nn.functional.relu6(found), (3, 2), (2, 1), (1, 1))


def grown(layers: int) -> FrozenNetwork:
    torch.manual_seed(3)
    return export_network(Grown(layers).double().eval(), None, SHAPE)


@pytest.mark.parametrize(
    "made",
    [lambda: grown(14), lambda: deep_network(30, nn.Sigmoid()), lambda: deep_network(80, nn.ReLU())],
    ids=["gates", "sigmoid", "80 layers"],
)
def test_deep_networks_are_enclosed(made: Callable[[], FrozenNetwork]) -> None:
    """Where adding up all that rounding of floats may do says nothing."""
    assert float(require_the_checkers(made(), random_pictures(1)[0]).lower.min()) >= 0


def test_gains_are_no_more_than_a_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """With too few places, a network is computed once more with as many as were missing."""
    network, (picture,) = deep_network(24, nn.LeakyReLU(0.1)), random_pictures(1)
    gains = deep._gains
    tries = []

    def none(network: FrozenNetwork, picture: Tensor) -> dict[str, float]:
        return dict.fromkeys(gains(network, picture), 0.0)

    class Counted(deep._Rules):
        def picture(self, picture: Tensor) -> deep.FixedPoint:
            tries.append(self._places)
            return super().picture(picture)

    monkeypatch.setattr(deep, "_gains", none)
    monkeypatch.setattr(deep, "_Rules", Counted)
    require_the_checkers(network, picture)
    assert len(tries) == 2


def test_what_takes_too_many_bits_is_told_with_the_layer() -> None:
    """Both channels are the same, so that their difference is 0, however much what is not known of it grows."""
    (picture,) = random_pictures(1)
    module = nn.Sequential(nn.Conv2d(3, 2, 1), *(nn.Conv2d(2, 2, 1) for _ in range(9))).eval()
    nn.init.ones_(module[0].weight)
    for each in module[1:]:
        each.weight.data = torch.tensor([[1.0, -1.0]] * 2).view(2, 2, 1, 1) * 2.0**90
    for each in module:
        nn.init.zeros_(each.bias)
    found = latent_ranges(export_network(module, None, SHAPE), picture)
    assert re.fullmatch(
        r"the search knows the network only roughly from layer \w+ on, where numbers take more than 800 bits: take a"
        " network of fewer layers, or an earlier layer for the latents",
        found.roughly,
    )


def test_numbers_that_take_too_many_bits_are_told() -> None:
    module = nn.Sequential(nn.Flatten(), nn.Linear(4, 2)).double().eval()
    network = export_network(module, None, (1, 4, 1))
    last = replace(
        network.layers[1],
        operation=replace(network.layers[1].operation, weight=torch.full((2, 4), 1e308, dtype=torch.float64)),
    )
    wide = replace(network, layers=(network.layers[0], last))
    own = latent_ranges(wide, torch.full((1, 4, 1), 255, dtype=torch.uint8))
    assert "roughly from layer 1 on, where numbers are beyond 1.27e+30: scale the weights before it down" in own.roughly


def powers(*shape: int, low: int, high: int) -> Tensor:
    """Numbers of either sign, of sizes from 2^low to 2^high."""
    return (2 * torch.rand(shape, dtype=torch.float64) - 1) * 2.0 ** torch.randint(low, high, shape)


@pytest.mark.parametrize(("low", "high"), [(-1074, -1000), (-1074, 24), (-400, -300), (-60, 24), (0, 24), (105, 110)])
def test_latents_in_rationals_lie_in_the_box(low: int, high: int) -> None:
    """Weights that underflow, that differ by hundreds of powers of two, and that lead beyond what digits are for."""
    torch.manual_seed(0)
    for seed in range(5):
        module = nn.Sequential(nn.Flatten(), nn.Linear(4, 3), nn.LeakyReLU(0.25), nn.Linear(3, 2)).double().eval()
        for parameter in module.parameters():
            parameter.data = powers(*parameter.shape, low=low, high=high)
        mean, std = float(powers(1, low=-20, high=3)), 2.0 ** (-9 * seed) / 3
        picture = torch.randint(0, 256, (1, 4, 1), dtype=torch.uint8)
        found = latent_ranges(export_network(module, None, (1, 4, 1), (mean,), (std,)), picture)
        exact = [(Fraction(value, 255) - Fraction(mean)) / Fraction(std) for value in picture.flatten().tolist()]
        for layer in (module[1], module[3]):
            if layer is module[3]:
                exact = [max(each, each / 4) for each in exact]
            exact = [
                sum((Fraction(w) * each for w, each in zip(row, exact, strict=True)), Fraction(bias))
                for row, bias in zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
            ]
        assert found.roughly == "" or high >= 100
        for each, lower, upper in zip(exact, found.ends.lower[0].tolist(), found.ends.upper[0].tolist(), strict=True):
            assert lower == -math.inf or Fraction(lower) <= each
            assert upper == math.inf or each <= Fraction(upper)
            assert found.roughly or upper - lower <= (1 + abs(upper)) * 2.0**-36


LASTS = {
    "relu": (nn.ReLU(), 0, None),
    "sigmoid": (nn.Sigmoid(), 0, 1),
    "tanh": (nn.Tanh(), -1, 1),
    "clamp": (nn.Hardtanh(-0.5, 0.25), -0.5, 0.25),
    "mean": (nn.Sequential(nn.ReLU(), nn.AvgPool2d(2)), 0, None),
    "maximum": (nn.Sequential(nn.Sigmoid(), nn.MaxPool2d(2)), 0, 1),
    "leaky": (nn.LeakyReLU(0.1), None, None),
}


@pytest.mark.parametrize("name", LASTS)
def test_latents_are_cut_to_what_the_last_layers_give(name: str) -> None:
    last, least, most = LASTS[name]
    module = nn.Sequential(nn.Conv2d(3, 4, 1), last).eval()
    module[0].bias.data = torch.tensor([-60.0, 60.0, 0.0, 1.0])
    found = latent_ranges(export_network(module, None, SHAPE), random_pictures(1)[0])
    lower, upper = float(found.ends.lower.min()), float(found.ends.upper.max())
    assert found.roughly == "" and (lower == least if least is not None else lower < -1)
    assert upper == most if most is not None else upper > 1


def cancelled(size: float) -> FrozenNetwork:
    """x + size - size."""
    module = nn.Sequential(nn.Conv2d(3, 1, 1), nn.Conv2d(1, 1, 1)).double().eval()
    for layer, bias in zip(module, (size, -size), strict=True):
        nn.init.ones_(layer.weight)
        nn.init.constant_(layer.bias, bias)
    return export_network(module, None, SHAPE, MEAN, STD)


def alternating(terms: int) -> FrozenNetwork:
    """A sum of large numbers that is small."""
    module = nn.Sequential(nn.Flatten(), nn.Linear(terms, 1, bias=False)).double().eval()
    module[1].weight.data = (2.0**40 * (1.0 - 2 * (torch.arange(terms) % 2)).double() + 1 / 3)[None]
    return export_network(module, None, (1, terms, 1))


@pytest.mark.parametrize(("made", "size"), [(cancelled, 2.0**60), (cancelled, 1e12), (alternating, 1000)])
def test_what_cancels_in_float64_is_known(made: Callable[[float], FrozenNetwork], size: float) -> None:
    network = made(size)
    picture = torch.full(network.shape, 255, dtype=torch.uint8)
    own, box = latent_ranges(network, picture), checked(network, picture)
    assert bool((own.ends.lower <= box.lower).all() and (box.upper <= own.ends.upper).all())
    assert own.roughly == "" and float((own.ends.upper - own.ends.lower).max()) < 1e-12


def test_the_demos_boxes_are_narrow() -> None:
    network, pictures = load_network(), load_images().images[:2]
    for picture, latents in zip(pictures, as_patches(network.latents(pictures, torch.float32)), strict=True):
        real, single = (latent_ranges(network, picture, arithmetic).ends for arithmetic in ARITHMETICS)
        assert bool((single.lower <= latents).all()) and bool((latents <= single.upper).all())
        assert float((real.upper - real.lower).max()) < 1e-9
        assert float((single.upper - single.lower).max()) < 0.2


def test_what_overflows_is_not_known() -> None:
    module = nn.Sequential(nn.Conv2d(3, 1, 1), nn.Conv2d(1, 2, 1), nn.Tanh()).double().eval()
    module[0].weight.data.fill_(1.0)
    network = export_network(module, None, SHAPE, MEAN, STD)
    for layer in network.layers[:2]:
        layer.operation.weight.fill_(1e300)  # two of them are beyond float64
    found = latent_ranges(network, random_pictures(1)[0]).ends
    assert bool((found.lower == -1).all()) and bool((found.upper == 1).all())


@pytest.mark.parametrize("last", [nn.Sigmoid(), nn.Tanh()])
def test_functions_that_are_all_but_constant_are_known(last: nn.Module) -> None:
    module = nn.Sequential(nn.Conv2d(3, 2, 1), last).eval()
    module[0].bias.data = torch.tensor([-1e6, 1e6])
    found = latent_ranges(export_network(module, None, SHAPE), random_pictures(1)[0])
    ends = torch.tensor([0.0 if isinstance(last, nn.Sigmoid) else -1.0, 1.0]).double()
    assert found.roughly == "" and bool((found.ends.lower <= ends).all() and (ends <= found.ends.upper).all())
    assert float((found.ends.upper - found.ends.lower).max()) < 1e-12


def test_numbers_that_may_overflow_in_float32_are_not_known_there_and_told() -> None:
    """As the checker refuses them; a magnitude says nothing in real arithmetic."""
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
