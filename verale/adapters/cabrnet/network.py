"""A CaBRNet network from images to latents, and whether its head computes what it computes. Needs CaBRNet."""

from __future__ import annotations

import csv
import hashlib
import importlib.metadata
import io
import random
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from verale.adapters.cabrnet.budget import budget
from verale.adapters.cabrnet.heads import Rebuilt, rebuild
from verale.adapters.cabrnet.run import DATASET, STATE, Run, load_yaml, open_run
from verale.errors import InputError, LatentsError
from verale.files import read
from verale.head import Head, as_patches, evaluate

__all__ = ["BATCH", "Network", "Origin", "Seen", "load"]

PROJECTION = "projection_info.csv"

_TRANSFORMS = ("torchvision.transforms", "torchvision.transforms.v2", "cabrnet.core.utils.custom_preprocess")
"""Where a preprocessing step may come from; CaBRNet would import and call whatever dataset.yml names."""

BATCH = 32
"""How many images the network sees at once."""

_LOOKED_UP, _LOOKED_UP_APART = 8, 1e-3
"""How many prototypes are looked up in their images, about, and how far each coordinate may be off."""


@dataclass(frozen=True)
class Origin:
    """Where projection took a prototype from, as CaBRNet noted it.

    Attributes:
        prototype: its index in the head.
        image: the training image's place in the projection set.
        file: the image, if the projection set is a folder that is there and holds it; CaBRNet does not note it.
        row, column: the latent's place in the grid.
    """

    prototype: int
    image: int
    file: str | None
    row: int
    column: int


@dataclass(frozen=True, eq=False)
class Seen:
    """What the network makes of images.

    Attributes:
        latents: (N, D, H, W) float32, on the CPU: what the classifier receives.
        logits: (N, C) float32, the framework's.
        off: (N, C) float64, how far the head's logits are from them.
        allowed: (N, C) float64, how far rounding can put them apart.
        undecided: (N,) where the two name different classes, as rounding lets them.
    """

    latents: Tensor
    logits: Tensor
    off: Tensor
    allowed: Tensor
    undecided: Tensor

    @property
    def share(self) -> float:
        """The largest share of what is allowed that is used; 0 where nothing is, since nothing is summed."""
        return float((self.off / self.allowed).nan_to_num(0).max())


