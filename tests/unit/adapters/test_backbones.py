"""Backbones that do what timm's do: latents by a layer's name, certificates, receptive fields where they are known."""

from __future__ import annotations

import json

import torch
from torch import Tensor, nn

import verale


class Tokens(nn.Module):
    """A transformer as timm's: a class token before the image's, and sizes that are checked as the model runs."""

    num_features, num_prefix_tokens = 12, 1

    def __init__(self) -> None:
        super().__init__()
        self.patch_embed = nn.Conv2d(3, 12, 8, stride=8)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, 12))
        self.blocks = nn.Sequential(nn.TransformerEncoderLayer(12, 2, 24, batch_first=True))

    def forward_features(self, images: Tensor) -> Tensor:
        if images.shape[2] != 32:
            raise ValueError(f"height is {images.shape[2]}, expected 32")
        patches = self.patch_embed(images).flatten(2).transpose(1, 2)
        return self.blocks(torch.cat([self.cls_token.expand(len(patches), -1, -1), patches], 1))


class Convolutions(nn.Module):
    """A convolutional backbone with a normalisation by means, which no window bounds."""

    num_features, num_prefix_tokens = 12, 0

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 12, 8, stride=8)

    def forward_features(self, images: Tensor) -> Tensor:
        features = self.stem(images)
        return features * torch.sigmoid(features.mean((2, 3), keepdim=True))


class OnBackbone(nn.Module):
    """A ProtoPNet on the features of a backbone: a grid, or the tokens after the prefix."""

    def __init__(self, features: nn.Module) -> None:
        super().__init__()
        self.features, self.prefix = features, getattr(features, "num_prefix_tokens", 0)
        layer = nn.Linear(features.num_features, 8) if self.prefix else nn.Conv2d(features.num_features, 8, 1)
        self.add_on_layers = nn.Sequential(layer, nn.Sigmoid())
        self.prototype_vectors = nn.Parameter(torch.rand(6, 8, 1, 1))
        self.last_layer = nn.Linear(6, 3, bias=False)

    def forward(self, images: Tensor) -> Tensor:
        features = self.features.forward_features(images)
        latents = self.add_on_layers(features[:, self.prefix :] if self.prefix else features)
        patches = latents if self.prefix else latents.flatten(2).transpose(1, 2)
        least = torch.cdist(patches, self.prototype_vectors.flatten(1)).square().amin(1)
        return self.last_layer(torch.log((least + 1) / (least + 1e-4)))


def explained(features: nn.Module, size: int, out) -> tuple[verale.Head, dict]:
    """Explain two images, audit the certificates; the head, and what `source.json` says."""
    network = OnBackbone(features)
    verale.explain_model(network, "add_on_layers", torch.rand(2, 3, size, size), arch="protopnet", out=out)
    certificates = sorted(out.glob("*.ale.json"))
    assert len(certificates) == 2
    for certificate in certificates:
        verdict = verale.audit(certificate, out / "head.safetensors", latents=out / "latents.safetensors")
        assert verdict.status.value == "PROVED"
    return verale.Head.load(out / "head.safetensors"), json.loads((out / "source.json").read_text())


def test_tokens_of_a_transformer_are_patches_without_receptive_fields(tmp_path):
    torch.manual_seed(0)
    head, source = explained(Tokens(), 32, tmp_path)
    assert verale.load_latents(tmp_path / "latents.safetensors").shape == (2, 16, 8) and head.depth == 8
    assert source.get("receptive_fields") is None


def test_what_depends_on_the_whole_image_is_named(tmp_path):
    torch.manual_seed(0)
    _, source = explained(Convolutions(), 32, tmp_path)
    assert source["receptive_fields"]["unknown"] == ["mean"]
