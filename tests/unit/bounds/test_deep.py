"""Latents of deep networks are enclosed in more bits than floats have; so are those of the checker, and they agree."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
import torch
from support.torch_networks import NETWORKS, SHAPE, deep_network, frozen_network, random_pictures
from torch import Tensor, nn

from verale.adapters.freezing import export_network
from verale.bounds import deep
from verale.bounds.deep import deep_latents
from verale.checker.network.enclosure import Enclosure as Enclosed
from verale.checker.options import load_arithmetic
from verale.checker.read.network_file import read_network
from verale.checker.read.pictures import Picture
from verale.errors import UsageError
from verale.network import FrozenNetwork

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")

_UNIT = 2.0**-44
"""The checker's box is no wider, and its ends are rounded to float64 here."""


def require_the_checkers(network: FrozenNetwork, picture: Tensor) -> None:
    """The box is narrow and, widened by as much as the checker's may be wide, holds it; and they have numbers in
    common."""
    found = deep_latents(network, picture)
    assert found.ends is not None and found.roughly == ""
    lower, upper = (end[0].flatten(1).T if end.dim() == 4 else end for end in (found.ends.lower, found.ends.upper))
    box = Enclosed(read_network(network.to_bytes()), load_arithmetic("arb"), "real").latents(
        Picture(network.shape, bytes(picture.flatten().tolist()))
    )
    low, high = (torch.tensor(end, dtype=torch.float64) * 2.0**-box.bits for end in (box.lower, box.upper))
    assert bool((lower - _UNIT <= low).all() and (high <= upper + _UNIT).all())
    assert bool((lower <= high).all() and (low <= upper).all())
    assert bool((upper - lower <= 2.0**-40 + upper.abs() * 2.0**-50).all())


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("seed", range(2))
def test_every_kind_of_layer_is_enclosed_as_the_checker_does(name: str, seed: int) -> None:
    for picture in random_pictures(2, seed):
        require_the_checkers(frozen_network(name, seed), picture)


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


def test_gates_behind_many_layers_are_enclosed() -> None:
    torch.manual_seed(3)
    network = export_network(Grown(20).double().eval(), None, SHAPE)
    require_the_checkers(network, random_pictures(1)[0])


def test_gains_are_no_more_than_a_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """With too few places, a network is computed once more with as many as were missing."""
    network, (picture,) = deep_network(40, nn.LeakyReLU(0.1)), random_pictures(1)
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
    found = deep_latents(export_network(module, None, SHAPE), picture)
    assert found.ends is None and re.fullmatch(
        r"the search knows the network only roughly from layer \w+ on, where numbers take more than 800 bits: take a"
        " network of fewer layers, or an earlier layer for the latents",
        found.roughly,
    )
    network = frozen_network("one layer")
    (layer,) = network.layers
    large = replace(
        layer, operation=replace(layer.operation, weight=torch.full((2, 3, 1, 1), 1e40, dtype=torch.float64))
    )
    found = deep_latents(replace(network, layers=(large,)), picture)
    assert found.ends is None and "from layer layer on, where numbers are beyond 1.27e+30" in found.roughly.replace(
        f"layer {layer.name} ", "layer layer "
    )


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
    module, least, most = LASTS[name]
    network = export_network(nn.Sequential(nn.Conv2d(3, 4, 1), module).eval(), None, SHAPE)
    found = deep_latents(network, random_pictures(1)[0])
    assert found.ends is not None
    assert (found.least, found.most) == (-math.inf if least is None else least, math.inf if most is None else most)
    assert float(found.ends.lower.min()) >= found.least and float(found.ends.upper.max()) <= found.most


def test_a_picture_of_another_shape_is_refused() -> None:
    with pytest.raises(UsageError, match="expected uint8"):
        deep_latents(frozen_network("one layer"), torch.zeros(3, 4, 4, dtype=torch.uint8))
