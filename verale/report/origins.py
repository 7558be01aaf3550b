"""Origins beside prototypes: one sentence each, of an origins file that is audited now.

In the words of certificates/origins-v1.md, "How it is told": a prototype *is* a patch where that is proved and the
distance is at most a hundredth of the prototype's length, or the cosine at least 1 - 1/20000.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from verale.certificate.words import above, below
from verale.checker import Auditor
from verale.checker.errors import FormatError, PictureError, UnprovedError
from verale.checker.head import Head
from verale.checker.options import AuditOptions, in_words, program_in_words
from verale.checker.origins import JudgedOrigin, Origin
from verale.checker.read.pictures import Picture, Pictures
from verale.errors import InputError
from verale.runs.arguments import HeadFile
from verale.runs.audit import judged_origins, origins_auditor
from verale.runs.inputs import SOURCE, find_seen
from verale.runs.source import load_source

__all__ = ["ToldOrigin", "origins_beside", "told_origins"]

_NEAR = 100
"""A prototype is a patch to within this part of its length."""
_LEAST_COSINE = 1 - Fraction(1, 2 * _NEAR**2)
_COSINE_DIGITS = 10
_NONE = "of where it comes from the origins file says nothing"


@dataclass(frozen=True, eq=False)
class ToldOrigin:
    """What is said of where a prototype comes from.

    Attributes:
        sentence: names the picture by its digest.
        caption: the same beside the picture with its patch outlined, "this part of this picture"; empty where no origin
            is proved.
        cell: row and column of the patch.
        network: digest of the network that gives it.
        decoded: which of the pictures were made from other files, and how, in words; empty of none.
    """

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


def told_origins(
    path: str | Path, head: HeadFile, network: str | Path, images: str | Path, options: AuditOptions | str | None = None
) -> dict[int, ToldOrigin]:
    """What is said of each prototype of a head, by an origins file; `images` are the pictures that it names
    (`judged_origins`).

    Raises:
        InputError: a file that cannot be used, or an origins file that is malformed or about another head or network.

    Soundness: every sentence that says "proved" follows from what the checker has proved in this call. A caption's
    picture is found by the digest of which that was proved.
    """
    auditor = origins_auditor(head, network, images, options)
    try:
        judged = judged_origins(path, auditor, images)
    except (FormatError, UnprovedError) as error:
        raise InputError(path, str(error)) from error
    decoded = load_source(Path(images) / SOURCE).decoded if Path(images).is_dir() else ""
    told = {each.origin.prototype: replace(_told(each, auditor), decoded=decoded) for each in judged}
    return {
        prototype: told.get(prototype, ToldOrigin(f"prototype {prototype}: {_NONE}"))
        for prototype in range(auditor.head.count)
    }


def origins_beside(
    folder: Path, head: HeadFile | None, origins: tuple[str, str], options: AuditOptions, named: str | None = None
) -> dict[int, ToldOrigin]:
    """What is said of each prototype, by the network beside the certificates of a folder, and by an origins file and
    the pictures that it names; nothing of another head than that whose digest is `named`, if one is.

    Raises:
        InputError: there is no network or no head; otherwise as `told_origins`.
    """
    seen = find_seen(folder)
    if seen is None or head is None:
        raise InputError(folder, "has no network and pictures, or no head, and origins are about them")
    if named not in (None, head.sha256):
        return {}
    return told_origins(origins[0], head, seen[0], origins[1], options)


def _told(judged: JudgedOrigin, auditor: Auditor) -> ToldOrigin:
    origin, network = judged.origin, auditor.network
    shape = () if network is None else network.layers[-1].shape
    row, column = cell = divmod(origin.patch, shape[2] if len(shape) == 3 else 1)
    patch = f"the patch in row {row}, column {column} of the picture {origin.picture[:16]}..."
    near = _near_in_words(origin)
    if not judged.by:
        return ToldOrigin(f"prototype {origin.prototype} is not proved to be {patch}, {near}: {judged.message}")
    by = in_words(judged.by, "" if judged.program is None else program_in_words(judged.program.named))
    before, after = f"proved: prototype {origin.prototype} is", f", {near} (by {by})"
    if not _is_near(origin, auditor.head):
        before = (
            f"prototype {origin.prototype} is not shown to be a patch of these pictures; the nearest that was found is"
        )
        after = f", proved to lie {near} (by {by})"
    sentence, caption = (f"{before} {which}{after}" for which in (patch, "this part of this picture"))
    known = "" if network is None else network.sha256
    return ToldOrigin(sentence, caption, cell, known, _digest=origin.picture, _pictures=auditor.pictures)


def _near_in_words(origin: Origin) -> str:
    if origin.distance is not None:
        return f"to within {above(origin.distance)}"
    return "" if origin.cosine is None else f"with a cosine of at least {below(origin.cosine, _COSINE_DIGITS)}"


def _is_near(origin: Origin, head: Head) -> bool:
    """Whether the origin is told as what the prototype is."""
    if origin.distance is None:
        return origin.cosine is not None and origin.cosine >= _LEAST_COSINE
    exact = head.prototypes
    length = sum(Fraction(number, 1 << exact.bits) ** 2 for number in exact.rows[origin.prototype])
    return (_NEAR * origin.distance) ** 2 <= length
