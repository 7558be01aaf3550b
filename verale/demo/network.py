"""The packaged demonstration network: from digits to latents in plain torch, as CaBRNet computes them.

`examples/digits/train.py` trained it. Running it does not need CaBRNet.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from verale.adapters.cabrnet.run import load_yaml
from verale.adapters.freezing import export_network
from verale.adapters.state import load_state
from verale.errors import InputError, UsageError
from verale.network import FrozenNetwork
from verale.pictures import read_picture

__all__ = ["DATA", "IMAGES", "RUN", "Digits", "DigitsNetwork", "freeze_network", "load_images", "load_network"]

DATA = Path(__file__).parent / "data"
RUN = DATA / "run" / "final"
IMAGES = DATA / "images"

IMAGE_SHAPE = (3, 32, 32)


class _Block(nn.Module):
    """ResNet's residual block."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(64, 64, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.conv2 = nn.Conv2d(64, 64, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(64)

    def forward(self, x: Tensor) -> Tensor:
        return relu(self.bn2(self.conv2(relu(self.bn1(self.conv1(x))))) + x)


class _Convolutions(nn.Module):
    """ResNet-18 up to its first residual block."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = nn.Sequential(_Block())

    def forward(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.layer1(self.maxpool(relu(self.bn1(self.conv1(x))))))


class _AddOn(nn.Module):
    """Two 1 x 1 convolutions, a sigmoid."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(64, 32, 1), nn.Conv2d(32, 32, 1)

    def forward(self, x: Tensor) -> Tensor:
        return torch.sigmoid(self.conv2(relu(self.conv1(x))))


class DigitsNetwork(nn.Module):
    """The model's extractor, from images (N, 3, 32, 32) to latents; its modules have CaBRNet's names."""

    def __init__(self) -> None:
        super().__init__()
        self.convnet, self.add_on = _Convolutions(), _AddOn()

    def forward(self, images: Tensor) -> Tensor:
        return cast(Tensor, self.add_on(self.convnet(images)))

    def latents(self, images: Tensor) -> Tensor:
        """The latents of images, in evaluation mode.

        Args:
            images: float32 (N, 3, 32, 32), preprocessed as `load_images` does.

        Returns:
            float32 (N, 32, 8, 8), every entry in [0, 1]: what CaBRNet's classifier receives.

        Raises:
            UsageError: the images have another shape or type.
        """
        if images.shape[1:] != IMAGE_SHAPE or images.dtype != torch.float32:
            raise UsageError(
                f"images are {images.dtype} {tuple(images.shape)}, expected float32 (N, 3, 32, 32): "
                "preprocess them with load_images"
            )
        return self.forward(images)


class _Grey(nn.Module):
    """The network on pictures in grey, whose three colours are equal."""

    def __init__(self, network: DigitsNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, pictures: Tensor) -> Tensor:
        return cast(Tensor, self.network(torch.cat([pictures, pictures, pictures], 1)))


@dataclass(frozen=True)
class Digits:
    """Preprocessed images, float32 (N, 3, 32, 32), their labels and the files they came from, all in the same order."""

    images: Tensor
    labels: tuple[int, ...]
    paths: tuple[Path, ...]


def load_network(run: Path = RUN) -> DigitsNetwork:
    """Load the extractor from a CaBRNet run directory that `examples/digits` wrote.

    Raises:
        InputError: `model_state.pth` cannot be read, or is not the state of this architecture.
    """
    path = run / "model_state.pth"
    state = load_state(path)
    network, extractor = DigitsNetwork(), {}
    for name, expected in network.state_dict().items():
        value, shape = state.get(f"extractor.{name}"), tuple(expected.shape)
        if not isinstance(value, Tensor) or value.shape != shape:
            shape_there = tuple(value.shape) if isinstance(value, Tensor) else "missing"
            raise InputError(
                path, f"extractor.{name} is {shape_there}, expected {shape}: give a run of examples/digits"
            )
        extractor[name] = value
    network.load_state_dict(extractor)
    return network.eval().requires_grad_(False)


def freeze_network(run: Path = RUN) -> FrozenNetwork:
    """The extractor as a network file has it, from the bytes of the packaged PNG files, which are grey.

    Raises:
        InputError: as `load_network` and `load_images`.
    """
    mean, std = (numbers.flatten().tolist()[:1] for numbers in _normalisation(run / "dataset.yml"))
    network = _Grey(load_network(run)).eval()
    return export_network(network, None, (1, *IMAGE_SHAPE[1:]), mean, std)


def load_images(images: Path = IMAGES, run: Path = RUN) -> Digits:
    """Load `images/<label>/<index>.png`, sorted by label and index and preprocessed as the run's `dataset.yml` states.

        x = (v / 255 - mean) / std, for bytes v

    Raises:
        InputError: `images` holds no PNG, or `dataset.yml` states another preprocessing.
    """
    mean, std = _normalisation(run / "dataset.yml")
    paths = sorted(images.glob("*/*.png"), key=lambda path: (int(path.parent.name), path.name))
    if not paths:
        raise InputError(images, "holds no <label>/<index>.png; give a folder with one subfolder for each label")
    pixels = torch.stack([_pixels(path) for path in paths])
    return Digits((pixels - mean) / std, tuple(int(path.parent.name) for path in paths), tuple(paths))


def _normalisation(path: Path) -> tuple[Tensor, Tensor]:
    """The mean and standard deviation of the test set's transform, each (3, 1, 1)."""
    steps = load_yaml(path)["test_set"]["params"]["transform"]
    types = [step["type"] for step in steps.values()]
    if types != ["ToTensor", "Normalize"]:
        raise InputError(
            path, f"states the transforms {types}, expected ToTensor, Normalize: give a run of examples/digits"
        )
    *_, normalize = steps.values()
    mean, std = (torch.tensor(normalize["params"][name]).view(3, 1, 1) for name in ("mean", "std"))
    if any(bool((numbers != numbers[0]).any()) for numbers in (mean, std)):
        raise InputError(path, "normalises three colours in three ways: give a run of examples/digits")
    return mean, std


def _pixels(path: Path) -> Tensor:
    """An image as float32 (3, H, W) in [0, 1]."""
    rgb = read_picture(path)
    flat = torch.frombuffer(bytearray(rgb.tobytes()), dtype=torch.uint8)
    return flat.view(rgb.height, rgb.width, 3).permute(2, 0, 1).float() / 255
