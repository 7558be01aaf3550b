"""A run's folder, read to be compared with another one: its rows, head, images, and certificates one by one."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from os.path import lexists
from pathlib import Path

from verale.certificate.words import OBSERVABLES, below, class_name
from verale.checker import CheckerError, HeadError
from verale.checker.certificate import LARGEST, Certificate, read_certificate
from verale.checker.head import Head
from verale.checker.read.head_file import LARGEST as LARGEST_HEAD
from verale.checker.read.head_file import read_head_file
from verale.errors import InputError, LatentsError, naming, option
from verale.files import SentFile, is_certificate_name, read
from verale.runs.inputs import HEAD, LATENTS, SOURCE
from verale.runs.listed import rows_of
from verale.runs.source import Source, load_source
from verale.runs.table import Explained, table_of

BY_FILES = "the SHA-256 of their files, as source.json notes them"
BY_LATENTS = "the digests of their latents"
BY_ORDER = "their order, which nothing verifies"
"""What tells which images are the same."""

_LONGEST = 200  # the most characters of a class's name, for people


@dataclass(frozen=True, eq=False)
class HeadOfRun:
    """The head of a run, as the checker reads it; `compared` where its file says that its logits were compared with the
    network's."""

    path: str
    head: Head
    labels: tuple[str, ...] | None
    compared: bool = False

    @property
    def sha256(self) -> str:
        """SHA-256 of the file."""
        return self.head.sha256

    @property
    def prototypes(self) -> int:
        """P."""
        return self.head.count

    @property
    def observable(self) -> str:
        """What comparing a patch with a prototype gives."""
        return OBSERVABLES[self.head.geometry]

    @classmethod
    def of(cls, path: str, data: bytes | None = None) -> HeadOfRun:
        """The head of a file, which is read here unless its bytes are given. Raises InputError."""
        data = read(path, "a head file (safetensors)", LARGEST_HEAD + 1) if data is None else data
        with naming(path, HeadError):
            file = read_head_file(data)
        return cls(path, Head(file), file.labels, file.compared)


@dataclass(frozen=True)
class CertificateFile:
    """A certificate of a run."""

    path: Path
    data: bytes
    certificate: Certificate

    @property
    def margin(self) -> str:
        """The least margin that it claims, rounded down."""
        return below(min(margin for margin in self.certificate.margins if margin is not None))


