"""A run: latents explained into a folder, one certificate an image and a table; an interrupted run is resumed."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verale.errors import InputError, LatentsError
from verale.files import LARGEST_LATENTS, read
from verale.runs.folder import certificate_names, locked, pictures_in
from verale.runs.inputs import HEAD, LATENTS, LINK, LINK_TYPE, RUN_FILE, SOURCE, TABLE, sha256_of
from verale.runs.options import RunOptions
from verale.runs.parts import Explainer, explain_in_processes
from verale.runs.run import ExplainRun, Range, RunFolder
from verale.runs.table import Explained
from verale.runs.written import RequiredFile, WrittenFiles
from verale.version import __version__

if TYPE_CHECKING:
    from torch import Tensor

    from verale.checker.deployment import Deployment
    from verale.head import Head
    from verale.runs.seen import SeenPictures
    from verale.search import Batches, SearchOptions

_log = logging.getLogger(__name__)

_TYPE = "urn:verale:run:v1"


@contextmanager
def open_run(
    directory: Path,
    head: Head,
    latents: Tensor,
    options: SearchOptions,
    labels: Sequence[int] | None = None,
    how: RunOptions | None = None,
    files: tuple[str, str | None] | None = None,
    deployment: Deployment | None = None,
    seen: SeenPictures | None = None,
    beside: Mapping[str, bytes] | None = None,
    inputs: Iterable[Path] = (),
) -> Iterator[ExplainRun]:
    """Begin a run in a folder, or resume it.

    The same head, latents, labels, options and version make the same run. What an interrupted run has written is kept:
    each image, or each batch where images are not searched alone. The bytes of a certificate do not depend on where the
    run was interrupted.

    The folder also gets the head and the latents, so that it can be audited on its own.

    Args:
        directory: where certificates, `explanations.csv` and `run.json` go; one process at a time.
        head: the head.
        latents: (N, D, H, W) or (N, L, D), float32 or float64, exact.
        options: how to explain.
        labels: N true classes, if they are known.
        how: how it runs; the bytes do not depend on it. To overwrite is to remove what an earlier run noted in the
            folder, even if it is of the same run. By default there is one process for each core, where the images take
            seconds; on another device than the CPU, this process alone.
        files: the paths from which head and latents were read, where they were; None for latents of another form.
        deployment: keep only certificates that hold in float32 too, computed like this (`verale.runs.parts.Reserves`).
        seen: pictures and their network. Then certificates are about these, and the latents are for pages alone.
        beside: other files that the folder gets first, by name; by default those of `seen`.
        inputs: the files that were read, beside `files` and those of `seen`. They stay.

    Raises:
        LatentsError: latents or labels that do not fit this head.
        UsageError: a paradigm that is not defined for the head, or a deployment of a readout that is not linear.
        InputError: a folder that cannot be written, or holds another run, or a file that is in the way.
        In all these cases nothing is written or removed.
    """
    from verale.head import require_labels
    from verale.runs.source import SourceFile

    explainer = Explainer(head, options, deployment, None if seen is None else seen.through)
    batches = explainer.batches(latents if seen is None else seen.pictures)
    how = RunOptions() if how is None else how
    if labels is not None:
        require_labels(labels, len(batches.images), head.classes)
    run = _description(batches, latents, labels) | ({} if deployment is None else {"deployment": asdict(deployment)})
    run |= {} if seen is None else seen.describe()
    if beside is None:
        beside = {} if seen is None else seen.beside(head, latents, labels)
    if seen is not None:
        seen.require_apart(directory)
    inputs = [*inputs, *map(Path, filter(None, files or ())), *(() if seen is None else seen.paths)]
    link = link_of(directory, None if files is None else files[1])
    with locked(directory) as held:
        written = WrittenFiles(directory, held)
        batch = 1 if batches.are_alone else batches.size
        folder = RunFolder(written, run, len(batches.images), batch, how.overwrite)
        needed = {name: RequiredFile(partial(written.holds, name, data)) for name, data in beside.items()}
        own = _Inputs(written, head, latents, run["latents"], labels, files or ("", None), link)
        needed |= own.needed()
        if SOURCE not in beside and written.exists(SOURCE) and not (how.overwrite and written.is_ours(SOURCE)):
            # Head and latents captured from images: no other ones may stand beside it.
            remedy = written.remedy(SOURCE)
            if not SourceFile.read(directory / SOURCE, remedy).is_of(run["head"], run["latents"]):
                problem = f"describes another head or other latents than those of this run; {remedy}"
                raise InputError(directory / SOURCE, problem)
        if folder.is_begun:
            written.require_kept(needed)
        else:
            begins = dict.fromkeys((TABLE, RUN_FILE), RequiredFile(problem="is there already"))
            strangers = [*certificate_names(directory), *pictures_in(directory, beside)]
            kept = written.require_room(needed | begins, strangers, how.overwrite, inputs)
            if how.overwrite:
                written.clear(kept, first=TABLE, last=RUN_FILE)
        for name, data in beside.items():
            if not (folder.is_begun and written.exists(name)):
                written.write(name, data)
        own.keep()
        folder.begin()

        def work(left: list[Range]) -> Iterator[list[Explained]]:
            _log.info("%d of %d images are explained", len(folder.by_index), len(batches.images))
            for rows, certificates in explain_in_processes(batches, left, labels, explainer, how):
                folder.add(certificates, rows)
                spent = sum(row.seconds or 0 for row in rows)
                _log.info("images %d to %d: %.2f s", rows[0].index, rows[-1].index, spent)
                yield rows

        yield ExplainRun(folder, len(batches.images), work)


def _description(batches: Batches, latents: Tensor, labels: Sequence[int] | None) -> dict[str, Any]:
    """What the results depend on."""
    import torch

    from verale.head import digest_of_all, patches_of

    options = batches.options
    return {
        "_type": _TYPE,
        "verale": __version__,
        "torch": torch.__version__,
        "head": batches.head.digest,
        "latents": digest_of_all(patches_of(latents, batches.head.depth)),
        "labels": None if labels is None else hashlib.sha256(json.dumps(list(labels)).encode()).hexdigest(),
        "images": len(batches.images),
        "paradigm": batches.paradigm,
        "paradigms": list(batches.paradigms),
        "order": options.order,
        "tolerance": options.tolerance,
        "digits": options.digits,
        "inflate": options.inflate,
        "avoid": str(options.avoid) or None,
        "costs": str(options.costs) or None,
        "device": torch.device(options.device).type,
        "batch": batches.size,
    }


LARGEST_COPY = 2**30
"""The most bytes of latents that a run's folder holds itself."""


