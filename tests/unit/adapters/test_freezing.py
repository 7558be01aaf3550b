"""Networks are frozen with their own numbers; what is not known is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from support.own_network import OwnNetwork
from support.torch_networks import MEAN, NETWORKS, SHAPE, STD, frozen_network, random_module, random_pictures
from torch import Tensor, nn
from torch.nn import functional

import verale
from verale.adapters.freezing import export_network, first_difference, frozen
from verale.errors import InputError, NetworkError, UsageError
from verale.network import FrozenNetwork
from verale.network.layers import OPERATIONS, Convolution

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")


@pytest.mark.parametrize("name", NETWORKS)
def test_a_frozen_network_computes_the_modules_latents(name: str) -> None:
    module, network = random_module(name), frozen_network(name)
    pictures = random_pictures(3)
    mean, std = (torch.tensor(each, dtype=torch.float64)[:, None, None] for each in (MEAN, STD))
    expected = module.double()((pictures.double() / 255 - mean) / std)
    expected = expected if expected.dim() == 4 else expected[:, None]
    torch.testing.assert_close(network.latents(pictures), expected, rtol=1e-11, atol=1e-12)


def test_the_networks_have_every_layer() -> None:
    kinds = {layer.operation.kind for name in NETWORKS for layer in frozen_network(name).layers}
    assert kinds == set(OPERATIONS)


def test_batch_normalisation_is_folded_with_a_magnitude() -> None:
    layer = random_module("pooled")
    conv, norm = layer[0], layer[1]
    folded = frozen_network("pooled").layers[0].operation
    assert isinstance(folded, Convolution) and folded.weight.dtype == torch.float64
    factor = norm.weight.double() / (norm.running_var.double() + norm.eps).sqrt()
    exact = factor.abs() * (conv.bias.double().abs() + norm.running_mean.double().abs()) + norm.bias.double().abs()
    assert bool((folded.magnitude >= exact).all()) and bool((folded.magnitude <= exact * (1 + 1e-12)).all())
    assert bool((folded.magnitude >= folded.bias.abs()).all())
    assert [each.name for each in frozen_network("pooled").layers][:3] == ["0", "3", "4"]


def test_what_is_not_folded_keeps_its_numbers() -> None:
    module = random_module("one layer")
    held = frozen_network("one layer").layers[0].operation
    assert isinstance(held, Convolution) and held.magnitude is None
    assert torch.equal(held.weight, module.weight) and held.weight.dtype == torch.float32


def test_a_network_ends_at_the_layer_that_is_named_and_the_model_is_unchanged() -> None:
    network = OwnNetwork()
    found = verale.export_network(network, "add_on_layers", (3, 8, 8))
    assert network.training
    assert [(each.name, each.inputs) for each in found.layers] == [
        ("features", ("picture",)), ("add_on_layers.0", ("features",)), ("add_on_layers.1", ("add_on_layers.0",)),
    ]  # fmt: skip
    assert found.output_shape == (8, 4, 4)


class Calls(nn.Module):
    def __init__(self, change: Callable[[Tensor, nn.Module], Tensor]) -> None:
        super().__init__()
        self.conv, self.change = nn.Conv2d(3, 3, 3, padding=1), change
        self.gain = nn.Parameter(torch.ones(3, 3, 3, 3))

    def forward(self, images: Tensor) -> Tensor:
        return self.change(self.conv(images), self)


def hooked() -> nn.Module:
    module = nn.Conv2d(3, 3, 1)
    module.register_forward_hook(lambda module, given, made: made + 1)
    return nn.Sequential(module)


class Scaled(nn.Conv2d):
    def forward(self, images: Tensor) -> Tensor:
        return 2 * super().forward(images)


REFUSED: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "activation": (lambda: nn.Sequential(nn.Conv2d(3, 3, 1), nn.GELU()), r"layer '1': \(torch.nn.*GELU\) is not known"),
    "transposed": (lambda: nn.ConvTranspose2d(3, 3, 2), r"ConvTranspose2d\) is not known; write it with convolutions"),
    "reflected": (lambda: nn.Sequential(nn.Conv2d(3, 3, 3, padding=1, padding_mode="reflect")), "pads with 'reflect'"),
    "uneven": (lambda: nn.Conv2d(3, 3, (2, 3), padding="same"), "pads one side more than the other"),
    "no statistics": (lambda: nn.BatchNorm2d(3, track_running_stats=False), "it needs running statistics"),
    "ceil": (lambda: nn.MaxPool2d(5, 3, ceil_mode=True), "ceil_mode"),
    "dilated maximum": (lambda: nn.MaxPool2d(2, 1, dilation=2), "a dilation"),
    "uncounted": (lambda: nn.AvgPool2d(2, padding=1, count_include_pad=False), "padding that does not count"),
    "divisor": (lambda: nn.AvgPool2d(2, divisor_override=3), "a divisor of its own"),
    "no multiple": (lambda: nn.AdaptiveAvgPool2d((5, 5)), "neither a multiple of the other"),
    "linear on channels": (lambda: nn.Linear(10, 3), "flatten them first"),
    "bilinear": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), "not 'nearest'"),
    "slope": (lambda: nn.LeakyReLU(-0.5), "not one from 0 to 1"),
    "hook": (hooked, "has hooks"),
    "subclass": (lambda: nn.Sequential(Scaled(3, 3, 1)), "mul"),
    "constant": (lambda: Calls(lambda made, module: made + 1.0), "adds something else than two outputs of layers"),
    "scaled sum": (lambda: Calls(lambda made, module: torch.add(made, made, alpha=2)), "adds something else"),
    "own weights": (lambda: Calls(lambda made, module: functional.conv2d(made, module.gain * 2)), r"\(mul\) is not"),
    "along rows": (lambda: Calls(lambda made, module: torch.cat([made, made], 2)), "not along the channels"),
    "by chance": (lambda: Calls(lambda made, module: functional.dropout(made)), "drops numbers by chance"),
    "batch": (lambda: Calls(lambda made, module: functional.batch_norm(made, None, None, training=True)), "batch"),
    "two outputs": (lambda: Calls(lambda made, module: (made, made)), "is not one tensor"),
    "three dimensions": (lambda: Calls(lambda made, module: made.flatten(2)), r"only \(N, C, H, W\) to \(N, C H W\)"),
    "nothing": (nn.Identity, "is the picture itself"),
    "half": (lambda: nn.Conv2d(3, 3, 1).half(), r"call model.float\(\) first"),
    "not finite": (lambda: Calls(lambda made, module: functional.conv2d(made, module.gain)), "finite"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_known_is_refused_by_name(case: str) -> None:
    make, expected = REFUSED[case]
    module = make().eval()
    if case == "not finite":
        module.gain.data[0, 0, 0, 0] = torch.inf
    with pytest.raises(NetworkError, match=expected):
        export_network(module, None, SHAPE)


def test_a_module_that_mixes_writing_in_place_is_frozen_as_it_computes() -> None:
    """The rectifier writes over what the sum reads."""
    module = Calls(lambda made, module: made.relu_() + made).eval()
    network = export_network(module, None, SHAPE)
    assert [each.inputs for each in network.layers] == [("picture",), ("conv",), ("relu_", "relu_")]


def test_what_is_no_network_is_refused() -> None:
    with pytest.raises(UsageError, match="expected a torch module"):
        export_network("model", None, SHAPE)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="layer 'add' is unknown"):
        export_network(OwnNetwork(), "add", (3, 8, 8))
    with pytest.raises(InputError, match="cannot be traced"):
        export_network(Calls(lambda made, module: made if made.sum() > 0 else -made), None, SHAPE)
    with pytest.raises(InputError, match="cannot be traced"):
        export_network(nn.Conv2d(1, 1, 1), None, SHAPE)


def changed(network: FrozenNetwork, name: str) -> FrozenNetwork:
    """The network with the last bit of one weight of a layer changed."""
    layers = []
    for layer in network.layers:
        if layer.name == name:
            weight = layer.operation.weight.clone()
            weight.view(-1)[0] = torch.nextafter(weight.view(-1)[0], torch.tensor(torch.inf, dtype=weight.dtype))
            layer = replace(layer, operation=replace(layer.operation, weight=weight))
        layers.append(layer)
    return replace(network, layers=tuple(layers), _digest=None)


@pytest.mark.parametrize("name", ["4", "2"])
def test_the_first_layer_that_differs_is_named(name: str) -> None:
    module = nn.Sequential(
        nn.Conv2d(3, 2, 3), nn.ReLU(), nn.Conv2d(2, 2, 3), nn.ReLU(), nn.Conv2d(2, 2, 1), nn.Sigmoid()
    ).eval()
    found = frozen(module, None, SHAPE, MEAN, STD)
    images = found.network.normalised(random_pictures(2))
    assert first_difference(found, found.network, images) is None
    other = changed(found.network, name)
    difference = first_difference(found, other, images)
    assert difference is not None and difference.layer == name and difference.size and difference.off > 0
    assert "numbers differ by up to" in str(difference)


def test_another_networks_layers_are_noticed() -> None:
    found = frozen(random_module("residual"), None, SHAPE, MEAN, STD)
    images = found.network.normalised(random_pictures(1))
    difference = first_difference(found, frozen_network("dense"), images)
    assert difference is not None and str(difference) == "the module has no such layer"
