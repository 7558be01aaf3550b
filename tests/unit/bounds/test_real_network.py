"""Boxes in fixed point hold the checker's, where float64's hold nothing: deep networks, and every layer."""

from __future__ import annotations

import pytest
import torch
from support.torch_networks import MEAN, NETWORKS, SHAPE, STD, frozen_network, random_pictures
from torch import Tensor, nn

from verale.adapters.freezing import export_network
from verale.bounds import network as rules
from verale.bounds.network import latent_ranges
from verale.bounds.real_network import FineRules
from verale.checker.kernel import load_kernel
from verale.checker.network import read_network
from verale.checker.network.enclosure import Enclosure as Enclosed
from verale.checker.pictures import Picture
from verale.network import FrozenNetwork
from verale.rounding import Enclosure

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")


def checked(network: FrozenNetwork, picture: Tensor) -> Enclosure:
    """The checker's box, its ends rounded to float64, which is less than the search's box is taken wider."""
    box = Enclosed(read_network(network.to_bytes()), load_kernel("arb")).latents(
        Picture(network.shape, bytes(picture.flatten().tolist()))
    )
    lower, upper = (torch.tensor(end, dtype=torch.float64) * 2.0**-box.bits for end in (box.lower, box.upper))
    return Enclosure(lower, upper)


def deep(layers: int, last: nn.Module) -> FrozenNetwork:
    """Convolutions whose latents depend on their picture still."""
    torch.manual_seed(layers)
    blocks: list[nn.Module] = [nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    for _ in range(layers):
        convolution = nn.Conv2d(8, 8, 3, padding=1)
        nn.init.kaiming_normal_(convolution.weight, nonlinearity="relu")
        blocks += [convolution, nn.ReLU()]
    return export_network(nn.Sequential(*blocks, nn.AvgPool2d(3), last), None, SHAPE, MEAN, STD)


@pytest.mark.parametrize("last", [nn.Sigmoid(), nn.Tanh(), nn.LeakyReLU(0.1), nn.ReLU()])
def test_a_deep_networks_box_is_narrow_and_holds_the_checkers(last: nn.Module) -> None:
    network = deep(30, last)
    (picture,) = random_pictures(1)
    own, box = latent_ranges(network, picture), checked(network, picture)
    assert bool((own.lower <= box.lower).all() and (box.upper <= own.upper).all())
    assert float((own.upper - own.lower).max()) < 1e-10
    if not isinstance(last, nn.LeakyReLU | nn.Tanh):
        assert float(own.lower.min()) >= 0


def test_float64_alone_knows_nothing_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "_NARROW", float("inf"))
    (picture,) = random_pictures(1)
    wide = latent_ranges(deep(30, nn.ReLU()), picture)
    assert not float((wide.upper - wide.lower).max()) < 1


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 2))])
@pytest.mark.parametrize("name", NETWORKS)
def test_every_layer_is_known_in_fixed_point(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "_NARROW", 0.0)
    network = frozen_network(name, seed)
    for picture in random_pictures(2, seed):
        own, box = latent_ranges(network, picture), checked(network, picture)
        assert bool((own.lower <= box.lower).all() and (box.upper <= own.upper).all())
        assert float((own.upper - own.lower).max()) < 1e-11


def test_what_takes_too_many_bits_stays_wide() -> None:
    network = deep(400, nn.ReLU())
    with pytest.raises(OverflowError):
        FineRules(network)
    own = latent_ranges(network, random_pictures(1)[0])
    assert float((own.upper - own.lower).max()) > 1
