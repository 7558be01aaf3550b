"""The report as one static page: it contains everything that it shows, and makes no network request. Its words are
explained for people who have not met prototypes before."""

from __future__ import annotations

import reprlib
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import asdict
from statistics import median
from typing import TYPE_CHECKING, Any

import torch

from verale.certificate.words import (
    AS_LABELLED,
    LABELS,
    NOT_COMPARED,
    OBSERVABLES,
    PROTOTYPES,
    PROVED_PICTURE,
    about,
    below,
    enumerated,
    how_computed,
    not_proved,
    pictures_of,
    seen_alone,
    written,
)
from verale.checker.certificate import ARITHMETICS
from verale.checker.options import CHOICES, PROVED
from verale.checker.receptive import ReceptiveFields as Checked
from verale.checker.verdict import claim_in_words, printable
from verale.head import Cosine, Euclidean, MaskedMaxPooling, Softmax
from verale.head.head import similarity
from verale.report.collect import Collection, Item
from verale.report.explanation import in_brief
from verale.report.images import AS_NOTED, BY_ORDER, GONE, OTHER
from verale.report.page_check import Checking
from verale.report.page_full import EmbeddedPrototypes, Full
from verale.report.templates import csp_digest, deflated, joined, rendered
from verale.runs.inputs import SOURCE
from verale.version import __version__

if TYPE_CHECKING:
    from verale.adapters.fields import ReceptiveFields
    from verale.head import Head

_SCRIPTS = ("numbers.js", "text.js", "draw.js", "list.js", "account.js", "detail.js", "check.js", "start.js")
_PICTURED = 40
"""The most bytes of the numbers of prototypes that the list pictures."""
_REST = 2**17
"""About the bytes that are the same on every page."""
_TRAINING_SHARE = 4
"""Pictures of prototypes take at most one part in so many of the page."""
_KERNELS = {
    "proved-or-arb": "that is itself proved right, in Rocq, and in what its proof does not cover by one that computes"
    " with exact integers and the interval arithmetic of Arb",
    "arb": "that computes with exact integers and the interval arithmetic of Arb",
    "mpmath": "that computes with exact integers and the interval arithmetic of mpmath",
    "both": "in two interval arithmetics, those of Arb and of mpmath",
    "proved": "that is itself proved right, in Rocq",
    "all": "in two interval arithmetics, and by one that is itself proved right, in Rocq",
}
_FROM_0 = "Rows, columns and patches count from 0."
_NAMED = 3
"""The most modules of unknown reach that are named."""


