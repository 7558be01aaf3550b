"""`verale network`: freeze networks, from the picture to the latents, and show what a network file holds; and `verale
latents`: what a CaBRNet network, or the encoder of a whole published one, makes of images."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verale.checker.verdict import print_line
from verale.cli import options
from verale.cli.terminal import exits, print_record, progress
from verale.errors import InputError, NetworkError, UsageError, naming
from verale.version import installing

if TYPE_CHECKING:
    from verale.checker.receptive import ReceptiveFields
    from verale.network import FrozenNetwork


@click.group(name="network")
def network() -> None:
    """Freeze a network from the picture to the latents, or show what a network file holds."""


@network.command(name="show")
@click.argument("network_path", metavar="NETWORK", type=click.Path())
@options.in_json("one object")
@exits(done="shown")
def show(network_path: str, as_json: bool) -> None:
    """Show what a network file holds."""
    from verale.checker.errors import NetworkError as UnreadableNetworkError
    from verale.checker.errors import UnprovedError
    from verale.checker.read.network_file import LARGEST as LARGEST_NETWORK
    from verale.checker.read.network_file import read_network
    from verale.checker.receptive import receptive_fields
    from verale.cli.tables import PLAIN, TextTable, print_table
    from verale.files import read

    with naming(network_path, UnreadableNetworkError):
        network = read_network(read(network_path, "a network file (safetensors)", most=LARGEST_NETWORK))
    mean, std = (tuple(map(float, numbers)) for numbers in (network.mean, network.std))
    fields: ReceptiveFields | None = None
    with suppress(UnprovedError):  # where that takes too long to find out
        fields = receptive_fields(network)
    if as_json:
        layers = [
            {"layer": layer.name, "kind": layer.kind, "reads": layer.inputs, "gives": layer.shape}
            for layer in network.layers
        ]
        record = {"network": network_path, "sha256": network.sha256, "pictures": network.shape}
        data: dict[str, object] | None = None
        if fields is not None:
            rows, columns = (list(map(float, shares)) for shares in fields.alone())
            alone = {"rows": rows, "columns": columns}
            data = {"rows": fields.rows, "columns": fields.columns, "whole": fields.whole, "alone": alone}
        print_record("network", {**record, "mean": mean, "std": std, "layers": layers, "receptive_fields": data})
        return
    print_line(f"{network_path}, sha256 {network.sha256}")
    print_line(f"pictures {_shape(network.shape)}, mean {mean}, std {std}")
    table = TextTable(**PLAIN)
    for heading in ("layer", "kind", "reads", "gives"):
        table.add_column(heading, overflow="fold")
    for layer in network.layers:
        table.add_row(layer.name, layer.kind, ", ".join(layer.inputs), _shape(layer.shape))
    print_table(table)
    print_line(_fields_in_words(fields))
    try:
        from verale.network import FrozenNetwork, require_binary32
    except ImportError:
        print_line(f"whether it excludes float32 is not known without torch: {installing('explain')}")
        return
    try:
        require_binary32(FrozenNetwork.of(network))
    except NetworkError as error:  # nothing is claimed of it in float32
        print_line(str(error))


def _fields_in_words(fields: ReceptiveFields | None) -> str:
    from verale.certificate.words import seen_alone

    if fields is None:
        return "which pixels patches depend on is not computed: windows are too large"
    rows, columns = fields.alone()
    size, count = _shape(fields.size), len(rows) * len(columns)
    if fields.whole:
        seen = f"can depend on the whole picture of {size} pixels"
    else:
        most = (max(after - first for first, after in axis) for axis in (fields.rows, fields.columns))
        seen = f"depends on at most {_shape(tuple(most))} of {size} pixels"
    if count == 1:
        return f"the only patch {seen}"
    alone = seen_alone(min(rows) * min(columns), max(rows) * max(columns))
    return f"each of {_shape((len(rows), len(columns)))} patches {seen}; {alone}"


def _size(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    found = re.fullmatch(r"([1-9][0-9]{0,3})(?:x([1-9][0-9]{0,3}))?", value, re.ASCII)
    if found is None:
        raise click.BadParameter(f"{value!r} is no size, expected rows and columns such as 224x224", ctx, param)
    return int(found[1]), int(found[2] or found[1])


@network.command(name="export", short_help="Freeze a CaBRNet run or a PrototypeDL model as a file.")
@click.argument("model_path", metavar="RUN|MODEL", type=click.Path())
@options.out("The network file to write.", "NETWORK", required=True)
@click.option(
    "--size",
    metavar="ROWSxCOLUMNS",
    callback=_size,
    help="The pictures' size; by default what the run's transform makes, of a PrototypeDL 28x28.",
)
@exits(done="written")
def export(model_path: str, out: str, size: tuple[int, int] | None) -> None:
    """Freeze a CaBRNet run directory (RUN/final) or a whole PrototypeDL model (.pth) as a network file.

    The file says what is computed from a picture's bytes to the latents, after resizing and cropping: layers, their
    numbers, and batch normalisation folded into them. Of a torch module of your own, verale.export_network writes one.
    """
    from verale.adapters.cabrnet.run import FILES
    from verale.runs.folder import require_output

    require_output(out, [model_path, *(Path(model_path) / name for name in FILES)])
    with naming(model_path, NetworkError):
        network = _frozen(Path(model_path), size)
    network.save(out)
    print_line(
        f"{out}: {len(network.layers)} layers from pictures {_shape(network.shape)} to latents"
        f" {_shape(network.output_shape)}, sha256 {network.digest}",
        sys.stderr,
    )


def _frozen(path: Path, size: tuple[int, int] | None) -> FrozenNetwork:
    if path.is_dir():
        from verale.adapters.cabrnet.network import frozen_run

        return frozen_run(path, size)
    from verale.adapters import load_model
    from verale.adapters.published.prototypedl import Autoencoder
    from verale.errors import HeadError

    model = load_model(path)
    if not any(name.startswith("encoder.convnet") for name in model.modules):
        raise InputError(
            path,
            f"is a whole {model.modules[''].kind.rpartition('.')[2]}, and of files only a PrototypeDL's encoder is"
            " known: load the model in Python and write verale.export_network(model, layer, (3, 224, 224), mean=...,"
            " std=...)",
        )
    with naming(path, HeadError):
        return (Autoencoder(model) if size is None else Autoencoder(model, size)).frozen()


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


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
def latents(
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
    from verale.runs.capture import write_of_model, write_of_run

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
