"""`verale head`: make head files from checkpoints, and show what they hold."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from verale.adapters import ARCHITECTURES
from verale.checker.verdict import print_line
from verale.cli import options
from verale.cli.terminal import exits, print_record
from verale.errors import HeadError, InputError, UsageError, naming
from verale.files import read

if TYPE_CHECKING:
    from verale.checker.read.head_file import HeadPart


@click.group(name="head")
def command() -> None:
    """Make a head file from a checkpoint, or show what one holds."""


@command.command(name="show")
@click.argument("head_path", metavar="HEAD", type=click.Path())
@options.in_json("one object")
@exits(done="shown")
def show(head_path: str, as_json: bool) -> None:
    """Show what a head file holds."""
    from verale.checker.errors import HeadError as UnreadableHeadError
    from verale.checker.read.head_file import read_head_file
    from verale.cli.tables import PLAIN, TextTable, print_table

    with naming(head_path, UnreadableHeadError):
        head = read_head_file(read(head_path, "a head file (safetensors)"))
    numbers = ("" if end is None else _number(end) for end in (head.lower, head.upper))
    fields: dict[str, str | int] = {
        "sha256": head.sha256,
        "classes C": head.classes,
        "prototypes P": head.count,
        "channels D": head.depth,
        "geometry": _described(head.geometry),
        "similarity": _described(head.similarity),
        "scale": "yes" if "scale" in head.tensors else "none",
        "peak": "yes" if "peak" in head.tensors else "none",
        "pooling": _described(head.pooling),
        "readout": head.readout.kind,
        "domain": ":".join(numbers),
        "bias": "yes" if "bias" in head.tensors else "none",
        "compared": "with the network" if head.compared else "not compared with the network",
        "labels": "none" if head.labels is None else ", ".join(head.labels),
    }
    if as_json:
        named = {name.split()[0]: value for name, value in fields.items()}
        print_record("head", {"head": head_path, **named, "labels": head.labels, "compared": head.compared})
        return
    print_line(head_path)
    table = TextTable("field", **PLAIN)
    table.add_column("value", overflow="fold")
    for name, value in fields.items():
        table.add_row(name, str(value))
    print_table(table)


@command.command(name="import", short_help="Make a head file from a CaBRNet run or a state dictionary.")
@click.argument("source", metavar="RUN|STATE", type=click.Path())
@options.out("The head file to write.", "HEAD", required=True)
@click.option("--arch", help="The published network that STATE belongs to.", **options.choice(*ARCHITECTURES))
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="What the tensors do not say, such as domain=0:1 (lower:upper, either may be left out); repeatable."
    " docs/architectures.md lists each network's options and their defaults; so does the error for an unknown one.",
)
@options.path(
    "--positions",
    "FILE",
    'Where prototypes look at some patches only: JSON, {"patches": 40, "positions": [0, [1, 2], ...]}, for each'
    " prototype a patch or a list of patches, which count from 0.",
)
@exits(done="written")
def import_(source: str, out: str, arch: str | None, options: tuple[str, ...], positions: str | None) -> None:
    """Make a head file from a CaBRNet run directory (RUN/final) or, with --arch, from a state dictionary (.pth).

    Without --arch, a state dictionary is only looked at: the error says to which networks its tensors belong.
    """
    from verale.adapters.cabrnet.run import FILES
    from verale.runs.folder import require_output

    if arch is None and Path(source).is_file():
        raise InputError(source, _networks(source, out))
    require_output(out, [source, positions, *(Path(source) / name for name in FILES)])
    if arch is None:
        if options:
            raise UsageError("--option is for --arch: a run directory describes its network itself")
        from verale.adapters.cabrnet import load_head

        head, chosen = load_head(source), ""
    else:
        from verale.adapters.published import load_with_options

        head, known = load_with_options(source, arch, _keywords(arch, options))
        chosen = "".join(f", {key}={value}" for key, value in known.items())
    if positions is not None:
        from verale.adapters.positions import with_positions

        head = with_positions(head, positions)
    head.save(out)
    print_line(f"{out}: {head.classes} classes, {head.size} prototypes{chosen}, sha256 {head.digest}", sys.stderr)
    before = f"verale latents {quote(source)} --images IMAGES -o LATENTS, then " if arch is None else ""
    print_line(
        f"not compared with the network: {before}verale head compare {quote(out)} LATENTS -o HEAD does", sys.stderr
    )


@command.command(name="compare", short_help="Compare a head with its network, and note it.")
@click.argument("head_path", metavar="HEAD", type=click.Path())
@click.argument("latents_path", metavar="LATENTS", type=click.Path())
@options.out("The head file to write.", "HEAD", required=True)
@exits(done="they agree, the file is written; 9 also where they differ")
def compare(head_path: str, latents_path: str, out: str) -> None:
    """Compare a head's logits with the network's, and write a head file that says so.

    LATENTS is a file with a second tensor, logits (N, C): what the network itself gave for the same images, as verale
    latents RUN writes them, or verale.save_latents. They have to lie where float32 may put the head's. The file
    written has another digest than HEAD, so compare before you explain.
    """
    from verale.checker.errors import LatentsError as UnreadableLatentsError
    from verale.checker.read.latents import read_latents_file
    from verale.errors import LatentsError
    from verale.files import LARGEST_LATENTS
    from verale.head import Head
    from verale.runs.check import Forward
    from verale.runs.check import compare as compared
    from verale.runs.folder import require_output
    from verale.tensors import loaded

    require_output(out, [head_path, latents_path])
    head = Head.load(head_path)
    with naming(latents_path, UnreadableLatentsError):
        file = read_latents_file(read(latents_path, "a latents file (safetensors)", LARGEST_LATENTS))
    logits = file.tensors.get("logits")
    if logits is None or logits.dtype not in ("F32", "F64") or logits.shape != (file.images, head.classes):
        held = "no tensor 'logits'" if logits is None else f"logits {logits.dtype} {list(logits.shape)}"
        raise InputError(
            latents_path,
            f"holds {held}, expected the network's, F32 {[file.images, head.classes]}: verale latents RUN --images"
            " IMAGES writes them, or verale.save_latents(path, latents, logits=logits)",
        )
    if not file.images:
        raise InputError(latents_path, "holds no images, expected some to compare")
    with naming(latents_path, LatentsError):
        comparison = compared(head, Forward(loaded(file.tensor), loaded(logits)))
    if not comparison.agrees:
        raise InputError(latents_path, "; ".join(str(comparison).splitlines()))
    marked = head.as_compared()
    marked.save(out)
    for line in str(comparison).splitlines():
        print_line(line, sys.stderr)
    print_line(f"{out}: compared with the network, sha256 {marked.digest}", sys.stderr)


def _described(part: HeadPart) -> str:
    """A part by its kind and its numbers."""
    return " ".join([part.kind, *(f"{name}={_number(value)}" for name, value in part.numbers.items())])


def _number(value: Fraction | int | None) -> str:
    return str(float(value)).removesuffix(".0") if isinstance(value, Fraction) else str(value)


def _networks(path: str, output: str) -> str:
    """To which networks the tensors of a state dictionary may belong, and what to write then."""
    from verale.adapters.accounts import refused, settled
    from verale.adapters.published import fitting, saved_of
    from verale.adapters.state import load_described
    from verale.certificate.words import enumerated

    tensors, said = load_described(path)
    found = fitting(tensors, said)
    if not found:
        return refused(tensors) or (
            f"fits no published network as it is: give --arch, one of {', '.join(ARCHITECTURES)}, to see why; where it"
            " is of a CaBRNet run, the run's directory; of another network, make its head in Python,"
            " verale.Head(weight, geometry, similarity, prototypes).save(path):"
            " docs/architectures.md#a-head-of-your-own"
        )
    choices = [f"--arch {name}" for name in found]
    if "genetic" in found and "patches" not in settled(saved_of("genetic"), {}, tensors, said):
        choices[found.index("genetic")] += " --option patches=L (L is the length of the latent sequence)"
    if len(found) > 1:
        return (
            f"has the tensors of {enumerated(found)}, and needs --arch: these have the same tensors and compute"
            f" different things, so say which network it is, {' or '.join(choices)}"
        )
    command = f"verale head import {quote(path)} -o {quote(output)} {choices[0]}"
    return f"has the tensors of {found[0]}, and needs --arch: write {command}"


def _keywords(arch: str, options: tuple[str, ...]) -> dict[str, object]:
    """The options of an architecture that are given. Raises UsageError."""
    from verale.adapters.published import options_of
    from verale.head import Box

    parameters = options_of(arch)
    kinds = {parameter.name: str(parameter.annotation).split()[0] for parameter in parameters}
    parsers: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "str": str, "Box": Box.of}
    defaults = {parameter.name: parameter.default for parameter in parameters if parameter.default is not None}
    keywords = {}
    for option in options:
        key, _, value = option.partition("=")
        if key not in kinds:
            known = ", ".join(f"{name}={defaults.get(name, '...')}" for name in kinds)
            raise UsageError(f"option {option!r} is unknown, expected KEY=VALUE of {arch}'s: {known or 'none'}")
        try:
            keywords[key] = parsers[kinds[key]](value)
        except (ValueError, HeadError):
            example = {"int": "1", "float": "0.5", "Box": "0:1"}[kinds[key]]
            raise UsageError(f"option {key} is {value!r}, expected a value such as {key}={example}") from None
    return keywords
