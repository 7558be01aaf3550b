"""Collect what a report shows: certificates with their images, and the head, latents and source that belong to them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from os.path import lexists
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from verale.certificate.statements import Bounded, bounded
from verale.certificate.words import (
    NAMED_PICTURE,
    OWN_NAMES,
    VerdictInWords,
    below,
    claim,
    class_name,
    labelled,
    subjects,
)
from verale.checker import CheckerError, PictureError
from verale.checker.certificate import LARGEST, Certificate, Document, PatchStatement, read_certificate
from verale.checker.errors import UnprovedError
from verale.checker.read.pictures import Picture, Pictures
from verale.checker.verdict import EXIT_UNUSABLE, claim_in_words
from verale.errors import InputError, naming
from verale.files import SentFile, certificate_index, certificates_folder, certificates_in, read
from verale.report.grid import Grid, NetworkBeside, grid_of_image
from verale.report.images import OUTSIDE, Match, Matcher, prototype_pictures, require_consistent
from verale.runs.explained_run import HeadOfRun
from verale.runs.inputs import SOURCE, TABLE, find_inputs, images_of_run
from verale.runs.listed import Listing, differences
from verale.runs.source import Source, load_source
from verale.runs.table import Explained, read_table

if TYPE_CHECKING:
    from torch import Tensor

    from verale.adapters.fields import ReceptiveFields
    from verale.checker import Auditor
    from verale.checker.head import Head as CheckedHead
    from verale.checker.numbers import Numbers
    from verale.head import Head
    from verale.runs.arguments import HeadFile

NOT_AUDITED = "NOT_AUDITED"
"""The status of a certificate without a verdict."""
UNEXPLAINED = "UNEXPLAINED"
"""The status of an image without a certificate."""
_LISTED, _LONGEST_NAME = 3, 200
"""The most folders of images that a message names, and characters of a class's name, which stands in every line about
it."""


@dataclass(frozen=True)
class Item:
    """One image, or one certificate file.

    Attributes:
        path: the certificate's file; None for an image without one.
        sha256: of its bytes.
        certificate: what it says; None where there is no readable certificate.
        count: how many prototypes its head has; None where that is not the head at hand.
        problem: why it cannot be read, or was not found.
        predicted: the class, also of an image without a certificate.
        index: the image's index among the latents, where known.
        image: the image, where one is known.
        label: its true class, where known: nothing checks it.
        seconds: how long explaining took, where known.
        others: what other paradigms gave that were tried, where known.
        record: its record in an audit log (certificates/audit-log-v1.md); None without an audit.
        data: the bytes of its file, which is read once.
    """

    path: Path | None
    sha256: str | None = None
    certificate: Certificate | None = None
    count: int | None = None
    problem: str = ""
    predicted: int | None = None
    index: int | None = None
    image: Match | None = None
    label: int | None = None
    seconds: float | None = None
    others: str = ""
    record: Mapping[str, Any] | None = None
    data: bytes = field(default=b"", repr=False)

    @property
    def size(self) -> int | None:
        """The number of its statements."""
        return None if self.certificate is None else len(self.certificate.statements)

    @property
    def margin(self) -> Fraction | None:
        """The least of its margins; None without rivals."""
        margins = () if self.certificate is None else self.certificate.margins
        return min((margin for margin in margins if margin is not None), default=None)

    @cached_property
    def bounded(self) -> Bounded | None:
        """What its statements bound; None where its head is not at hand."""
        if self.certificate is None or self.count is None:
            return None
        return bounded(self.certificate.statements, self.count, self.certificate.patches)

    def claim(self, predicted: str) -> str:
        """The claim as sentences, with the name of the class, and what is claimed of the picture."""
        certificate, margin = self.certificate, self.margin
        if certificate is None:
            return ""
        kinds = [isinstance(statement, PatchStatement) for statement in certificate.statements]
        spoken_of = subjects(any(kinds), not all(kinds))
        sentence = "" if margin is None else claim(predicted, len(kinds), below(margin), spoken_of)
        return f"{sentence} {self.verdict.begun(certificate.picture, certificate.arithmetic)}".strip()

    @property
    def name(self) -> str:
        """The name of its certificate, or of the image that has none."""
        return f"image {self.index}" if self.path is None else self.path.name

    @property
    def file(self) -> Path | None:
        """The image's file, where it is known."""
        return None if self.image is None else self.image.file

    @property
    def image_note(self) -> str:
        """Why the image is not known to be the certificate's (`verale.report.images`); empty if it is."""
        return "" if self.image is None else self.image.note

    @property
    def verdict(self) -> VerdictInWords:
        """The verdict for people."""
        return VerdictInWords(self.status, {} if self.record is None else self.record["claims"])

    @property
    def proves_picture(self) -> bool:
        """Whether it is proved that the network gives, for the picture, latents of which the statements are true."""
        return "picture" in self.verdict.proved

    @property
    def image_is(self) -> str:
        """What is known of the image that is shown or named, in a few words; empty without one."""
        if self.image is None or self.image.note:
            return self.image_note
        return self.verdict.image_is(NAMED_PICTURE)

    @property
    def status(self) -> str:
        """The verdict's status; without a verdict NOT_AUDITED, without a certificate UNEXPLAINED."""
        if self.path is None:
            return UNEXPLAINED
        return NOT_AUDITED if self.record is None else str(self.record["status"])

    @property
    def exit_code(self) -> int:
        """That of the verdict; 9 without one, as where a file cannot be used."""
        return EXIT_UNUSABLE if self.record is None else int(self.record["exit_code"])

    @property
    def correct(self) -> bool | None:
        """Whether the class is the true one; None where that is unknown."""
        return None if self.label is None or self.predicted is None else self.predicted == self.label


