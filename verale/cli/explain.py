"""`verale explain`: certified explanations of one's own latents, or of images that a CaBRNet network sees."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from verale.cli import EXIT_UNEXPLAINED, progress
from verale.errors import InputError, LatentsError, UsageError

__all__ = ["command"]


@click.command(name="explain")
@click.option("--head", "head_path", metavar="H", type=click.Path(), help="The head file.")
@click.option("--latents", "latents_path", metavar="Z", type=click.Path(), help="The images' latents.")
@click.option("--checkpoint-dir", "run", metavar="RUN", type=click.Path(), help="Instead: a CaBRNet run (RUN/final).")
@click.option("--images", metavar="DIR", type=click.Path(), help="Images for that network, flat or a folder a class.")
@click.option(
    "--paradigm",
    metavar="NAME",
    help="projection, triangle, hypersphere, simplex, assignment, sparse, top_k; by default the best.",
)
@click.option("--order", default="rival", show_default=True, help="rival, or nearest: the published order.")
@click.option(
    "--tolerance", default=0.0, metavar="X", help="State intervals with ends at multiples of X, such as 0.01."
)
@click.option("--out", required=True, metavar="DIR", type=click.Path(), help="Where certificates and a CSV go.")
@click.option("--device", default="auto", show_default=True, metavar="NAME", help="cpu, cuda, or auto: what is there.")
@click.option("--batch", default=16, show_default=True, help="Images treated in lockstep.")
@click.option("--max-memory", default=4.0, show_default=True, metavar="GIB", help="Batches shrink to stay within it.")
@click.option("--overwrite", is_flag=True, help="Replace certificates that are there already.")
def command(
    head_path: str | None,
    latents_path: str | None,
    run: str | None,
    images: str | None,
    paradigm: str | None,
    order: str,
    out: str,
    tolerance: float,
    device: str,
    batch: int,
    max_memory: float,
    overwrite: bool,
) -> None:
    """Explain every image of a latents file (--head, --latents), or of a folder (--checkpoint-dir, --images).

    One certificate an image. For a folder of images, the head, the latents and source.json (which network, which
    images, where its prototypes come from) are written next to them.

    Exit code: 0 every image has a certificate; 10 some have none (explanations.csv says why); 9 a file or option that
    cannot be used.
    """
    from verale.devices import device_named
    from verale.explaining import SUMMARY, explain_to
    from verale.head import Head, load_latents
    from verale.search import Options
    from verale.seeing import LATENTS, image_files, see_to

    directory = Path(out)
    if not overwrite and any(directory.glob("*.ale.json")):
        raise InputError(directory, "holds certificates already; choose another --out, or say --overwrite")
    options = Options(paradigm, order, tolerance, device_named(device), batch, max_memory * 2**30)
    match (head_path, latents_path, run, images):
        case (str(given_head), str(given_latents), None, None):
            head, latents, described = Head.load(given_head), load_latents(given_latents), given_latents
        case (None, None, str(given_run), str(given_images)):
            files = image_files(Path(given_images))
            with progress("seeing", len(files)) as advance:
                head, latents = see_to(directory, Path(given_run), Path(given_images), files, advance)
            described = str(directory / LATENTS)
        case _:
            raise UsageError("give --head and --latents, or --checkpoint-dir and --images")
    try:
        with progress("explaining", len(latents)) as advance:
            explained = []
            for one in explain_to(directory, head, latents, options):
                explained.append(one)
                advance(1)
    except LatentsError as error:
        raise InputError(described, str(error)) from error
    without = [str(one.index) for one in explained if one.certificate is None]
    click.echo(
        f"{len(explained) - len(without)} of {len(explained)} images have a certificate in {directory}", err=True
    )
    if without:
        click.echo(f"without one: {', '.join(without)}; reasons in {directory / SUMMARY}", err=True)
        sys.exit(EXIT_UNEXPLAINED)
