"""`verale explain`: certified explanations of one's own latents, or of images that a CaBRNet network sees."""

from __future__ import annotations

import csv
import io
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verale.cli import EXIT_UNEXPLAINED, progress
from verale.errors import InputError, LatentsError, UsageError
from verale.files import write_atomically

if TYPE_CHECKING:
    from torch import Tensor

    from verale.certificate import Certificate
    from verale.head import Head
    from verale.search import Options, Unexplained

__all__ = ["Explained", "command", "device_named", "explain_to", "see_to"]

SUMMARY = "explanations.csv"
HEAD, LATENTS, SOURCE = "head.safetensors", "latents.safetensors", "source.json"

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")
"""What torchvision's ImageFolder takes for an image."""

COLUMNS = (
    "Idx",
    "Pred Label",
    "Exp Size",
    "Relative Size",
    "Margin",
    "Runtime (s)",
    "Paradigm",
    "Certificate",
    "Reason",
)


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
    from verale.head import Head, load_latents
    from verale.search import Options

    directory = Path(out)
    if not overwrite and any(directory.glob("*.ale.json")):
        raise InputError(directory, "holds certificates already; choose another --out, or say --overwrite")
    options = Options(paradigm, order, tolerance, device_named(device), batch, max_memory * 2**30)
    match (head_path, latents_path, run, images):
        case (str(given_head), str(given_latents), None, None):
            head, latents, described = Head.load(given_head), load_latents(given_latents), given_latents
        case (None, None, str(given_run), str(given_images)):
            head, latents = see_to(directory, Path(given_run), Path(given_images))
            described = str(directory / LATENTS)
        case _:
            raise UsageError("give --head and --latents, or --checkpoint-dir and --images")
    try:
        explained = explain_to(directory, head, latents, options)
    except LatentsError as error:
        raise InputError(described, str(error)) from error
    without = [str(one.index) for one in explained if one.certificate is None]
    click.echo(
        f"{len(explained) - len(without)} of {len(explained)} images have a certificate in {directory}", err=True
    )
    if without:
        click.echo(f"without one: {', '.join(without)}; reasons in {directory / SUMMARY}", err=True)
        sys.exit(EXIT_UNEXPLAINED)


def see_to(directory: Path, run: Path, images: Path) -> tuple[Head, Tensor]:
    """Head and latents of a CaBRNet network and a folder of images, written with `source.json` to `directory`.

    Raises:
        InputError: a run that verale cannot load, a folder without images, an image that cannot be read or that head
            and network see differently; nothing is written.
    """
    from verale.adapters.cabrnet import load
    from verale.head import save_latents

    files = _image_files(images)
    network = load(run)
    with progress("seeing", len(files)) as advance:
        seen = network.see(files, advance)
    folders = sorted({file.parent.name for file in files}) if files[0].parent != images else []
    classes = folders if len(folders) == network.head.classes else None
    other = [str(file) for file, differs in zip(files, seen.undecided.tolist(), strict=True) if differs]
    if other:
        click.echo(f"CaBRNet's float32 logits name another class than the head's: {', '.join(other)}", err=True)
    source = {
        **network.describe(),
        "classes": classes,
        "images": [
            {"file": str(file.relative_to(images)), "label": classes.index(file.parent.name) if classes else None}
            for file in files
        ],
        "images_folder": str(images.resolve()),
        "largest_difference_of_logits": float(seen.off.max()),
        "largest_share_of_allowed_difference": seen.share,
    }
    network.head.save(directory / HEAD)
    save_latents(directory / LATENTS, seen.latents)
    write_atomically(
        directory / SOURCE, (json.dumps(source, indent=1, ensure_ascii=False, default=str) + "\n").encode()
    )
    return network.head, seen.latents


def _image_files(folder: Path) -> list[Path]:
    """The images of a folder, or of its folders, in the order of their names. Raises InputError."""

    def inside(pattern: str) -> list[Path]:
        return sorted(path for path in folder.glob(pattern) if path.suffix.lower() in IMAGE_SUFFIXES)

    flat, nested = inside("*"), inside("*/*")
    if not folder.is_dir() or bool(flat) == bool(nested):
        found = "images and folders of images" if flat else "no images" if folder.is_dir() else "no such folder"
        raise InputError(
            folder, f"{found}; expected images ({', '.join(IMAGE_SUFFIXES)}), or one folder of them a class"
        )
    return flat or nested


@dataclass(frozen=True)
class Explained:
    """One image's outcome.

    Attributes:
        index: its place among the latents.
        result: the certificate, or why there is none.
        path: where the certificate is.
        seconds: the time its explanation took: its batch's, divided by the images in it.
        pairs: how many statements could have been made: L * P, or P where they are about activations.
    """

    index: int
    result: Certificate | Unexplained
    path: Path
    seconds: float
    pairs: int

    @property
    def certificate(self) -> Certificate | None:
        """The certificate, if there is one."""
        from verale.certificate import Certificate

        return self.result if isinstance(self.result, Certificate) else None

    @property
    def relative_size(self) -> float | None:
        """Statements made over statements that could have been made."""
        return None if self.certificate is None else self.certificate.size / self.pairs

    def row(self) -> tuple[object, ...]:
        """The line of the summary; empty where there is no certificate."""
        certificate = self.certificate
        if certificate is None:
            reason = getattr(self.result, "reason", "")
            return (self.index, self.result.predicted, "", "", "", f"{self.seconds:.4f}", "", "", reason)
        size, share = certificate.size, f"{self.relative_size:.6f}"
        return (
            *(self.index, certificate.predicted, size, share, f"{certificate.margin:.6g}", f"{self.seconds:.4f}"),
            *(certificate.paradigm, self.path.name, ""),
        )


def explain_to(directory: Path, head: Head, latents: Tensor, options: Options) -> list[Explained]:
    """Explain every image and write `NNNNNN.ale.json` for each, then `explanations.csv`.

    Certificates of an earlier run that this one did not write again are removed: the folder is one run's.

    Raises:
        LatentsError: latents of another network; nothing is written.
        UsageError: a paradigm that is not defined for the head; nothing is written.
    """
    from verale.certificate import Certificate
    from verale.head import as_patches
    from verale.search import explain_batches

    patches = as_patches(latents)
    explained: list[Explained] = []
    with progress("explaining", len(patches)) as advance:
        start = time.perf_counter()
        for results in explain_batches(head, patches, options):
            seconds = (time.perf_counter() - start) / len(results)
            for result in results:
                path = directory / f"{len(explained):06d}.ale.json"
                if isinstance(result, Certificate):
                    result.save(path)
                explained.append(Explained(len(explained), result, path, seconds, _pairs(result, head, patches)))
            advance(len(results))
            start = time.perf_counter()
    written = {one.path for one in explained if one.certificate is not None}
    for stale in set(directory.glob("*.ale.json")) - written:
        stale.unlink()
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(one.row() for one in explained)
    write_atomically(directory / SUMMARY, table.getvalue().encode())
    return explained


def _pairs(result: Certificate | Unexplained, head: Head, patches: Tensor) -> int:
    return head.size if getattr(result, "paradigm", None) in ("top_k", "sparse") else head.size * patches.shape[1]


def device_named(name: str) -> str:
    """A torch device by name; `auto` is CUDA where there is one. One CPU thread: the tensors are small."""
    import torch

    torch.set_num_threads(1)
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        raise UsageError(
            f"device {name!r} cannot be used here ({str(error).splitlines()[0]}); try --device cpu"
        ) from error
    return name
