"""Explain a folder of images at scale: a CaBRNet network in every worker, latents beside the certificates."""

from __future__ import annotations

import hashlib
import json
import math
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verale.datasets import storage
from verale.datasets.certificates import certificates_schema, to_parquet, to_table
from verale.datasets.latents import column_of, latents_type
from verale.errors import InputError
from verale.ray.explain import Explaining, begin, rows_of
from verale.ray.pipeline import Crew
from verale.runs.images import IMAGE_SUFFIXES, flat_or_nested

if TYPE_CHECKING:
    from pyarrow import Schema
    from torch import Tensor

    from verale.adapters.cabrnet import Network
    from verale.search import SearchOptions

__all__ = ["Images", "explain_images", "open_images"]


@dataclass(frozen=True)
class Images:
    """A folder of images.

    Attributes:
        path: the folder, here or elsewhere.
        names: its images, each relative to it, in the order of their names.
        stamp: what tells whether they have changed since.
    """

    path: str
    names: tuple[str, ...]
    stamp: str

    @property
    def folders(self) -> list[str]:
        """Of images a folder a class, those folders."""
        return sorted({name.split("/")[0] for name in self.names if "/" in name})

    def labels(self, classes: int, names: Sequence[str]) -> list[int] | None:
        """The classes of some images, if there is a folder for every class."""
        folders = self.folders
        return [folders.index(name.split("/")[0]) for name in names] if len(folders) == classes else None


def open_images(path: str) -> Images:
    """The images of a folder, or of its folders. Raises InputError."""
    root = storage.at(path)[1]
    files = {info.path[len(root) :].lstrip("/"): info for info in storage.files_under(path, IMAGE_SUFFIXES)}
    names = flat_or_nested(path, files)
    stamp = json.dumps(storage.stamp([files[name] for name in names]))
    return Images(path, tuple(names), hashlib.sha256(stamp.encode()).hexdigest())


def explain_images(
    run: str, images: Images, out: str, options: SearchOptions, crew: Crew, overwrite: bool = False
) -> tuple[Explaining, Network]:
    """Explain every image of a folder; see `explain_latents`. The network, which this process loads too, for its head.

    Raises:
        InputError: as `verale.adapters.cabrnet.load` and `Network.see`; here images come to be seen part by part.
    """
    from verale.adapters.cabrnet import BATCH, load
    from verale.search import Batches

    network = load(run)
    first = _Eye(network, images).see(0, 1).latents
    batch = Batches(network.head, first, replace(options, device="cpu")).size
    options = replace(options, device=crew.device)
    manifest = {
        "head": network.head.digest,
        "network": hashlib.sha256(json.dumps(network.describe(), default=str).encode()).hexdigest(),
        "images": images.stamp,
        "options": asdict(options) | {"batch": batch, "max_memory": None},
    }
    schema = _schema(first)
    make = partial(_OfImages, run, images, options, schema)
    # The network sees so many images at once, counted from the first, and so many are explained at once.
    return begin(make, schema, out, manifest, len(images.names), math.lcm(batch, BATCH), crew, overwrite), network


def _schema(latents: Tensor) -> Schema:
    import pyarrow as pa

    found = certificates_schema().append(pa.field("difference_of_logits", pa.float64()))
    return found.append(pa.field("latents", latents_type(latents)))


class _Eye:
    """A network, and images wherever they are."""

    def __init__(self, network: Network, images: Images) -> None:
        self.network, self._images = network, images

    def see(self, start: int, stop: int) -> Any:
        """What the network sees in some of the images."""
        from pyarrow.fs import LocalFileSystem

        names = self._images.names[start:stop]
        files, root = storage.at(self._images.path)
        if isinstance(files, LocalFileSystem):
            return self.network.see([Path(root) / name for name in names])
        with tempfile.TemporaryDirectory() as folder:
            try:
                return self.network.see(_copied(self._images.path, names, Path(folder)))
            except InputError as error:
                there = str(error.path).removeprefix(f"{folder}/")
                path = storage.beneath(self._images.path, there) if there != str(error.path) else there
                problem = error.problem.replace(f"{folder}/", "")
                raise InputError(path, problem) from error


def _copied(path: str, names: Sequence[str], to: Path) -> list[Path]:
    copies = []
    for name in names:
        copies.append(to / name)
        copies[-1].parent.mkdir(exist_ok=True)
        copies[-1].write_bytes(storage.read_bytes(storage.beneath(path, name), "an image"))
    return copies


class _OfImages:
    """The job: images to rows of certificates and latents."""

    def __init__(self, run: str, images: Images, options: SearchOptions, schema: Schema) -> None:
        import torch

        from verale.adapters.cabrnet import load

        torch.set_num_threads(1)
        self._eye, self._images, self._options, self._schema = _Eye(load(run), images), images, options, schema

    def __call__(self, start: int, stop: int) -> tuple[bytes, dict[str, Any]]:
        seen = self._eye.see(start, stop)
        names = self._images.names[start:stop]
        head = self._eye.network.head
        rows = rows_of(head, seen.latents, self._options, start, self._images.labels(head.classes, names))
        for row, name, off in zip(rows, names, seen.off.amax(dim=1).tolist(), strict=True):
            row |= {"image": name, "difference_of_logits": off}
        table = to_table(rows, self._schema, {"latents": column_of(seen.latents)})
        other = [name for name, differs in zip(names, seen.undecided.tolist(), strict=True) if differs]
        return to_parquet(table), {"undecided": other}
