"""Receptive fields: the hull of what a changed pixel changes; no wider, no narrower."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import verale
from verale.adapters.receptive_field import receptive_fields
from verale.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.long = nn.Sequential(nn.Conv2d(2, 3, 3, padding=1), nn.ReLU(), nn.Conv2d(3, 3, 5, padding=2))
        self.short = nn.Conv2d(2, 3, 1)

    def forward(self, images: Tensor) -> Tensor:
        return functional.relu(self.long(images) + self.short(images))


class Joined(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.wide, self.tall = nn.Conv2d(2, 2, (1, 5), padding=(0, 2)), nn.Conv2d(2, 2, (3, 1), padding=(1, 0))

    def forward(self, images: Tensor) -> Tensor:
        return torch.cat([self.wide(images), self.tall(images)], dim=1)


class Normalised(nn.Module):
    """Along the axis, by default that of the channels; then joined with itself along the other one."""

    def __init__(self, axis: int = 1, joint: int = 1) -> None:
        super().__init__()
        self.convolution, self.axis, self.joint = nn.Conv2d(2, 2, 3), axis, joint

    def forward(self, images: Tensor) -> Tensor:
        found = functional.normalize(self.convolution(images), dim=self.axis)
        return torch.cat([found, found], self.joint)


class Squeezed(nn.Module):
    """Each channel is scaled by what the whole image says."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution, self.pooling, self.gate = nn.Conv2d(2, 2, 3), nn.AdaptiveAvgPool2d(1), nn.Conv2d(2, 2, 1)

    def forward(self, images: Tensor) -> Tensor:
        found = self.convolution(images)
        return found * self.gate(self.pooling(found))


class Means(nn.Module):
    """A normalisation by means, which no window bounds."""

    def forward(self, images: Tensor) -> Tensor:
        return images * torch.sigmoid(images.mean((2, 3), keepdim=True))


class Calls(nn.Module):
    """Functions where others have modules."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution, self.weight = nn.Conv2d(2, 2, 3), nn.Parameter(torch.zeros(2, 2, 2, 3))
        self.register_buffer("mean", torch.zeros(2))
        self.register_buffer("spread", torch.ones(2))

    def forward(self, images: Tensor) -> Tensor:
        found = functional.avg_pool2d(functional.relu(self.convolution(images)), 2, stride=1)
        found = functional.batch_norm(found, self.mean, self.spread)
        found = functional.conv2d(found, self.weight, stride=2, padding="valid", dilation=(1, 2))
        return functional.adaptive_avg_pool2d(found, (3, 4)).softmax(1)


class Maxima(nn.Module):
    def forward(self, images: Tensor) -> Tensor:
        found = functional.max_pool2d(images, 3, padding=1)
        return torch.max_pool2d(found, 2, stride=1, dilation=2)


class Published(nn.Module):
    """Layers whose output a head receives, and a head that cannot be traced."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(2, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.add_on = nn.Sequential(nn.Conv2d(3, 2, 1), nn.Sigmoid())
        self.unused = nn.Identity()

    def forward(self, images: Tensor) -> Tensor:
        try:
            latents = self.add_on(self.features(images))
            if latents.max() > 0:
                latents = latents + 1
        except Exception:
            latents = images
        return latents.flatten(1)