@dataclass(frozen=True, eq=False)
class Network:
    """A CaBRNet network with its head.

    Attributes:
        path: the run directory.
        head: the head.
        preprocessing: the steps from image to tensor, as dataset.yml states them for the test set.
        origins: where prototypes come from; None where the run does not say.
    """

    path: Path
    head: Head
    preprocessing: Any
    origins: tuple[Origin, ...] | None
    _run: Run
    _rebuilt: Rebuilt
    _model: Any
    _transform: Callable[[Image.Image], Any]

    def preprocess(self, files: Sequence[Path]) -> Tensor:
        """Images as the network takes them, (N, 3, H, W) float32. Raises InputError, which names the file."""
        tensors: list[Tensor] = []
        for file in files:
            try:
                with Image.open(file) as image:
                    rgb = image.convert("RGB")
            except Exception as error:  # PIL raises errors of any kind on broken bytes
                raise InputError(file, f"is no image that can be read ({_first_line(error)})") from error
            try:
                tensor = self._transform(rgb)
            except Exception as error:  # whatever a transform raises on sizes it does not like
                raise InputError(file, f"cannot be preprocessed as test_set states ({_first_line(error)})") from error
            if not isinstance(tensor, Tensor) or tensor.dtype != torch.float32 or tensor.dim() != 3:
                raise InputError(self.path / DATASET, "test_set's transform gives no float32 tensor (3, H, W)")
            if tensors and tensor.shape != tensors[0].shape:
                raise InputError(
                    file,
                    f"becomes a tensor {tuple(tensor.shape)}, {files[0]} one {tuple(tensors[0].shape)}: the test set's"
                    " transform does not bring images to one size",
                )
            tensors.append(tensor)
        return torch.stack(tensors)

    def latents(self, images: Tensor) -> Tensor:
        """(N, D, H, W) float32 of preprocessed images, what the classifier receives; on the CPU."""
        with torch.no_grad():
            return torch.cat([self._model.extractor(part) for part in torch.split(images, BATCH)])

    def see(self, files: Sequence[Path], advance: Callable[[int], object] = lambda done: None) -> Seen:
        """Latents and logits of image files; the head must compute the logits, but for rounding.

        Args:
            files: the images.
            advance: told how many are done, batch by batch.

        Raises:
            InputError: an image that cannot be read, or that CaBRNet gives up on; or whose logits differ by more than
                float32 explains (`budget.py`), or whose latents are not finite: then the head is not this network's.
        """
        seen: list[Seen] = []
        for start in range(0, len(files), BATCH):
            part = files[start : start + BATCH]
            images = self.preprocess(part)
            try:
                latents = self.latents(images)
                with torch.no_grad():
                    output = self._model.classifier(latents)
            except Exception as error:  # layers that an image is too small for; assertions of the compatibility mode
                raise InputError(
                    self.path, f"CaBRNet gives up on images from {part[0]} on ({_first_line(error)})"
                ) from error
            if seen and latents.shape[1:] != seen[0].latents.shape[1:]:
                sizes = tuple(latents.shape[1:]), tuple(seen[0].latents.shape[1:])
                raise InputError(
                    part[0],
                    f"gives latents {sizes[0]}, {files[0]} gives {sizes[1]}: the test set's transform does not bring"
                    " images to one size",
                )
            logits = output[2 if self._run.classifier == "PIPNetClassifier" else 0]
            try:
                patches = as_patches(latents)
                found = evaluate(self.head, patches)
            except LatentsError as error:
                raise InputError(self.path / STATE, f"for images from {part[0]} on: {error}") from error
            undecided = found.predicted != logits.argmax(dim=1)
            off = (found.logits - logits).abs()
            one = Seen(latents, logits, off, budget(self._rebuilt, patches, found), undecided)
            beyond = (~(one.off <= one.allowed)).nonzero()
            if len(beyond):
                image, of_class = beyond[0].tolist()
                raise InputError(
                    self.path / STATE,
                    f"for {part[image]} CaBRNet's logit of class {of_class} is {float(logits[image, of_class])}, the"
                    f" rebuilt head's {float(found.logits[image, of_class])}, more than float32 explains"
                    f" ({float(one.allowed[image, of_class]):.1e}): verale computes another function than CaBRNet here;"
                    " please report it",
                )
            seen.append(one)
            advance(len(part))
        return Seen(*(torch.cat([getattr(one, name) for one in seen]) for name in Seen.__dataclass_fields__))

    def describe(self) -> dict[str, Any]:
        """What `source.json` says of the network."""
        versions = {name: importlib.metadata.version(name) for name in ("cabrnet", "torch", "torchvision")}
        return {
            "run": str(self.path.resolve()),
            "state_sha256": hashlib.sha256(read(self.path / STATE, "a state dictionary")).hexdigest(),
            "architecture": self._run.architecture,
            "versions": versions,
            "preprocessing": self.preprocessing,
            "prototypes": None if self.origins is None else [vars(origin) for origin in self.origins],
        }


def load(run: str | Path) -> Network:
    """A trained network, from images to latents, with its head. Needs the `cabrnet` extra.

    Args:
        run: a CaBRNet 1.2 run directory (`RUN/final`).

    Raises:
        InputError: as `load_head`; or CaBRNet cannot build the network, or dataset.yml states no preprocessing.
        ModuleNotFoundError: CaBRNet is not installed.

    Safety: the state is loaded with `weights_only`, pretrained weights that the YAML may name are not loaded at all,
    and only classes that verale knows are named to CaBRNet, so that nothing in the directory is executed.
    """
    opened = open_run(run)
    rebuilt = rebuild(opened)
    steps, dataset = _preprocessing(opened)
    with _cabrnet():
        from cabrnet.archs.generic.model import CaBRNet
        from cabrnet.core.utils.data import DatasetManager

        try:
            model = CaBRNet.build_from_config(_buildable(opened))
            model.load_state_dict(dict(opened.state))
        except Exception as error:  # whatever a configuration can make CaBRNet and torch raise
            raise opened.refused(f"CaBRNet cannot build this network ({_first_line(error)})") from error
        try:
            transform = DatasetManager.get_dataset_transform(deepcopy(dataset), dataset="test_set")
        except Exception as error:  # likewise
            raise opened.refused(
                f"CaBRNet cannot build test_set's transform ({_first_line(error)})", DATASET
            ) from error
    assert transform is not None
    origins = _origins(opened, rebuilt)
    network = Network(opened.path, rebuilt.head, steps, origins, opened, rebuilt, model.eval(), transform)
    return _with_files(network, dataset)


@contextmanager
def _cabrnet() -> Iterator[None]:
    """CaBRNet with its own log off. Importing it silences every warning of the process; leaving this undoes that."""
    with warnings.catch_warnings():
        # thop, which CaBRNet imports, compares versions with distutils.
        warnings.filterwarnings("ignore", "distutils Version classes are deprecated", DeprecationWarning)
        from loguru import logger

        logger.disable("cabrnet")
        try:
            yield
        finally:
            logger.enable("cabrnet")


