"""A run: what is asked of many images, the folder that has the results, and the workers that do what is left.

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
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from verale.errors import InputError, option
from verale.files import certificate_name, read
from verale.runs.folder import certificate_names
from verale.runs.inputs import RUN_FILE, TABLE
from verale.runs.table import Explained, csv_lines, read_table
from verale.runs.written import WrittenFiles, moved

Range = tuple[int, int]
"""Images: from the first up to, but not including, the second."""


@dataclass(frozen=True, eq=False)
class ExplainRun:
    """A run over `total` images. Iterating over it explains those that are left, and gives their rows, in the images'
    order, each once it and those before it are in the store. `work` explains ranges of images, part by part, in any
    order, and puts rows there."""

    store: RunFolder
    total: int
    work: Callable[[list[Range]], Iterator[list[Explained]]]
    compared: bool = True

    @property
    def done(self) -> int:
        """How many images are explained."""
        return len(self.store.by_index)

    @property
    def rows(self) -> list[Explained]:
        """The rows of images that are explained, in the images' order."""
        return self.store.rows

    def __iter__(self) -> Iterator[Explained]:
        left = gaps(self.store.by_index, self.total)
        yield from in_order(self.work(left), (index for part in left for index in range(*part)))
        self.store.finish(self.total)


def gaps(done: Container[int], total: int) -> list[Range]:
    """The ranges of [0, total) in which nothing is done."""
    left: list[Range] = []
    for index in range(total):
        if index not in done:
            start = left.pop()[0] if left and left[-1][1] == index else index
            left.append((start, index + 1))
    return left


def cut(ranges: Iterable[Range], step: int) -> list[Range]:
    """Parts of ranges, cut at the multiples of a step."""
    parts: list[Range] = []
    for start, stop in ranges:
        parts += pairwise([start, *range((start // step + 1) * step, stop, step), stop])
    return parts


def in_order(parts: Iterable[Sequence[Explained]], left: Iterable[int]) -> Iterator[Explained]:
    """The rows of the images that are left in the order of these, each as soon as all before it are there."""
    todo, waiting = deque(left), dict[int, Explained]()
    for rows in parts:
        waiting |= {row.index: row for row in rows}
        while todo and todo[0] in waiting:
            yield waiting.pop(todo.popleft())


class RunFolder:
    """The folder of a run of `images` images, explained `batch` at a time. It is only looked at until `begin`; with
    `overwrite` another run begins, whatever the folder holds. `by_index` are the rows of images whose batch is
    complete. Raises InputError: the folder holds another run, or a file that the run did not write has the name of one
    of its own."""

    def __init__(
        self,
        files: WrittenFiles,
        run: dict[str, Any],
        images: int,
        batch: int,
        overwrite: bool = False,
    ) -> None:
        self._files, self._run = files, run
        self.directory = files.directory
        self.is_begun = not overwrite and files.exists(RUN_FILE)
        self.by_index: dict[int, Explained] = {}
        self._stamps: dict[str, tuple[int, ...] | None] = {}
        """Of the files that the end looks for, when they were written, or before they were read."""
        self._described = b""
        if self.is_begun:
            self._require_same(run, images)
            if files.exists(TABLE) and not files.is_ours(TABLE):
                raise self._changed(TABLE)
            rows = read_table(files.directory / TABLE, whole=False) if files.exists(TABLE) else []
            usable = {row.index: row for row in map(self._usable, rows) if row is not None}
            for part in (range(*part) for part in cut([(0, images)], batch)):
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

    def add(self, certificates: Sequence[tuple[str, bytes]], rows: Sequence[Explained]) -> None:
        """Write a batch's certificates (name, bytes), then its rows, which make them count. Raises InputError."""
        for name, data in certificates:
            self._stamps[name] = self._files.write(name, data)
        self._files.append(TABLE, csv_lines(rows).encode())
        self.by_index |= {row.index: row for row in rows}

    @property
    def rows(self) -> list[Explained]:
        """The rows of images that are explained, in the images' order."""
        return [self.by_index[index] for index in sorted(self.by_index)]

    def finish(self, total: int) -> None:
        """Sort the rows of the table, and the names of the files. Raises InputError: the folder is not where it was, or
        lacks files that the run wrote, or has others in their place."""
        self._files.require_there()
        self._require_described()
        digests = {row.certificate: str(row.sha256) for row in self.rows if row.certificate}
        other = [name for name, digest in digests.items() if self._is_other(name, digest)]
        gone = [name for name in other if not self._files.exists(name)]
        if len(gone) < len(other):
            raise self._changed(next(name for name in other if name not in gone))
        if gone or len(self.by_index) != total:
            raise InputError(
                self.directory,
                f"lacks {len(gone) or total - len(self.by_index)} of the certificates that this run wrote"
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

    def _require_same(self, run: dict[str, Any], images: int) -> None:
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
        own = {certificate_name(index) for index in range(images)}
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
