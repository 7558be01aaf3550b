"""Which networks a folder holds, and which test images of each are explained."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verale.adapters.cabrnet.run import ARCHITECTURE, DATASET, STATE, load_yaml
from verale.errors import InputError
from verale.files import read

__all__ = ["ARCHITECTURES", "INDICES", "ChosenImages", "TrainedRun", "runs_in", "chosen_images"]

INDICES = "random_indices.txt"
"""The test images that the papers' authors explained: one index a line."""

ARCHITECTURES = {
    "protopnet_gaussian_iso": "Gaussian",
    "gaussian": "Gaussian",
    "protopnet": "ProtoPNet",
    "protopool": "ProtoPool",
    "tesnet": "TesNet",
    "pipnet": "PIP-Net",
    "prototree": "ProtoTree",
}
"""How the folder of a run begins, in the authors' release and here; the longer of two names first."""

_DEEPEST = 3
_PER_CLASS = 5
"""The authors' number."""


@dataclass(frozen=True)
class TrainedRun:
    """A network to explain.

    Attributes:
        name: its folder's path below the folder of all runs.
        path: the folder with `model_state.pth`: `RUN/final`, or the folder itself.
    """

    name: str
    path: Path

    @property
    def architecture(self) -> str:
        """The network's kind, by its folder's name."""
        stem = Path(self.name).name
        return next((kind for prefix, kind in ARCHITECTURES.items() if stem.startswith(prefix)), "Other networks")

    @property
    def dataset(self) -> str:
        """What the folder's name says after the architecture, without a trailing seed; empty where it says nothing."""
        stem = Path(self.name).name
        prefix = next((each for each in ARCHITECTURES if stem.startswith(each)), stem)
        parts = stem.removeprefix(prefix).strip("_").split("_")
        return "_".join(parts[:-1] if len(parts) > 1 and parts[-1].isdecimal() else parts)


@dataclass(frozen=True)
class ChosenImages:
    """The images of a test set that are explained.

    Attributes:
        indices: their indices in the test set.
        files: the images.
        labels: their true classes.
    """

    indices: tuple[int, ...]
    files: tuple[Path, ...]
    labels: tuple[int, ...]


def runs_in(folder: Path) -> list[TrainedRun]:
    """The run folders of CaBRNet in a folder, sorted by name. Of a run that has a `final`, only this counts.

    Raises:
        InputError: there is none.
    """
    if not folder.is_dir():
        raise InputError(folder, "no such folder; expected a folder of run folders, as cabrnet train writes them")
    found = list(_below(folder, folder, 0))
    if not found:
        raise InputError(
            folder, f"holds no run: expected RUN/final/{STATE} and {ARCHITECTURE}, as cabrnet train writes"
        )
    return found


def _below(folder: Path, root: Path, depth: int) -> Iterator[TrainedRun]:
    for path in (folder / "final", folder):
        if (path / STATE).is_file() and (path / ARCHITECTURE).is_file():
            yield TrainedRun(folder.relative_to(root).as_posix() if folder != root else folder.resolve().name, path)
            return
    if depth < _DEEPEST:
        for inner in sorted(each for each in folder.iterdir() if each.is_dir()):
            yield from _below(inner, root, depth + 1)


def chosen_images(
    run: TrainedRun, data: Path, images: Path | None, per_class: int | None, classes: int
) -> ChosenImages:
    """The test images of a run that are explained: those of `random_indices.txt` or, without it, the first of a class.

    Args:
        run: the run; its `dataset.yml` names the test set.
        data: the folder to which that file's paths are relative.
        images: a folder with one folder of images a class, to take instead of that test set.
        per_class: how many images of each class; 0 for all; None for those that the run lists, else 5.
        classes: of the head.

    Raises:
        InputError: a test set that is not there or is none of image files, an index beyond it, or other classes.
    """
    files, labels = _listed(run, data, images)
    if not files or not set(labels) <= set(range(classes)):
        raise InputError(
            images or run.path / DATASET,
            f"the test set has {len(set(labels))} classes, up to {max(labels, default=0)}; the head has {classes}",
        )
    chosen = _chosen(run.path / INDICES, labels, per_class)
    return ChosenImages(tuple(chosen), tuple(files[i] for i in chosen), tuple(labels[i] for i in chosen))


def _listed(run: TrainedRun, data: Path, images: Path | None) -> tuple[list[Path], list[int]]:
    """Every file of the test set with its class, in torchvision's order, which the authors' indices follow."""
    from torchvision.datasets import Flowers102, ImageFolder, OxfordIIITPet

    where = run.path / DATASET
    content = None if images is not None else load_yaml(where)
    try:
        test: dict[str, Any] = {} if content is None else content["test_set"]
        name = "ImageFolder" if content is None else test["name"]
        params = test.get("params") or {}
        root = images if images is not None else data / str(params["root"])
        split = str(params.get("split", "test"))
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(where, "does not say where the test set lies (test_set, its name and root)") from error
    if name not in ("ImageFolder", "Flowers102", "OxfordIIITPet"):
        raise InputError(
            where, f"the test set is {name!s:.40}, which verale does not list; give its images with --images DIR"
        )
    try:
        if name == "ImageFolder":
            samples = ImageFolder(str(root)).samples
            return [Path(file) for file, _ in samples], [label for _, label in samples]
        kind = {"Flowers102": Flowers102, "OxfordIIITPet": OxfordIIITPet}[name]
        listed = kind(str(root), split=split, download=False)
        files = listed._image_files if name == "Flowers102" else listed._images
        return [Path(file) for file in files], [int(label) for label in listed._labels]
    except (OSError, RuntimeError, ValueError, ImportError) as error:
        raise InputError(
            root, f"holds no test set {name} ({error!s:.120}); say where the data lie with --data, or --images"
        ) from error


def _chosen(path: Path, labels: list[int], per_class: int | None) -> list[int]:
    if per_class is None and path.is_file():
        try:
            listed = [int(line) for line in read(path, "a list of indices").decode().split()]
        except ValueError as error:
            raise InputError(path, "holds a line that is no index: remove the file, or write it again") from error
        if any(not 0 <= index < len(labels) for index in listed):
            raise InputError(path, f"names an image beyond the test set's {len(labels)}: is it of another test set?")
        return listed
    if per_class == 0:
        return list(range(len(labels)))
    of_class: dict[int, list[int]] = defaultdict(list)
    for index, label in enumerate(labels):
        of_class[label].append(index)
    kept = [of_class[label][: per_class or _PER_CLASS] for label in sorted(of_class)]
    # One image of each class, then the next of each, so that an interrupted run has seen all classes.
    return [row[turn] for turn in range(max(map(len, kept))) for row in kept if turn < len(row)]