def link_of(folder: Path, file: str | None) -> bytes | None:
    """The bytes of a folder's link to a latents file that is too large for a copy; None where it is not. Raises
    InputError."""
    if file is None or os.stat(file).st_size <= LARGEST_COPY:
        return None
    absolute = os.path.abspath(file)
    link = {"_type": LINK_TYPE, "file": os.path.relpath(absolute, folder.resolve()), "absolute": absolute}
    return f"{json.dumps(link | {'sha256': sha256_of(file)}, indent=1)}\n".encode()


@dataclass(frozen=True, eq=False)
class _Inputs:
    """Head and latents of a run, with the true classes if they are known, of which its folder keeps a copy of the
    files' bytes; or `link` to latents that are too large for one. A copy that is there counts nevertheless."""

    written: WrittenFiles
    head: Head
    latents: Tensor
    digest: str
    labels: Sequence[int] | None
    files: tuple[str, str | None]
    link: bytes | None

    def needed(self) -> dict[str, RequiredFile]:
        """What the folder needs of them."""
        there, digest = self.written.directory, self.head.digest
        other_head = f"is another head than that of this run ({digest[:12]}...)"
        needed = {
            HEAD: RequiredFile(lambda: sha256_of(there / HEAD) == digest, other_head),
            LATENTS: RequiredFile(
                lambda: self._are_in(there / LATENTS), "holds other latents, or other labels, than those of this run"
            ),
        }
        if self.link is not None and not self.written.exists(LATENTS):
            needed[LINK] = RequiredFile(partial(self.written.holds, LINK, self.link), "is the link of another run")
        return needed

    def keep(self) -> None:
        """Write what the folder lacks. Raises InputError: it cannot be written; a file changed since it was read."""
        from verale.head import labelled_file

        head_file, file = self.files
        if not self.written.exists(HEAD):
            data = read(head_file, "a head file (safetensors)") if head_file else self.head.to_bytes()
            if hashlib.sha256(data).hexdigest() == self.head.digest:
                self.written.write(HEAD, data)
            elif head_file:
                raise _changed(head_file)
            else:
                problem = "is not written: the head was read from a file of other bytes; copy that file here"
                _log.warning("%s %s", self.written.directory / HEAD, problem)
        if self.written.exists(LATENTS):
            return
        if file is None:
            self.written.write(LATENTS, labelled_file(self.latents, self.labels))
        elif self.link is not None:
            if not self._are_in(Path(file)):
                raise _changed(file)
            self.written.write(LINK, self.link)
            return
        else:
            data = read(file, "a latents file (safetensors)", most=LARGEST_LATENTS)
            if not self._are_in(Path(file), data):
                raise _changed(file)
            self.written.write(LATENTS, data)
        self.written.remove(LINK)

    def _are_in(self, path: Path, data: bytes | None = None) -> bool:
        """Whether a file, which may have been read already, holds these latents and labels."""
        from verale.head import digest_of_all, load_labelled, patches_of

        labels = None if self.labels is None else list(self.labels)
        try:
            there, known = load_labelled(path, data)
            return digest_of_all(patches_of(there)) == self.digest and known == labels
        except (InputError, LatentsError):
            return False


def _changed(file: str) -> InputError:
    return InputError(file, "changed while it was read; run the command again")
