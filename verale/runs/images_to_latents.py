"""Files of latents: what a CaBRNet network, or the encoder of a whole published one, makes of images."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import torch
from torch import Tensor

from verale.adapters import load_model
from verale.adapters.idx import read_idx
from verale.adapters.published.prototypedl import Autoencoder
from verale.errors import HeadError, InputError, UsageError, option
from verale.head import save_latents
from verale.pictures import png, read_picture
from verale.runs.capture import classes_of_trained
from verale.runs.folder import require_output, write_beside
from verale.runs.images import classes_of_folders, image_files, readable, tell_left_out
from verale.runs.written import WrittenFiles

_BY = "latents"

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""Tells, of a label and a total, how far the work is."""


def write_of_run(run: Path, images: Path, output: str, progress: Progress) -> str:
    """Write what a CaBRNet network makes of a folder of images: latents, logits, and true classes where these are said.

    Args:
        run: its directory.
        images: the folder.
        output: the latents file.
        progress: what tells how many of how many images are captured.

    Raises:
        InputError: a file that cannot be used, or is in the way.
    """
    from verale.adapters.cabrnet import load
    from verale.adapters.cabrnet.run import FILES

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
    """Write what the encoder of a whole model makes of images.

    Args:
        model_path: a whole PrototypeDL.
        images: a folder of images, or an IDX file.
        labels: an IDX file of the true classes; None for a folder.
        level: which prototypes of a hierarchical network are decoded, `super` or `sub`.
        output: the latents file.
        pictures: the folder for the prototypes' pictures, if they are wanted.

    Raises:
        UsageError: labels of a folder.
        InputError: a file that cannot be used, or is in the way.
    """
    model = load_model(model_path)
    folder = Path(images).is_dir()
    require_output(output, [model_path, labels, *(image_files(Path(images)) if folder else [images])])
    if folder and labels is not None:
        raise UsageError(
            f"{option('labels')} is for an IDX file; of a folder of images, the subfolders are the classes"
        )
    pixels = None if folder else _pixels(images)
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
        batch, classes = pixels.unsqueeze(1).float() / 255, _classes(labels, len(pixels))
    latents = network.latents(batch)
    decoded = {} if pictures is None else {f"{n:04d}.png": png(each) for n, each in enumerate(network.pictures())}
    if pictures is not None:
        WrittenFiles(Path(pictures)).require_own(decoded, _BY)
    save_latents(output, latents, classes)
    yield f"{output}: {len(latents)} images, {latents.shape[2]} numbers each"
    if pictures is not None:
        write_beside(Path(pictures), decoded, _BY)
        yield f"{pictures}: pictures of {len(decoded)} prototypes"


def _pixels(images: str) -> Tensor:
    """The images (N, H, W) of an IDX file, as bytes. Raises InputError."""
    pixels = read_idx(images, 3)
    if not pixels.numel():
        raise InputError(images, f"holds {tuple(pixels.shape)} pixels, expected images")
    return pixels


def _classes(labels: str | None, images: int) -> list[int] | None:
    """The true classes of an IDX file, one for each image. Raises InputError."""
    classes = None if labels is None else read_idx(labels, 1).tolist()
    if classes is not None and len(classes) != images:
        raise InputError(labels, f"holds {len(classes)} classes, expected {images}, one for each image")
    return classes


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
