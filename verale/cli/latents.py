"""`verale latents`: images become latents, by the encoder of a whole published network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verale.checker.output import print_line
from verale.cli.shared import choice, one_of
from verale.errors import HeadError, InputError, UsageError

if TYPE_CHECKING:
    from torch import Tensor

    from verale.adapters.published.prototypedl import Autoencoder

__all__ = ["command"]

_BY = "latents"

_NETWORKS = ("prototypedl",)
"""The architectures whose whole models say how their encoder computes."""


@click.command(name="latents", short_help="Capture images with the encoder of a whole published network.")
@click.argument("model_path", metavar="MODEL", type=click.Path())
@click.option("--arch", required=True, help="The published network that MODEL is.", **choice(*_NETWORKS))
@click.option(
    "--images",
    required=True,
    metavar="DIR|IDX",
    type=click.Path(),
    help="A folder of images, or of one subfolder for each class; or an IDX file such as MNIST's, perhaps .gz.",
)
@click.option("--labels", metavar="IDX", type=click.Path(), help="The true classes, where the images are an IDX file.")
@click.option(
    "--level",
    default="super",
    show_default=True,
    help="Which prototypes of a hierarchical network --pictures decodes: super or sub.",
    **one_of("super", "sub"),
)
@click.option("-o", "--output", required=True, metavar="Z", type=click.Path(), help="The latents file to write.")
@click.option("--pictures", metavar="DIR", type=click.Path(), help="Also write each prototype's picture, decoded.")
def command(
    model_path: str, arch: str, images: str, labels: str | None, level: str, output: str, pictures: str | None
) -> None:
    """Write the latents of images, for `verale explain --head H --latents Z`.

    MODEL is a whole model as torch.save(model) writes it. Nothing in it is executed: its encoder and decoder are built
    anew from its tensors and the attributes of its layers. Images have to be of the size that it was trained on.

    Exit code: 0 written; 9 a file or option that cannot be used; 2 unknown option.
    """
    from verale.adapters import load_model
    from verale.adapters.published.prototypedl import Autoencoder
    from verale.head import save_latents
    from verale.pictures import png, read_picture
    from verale.runs.folder import write_beside
    from verale.runs.images import image_files, readable, tell_left_out
    from verale.runs.outputs import require_output
    from verale.runs.written import WrittenFiles

    model = load_model(model_path)
    folder = Path(images).is_dir()
    require_output(output, [model_path, labels, *(image_files(Path(images)) if folder else [images])])
    if folder and labels is not None:
        raise UsageError("--labels is for an IDX file; of a folder of images, the subfolders are the classes")
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
    print_line(f"{output}: {len(latents)} images, {latents.shape[2]} numbers each", sys.stderr)
    if pictures is not None:
        write_beside(Path(pictures), decoded, _BY)
        print_line(f"{pictures}: pictures of {len(decoded)} prototypes", sys.stderr)


def _pixels(images: str) -> Tensor:
    """The images (N, H, W) of an IDX file, as bytes. Raises InputError."""
    from verale.adapters.idx import read_idx

    pixels = read_idx(images, 3)
    if not pixels.numel():
        raise InputError(images, f"holds {tuple(pixels.shape)} pixels, expected images")
    return pixels


def _classes(labels: str | None, images: int) -> list[int] | None:
    """The true classes of an IDX file, one for each image. Raises InputError."""
    from verale.adapters.idx import read_idx

    classes = None if labels is None else read_idx(labels, 1).tolist()
    if classes is not None and len(classes) != images:
        raise InputError(labels, f"holds {len(classes)} classes, expected {images}, one for each image")
    return classes


def _from_folder(folder: Path, network: Autoencoder) -> tuple[Tensor, list[int] | None]:
    """Images (N, channels, H, W) from 0 to 1, and their classes where subfolders say them. Raises InputError."""
    import torch

    from verale.pictures import read_picture
    from verale.runs.images import classes_of_folders, image_files

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
