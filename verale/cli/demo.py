"""`verale demo`: explain packaged digits, audit them in a process without torch, print a table and write a report."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from verale.checker.output import print_line
from verale.cli.progress import progress
from verale.cli.shared import kernel_option, one_of, verbose
from verale.errors import InputError, VeraleError
from verale.files import write_atomically
from verale.paradigms import PARADIGMS, SMALLEST, paradigms_of

if TYPE_CHECKING:
    from verale.runs.table import Explained

__all__ = ["command"]

NAMES = (SMALLEST, *paradigms_of("euclidean", patches=64))
"""The paradigms of the packaged ProtoPNet; first that which keeps the smallest explanation of all."""


@click.command(name="demo", short_help="Explain and audit packaged digits.")
@click.option(
    "--out",
    default="verale-demo",
    show_default=True,
    metavar="DIR",
    type=click.Path(),
    help="The output folder.",
)
@click.option(
    "--paradigm",
    metavar="NAME",
    default=SMALLEST,
    show_default=True,
    help=f"{', '.join(NAMES)}.",
    **one_of(*NAMES),
)
@kernel_option()
@click.option("--overwrite", is_flag=True, help="Start again, and replace what is in DIR.")
@verbose
def command(out: str, paradigm: str, kernel: str | None, overwrite: bool) -> None:
    """Explain 50 handwritten digits, from their PNG files, with a ProtoPNet that CaBRNet trained; audit every
    certificate, from the PNG files.

    Exit code: 0 every certificate is proved; 9 a file or option that cannot be used; 130 interrupted, and the same
    command continues; 2 unknown option.
    """
    from verale.adapters.cabrnet import load_head
    from verale.demo.network import IMAGES, RUN, freeze_network, load_images, load_network
    from verale.demo.source import source_of
    from verale.head import save_latents
    from verale.runs.device import device_named
    from verale.runs.explain import open_run
    from verale.runs.folder import HEAD, LATENTS, NETWORK, PICTURES, RUN_FILE, SOURCE
    from verale.runs.seen import SeenPictures
    from verale.search import SearchOptions
    from verale.search.through import ThroughNetwork

    directory = Path(out)
    head_path, latents_path, network_path = (directory / name for name in (HEAD, LATENTS, NETWORK))
    digits = load_images()
    head = load_head(RUN)
    network, frozen = load_network(), freeze_network()
    seen = SeenPictures.of(ThroughNetwork(frozen), frozen.to_bytes(), IMAGES)
    options = SearchOptions(paradigm, device=device_named("auto"))
    certificates = directory / "certificates"
    latents = seen.latents(None if overwrite else certificates)
    if not overwrite and not (certificates / RUN_FILE).exists() and (head_path.exists() or latents_path.exists()):
        raise InputError(directory, "holds a head or latents already; choose another --out, or say --overwrite")
    if overwrite:
        (certificates / SOURCE).unlink(missing_ok=True)
    with open_run(certificates, head, latents, options, digits.labels, overwrite, seen=seen) as run:
        head.save(head_path)
        frozen.save(network_path)
        save_latents(latents_path, latents, digits.labels)
        explained = run.rows
        with progress("explaining", run.total, len(explained)) as advance:
            for one in run:
                explained.append(one)
                advance(1)
    explained.sort(key=lambda one: one.index)
    paths = [certificates / one.certificate for one in explained if one.certificate is not None]
    audited = _audit(paths, head_path, network_path, certificates / PICTURES, kernel)
    source = source_of(digits).noting(head_sha256=head.digest).of_latents(latents)
    source = source.noting(image_pictures=seen.digests, receptive_fields=network.receptive_fields().record())
    write_atomically(certificates / SOURCE, source.to_bytes())
    _print_table(explained, audited, [f"{path.parent.name}/{path.stem}" for path in digits.paths])
    for name, path in (("head", head_path), ("network", network_path), ("certificates", certificates)):
        print_line(f"{name + ':':13} {path}")
    report = _report(directory / "report.html", certificates, head_path, latents_path, audited)
    print_line(f"report:       {report}")
    if any(one.certificate is None for one in explained) or any(r["exit_code"] != 0 for r in audited.values()):
        raise VeraleError(
            "not every packaged image has a proved certificate, and each of them should: please report this"
        )


def _audit(
    certificates: list[Path], head: Path, network: Path, pictures: Path, kernel: str | None
) -> dict[str, dict[str, Any]]:
    """The checker's records by certificate file, from a separate process that never loads torch."""
    arguments = [
        *(() if kernel is None else ("--kernel", kernel)),
        "--json",
        *("--head", str(head), "--network", str(network), "--pictures", str(pictures)),
        "--",
        *map(str, certificates),
    ]
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "verale.checker", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,  # so that Ctrl-C reaches this process only
    )
    records = {}
    with process, progress("auditing", len(certificates), unit="certificates") as advance:
        try:
            for line in process.stdout or ():
                record = json.loads(line)
                records[Path(record["certificate"]).name] = record
                advance(1)
        except KeyboardInterrupt:
            process.kill()
            raise
    return records