def page(
    collection: Collection,
    title: str,
    size: int = 128 * 2**20,
    side: int = 224,
    advance: Callable[[int], object] = lambda done: None,
    provable: bool = False,
) -> bytes:
    """The bytes of the page's file, UTF-8 HTML.

    Args:
        title: of the page.
        size: in bytes. First come the images of the prototypes, up to a quarter, then the images one by one, each with
            the statements of its certificate. The page omits what does not fit, and says so.
        side: pixels a side to which images are reduced.
        advance: called with the number of items added since the last call.
        provable: whether the page can prove its certificates again (`page_check`).

    Raises:
        InputError: a certificate that changed since it was collected; latents that do not fit the head; no head to
            check with.
    """
    head, notes = collection.head, [f"The folder {difference}." for difference in collection.differences]
    # The grid of the images' patches, and the network that certificates name, if they all have the same.
    said = {(item.certificate.patches, item.certificate.network) for item in collection.items if item.certificate}
    grids, networks = {collection.grid_of(*each) for each in said}, {network for _, network in said}
    grid = grids.pop() if len(grids) == 1 else None
    network = networks.pop() if len(networks) == 1 else None
    proved = None if grid is None else network
    training = EmbeddedPrototypes.of(collection, side, size // _TRAINING_SHARE, proved, notes)
    checking = Checking.of(collection, notes) if provable else None
    lines = [_line(collection, item) for item in collection.items]
    rows: dict[str, list[Any]] = {name: [line[name] for line in lines] for name in _line(collection, Item(None))}
    fields = collection.fields_of(grid, network)
    if fields is None and network is None and collection.source.fields is not None:
        notes.append("Receptive fields are left out: those that source.json notes are of another latent grid.")
    left = size - sum(map(len, training.uris)) - len(deflated(rows)) - _REST - _PICTURED * len(collection.items)
    left -= 0 if checking is None else checking.size
    observable = "Comparison" if head is None else OBSERVABLES[head.geometry.kind].capitalize()
    full = Full(collection, checking, observable, fields, side, left)
    for item in collection.items:
        advance(1)
        full.add(item)
    full.finish()
    notes += _notes(collection, full, size)
    meaning, unproved = meaning_of_prototypes(collection), of_unproved(collection, training.parts)
    rows |= full.rows
    data = {
        "version": __version__,
        "classes": collection.classes,
        "ownNames": collection.own_names,
        "observable": None if head is None else observable,
        "prototypes": training.prototypes,
        "origins": {
            j: told.caption if j in training.parts else told.sentence for j, told in collection.origins.items()
        },
        "parts": training.parts,
        "pictures": training.whole,
        "training": training.uris,
        "blocks": full.firsts,
        "copy": None if head is None else copy_of(head),
        "words": {
            "labelled": AS_LABELLED,
            "computed": {arithmetic: how_computed(arithmetic) for arithmetic in ARITHMETICS},
            "prototypes": meaning,
            "shown": unproved,
            "activations": of_activations(head),
            "observables": of_observables(head),
            "squares": of_squares(fields),
            "fields": of_fields(fields),
        },
        "grid": None if grid is None else asdict(grid),
        "fields": None if fields is None or fields.whole else fields.record(),
        "whole": fields is not None and fields.whole,
        "check": None
        if checking is None
        else {"sha256": checking.sha256, "shape": None if checking.seen is None else checking.seen.shape},
    }
    script = joined(_SCRIPTS)
    return rendered(
        "page.html",
        ("page.css",),
        title=title,
        prototypes=" ".join(filter(None, (meaning, unproved))),
        squares=of_squares(fields),
        pictured=sum(item.proves_picture for item in collection.items),
        script=script,
        script_digests=[csp_digest(script.encode()), *([] if checking is None else [checking.csp_digest])],
        data=data,
        rows=deflated(rows),
        details=full.blocks,
        pictures=full.images,
        checking=checking,
        notes=notes,
        audited=collection.audited,
        kernels=" or ".join(dict.fromkeys(run["words"] for run in rows["run"] if run is not None)),
        not_proved=_not_proved(collection),
        not_compared="" if head is None or head.compared else NOT_COMPARED,
        of_images=_of_images(collection),
        labels=LABELS if any(item.label is not None for item in collection.items) else "",
        own_names=collection.own_names,
        contents=_contents(collection, len(full.images), training, full.count, checking),
        **_overview(collection),
    )


def _contents(
    collection: Collection, images: int, training: EmbeddedPrototypes, certificates: int, checking: Checking | None
) -> str:
    """What the page's file holds, for whoever sends it on."""

    def number(of: int, noun: str) -> str:
        return f"{of or 'no'} {noun}{'' if of == 1 else 's'}"

    held = [number(certificates, "certificate"), number(images, "image")]
    count, shown = len(training.uris), training.shown
    held.append(f"{count or 'no'} picture{'' if count == 1 else 's'} of prototypes")
    size = None if collection.head is None else collection.head.size
    if count and size is not None and not shown == size == count:  # several prototypes may be of one picture
        which = f"all {size}" if shown == size else f"{shown} of the {size}"
        held[-1] += f" (which {'shows' if count == 1 else 'show'} {which} prototypes)"
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


def _notes(collection: Collection, full: Full, size: int) -> Iterator[str]:
    """What is missing on a page of so many bytes at most, and what nothing checks."""
    readable = sum(item.certificate is not None for item in collection.items)
    notes = Counter(item.image_note for item in collection.items)
    if full.count < readable:
        yield (
            f"The page has statements and images for the first {full.count} of {readable} certificates. The"
            f" others are only in the list, because the page would exceed {size / 2**20:.3g} MiB"
            " (--max-size, --image-size)."
        )
    if full.unread:
        yield f"{len(full.unread)} images are not shown; the first: {full.unread[0]}"
    if notes[BY_ORDER] and collection.embeds:
        yield (
            f"{notes[BY_ORDER]} images are {BY_ORDER}: nothing binds them to their certificates but the order of their"
            " names (docs/report.md)."
        )
    if collection.outside:  # which names folders of this machine
        yield f"Images that {SOURCE}, or a link, names outside of the folder are not shown (--allow)."
    yield from (f"{notes[note]} images are {note}." for note in (GONE, OTHER) if notes[note])
    of_prototypes = next((each.decoded for each in collection.origins.values()), "")
    for decoded in (collection.source.decoded, of_prototypes and f"of prototypes, {of_prototypes}"):
        if decoded:
            yield (
                f"{decoded[0].upper()}{decoded[1:]}, as source.json says, which nothing checks: what is proved begins"
                " at the pixels of the PNG files that this gave."
            )
    if contradicted := sum(item.image is not None and item.image.contradicted for item in collection.items):
        yield (
            f"Of {contradicted} certificates, source.json names other pictures than they do. What it says of these is"
            " left out, their true classes too; pictures that are shown were found by their digests."
        )
    if not collection.embeds:
        yield "The page was written without pictures (--no-pictures): frames lie where the image would be."
    elif not any(item.image is not None for item in collection.items):
        yield "The images are unknown, so the page draws only their grids (--images)."
    elif full.window.unknown:
        names = reprlib.repr(", ".join(full.window.unknown))[1:-1]
        yield f"This page does not know how {names} changes images: squares may be off."


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


def _line(collection: Collection, item: Item) -> dict[str, Any]:
    """What the list shows of an item. It is stored by name: what many lines have in common is deflated to hardly
    anything."""
    certificate, record, bounded, size = item.certificate, item.record, item.bounded, item.count

    def rounded(seconds: float | None) -> float | None:
        return None if seconds is None else float(about(seconds, 3))

    bounds = run = None
    if certificate is not None and bounded is not None and size is not None:
        # How much the statements bound, beside their number: of a clause about all others that is more than one.
        many = bounded.pairs and certificate.patches > 1
        of_pairs = f", {bounded.pairs} of {size * certificate.patches} pairs" if many else ""
        bounds = f"on {bounded.prototypes} of {size} prototypes{of_pairs}"
    if record is not None:  # what proved it: the kernel that proved every claim, or the choice of the audit
        proved = set(record.get("by", {}).values())
        kernel = proved.pop() if len(proved) == 1 else record["run"]["kernel"]
        checker = record["run"]["checker"]
        variable = checker.get("variable", "")
        words = of_kernel(kernel, variable)
        run = {"kernel": kernel, "checker": checker["sha256"], "variable": variable, "words": words}
    known = f"The image is {item.image_is}." if item.image_is else ""
    message = (record or {}).get("message") or item.problem
    return {
        "name": item.name,
        "image": "" if item.file is None else "/".join(item.file.parts[-2:]),
        "match": "" if item.image_note == AS_NOTED else item.image_note,
        "predicted": item.predicted,
        "label": item.label,
        "size": item.size,
        "margin": None if item.margin is None else below(item.margin),
        "explain": rounded(item.seconds),
        "audit": rounded((record or {}).get("seconds")),
        "status": item.status,
        "caveat": item.verdict.caveat,
        "scope": item.verdict.scope,
        "claims": [
            [claim_in_words(one, record or {}), state] for one, state in (record or {}).get("claims", {}).items()
        ],
        "pictured": certificate.arithmetic if certificate is not None and item.proves_picture else None,
        "why": "" if certificate is None else in_brief(certificate, size),
        "others": item.others or None,
        "sha256": item.sha256,
        "bounds": bounds,
        "run": run,
        "known": "The picture shown is the one that was proved." if item.image_is == PROVED_PICTURE else known,
        "unproved": item.verdict.not_proved,
        "message": message.replace(f"{collection.folder}/", ""),
    }


def _overview(collection: Collection) -> dict[str, object]:
    """The numbers at the top of the page, and the table by class: of each class, that images get or that is their true
    one, the images that get it, and how many those are."""
    items = collection.items
    explain = [item.seconds for item in items if item.seconds is not None]
    audit = [item.record["seconds"] for item in items if item.record is not None and item.record["seconds"] is not None]
    labelled = Counter(item.label for item in items if item.label is not None)
    of_class: dict[int, list[Item]] = {label: [] for label in labelled}
    for item in items:
        if item.predicted is not None:
            of_class.setdefault(item.predicted, []).append(item)
    return {
        "images": len(items),
        "certificates": len(collection.paths),
        "statuses": Counter(item.status for item in items),
        "mistakes": sum(item.correct is False for item in items),
        "judged": sum(item.correct is not None for item in items),
        "caveats": Counter(item.verdict.caveat for item in items if item.verdict.caveat),
        **_numbers(items),
        "explain_seconds": about(median(explain), 2) if explain else "",
        "audit_seconds": about(median(audit), 2) if audit else "",
        "by_class": [
            {
                "predicted": predicted,
                "name": collection.name_of(predicted),
                "images": len(those),
                "proved": sum(item.status == "PROVED" for item in those),
                "labelled": labelled[predicted],
                **_numbers(those),
            }
            for predicted, those in sorted(of_class.items())
        ],
    }


def _numbers(items: Sequence[Item]) -> dict[str, str]:
    """Median size, least margin and number of correct classes of some items; empty where unknown."""
    sizes = [item.size for item in items if item.size is not None]
    margins = [item.margin for item in items if item.margin is not None]
    judged = [item.correct for item in items if item.correct is not None]
    return {
        "median_size": written(median(sizes)) if sizes else "",
        "least_margin": below(min(margins)) if margins else "",
        "correct": f"{sum(judged)} of {len(judged)}" if judged else "",
    }


def of_unproved(collection: Collection, proved: Container[int] = ()) -> str:
    """That nothing proves where prototypes come from; empty where all that have a picture are `proved` to be a part of
    it."""
    return PROTOTYPES if any(j not in proved for j in (*collection.source.origins, *collection.pictures)) else ""


def meaning_of_prototypes(collection: Collection) -> str:
    """What prototypes are, as far as the source tells."""
    if collection.source.origins:
        return "A prototype is a patch of a training image, which the network keeps to compare images with."
    return "A prototype is a pattern that the network learned, to compare images with."


def of_activations(head: Head | None) -> str:
    """How active a prototype is; with the activation that a copy of it would give, where that is one number."""
    if head is None:
        return ""
    if head.pooling.needs_all_patches:
        return "The activation of a prototype comes from its similarities to all patches of the image; it has no unit."
    copy = copy_of(head)
    end = "" if copy is None else f"; {about(copy)} for an exact copy"
    where = " that it looks at" if isinstance(head.pooling, MaskedMaxPooling) else ""
    return f"The activation of a prototype is its similarity to the patch{where} most like it. It has no unit{end}."


def of_observables(head: Head | None) -> str:
    """What an interval of distances or the like speaks of."""
    match None if head is None else head.geometry:
        case Euclidean():
            return "A squared distance says how far a patch is from a prototype: 0 for an exact copy."
        case Cosine():
            return "A cosine says how much a patch points where a prototype does: 1 for the same direction."
        case Softmax():
            return "Each patch has a mass of 1, and divides it among the prototypes that it is like."
    return ""


def of_kernel(name: str, variable: str = "") -> str:
    """How a checker computes, by the name of its kernel; it shares no code with what found the statements. Where an
    environment variable named the proved checker, it is not known whether that is the program which is proved right."""
    if variable and PROVED in CHOICES.get(name, ()):
        others = len(CHOICES[name]) > 1
        return f"that {variable} named{', or the reading in interval arithmetic' if others else ''}"
    return _KERNELS.get(name, "that shares no code with what found the statements")


def of_squares(fields: ReceptiveFields | None) -> str:
    """What an outlined square is, and what a dashed frame is, as far as the receptive fields are known."""
    if fields is None:
        return (
            "A square is the cell of a patch in the latent grid. The patch may depend on more of the image than that;"
            f" this page does not know on how much (its receptive field). {_FROM_0}"
        )
    by = "which the checker computes from the network's file" if fields.by_checker else "as source.json says"
    alone = ""
    if fields.by_checker and len(fields.rows + fields.columns) > 2:
        rows, columns = Checked(fields.rows, fields.columns, fields.size).alone()
        alone = f" And {seen_alone(min(rows) * min(columns), max(rows) * max(columns))}."
    if not fields.whole:
        return (
            f"Solid: the cell of a patch in the latent grid. Dashed: its receptive field, {by}, all of"
            f" the image that the patch can depend on.{alone} {_FROM_0}"
        )
    lies = "A square is the cell of a patch in the latent grid, and only says where the patch lies: it"
    if not fields.unknown:
        field = f"its receptive field, {by}" if fields.by_checker else "its receptive field"
        return f"{lies} can depend on the whole image ({field}).{alone} {_FROM_0}"
    names = ", ".join(fields.unknown[:_NAMED]) + (", ..." if len(fields.unknown) > _NAMED else "")
    return f"{lies} may depend on the whole image, since it is not known how far {printable(names)} reaches. {_FROM_0}"


def of_fields(fields: ReceptiveFields | None) -> str:
    """Who says what the receptive fields are."""
    if fields is not None and fields.by_checker:
        return "Computed by the checker from the network's file."
    return "As source.json says; not part of the proof."


def copy_of(head: Head) -> float | None:
    """The similarity of a patch and a prototype that equals it, if it is the same for all prototypes; None where no
    single patch gives the activation, too."""
    if head.pooling.needs_all_patches:
        return None
    match head.geometry:
        case Euclidean():
            observed = torch.zeros(1, head.size, dtype=torch.float64)
        case Cosine() | Softmax():
            observed = torch.ones(1, head.size, dtype=torch.float64)
        case _:
            return None
    values = similarity(head, observed)[0].tolist()
    return float(values[0]) if len(set(values)) == 1 else None
