"""The report as one static page: it contains everything that it shows, and makes no network request."""

from __future__ import annotations

import json
import reprlib
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass

from verale.certificate.words import (
    AS_LABELLED,
    LABELS,
    NOT_COMPARED,
    enumerated,
    how_computed,
    not_proved,
    pictures_of,
)
from verale.checker.certificate import ARITHMETICS
from verale.report import vocabulary
from verale.report.collect import Collection, Item
from verale.report.grid import Grid
from verale.report.images import BY_ORDER, GONE, OTHER
from verale.report.page_check import Checking, csp_digest, deflated
from verale.report.page_detail import Details
from verale.report.page_full import EmbeddedPrototypes, Full
from verale.report.page_list import columns_of, overview
from verale.report.templates import joined, rendered
from verale.report.thumbnails import Thumbnails
from verale.runs.explained_run import OBSERVABLES
from verale.runs.inputs import SOURCE
from verale.version import __version__

__all__ = ["Limits", "page"]

_SCRIPTS = ("numbers.js", "text.js", "draw.js", "list.js", "account.js", "detail.js", "check.js", "start.js")
_PICTURED = 40
"""The most bytes of the numbers of prototypes that the list pictures."""
_REST = 2**17
"""About the bytes that are the same on every page."""
_TRAINING_SHARE = 4
"""Pictures of prototypes take at most one part in so many of the page."""


@dataclass(frozen=True)
class Limits:
    """How large a page may be.

    Attributes:
        size: in bytes. First come the images of the prototypes, up to a quarter, then the images one by one, each with
            the statements of its certificate. The page omits what does not fit, and says so.
        side: pixels a side to which images are reduced.
    """

    size: int = 128 * 2**20
    side: int = 224


def page(
    collection: Collection,
    title: str,
    limits: Limits | None = None,
    advance: Callable[[int], object] = lambda done: None,
    provable: bool = False,
) -> bytes:
    """The bytes of the page's file, UTF-8 HTML.

    Args:
        title: of the page.
        advance: called with the number of items added since the last call.
        provable: whether the page can prove its certificates again (`page_check`).

    Raises:
        InputError: a certificate that changed since it was collected; latents that do not fit the head; no head to
            check with.
    """
    limits = limits or Limits()
    notes = [f"The folder {difference}." for difference in collection.differences]
    grid, network = _common_grid(collection)
    room, proved = limits.size // _TRAINING_SHARE, None if grid is None else network
    training = EmbeddedPrototypes.of(collection, Thumbnails(limits.side), room, proved)
    notes += training.notes
    checking = Checking.of(collection, notes) if provable else None
    rows = columns_of(collection)
    fields = collection.fields_of(grid, network)
    if fields is None and network is None and collection.source.fields is not None:
        notes.append("Receptive fields are left out: those that source.json notes are of another latent grid.")
    left = limits.size - sum(map(len, training.uris)) - len(_deflated(rows)) - _REST
    left -= 0 if checking is None else checking.size
    shared = Details(collection, checking, _observable(collection), fields)
    full = _in_full(collection, shared, limits, left, notes, advance)
    rows |= full.rows
    data = {
        "version": __version__,
        "classes": collection.classes,
        "ownNames": collection.own_names,
        "observable": None if collection.head is None else _observable(collection),
        "prototypes": training.prototypes,
        "origins": {
            j: told.caption if j in training.parts else told.sentence for j, told in collection.origins.items()
        },
        "parts": training.parts,
        "pictures": training.whole,
        "training": training.uris,
        "blocks": full.firsts,
        "copy": None if collection.head is None else vocabulary.copy_of(collection.head),
        "words": {
            "labelled": AS_LABELLED,
            "computed": {arithmetic: how_computed(arithmetic) for arithmetic in ARITHMETICS},
            "prototypes": vocabulary.meaning_of_prototypes(collection),
            "shown": vocabulary.of_unproved(collection, training.parts),
            "activations": vocabulary.of_activations(collection.head),
            "observables": vocabulary.of_observables(collection.head),
            "squares": vocabulary.of_squares(fields),
            "fields": vocabulary.of_fields(fields),
        },
        "grid": None if grid is None else asdict(grid),
        "fields": None if fields is None or fields.whole else fields.record(),
        "whole": fields is not None and fields.whole,
        "check": None if checking is None else checking.facts,
    }
    script = joined(_SCRIPTS)
    scripts = [csp_digest(script.encode()), *([] if checking is None else [checking.csp_digest])]
    return rendered(
        "page.html",
        ("page.css",),
        title=title,
        prototypes=vocabulary.of_prototypes(collection, training.parts),
        squares=vocabulary.of_squares(fields),
        pictured=sum(item.proves_picture for item in collection.items),
        script=script,
        script_digests=scripts,
        data=data,
        rows=_deflated(rows),
        details=full.blocks,
        pictures=full.images,
        checking=checking,
        notes=notes,
        audited=collection.audited,
        kernels=" or ".join(dict.fromkeys(run["words"] for run in rows["run"] if run is not None)),
        not_proved=_not_proved(collection),
        not_compared="" if collection.head is None or collection.head.compared else NOT_COMPARED,
        of_images=_of_images(collection),
        labels=LABELS if any(item.label is not None for item in collection.items) else "",
        own_names=collection.own_names,
        contents=_contents(collection, len(full.images), training, full.count, checking),
        **overview(collection),
    )