class PaddedByCall(nn.Module):
    """Padding that follows from the image's size, as that of timm's `tf_` models."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 4, stride=3)

    def forward(self, images: Tensor) -> Tensor:
        rows, columns = (-each % 3 + 1 for each in images.shape[2:])
        return self.conv(functional.pad(functional.pad(images, (0, -1)), (columns, 0, rows // 2, rows)))


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "one pixel": lambda: nn.Conv2d(2, 3, 1),
    "valid": lambda: nn.Conv2d(2, 3, 3),
    "strided and padded": lambda: nn.Conv2d(2, 3, 5, stride=2, padding=3),
    "dilated": lambda: nn.Conv2d(2, 3, 3, dilation=3, padding=2),
    "same, even": lambda: nn.Conv2d(2, 3, (4, 2), padding="same"),
    "rows unlike columns": lambda: nn.Conv2d(2, 3, (3, 5), stride=(1, 2), padding=(1, 0), dilation=(2, 1)),
    "zeros around": lambda: nn.Sequential(nn.ZeroPad2d((2, 0, 1, 2)), nn.Conv2d(2, 3, 3)),
    "cut and padded": PaddedByCall,
    "grouped": lambda: nn.Conv2d(2, 4, 3, groups=2),
    "pooled": lambda: nn.Sequential(
        nn.Conv2d(2, 3, 3, padding=1), nn.BatchNorm2d(3), nn.AvgPool2d(2), nn.Conv2d(3, 2, 3)
    ),
    "pooled to a size": lambda: nn.Sequential(nn.Conv2d(2, 3, 3), nn.AdaptiveAvgPool2d((4, 7))),
    "maxima": lambda: nn.Sequential(nn.MaxPool2d(3, 2, 1), nn.ReLU(), nn.MaxPool2d(2, 3, ceil_mode=True)),
    "dilated maxima": lambda: nn.MaxPool2d(2, 1, dilation=4),
    "residual": Residual,
    "joined": Joined,
    "squeezed": Squeezed,
    "normalised": Normalised,
    "calls": Calls,
    "maxima, called": Maxima,
    "seven layers": lambda: nn.Sequential(
        *(layer for _ in range(2) for layer in (nn.Conv2d(2, 2, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2, 2))),
        nn.Conv2d(2, 2, 1),
    ),
    "unknown": lambda: nn.Sequential(nn.Conv2d(2, 3, 3), nn.GroupNorm(1, 3)),
}
SIZE = (17, 22)


def positive(network: nn.Module) -> nn.Module:
    """Weights above 0: nothing cancels, and no unit is off where the image is above 0."""
    torch.manual_seed(0)
    for parameter in network.parameters():
        nn.init.uniform_(parameter, 0.5, 1.0)
    return network.double().eval()


def changed(network: nn.Module, size: tuple[int, int], channels: int) -> Tensor:
    """(h, w, H, W): whether a pixel that grows much changes the latent at (i, j)."""
    height, width = size
    pixels = torch.eye(height * width, dtype=torch.float64).reshape(-1, 1, height, width)
    with torch.no_grad():
        before = network(torch.ones(1, channels, *size, dtype=torch.float64))
        after = network(1 + 1e3 * pixels.expand(-1, channels, -1, -1))
    return (after != before).any(1).permute(1, 2, 0).unflatten(2, (height, width))


def hull(mask: Tensor) -> tuple[int, int, int, int]:
    rows, columns = mask.any(1).nonzero().flatten().tolist(), mask.any(0).nonzero().flatten().tolist()
    return (columns[0], rows[0], columns[-1] + 1, rows[-1] + 1) if rows else (0, 0, 0, 0)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_field_is_the_hull_of_what_a_changed_pixel_changes(name: str) -> None:
    network = positive(NETWORKS[name]())
    fields = receptive_fields(network, SIZE, 2)
    found = changed(network, SIZE, 2)
    assert (len(fields.rows), len(fields.columns)) == tuple(found.shape[:2])
    for row in range(found.shape[0]):
        for column in range(found.shape[1]):
            assert fields.box(row, column) == hull(found[row, column]), (row, column)


def resnet() -> nn.Module:
    from torchvision.models import resnet18  # takes more than a second

    return resnet18(weights=None)


def test_a_deep_network_sees_the_whole_image() -> None:
    network = resnet().eval()
    fields = receptive_fields(nn.Sequential(*list(network.children())[:-2]).eval(), (64, 64))
    assert fields.whole and fields.unknown == ()
    assert fields.box(1, 0) == (0, 0, 64, 64)


def test_what_is_not_known_is_named_and_sees_everything() -> None:
    fields = receptive_fields(positive(NETWORKS["unknown"]()), SIZE, 2)
    assert fields.whole and fields.unknown == ("1",)
    for axis, joint, unknown in ((2, 1, "normalize"), (1, 2, "cat")):
        assert receptive_fields(Normalised(axis, joint).eval(), SIZE, 2).unknown == (unknown,)
    assert receptive_fields(Means().eval(), SIZE, 2).record()["unknown"] == ["mean"]
    twice = nn.Sequential(Normalised(2), nn.Conv2d(4, 2, 1), Normalised(2)).eval()
    assert receptive_fields(twice, SIZE, 2).unknown == ("normalize",)
    reflected = nn.Conv2d(2, 2, 3, padding=1, padding_mode="reflect").eval()
    assert receptive_fields(nn.Sequential(reflected).eval(), SIZE, 2).unknown == ("0",)


def test_what_comes_after_the_layer_is_not_looked_at() -> None:
    network = Published().eval()
    attributes = set(vars(network))
    fields = receptive_fields(network, SIZE, 2, "add_on")
    expected = receptive_fields(nn.Sequential(network.features, network.add_on).eval(), SIZE, 2)
    assert fields == expected and not fields.whole and set(vars(network)) == attributes
    assert receptive_fields(network, SIZE, 2, "features.0").box(5, 5) == (4, 4, 7, 7)
    for layer in ("unused", "add_on.2"):
        with pytest.raises(InputError, match="cannot be traced"):
            receptive_fields(network, SIZE, 2, layer)


def test_patches_of_padding_alone_see_nothing() -> None:
    fields = receptive_fields(nn.Conv2d(1, 1, 1, padding=1).eval(), (2, 2), 1)
    assert fields.rows == ((0, 0), (0, 1), (1, 2), (0, 0))
    twice = nn.Sequential(nn.Conv2d(1, 1, 1, padding=1), nn.Conv2d(1, 1, 3, padding=1)).eval()
    assert receptive_fields(twice, (2, 2), 1).rows == ((0, 1), (0, 2), (0, 2), (1, 2))


def test_a_network_in_training_or_without_a_grid_is_refused() -> None:
    """And one that takes other images."""
    with pytest.raises(InputError, match="training mode"):
        receptive_fields(nn.Conv2d(3, 3, 1), SIZE)
    with pytest.raises(InputError, match="no grid"):
        receptive_fields(nn.Sequential(nn.Conv2d(3, 3, 1), nn.Flatten()).eval(), SIZE)
    with pytest.raises(InputError, match="cannot be traced"):
        receptive_fields(nn.Conv2d(4, 3, 1).eval(), SIZE)


class Tokens(nn.Module):
    """A ProtoPNet on a transformer as timm's: a class token before the image's, and sizes that are checked as the model
    runs; latents are the tokens after it."""

    def __init__(self) -> None:
        super().__init__()
        self.patch_embed = nn.Conv2d(3, 12, 8, stride=8)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, 12))
        self.blocks = nn.Sequential(nn.TransformerEncoderLayer(12, 2, 24, batch_first=True))
        self.add_on_layers = nn.Sequential(nn.Linear(12, 8), nn.Sigmoid())
        self.prototype_vectors = nn.Parameter(torch.rand(6, 8, 1, 1))
        self.last_layer = nn.Linear(6, 3, bias=False)

    def forward(self, images: Tensor) -> Tensor:
        if images.shape[2] != 32:
            raise ValueError(f"height is {images.shape[2]}, expected 32")
        patches = self.patch_embed(images).flatten(2).transpose(1, 2)
        tokens = self.blocks(torch.cat([self.cls_token.expand(len(patches), -1, -1), patches], 1))
        apart = torch.cdist(self.add_on_layers(tokens[:, 1:]), self.prototype_vectors.flatten(1))
        least = apart.square().amin(1)
        return self.last_layer(torch.log((least + 1) / (least + 1e-4)))


def test_tokens_of_a_transformer_are_patches_without_receptive_fields(tmp_path):
    torch.manual_seed(0)
    verale.explain_model(Tokens(), "add_on_layers", torch.rand(2, 3, 32, 32), arch="protopnet", out=tmp_path)
    certificates = sorted(tmp_path.glob("*.ale.json"))
    assert len(certificates) == 2
    for certificate in certificates:
        verdict = verale.audit(certificate, tmp_path / "head.safetensors", latents=tmp_path / "latents.safetensors")
        assert verdict.status.value == "PROVED"
    assert verale.load_latents(tmp_path / "latents.safetensors").shape == (2, 16, 8)
    assert json.loads((tmp_path / "source.json").read_text()).get("receptive_fields") is None
