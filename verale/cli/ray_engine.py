"""The engine `ray` of `verale explain` and `verale audit` (docs/scale.md)."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from verale.checker.output import print_line, print_outcome
from verale.cli.progress import progress
from verale.cli.shared import EXIT_INTERRUPTED, EXIT_UNEXPLAINED, choice, report_audits
from verale.errors import InputError, UsageError
from verale.files import LARGEST_LATENTS

if TYPE_CHECKING:
    from verale.ray.explain import ExplainRun
    from verale.ray.pipeline import Workers
    from verale.runs.auditor import AuditOptions
    from verale.search import SearchOptions

__all__ = ["audit", "explain", "is_ray", "options"]

CERTIFICATES = "certificates.parquet"

_LISTED = 20
"""At most so many images without a certificate are listed; the dataset has them all."""


def options(command: Any) -> Any:
    """Give a command the options of this engine."""
    for option in (
        click.option(
            "--address",
            metavar="A",
            help="With ray: a cluster, as ray.init takes it; by default this machine.",
        ),
        click.option(
            "--workers", type=click.IntRange(1), metavar="N", help="With ray: how many; by default one for each core."
        ),
        click.option(
            "--engine",
            default="local",
            show_default=True,
            help="local: this process; ray: many cores or machines, for large data (docs/scale.md).",
            **choice("local", "ray"),
        ),
    ):
        command = option(command)
    return command


def is_ray(engine: str, workers: int | None, address: str | None, jobs: int | None = None) -> bool:
    """Whether the engine is ray. Raises UsageError: an option belongs to the other engine."""
    if engine == "local" and (workers or address):
        raise UsageError("--workers and --address are for --engine ray")
    if engine == "ray" and (jobs or 1) > 1:
        raise UsageError("--jobs is for --engine local; use --workers")
    return engine == "ray"


def explain(
    given: tuple[str | None, str | None, str | None, str | None],
    out: str,
    options: SearchOptions,
    device: str,
    workers: int | None,
    address: str | None,
    overwrite: bool,
) -> None:
    """Explain into OUT/certificates.parquet. The arguments are those of `verale explain`."""
    from verale.datasets import storage
    from verale.datasets.staging import StagedDataset
    from verale.ray.explain import audits_of
    from verale.ray.pipeline import start_ray

    to = storage.join(out, CERTIFICATES)
    begin = _starter(given, out, to, options, overwrite)
    StagedDataset(to).require_free(overwrite)
    with start_ray(workers, address, device) as started:
        run = begin(started)
        _report_resumed(run.begun, run.total, "images")
        done = run.begun
        try:
            with progress("explaining", run.total, run.begun) as advance:
                for part in run.parts:
                    done += part.stop - part.start
                    advance(part.stop - part.start)
                    if undecided := ", ".join((part.summary or {}).get("undecided", [])):
                        print_line(
                            f"CaBRNet's float32 logits name another class than the head's: {undecided}", sys.stderr
                        )
        except KeyboardInterrupt:
            _exit_interrupted(done, run.total, "images", run.staged.partial)
        without = run.finish()
    print_line(f"{run.total - len(without)} of {run.total} images have a certificate in {to}", sys.stderr)
    report_audits(*audits_of(to), to, to)
    if without:
        more = f" and {len(without) - _LISTED} more" if len(without) > _LISTED else ""
        listed = ", ".join(map(str, without[:_LISTED]))
        print_line(f"without one: {listed}{more}; reasons in {to}, column reason", sys.stderr)
        sys.exit(EXIT_UNEXPLAINED)


def _starter(
    given: tuple[str | None, str | None, str | None, str | None],
    out: str,
    to: str,
    options: SearchOptions,
    overwrite: bool,
) -> Callable[[Workers], ExplainRun]:
    """Read what can be read before Ray starts; return a function that begins the run."""
    from verale.datasets import storage
    from verale.datasets.latents import open_latents
    from verale.ray.explain import explain_latents
    from verale.ray.images import explain_images, open_images
    from verale.runs.folder import HEAD, SOURCE
    from verale.runs.images import class_folders
    from verale.runs.source import SourceFile

    match given:
        case (str(head), str(latents), None, None):
            data, source = storage.read_bytes(head, "a head file (safetensors)"), open_latents(latents)
            _require_head(storage.join(out, HEAD), data, overwrite)

            def begin_latents(workers: Workers) -> ExplainRun:
                begun = explain_latents(data, source, to, options, workers, overwrite)
                storage.write_bytes(storage.join(out, HEAD), data)
                _keep_latents(out, latents, begun.staged.manifest()["latents"])
                return begun

            return begin_latents
        case (None, None, str(run), str(folder)):
            images = open_images(folder)

            def begin(workers: Workers) -> ExplainRun:
                begun, network = explain_images(run, images, to, options, workers, overwrite)
                head_bytes = network.head.to_bytes()
                _require_head(storage.join(out, HEAD), head_bytes, overwrite)
                storage.write_bytes(storage.join(out, HEAD), head_bytes)
                classes = class_folders(images.names, network.head.classes)
                source = SourceFile.build(network.describe(), images.path, classes)
                storage.write_bytes(storage.join(out, SOURCE), source.to_bytes())
                return begun

            return begin
    raise UsageError("give --head and --latents, or --checkpoint-dir and --images")


def _require_head(path: str, head: bytes, overwrite: bool) -> None:
    """Raise InputError if there is another head."""
    from verale.datasets import storage

    if not overwrite and storage.exists(path) and storage.read_bytes(path, "a head file (safetensors)") != head:
        raise InputError(path, "is another head than that of this run; choose another --out, or say --overwrite")


def _keep_latents(out: str, latents: str, sha256: str) -> None:
    """Copy latents to OUT, or write a link to them: to Parquet, to other file systems, and to large files."""
    from pathlib import Path

    from verale.datasets import storage
    from verale.runs.folder import LATENTS
    from verale.runs.inputs import LARGEST_COPY, LINK, link_to

    local = "://" not in latents
    is_file = local and Path(latents).is_file() and Path(latents).suffix != ".parquet"
    if is_file and Path(latents).stat().st_size <= LARGEST_COPY:
        data = storage.read_bytes(latents, "a latents file (safetensors)", LARGEST_LATENTS)
        if hashlib.sha256(data).hexdigest() != sha256:
            raise InputError(latents, "changed while it was read; run the command again")
        storage.write_bytes(storage.join(out, LATENTS), data)
        return
    folder = Path(out) if local and "://" not in out else None
    path = str(Path(latents).absolute()) if local else latents
    storage.write_bytes(storage.join(out, LINK), link_to(path, sha256, folder))
    print_line(f"next: verale audit {out} --latents {quote(path)} --engine ray --log L.parquet", sys.stderr)


def audit(
    certificates: tuple[str, ...],
    head: str | None,
    latents: str | None,
    options_with: Callable[[str, str | None], AuditOptions],
    log: str | None,
    workers: int | None,
    address: str | None,
    as_json: bool,
) -> None:
    """Audit a dataset of certificates; the audit log is a dataset too. The arguments are those of `verale audit`.

    Without latents, given or beside the dataset, its own column counts.
    """
    from verale.checker.verdict import most_severe
    from verale.cli.inputs import inputs_finder, print_found
    from verale.datasets.latents import has_latents
    from verale.datasets.staging import StagedDataset
    from verale.ray.audit import audit_rows
    from verale.ray.pipeline import start_ray
    from verale.runs.inputs import Inputs

    if log is None or len(certificates) != 1:
        raise UsageError("--engine ray takes one dataset of certificates, and --log L.parquet for the audit log")
    StagedDataset(log).require_free(overwrite=False)
    found_head, found_latents = inputs_finder(head, latents, datasets=True)(certificates[0])
    options = options_with(found_head, found_latents or (certificates[0] if has_latents(certificates[0]) else None))
    codes = []
    with start_ray(workers, address, "cpu") as started:
        run = audit_rows(certificates[0], options, log, started)
        print_found(Inputs(found_head, found_latents), Inputs(head, latents), run.head)
        _report_resumed(run.begun, run.total, "certificates")
        done = 0
        try:
            with progress("auditing", run.total, unit="certificates") as advance:
                for part in run.parts:
                    for outcome in part.outcomes:
                        codes.append(outcome.exit_code)
                        print_outcome(outcome, as_json)
                    done = part.stop
                    advance(part.stop - part.start)
        except KeyboardInterrupt:
            _exit_interrupted(done, run.total, "certificates", run.staged.partial)
        run.staged.publish(run.total)
    if not codes:
        raise InputError(certificates[0], "holds no certificate, so nothing is proved")
    sys.exit(most_severe(codes))


def _report_resumed(begun: int, total: int, what: str) -> None:
    """Say how much an earlier, interrupted run did."""
    if begun:
        print_line(f"{begun} of {total} {what} were done before, by an interrupted run", sys.stderr)


def _exit_interrupted(done: int, total: int, what: str, where: str) -> None:
    """Say how far the run came, and exit."""
    print_line(
        f"interrupted: {done} of {total} {what} are done and kept in {where}; the same command continues", sys.stderr
    )
    sys.exit(EXIT_INTERRUPTED)
