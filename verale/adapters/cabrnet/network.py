"""A CaBRNet network from images to latents, and the check that its head computes the same logits. Needs CaBRNet."""

from __future__ import annotations

import csv
import hashlib
import importlib.metadata
import io
import os
import random
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import dropwhile, islice
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from verale.adapters.cabrnet.building import LARGEST_SIDE, build, each_step, preprocessing
from verale.adapters.cabrnet.heads import Rebuilt, rebuild
from verale.adapters.cabrnet.run import DATASET, PROJECTION, STATE, Run, open_run
from verale.adapters.fields import Origin, ReceptiveFields
from verale.adapters.float32 import float32_logits
from verale.adapters.freezing import export_network
from verale.adapters.neighbours import widened
from verale.adapters.receptive_field import fields_of
from verale.certificate.words import above
from verale.errors import InputError, LatentsError, first_line, option
from verale.files import LARGEST_LATENTS, read
from verale.head import Head, as_patches, evaluate
from verale.network import FrozenNetwork
from verale.pictures import read_picture

BATCH = 32
"""How many images pass through the network at once."""

_LONGEST = 16
"""The greatest ratio of an image's sides: a step that resizes the shorter side enlarges the longer one with it."""

_LOOKED_UP, _LARGEST_DIFFERENCE = 8, 1e-3
"""About how many prototypes are compared with their training images, and how much a coordinate may differ."""


_MOST_FILES = 200_000
"""A projection set with more files is not listed, and no prototype's file is named."""


@dataclass(frozen=True, eq=False)
class Captured:
    """Images captured as latents, with the logits of framework and head.

    Attributes:
        latents: (N, D, H, W) float32, on the CPU: the input of the classifier.
        logits: (N, C) float32, the framework's.
        off: (N, C) float64, the distance of the head's logits from them.
        allowed: (N, C) float64, the distance that rounding can explain.
        undecided: (N,) where framework and head name different classes, within rounding.
    """

    latents: Tensor
    logits: Tensor
    off: Tensor
    allowed: Tensor
    undecided: Tensor

    @property
    def share(self) -> float:
        """The largest ratio of `off` to `allowed`."""
        return float((self.off / self.allowed).max())


