"""The packaged demonstration network: from digits to latents in plain torch, as CaBRNet computes them.

`examples/digits/train.py` trained it. Running it does not need CaBRNet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import batch_norm, conv2d, max_pool2d, relu

from verale.adapters.cabrnet.configuration import load_yaml
from verale.adapters.fields import ReceptiveFields
from verale.adapters.receptive_field import receptive_fields
from verale.adapters.state import load_state
from verale.errors import InputError, UsageError
from verale.files import read
from verale.pictures import opened

__all__ = ["DATA", "IMAGES", "RUN", "Digits", "DigitsNetwork", "load_images", "load_network"]

DATA = Path(__file__).parent / "data"
RUN = DATA / "run" / "final"
IMAGES = DATA / "images"

IMAGE_SHAPE = (3, 32, 32)

_CONVOLUTIONS = {
    "convnet.conv1.weight": (64, 3, 7, 7),
    "convnet.layer1.0.conv1.weight": (64, 64, 3, 3),
    "convnet.layer1.0.conv2.weight": (64, 64, 3, 3),
    "add_on.conv1.weight": (32, 64, 1, 1),
    "add_on.conv1.bias": (32,),
    "add_on.conv2.weight": (32, 32, 1, 1),
    "add_on.conv2.bias": (32,),
}
_NORM = ("running_mean", "running_var", "weight", "bias")
_NORMS = {f"convnet.{layer}.{name}": (64,) for layer in ("bn1", "layer1.0.bn1", "layer1.0.bn2") for name in _NORM}


@dataclass(frozen=True)
class DigitsNetwork:
    """The model's extractor: ResNet-18 up to its first residual block, two 1x1 convolutions, a sigmoid."""

    state: Mapping[str, Tensor]

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
        return self._latents(images)

    def receptive_fields(self) -> ReceptiveFields:
        """The receptive field of every patch."""
        layers = _Layers(self._latents).eval()
        return receptive_fields(layers, (IMAGE_SHAPE[1], IMAGE_SHAPE[2]), IMAGE_SHAPE[0])

    def _latents(self, images: Tensor) -> Tensor:
        x = conv2d(images, self.state["convnet.conv1.weight"], stride=2, padding=3)
        x = max_pool2d(relu(self._norm("bn1", x)), kernel_size=3, stride=2, padding=1)

        y = relu(self._norm("layer1.0.bn1", self._conv3("layer1.0.conv1", x)))
        y = self._norm("layer1.0.bn2", self._conv3("layer1.0.conv2", y))
        x = relu(y + x)

        x = relu(self._conv1("add_on.conv1", x))
        return torch.sigmoid(self._conv1("add_on.conv2", x))

    def _norm(self, layer: str, x: Tensor) -> Tensor:
        mean, var, weight, bias = (self.state[f"convnet.{layer}.{name}"] for name in _NORM)
        return batch_norm(x, mean, var, weight, bias)

    def _conv3(self, layer: str, x: Tensor) -> Tensor:
        return conv2d(x, self.state[f"convnet.{layer}.weight"], padding=1)

    def _conv1(self, layer: str, x: Tensor) -> Tensor:
        return conv2d(x, self.state[f"{layer}.weight"], self.state[f"{layer}.bias"])


class _Layers(nn.Module):
    """A function from images to latents, as a module."""

    def __init__(self, latents: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self._latents = latents

    def forward(self, images: Tensor) -> Tensor:
        return self._latents(images)


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
    extractor: dict[str, Tensor] = {}
    for name, shape in (_CONVOLUTIONS | _NORMS).items():
        value = state.get(f"extractor.{name}")
        if not isinstance(value, Tensor) or value.shape != shape:
            shape_there = tuple(value.shape) if isinstance(value, Tensor) else "missing"
            raise InputError(
                path, f"extractor.{name} is {shape_there}, expected {shape}: give a run of examples/digits"
            )
        extractor[name] = value
    return DigitsNetwork(extractor)


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
    return mean, std


def _pixels(path: Path) -> Tensor:
    """An image as float32 (3, H, W) in [0, 1]."""
    with opened(path, read(path, "an image")) as image:
        rgb = image.convert("RGB")
    flat = torch.frombuffer(bytearray(rgb.tobytes()), dtype=torch.uint8)
    return flat.view(rgb.height, rgb.width, 3).permute(2, 0, 1).float() / 255
