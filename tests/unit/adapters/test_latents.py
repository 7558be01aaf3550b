"""Latents by a hook: what the layer gave, and a model that is left as it was."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from verale.adapters import capture
from verale.adapters.latents import capture_and_run, in_float32
from verale.errors import LatentsError, UsageError


class Network(nn.Module):
    """Layers that give all sorts of things."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 6, 2), nn.BatchNorm2d(6), nn.Dropout(0.5))
        self.add_on_layers = nn.Sequential(nn.Conv2d(6, 4, 1), nn.Sigmoid())
        self.tokens = nn.Flatten(2)
        self.pair = nn.LSTM(9, 2, batch_first=True)
        self.unused = nn.Identity()
        self.twice = nn.Hardtanh(0.0, 0.5)
        self.again = nn.Identity()
        self.head = nn.Linear(4, 3)

    def forward(self, images, scale=1.0):
        latents = self.add_on_layers(self.features(images)) * scale
        latents = self.again(self.again(latents))
        self.twice(self.twice(latents[:, :, :1, :1]) + latents)
        self.pair(self.tokens(latents))
        return self.head(latents.amax((2, 3)))


@pytest.fixture
def images():
    return torch.rand(2, 3, 4, 4, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def network():
    torch.manual_seed(0)
    return Network().train()


def test_what_the_layer_gives_in_evaluation_mode(network, images):
    latents = capture(network, "add_on_layers", images)
    network.eval()
    expected = network.add_on_layers(network.features(images))
    assert torch.equal(latents, expected) and latents.shape == (2, 4, 3, 3)
    assert latents.dtype == torch.float32 and not latents.requires_grad


def test_tokens_inner_layers_and_several_arguments(network, images):
    tokens = capture(network, "tokens", (images, 2.0))
    assert tokens.shape == (2, 4, 9)
    assert torch.equal(tokens, 2 * capture(network, "add_on_layers.1", images).flatten(2))


def test_a_layer_that_is_called_twice(network, images):
    """As ProtoPFormer's add-on, for the class token and for the image tokens; a cache gives the same tensor again."""
    twice = capture(network, "twice", images, calls=2)
    latents = capture(network, "again", images)
    token = latents[:, :, :1, :1].clamp(0, 0.5)
    expected = torch.cat([token.flatten(2), (token + latents).clamp(0, 0.5).flatten(2)], dim=2).transpose(1, 2)
    assert torch.equal(twice, expected) and twice.shape == (2, 10, 4)
    assert torch.equal(latents, capture(network, "add_on_layers", images))


def test_a_layer_behind_that_works_in_place(images):
    model = nn.Sequential(nn.Conv2d(3, 4, 1), nn.ReLU(inplace=True))
    assert torch.equal(capture(model, "0", images), model[0](images)) and (model[0](images) < 0).any()


def test_precision(network, images):
    assert capture(network.double(), "add_on_layers", images.double()).dtype == torch.float64
    assert capture(network.bfloat16(), "add_on_layers", images.bfloat16()).dtype == torch.float32


def test_the_model_is_left_as_it_was(network, images):
    network.features[1].eval()  # frozen, as in fine-tuning
    flags = {name: module.training for name, module in network.named_modules()}
    state = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    capture(network, "features", images)
    with pytest.raises(UsageError, match=r"the model does not take inputs \(2, 2, 4, 4\) \(RuntimeError: Given groups"):
        capture(network, "features", images[:, :2])
    assert {name: module.training for name, module in network.named_modules()} == flags
    assert all(torch.equal(tensor, state[name]) for name, tensor in network.state_dict().items())
    assert not any(module._forward_hooks for module in network.modules())


@pytest.mark.parametrize(
    ("layer", "error", "message"),
    [
        ("add_on_layer", UsageError, "'add_on_layer' is unknown, .*add_on_layers"),
        ("xyz", UsageError, "features, add_on_layers, tokens"),
        ("unused", LatentsError, "called 0 times, expected 1"),
        ("twice", LatentsError, "called 2 times, expected 1: name another, or set calls"),
        ("pair", LatentsError, "returns a tuple, expected a tensor"),
        ("head", LatentsError, r"returns \(2, 3\) torch.float32, expected floats \(N, D, H, W\) or \(N, L, D\)"),
    ],
)
def test_layers_that_give_no_latents(network, images, layer, error, message):
    with pytest.raises(error, match=message):
        capture(network, layer, images)


def test_the_output_of_the_same_pass_comes_with_the_latents(network, images):
    latents, output = capture_and_run(network, "add_on_layers", images)
    assert torch.equal(latents, capture(network, "add_on_layers", images))
    network.eval()
    assert torch.equal(output, network(images))


def test_float32_is_computed_as_such_and_settings_are_put_back():
    backends = (torch.backends.cuda.matmul, torch.backends.cudnn)
    before = [backend.allow_tf32 for backend in backends]
    try:
        for backend in backends:
            backend.allow_tf32 = True
        with torch.autocast("cpu", torch.bfloat16), in_float32():
            assert not any(backend.allow_tf32 for backend in backends)
            assert (torch.rand(2, 2) @ torch.rand(2, 2)).dtype == torch.float32
        assert all(backend.allow_tf32 for backend in backends)
    finally:
        for backend, flag in zip(backends, before, strict=True):
            backend.allow_tf32 = flag
