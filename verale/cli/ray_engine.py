"""The engine `ray` of `verale explain` and `verale audit` (docs/scale.md)."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from verale.checker.output import print_line
from verale.cli.shared import Command, choice
from verale.errors import InputError, UsageError
from verale.files import LARGEST_LATENTS

if TYPE_CHECKING:
    from verale.checker.deployment import Deployment
    from verale.runs.audit_dataset import AuditRun
    from verale.runs.auditor import AuditOptions
    from verale.runs.run import ExplainRun
    from verale.runs.seen import SeenPictures
    from verale.runs.workers.ray import Workers
    from verale.search import SearchOptions

__all__ = ["REFUSED", "Given", "audited", "is_ray", "opened", "options"]

CERTIFICATES = "certificates.parquet"

Given = tuple[str | None, str | None, str | None, str | None]
"""Head and latents, or a CaBRNet run and images: what `verale explain` is given."""

REFUSED = {
    "--gap": ("local", "a bound is proved from files: verale certificates unpack writes them, verale gap takes them"),
    "--attest": (
        "local",
        "an attestation names the bytes that were checked, and workers read latents in parts",
    ),
    "--workers": ("ray", "workers are those of a cluster; --jobs says how many processes this machine has"),
    "--address": ("ray", "only a cluster has one"),
}
"""The options that belong to one engine, and why the other one refuses them. `docs/scale.md` has the same table."""


def options(command: Command) -> Command:
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


def is_ray(engine: str, jobs: int | None, workers: int | None, **given: object) -> bool:
    """Whether the engine is ray.

    Args:
        engine: its name.
        jobs, workers: how many processes, which are workers with ray.
        given: by option, what is said with it.

    Raises:
        UsageError: an option that this engine refuses (`REFUSED`), or two numbers of workers.
    """
    for option, value in (given | {"workers": workers}).items():
        of, why = REFUSED[f"--{option}"]
        if value and of != engine:
            raise UsageError(f"--{option} is for --engine {of}: {why}")
    if None not in (jobs, workers) and jobs != workers:
        raise UsageError(f"--jobs is {jobs} and --workers {workers}, which with ray are the same: give one of them")
    return engine == "ray"


@contextmanager
def opened(
    given: Given,
    out: str,
    options: SearchOptions,
    deployment: Deployment | None,
    device: str,
    workers: int | None,
    address: str | None,
    overwrite: bool,
    seen: SeenPictures | None,
) -> Iterator[ExplainRun]:
    """A run into OUT/certificates.parquet, while there are workers. The arguments are those of `verale explain`."""
    from verale.datasets import storage
    from verale.runs.folder import locked
    from verale.runs.store.parquet import StagedDataset
    from verale.runs.workers.ray import start_ray

    to = storage.join(out, CERTIFICATES)
    begin = _starter(given, out, to, options, deployment, overwrite, seen)
    StagedDataset(to).require_free(overwrite)
    with start_ray(workers, address, device) as started, nullcontext() if "://" in out else locked(Path(out)):
        yield begin(started)


def _starter(
    given: Given,
    out: str,
    to: str,
    options: SearchOptions,
    deployment: Deployment | None,
    overwrite: bool,
    seen: SeenPictures | None,
) -> Callable[[Workers], ExplainRun]:
    """Read what can be read before Ray starts; return a function that begins the run."""
    from verale.datasets import storage
    from verale.datasets.latents import open_latents
    from verale.head import save_latents
    from verale.runs.arguments import HeadFile
    from verale.runs.explain_dataset import explain_latents, explain_pictures
    from verale.runs.folder import HEAD, LATENTS, SOURCE
    from verale.runs.image_dataset import explain_images, open_images
    from verale.runs.images import class_folders
    from verale.runs.parts import Explainer
    from verale.runs.source import SourceFile
    from verale.runs.store.parquet import StagedDataset

    match given:
        case (str(head), None, None, None) if seen is not None:
            if "://" in out:
                raise UsageError(f"--out is {out}, expected a folder of this machine: the pictures are copied to it")
            data, folder = storage.read_bytes(head, "a head file (safetensors)"), Path(out)
            explainer = Explainer(HeadFile(head, data).head, options, deployment, seen.through)
            _require_head(storage.join(out, HEAD), data, overwrite)
            if not overwrite:
                seen.require_kept(folder)
            labels = seen.labels(explainer.head.classes)
            latents_of = seen.latents()

            def begin_pictures(workers: Workers) -> ExplainRun:
                begun = explain_pictures(explainer, seen, labels, to, workers, overwrite)
                storage.write_bytes(storage.join(out, HEAD), data)
                save_latents(folder / LATENTS, latents_of, labels)
                seen.keep(folder, explainer.head, latents_of, labels, overwrite)
                return begun

            return begin_pictures
        case (str(head), str(latents), None, None):
            data, source = storage.read_bytes(head, "a head file (safetensors)"), open_latents(latents)
            explainer = Explainer(HeadFile(head, data).head, options, deployment)
            _require_head(storage.join(out, HEAD), data, overwrite)

            def begin_latents(workers: Workers) -> ExplainRun:
                begun = explain_latents(explainer, source, to, workers, overwrite)
                storage.write_bytes(storage.join(out, HEAD), data)
                _keep_latents(out, latents, StagedDataset(to).manifest()["latents"])
                return begun

            return begin_latents
        case (None, None, str(run), str(folder)):
            images = open_images(folder)

            def begin(workers: Workers) -> ExplainRun:
                begun, network = explain_images(run, images, to, options, workers, overwrite, deployment)
                head_bytes = network.head.to_bytes()
                _require_head(storage.join(out, HEAD), head_bytes, overwrite)
                storage.write_bytes(storage.join(out, HEAD), head_bytes)
                classes = class_folders(images.names, network.head.classes)
                source = SourceFile.build(network.describe(), images.path, classes)
                storage.write_bytes(storage.join(out, SOURCE), source.to_bytes())
                return begun

            return begin
    raise UsageError("give --head and --latents, or --checkpoint-dir and --images, or a network and --pictures")


def _require_head(path: str, head: bytes, overwrite: bool) -> None:
    """Raise InputError if there is another head."""
    from verale.datasets import storage

    if not overwrite and storage.exists(path) and storage.read_bytes(path, "a head file (safetensors)") != head:
        raise InputError(path, "is another head than that of this run; choose another --out, or say --overwrite")


def _keep_latents(out: str, latents: str, sha256: str) -> None:
    """Copy latents to OUT, or write a link to them: to Parquet, to other file systems, and to large files."""
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


@contextmanager
def audited(
    certificates: tuple[str, ...],
    head: str | None,
    latents: str | None,
    options_with: Callable[[str, str | None, tuple[str, str] | None], AuditOptions],
    log: str | None,
    workers: int | None,
    address: str | None,
    tell: Callable[[AuditOptions, str | None], object],
) -> Iterator[AuditRun]:
    """The audit of a dataset, while there are workers. The arguments are those of `verale audit`; `tell` says which
    network is used, with its digest.

    Without latents, given or beside the dataset, its own column counts.
    """
    from verale.cli.inputs import folder_of, inputs_finder, print_found
    from verale.datasets.latents import has_latents
    from verale.runs.audit_dataset import audit_rows
    from verale.runs.inputs import Inputs, find_seen
    from verale.runs.store.parquet import StagedDataset
    from verale.runs.workers.ray import start_ray

    if log is None or len(certificates) != 1:
        raise UsageError("--engine ray takes one dataset of certificates, and --log L.parquet for the audit log")
    StagedDataset(log).require_free(overwrite=False)
    found_head, found_latents = inputs_finder(head, latents, datasets=True)(certificates[0])
    own = certificates[0] if found_latents is None and has_latents(certificates[0]) else found_latents
    seen = None if "://" in certificates[0] else find_seen(folder_of(certificates[0]))
    options = options_with(found_head, own, seen)
    with start_ray(workers, address, "cpu") as started:
        run = audit_rows(certificates[0], options, log, started)
        print_found(Inputs(found_head, found_latents), Inputs(head, latents), run.head)
        tell(options, run.network)
        yield run