@dataclass(frozen=True, eq=False)
class ToldOrigin:
    """What is said of where a prototype comes from: a `sentence` that names the picture by its digest, and a `caption`,
    the same beside the picture with its patch outlined, "this part of this picture", empty where no origin is proved.
    And row and column of the patch; the digest of the network that gives it; and which of the pictures were made from
    other files, and how, in words (`decoded`)."""

    sentence: str
    caption: str = ""
    cell: tuple[int, int] = (0, 0)
    network: str = ""
    decoded: str = ""
    _digest: str = ""
    _pictures: Pictures | None = None

    @property
    def picture(self) -> Picture | None:
        """The picture that the caption speaks of; None where there is no caption. Raises InputError: its file was
        changed meanwhile."""
        if not self.caption or self._pictures is None:
            return None
        try:
            return self._pictures.find(self._digest)
        except (PictureError, UnprovedError) as error:
            raise InputError(f"picture {self._digest[:16]}...", str(error)) from error


@dataclass(frozen=True, eq=False)
class Collection:
    """What a report shows.

    Attributes:
        folder: the folder of the certificates.
        items: in the order of the images.
        head, latents: where available; latents (N, D, H, W) or (N, L, D), as stored.
        head_file, latents_path: that of the head, read once, and of the latents.
        source: where images and prototypes come from.
        pictures: of the prototypes, by number, where there are some.
        audited: where verdicts come from, for people; empty without verdicts.
        auditor: the checker that gave them now; None where it did not.
        origins: of each prototype what is said of the patch that it is, as it was proved now.
        embeds: whether images may be shown, and pictures of prototypes.
        differences: in what the folder is not what its run's record lists, one sentence each.
    """

    folder: Path
    items: tuple[Item, ...]
    head: Head | None = None
    latents: Tensor | None = None
    head_file: HeadFile | None = None
    latents_path: str | None = None
    source: Source = field(default_factory=Source)
    pictures: Mapping[int, Path] = field(default_factory=dict)
    audited: str = ""
    differences: tuple[str, ...] = ()
    auditor: Auditor | None = None
    origins: Mapping[int, ToldOrigin] = field(default_factory=dict)
    embeds: bool = True

    @cached_property
    def outside(self) -> str:
        """Where images are that are not shown because nobody has allowed it, and what shows them; empty without any."""
        outside = [item.file for item in self.items if item.file is not None and item.image_note == OUTSIDE]
        folders = replace(self.source, files=tuple(outside)).outside(*self.pictures.values())
        if not folders or not self.embeds:
            return ""
        named = ", ".join(map(str, folders[:_LISTED])) + (", ..." if len(folders) > _LISTED else "")
        options = " ".join(f"--allow {quote(str(each))}" for each in folders[:_LISTED])
        return (
            f"images that {SOURCE}, or a link, names outside of {self.folder}, in {named}, are not shown; if you mean"
            f" these folders, say {options}"
        )

    @cached_property
    def read_head(self) -> HeadOfRun | None:
        """The head as the checker reads it; None without one. Raises InputError."""
        return None if self.head_file is None else HeadOfRun.of(self.head_file.path, self.head_file.data)

    @property
    def checked_head(self) -> CheckedHead | None:
        """The head as the checker computes with it: that which gave the verdicts, where they are given now."""
        if self.auditor is not None:
            return self.auditor.head
        return None if self.read_head is None else self.read_head.head

    @cached_property
    def numbers(self) -> Callable[[bytes], Numbers] | None:
        """What the checker proves from the statements in a certificate's bytes: that of the verdicts, where they are
        given now; None without a head. Raises InputError: it cannot use the head."""
        if self.auditor is not None:
            return self.auditor.numbers
        from verale.runs.arguments import auditor_for

        return None if self.head_file is None else auditor_for(self.head_file).numbers

    @cached_property
    def _network(self) -> NetworkBeside | None:
        return NetworkBeside.of(self.folder)

    def _network_named(self, network: str | None) -> NetworkBeside | None:
        """The network in the folder, if it is the one that a certificate names."""
        beside = None if network is None else self._network
        return beside if beside is not None and beside.sha256 == network else None

    def grid_of(self, patches: int, network: str | None) -> Grid | None:
        """The grid of the patches of a certificate, which may name a network."""
        beside = self._network_named(network)
        return grid_of_image(patches, self.head, self.latents, None if beside is None else beside.shape)

    def fields_of(self, grid: Grid | None, network: str | None) -> ReceptiveFields | None:
        """The receptive fields of the patches of a certificate, if they are of this grid: those of the network that it
        names, as the checker computes them, where that lies in the folder; of others those that the source notes."""
        beside = self._network_named(network)
        fields = self.source.fields if beside is None else beside.fields
        if fields is None or grid is None or (len(fields.rows), len(fields.columns)) != (grid.rows, grid.columns):
            return None
        return fields

    def origin_of(self, prototype: int, network: str | None) -> tuple[Picture, tuple[int, int]] | None:
        """The picture and the cell that a prototype is told to be a part of, beside a certificate that names this
        network; None where no origin is proved, the network does not lie in the folder, or no pictures are shown.
        Raises InputError."""
        told = self.origins.get(prototype)
        if not self.embeds or told is None or told.network != network or self._network_named(network) is None:
            return None
        picture = told.picture
        return None if picture is None else (picture, told.cell)

    @property
    def paths(self) -> list[str]:
        """The certificates' files."""
        return [str(item.path) for item in self.items if item.path is not None]

    @property
    def own_names(self) -> bool:
        """Whether the classes have names that the head lacks: whoever wrote `source.json` chose them."""
        return self.classes is not None and (self.head is None or self.head.labels is None)

    def notes_on(self, item: Item) -> list[str]:
        """What a reader of one certificate has to know: that the class is proved for float32 too, and how the head
        computes it; what is not proved, and what nothing checks."""
        notes = []
        if "deployment" in item.verdict.proved:
            how = claim_in_words("deployment", item.record or {})
            notes.append(f"Proved too: {how}, the class of the head in float32.")
        notes.append(item.verdict.not_proved)
        notes += [] if item.label is None else [labelled(self.name_of(item.label))]
        notes += [OWN_NAMES] if self.own_names else []
        return notes

    @property
    def files(self) -> list[Path]:
        """The files that were read, or will be."""
        files = [path for item in self.items for path in (item.path, item.file) if path is not None]
        files += [] if self.head_file is None else [Path(self.head_file.path)]
        files += [] if self.latents_path is None else [Path(self.latents_path)]
        return [*files, *self.pictures.values()]

    @property
    def classes(self) -> tuple[str, ...] | None:
        """The names of the classes: the head's labels, otherwise the names of the images' folders."""
        return self.head.labels if self.head is not None and self.head.labels is not None else self.source.classes

    def latents_of(self, item: Item) -> Tensor | None:
        """The latents (1, ...) of an item's image, where they are known."""
        latents, index = self.latents, item.index
        return None if latents is None or index is None or index >= len(latents) else latents[index : index + 1]

    def name_of(self, predicted: int | None) -> str:
        """A class for people: its name, or its number where it has none."""
        return "" if predicted is None else class_name(predicted, self.classes, _LONGEST_NAME)

    def without_pictures(self) -> Collection:
        """The same, of which neither images nor pictures of prototypes are shown: their files are not opened again."""
        return replace(self, source=self.source.within(), pictures={}, embeds=False)

    def with_records(
        self, record_of: Callable[[Item], Mapping[str, Any] | None], audited: str, auditor: Auditor | None = None
    ) -> Collection:
        """The same collection with verdicts, and the checker that gave them now."""
        items = [item if item.path is None else replace(item, record=record_of(item)) for item in self.items]
        return replace(self, items=tuple(items), audited=audited, auditor=auditor)


