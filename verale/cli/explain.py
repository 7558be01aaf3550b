"""`verale explain`: certified explanations of given latents, or of images that a CaBRNet network captures."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain
from os.path import lexists
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from verale.checker import AuditOptions
from verale.checker.verdict import print_line
from verale.cli import options
from verale.cli.terminal import Exit, exits, print_record, progress
from verale.errors import InputError, LatentsError, UsageError, naming
from verale.files import certificates_in
from verale.runs.options import RunOptions, audit_options
from verale.search.options import SearchOptions

if TYPE_CHECKING:
    from verale.checker.deployment import Deployment
    from verale.runs.explain import ExplainRun
    from verale.runs.seen import SeenPictures
    from verale.runs.table import Explained

_EXPECTED = "give --head and --latents, or --checkpoint-dir and --images, or --head, --network and --images"

_Given = tuple[str | None, str | None, str | None, str | None]
"""Head and latents, or a CaBRNet run and images: what `verale explain` is given."""


@click.command(name="explain", short_help="Explain images, one certificate each.")
@click.option("--head", "head_path", metavar="HEAD", type=click.Path(), help="The head file.")
@click.option("--latents", "latents_path", metavar="LATENTS", type=click.Path(), help="The images' latents.")
@options.path("--checkpoint-dir", "RUN", "Instead: a CaBRNet run, RUN/final.")
@options.path(
    "--images",
    "IMAGES",
    "The images to explain, in one subfolder for each class if known: of --checkpoint-dir any images; of --network"
    " picture files, kept as PNG files that certificates name, or a safetensors file.",
)
@click.option(
    "--network", "network_path", metavar="NETWORK", type=click.Path(), help="Instead of latents: the network file."
)
@options.named(
    "--arithmetic", "How the network computes: real, the default; or float32, in any order of sums.", "real", "float32"
)
@options.resize
@options.search()
@options.fields_of(
    AuditOptions, "deployed", lambda given: audit_options(None, given).deployment, "deployment",
    deployment="State enough for float32 to give the class too, with squared distances by direct, expanded or cdist.",
)  # fmt: skip
@options.out("The folder for certificates and a CSV.", required=True)
@options.run()
@options.in_json("one object an image")
@options.verbose
@exits(Exit.UNEXPLAINED, Exit.SKIPPED, done="every image has a certificate; 9 also for a picture that was left out")
def command(
    head_path: str | None,
    latents_path: str | None,
    checkpoint_dir: str | None,
    images: str | None,
    network_path: str | None,
    arithmetic: str | None,
    resize: int | None,
    search: SearchOptions,
    deployed: Deployment | None,
    out: str,
    run: RunOptions,
    as_json: bool,
) -> None:
    """Explain every image of a latents file (--head, --latents), or of a folder (--checkpoint-dir, --images); or every
    picture, for all latents that a network can give for it (--head, --network, --images).

    Writes one certificate for each image, and explanations.csv, which also says what the paradigms gave that were tried
    and not kept. The folder also gets the head and the latents, so that it can
    be audited on its own; latents of more than 1 GiB stay where they are, it gets a link, and
    commands that need them ask for --latents. For a folder of images
    it gets source.json too (which network, which images, where its prototypes come from). After an interruption the
    same command continues where it stopped; a folder never holds two runs.

    An image that cannot be read ends the command before the first explanation, unless --skip-unreadable. A picture of
    a --network that cannot be used is refused by name, and left out of the run.
    """
    from verale.runs.inputs import LATENTS, LINK, SOURCE, TABLE
    from verale.runs.options import use_device
    from verale.runs.table import reasons

    directory, latents_name = Path(out), latents_path or str(Path(out) / LATENTS)
    use_device(search.device)
    given = head_path, latents_path, checkpoint_dir, None if network_path else images
    of_pictures = _seen(given, network_path, images, arithmetic, resize)
    refused = [] if of_pictures is None else list(map(str, of_pictures.refused))
    if run.skip_unreadable and latents_path is not None:
        raise UsageError("--skip-unreadable is for --images")
    skipped = refused if run.skip_unreadable else None
    for each in refused:
        print_line(f"error: {each}; it is left out", sys.stderr)
    asked = _opened(directory, given, search, deployed, run, of_pictures, skipped)
    with naming(latents_name, LatentsError), asked as opened:
        without = _explain(opened, as_json)
    explained = opened.total - len(without)
    print_line(f"{explained} of {opened.total} images have a certificate in {directory}", sys.stderr)
    if search.costs and explained:
        from verale.certificate import Certificate
        from verale.certificate.words import about

        sums = [search.costs.total(Certificate.load(path).statements) for path in certificates_in(directory)]
        span = f"{about(min(sums))} to {about(max(sums))}"
        print_line(f"an explanation costs {about(sum(sums) / len(sums))} on average, {span}", sys.stderr)
    for line in reasons(without, directory / TABLE):
        print_line(line, sys.stderr)
    if explained:
        if not opened.compared:
            print_line("the head was not compared with the network (verale head compare)", sys.stderr)
        if lexists(directory / SOURCE):
            from verale.runs.source import allowing

            if allowed := allowing(directory):
                print_line(f"next: verale report {directory}{allowed}", sys.stderr)
        if lexists(directory / LINK):
            print_line(f"next: verale audit {directory} --latents {quote(latents_name)}", sys.stderr)
    if refused:
        if run.skip_unreadable:
            for each in refused:
                print_line(f"left out: {each}", sys.stderr)
        where = "" if run.skip_unreadable else " (see above)"
        print_line(f"{len(refused)} of {len(refused) + opened.total} pictures are left out{where}", sys.stderr)
        sys.exit(Exit.SKIPPED if run.skip_unreadable else Exit.UNUSABLE)
    if without:
        sys.exit(Exit.UNEXPLAINED)


@contextmanager
def _opened(
    directory: Path,
    given: _Given,
    search: SearchOptions,
    deployment: Deployment | None,
    how: RunOptions,
    seen: SeenPictures | None,
    skipped: list[str] | None,
) -> Iterator[ExplainRun]:
    """A run into a folder.

    Args:
        given: head and latents, or a CaBRNet run and images, or a head alone, for the pictures that are seen.
        skipped: gets the images that cannot be read; None where these are an error.
    """
    from verale.head import Head, load_labelled
    from verale.runs.explain import open_run

    files: tuple[str, str | None] | None = None
    beside: Mapping[str, bytes] | None = None
    inputs: list[Path] = []
    match given:
        case (str(head_path), None, None, None) if seen is not None:
            head = Head.load(head_path)
            labels = seen.labels(head)
            latents = seen.latents(None if how.overwrite else directory)
            inputs = [Path(head_path)]
        case (str(head_path), str(latents_path), None, None):
            head, files = Head.load(head_path), (head_path, latents_path)
            if latents_path.endswith(".parquet") or Path(latents_path).is_dir():
                from verale.datasets.rows import load_parquet

                latents, labels = load_parquet(latents_path)
                files, inputs = (head_path, None), [Path(latents_path)]
            else:
                latents, labels = load_labelled(latents_path)
        case (None, None, str(run), str(images)):
            from verale.runs.capture import capture_images
            from verale.runs.images import image_files, readable, tell_left_out

            inputs = image_files(Path(images))
            tell_left_out(Path(images))
            with progress("reading", len(inputs)) as advance:  # all are tried before the first explanation
                try:
                    inputs, unreadable = readable(inputs, skipped is not None, advance)
                except InputError as error:
                    remedy = "" if skipped is not None else "; repair them, or leave them out by --skip-unreadable"
                    raise InputError(error.path, f"{error.problem}{remedy}") from error
            if skipped is not None:
                skipped += map(str, unreadable)
            with progress("capturing", len(inputs)) as advance:
                captured = capture_images(directory, Path(run), Path(images), inputs, advance, how.overwrite)
            head, latents, labels, beside = captured.head, captured.latents, captured.labels, captured.beside
        case _:
            raise UsageError(_EXPECTED)
    made = head, latents, search, labels, how, files, deployment, seen
    with open_run(directory, *made, beside, inputs) as opened:
        yield opened


def _seen(
    given: _Given, network: str | None, images: str | None, arithmetic: str | None, resize: int | None
) -> SeenPictures | None:
    """The pictures and their network; None without a network. Raises UsageError, InputError."""
    if network is None:
        for name, value in (("--arithmetic", arithmetic), ("--resize", resize)):
            if value is not None:
                raise UsageError(f"{name} is for pictures: give --head, --network and --images too")
        return None
    if images is None or given[0] is None or given[1:] != (None, None, None):
        raise UsageError("pictures need --head, --network and --images, and no latents or run")
    from verale.checker.certificate import ARITHMETICS
    from verale.runs.seen import SeenPictures

    if arithmetic not in (None, *ARITHMETICS):
        raise UsageError(f"--arithmetic {arithmetic} is proved by no audit yet, expected {' or '.join(ARITHMETICS)}")
    loaded = SeenPictures.load(network, images, "float32" if arithmetic == "float32" else "real", resize)
    if loaded.decoder is not None and loaded.decoded:
        count, of = len(loaded.decoded), len(loaded.names)
        print_line(f"{count} of {of} pictures are {loaded.decoder.in_words}; {_OF_PNG}", sys.stderr)
    if arithmetic == "float32":
        print_line(_EXCLUDED, sys.stderr)
    return loaded


_OF_PNG = "the PNG files in pictures/ are what the network sees and what is proved"
_EXCLUDED = (
    "float32 is binary32 in any order of sums: not TF32, bfloat16 or half precision, nor convolutions by Winograd's or"
    " Fourier's transforms (certificates/network-v1.md, 'The network in binary32')"
)
"""What a claim in float32 is not about, which no file shows."""


def _explain(run: ExplainRun, as_json: bool) -> list[Explained]:
    """Explain what is left; report how much was done before, and how far an interrupted run came.

    Returns:
        The rows of images without a certificate; of a million images, not all that is known of each.
    """
    begun, folder = len(run.by_index), run.directory
    if begun:
        left = run.total - begun
        rest = f"{left} are left" if left else "nothing is left to do"
        print_line(f"{begun} of {run.total} images are explained in {folder} already: {rest}", sys.stderr)

    def done() -> str:
        return f"{len(run.by_index)} of {run.total} images are explained; the same command continues"

    without = []
    with progress("explaining", run.total, begun, interrupted=done) as advance:
        for number, one in enumerate(chain(run.rows, run)):
            if one.certificate is None:
                without.append(one)
            if as_json:
                named = None if one.certificate is None else str(folder / one.certificate)
                print_record("explained", asdict(one) | {"certificate": named})
            if number >= begun:
                advance(1)
    return sorted(without, key=lambda row: row.index)
