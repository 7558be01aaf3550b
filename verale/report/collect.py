"""Collect what a report shows: certificates with their images, and the head, latents and source that belong to them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verale.certificate.words import below, caveat, claim
from verale.checker import CheckerError
from verale.checker.certificate import LARGEST, Certificate, read_certificate
from verale.errors import InputError
from verale.files import certificate_index, certificates_in, read
from verale.paradigms import PARADIGMS
from verale.runs.folder import HEAD, LATENTS, SOURCE
from verale.runs.source import Source, load_source
from verale.runs.table import TABLE, Explained, read_table

if TYPE_CHECKING:
    from torch import Tensor

    from verale.head import Head

__all__ = [
    "NOT_AUDITED",
    "UNEXPLAINED",
    "CertificateSummary",
    "Collection",
    "Item",
    "collect",
    "indices_by_digest",
    "read_item",
]

NOT_AUDITED = "NOT_AUDITED"
"""The status of a certificate without a verdict."""
UNEXPLAINED = "UNEXPLAINED"
"""The status of an image without a certificate."""
_LONGEST_NAME = 200
"""The most characters shown of a class's name, which stands in every line about it."""


@dataclass(frozen=True)
class CertificateSummary:
    """What a certificate says, without its statements.

    Attributes:
        head, latents: digests.
        predicted, paradigm, patches, claims: as in the certificate.
        size: the number of statements.
        spatial: whether they are about patches, not about activations.
        margin: the least of its margins; None without rivals.
    """

    head: str
    latents: str | None
    predicted: int
    paradigm: str
    patches: int
    claims: tuple[str, ...]
    size: int
    spatial: bool
    margin: Fraction | None

    @classmethod
    def of(cls, certificate: Certificate) -> CertificateSummary:
        """The summary of a certificate."""
        return cls(
            *(certificate.head, certificate.latents, certificate.predicted, certificate.paradigm),
            *(certificate.patches, certificate.claims, len(certificate.statements)),
            PARADIGMS[certificate.paradigm].spatial,
            min((margin for margin in certificate.margins if margin is not None), default=None),
        )

    def claim(self, predicted: str) -> str:
        """The claim as a sentence, with the name of the class; empty without rivals."""
        return "" if self.margin is None else claim(predicted, self.size, below(self.margin, 4), self.spatial)


@dataclass(frozen=True)
class Item:
    """One image, or one certificate file.

    Attributes:
        path: the certificate's file; None for an image without one.
        sha256: of its bytes.
        summary: what it says; None where there is no readable certificate.
        problem: why there is no summary.
        predicted: the class, also of an image without a certificate.
        index: the image's index among the latents, where known.
        file, file_sha256, label: of the image, where known.
        seconds: how long explaining took, where known.
        record: its record in an audit log (certificates/audit-log-v1.md); None without an audit.
    """

    path: Path | None
    sha256: str | None = None
    summary: CertificateSummary | None = None
    problem: str = ""
    predicted: int | None = None
    index: int | None = None
    file: Path | None = None
    file_sha256: str | None = None
    label: int | None = None
    seconds: float | None = None
    record: Mapping[str, Any] | None = None

    @property
    def status(self) -> str:
        """The verdict's status; without a verdict NOT_AUDITED, without a certificate UNEXPLAINED."""
        if self.path is None:
            return UNEXPLAINED
        return NOT_AUDITED if self.record is None else str(self.record["status"])

    @property
    def caveat(self) -> str:
        """What goes with PROVED, where perhaps no latents satisfy the statements."""
        return caveat(self.status, {} if self.record is None else self.record["claims"])

    @property
    def verdict(self) -> str:
        """The status and its caveat, for people."""
        return ", ".join(filter(None, [self.status.replace("_", " "), self.caveat]))

    @property
    def correct(self) -> bool | None:
        """Whether the class is the true one; None where that is unknown."""
        return None if self.label is None or self.predicted is None else self.predicted == self.label


@dataclass(frozen=True, eq=False)
class Collection:
    """What a report shows.

    Attributes:
        folder: the folder of the certificates.
        items: in the order of the images.
        head, latents: where available; latents (N, D, H, W) or (N, L, D), as stored.
        head_path, latents_path: their files.
        source: where images and prototypes come from.
        audited: where verdicts come from, for people; empty without verdicts.
    """

    folder: Path
    items: tuple[Item, ...]
    head: Head | None = None
    latents: Tensor | None = None
    head_path: Path | None = None
    latents_path: Path | None = None
    source: Source = field(default_factory=Source)
    audited: str = ""

    @property
    def paths(self) -> list[str]:
        """The certificates' files."""
        return [str(item.path) for item in self.items if item.path is not None]

    @property
    def classes(self) -> tuple[str, ...] | None:
        """The names of the classes: the head's labels, otherwise the names of the images' folders."""
        return self.head.labels if self.head is not None and self.head.labels is not None else self.source.classes

    def name_of(self, predicted: int | None) -> str:
        """A class for people: its name, or its number where it has none."""
        if predicted is None:
            return ""
        named = self.classes is not None and predicted < len(self.classes)
        name = self.classes[predicted] if self.classes is not None and named else str(predicted)
        return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."

    def with_records(self, record_of: Callable[[Item], Mapping[str, Any] | None], audited: str) -> Collection:
        """The same collection with verdicts."""
        items = [item if item.path is None else replace(item, record=record_of(item)) for item in self.items]
        return replace(self, items=tuple(items), audited=audited)


