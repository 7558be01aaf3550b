"""The packaged demonstration network against CaBRNet itself, on every packaged image."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from support.runs import imported
from torch import Tensor

from verale.adapters.cabrnet import load_head
from verale.adapters.float32 import float32_logits
from verale.checker.read.network_file import read_network
from verale.checker.receptive import receptive_fields
from verale.demo.network import IMAGES, RUN, Digits, load_images, load_network
from verale.head import as_patches
from verale.network import FrozenNetwork


@dataclass(frozen=True)
class Reference:
    """What CaBRNet makes of the packaged images: preprocessed tensors, extractor output, logits, labels."""

    images: Tensor
    latents: Tensor
    logits: Tensor
    labels: tuple[int, ...]


@pytest.fixture(scope="module")
def reference() -> Reference:
    network, datasets = imported()
    from torchvision.datasets import ImageFolder

    state = str(RUN / "model_state.pth")
    model = network.build_from_config(str(RUN / "model_arch.yml"), state_dict_path=state).eval()
    transform = datasets.get_dataset_transform(str(RUN / "dataset.yml"), dataset="test_set")
    folder = ImageFolder(str(IMAGES), transform=transform)
    images = torch.stack([image for image, _ in folder])
    with torch.no_grad():
        latents = model.features(images)
        logits, _ = model(images)
    return Reference(images, latents, logits, tuple(int(folder.classes[target]) for target in folder.targets))


@pytest.fixture(scope="module")
def digits() -> Digits:
    return load_images()


@pytest.fixture(scope="module")
def network() -> FrozenNetwork:
    return load_network()


def test_pictures_are_read_as_cabrnet_does(network: FrozenNetwork, digits: Digits, reference: Reference) -> None:
    assert digits.labels == reference.labels
    assert torch.equal(network.normalised(digits.images, torch.float32).expand_as(reference.images), reference.images)


def test_latents_are_what_cabrnets_classifier_receives(
    network: FrozenNetwork, digits: Digits, reference: Reference
) -> None:
    latents = network.latents(digits.images, torch.float32)
    assert latents.shape == (50, 32, 8, 8)
    assert latents.std(dim=0).min() > 0.001, "latents that hardly vary would agree with anything"
    torch.testing.assert_close(latents, reference.latents, rtol=1e-5, atol=1e-6)


def test_cabrnet_classifies_the_packaged_images(reference: Reference) -> None:
    correct = reference.logits.argmax(dim=1) == torch.tensor(reference.labels)
    assert correct.float().mean() > 0.9


def test_the_head_computes_cabrnets_logits(reference: Reference) -> None:
    """In float64 against CaBRNet's float32, whose squared distances cancel (docs/heads.md, 0): within what rounding
    explains in whatever order a processor adds."""
    head, patches = load_head(RUN), as_patches(reference.latents)
    assert torch.equal(head.logits(reference.latents).argmax(dim=1), reference.logits.argmax(dim=1))
    bounds = float32_logits(head, patches)
    assert ((bounds.lower <= reference.logits) & (reference.logits <= bounds.upper)).all()
    assert (bounds.upper - bounds.lower).max() < 0.5, "a budget that allows everything would tell nothing"


def test_nothing_outside_of_its_receptive_field_moves_a_patch(network: FrozenNetwork, digits: Digits) -> None:
    """And some pixel of the field's outermost ring does: the field of a corner is no smaller. The checker's answer."""
    fields = receptive_fields(read_network(network.to_bytes()))
    images = network.normalised(digits.images[:5], torch.float32).requires_grad_()
    *_, (_, output) = network.outputs_of(images)
    latents = output.sum(1)
    reached = torch.zeros(8, 8, 32, 32, dtype=torch.bool)
    for row in range(8):
        for column in range(8):
            (gradient,) = torch.autograd.grad(latents[:, row, column].sum(), images, retain_graph=True)
            reached[row, column] = (gradient != 0).any(1).any(0)
            (top, bottom), (left, right) = fields.rows[row], fields.columns[column]
            outside = reached[row, column].clone()
            outside[top:bottom, left:right] = False
            assert not outside.any(), (row, column)
    assert not fields.whole
    assert reached[0, 0, fields.rows[0][1] - 1].any() and reached[0, 0, :, fields.columns[0][1] - 1].any()
