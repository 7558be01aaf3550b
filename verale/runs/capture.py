"""Images captured as latents: a CaBRNet network and a folder of images become a head, latents and `source.json`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verale.errors import InputError, VeraleError
from verale.files import write_atomically
from verale.runs.folder import HEAD, LATENTS, SOURCE, require_free
from verale.runs.images import class_folders, labels_of
from verale.runs.source import SourceFile, SourceImage

if TYPE_CHECKING:
    from torch import Tensor

    from verale.adapters.cabrnet import Network
    from verale.head import Head

__all__ = ["capture_images", "captured_before", "earlier_source", "write_captured"]

_log = logging.getLogger(__name__)


def capture_images(
    directory: Path,
    run: Path,
    images: Path,
    files: list[Path],
    advance: Callable[[int], object] = lambda done: None,
    overwrite: bool = False,
) -> tuple[Head, Tensor, list[int] | None]:
    """Capture a folder of images with a CaBRNet network; write head, latents and `source.json` to a directory.

    What an earlier run wrote for the same network and the same images, compared by their bytes, is used again.

    Args:
        directory: where the files go.
        run: the network's CaBRNet run directory.
        images: the folder of images.
        files: its images, as `image_files` lists them.
        advance: called with the number of images captured since the last call.
        overwrite: capture again, and replace what the directory holds.

    Returns:
        The head, latents (N, D, H, W) float32, and N true classes where the folder has one subfolder for each class.

    Raises:
        InputError: a run that verale cannot load, an image that cannot be read or on which head and network disagree,
            a directory that holds something else; then nothing is written.
    """
    from verale.adapters.cabrnet import load
    from verale.head import digest_of_all, patches_of

    network = load(run)
    source, labels = _source(network, images, files)
    earlier = None if overwrite else earlier_source(directory, source)
    if earlier is not None and (latents := captured_before(directory, earlier)) is not None:
        _log.info("%d images were captured before", len(files))
        advance(len(files))
        return network.head, latents, labels
    captured = network.capture(files, advance)
    undecided = [str(file) for file, differs in zip(files, captured.undecided.tolist(), strict=True) if differs]
    if undecided:
        _log.warning("CaBRNet's float32 logits name another class than the head's: %s", ", ".join(undecided))
    if earlier is not None and earlier.latents_digest != digest_of_all(patches_of(captured.latents)):
        raise InputError(
            directory / SOURCE,
            "notes other latents than the same network now makes of the same images; say --overwrite",
        )
    fields = network.receptive_fields(files[0])
    results = {
        "largest_difference_of_logits": float(captured.off.max()),
        "largest_share_of_allowed_difference": captured.share,
        "receptive_fields": None if fields is None else fields.record(),
    }
    write_captured(directory, source, network.head, captured.latents, labels, results)
    return network.head, captured.latents, labels


def write_captured(
    directory: Path,
    source: SourceFile,
    head: Head,
    latents: Tensor,
    labels: list[int] | None,
    results: Mapping[str, object],
) -> None:
    """Write head, latents and `source.json`; that first, so that after an interruption the same command knows whose
    files these are.

    Args:
        directory: where the files go.
        source: what the latents were made from.
        head, latents, labels: what was made.
        results: what `source.json` notes beside the digests.
    """
    from verale.head import save_latents

    write_atomically(directory / SOURCE, source.of_latents(latents).noting(**results).to_bytes())
    head.save(directory / HEAD)
    save_latents(directory / LATENTS, latents, labels)


def _source(network: Network, images: Path, files: list[Path]) -> tuple[SourceFile, list[int] | None]:
    """What latents will be made from, and the true classes of the images."""
    names = [file.relative_to(images).as_posix() for file in files]
    classes = class_folders(names, network.head.classes)
    labels = None if classes is None else labels_of(names, classes)
    known: Sequence[int | None] = [None] * len(files) if labels is None else labels
    entries = [SourceImage.of(*each) for each in zip(files, names, known, strict=True)]
    network_and_head = {**network.describe(), "head_sha256": network.head.digest}
    return SourceFile.build(network_and_head, str(images.resolve()), classes, entries), labels


def earlier_source(directory: Path, source: SourceFile) -> SourceFile | None:
    """The directory's `source.json`, if it has one. Raises InputError if it holds files of another source."""
    path = directory / SOURCE
    if not path.exists():
        for name in (HEAD, LATENTS):
            if (directory / name).exists():
                raise InputError(directory, f"holds {name} of unknown source; choose another --out, or say --overwrite")
        require_free(directory)
        return None
    earlier = SourceFile.read(path, "say --overwrite")
    different = source.differences(earlier)
    if different or earlier.latents_digest is None:
        keys = ", ".join(different) or "latents_digest"
        raise InputError(
            directory, f"was made from something else ({keys} differ); choose another --out, or say --overwrite"
        )
    return earlier


def captured_before(directory: Path, source: SourceFile) -> Tensor | None:
    """The directory's latents, if they and the head are complete and are those that the source describes."""
    from verale.head import Head, digest_of_all, load_latents, patches_of

    try:
        latents = load_latents(directory / LATENTS)
        same = source.is_of(Head.load(directory / HEAD).digest, digest_of_all(patches_of(latents)))
    except VeraleError:
        return None
    return latents if same else None