def _report(path: Path, certificates: Path, head: Path, latents: Path, audited: dict[str, dict[str, Any]]) -> str:
    """Write the page with these verdicts, if the extra `report` is installed; return its path, or why there is none."""
    if find_spec("jinja2") is None:
        return "not written; pip install 'verale[report]'"
    from verale.demo.network import IMAGES
    from verale.demo.source import PROJECTION
    from verale.report.collect import collect
    from verale.report.page import page

    records = {record["sha256"]: record for record in audited.values()}
    collection = collect(certificates, head, latents, allow=(IMAGES, PROJECTION))
    judged = collection.with_records(lambda item: records.get(item.sha256), "when this page was written")
    write_atomically(path, page(judged, "Explanations of handwritten digits", check=True))
    return str(path)


def _possible(one: Explained) -> int:
    """How many statements there can be of an image."""
    return (one.pairs if PARADIGMS[str(one.paradigm)].spatial else one.prototypes) or 1


def _print_table(explained: list[Explained], audited: dict[str, dict[str, Any]], names: list[str]) -> None:
    from verale.certificate.words import below, percent
    from verale.checker.kernel import in_words
    from verale.cli.tables import PLAIN, TextTable, print_table

    table = TextTable(title="Certified explanations of the packaged digits", **PLAIN)
    for heading in ("image", "class", "paradigm", "size", "of all", "margin", "explain", "audit", "verdict"):
        text = heading in ("image", "class", "paradigm", "verdict")
        table.add_column(heading, justify="left" if text else "right", no_wrap=True)
    for one, name in zip(explained, names, strict=True):
        record = audited.get(one.certificate or "")
        if record is None:
            predicted = "-" if one.predicted is None else str(one.predicted)
            table.add_row(name, predicted, "", "", "", "", f"{one.seconds:.2f} s", "", "UNEXPLAINED")
            continue
        mark = "" if one.correct else f" not {one.label}"
        table.add_row(
            *(name, f"{one.predicted}{mark}", str(one.paradigm), str(one.size)),
            *(percent(one.size or 0, _possible(one)), below(one.margin or 0), f"{one.seconds:.2f} s"),
            *(f"{record['seconds']:.2f} s", str(record["status"])),
        )
    print_table(table)
    proved = sum(record["exit_code"] == 0 for record in audited.values())
    by = sorted(
        {
            in_words(kernel, record["run"]["checker"].get("variable", ""))
            for record in audited.values()
            for kernel in record["by"].values()
        }
    )
    sizes = [one.size for one in explained if one.size is not None]
    print_line(
        f"{len(explained)} images, {len(sizes)} certificates, {proved} proved by {' and '.join(by) or 'nobody'}; "
        f"mean {sum(sizes) / max(1, len(sizes)):.1f} statements, "
        f"{sum(one.seconds or 0 for one in explained) / len(explained):.2f} s to explain, "
        f"{sum(float(str(r['seconds'])) for r in audited.values()) / max(1, len(audited)):.2f} s to audit an image"
    )
