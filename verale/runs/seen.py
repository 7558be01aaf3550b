"""Pictures of a run: read from picture files or a tensor, kept beside the certificates with the network that sees them.

PNG files are kept as they are. What other files show is kept as PNG files (`decoded`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING

from verale.checker.read.pictures import StoredPictures, UnreadFile
from verale.errors import InputError, naming
from verale.files import followed, read
from verale.runs.decoded import DecodedPicture, Decoder, PictureFiles
from verale.runs.images import FolderClasses, classes_of_folders
from verale.runs.inputs import LATENTS, NETWORK, PICTURES, SOURCE, run_of
from verale.runs.source import SourceFile, SourceImage
from verale.search.through import ThroughNetwork

if TYPE_CHECKING:
    from torch import Tensor

    from verale.bounds.network import Arithmetic
    from verale.head import Head
    from verale.network import FrozenNetwork


@dataclass(frozen=True, eq=False)
class SeenPictures:
    """The pictures of a run, uint8 (N, C, H, W), and the network that gives their latents. `files` are the bytes of the
    network's file and of theirs, by name in a run's folder. PNG files, none of a tensor, have `names` relative to their
    `folder`, all of whose images these are, or None where one was given; `listed` names those among them too that
    cannot be used. The `decoder` made the `decoded` ones."""

    through: ThroughNetwork
    pictures: Tensor
    files: dict[str, bytes]
    paths: tuple[Path, ...]
    names: tuple[str, ...] = ()
    folder: Path | None = None
    listed: tuple[str, ...] = ()
    refused: tuple[UnreadFile, ...] = ()
    decoder: Decoder | None = None
    decoded: dict[str, DecodedPicture] = field(default_factory=dict)

    @classmethod
    def load(
        cls, network: str | Path, path: str | Path, arithmetic: Arithmetic = "real", resize: int | None = None
    ) -> SeenPictures:
        """A network's file; and pictures from a folder of picture files, from one, or from a safetensors file. Raises
        InputError: a network or a file of pictures that cannot be used, or a folder of which none can; UsageError: an
        unknown arithmetic, or a size that cannot be had."""
        from verale.errors import NetworkError
        from verale.network import LARGEST_NETWORK, FrozenNetwork

        data = read(network, "a network file (safetensors)", most=LARGEST_NETWORK)
        with naming(network, NetworkError):
            through = ThroughNetwork(FrozenNetwork.from_bytes(data), arithmetic)
        seen = cls.of(through, data, path, resize)
        return replace(seen, paths=(Path(network), *seen.paths))

    @classmethod
    def of(cls, through: ThroughNetwork, network: bytes, path: str | Path, resize: int | None = None) -> SeenPictures:
        """The same of a network whose file has these bytes. Raises InputError, UsageError."""
        import torch

        from verale.network import pictures_of

        read: dict[str, bytes] = {}
        files = PictureFiles(Path(path), through.network.shape, resize)
        opened = dict(zip(files.names, files.opened(keep=read), strict=True))
        used = {name: each for name, each in opened.items() if isinstance(each, StoredPictures)}
        refused = tuple(each for each in opened.values() if isinstance(each, UnreadFile))
        if not used:
            others = f"; nor can {len(refused) - 1} other files" if len(refused) > 1 else ""
            raise InputError(refused[0].name, f"{refused[0].why}{others}")
        pictures = torch.cat(list(map(pictures_of, used.values())))
        paths, kept = tuple(files.paths), {name: read[name] for name in used}
        if next(iter(used.values())).size is None:
            (data,) = kept.values()
            return cls(through, pictures, {NETWORK: network, f"{PICTURES}.safetensors": data}, paths)
        files.tell_turned()
        files_of_run = {NETWORK: network} | {f"{PICTURES}/{name}": data for name, data in kept.items()}
        decoded = {name: made for name, made in files.decoded.items() if name in kept}
        folder = files.folder if files.is_folder else None
        about = tuple(kept), folder, tuple(files.names), refused, files.decoder, decoded
        return cls(through, pictures, files_of_run, paths, *about)

    def classes_of(self, head: Head) -> FolderClasses:
        """What the subfolders say of the pictures' classes. Raises InputError."""
        return classes_of_folders(self.folder, self.listed, head.classes, head.labels)

    def labels(self, head: Head) -> list[int] | None:
        """The true classes, where subfolders say them; how these were read is told. Raises InputError."""
        return self.classes_of(head).tell().labels(self.names)

    @cached_property
    def digests(self) -> list[str]:
        """Of each picture, by value."""
        from verale.network import picture_digest

        return list(map(picture_digest, self.pictures))

    def latents(self, folder: Path | None = None) -> Tensor:
        """(N, D, H', W') or (N, 1, D) float64: as the network gives them in float64, an estimate. They are for pages
        and comparisons, and no certificate is about them. Rounded to float32 they would lie outside of what
        certificates in real arithmetic state. Latents of these pictures that the folder of a run notes, which may be
        continued, are kept: their last bits depend on the machine and on its threads. Raises InputError: the folder's
        files cannot be read; a picture for which the network overflows float64."""
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
        about = described(self.through.network)
        known: Sequence[int | None] = labels or [None] * len(self.names)
        entries = [
            SourceImage(name, label, hashlib.sha256(self.files[f"{PICTURES}/{name}"]).hexdigest())
            for name, label in zip(self.names, known, strict=True)
        ]
        if self.decoder is not None and self.decoded:
            about["decoded"] = self.decoder.record(self.decoded)
        source = SourceFile.build(about, PICTURES, self.classes_of(head).names, entries)
        return source.noting(head_sha256=head.digest).of_latents(latents).noting(image_pictures=self.digests)

    def require_apart(self, out: Path) -> None:
        """Raise InputError if copies of the pictures in this folder of a run would lie among them: the next time they
        would be further pictures."""
        real = None if self.folder is None else followed(self.folder)
        if real is None:
            return
        own = [name for name in self.names if name not in self.decoded]
        for copy in (followed(out / PICTURES / name) for name in self.names):
            among = copy.relative_to(real) if copy is not None and copy.is_relative_to(real) else None
            if among is not None and len(among.parts) <= 2 and among.as_posix() not in own:
                raise InputError(out, f"lies in {self.folder}, which would get copies of its pictures: choose another")

    def beside(self, head: Head, latents: Tensor, labels: Sequence[int] | None) -> dict[str, bytes]:
        """The files of a run's folder, by name: `source.json`, where there are PNG files, network and pictures."""
        source = self.source(head, latents, labels)
        return ({} if source is None else {SOURCE: source.to_bytes()}) | self.files


def described(network: FrozenNetwork) -> dict[str, object]:
    """What `source.json` says of a network."""
    normalised = {"mean": list(network.mean), "std": list(network.std)}
    return {
        "network_sha256": network.digest,
        "preprocessing": [{"type": "ToTensor"}, {"type": "Normalize", "params": normalised}],
        "prototypes": None,
    }