@dataclass(frozen=True, eq=False)
class Network:
    """A CaBRNet network with its head.

    Attributes:
        path: the run directory.
        head: the head.
        preprocessing: the steps from image to tensor, as dataset.yml gives them for the test set.
        origins: where prototypes come from; None where the run does not record it.
        trained_classes: the names of its classes, the subfolders of its training set; None where that is not there.
    """

    path: Path
    head: Head
    preprocessing: Any
    origins: tuple[Origin, ...] | None
    _run: Run
    _model: Any
    _transform: Callable[[Image.Image], Any]
    trained_classes: tuple[str, ...] | None = None

    def with_compared_head(self) -> Network:
        """The same with a head whose file says that its logits were compared, as `capture` does with each image."""
        return replace(self, head=self.head.as_compared())

    def preprocess(self, files: Sequence[Path]) -> Tensor:
        """Images as tensors for the network, (N, 3, H, W) float32. Raises InputError, which names the file."""
        tensors: list[Tensor] = []
        for file in files:
            rgb = read_picture(file)
            sides = sorted(rgb.size)
            if sides[1] > _LONGEST * sides[0]:
                raise InputError(
                    file, f"is {rgb.width} x {rgb.height}, expected a longer side of at most {_LONGEST} times the other"
                )
            try:
                tensor = self._transform(rgb)
            except Exception as error:  # transforms raise errors of any kind
                raise InputError(file, f"cannot be preprocessed as test_set states ({_brief(error)})") from error
            if not isinstance(tensor, Tensor) or tensor.dtype != torch.float32 or tensor.dim() != 3:
                raise InputError(self.path / DATASET, "test_set's transform does not return a float32 tensor (3, H, W)")
            if tensor[0].numel() > LARGEST_SIDE**2:
                raise InputError(
                    file,
                    f"becomes a tensor {tuple(tensor.shape)}, expected at most {LARGEST_SIDE**2} pixels: does test_set"
                    " resize images?",
                )
            if tensors and tensor.shape != tensors[0].shape:
                raise InputError(
                    file,
                    f"becomes a tensor {tuple(tensor.shape)}, {files[0]} one {tuple(tensors[0].shape)}: the test set's"
                    " transform does not give all images the same size",
                )
            tensors.append(tensor)
        return torch.stack(tensors)

    def latents(self, images: Tensor) -> Tensor:
        """(N, D, H, W) float32 of preprocessed images, the input of the classifier; on the CPU."""
        with torch.no_grad():
            return torch.cat([self._model.extractor(part) for part in torch.split(images, BATCH)])

    def receptive_fields(self, file: Path) -> ReceptiveFields | None:
        """The receptive fields of patches, for images that become tensors of the size of this one; None where unknown.

        Raises:
            InputError: the image cannot be preprocessed.
        """
        return fields_of(self._model, self.preprocess([file])[0], "extractor")

    def capture(self, files: Sequence[Path], advance: Callable[[int], object] = lambda done: None) -> Captured:
        """Latents and logits of image files; the head must compute the same logits, within rounding.

        Args:
            files: the images.
            advance: called with the number of images of each batch.

        Raises:
            InputError: an image cannot be read, CaBRNet fails on it, its logits differ by more than float32 explains
                (`float32.py`), or its latents are not finite. In the last two cases the head is not this network's.
        """
        captured: list[Captured] = []
        for start in range(0, len(files), BATCH):
            part = files[start : start + BATCH]
            images = self.preprocess(part)
            try:
                latents = self.latents(images)
                with torch.no_grad():
                    output = self._model.classifier(latents)
            except Exception as error:  # an image too small for a layer; assertions of the compatibility mode
                raise InputError(self.path, f"CaBRNet fails on images from {part[0]} on ({_brief(error)})") from error
            if captured and latents.shape[1:] != captured[0].latents.shape[1:]:
                sizes = tuple(latents.shape[1:]), tuple(captured[0].latents.shape[1:])
                raise InputError(
                    part[0],
                    f"gives latents {sizes[0]}, {files[0]} gives {sizes[1]}: the test set's transform does not give all"
                    " images the same size",
                )
            logits = output[2 if self._run.classifier == "PIPNetClassifier" else 0]
            try:
                patches = as_patches(latents)
                evaluated = evaluate(self.head, patches)
                bounds = float32_logits(widened(self.head, patches), patches)
            except LatentsError as error:
                raise InputError(self.path / STATE, f"for images from {part[0]} on: {error}") from error
            undecided = evaluated.predicted != logits.argmax(dim=1)
            own = evaluated.logits
            allowed = torch.maximum(bounds.upper - own, own - bounds.lower)
            one = Captured(latents, logits, (own - logits).abs(), allowed, undecided)
            beyond = (~((bounds.lower <= logits) & (logits <= bounds.upper))).nonzero()
            if len(beyond):
                image, of_class = beyond[0].tolist()
                raise InputError(
                    self.path / STATE,
                    f"for {part[image]} CaBRNet's logit of class {of_class} is {float(logits[image, of_class])}, the"
                    f" rebuilt head's {float(evaluated.logits[image, of_class])}, more than float32 explains"
                    f" ({above(float(one.allowed[image, of_class]), 2)}): verale computes another function than"
                    " CaBRNet here; please report it",
                )
            captured.append(one)
            advance(len(part))
        names = Captured.__dataclass_fields__
        return Captured(*(torch.cat([getattr(one, name) for one in captured]) for name in names))

    def describe(self) -> dict[str, Any]:
        """The network's entries in `source.json`."""
        versions = {name: importlib.metadata.version(name) for name in ("cabrnet", "torch", "torchvision")}
        state = read(self.path / STATE, "a state dictionary", most=LARGEST_LATENTS)
        return {
            "run": str(self.path.resolve()),
            "state_sha256": hashlib.sha256(state).hexdigest(),
            "architecture": self._run.architecture,
            "versions": versions,
            "preprocessing": self.preprocessing,
            "prototypes": None if self.origins is None else [origin.record() for origin in self.origins],
        }


