"""Images captured as latents: a CaBRNet network and a folder of images become a head, latents and `source.json`; and
files of latents of what such a network, or the encoder of a whole published one, makes of images."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from os.path import lexists
from pathlib import Path

import torch
from torch import Tensor

from verale.adapters import load_model
from verale.adapters.cabrnet import Network, load
from verale.adapters.cabrnet.run import FILES
from verale.adapters.idx import read_idx
from verale.adapters.published.prototypedl import Autoencoder
from verale.errors import HeadError, InputError, UsageError, VeraleError, option
from verale.head import Head, digest_of_all, load_latents, patches_of, save_latents
from verale.pictures import png, read_picture
from verale.runs.folder import certificate_names, require_output, write_beside
from verale.runs.images import FolderClasses, classes_of_folders, image_files, readable, tell_left_out
from verale.runs.inputs import HEAD, LATENTS, RUN_FILE, SOURCE, TABLE, sha256_of
from verale.runs.source import SourceFile, SourceImage
from verale.runs.written import RequiredFile, WrittenFiles

_log = logging.getLogger(__name__)

_AGAIN = "move it away, then the same command writes it again"


@dataclass(frozen=True, eq=False)
class CapturedImages:
    """What a network makes of images: latents (N, D, H, W) float32, N true classes where the folder has subfolders of
    known classes, and the files that say where they come from, by name; none where an earlier run has written them."""

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
    """Capture a folder of images with a CaBRNet network, for a run's folder into which nothing is written here.

    What an earlier run wrote for the same network and the same images, compared by their bytes, is used again.
    `advance` is called with the number of images captured since the last call. Raises InputError: a run that verale
    cannot load, an image that cannot be read or on which head and network disagree, a directory that holds something
    else.
    """
    network = load(run).with_compared_head()
    names = [file.relative_to(images).as_posix() for file in files]
    classes = classes_of_trained(network, images, names).tell()
    labels = classes.labels(names)
    known: Sequence[int | None] = [None] * len(files) if labels is None else labels
    entries = [SourceImage.of(*each) for each in zip(files, names, known, strict=True)]
    network_and_head = {**network.describe(), "head_sha256": network.head.digest}
    source = SourceFile.build(network_and_head, str(images.resolve()), classes.names, entries)
    earlier, latents = captured_before(directory, source, overwrite, files)
    if latents is not None:
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


def classes_of_trained(network: Network, folder: object, images: Iterable[str]) -> FolderClasses:
    """What the subfolders of a folder of images say of their classes, to a network that CaBRNet trained: it numbers
    the subfolders of its training set in the order of text. Raises InputError."""
    names = network.head.labels or network.trained_classes
    return classes_of_folders(folder, images, network.head.classes, names, as_text=True)


def captured_before(
    directory: Path, source: SourceFile, overwrite: bool, inputs: Iterable[Path]
) -> tuple[SourceFile | None, Tensor | None]:
    """The directory's `source.json`, if it has one, of a run that may go on; and its latents, unless it lacks them, or
    the head. Raises InputError: something is in its way, or is another head or other latents."""
    written, head, path = WrittenFiles(directory), directory / HEAD, directory / LATENTS
    if overwrite or not written.exists(SOURCE):
        unknown = RequiredFile(problem="is there already, of unknown source")
        names = (SOURCE, HEAD, LATENTS, TABLE, RUN_FILE)
        written.require_room(dict.fromkeys(names, unknown), certificate_names(directory), overwrite, inputs)
        return None, None
    remedy = written.remedy(SOURCE)
    earlier = SourceFile.read(directory / SOURCE, remedy)
    different = source.differences(earlier)
    if different or earlier.latents_digest is None:
        keys = ", ".join(different) or "latents_digest"
        raise InputError(directory, f"was made from something else ({keys} differ); {remedy}")
    if lexists(head) and not earlier.is_of(sha256_of(head), earlier.latents_digest):
        raise InputError(head, f"is not the head that {SOURCE} describes; {_AGAIN}")
    if not lexists(path):
        return earlier, None
    try:
        latents = load_latents(path)
        is_same = digest_of_all(patches_of(latents)) == earlier.latents_digest
    except VeraleError:
        is_same = False
    if not is_same:
        raise InputError(path, f"does not hold the latents that {SOURCE} describes; {_AGAIN}")
    return earlier, latents if lexists(head) else None


_BY = "latents"

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""Tells, of a label and a total, how far the work is."""


