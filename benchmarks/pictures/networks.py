"""The networks that are measured: each with a head and pictures, as files that `explaining` and `auditing` read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from verale.adapters.freezing import export_network
from verale.checker.read.network_file import read_network
from verale.head import Box, Euclidean, Head, LogRatio, save_latents
from verale.network import FrozenNetwork, pictures_file

__all__ = ["NETWORKS", "Subject", "write"]

SIDE, DEPTH, CLASSES, EACH = 224, 128, 10, 5
"""Of the networks with a ResNet backbone: rows and columns of pictures, depth of the latents, classes, and prototypes
of a class."""


@dataclass(frozen=True)
class Subject:
    """What is explained.

    Attributes:
        note: where network and pictures come from.
        network, head: the two files.
        pictures: uint8 (N, C, H, W).
    """

    note: str
    network: FrozenNetwork
    head: Head
    pictures: Tensor


def write(subject: Subject, folder: Path) -> None:
    """The subject's files: network, head, pictures, and the latents that float32 gives here for the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    subject.network.save(folder / "network.safetensors")
    subject.head.save(folder / "head.safetensors")
    (folder / "pictures.safetensors").write_bytes(pictures_file(subject.pictures))
    latents = [subject.network.latents(each[None], torch.float32) for each in subject.pictures]
    save_latents(folder / "latents.safetensors", torch.cat(latents))
    data = subject.network.to_bytes()
    facts = {
        "note": subject.note,
        "layers": len(subject.network.layers),
        "picture": list(subject.network.shape),
        "latents": list(subject.network.output_shape),
        "pictures": len(subject.pictures),
        "bytes": len(data),
        "products": sum(layer.products for layer in read_network(data).layers),
    }
    (folder / "subject.json").write_text(json.dumps(facts))


def _demo(data: Path, runs: Path, count: int) -> Subject:
    from verale.adapters.cabrnet import load_head
    from verale.demo.network import IMAGES, RUN, load_network
    from verale.runs.seen import SeenPictures
    from verale.search.through import ThroughNetwork

    network = load_network()
    pictures = _evenly(SeenPictures.of(ThroughNetwork(network), network.to_bytes(), IMAGES).pictures, count)
    return Subject(
        "the packaged demonstration, a ResNet block and two 1 x 1 convolutions", network, load_head(RUN), pictures
    )


def _mnist(data: Path, runs: Path, count: int) -> Subject:
    from verale.adapters import load_model, load_published
    from verale.adapters.idx import read_idx
    from verale.adapters.published.prototypedl import Autoencoder

    path = data / "published" / "standard_model.pth"
    pictures = read_idx(data / "published" / "t10k-images-idx3-ubyte.gz", 3).unsqueeze(1)
    note = "trained and published by others (Li et al. 2018), four convolutions with sigmoids; MNIST's test images"
    return Subject(
        note, Autoencoder(load_model(path)).frozen(), load_published(path, "prototypedl"), _evenly(pictures, count)
    )


def _cifar10(model: str) -> Callable[[Path, Path, int], Subject]:
    def subject(data: Path, runs: Path, count: int) -> Subject:
        from verale.adapters.cabrnet import load_head
        from verale.adapters.cabrnet.network import frozen_run
        from verale.adapters.cabrnet.run import load_yaml

        run = runs / model / "final"
        share = load_yaml(run / "dataset.yml")["train_set"]["partition"][1]
        note = f"{model} that CaBRNet trained on {100 * share:g} % of CIFAR-10, five convolutions; test images"
        return Subject(note, frozen_run(run, (32, 32)), load_head(run), _photographs(data, count, None))

    return subject


def _resnet(name: str) -> Callable[[Path, Path, int], Subject]:
    def subject(data: Path, runs: Path, count: int) -> Subject:
        import torchvision

        torch.manual_seed(0)
        backbone = nn.Sequential(*list(getattr(torchvision.models, name)(weights=None).children())[:-2])
        width = 512 if name in ("resnet18", "resnet34") else 2048
        ends = nn.Conv2d(width, DEPTH, 1), nn.ReLU(), nn.Conv2d(DEPTH, DEPTH, 1), nn.Sigmoid()
        model = nn.Sequential(backbone, *ends)
        pictures = _photographs(data, max(count, CLASSES * EACH), SIDE)
        mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
        images = (pictures.float() / 255 - torch.tensor(mean)[:, None, None]) / torch.tensor(std)[:, None, None]
        with torch.no_grad():
            _settle(model, images[: CLASSES * 2])
            latents = torch.cat([model(each[None]) for each in images[: CLASSES * EACH]])
        network = export_network(model, None, (3, SIDE, SIDE), mean, std)
        note = (
            f"{name} of torchvision at {SIDE} x {SIDE}, random weights, with the statistics of {CLASSES * 2} pictures;"
            " ProtoPNet's two 1 x 1 convolutions and sigmoid; pictures of CIFAR-10, enlarged"
        )
        return Subject(note, network, _head_of(latents), pictures[:count])

    return subject


def _settle(model: nn.Module, images: Tensor) -> None:
    """Give batch normalisation the statistics of some images, and the last layers weights for which latents differ."""
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = None
    model.train()(images)
    model.eval()
    for layer in (model[1], model[3]):
        nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
        nn.init.zeros_(layer.bias)


def _head_of(latents: Tensor) -> Head:
    """ProtoPNet's head, whose prototypes are patches of pictures: EACH a class, of pictures of that class."""
    patches = latents.flatten(2)  # pictures are in the order of CLASSES classes, again and again
    rows = torch.arange(CLASSES * EACH)
    chosen = patches[rows, :, (rows * 7 + 11) % patches.shape[2]]
    weight = torch.where(torch.arange(CLASSES)[:, None] == rows % CLASSES, 1.0, -0.5)
    return Head(
        weight=weight,
        prototypes=chosen.contiguous(),
        geometry=Euclidean(),
        similarity=LogRatio(epsilon=1e-4),
        domain=Box(0, 1),
    )


def _photographs(data: Path, count: int, side: int | None) -> Tensor:
    """Test images of CIFAR-10, one of each class and then the next: uint8 (count, 3, side, side)."""
    import io
    import zipfile

    from PIL import Image

    pictures = []
    with zipfile.ZipFile(data / "cifar10.zip") as archive:
        names = sorted(name for name in archive.namelist() if "/test/" in name and name.endswith(".jpg"))
        classes = sorted({Path(name).parent for name in names})
        rows = zip(*([name for name in names if Path(name).parent == each] for each in classes), strict=True)
        for name in [name for row in rows for name in row][:count]:
            image = Image.open(io.BytesIO(archive.read(name))).convert("RGB")
            if side is not None:
                image = image.resize((side, side), Image.Resampling.BICUBIC)
            values = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
            pictures.append(values.view(image.height, image.width, 3).permute(2, 0, 1))
    return torch.stack(pictures)


def _evenly(pictures: Tensor, count: int) -> Tensor:
    """So many pictures, evenly spaced."""
    count = min(count, len(pictures))
    return pictures[torch.arange(count) * len(pictures) // count]


NETWORKS: dict[str, Callable[[Path, Path, int], Subject]] = {
    "demo": _demo,
    "mnist": _mnist,
    **{f"cifar10-{name}": _cifar10(name) for name in ("protopnet", "tesnet", "pipnet")},
    **{name: _resnet(name) for name in ("resnet18", "resnet34", "resnet50")},
}
"""What gives a network's subject: from the data's folder, that of CaBRNet's runs, and how many pictures to take."""