def collect(
    path: str | Path,
    head: str | Path | None = None,
    latents: str | Path | None = None,
    images: str | Path | None = None,
    advance: Callable[[int], object] = lambda done: None,
    pictures: str | Path | None = None,
    allow: Sequence[str | Path] = (),
) -> Collection:
    """Collect what a report shows of a folder of certificates, or of one certificate.

    Args:
        path: the folder, or the certificate's file.
        head: its file; by default the one of the folder, if it exists (`verale.runs.inputs`).
        latents: likewise.
        images: the folder of the images; by default as `source.json` says. Files that moved within it, or have other
            names now, are known by their digests.
        advance: called with the number of files read since the last call.
        pictures: the folder of the prototypes' pictures; by default the folder's `prototypes`, if it exists.
        allow: folders of which images may be shown that `source.json` names, beside the folder itself, `images` and
            `pictures`. Others are never read: the page could be shared with whoever wrote `source.json`.

    Raises:
        InputError: no certificates; no pictures where their folder is given; a head, latents or source file that cannot
            be used; images, latents, labels and folders that contradict each other. A certificate that cannot be read
            becomes an item without a summary.
    """
    given = Path(path)
    folder = certificates_folder(given) if given.is_dir() else given.parent
    files = list(map(SentFile, certificates_in(folder))) if given.is_dir() else [str(path)]
    rows = _explained(folder)
    if not files and not rows:
        raise InputError(given, "holds no *.ale.json; expected a folder that verale explain wrote, or a certificate")
    inputs = find_inputs(folder, *(None if each is None else str(each) for each in (head, latents)))
    source_path = folder / SOURCE
    trusted = [folder, *(Path(each) for each in (images, pictures, *allow) if each is not None)]
    source = load_source(source_path, None if images is None else Path(images)).within(*trusted)
    drawn = prototype_pictures(folder, None if pictures is None else Path(pictures))
    head_file = read_head = read_latents = stored = None
    if inputs.head is not None:
        from verale.runs.arguments import HeadFile

        head_file = HeadFile.of(inputs.head)
        read_head = head_file.head
    if inputs.latents is not None:
        read_latents, stored = _load_latents(inputs.latents)
        whole = hashlib.sha256("".join(stored).encode()).hexdigest()
        if source.latents_digest not in (None, whole) or source.latents not in ((), tuple(stored)):
            raise InputError(
                source_path,
                f"notes other latents than {inputs.latents} holds: give the latents that were made of these images, or"
                " explain them again",
            )
    # The images have to be as many as the latents; without latents, as were explained, if that is known.
    number, known = len(source.files), max(len(rows), images_of_run(folder)) if stored is None else len(stored)
    if number and number != known and (stored is not None or known):
        have = f"{known} were explained" if stored is None else f"{inputs.latents} has the latents of {known}"
        problem = f"has {number} images, {have}: give the images that the latents were computed from"
        raise InputError(images or source_path, problem)
    matcher = Matcher(source, stored, folder)
    row_of = {row.certificate: row for row in rows if row.certificate is not None}
    items = []
    for file in files:
        items.append(_item(file, row_of.get(Path(file).name), matcher, read_head))
        advance(1)
    for row in rows if given.is_dir() else ():
        if row.certificate is None:
            why = row.reason or "the table gives no reason"
            item = Item(None, None, None, None, why, row.predicted, row.index, label=row.label, seconds=row.seconds)
            items.append(_with_image(item, matcher.image(row.index, True)))  # the table numbers them as latents are
    items.sort(key=lambda item: (item.index is None, item.index or 0))
    collection = Collection(folder, tuple(items), read_head, read_latents, head_file, inputs.latents, source, drawn)
    if given.is_dir():
        digests = {item.path.name: item.sha256 for item in items if item.path is not None}
        listed = Listing.of_rows(rows, images_of_run(folder)) if rows else None
        collection = replace(collection, differences=tuple(differences(folder, digests, listed)))
    require_consistent(items, source, collection.classes, None if read_head is None else read_head.classes)
    return collection


