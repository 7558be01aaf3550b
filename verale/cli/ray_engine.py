"""The engine `ray` of `verale explain` and `verale audit` (docs/scale.md)."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from verale.checker.output import print_line
from verale.errors import InputError, UsageError
from verale.files import LARGEST_LATENTS

if TYPE_CHECKING:
    from verale.checker.deployment import Deployment
    from verale.runs.audit_dataset import AuditRun
    from verale.runs.auditor import AuditSetup
    from verale.runs.inputs import Inputs
    from verale.runs.options import RunOptions
    from verale.runs.run import ExplainRun
    from verale.runs.seen import SeenPictures
    from verale.runs.workers.ray import Workers
    from verale.runs.written import WrittenFiles
    from verale.search import SearchOptions

__all__ = ["EXPECTED", "Given", "Request", "audited", "opened"]

CERTIFICATES = "certificates.parquet"

EXPECTED = "give --head and --latents, or --checkpoint-dir and --images, or --head, --network and --images"

Given = tuple[str | None, str | None, str | None, str | None]
"""Head and latents, or a CaBRNet run and images: what `verale explain` is given."""


@dataclass(frozen=True, eq=False)
class Request:
    """What `verale explain` is asked for, by either engine.

    Attributes:
        given: head and latents, or a CaBRNet run and images, or a head alone.
        out: the folder.
        search, deployment: how an explanation is found, and for which float32 too.
        run: how it runs.
        seen: the pictures that are explained with a network.
        skipped: gets the images that cannot be read; None where these are an error.
    """

    given: Given
    out: str
    search: SearchOptions
    deployment: Deployment | None
    run: RunOptions
    seen: SeenPictures | None
    skipped: list[str] | None


@contextmanager
def opened(request: Request) -> Iterator[ExplainRun]:
    """A run into OUT/certificates.parquet, while there are workers of a cluster, on the device that searches."""
    from verale.datasets import storage
    from verale.head import Head
    from verale.runs.folder import HEAD, locked
    from verale.runs.store.parquet import StagedDataset
    from verale.runs.store.stored_files import files_in
    from verale.runs.workers.ray import start_ray

    out, overwrite = request.out, request.run.overwrite
    to, folder = storage.join(out, CERTIFICATES), storage.local_path(out)
    prepared = _prepared(request, to)
    StagedDataset(to).require_free(overwrite)
    prepared.kept_in(files_in(out), overwrite)
    lock = nullcontext() if folder is None else locked(folder)
    with start_ray(request.run.jobs, request.run.address, request.search.device) as started, lock as held:
        files = files_in(out, held)
        kept = prepared.kept_in(files, overwrite)
        begun = prepared.begin(started)
        if overwrite:
            files.clear(kept)
        for name, data in prepared.files.items():
            files.write(name, data)
        if prepared.linked is not None:
            audit = f"verale audit {out} --latents {quote(prepared.linked)} --engine ray --log L.parquet"
            print_line(f"next: {audit}", sys.stderr)
        yield replace(begun, compared=Head.from_bytes(prepared.files[HEAD]).compared)


@dataclass(frozen=True, eq=False)
class _Prepared:
    """What can be read before Ray starts.

    Attributes:
        files: of the run's folder, by name.
        inputs: the files that were read.
        begin: begins the run.
        linked: the latents, where the folder gets a link to them.
    """

    files: dict[str, bytes]
    inputs: list[Path]
    begin: Callable[[Workers], ExplainRun]
    linked: str | None = None

    def kept_in(self, files: WrittenFiles, overwrite: bool) -> list[str]:
        """The files of the folder that are there already. Raises InputError: another file is in the way."""
        from verale.runs.folder import HEAD, pictures_in
        from verale.runs.written import RequiredFile

        problems = {HEAD: "is another head than that of this run"}
        needed = {
            name: RequiredFile(partial(files.holds, name, data), problems.get(name, RequiredFile.problem))
            for name, data in self.files.items()
        }
        strangers = pictures_in(files.directory, self.files)
        return files.require_room(needed, strangers, overwrite, self.inputs)


def _prepared(request: Request, to: str) -> _Prepared:
    """Read what can be read before Ray starts; certificates go `to` a dataset."""
    from verale.cli.inputs import readable_images
    from verale.datasets import storage
    from verale.datasets.latents import open_latents
    from verale.head import labelled_file
    from verale.runs.arguments import HeadFile
    from verale.runs.explain_dataset import explain_latents, explain_pictures
    from verale.runs.folder import HEAD, LATENTS, LINK, SOURCE
    from verale.runs.image_dataset import explain_images, open_images
    from verale.runs.parts import Explainer
    from verale.runs.source import SourceFile

    out, options, deployment, seen = request.out, request.search, request.deployment, request.seen
    overwrite = request.run.overwrite
    match request.given:
        case (str(head), None, None, None) if seen is not None:
            if "://" in out:
                raise UsageError(f"--out is {out}, expected a folder of this machine: the pictures are copied to it")
            seen.require_apart(Path(out))
            data = storage.read_bytes(head, "a head file (safetensors)")
            explainer = Explainer(HeadFile(head, data).head, options, deployment, seen.through)
            labels, latents_of = seen.labels(explainer.head), seen.latents()
            beside = seen.beside(explainer.head, latents_of, labels)
            return _Prepared(
                {HEAD: data, LATENTS: labelled_file(latents_of, labels), **beside},
                [Path(head), *seen.paths],
                lambda workers: explain_pictures(explainer, seen, labels, to, workers, overwrite),
            )
        case (str(head), str(latents), None, None):
            data, source = storage.read_bytes(head, "a head file (safetensors)"), open_latents(latents)
            explainer, digest = Explainer(HeadFile(head, data).head, options, deployment), source.digest()
            files = _latents_or_link(out, latents, digest)
            return _Prepared(
                {HEAD: data, **files},
                [Path(each) for each in (head, latents) if "://" not in each],
                lambda workers: explain_latents(explainer, source, to, workers, overwrite, digest),
                _absolute(latents) if LINK in files else None,
            )
        case (None, None, str(run), str(folder)):
            from verale.adapters.cabrnet import load

            folder_of_images, network = open_images(folder), load(run).with_compared_head()
            images = readable_images(len(folder_of_images.names), folder_of_images.readable, request.skipped)
            classes = images.classes_of(network).tell().names
            described = SourceFile.build(network.describe(), images.path, classes)
            return _Prepared(
                {HEAD: network.head.to_bytes(), SOURCE: described.to_bytes()},
                [Path(images.path) / name for name in images.names if "://" not in images.path],
                lambda workers: explain_images(run, images, to, options, workers, overwrite, deployment, network)[0],
            )
    raise UsageError(EXPECTED)


def _latents_or_link(out: str, latents: str, sha256: str) -> dict[str, bytes]:
    """The latents by name in OUT, or a link to them: to Parquet, to other file systems, and to large files."""
    from verale.datasets import storage
    from verale.runs.folder import LATENTS, LINK
    from verale.runs.inputs import LARGEST_COPY, link_to

    local = "://" not in latents
    is_file = local and Path(latents).is_file() and Path(latents).suffix != ".parquet"
    if is_file and Path(latents).stat().st_size <= LARGEST_COPY:
        data = storage.read_bytes(latents, "a latents file (safetensors)", LARGEST_LATENTS)
        if hashlib.sha256(data).hexdigest() != sha256:
            raise InputError(latents, "changed while it was read; run the command again")
        return {LATENTS: data}
    folder = Path(out) if local and "://" not in out else None
    return {LINK: link_to(_absolute(latents), sha256, folder)}


def _absolute(latents: str) -> str:
    return latents if "://" in latents else str(Path(latents).absolute())


@contextmanager
def audited(
    certificates: tuple[str, ...],
    given: Inputs,
    setup_of: Callable[[str, str | None, tuple[str, str] | None], AuditSetup],
    log: str | None,
    how: RunOptions,
    tell: Callable[[AuditSetup, str | None], object],
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
    found_head, found_latents = inputs_finder(given, datasets=True)(certificates[0])
    own = certificates[0] if found_latents is None and has_latents(certificates[0]) else found_latents
    seen = None if "://" in certificates[0] else find_seen(folder_of(certificates[0]))
    setup = setup_of(found_head, own, seen)
    with start_ray(how.jobs, how.address, "cpu") as started:
        run = audit_rows(certificates[0], setup, log, started)
        print_found(Inputs(found_head, found_latents), given, run.head)
        tell(setup, run.network)
        yield run
