"""PrototypeDL from whole files: its encoder, its decoder and its head compute what the saved network computes."""

from __future__ import annotations

import pytest
import torch
from support.prototypedl import SIDE, hierarchy, save_whole, small
from torch import nn

from verale.adapters import load_model, load_published
from verale.adapters.published.prototypedl import Autoencoder
from verale.errors import HeadError, InputError, LatentsError, UsageError
from verale.head import evaluate

IMAGES = torch.rand(70, 1, SIDE, SIDE, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("zipped", [False, True])
def test_it_computes_what_the_saved_network_computes(zipped, tmp_path):
    path, model = tmp_path / "model.pth", small()
    save_whole(model, path, zipped)
    with pytest.raises((ModuleNotFoundError, AttributeError)):
        torch.load(path, weights_only=False)
    encoded, decoded, logits = model(IMAGES)
    network = Autoencoder(load_model(path))
    latents = network.latents(IMAGES)
    assert network.shape == (1, SIDE, SIDE) and latents.shape == (70, 1, 8)
    torch.testing.assert_close(latents, encoded.flatten(1)[:, None])
    torch.testing.assert_close(network.pictures(latents[:, 0]), decoded)
    prototypes = model.prototype.prototypes.unflatten(1, (2, 2, 2))
    torch.testing.assert_close(network.pictures(), model.decoder(prototypes))
    evaluation = evaluate(load_published(path, "prototypedl"), latents)
    torch.testing.assert_close(evaluation.logits.float(), logits, rtol=1e-4, atol=1e-4)
    assert evaluation.logits.std(0).min() > 1e-3, "the images differ"


@pytest.mark.parametrize(("level", "place"), [("super", 0), ("sub", 1)])
def test_a_hierarchical_network_has_a_head_for_each_level(level, place, tmp_path):
    path, model = tmp_path / "model.pth", hierarchy()
    save_whole(model, path)
    network = Autoencoder(load_model(path), level=level)
    logits = model(IMAGES)[2][place]
    head = load_published(path, "prototypedl", level=level)
    evaluation = evaluate(head, network.latents(IMAGES))
    torch.testing.assert_close(evaluation.logits.float(), logits, rtol=1e-4, atol=1e-4)
    prototypes = (model.prototype.sup_prototypes, model.prototype.sub_prototypes)[place]
    torch.testing.assert_close(network.pictures(), model.decoder(prototypes.unflatten(1, (2, 2, 2))))
    assert head.size == len(prototypes)


def test_a_level_that_there_is_not(tmp_path):
    save_whole(small(), tmp_path / "model.pth")
    with pytest.raises(InputError, match=r"'prototype\.sub_prototypes': is missing"):
        load_published(tmp_path / "model.pth", "prototypedl", level="sub")
    with pytest.raises(UsageError, match="option level is 'third', expected super or sub"):
        load_published(tmp_path / "model.pth", "prototypedl", level="third")


def test_of_another_size(tmp_path):
    save_whole(small(), tmp_path / "model.pth")
    images = torch.rand(3, 1, 32, 30, generator=torch.Generator().manual_seed(1))
    network = Autoencoder(load_model(tmp_path / "model.pth"), (32, 30))
    torch.testing.assert_close(network.latents(images), small().encoder(images).flatten(1)[:, None])
    assert network.pictures().shape == (6, 1, 32, 30)
    with pytest.raises(HeadError, match="it gives 2 numbers, prototypes have 8"):
        Autoencoder(load_model(tmp_path / "model.pth"), (2, 2))


def test_images_that_do_not_fit(tmp_path):
    save_whole(small(), tmp_path / "model.pth")
    network = Autoencoder(load_model(tmp_path / "model.pth"))
    for images in (IMAGES[:, :, 1:], IMAGES[:, 0], (IMAGES * 255).byte()):
        with pytest.raises(LatentsError, match=r"do not fit this network, expected floats .* \(1, 28, 28\)"):
            network.latents(images)


def other_layer(layer: nn.Module):
    def change(model):
        model.encoder.convnet[2] = layer

    return change


def other_attribute(**attributes):
    def change(model):
        for name, value in attributes.items():
            setattr(model.encoder.convnet[2], name, value)

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            other_layer(nn.ReLU()),
            r"'encoder\.convnet': holds torch.*Conv2d.*expected at most 8 convolutions, each foll",
        ),
        (other_layer(nn.Conv2d(3, 300, 1)), r"kernel \(300, 3, 1, 1\), expected at most 256 channels"),
        (other_layer(nn.Conv2d(5, 3, 3)), r"does not fit images \(1, 28, 28\) and the decoder"),
        (lambda model: model.encoder.convnet.extend([nn.Conv2d(2, 2, 1), nn.Sigmoid()] * 5), "at most 8 convolutions"),
        (lambda model: delattr(model.encoder, "convnet"), r"holds nothing, expected at most 8 convolutions"),
        (
            lambda model: delattr(model.decoder, "de3"),
            r"'decoder\.de3': is missing, expected torch\.nn.*ConvTranspose2d",
        ),
        (
            lambda model: setattr(model.decoder, "de1", nn.Conv2d(2, 3, 3)),
            r"'decoder\.de1': is torch.*Conv2d, expected",
        ),
        (lambda model: setattr(model.decoder, "de4", nn.ConvTranspose2d(3, 1, 3)), "does not fit images .* decoder"),
        (lambda model: delattr(model.prototype, "prototypes"), r"'prototype\.prototypes': is missing"),
        (other_attribute(padding_mode="reflect"), "has another padding_mode than zeros"),
        (other_attribute(groups=2), "has another groups than 1"),
        (other_attribute(transposed=True), "has another transposed than False"),
        (other_attribute(padding=(30_000, 30_000)), "has no padding of two numbers up to 4"),
        (other_attribute(stride=2), "has no stride of two numbers up to 4"),
        (other_attribute(stride=(0, 0)), "does not fit images"),
        (other_attribute(dilation=(1, True)), "has no dilation of two numbers"),
    ],
)
def test_other_networks_are_refused(change, reason, tmp_path):
    model = small()
    change(model)
    save_whole(model, tmp_path / "model.pth")
    with pytest.raises(HeadError, match=reason):
        Autoencoder(load_model(tmp_path / "model.pth"))


def test_a_state_dictionary_gives_the_head_and_not_the_network(tmp_path):
    torch.save(small().state_dict(), tmp_path / "state.pth")
    assert load_published(tmp_path / "state.pth", "prototypedl").size == 6
    with pytest.raises(InputError, match="holds no whole models"):
        load_model(tmp_path / "state.pth")
