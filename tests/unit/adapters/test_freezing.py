"""Networks are frozen with their own numbers; what is not known is refused by name."""

from __future__ import annotations

import math
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
from verale.checker.errors import UnprovedError
from verale.checker.network.enclosure import Enclosure as Enclosed
from verale.checker.options import load_arithmetic
from verale.checker.read.network_file import read_network
from verale.checker.read.pictures import Picture
from verale.errors import InputError, NetworkError, UsageError
from verale.head import as_patches
from verale.network import FrozenNetwork
from verale.network.layers import OPERATIONS, Convolution
from verale.search.through import ThroughNetwork

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
    module, held = random_module("one layer"), frozen_network("one layer").layers[0].operation  # nothing is folded
    assert held.magnitude is None and held.weight.dtype == torch.float32 and torch.equal(held.weight, module.weight)


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
        self.gain, self.places = nn.Parameter(torch.ones(3, 3, 3, 3)), nn.Parameter(torch.ones(12, 10))

    def forward(self, images: Tensor) -> Tensor:
        return self.change(self.conv(images), self)


def hooked() -> nn.Module:
    module = nn.Conv2d(3, 3, 1)
    module.register_forward_hook(lambda module, given, made: made + 1)
    return nn.Sequential(module)


class Scaled(nn.Conv2d):
    def forward(self, images: Tensor) -> Tensor:
        return 2 * super().forward(images)


def with_norm(epsilon: float = 1e-5, kind: torch.dtype = torch.float32, **numbers: float) -> nn.Module:
    """A convolution and a batch normalisation with these numbers."""
    torch.manual_seed(0)
    norm = nn.BatchNorm2d(4, eps=epsilon)
    module = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), norm, nn.ReLU(), nn.Conv2d(4, 2, 1), nn.Sigmoid()).to(kind)
    for name, number in numbers.items():
        getattr(norm, name).data.fill_(number)
    return module.eval().requires_grad_(False)


UNCLAIMED: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "epsilon": (
        lambda: with_norm(1e-45, running_var=0.0, weight=1e-20),
        "'1': its eps, 1e-45, is below 2^-64 in float32",
    ),
    "a little": (lambda: with_norm(2.0**-64 * (1 - 2.0**-24)), "'1': its eps, 5.42101e-20, is below 2^-64 in float32"),
    "mean": (lambda: with_norm(running_mean=1e10), "'1': its running_mean has numbers of up to 1e+10, beyond 2^32"),
    "factor": (
        lambda: with_norm(1e-19, running_var=0.0, weight=10.0),
        "'1': its factor has numbers of up to 3.16e+10, beyond 2^32",
    ),
    "double": (
        lambda: with_norm(kind=torch.float64, bias=0.1),
        "'1': its bias has numbers that are no float32: export the network that runs, after model.float()",
    ),
    "double before": (
        lambda: with_norm(kind=torch.float64).apply(lambda each: isinstance(each, nn.Conv2d) and thirds(each)),
        "'1': its weight of the layer before has numbers that are no float32",
    ),
    "alone": (lambda: nn.Sequential(nn.ReLU(), nn.BatchNorm2d(3, eps=0.0)), "'1': its eps, 0, is below 2^-64"),
}  # fmt: skip


def thirds(module: nn.Module) -> None:
    module.weight.data.fill_(1 / 3)  # type: ignore[union-attr, operator]


def test_layers_that_float32_claims_exclude_are_told_at_once(caplog: pytest.LogCaptureFixture) -> None:
    export_network(nn.Sequential(nn.Hardswish(), nn.Conv2d(3, 2, 1), nn.Hardswish()).eval(), None, SHAPE)
    (told,) = [record.getMessage() for record in caplog.records]
    assert "network layer '0': it divides by 6" in told and "(2 layers are such); so nothing is claimed" in told


@pytest.mark.parametrize("case", UNCLAIMED)
def test_what_float32_claims_exclude_is_told_and_the_file_says_so(case: str, caplog: pytest.LogCaptureFixture) -> None:
    """Search and checker refuse a claim in binary32, and prove one in real arithmetic."""
    make, expected = UNCLAIMED[case]
    module = make().eval()
    network = FrozenNetwork.from_bytes(export_network(module, None, SHAPE).to_bytes())
    (told,) = [record.getMessage() for record in caplog.records]
    assert told.startswith(f"network layer {expected}")
    assert told.endswith("nothing is claimed of the network in float32, in real arithmetic alone")
    with pytest.raises(NetworkError, match="a batch normalisation folded in of which nothing is claimed in float32"):
        ThroughNetwork(network, "float32")
    (picture,) = random_pictures(1)
    pixels = Picture(SHAPE, bytes(picture.flatten().tolist()))
    with pytest.raises(UnprovedError, match=r"of the layer \d nothing is claimed: its magnitude or its weight"):
        Enclosed(read_network(network.to_bytes()), load_arithmetic("arb"), "float32").latents(pixels)
    ends = ThroughNetwork(network).ranges(picture).ends
    assert float((ends.upper - ends.lower).max()) < 1e-9


@pytest.mark.parametrize("change", [{}, {"weight": 0.0}, {"running_var": 1e-44}, {"bias": 1e-40}, {"weight": 1e9}])
def test_float32_lies_in_what_is_claimed(change: dict[str, float], caplog: pytest.LogCaptureFixture) -> None:
    module = with_norm(**change)
    network = export_network(module, None, SHAPE)
    assert not caplog.records
    picture = random_pictures(1)
    ends = ThroughNetwork(network, "float32").ranges(picture[0]).ends
    with torch.no_grad():
        given = as_patches(module(picture.float() / 255))[0].double()
    assert bool(((ends.lower <= given) & (given <= ends.upper)).all())