def item_beside(file: str, source: Source) -> Item:
    """The item of one certificate, by what lies beside it but head and latents: needs no torch. Raises InputError."""
    path = Path(file)
    row_of = {row.certificate: row for row in _explained(path.parent)}
    return _item(file, row_of.get(path.name), Matcher(source, None, path.parent), None)


def own_latents(certificate: Certificate, latents: Tensor, index: int | None = None) -> Tensor | None:
    """The latents (1, ...) of a certificate's image among some (N, ...), for estimates: those that it names, else those
    with an index, where known. Raises LatentsError: those that it names are not among these."""
    from verale.errors import LatentsError
    from verale.head import image_digests

    if certificate.latents is None:
        return None if index is None or index >= len(latents) else latents[index : index + 1]
    digests = image_digests(latents)
    if certificate.latents not in digests:
        raise LatentsError("the certificate's image is not among these latents: give those it was computed from")
    index = digests.index(certificate.latents)
    return latents[index : index + 1]


def _load_latents(path: str) -> tuple[Tensor, list[str]]:
    """The latents of a file, and the digest of every image. Raises InputError."""
    from verale.errors import LatentsError
    from verale.head import image_digests, load_latents

    latents = load_latents(path)
    with naming(path, LatentsError):
        return latents, image_digests(latents)


