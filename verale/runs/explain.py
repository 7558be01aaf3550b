"""A run: latents explained into a folder, one certificate an image and a table, by the workers that do what is left.

Whether the workers are processes of this machine or of a Ray cluster: what is done is taken over, what is left is cut
into parts, and parts are told in the images' order.

The folder holds the certificates and the table of one run, never of two, whatever interrupted it. `run.json` says which
run it is: everything that the results depend on. A certificate gets its name only when it is complete, and counts once
the table has its line, which holds its digest. So after an interruption, be it Ctrl-C, kill -9 or a full disk, it is
known what is there, and the rest can be explained as if nothing had happened. What the run wrote and does not count is
removed; what it did not write is named, and stays (`verale.runs.written`).
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from verale.checker.deployment import Deployment
from verale.errors import InputError, LatentsError, option
from verale.files import LARGEST_LATENTS, certificate_name, read
from verale.head import Head, digest_of_all, labelled_file, load_labelled, patches_of, require_labels
from verale.runs.folder import certificate_names, locked, pictures_in
from verale.runs.inputs import HEAD, LATENTS, LINK, LINK_TYPE, RUN_FILE, SOURCE, TABLE, sha256_of
from verale.runs.options import RunOptions
from verale.runs.parts import Explainer, Part, Range, cut, explain_in_processes
from verale.runs.table import Explained, csv_lines, read_table
from verale.runs.written import RequiredFile, WrittenFiles, moved
from verale.search import Batches, SearchOptions
from verale.version import __version__

if TYPE_CHECKING:
    from verale.runs.seen import SeenPictures

_log = logging.getLogger(__name__)

_TYPE = "urn:verale:run:v1"


def gaps(done: Container[int], total: int) -> list[Range]:
    """The ranges of [0, total) in which nothing is done."""
    left: list[Range] = []
    for index in range(total):
        if index not in done:
            start = left.pop()[0] if left and left[-1][1] == index else index
            left.append((start, index + 1))
    return left


def in_order(parts: Iterable[Sequence[Explained]], left: Iterable[int]) -> Iterator[Explained]:
    """The rows of the images that are left in the order of these, each as soon as all before it are there."""
    todo, waiting = deque(left), dict[int, Explained]()
    for rows in parts:
        waiting |= {row.index: row for row in rows}
        while todo and todo[0] in waiting:
            yield waiting.pop(todo.popleft())


class ExplainRun:
    """The folder of a run of `total` images, explained `batch` at a time. Iterating over it explains those that are
    left, and gives their rows, in the images' order, each once it and those before it are in the folder: `explain`
    explains ranges of images, part by part, in any order.

    It is only looked at until `begin`; with `overwrite` another run begins, whatever the folder holds. `by_index` are
    the rows of images whose batch is complete; `compared` says whether the head was compared with its network. Raises
    InputError: the folder holds another run, or a file that the run did not write has the name of one of its own."""

    def __init__(
        self,
        files: WrittenFiles,
        run: dict[str, Any],
        total: int,
        batch: int,
        explain: Callable[[list[Range]], Iterator[Part]],
        overwrite: bool = False,
        compared: bool = True,
    ) -> None:
        self.total, self.compared, self._explain = total, compared, explain
        self._files, self._run = files, run
        self.directory = files.directory
        self.is_begun = not overwrite and files.exists(RUN_FILE)
        self.by_index: dict[int, Explained] = {}
        self._stamps: dict[str, tuple[int, ...] | None] = {}
        """Of the files that the end looks for, when they were written, or before they were read."""
        self._described = b""
        if self.is_begun:
            self._require_same(run)
            if files.exists(TABLE) and not files.is_ours(TABLE):
                raise self._changed(TABLE)
            rows = read_table(files.directory / TABLE, whole=False) if files.exists(TABLE) else []
            usable = {row.index: row for row in map(self._usable, rows) if row is not None}
            for part in (range(*part) for part in cut([(0, total)], batch)):
                self.by_index |= {i: usable[i] for i in part} if all(i in usable for i in part) else {}
            for name in self._uncounted():
                if not files.is_ours(name):
                    raise self._changed(name)

    def begin(self) -> None:
        """Begin the run, or remove what an interruption left that does not count. Raises InputError."""
        if not self.is_begun:
            self._described = (json.dumps(self._run, indent=1) + "\n").encode()
            self._stamps[RUN_FILE] = self._files.write(RUN_FILE, self._described)
        self._files.remove_temporaries()
        for name in self._uncounted():
            self._files.remove(name)
        self._write_table()

    def __iter__(self) -> Iterator[Explained]:
        left = gaps(self.by_index, self.total)
        yield from in_order(self._added(left), (index for part in left for index in range(*part)))
        self._finish()

    def _added(self, left: list[Range]) -> Iterator[list[Explained]]:
        """Write a part's certificates, then its rows, which make them count. Raises InputError."""
        _log.info("%d of %d images are explained", len(self.by_index), self.total)
        for rows, certificates in self._explain(left):
            for name, data in certificates:
                self._stamps[name] = self._files.write(name, data)
            self._files.append(TABLE, csv_lines(rows).encode())
            self.by_index |= {row.index: row for row in rows}
            spent = sum(row.seconds or 0 for row in rows)
            _log.info("images %d to %d: %.2f s", rows[0].index, rows[-1].index, spent)
            yield rows

    @property
    def rows(self) -> list[Explained]:
        """The rows of images that are explained, in the images' order."""
        return [self.by_index[index] for index in sorted(self.by_index)]

    def _finish(self) -> None:
        """Sort the rows of the table, and the names of the files. Raises InputError: some are not as this run left
        them."""
        self._files.require_there()
        self._require_described()
        digests = {row.certificate: str(row.sha256) for row in self.rows if row.certificate}
        other = [name for name, digest in digests.items() if self._is_other(name, digest)]
        gone = [name for name in other if not self._files.exists(name)]
        if len(gone) < len(other):
            raise self._changed(next(name for name in other if name not in gone))
        if gone or len(self.by_index) != self.total:
            raise InputError(
                self.directory,
                f"lacks {len(gone) or self.total - len(self.by_index)} of the certificates that this run wrote"
                f" ({', '.join(gone[:1])}): they were removed meanwhile. The same command writes them again",
            )
        self._write_table()
        self._files.settle()
        self._files.require_there()

    def _require_described(self) -> None:
        """Raise InputError if `run.json` is another file by now, or was removed: then it is written again."""
        if not self._is_other(RUN_FILE, hashlib.sha256(self._described).hexdigest()):
            return
        path = self.directory / RUN_FILE
        if self._files.exists(RUN_FILE):
            remedy = f"move it away, and say {option('overwrite', True)}"
            raise InputError(path, f"was replaced while this command wrote here, by a file of something else; {remedy}")
        self._files.write(RUN_FILE, self._described)
        raise InputError(path, "was removed while this command wrote here, and is there again: run the command again")

    def _is_other(self, name: str, digest: str) -> bool:
        """Whether a file is gone, or another than the one with this digest. It is read only where its stamp differs."""
        stamp = self._files.stamp(name)
        return (stamp is None or stamp != self._stamps.get(name)) and not self._files.has(name, digest)

    def _require_same(self, run: dict[str, Any]) -> None:
        path = self.directory / RUN_FILE
        try:
            self._stamps[RUN_FILE] = self._files.stamp(RUN_FILE)
            self._described = read(path, "the description of a run")
            there = json.loads(self._described)
            different = [key for key in run | there if run.get(key) != there.get(key)]
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(
                path, f"is not what verale explain writes ({error}); {self._files.remedy(RUN_FILE)}"
            ) from error
        if different:

            def brief(value: object) -> str:
                text = "nothing" if value is None else str(value)
                return text if len(text) <= 16 else f"{text[:12]}..."

            both = ", ".join(f"{key} {brief(there.get(key))} there, {brief(run.get(key))} here" for key in different)
            remedy = self._files.remedy(RUN_FILE)
            raise InputError(self.directory, f"holds certificates of another run ({both}); {remedy}")
        own = {certificate_name(index) for index in range(self.total)}
        foreign = [name for name in certificate_names(self.directory) if name not in own]
        if foreign:
            raise InputError(self.directory, f"holds {foreign[0]}, which is not of this run; {moved()}")

    def _uncounted(self) -> list[str]:
        """The certificates that do not count."""
        counted = {row.certificate for row in self.by_index.values()}
        return [name for name in certificate_names(self.directory) if name not in counted]

    def _changed(self, name: str) -> InputError:
        return InputError(
            self.directory / name,
            "is not as this run left it, so it stays: move it away, then the same command does what is missing",
        )

    def _usable(self, row: Explained) -> Explained | None:
        """The row if its image is explained: its certificate has the digest noted, or a reason says why it has none."""
        if row.certificate is None:
            return None if row.reason is None else row
        if row.certificate != certificate_name(row.index):
            return None
        try:
            self._stamps[row.certificate] = self._files.stamp(row.certificate)
            if hashlib.sha256(read(self.directory / row.certificate, "a certificate")).hexdigest() != row.sha256:
                return None
        except InputError:
            return None
        return row

    def _write_table(self) -> None:
        lines = csv_lines(self.rows, heading=True).encode()
        self._files.write(TABLE, lines)


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
    """Begin a run in a folder, or resume it; one process at a time.

    The same head, latents, labels, options and version make the same run. What an interrupted run has written is kept:
    each image, or each batch where images are not searched alone. The bytes of a certificate do not depend on where the
    run was interrupted, nor on `how` it runs: by default with one process for each core, where the images take seconds;
    on another device than the CPU, this process alone. To overwrite is to remove what an earlier run noted in the
    folder, even if it is of the same run.

    The latents are (N, D, H, W) or (N, L, D), float32 or float64, exact. The folder also gets the head and the latents,
    as `files` if they were read from these paths, so that it can be audited on its own; and, first, the files `beside`,
    by name, by default those of `seen`. With `seen`, pictures and their network, certificates are about these, and the
    latents are for pages alone. With a deployment only certificates are kept that hold in float32 too. `inputs` are
    other files that were read, which stay.

    Raises LatentsError: latents or labels that do not fit this head; UsageError: a paradigm that is not defined for the
    head, or a deployment of a readout that is not linear; InputError: a folder that cannot be written, or holds another
    run, or a file that is in the way. In all these cases nothing is written or removed.
    """
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
    link, file = None, files[1] if files is not None else None
    if file is not None and os.stat(file).st_size > LARGEST_COPY:
        absolute = os.path.abspath(file)
        record = {"_type": LINK_TYPE, "file": os.path.relpath(absolute, directory.resolve()), "absolute": absolute}
        link = f"{json.dumps(record | {'sha256': sha256_of(file)}, indent=1)}\n".encode()
    with locked(directory) as held:
        written = WrittenFiles(directory, held)
        batch = 1 if batches.are_alone else batches.size
        explain = partial(explain_in_processes, batches, labels=labels, explainer=explainer, how=how)
        folder = ExplainRun(written, run, len(batches.images), batch, explain, how.overwrite, head.compared)
        needed = {name: RequiredFile(partial(written.holds, name, data)) for name, data in beside.items()}
        own = _Inputs(written, head, latents, run["latents"], labels, files or ("", None), link)
        needed |= own.needed()
        if SOURCE not in beside and written.exists(SOURCE) and not (how.overwrite and written.is_ours(SOURCE)):
            # Head and latents captured from images: no other ones may stand beside it.
            from verale.runs.source import SourceFile

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
        yield folder


def _description(batches: Batches, latents: Tensor, labels: Sequence[int] | None) -> dict[str, Any]:
    """What the results depend on."""
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
        labels = None if self.labels is None else list(self.labels)
        try:
            there, known = load_labelled(path, data)
            return digest_of_all(patches_of(there)) == self.digest and known == labels
        except (InputError, LatentsError):
            return False


def _changed(file: str) -> InputError:
    return InputError(file, "changed while it was read; run the command again")
