"""`verale demo`: packaged digits and network, explained, audited by a process without torch, and tabulated."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verale.cli import progress
from verale.errors import VeraleError

if TYPE_CHECKING:
    from verale.explaining import Explained

__all__ = ["command"]


@click.command(name="demo")
@click.option(
    "--out", default="verale-demo", show_default=True, metavar="DIR", type=click.Path(), help="Where files go."
)
@click.option("--paradigm", metavar="NAME", default="projection", show_default=True, help="projection or top_k.")
def command(out: str, paradigm: str) -> None:
    """Explain 50 handwritten digits with a ProtoPNet that CaBRNet trained; audit every certificate."""
    from verale.adapters.cabrnet import load_head
    from verale.demo.network import RUN, load_images, load_network
    from verale.devices import device_named
    from verale.explaining import explain_to
    from verale.head import save_latents
    from verale.search import Options

    directory = Path(out)
    head_path, latents_path = directory / "head.safetensors", directory / "latents.safetensors"
    digits = load_images()
    head = load_head(RUN)
    latents = load_network().latents(digits.images)
    head.save(head_path)
    save_latents(latents_path, latents)
    options = Options(paradigm, device=device_named("auto"))
    explained = []
    with progress("explaining", len(latents)) as advance:
        for one in explain_to(directory / "certificates", head, latents, options):
            explained.append(one)
            advance(1)
    audited = _audit([one.path for one in explained if one.certificate is not None], head_path, latents_path)
    _print_table(explained, audited, [f"{path.parent.name}/{path.stem}" for path in digits.paths], digits.labels)
    click.echo(f"head:         {head_path}\nlatents:      {latents_path}\ncertificates: {directory / 'certificates'}")
    if any(one.certificate is None for one in explained) or any(r["status"] != "PROVED" for r in audited.values()):
        raise VeraleError(
            "not every image has a proved certificate, which the packaged images should: please report it"
        )


def _audit(certificates: list[Path], head: Path, latents: Path) -> dict[str, dict[str, object]]:
    """The checker's records by certificate, from a process of its own that never loads torch."""
    arguments = ["--json", "--head", str(head), "--latents", str(latents), "--", *map(str, certificates)]
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "verale.checker", *arguments], stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    records = {}
    with process, progress("auditing", len(certificates)) as advance:
        for line in process.stdout or ():
            record = json.loads(line)
            records[record["certificate"]] = record
            advance(1)
    return records


def _print_table(
    explained: list[Explained], audited: dict[str, dict[str, object]], names: list[str], labels: tuple[int, ...]
) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Certified explanations of the packaged digits", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("image", "class", "paradigm", "size", "of all", "margin", "explain", "audit", "verdict"):
        text = heading in ("image", "class", "paradigm", "verdict")
        table.add_column(heading, justify="left" if text else "right", no_wrap=True)
    for one, name, label in zip(explained, names, labels, strict=True):
        certificate, record = one.certificate, audited.get(str(one.path))
        if certificate is None or record is None:
            table.add_row(name, str(one.result.predicted), "", "", "", "", f"{one.seconds:.2f} s", "", "UNEXPLAINED")
            continue
        mark = "" if certificate.predicted == label else f" not {label}"
        table.add_row(
            *(name, f"{certificate.predicted}{mark}", certificate.paradigm, str(certificate.size)),
            *(f"{one.relative_size:.1%}", f"{certificate.margin:.1e}", f"{one.seconds:.2f} s"),
            *(f"{record['seconds']:.2f} s", str(record["status"])),
        )
    Console().print(table)
    proved = sum(record["status"] == "PROVED" for record in audited.values())
    sizes = [one.certificate.size for one in explained if one.certificate is not None]
    click.echo(
        f"{len(explained)} images, {len(sizes)} certificates, {proved} proved; "
        f"mean {sum(sizes) / max(1, len(sizes)):.0f} statements, "
        f"{sum(one.seconds for one in explained) / len(explained):.2f} s to explain, "
        f"{sum(float(str(r['seconds'])) for r in audited.values()) / max(1, len(audited)):.2f} s to audit an image"
    )
