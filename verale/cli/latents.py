"""`verale latents`: images become latents, by a CaBRNet network or by the encoder of a whole published one."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from verale.checker.file_auditor import print_line
from verale.cli import options
from verale.cli.terminal import exits, progress
from verale.errors import UsageError

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
    from verale.runs.images_to_latents import write_of_model, write_of_run

    if arch is None:
        if not Path(model_path).is_dir():
            raise UsageError(f"{model_path} is no CaBRNet run directory, expected --arch, the network that a model is")
        for name, value in (("labels", labels), ("level", level), ("prototype-pictures", prototype_pictures)):
            if value is not None:
                raise UsageError(f"--{name} is given, expected none with a run directory: it is for a whole model")
        print_line(write_of_run(Path(model_path), Path(images), out, progress), sys.stderr)
    else:
        for line in write_of_model(model_path, images, labels, level or "super", out, prototype_pictures):
            print_line(line, sys.stderr)