def collect(
    path: str | Path,
    head: str | Path | None = None,
    latents: str | Path | None = None,
    images: str | Path | None = None,
    advance: Callable[[int], object] = lambda done: None,
) -> Collection:
    """Collect what a report shows of a folder of certificates, or of one certificate.

    Args:
        path: the folder, or the certificate's file.
        head: its file; by default the one that `verale explain` wrote to the folder, if it exists.
        latents: likewise.
        images: the folder of the images; by default as `source.json` says.
        advance: called with the number of files read since the last call.

    Raises:
        InputError: no certificates; a head, latents or source file that cannot be used; numbers of images and latents
            that differ. A certificate that cannot be read becomes an item without a summary.
    """
    given = Path(path)
    folder = given if given.is_dir() else given.parent
    files = certificates_in(folder) if given.is_dir() else [given]
    rows = _explained(folder / TABLE)
    if not files and not rows:
        raise InputError(given, "holds no *.ale.json; expected a folder that verale explain wrote, or a certificate")
    head_path, latents_path = _beside(head, folder / HEAD), _beside(latents, folder / LATENTS)
    source = load_source(_beside(None, folder / SOURCE), None if images is None else Path(images))
    read_head = read_latents = None
    if head_path is not None:
        from verale.head import Head

        read_head = Head.load(head_path)
    indices: Mapping[str, int] | None = None
    if latents_path is not None:
        read_latents, indices = _load_latents(latents_path)
        if source.files and len(source.files) != len(read_latents):
            raise InputError(
                images or folder / SOURCE,
                f"has {len(source.files)} images, {latents_path} has the latents of {len(read_latents)}:"
                " give the images that the latents were computed from",
            )
    row_of = {row.certificate: row for row in rows if row.certificate is not None}
    items = []
    for file in files:
        items.append(_item(file, row_of.get(file.name), source, indices))
        advance(1)
    if given.is_dir():
        items += [_unexplained(row, source) for row in rows if row.certificate is None]
    items.sort(key=lambda item: (item.index is None, item.index or 0))
    return Collection(folder, tuple(items), read_head, read_latents, head_path, latents_path, source)


def read_item(item: Item) -> tuple[bytes, Certificate]:
    """The certificate of an item with a summary, read again. Raises InputError if the file changed."""
    data = read(str(item.path), "a certificate (.ale.json)", LARGEST + 1)
    if hashlib.sha256(data).hexdigest() != item.sha256:
        raise InputError(item.path, "changed while the report was written: run the command again")
    return data, read_certificate(data)


def indices_by_digest(latents: Tensor) -> dict[str, int]:
    """The index of every image by the digest of its latents, the first where several are equal. Raises LatentsError."""
    from verale.head import as_patches, digest

    return {digest(as_patches(image[None])[0]): index for index, image in reversed(list(enumerate(latents)))}


def _beside(given: str | Path | None, by_default: Path) -> Path | None:
    return Path(given) if given is not None else by_default if lexists(by_default) else None


def _load_latents(path: Path) -> tuple[Tensor, Mapping[str, int]]:
    """The latents of a file, and the index of every image by digest. Raises InputError."""
    from verale.errors import LatentsError
    from verale.head import load_latents

    latents = load_latents(path)
    try:
        return latents, indices_by_digest(latents)
    except LatentsError as error:
        raise InputError(path, str(error)) from error


def _item(path: Path, row: Explained | None, source: Source, indices: Mapping[str, int] | None) -> Item:
    """The item of a certificate's file; a row of the table counts if it is about the same bytes."""
    data = read(path, "a certificate (.ale.json)", LARGEST + 1)
    digest = hashlib.sha256(data).hexdigest()
    try:
        summary = CertificateSummary.of(read_certificate(data))
    except CheckerError as error:
        return Item(path, digest, problem=str(error))
    number = certificate_index(path.name)
    index = number if indices is None else indices.get(summary.latents or "")
    if row is None or row.sha256 not in (None, digest):
        return _with_image(Item(path, digest, summary, "", summary.predicted, index), source)
    item = Item(path, digest, summary, "", summary.predicted, index, label=row.label, seconds=row.seconds)
    return _with_image(item, source)


def _unexplained(row: Explained, source: Source) -> Item:
    problem = row.reason or "the table gives no reason"
    item = Item(None, problem=problem, predicted=row.predicted, index=row.index, label=row.label, seconds=row.seconds)
    return _with_image(item, source)


def _with_image(item: Item, source: Source) -> Item:
    if item.index is None or not item.index < len(source.files):
        return item
    label = source.labels[item.index]
    file, digest = source.files[item.index], source.digests[item.index]
    return replace(item, file=file, file_sha256=digest, label=item.label if label is None else label)


def _explained(path: Path) -> list[Explained]:
    """The rows of the table; of an unfinished run the complete ones. Raises InputError."""
    return read_table(path, whole=False) if lexists(path) else []
