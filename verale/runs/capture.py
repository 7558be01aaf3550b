"""Images captured as latents: a CaBRNet network and a folder of images become a head, latents and `source.json`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING

from verale.errors import InputError, VeraleError, option
from verale.runs.folder import certificate_names
from verale.runs.images import FolderClasses, classes_of_folders
from verale.runs.inputs import HEAD, LATENTS, RUN_FILE, SOURCE, TABLE, sha256_of
from verale.runs.source import SourceFile, SourceImage
from verale.runs.written import RequiredFile, WrittenFiles

if TYPE_CHECKING:
    from torch import Tensor

    from verale.adapters.cabrnet import Network
    from verale.head import Head

_log = logging.getLogger(__name__)

_AGAIN = "move it away, then the same command writes it again"


@dataclass(frozen=True, eq=False)
class CapturedImages:
    """What a network makes of images.

    Attributes:
        head: its head, which was compared with it.
        latents: (N, D, H, W) float32.
        labels: N true classes where the folder has subfolders of known classes.
        beside: the files that say where they come from, by name; none where an earlier run has written them.
    """

    head: Head
    latents: Tensor
    labels: list[int] | None
    beside: Mapping[str, bytes]


def capture_images(
    directory: Path,
    run: Path,
    images: Path,
    files: list[Path],
    advance: Callable[[int], object] = lambda done: None,
    overwrite: bool = False,
) -> CapturedImages:
    """Capture a folder of images with a CaBRNet network.

    What an earlier run wrote for the same network and the same images, compared by their bytes, is used again.

    Args:
        directory: where the run's files will go. Nothing is written here.
        run: the network's CaBRNet run directory.
        images: the folder of images.
        files: its images, as `image_files` lists them.
        advance: called with the number of images captured since the last call.
        overwrite: capture again, whatever the directory holds.

    Raises:
        InputError: a run that verale cannot load, an image that cannot be read or on which head and network disagree,
            a directory that holds something else.
    """
    from verale.adapters.cabrnet import load
    from verale.head import digest_of_all, patches_of

    network = load(run).with_compared_head()
    source, labels = _source(network, images, files)
    earlier = earlier_source(directory, source, overwrite, files)
    if earlier is not None and (latents := captured_before(directory, earlier)) is not None:
        _log.info("%d images were captured before", len(files))
        advance(len(files))
        return CapturedImages(network.head, latents, labels, {})
    captured = network.capture(files, advance)
    undecided = [str(file) for file, differs in zip(files, captured.undecided.tolist(), strict=True) if differs]
    if undecided:
        _log.warning("CaBRNet's float32 logits name another class than the head's: %s", ", ".join(undecided))
    if earlier is not None and earlier.latents_digest != digest_of_all(patches_of(captured.latents)):
        raise InputError(
            directory / SOURCE,
            f"notes other latents than the same network now makes of the same images; say {option('overwrite', True)}",
        )
    fields = network.receptive_fields(files[0])
    described = source.of_latents(captured.latents).noting(
        largest_difference_of_logits=float(captured.off.max()),
        largest_share_of_allowed_difference=captured.share,
        receptive_fields=None if fields is None else fields.record(),
    )
    return CapturedImages(network.head, captured.latents, labels, {SOURCE: described.to_bytes()})


def _source(network: Network, images: Path, files: list[Path]) -> tuple[SourceFile, list[int] | None]:
    """What latents will be made from, and the true classes of the images."""
    names = [file.relative_to(images).as_posix() for file in files]
    classes = classes_of_trained(network, images, names).tell()
    labels = classes.labels(names)
    known: Sequence[int | None] = [None] * len(files) if labels is None else labels
    entries = [SourceImage.of(*each) for each in zip(files, names, known, strict=True)]
    network_and_head = {**network.describe(), "head_sha256": network.head.digest}
    return SourceFile.build(network_and_head, str(images.resolve()), classes.names, entries), labels


def classes_of_trained(network: Network, folder: object, images: Iterable[str]) -> FolderClasses:
    """What the subfolders of a folder of images say of their classes, to a network that CaBRNet trained: it numbers
    the subfolders of its training set in the order of text. Raises InputError."""
    names = network.head.labels or network.trained_classes
    return classes_of_folders(folder, images, network.head.classes, names, as_text=True)


def earlier_source(
    directory: Path, source: SourceFile, overwrite: bool = False, inputs: Iterable[Path] = ()
) -> SourceFile | None:
    """The directory's `source.json`, if it has one, of a run that may go on.

    Args:
        directory: a run's folder.
        source: what the run is made from.
        overwrite: whether a run begins again. Then there is none.
        inputs: the files that the run reads.

    Raises:
        InputError: it holds files of another source, or that are in the run's way.
    """
    written = WrittenFiles(directory)
    if overwrite or not written.exists(SOURCE):
        unknown = RequiredFile(problem="is there already, of unknown source")
        names = (SOURCE, HEAD, LATENTS, TABLE, RUN_FILE)
        written.require_room(dict.fromkeys(names, unknown), certificate_names(directory), overwrite, inputs)
        return None
    remedy = written.remedy(SOURCE)
    earlier = SourceFile.read(directory / SOURCE, remedy)
    different = source.differences(earlier)
    if different or earlier.latents_digest is None:
        keys = ", ".join(different) or "latents_digest"
        raise InputError(directory, f"was made from something else ({keys} differ); {remedy}")
    return earlier


def captured_before(directory: Path, source: SourceFile) -> Tensor | None:
    """The directory's latents; None where it lacks them, or the head.

    Raises:
        InputError: one of them is there, and is not the one that the source describes.
    """
    from verale.head import digest_of_all, load_latents, patches_of

    head, path = directory / HEAD, directory / LATENTS
    if lexists(head) and not source.is_of(sha256_of(head), str(source.latents_digest)):
        raise InputError(head, f"is not the head that {SOURCE} describes; {_AGAIN}")
    if not lexists(path):
        return None
    try:
        latents = load_latents(path)
        is_same = digest_of_all(patches_of(latents)) == source.latents_digest
    except VeraleError:
        is_same = False
    if not is_same:
        raise InputError(path, f"does not hold the latents that {SOURCE} describes; {_AGAIN}")
    return latents if lexists(head) else None