def _buildable(run: Run) -> dict[str, Any]:
    """The architecture as CaBRNet is to build it: without pretrained weights, with as many prototypes as there are."""
    architecture: dict[str, Any] = deepcopy(dict(run.architecture))
    architecture["extractor"]["backbone"]["weights"] = "None"
    if run.classifier == "ProtoPoolClassifier":
        architecture["classifier"]["params"]["num_prototypes"] = len(run.prototypes)
    return architecture


def _preprocessing(run: Run) -> tuple[Any, Mapping[str, Any]]:
    """The test set's transform, as stated, and the whole of dataset.yml. Raises InputError."""
    dataset = load_yaml(run.path / DATASET)
    try:
        steps = dataset["test_set"]["params"]["transform"]
    except (KeyError, TypeError) as error:
        raise run.refused("states no test_set.params.transform: how are images preprocessed?", DATASET) from error
    for module in _modules(steps):
        if module not in _TRANSFORMS:
            raise run.refused(f"a transform comes from {module}, which is not loaded; known: {_TRANSFORMS}", DATASET)
    if not steps:
        raise run.refused("test_set.params.transform is empty, expected ToTensor at least", DATASET)
    return steps, dataset


def _modules(value: Any) -> Iterator[object]:
    """Every `module` that a configuration names, however deep."""
    if isinstance(value, Mapping):
        if "module" in value:
            yield value["module"]
        for inner in value.values():
            yield from _modules(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _modules(inner)


def _origins(run: Run, rebuilt: Rebuilt) -> tuple[Origin, ...] | None:
    """Where prototypes come from, by `projection_info.csv`; None if there is none, or it speaks of others.

    PIP-Net's channels have several images each, or none. Elsewhere every prototype has one line; a file with more or
    fewer was written before some were pruned, and does not tell which.
    """
    path = run.path / PROJECTION
    if not path.is_file():
        return None
    try:
        rows = list(csv.DictReader(io.StringIO(read(path, "projection notes").decode())))
        noted = [tuple(int(row[name]) for name in ("proto_idx", "img_idx", "h", "w")) for row in rows]
    except (KeyError, ValueError, TypeError) as error:
        raise InputError(path, f"is not what CaBRNet writes ({error}): remove it, or write it again") from error
    total = rebuilt.head.size if rebuilt.head.prototypes is None else len(run.prototypes)
    if rebuilt.head.prototypes is not None and sorted(line[0] for line in noted) != list(range(total)):
        return None
    kept = range(total) if rebuilt.kept is None else rebuilt.kept
    return tuple(
        Origin(here, image, None, row, column)
        for here, there in enumerate(kept)
        for prototype, image, row, column in noted
        if prototype == there and image >= 0
    )


def _with_files(network: Network, dataset: Mapping[str, Any]) -> Network:
    """The network with the files its prototypes come from, if the projection set is a folder that is there.

    CaBRNet notes places in the set, not files, and the set may be another than it was, or have been thinned out. So
    some prototypes are looked up; if one is not the latent that its file has at its place, no file is named. PIP-Net's
    channels are no latents, and get no files.
    """
    files = _projection_files(dataset)
    prototypes = network.head.prototypes
    if not files or not network.origins or prototypes is None:
        return network
    if any(origin.image >= len(files) for origin in network.origins):
        return network
    for origin in network.origins[:: max(1, len(network.origins) // _LOOKED_UP)]:
        latents = network.latents(network.preprocess([files[origin.image]]))[0]
        if not (origin.row < latents.shape[1] and origin.column < latents.shape[2]):
            return network
        apart = latents[:, origin.row, origin.column] - prototypes[origin.prototype]
        if float(apart.abs().max()) > _LOOKED_UP_APART:
            return network
    named = tuple(replace(origin, file=str(files[origin.image])) for origin in network.origins)
    return replace(network, origins=named)


def _projection_files(dataset: Mapping[str, Any]) -> Sequence[Path] | None:
    """The projection set's images in CaBRNet's order, where it is a folder that is there."""
    projection = dataset.get("projection_set")
    if not isinstance(projection, Mapping) or projection.get("name") != "ImageFolder":
        return None
    root = Path(str((projection.get("params") or {}).get("root", "")))
    if not root.is_dir():
        return None
    from torchvision.datasets import ImageFolder

    files = [Path(file) for file, _ in ImageFolder(str(root)).samples]
    if "partition" in projection:
        start, end = (int(share * len(files)) for share in projection["partition"])
        if "partition_seed" in projection:
            random.Random(projection["partition_seed"]).shuffle(files)
        files = files[start:end]
    return files


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else 'no message'}"