@dataclass(frozen=True, eq=False)
class ExplainedRun:
    """A folder that `verale explain` wrote, `given` by this path."""

    given: str
    folder: Path
    rows: Mapping[int, Explained]
    source: Source
    head: HeadOfRun

    @classmethod
    def of(cls, given: str, head: str | None = None) -> ExplainedRun:
        """Read a run; its head's file is by default the folder's own. Raises InputError."""
        if not lexists(given):
            raise InputError(given, "there is no such folder; expected one that verale explain wrote")
        if not Path(given).is_dir():
            raise InputError(given, "is not a folder; expected one that verale explain wrote")
        table = table_of(given)
        rows = {row.index: row for row in rows_of(table, whole=False)}
        folder = Path(table).parent
        own = folder / HEAD
        if head is None and not lexists(own):
            what = "has no head.safetensors, without which statements mean nothing"
            raise InputError(given, f"{what}; put the head that was explained there")
        return cls(given, folder, rows, load_source(folder / SOURCE), HeadOfRun.of(head or SentFile(own)))

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the classes, where known: the head's labels, otherwise those of `source.json`."""
        return self.head.labels or self.source.classes

    def name_of(self, predicted: int) -> str:
        """A class for people: its name, or its number where it has none."""
        return class_name(predicted, self.names, _LONGEST)

    def label(self, index: int) -> int | None:
        """The true class of an image, where it is known."""
        row = self.rows[index]
        if row.label is not None:
            return row.label
        return self.source.labels[index] if index < len(self.source.labels) else None

    def file(self, index: int) -> str | None:
        """The name of an image's file, where it is known."""
        if not index < len(self.source.files):
            return None
        file, folder = self.source.files[index], self.source.folder
        return str(file.relative_to(folder) if folder is not None and file.is_relative_to(folder) else file)

    @property
    def files(self) -> dict[int, str] | None:
        """The digests of the images' files, by index; None unless all are known."""
        known = dict(enumerate(self.source.digests))
        found = {index: known.get(index) for index in self.rows}
        return {index: digest for index, digest in found.items() if digest is not None} if all(found.values()) else None

    def stated(self, index: int) -> CertificateFile | None:
        """The certificate of an image; None if it has none. Raises InputError: it is not this run's."""
        row = self.rows[index]
        if row.certificate is None:
            return None
        path = self.folder / row.certificate
        if not is_certificate_name(row.certificate):
            raise InputError(self.folder, f"its table names the certificate {row.certificate!r}, which no run has")
        remedy = f"restore it, or explain again with {option('overwrite', True)}"
        data = read(SentFile(path), "a certificate (.ale.json)", LARGEST + 1)
        if row.sha256 not in (None, hashlib.sha256(data).hexdigest()):
            raise InputError(path, f"has another SHA-256 than the table says, so it was changed; {remedy}")
        try:
            certificate = read_certificate(data)
            if certificate.head == self.head.sha256:
                certificate.check_against(self.head.head)
        except CheckerError as error:
            raise InputError(path, f"is not a certificate ({error}); {remedy}") from error
        if certificate.head != self.head.sha256:
            raise InputError(
                path,
                f"is about another head ({certificate.head[:12]}...) than {self.head.path}"
                f" ({self.head.sha256[:12]}...); put the head that was explained there",
            )
        noted = self.source.latents[index] if index < len(self.source.latents) else None
        if None not in (noted, certificate.latents) and noted != certificate.latents:
            raise InputError(path, "names other latents than those of this image; explain the images again")
        return CertificateFile(path, data, certificate)

    def with_latents(self, path: str | None = None) -> ExplainedRun:
        """The same run, with the digests of a latents file, by default the folder's own, if nothing else tells them."""
        if path is None and lexists(self.folder / LATENTS):
            path = SentFile(self.folder / LATENTS)
        if path is None or set(self.rows) <= set(range(len(self.source.latents))):
            return self
        if all(row.certificate is not None for row in self.rows.values()):
            return self
        from verale.head import image_digests, load_latents

        latents = load_latents(path)
        with naming(path, LatentsError):
            return replace(self, source=replace(self.source, latents=tuple(image_digests(latents))))

    def latents(self, index: int) -> str | None:
        """The digest of an image's latents, where it is known."""
        if index < len(self.source.latents):
            return self.source.latents[index]
        stated = self.stated(index)
        return None if stated is None else stated.certificate.latents

    @cached_property
    def all_latents(self) -> dict[int, str] | None:
        """The digests of all images' latents, by index; None unless all are known."""
        found = {index: self.latents(index) for index in self.rows}
        return {index: digest for index, digest in found.items() if digest is not None} if all(found.values()) else None


@dataclass(frozen=True)
class Pairs:
    """Which image of one run is which of the other.

    Attributes:
        only_a, only_b: how many images there are in one of the runs only.
    """

    pairs: tuple[tuple[int, int], ...]
    by: str
    only_a: int = 0
    only_b: int = 0

    @classmethod
    def of(cls, a: ExplainedRun, b: ExplainedRun, same_head: bool) -> Pairs:
        """Which image is which: by their files, else by their latents if both runs have one head, else by their order.

        Raises:
            InputError: no image is in both; or, by order, the runs have other images, or other true classes.
        """
        if a.files is not None and b.files is not None:
            found = cls._by_digest(a.files, b.files, BY_FILES)
            if not found.pairs:
                raise InputError(b.given, f"has no image of {a.given}, by {BY_FILES}; explain the same images")
            return found
        if same_head and a.all_latents is not None and b.all_latents is not None:
            found = cls._by_digest(a.all_latents, b.all_latents, BY_LATENTS)
            if not found.only_a or not found.only_b:
                return found
        if a.rows.keys() != b.rows.keys():
            raise InputError(
                b.given,
                f"has {len(b.rows)} images, and {a.given} has {len(a.rows)}, or others; no digests say which are the"
                " same: explain the same images, in the same order",
            )
        for index in sorted(a.rows):
            labels = a.label(index), b.label(index)
            if None not in labels and labels[0] != labels[1]:
                raise InputError(
                    b.given,
                    f"image {index} has the true class {labels[1]}, and {labels[0]} in {a.given}: these are not the"
                    " same images in the same order; explain the same images",
                )
        return cls(tuple((index, index) for index in sorted(a.rows)), BY_ORDER)

    @classmethod
    def _by_digest(cls, a: Mapping[int, str], b: Mapping[int, str], by: str) -> Pairs:
        """Equal digests belong together, several of them in their order."""
        there: dict[str, list[int]] = defaultdict(list)
        for index in sorted(b, reverse=True):
            there[b[index]].append(index)
        pairs = [(index, there[a[index]].pop()) for index in sorted(a) if there[a[index]]]
        return cls(tuple(pairs), by, len(a) - len(pairs), len(b) - len(pairs))