def load(run: str | Path) -> Network:
    """A trained network, from images to latents, with its head. Needs the `cabrnet` extra.

    Args:
        run: a CaBRNet 1.2 run directory (`RUN/final`).

    Raises:
        InputError: as `load_head`; or CaBRNet cannot build the network, or dataset.yml has no preprocessing.
        ModuleNotFoundError: CaBRNet is not installed.

    Safety: the state is read as data (`read_checkpoint`), pretrained weights that the YAML names are not loaded, and
    CaBRNet receives only names of classes that verale knows. So nothing in the directory is executed.
    """
    content = open_run(run)
    rebuilt = rebuild(content)
    steps, dataset = preprocessing(content)
    with _cabrnet():
        from cabrnet.core.utils.data import DatasetManager

        try:
            model = build(content, rebuilt.head)
        except (InputError, ModuleNotFoundError):
            raise
        except Exception as error:  # configurations make CaBRNet and torch raise errors of any kind
            raise content.refused(f"CaBRNet cannot build this network ({_brief(error)})") from error
        try:
            transform = DatasetManager.get_dataset_transform(deepcopy(dataset), dataset="test_set")
        except Exception as error:  # likewise
            raise content.refused(f"CaBRNet cannot build test_set's transform ({_brief(error)})", DATASET) from error
    if transform is None:
        raise content.refused("CaBRNet builds no transform of test_set", DATASET)
    origins = _origins(content, rebuilt)
    trained = _trained_classes(dataset, rebuilt.head.classes)
    network = Network(content.path, rebuilt.head, steps, origins, content, model, transform, trained)
    return _with_files(network, dataset)


@contextmanager
def _cabrnet() -> Iterator[None]:
    """Turn CaBRNet's log off. Importing CaBRNet silences all warnings of the process; leaving this undoes that."""
    with warnings.catch_warnings():
        # thop, which CaBRNet imports, compares versions with distutils: both the package and its classes warn.
        warnings.filterwarnings("ignore", ".*distutils", DeprecationWarning)
        from loguru import logger

        logger.disable("cabrnet")
        try:
            yield
        finally:
            logger.enable("cabrnet")


def _origins(run: Run, rebuilt: Rebuilt) -> tuple[Origin, ...] | None:
    """Where prototypes come from, by `projection_info.csv`; None if it is missing, or about other prototypes.

    PIP-Net's channels have several images each, or none. In other networks every prototype has one line. A file with
    more or fewer lines was written before pruning, and does not say which prototypes remain.
    """
    path = run.path / PROJECTION
    if not path.is_file():
        return None
    try:
        rows = list(csv.DictReader(io.StringIO(read(path, "projection notes").decode())))
        lines = [tuple(int(row[name]) for name in ("proto_idx", "img_idx", "h", "w")) for row in rows]
    except (KeyError, ValueError, TypeError, csv.Error) as error:
        raise InputError(
            path, f"is not in CaBRNet's format ({first_line(error):.80}): remove it, or write it again"
        ) from error
    if any(not -1 <= number < 2**31 for line in lines for number in line):
        raise InputError(path, "holds a number that is no index: remove it, or write it again")
    total = rebuilt.head.size if rebuilt.head.prototypes is None else len(run.prototypes)
    if rebuilt.head.prototypes is not None and sorted(line[0] for line in lines) != list(range(total)):
        return None
    taken: dict[int, list[tuple[int, ...]]] = {}
    for prototype, *place in lines:
        taken.setdefault(prototype, []).append(tuple(place))
    kept = range(total) if rebuilt.kept is None else rebuilt.kept
    return tuple(
        Origin(index, image, None, row, column)
        for index, in_run in enumerate(kept)
        for image, row, column in taken.get(in_run, [])
        if image >= 0
    )