def _item(file: str, row: Explained | None, matcher: Matcher, head: Head | None) -> Item:
    """The item of a certificate's file; a row of the table counts if it is about the same bytes."""
    path, data = Path(file), Document(read(file, "a certificate (.ale.json)", LARGEST + 1))
    digest = hashlib.sha256(data).hexdigest()
    try:
        certificate = read_certificate(data)
    except CheckerError as error:
        return Item(path, digest, problem=str(error), data=data)
    known = head is not None and head.digest == certificate.head
    count = head.size if head is not None and known else None
    index, image = matcher.matched(certificate.latents, certificate.picture, certificate_index(path.name))
    item = Item(path, digest, certificate, count, "", certificate.predicted, index, data=data)
    if row is not None and row.sha256 in (None, digest):
        item = replace(item, label=row.label, seconds=row.seconds, others=row.others or "")
    return _with_image(item, image)


def _with_image(item: Item, image: Match | None) -> Item:
    """The item with its image, if it has one. Raises InputError: two sources give it different labels."""
    if image is None:
        return item
    if None not in (item.label, image.label) and item.label != image.label:
        raise InputError(
            image.file,
            f"has the true class {image.label} in {SOURCE}, but {item.label} in {TABLE} ({item.name}): give the images"
            " that were explained, or explain again",
        )
    return replace(item, image=image, label=item.label if image.label is None else image.label)


def _explained(folder: Path) -> list[Explained]:
    """The rows of a folder's table; of an unfinished run the complete ones. Raises InputError."""
    return read_table(SentFile(folder / TABLE), whole=False) if lexists(folder / TABLE) else []
