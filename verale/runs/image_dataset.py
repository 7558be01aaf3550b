"""A folder of images explained at scale: a CaBRNet network in every worker, latents beside the certificates."""

from __future__ import annotations

import hashlib
import json
import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verale.datasets import storage
from verale.datasets.certificates import certificates_schema, to_parquet, to_table
from verale.datasets.latents import column_of, latents_type
from verale.errors import InputError
from verale.runs.capture import classes_of_trained
from verale.runs.explain_dataset import batch_of, described, on_workers, open_dataset, rows_of
from verale.runs.images import IMAGE_SUFFIXES, FolderClasses, flat_or_nested, readable, tell_left_out
from verale.runs.parts import Explainer
from verale.runs.run import ExplainRun
from verale.runs.workers.ray import Summary, Workers

if TYPE_CHECKING:
    from PIL.Image import Image
    from pyarrow import Schema
    from torch import Tensor

    from verale.adapters.cabrnet import Network
    from verale.adapters.cabrnet.network import Captured
    from verale.checker.deployment import Deployment
    from verale.search import SearchOptions

__all__ = ["ImageFolder", "explain_images", "open_images"]


@dataclass(frozen=True)
class ImageFolder:
    """A folder of images.

    Attributes:
        path: the folder's path or URI.
        names: its images, relative to it, sorted.
    """

    path: str
    names: tuple[str, ...]

    def sha256(self, name: str) -> str:
        """The digest of an image's bytes. Raises InputError."""
        return hashlib.sha256(self._read(name)).hexdigest()

    def readable(
        self, skip: bool = False, advance: Callable[[int], object] = lambda done: None
    ) -> tuple[ImageFolder, list[InputError]]:
        """The images that can be read, and what is wrong with the others, as `verale.runs.images.readable` has it."""
        taken, unreadable = readable(self.names, skip, advance, self._decoded)
        return replace(self, names=tuple(taken)), unreadable

    def _decoded(self, name: str) -> Image:
        from verale.pictures import decoded

        return decoded(storage.join(self.path, name), self._read(name))

    def _read(self, name: str) -> bytes:
        return storage.read_bytes(storage.join(self.path, name), "an image")

    def classes_of(self, network: Network) -> FolderClasses:
        """What the subfolders say of the images' classes. Raises InputError."""
        return classes_of_trained(network, self.path, self.names)


def open_images(path: str) -> ImageFolder:
    """The images of a folder, or of its subfolders. Raises InputError."""
    from pyarrow.fs import LocalFileSystem

    root = storage.resolve(path)[1]
    files = {info.path[len(root) :].lstrip("/"): info for info in storage.files_under(path, IMAGE_SUFFIXES)}
    names = flat_or_nested(path, files)
    if isinstance(storage.resolve(path)[0], LocalFileSystem):
        tell_left_out(Path(root))
    return ImageFolder(path, tuple(names))


def explain_images(
    run: str,
    images: ImageFolder,
    out: str,
    options: SearchOptions,
    workers: Workers,
    overwrite: bool = False,
    deployment: Deployment | None = None,
    network: Network | None = None,
) -> tuple[ExplainRun, Network]:
    """A run over every image of a folder, as `explain_latents` gives it; and the network, loaded here if it was not.

    Raises:
        InputError: as `verale.adapters.cabrnet.load` and `Network.capture`; images are captured part by part.
    """
    from verale.adapters.cabrnet import BATCH, load

    network = load(run).with_compared_head() if network is None else network
    explainer = Explainer(network.head, options, deployment)
    first = _Capturer(network, images).capture(0, 1).latents
    batch = batch_of(explainer, first)
    manifest = {
        "head": network.head.digest,
        "network": hashlib.sha256(json.dumps(network.describe(), default=str).encode()).hexdigest(),
        "images": hashlib.sha256(json.dumps(images.names).encode()).hexdigest(),
    } | described(explainer, workers, batch)
    schema = _schema(first)
    create_job = partial(_ExplainImages, on_workers(explainer, workers), run, images, schema)
    # The network captures BATCH images at once, counted from the first; parts must be whole batches of both kinds.
    step = math.lcm(batch, BATCH)
    total, is_same = len(images.names), partial(_is_of_same_image, images)
    return open_dataset(create_job, schema, out, manifest, total, step, workers, overwrite, is_same), network


def _is_of_same_image(images: ImageFolder, row: dict[str, Any]) -> bool:
    """Whether a row is of the image that lies there now. Raises InputError: it cannot be read."""
    name = images.names[row["index"]]
    return (row.get("image"), row.get("image_sha256")) == (name, images.sha256(name))


def _schema(latents: Tensor) -> Schema:
    import pyarrow as pa

    schema = certificates_schema().append(pa.field("difference_of_logits", pa.float64()))
    schema = schema.append(pa.field("image_sha256", pa.string()))
    return schema.append(pa.field("latents", latents_type(latents)))


class _Capturer:
    """A network that captures images as latents, wherever the images are."""

    def __init__(self, network: Network, images: ImageFolder) -> None:
        self.network, self._images = network, images

    def capture(self, start: int, stop: int) -> Captured:
        """What the network computes for some of the images."""
        from pyarrow.fs import LocalFileSystem

        names = self._images.names[start:stop]
        files, root = storage.resolve(self._images.path)
        if isinstance(files, LocalFileSystem):
            return self.network.capture([Path(root) / name for name in names])
        with tempfile.TemporaryDirectory() as folder:
            try:
                return self.network.capture(_copied(self._images.path, names, Path(folder)))
            except InputError as error:
                name = str(error.path).removeprefix(f"{folder}/")
                path = storage.join(self._images.path, name) if name != str(error.path) else name
                problem = error.problem.replace(f"{folder}/", "")
                raise InputError(path, problem) from error


def _copied(path: str, names: Sequence[str], to: Path) -> list[Path]:
    copies = []
    for name in names:
        copies.append(to / name)
        copies[-1].parent.mkdir(exist_ok=True)
        copies[-1].write_bytes(storage.read_bytes(storage.join(path, name), "an image"))
    return copies


class _ExplainImages:
    """The job: images become rows of certificates and latents."""

    def __init__(self, explainer: Explainer, run: str, images: ImageFolder, schema: Schema) -> None:
        import torch

        from verale.adapters.cabrnet import load

        torch.set_num_threads(1)
        self._explainer, self._images, self._schema = explainer, images, schema
        self._capturer = _Capturer(load(run), images)

    def __call__(self, start: int, stop: int) -> tuple[bytes, Summary]:
        names = self._images.names[start:stop]
        digests = [self._images.sha256(name) for name in names]
        captured = self._capturer.capture(start, stop)
        labels = self._images.classes_of(self._capturer.network).labels(names)
        explained, rows = rows_of(self._explainer, captured.latents, start, labels)
        for row, name, digest, off in zip(rows, names, digests, captured.off.amax(dim=1).tolist(), strict=True):
            row |= {"image": name, "image_sha256": digest, "difference_of_logits": off}
        table = to_table(rows, self._schema, {"latents": column_of(captured.latents)})
        undecided = [name for name, differs in zip(names, captured.undecided.tolist(), strict=True) if differs]
        return to_parquet(table), {"rows": explained, "undecided": undecided}