def _with_files(network: Network, dataset: Mapping[str, object]) -> Network:
    """The network with the files of its prototypes' training images, if the projection set is an existing folder.

    CaBRNet records indices in the set, not files, and the set may have changed since. So some prototypes are compared
    with the latents at the recorded position of their file; if one differs, no file is named. PIP-Net's channels are
    not latents, and get no files.
    """
    files = _projection_files(network.path, dataset)
    prototypes = network.head.prototypes
    if not files or not network.origins or prototypes is None:
        return network
    if any(origin.image >= len(files) for origin in network.origins):
        return network
    for origin in network.origins[:: max(1, len(network.origins) // _LOOKED_UP)]:
        try:
            latents = network.latents(network.preprocess([files[origin.image]]))[0]
        except InputError:
            return network
        if not (0 <= origin.row < latents.shape[1] and 0 <= origin.column < latents.shape[2]):
            return network
        difference = latents[:, origin.row, origin.column] - prototypes[origin.prototype]
        if float(difference.abs().max()) > _LARGEST_DIFFERENCE:
            return network
    named = tuple(replace(origin, file=files[origin.image]) for origin in network.origins)
    return replace(network, origins=named)


def _trained_classes(dataset: Mapping[str, object], classes: int) -> tuple[str, ...] | None:
    """The subfolders of the training set in the order of text, in which CaBRNet numbers them, if there are so many."""
    for name in ("train_set", "projection_set"):
        entry = dataset.get(name)
        params = entry.get("params") if isinstance(entry, Mapping) and entry.get("name") == "ImageFolder" else None
        root = params.get("root") if isinstance(params, Mapping) else None
        if not isinstance(root, str):
            continue
        try:
            folders = sorted(each.name for each in islice(os.scandir(root), _MOST_FILES) if each.is_dir())
        except (OSError, ValueError):
            continue
        if len(folders) == classes:
            return tuple(folders)
    return None


def _projection_files(run: Path, dataset: Mapping[str, object]) -> Sequence[Path] | None:
    """The projection set's images in CaBRNet's order, where it is an existing folder. Raises InputError."""
    projection = dataset.get("projection_set")
    if not isinstance(projection, Mapping) or projection.get("name") != "ImageFolder":
        return None
    try:
        root = Path(str((projection.get("params") or {}).get("root", "")))
        if not root.is_dir():
            return None
        found = 0
        for _, folders, names in os.walk(root, followlinks=True):  # the YAML may name any folder of this machine
            found += len(folders) + len(names)
            if found > _MOST_FILES:
                return None
        from torchvision.datasets import ImageFolder

        files = [Path(file) for file, _ in ImageFolder(str(root)).samples]
        if "partition" in projection:
            start, end = (int(share * len(files)) for share in projection["partition"])
            if "partition_seed" in projection:
                random.Random(projection["partition_seed"]).shuffle(files)
            files = files[start:end]
    except Exception as error:  # a folder that is none of classes, a share that is no number
        raise InputError(
            run / DATASET, f"projection_set cannot be read ({_brief(error)}): correct or remove it"
        ) from error
    return files


def _brief(error: Exception) -> str:
    """The type and the first line of another library's error."""
    return f"{type(error).__name__}: {first_line(error)}"


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
    if size is None:  # what the transform makes of any picture
        given = (Image.new("RGB", (side, side)) for side in (_SIDE, _SIDE // 2))
        size, other = ((int(tensor.shape[1]), int(tensor.shape[2])) for tensor in map(network._transform, given))
        if size != other:
            raise InputError(
                network.path / DATASET,
                "neither resizes nor crops pictures, so their size is unknown: give"
                f" {option('size')}, such as 224 x 224",
            )
    return export_network(network._model, "extractor", (3, *size), mean, std)


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