def _contents(
    collection: Collection, images: int, training: EmbeddedPrototypes, certificates: int, checking: Checking | None
) -> str:
    """What the page's file holds, for whoever sends it on."""

    def number(of: int, noun: str) -> str:
        return f"{of or 'no'} {noun}{'' if of == 1 else 's'}"

    held = [number(certificates, "certificate"), number(images, "image")]
    held.append(_of_prototypes(collection, training))
    if any(item.file is not None for item in collection.items):
        held.append("the names of the images' files")
    if any(item.label is not None for item in collection.items):
        held.append("the true classes of the images, as labelled")
    if checking is not None:
        held.append("the head")
        held += [] if checking.seen is None else ["the network's first layers, and the bytes of the pictures"]
        of_latents = any(item.certificate is not None and item.certificate.picture is None for item in collection.items)
        held += ["the latents of the images"] if of_latents and collection.latents is not None else []
    return f"This file holds {enumerated(held)}."


def _of_prototypes(collection: Collection, training: EmbeddedPrototypes) -> str:
    """How many pictures of prototypes there are, and how many prototypes they show: several may be of one picture."""
    if not training.uris:
        return "no pictures of prototypes"
    count, shown = len(training.uris), training.shown
    pictures = f"{count} picture{'' if count == 1 else 's'} of prototypes"
    size = None if collection.head is None else collection.head.size
    if size is None or shown == size == count:
        return pictures
    which = f"all {size}" if shown == size else f"{shown} of the {size}"
    return f"{pictures} (which {'shows' if count == 1 else 'show'} {which} prototypes)"


def _deflated(value: object) -> str:
    """What the page's script inflates and parses."""
    return deflated(json.dumps(value, separators=(",", ":")).encode())


def _observable(collection: Collection) -> str:
    """What comparing a patch with a prototype gives."""
    return "Comparison" if collection.head is None else OBSERVABLES[collection.head.geometry.kind].capitalize()


def _common_grid(collection: Collection) -> tuple[Grid | None, str | None]:
    """The grid of the images' patches, and the network that certificates name, if they all have the same."""
    read = [item.certificate for item in collection.items if item.certificate is not None]
    said = {(each.patches, each.network) for each in read}
    grids, networks = {collection.grid_of(*each) for each in said}, {network for _, network in said}
    return (grids.pop() if len(grids) == 1 else None), (networks.pop() if len(networks) == 1 else None)


def _in_full(
    collection: Collection,
    shared: Details,
    limits: Limits,
    left: int,
    notes: list[str],
    advance: Callable[[int], object],
) -> Full:
    """The details and images that fit."""
    full = Full(shared, limits.side, left - _PICTURED * len(collection.items))
    for item in collection.items:
        advance(1)
        full.add(item)
    full.finish()
    readable, window = sum(item.certificate is not None for item in collection.items), full.window
    if full.count < readable:
        notes.append(
            f"The page has statements and images for the first {full.count} of {readable} certificates. The"
            f" others are only in the list, because the page would exceed {limits.size / 2**20:.3g} MiB"
            " (--max-size, --image-size)."
        )
    if full.unread:
        notes.append(f"{len(full.unread)} images are not shown; the first: {full.unread[0]}")
    if (by_order := sum(item.image_note == BY_ORDER for item in collection.items)) and collection.embeds:
        notes.append(
            f"{by_order} images are {BY_ORDER}: nothing binds them to their certificates but the order of their names"
            " (docs/report.md)."
        )
    if collection.outside:  # which names folders of this machine
        notes.append(f"Images that {SOURCE}, or a link, names outside of the folder are not shown (--allow).")
    for note in (GONE, OTHER):
        if left_out := sum(item.image_note == note for item in collection.items):
            notes.append(f"{left_out} images are {note}.")
    of_prototypes = next((each.decoded for each in collection.origins.values()), "")
    for decoded in (collection.source.decoded, of_prototypes and f"of prototypes, {of_prototypes}"):
        if decoded:
            notes.append(
                f"{decoded[0].upper()}{decoded[1:]}, as source.json says, which nothing checks: what is proved begins"
                " at the pixels of the PNG files that this gave."
            )
    if contradicted := sum(item.image is not None and item.image.contradicted for item in collection.items):
        notes.append(
            f"Of {contradicted} certificates, source.json names other pictures than they do. What it says of these is"
            " left out, their true classes too; pictures that are shown were found by their digests."
        )
    if not collection.embeds:
        notes.append("The page was written without pictures (--no-pictures): frames lie where the image would be.")
    elif not any(item.image is not None for item in collection.items):
        notes.append("The images are unknown, so the page draws only their grids (--images).")
    elif window.unknown:
        names = reprlib.repr(", ".join(window.unknown))[1:-1]
        notes.append(f"This page does not know how {names} changes images: squares may be off.")
    return full


def _not_proved(collection: Collection) -> str:
    """What no verdict says; where proofs begin at pictures, what they say first."""
    of_each: dict[str, list[Item]] = {}
    for item in collection.items:
        if item.certificate is not None:
            of_each.setdefault(item.verdict.not_proved, []).append(item)
    sentences = []
    for said, items in of_each.items():
        pictured = [item.certificate.arithmetic for item in items if item.certificate and item.proves_picture]
        which = "" if len(of_each) == 1 else f"Of {len(items)} of the {len(collection.paths)} certificates: "
        sentences.append(f"{which}{pictures_of(pictured)} {said}" if pictured else f"{which}{said}")
    return " ".join(sentences) or not_proved()


def _of_images(collection: Collection) -> str:
    """What is known of the images, by how many there are of each kind."""
    kinds = Counter(item.image_is for item in collection.items if item.image is not None and item.image.is_shown)
    if not kinds or not collection.embeds:
        return ""
    if len(kinds) == 1:
        return f"Each image is {next(iter(kinds))}."
    return "Images: " + "; ".join(f"{count} {words}" for words, count in sorted(kinds.items())) + "."
