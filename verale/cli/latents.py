"""`verale latents`: images become latents, by a CaBRNet network or by the encoder of a whole published one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verale.checker.output import print_line
from verale.cli import options
from verale.cli.exits import exits
from verale.errors import HeadError, InputError, UsageError

if TYPE_CHECKING:
    from torch import Tensor

    from verale.adapters.published.prototypedl import Autoencoder

__all__ = ["command"]

_BY = "latents"

_NETWORKS = ("prototypedl",)
"""The architectures whose whole models say how their encoder computes."""


@click.command(name="latents", short_help="Capture images with a CaBRNet network, or a whole published one.")
@click.argument("model_path", metavar="RUN|MODEL", type=click.Path())
@click.option("--arch", help="The published network that MODEL is.", **options.choice(*_NETWORKS))
@click.option(
    "--images",
    required=True,
    metavar="FOLDER|IDX",
    type=click.Path(),
    help="A folder of images, or of one subfolder for each class; or an IDX file such as MNIST's, perhaps .gz.",
)
@options.path("--labels", "IDX", "The true classes, where the images are an IDX file.")
@options.named(
    "--level",
    "Which prototypes of a hierarchical network --prototype-pictures decodes: super (the default) or sub.",
    "super",
    "sub",
)
@options.out("The latents file to write.", "LATENTS", required=True)
@options.prototype_pictures("Also write each prototype's picture, decoded, as FOLDER/0000.png and so on.")
@exits(done="written")
def command(
    model_path: str,
    arch: str | None,
    images: str,
    labels: str | None,
    level: str | None,
    out: str,
    prototype_pictures: str | None,
) -> None:
    """Write the latents of images, for `verale explain --head HEAD --latents LATENTS`.

    RUN is a CaBRNet run directory (RUN/final). Of it the file also gets the network's logits, for `verale head
    compare`.

    MODEL, with --arch, is a whole model as torch.save(model) writes it. Nothing in it is executed: its encoder and
    decoder are built anew from its tensors and the attributes of its layers. So the file gets no logits. Images have to
    be of the size that it was trained on.
    """
    if arch is None:
        if not Path(model_path).is_dir():
            raise UsageError(f"{model_path} is no CaBRNet run directory, expected --arch, the network that a model is")
        for name, value in (("labels", labels), ("level", level), ("prototype-pictures", prototype_pictures)):
            if value is not None:
                raise UsageError(f"--{name} is given, expected none with a run directory: it is for a whole model")
        _write_of_run(Path(model_path), Path(images), out)
    else:
        _write_of_model(model_path, images, labels, level or "super", out, prototype_pictures)


def _write_of_run(run: Path, images: Path, output: str) -> None:
    """Write what a CaBRNet network makes of a folder of images: latents, logits, and true classes where these are said.
    Raises InputError."""
    from verale.adapters.cabrnet import load
    from verale.adapters.cabrnet.run import FILES
    from verale.cli.progress import progress
    from verale.head import save_latents
    from verale.runs.capture import classes_of_trained
    from verale.runs.images import image_files, readable, tell_left_out
    from verale.runs.outputs import require_output

    files = image_files(images)
    require_output(output, [run, *(run / name for name in FILES), *files])
    tell_left_out(images)
    readable(files)
    network, names = load(run), [file.relative_to(images).as_posix() for file in files]
    labels = classes_of_trained(network, images, names).tell().labels(names)
    with progress("capturing", len(files)) as advance:
        captured = network.capture(files, advance)
    save_latents(output, captured.latents, labels, captured.logits)
    print_line(f"{output}: {len(files)} images, latents {tuple(captured.latents.shape[1:])} and logits", sys.stderr)


def _write_of_model(
    model_path: str, images: str, labels: str | None, level: str, output: str, pictures: str | None
) -> None:
    """Write what the encoder of a whole model makes of images. Raises UsageError, InputError."""
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