def write_of_run(run: Path, images: Path, output: str, progress: Progress) -> str:
    """Write what a CaBRNet network makes of a folder of images: latents, logits, and true classes. Raises
    InputError."""
    files = image_files(images)
    require_output(output, [run, *(run / name for name in FILES), *files])
    tell_left_out(images)
    readable(files)
    network, names = load(run), [file.relative_to(images).as_posix() for file in files]
    labels = classes_of_trained(network, images, names).tell().labels(names)
    with progress("capturing", len(files)) as advance:
        captured = network.capture(files, advance)
    save_latents(output, captured.latents, labels, captured.logits)
    return f"{output}: {len(files)} images, latents {tuple(captured.latents.shape[1:])} and logits"


def write_of_model(
    model_path: str, images: str, labels: str | None, level: str, output: str, pictures: str | None
) -> Iterator[str]:
    """Write what the encoder of a whole PrototypeDL makes of images: of a folder, or of an IDX file, which may have one
    of the true classes beside it; and the pictures of prototypes into a folder, if they are wanted, of a hierarchical
    network those of a level, `super` or `sub`. Raises UsageError: labels of a folder; InputError: a file that cannot be
    used, or is in the way."""
    model = load_model(model_path)
    folder = Path(images).is_dir()
    require_output(output, [model_path, labels, *(image_files(Path(images)) if folder else [images])])
    if folder and labels is not None:
        raise UsageError(
            f"{option('labels')} is for an IDX file; of a folder of images, the subfolders are the classes"
        )
    pixels = None if folder else read_idx(images, 3)
    if pixels is not None and not pixels.numel():
        raise InputError(images, f"holds {tuple(pixels.shape)} pixels, expected images")
    if pixels is None:
        tell_left_out(Path(images))
        files, _ = readable(image_files(Path(images)))
        width, height = read_picture(files[0]).size
    else:
        _, height, width = pixels.shape
    try:
        network = Autoencoder(model, (height, width), level)
    except HeadError as error:
        raise InputError(model_path, f"{error} (images of {height} x {width} pixels: {images})") from error
    if pixels is None:
        batch, classes = _from_folder(Path(images), network)
    elif network.shape[0] != 1:
        raise InputError(images, f"holds images in grey, expected {network.shape[0]} channels: give a folder of images")
    else:
        batch, classes = pixels.unsqueeze(1).float() / 255, None if labels is None else read_idx(labels, 1).tolist()
        if classes is not None and len(classes) != len(pixels):
            raise InputError(labels, f"holds {len(classes)} classes, expected {len(pixels)}, one for each image")
    latents = network.latents(batch)
    decoded = {} if pictures is None else {f"{n:04d}.png": png(each) for n, each in enumerate(network.pictures())}
    if pictures is not None:
        WrittenFiles(Path(pictures)).require_own(decoded, _BY)
    save_latents(output, latents, classes)
    yield f"{output}: {len(latents)} images, {latents.shape[2]} numbers each"
    if pictures is not None:
        write_beside(Path(pictures), decoded, _BY)
        yield f"{pictures}: pictures of {len(decoded)} prototypes"


def _from_folder(folder: Path, network: Autoencoder) -> tuple[Tensor, list[int] | None]:
    """Images (N, channels, H, W) from 0 to 1, and their classes where subfolders say them. Raises InputError."""
    channels, height, width = network.shape
    files, batch = image_files(folder), []
    names = [file.relative_to(folder).as_posix() for file in files]
    classes = classes_of_folders(folder, names, network.classes, None).tell()
    for file in files:
        picture = read_picture(file, "L" if channels == 1 else "RGB")
        if picture.size != (width, height):
            raise InputError(file, f"has {picture.size} pixels, expected {(width, height)}, as the first image")
        data = bytearray(picture.tobytes())
        batch.append(torch.frombuffer(data, dtype=torch.uint8).view(height, width, -1).permute(2, 0, 1).float() / 255)
    return torch.stack(batch), classes.labels(names)
