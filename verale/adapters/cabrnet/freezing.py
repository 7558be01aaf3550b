"""A CaBRNet run's extractor as a frozen network. Needs CaBRNet, which builds it."""

from __future__ import annotations

from itertools import dropwhile
from pathlib import Path

from PIL import Image

from verale.adapters.cabrnet.building import each_step
from verale.adapters.cabrnet.network import Network, load
from verale.adapters.cabrnet.run import DATASET
from verale.adapters.freezing import export_network
from verale.errors import InputError, option
from verale.network import FrozenNetwork

__all__ = ["frozen_run"]

_CONVERSIONS = {"ToTensor", "ConvertImageDtype"}
"""The steps that divide bytes by 255, the second after PILToTensor; after the first one the second changes nothing."""

_SIDE = 512
"""The picture whose size after the transform is taken has so many rows and columns."""


def frozen_run(run: str | Path, size: tuple[int, int] | None = None) -> FrozenNetwork:
    """The network of a run directory, from pictures to the latents that its classifier receives.

    Args:
        run: a CaBRNet 1.2 run directory (`RUN/final`).
        size: rows and columns of its pictures; by default what the test set's transform makes of a square picture.

    Raises:
        InputError: as `verale.adapters.cabrnet.load`; or after the transform has made bytes numbers it does more than
            normalise them, or it does not say the size.
        NetworkError: see `export_network`.
        ModuleNotFoundError: CaBRNet is not installed.
    """
    network = load(run)
    mean, std = _normalisation(network)
    return export_network(network._model, "extractor", (3, *(size or _size(network))), mean, std)


def _normalisation(network: Network) -> tuple[list[float] | None, list[float] | None]:
    """Mean and standard deviation of the transform. Raises InputError for one that ends otherwise."""
    steps = [step for step in each_step(network._run, network.preprocessing) if "transforms" not in step]
    kinds = [step["type"] for step in steps]
    normalised = kinds[-1:] == ["Normalize"]
    numbers = list(dropwhile(lambda kind: kind not in _CONVERSIONS, kinds[: len(kinds) - normalised]))
    if not numbers or len(numbers) > 2 or not set(numbers) <= _CONVERSIONS:
        raise InputError(
            network.path / DATASET,
            f"has test_set.params.transform {', '.join(kinds)}, expected one that ends in ToTensor, or in"
            " ConvertImageDtype after PILToTensor, and perhaps Normalize: only x = (v / 255 - mean) / std is known",
        )
    if not normalised:
        return None, None
    given = steps[-1].get("params") or {}
    try:
        mean, std = ([float(number) for number in given[name]] for name in ("mean", "std"))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(network.path / DATASET, "has a Normalize without three numbers mean and std") from error
    return mean, std


def _size(network: Network) -> tuple[int, int]:
    """Rows and columns that the transform makes of any picture. Raises InputError where it makes none of its own."""
    sides = []
    for side in (_SIDE, _SIDE // 2):
        tensor = network._transform(Image.new("RGB", (side, side)))
        sides.append((int(tensor.shape[1]), int(tensor.shape[2])))
    if sides[0] != sides[1]:
        raise InputError(
            network.path / DATASET,
            f"neither resizes nor crops pictures, so their size is unknown: give {option('size')}, such as 224 x 224",
        )
    return sides[0]