def huge() -> nn.Module:
    module = nn.Sequential(nn.Conv2d(3, 3, 1), nn.Conv2d(3, 3, 1)).double()
    for each in module.parameters():
        each.data.fill_(1e200)
    return module


REFUSED: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "activation": (lambda: nn.Sequential(nn.Conv2d(3, 3, 1), nn.Mish()), r"layer '1': \(torch.nn.*Mish\) is not known"),
    "transposed": (lambda: nn.ConvTranspose2d(3, 3, 2), r"ConvTranspose2d\) is not known: train the"),
    "reflected": (lambda: nn.Sequential(nn.Conv2d(3, 3, 3, padding=1, padding_mode="reflect")), "pads with 'reflect'"),
    "no statistics": (lambda: nn.BatchNorm2d(3, track_running_stats=False), "train it with running statistics"),
    "ceil": (lambda: nn.MaxPool2d(5, 3, ceil_mode=True), "ceil_mode"),
    "dilated maximum": (lambda: nn.MaxPool2d(2, 1, dilation=2), "a dilation"),
    "no multiple": (lambda: nn.AdaptiveAvgPool2d((5, 5)), "neither a multiple of the other"),
    "linear on channels": (lambda: nn.Linear(10, 3), "flatten them first"),
    "bilinear": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), "not 'nearest'"),
    "hook": (hooked, "has hooks"),
    "infinite": (lambda: Calls(lambda made, module: made + math.inf), "meets something else than outputs of layers"),
    "places": (lambda: Calls(lambda made, module: made * module.places), "meets numbers of places, not of channels"),
    "own weights": (lambda: Calls(lambda made, module: functional.conv2d(made, module.gain * 2)), "no output"),
    "along rows": (lambda: Calls(lambda made, module: torch.cat([made, made], 2)), "not along the channels"),
    "by chance": (lambda: Calls(lambda made, module: functional.dropout(made)), "drops numbers by chance"),
    "batch": (lambda: Calls(lambda made, module: functional.batch_norm(made, None, None, training=True)), "batch"),
    "two outputs": (lambda: Calls(lambda made, module: (made, made)), "is not one tensor"),
    "three dimensions": (lambda: Calls(lambda made, module: made.flatten(2)), "have no sequences of patches"),
    "nothing": (nn.Identity, "is the picture itself"),
    "NaN": (lambda: with_norm(running_mean=torch.nan), r"layer '1': .*BatchNorm2d\) has a running_mean with NaN"),
    "no variance": (lambda: with_norm(0.0, running_var=0.0), "a running_var plus eps of 0, expected one above 0"),
    "negative": (lambda: with_norm(running_var=-1.0), "a running_var plus eps of -0.99999, expected one above 0"),
    "beyond float64": (huge, "layer '1': gives numbers beyond float64 for a random picture: scale"),
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


def test_a_subclass_is_frozen_as_it_computes() -> None:
    module, pictures = Scaled(3, 3, 1).double().eval(), random_pictures(1)
    latents = export_network(module, None, SHAPE).latents(pictures)
    torch.testing.assert_close(latents, module(pictures.double() / 255).detach(), rtol=1e-12, atol=1e-12)


def test_a_module_that_mixes_writing_in_place_is_frozen_as_it_computes() -> None:
    """The rectifier writes over what the sum reads."""
    module = Calls(lambda made, module: made.relu_() + made).eval()
    network = export_network(module, None, SHAPE)
    assert [each.inputs for each in network.layers] == [("picture",), ("conv",), ("relu_", "relu_")]


def test_names_that_no_file_has_are_written_otherwise() -> None:
    module = nn.Sequential()
    for name in ("block-0", "block_0", "größe"):
        module.add_module(name, nn.ReLU())
    assert [each.name for each in export_network(module, None, SHAPE).layers] == ["block_0", "block_0_1", "gr__e"]


def test_what_is_no_network_is_refused() -> None:
    with pytest.raises(UsageError, match="expected a torch module"):
        export_network("model", None, SHAPE)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="layer 'add' is unknown"):
        export_network(OwnNetwork(), "add", (3, 8, 8))
    branching = nn.Sequential(nn.ReLU(), Calls(lambda made, module: made if made.sum() > 0 else -made))
    told = r"cannot be traced, in its layer 1 \(.*Calls\) \(.*\): write what it does without branches, loops"
    with pytest.raises(InputError, match=told):
        export_network(branching, None, SHAPE)
    with pytest.raises(InputError, match=r"in its layer 1.1 \(torch.*Conv2d\) \(RuntimeError: .*channels"):
        export_network(nn.Sequential(nn.ReLU(), nn.Sequential(nn.ReLU(), nn.Conv2d(1, 1, 1))), None, SHAPE)
    with pytest.raises(InputError, match=r"in its layer 1 \(.*Calls\) \(RuntimeError: .*size"):
        export_network(nn.Sequential(nn.ReLU(), Calls(lambda made, module: made + torch.ones(7))), None, SHAPE)


def changed(network: FrozenNetwork, name: str) -> FrozenNetwork:
    """The network with the last bit of one weight of a layer changed."""
    layers = []
    for layer in network.layers:
        if layer.name == name:
            weight = layer.operation.weight.clone()
            weight.view(-1)[0] = torch.nextafter(weight.view(-1)[0], torch.tensor(torch.inf, dtype=weight.dtype))
            layer = replace(layer, operation=replace(layer.operation, weight=weight))
        layers.append(layer)
    return replace(network, layers=tuple(layers))


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
