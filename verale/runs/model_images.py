"""Images for a model in memory: preprocessed tensors, or files with the callable that preprocesses them."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from verale.errors import InputError, UsageError, first_line
from verale.head import Head, require_labels
from verale.pictures import png, read_picture
from verale.runs.images import classes_named, classes_of_folders, image_files, readable, tell_left_out
from verale.runs.source import SourceImage

_log = logging.getLogger(__name__)

_COLOURS = (1, 3)  # the channels of a picture


@dataclass(frozen=True, eq=False)
class ImageTensors:
    """Preprocessed images (N, 3, H, W), bound by a digest each; pictures of them go to this folder of OUT."""

    values: Tensor
    folder: str

    def __len__(self) -> int:
        return len(self.values)

    @property
    def files(self) -> list[Path]:
        """The pictures, below OUT; none of tensors that are no pictures."""
        if self.values.dim() != 4 or self.values.shape[1] not in _COLOURS:
            return []
        return [Path(self.folder) / f"{index:06d}.png" for index in range(len(self))]

    def batches(self, size: int) -> Iterable[Tensor]:
        """The images, some at a time."""
        batches: tuple[Tensor, ...] = self.values.split(size)  # type: ignore[no-untyped-call]
        return batches

    def describe(self) -> dict[str, Any]:
        """Entries of `source.json`, with SHA-256 of each tensor: type and shape in words, and bytes, little-endian."""
        digests = []
        for image in self.values:
            values = image.detach().cpu().contiguous().numpy()
            values = values.astype(values.dtype.newbyteorder("<"))
            shape = f"{values.dtype.name} {list(values.shape)}\n".encode()
            digests.append(hashlib.sha256(shape + values.tobytes()).hexdigest())
        return {"preprocessing": None, "tensors": digests}

    @cached_property
    def pictures(self) -> list[bytes]:
        """A PNG of each image.

        Values in [0, 1] are multiplied by 255 and rounded: images of `ToTensor` come out as they were. Other values are
        stretched to that range, each channel over all images.
        """
        if not self.files:
            return []
        values = self.values.detach().cpu().double().nan_to_num(0)
        low, high = (end(values, (0, 2, 3)).view(1, -1, 1, 1) for end in (torch.amin, torch.amax))
        if float(low.min()) < 0 or float(high.max()) > 1:
            values = (values - low) / (high - low).clamp(min=torch.finfo(torch.float64).tiny)
        return list(map(png, values))

    def entries(self, labels: Sequence[int | None]) -> list[SourceImage]:
        """The images of `source.json`, which are the pictures."""
        return [
            SourceImage(path.name, label, hashlib.sha256(data).hexdigest())
            for path, label, data in zip(self.files, labels, self.pictures, strict=False)
        ]

    def drawn(self) -> dict[str, bytes]:
        """The pictures by name, below OUT."""
        return {path.as_posix(): data for path, data in zip(self.files, self.pictures, strict=True)}


@dataclass(frozen=True, eq=False)
class ImageFiles:
    """Image files, by absolute paths, those of the folder `root` where one was given. Their bytes are bound by a digest
    each; what the callable does, from a picture (PIL, RGB) to a tensor (3, H, W), is not, beyond its description."""

    files: list[Path]
    preprocess: Callable[[Any], Any]
    root: Path | None = None

    def __len__(self) -> int:
        return len(self.files)

    @property
    def folder(self) -> Path:
        """The folder whose images they are, or the deepest one that holds all of them."""
        return self.root or Path(os.path.commonpath([file.parent for file in self.files]))

    @property
    def names(self) -> list[str]:
        """The files relative to the folder, with `/`."""
        return [file.relative_to(self.folder).as_posix() for file in self.files]

    def batches(self, size: int) -> Iterator[Tensor]:
        """The images preprocessed, some at a time. Raises InputError, which names the file."""
        first: torch.Size | None = None
        for start in range(0, len(self.files), size):
            tensors = [self._tensor(file) for file in self.files[start : start + size]]
            first = tensors[0].shape if first is None else first
            for file, tensor in zip(self.files[start:], tensors, strict=False):
                if tensor.shape != first:
                    raise InputError(
                        file,
                        f"becomes a tensor {tuple(tensor.shape)}, {self.files[0]} one {tuple(first)}: preprocess has to"
                        " give all images the same size",
                    )
            yield torch.stack(tensors)

    def _tensor(self, file: Path) -> Tensor:
        rgb = read_picture(file)
        try:
            tensor = torch.as_tensor(self.preprocess(rgb))
        except Exception as error:  # a callable raises errors of any kind
            raise InputError(
                file,
                f"cannot be preprocessed ({type(error).__name__}: {first_line(error)}); preprocess gets an RGB image",
            ) from error
        if tensor.dim() != 3 or not tensor.is_floating_point():
            raise InputError(
                file, f"becomes {tuple(tensor.shape)} {tensor.dtype}, expected floats (3, H, W), such as ToTensor gives"
            )
        return tensor

    def describe(self) -> dict[str, Any]:
        """Entries of `source.json`."""
        return {"preprocessing": _steps(self.preprocess)}

    def entries(self, labels: Sequence[int | None]) -> list[SourceImage]:
        """The images of `source.json`."""
        return [SourceImage.of(*each) for each in zip(self.files, self.names, labels, strict=True)]


ModelImages = ImageTensors | ImageFiles


def model_images(
    images: object, preprocess: Callable[[Any], Any] | None, folder: str, name: str = "images"
) -> ModelImages:
    """Images as `verale.explain_model` takes them: a tensor or an array (N, 3, H, W) of floats; the path of a folder of
    images, or paths of image files, with what makes a tensor of a picture. Pictures of tensors go to `folder`, relative
    to OUT. Raises UsageError: something else, or a callable that is missing or too much; InputError: a folder without
    images."""
    if isinstance(images, (str, Path)):
        root, files = Path(images).absolute(), image_files(Path(images))
        tell_left_out(root)
    elif isinstance(images, (list, tuple)) and images and all(isinstance(each, (str, os.PathLike)) for each in images):
        root, files = None, [Path(each) for each in images]
    else:
        return ImageTensors(_preprocessed(images, name), folder)
    if preprocess is None:
        raise UsageError(
            f"{name} is given as files, expected preprocess=... too: a callable from a picture to a tensor"
        )
    readable(files)
    return ImageFiles([file.absolute() for file in files], preprocess, root)


def known_labels(
    images: ModelImages, labels: Sequence[int] | None, head: Head
) -> tuple[list[int] | None, list[str] | None]:
    """True classes, given or from subfolders, and the classes' names, where known. Raises LatentsError, InputError."""
    names = list(head.labels) if head.labels is not None else None
    files = images.names if isinstance(images, ImageFiles) else []
    known = None if labels is None else require_labels(labels, len(images), head.classes)
    if not isinstance(images, ImageFiles) or any(name.count("/") > 1 for name in files):
        return known, names
    if known is not None:
        folders = [name.rpartition("/")[0] for name in files]
        matched = classes_named(names or (), folders)
        for file, folder, label in zip(images.files, folders, known, strict=True):
            if all(len(found) == 1 for found in matched.values()) and matched[folder] != [label]:
                its = f"lies in the folder of class {matched[folder][0]}, labels says {label}"
                raise InputError(file, f"{its}: leave labels out, or move it")
        return known, names
    try:
        classes = classes_of_folders(images.folder, files, head.classes, names).tell()
    except InputError as error:
        if images.root is not None:
            raise
        _log.warning("no true classes: %s", error)
        return None, names
    return classes.labels(files), names or classes.names


