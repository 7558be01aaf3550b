"""Boxes in fixed point hold the checker's, where float64's hold nothing: deep networks, and every layer."""

from __future__ import annotations

import re

import pytest
import torch
from support.torch_networks import MEAN, NETWORKS, SHAPE, STD, deep_network, frozen_network, random_pictures
from torch import Tensor, nn

from verale.adapters.freezing import export_network
from verale.bounds import network as rules
from verale.bounds.fixed_point import MOST_PAIRS
from verale.bounds.network import latent_ranges
from verale.bounds.real_network import FineRules, TooFineError
from verale.checker.choices import load_arithmetic
from verale.checker.network.enclosure import Enclosure as Enclosed
from verale.checker.read.network_file import read_network
from verale.checker.read.pictures import Picture
from verale.network import FrozenNetwork
from verale.rounding import Enclosure

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")


def checked(network: FrozenNetwork, picture: Tensor) -> Enclosure:
    """The checker's box, its ends rounded to float64, which is less than the search's box is taken wider."""
    box = Enclosed(read_network(network.to_bytes()), load_arithmetic("arb")).latents(
        Picture(network.shape, bytes(picture.flatten().tolist()))
    )
    lower, upper = (torch.tensor(end, dtype=torch.float64) * 2.0**-box.bits for end in (box.lower, box.upper))
    return Enclosure(lower, upper)


@pytest.mark.parametrize("last", [nn.Sigmoid(), nn.Tanh(), nn.LeakyReLU(0.1), nn.ReLU()])
def test_a_deep_networks_box_is_narrow_and_holds_the_checkers(last: nn.Module) -> None:
    network = deep_network(30, last)
    (picture,) = random_pictures(1)
    own, box = latent_ranges(network, picture).ends, checked(network, picture)
    assert bool((own.lower <= box.lower).all() and (box.upper <= own.upper).all())
    assert float((own.upper - own.lower).max()) < 1e-10
    if not isinstance(last, nn.LeakyReLU | nn.Tanh):
        assert float(own.lower.min()) >= 0


def test_float64_alone_knows_nothing_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "_NARROW", float("inf"))
    (picture,) = random_pictures(1)
    wide = latent_ranges(deep_network(30, nn.ReLU()), picture).ends
    assert not float((wide.upper - wide.lower).max()) < 1


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 2))])
@pytest.mark.parametrize("name", NETWORKS)
def test_every_layer_is_known_in_fixed_point(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "_NARROW", 0.0)
    network = frozen_network(name, seed)
    for picture in random_pictures(2, seed):
        own, box = latent_ranges(network, picture).ends, checked(network, picture)
        assert bool((own.lower <= box.lower).all() and (box.upper <= own.upper).all())
        assert float((own.upper - own.lower).max()) < 1e-11


class DenseStack(nn.Module):
    """DenseNet's layers: each reads what all before it gave, normalised first."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, stride=4, padding=1)
        self.norms = nn.ModuleList(nn.BatchNorm2d(8 + 2 * k) for k in range(layers))
        self.layers = nn.ModuleList(nn.Conv2d(8 + 2 * k, 2, 3, padding=1, bias=False) for k in range(layers))
        self.last = nn.Conv2d(8 + 2 * layers, 5, 1)
        for each in self.norms:
            each.running_var.fill_(0.2)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        given = self.first(images)
        for norm, layer in zip(self.norms, self.layers, strict=True):
            given = torch.cat([given, layer(norm(given).relu())], 1)
        return self.last(given).sigmoid()


def dense(layers: int) -> FrozenNetwork:
    torch.manual_seed(layers)
    return export_network(DenseStack(layers).eval(), None, SHAPE, MEAN, STD)


@pytest.mark.parametrize("network", [deep_network(150, nn.ReLU()), dense(90)], ids=["plain", "dense"])
def test_more_bits_than_one_sum_of_digits_takes_are_computed(network: FrozenNetwork) -> None:
    fine = FineRules(network)
    assert -fine.picture(random_pictures(1)).centre.low > MOST_PAIRS - 8
    (picture,) = random_pictures(1)
    own, box = latent_ranges(network, picture), checked(network, picture)
    assert own.roughly == ""
    assert bool((own.ends.lower <= box.lower).all() and (box.upper <= own.ends.upper).all())
    assert float((own.ends.upper - own.ends.lower).max()) < 1e-10


def test_what_takes_too_many_bits_stays_wide_and_is_told() -> None:
    network = deep_network(400, nn.ReLU())
    with pytest.raises(TooFineError, match="bits are needed and at most 900 are computed: take a network of fewer"):
        FineRules(network)
    own = latent_ranges(network, random_pictures(1)[0])
    assert float((own.ends.upper - own.ends.lower).max()) > 1
    named = re.fullmatch(r"the search knows the network only roughly from layer (\d+) on, .*", own.roughly)
    assert named is not None and 5 < int(named[1]) < 60, own.roughly
    assert "bits are needed" in own.roughly and "an earlier layer for the latents" in own.roughly


def test_a_sum_that_is_too_long_is_told() -> None:
    terms = 2**20 + 1
    module = nn.Sequential(nn.Flatten(), nn.Linear(terms, 1, bias=False)).eval()
    module[1].weight.data = (1.0 - 2 * (torch.arange(terms) % 2))[None]
    network = export_network(module, None, (1, terms, 1))
    own = latent_ranges(network, torch.full((1, terms, 1), 255, dtype=torch.uint8))
    assert float((own.ends.upper - own.ends.lower).max()) > 1e-5
    assert "from layer 1 on" in own.roughly
    assert f"a sum of layer 1 has {terms} terms, more than the {2**20}" in own.roughly


def test_numbers_beyond_float64_are_told() -> None:
    module = nn.Sequential(nn.Flatten(), nn.Linear(4, 2), nn.Linear(2, 1)).double().eval()
    nn.init.constant_(module[1].bias, 1.7e308)
    module[2].weight.data = torch.tensor([[1.0, -1.0]], dtype=torch.float64)
    own = latent_ranges(export_network(module, None, (1, 4, 1)), torch.full((1, 4, 1), 255, dtype=torch.uint8))
    assert "numbers of layer 1 are beyond float64: scale the weights before it down" in own.roughly


def test_what_bends_in_the_middle_is_told() -> None:
    torch.manual_seed(0)
    blocks: list[nn.Module] = [nn.Conv2d(3, 8, 3, padding=1), nn.Tanh()]
    for _ in range(30):
        blocks += [nn.Conv2d(8, 8, 3, padding=1), nn.ReLU()]
        nn.init.kaiming_normal_(blocks[-2].weight, nonlinearity="relu")
    own = latent_ranges(export_network(nn.Sequential(*blocks), None, SHAPE, MEAN, STD), random_pictures(1)[0])
    assert float((own.ends.upper - own.ends.lower).max()) > 1e-9
    assert "sigmoids, tanhs and leaky relus are computed in float64" in own.roughly


def test_float32_tells_that_real_arithmetic_is_known_better() -> None:
    network, (picture,) = frozen_network("residual"), random_pictures(1)
    assert latent_ranges(network, picture).roughly == ""
    assert "narrower in real arithmetic (--arithmetic real)" in latent_ranges(network, picture, "float32").roughly
