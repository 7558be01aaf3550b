"""Pictures of a run: read from PNG files or a tensor, kept beside the certificates with the network that sees them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING

from verale.errors import InputError, naming
from verale.files import LARGEST_LATENTS, followed, read
from verale.runs.folder import LATENTS, NETWORK, PICTURES, SOURCE
from verale.runs.images import class_folders, image_files, labels_of
from verale.runs.inputs import run_of
from verale.runs.source import SourceFile, SourceImage
from verale.search.through import ThroughNetwork

if TYPE_CHECKING:
    from torch import Tensor

    from verale.bounds.network import Arithmetic
    from verale.head import Head

__all__ = ["SeenPictures"]


@dataclass(frozen=True, eq=False)
class SeenPictures:
    """The pictures of a run, and the network that gives their latents.

    Attributes:
        through: the network, and its arithmetic.
        pictures: uint8 (N, C, H, W).
        files: the bytes of the network's file and of their files, by name in a run's folder.
        paths: the files that were read.
        names: of PNG files, relative to their folder, in the pictures' order; none of a tensor.
        folder: all of whose images these are; None where one file was given.
    """

    through: ThroughNetwork
    pictures: Tensor
    files: dict[str, bytes]
    paths: tuple[Path, ...]
    names: tuple[str, ...] = ()
    folder: Path | None = None

    @classmethod
    def load(cls, network: str | Path, path: str | Path, arithmetic: Arithmetic = "real") -> SeenPictures:
        """A network's file; and pictures from a folder of PNG files, from one PNG file, or from a safetensors file.

        Raises:
            InputError: what cannot be read, or a picture that is not of the network's size and colours.
            UsageError: an unknown arithmetic.
        """
        from verale.errors import NetworkError
        from verale.network import LARGEST_NETWORK, FrozenNetwork

        data = read(network, "a network file (safetensors)", most=LARGEST_NETWORK)
        with naming(network, NetworkError):
            through = ThroughNetwork(FrozenNetwork.from_bytes(data), arithmetic)
        seen = cls.of(through, data, path)
        return replace(seen, paths=(Path(network), *seen.paths))

    @classmethod
    def of(cls, through: ThroughNetwork, network: bytes, path: str | Path) -> SeenPictures:
        """The same of a network whose file has these bytes. Raises InputError."""
        import torch

        from verale.network import load_picture, load_pictures

        path, shape = Path(path), through.network.shape
        if not path.is_dir() and path.suffix.lower() != ".png":
            data = read(path, "a file of pictures (safetensors)", most=LARGEST_LATENTS)
            files = {NETWORK: network, f"{PICTURES}.safetensors": data}
            return cls(through, load_pictures(path, shape), files, (path,))
        paths = image_files(path) if path.is_dir() else [path]
        folder = path if path.is_dir() else path.parent
        names = tuple(each.relative_to(folder).as_posix() for each in paths)
        pictures = torch.stack([load_picture(each, shape) for each in paths])
        files = {f"{PICTURES}/{name}": read(each, "a PNG file") for name, each in zip(names, paths, strict=True)}
        return cls(through, pictures, {NETWORK: network, **files}, tuple(paths), names, path if path.is_dir() else None)

    def classes(self, classes: int) -> list[str] | None:
        """The names of classes: the subfolders, where there is one for each of so many."""
        return class_folders(self.names, classes) if self.names else None

    def labels(self, classes: int) -> list[int] | None:
        """The true classes, where there is one subfolder for each of so many."""
        folders = self.classes(classes)
        return None if folders is None else labels_of(self.names, folders)

    @cached_property
    def digests(self) -> list[str]:
        """Of each picture, by value."""
        from verale.network import picture_digest

        return list(map(picture_digest, self.pictures))

    def latents(self, folder: Path | None = None) -> Tensor:
        """(N, D, H', W') or (N, 1, D) float64: as the network gives them in float64, an estimate. They are for pages
        and comparisons, and no certificate is about them. Rounded to float32 they would lie outside of what
        certificates in real arithmetic state.

        Args:
            folder: of a run that may be continued. Latents of these pictures that it notes are kept: their last bits
                depend on the machine and on its threads.

        Raises:
            InputError: the folder's files cannot be read; a picture for which the network overflows float64.
        """
        import torch

        kept = None if folder is None else self._noted(folder)
        if kept is not None:
            return kept
        parts, network = [], self.through.network
        for number, picture in enumerate(self.pictures):
            parts.append(self.through.latents(picture))
            if not bool(parts[-1].isfinite().all()):
                layers = (name for name, given in network.outputs(picture[None]) if not bool(given.isfinite().all()))
                raise InputError(
                    self.names[number] if self.names else f"picture {number}",
                    f"has no latents: in layer {next(layers)} the network's numbers are beyond float64; scale the"
                    " weights before it down, and export the network again",
                )
        return torch.cat(parts) if parts else torch.empty(0, self.through.patches, network.output_shape[0]).double()

    def _noted(self, folder: Path) -> Tensor | None:
        """The latents of a folder, if its `run.json` notes them as those of these pictures."""
        from verale.head import digest_of_all, load_latents, patches_of

        run = run_of(folder)
        if any(run.get(name) != value for name, value in self.describe().items()) or not lexists(folder / LATENTS):
            return None
        latents = load_latents(folder / LATENTS)
        return latents if digest_of_all(patches_of(latents)) == run.get("latents") else None

    def describe(self) -> dict[str, str]:
        """What the results of a run depend on."""
        return {
            "network": self.through.network.digest,
            "pictures": hashlib.sha256("".join(self.digests).encode()).hexdigest(),
            "arithmetic": self.through.arithmetic,
        }

    def source(self, head: Head, latents: Tensor, labels: Sequence[int] | None) -> SourceFile | None:
        """What `source.json` says of PNG files, which lie in `pictures` beside it; None of a tensor."""
        if not self.names:
            return None
        network = self.through.network
        normalised = {"mean": list(network.mean), "std": list(network.std)}
        described = {
            "network_sha256": network.digest,
            "preprocessing": [{"type": "ToTensor"}, {"type": "Normalize", "params": normalised}],
            "prototypes": None,
        }
        known: Sequence[int | None] = labels or [None] * len(self.names)
        entries = [
            SourceImage(name, label, hashlib.sha256(self.files[f"{PICTURES}/{name}"]).hexdigest())
            for name, label in zip(self.names, known, strict=True)
        ]
        source = SourceFile.build(described, PICTURES, self.classes(head.classes), entries)
        return source.noting(head_sha256=head.digest).of_latents(latents).noting(image_pictures=self.digests)

    def require_apart(self, out: Path) -> None:
        """Raise InputError if copies of the pictures in this folder of a run would lie among them: the next time they
        would be further pictures."""
        real = None if self.folder is None else followed(self.folder)
        if real is None:
            return
        for copy in (followed(out / PICTURES / name) for name in self.names):
            among = copy.relative_to(real) if copy is not None and copy.is_relative_to(real) else None
            if among is not None and len(among.parts) <= 2 and among.as_posix() not in self.names:
                raise InputError(out, f"lies in {self.folder}, which would get copies of its pictures: choose another")

    def beside(self, head: Head, latents: Tensor, labels: Sequence[int] | None) -> dict[str, bytes]:
        """The files of a run's folder, by name: `source.json`, where there are PNG files, network and pictures."""
        source = self.source(head, latents, labels)
        return ({} if source is None else {SOURCE: source.to_bytes()}) | self.files