def _preprocessed(images: object, name: str = "images") -> Tensor:
    """Preprocessed images, (N, 3, H, W) or what else the model takes, N > 0. Raises UsageError."""
    try:
        values = torch.as_tensor(images)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(
            f"{name} is a {type(images).__name__}, expected a tensor (N, 3, H, W) of preprocessed images"
        ) from error
    if values.dim() < 2 or not len(values) or not values.is_floating_point():
        raise UsageError(
            f"{name} has shape {tuple(values.shape)} and dtype {values.dtype}, expected preprocessed images as floats,"
            " (N, 3, H, W)"
        )
    if values.dim() == 3:
        raise UsageError(
            f"{name} has shape {tuple(values.shape)}, expected (N, 3, H, W): write {name}[None] for a single image"
        )
    if values.is_meta:
        raise UsageError(f"{name} holds no numbers (it is on the device meta), expected preprocessed images")
    values = values.detach().to_dense() if values.layout != torch.strided else values.detach()
    # Exact, and a type that numpy has: images of a bfloat16 network are float32 numbers.
    return values.float() if values.dtype == torch.bfloat16 else values


def _steps(preprocess: Callable[[Any], Any]) -> list[dict[str, object]]:
    """The steps of a callable, in the form of CaBRNet's `dataset.yml`; of an unknown one its name."""
    steps = getattr(preprocess, "transforms", None)
    found: list[dict[str, object]] = []
    for step in steps if isinstance(steps, (list, tuple)) else [preprocess]:
        kind = type(step)
        params: dict[str, object] = {}
        if not kind.__module__.startswith("torchvision.transforms"):
            found.append({"type": str(getattr(step, "__qualname__", kind.__qualname__))})
            continue
        for name in ("size", "mean", "std", "max_size"):
            value = getattr(step, name, None)
            if isinstance(value, (list, tuple)):
                value = [float(each) if isinstance(each, float) else int(each) for each in value]
            params |= {} if value is None else {name: value}
        found.append({"type": kind.__name__, **({"params": params} if params else {})})
    return found
