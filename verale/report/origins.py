"""Origins beside prototypes: one sentence each, of an origins file that is audited now.

In the words of certificates/origins-v1.md, "How it is told": a prototype *is* a patch where that is proved and the
distance is at most a hundredth of the prototype's length, or the cosine at least 1 - 1/20000.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from verale.certificate.words import above, below
from verale.checker.choices import in_words, program_in_words
from verale.checker.errors import FormatError, UnprovedError
from verale.checker.head import Head
from verale.checker.options import AuditOptions
from verale.checker.origins import JudgedOrigin, Origin
from verale.errors import InputError
from verale.runs.arguments import HeadFile
from verale.runs.auditor import judged_origins, origins_auditor

__all__ = ["origin_sentences"]

_NEAR = 100
"""A prototype is a patch to within this part of its length."""
_LEAST_COSINE = 1 - Fraction(1, 2 * _NEAR**2)
_COSINE_DIGITS = 10
_NONE = "of where it comes from the origins file says nothing"


def origin_sentences(
    path: str | Path, head: HeadFile, network: str | Path, images: str | Path, options: AuditOptions | str | None = None
) -> dict[int, str]:
    """What is said of each prototype of a head.

    Args:
        path: the origins file.
        head: the head's file.
        network: the network's file.
        images: the pictures that the origins name; see `judged_origins`.
        options: who proves, and how long that may take.

    Raises:
        InputError: a file that cannot be used, or an origins file that is malformed or about another head or network.

    Soundness: every sentence that says "proved" follows from what the checker has proved in this call.
    """
    auditor = origins_auditor(head, network, images, options)
    try:
        judged = judged_origins(path, auditor, images)
    except (FormatError, UnprovedError) as error:
        raise InputError(path, str(error)) from error
    shape = () if auditor.network is None else auditor.network.layers[-1].shape
    columns = shape[2] if len(shape) == 3 else 1
    said = {each.origin.prototype: _sentence(each, auditor.head, columns) for each in judged}
    return {
        prototype: said.get(prototype, f"prototype {prototype}: {_NONE}") for prototype in range(auditor.head.count)
    }


def _sentence(judged: JudgedOrigin, head: Head, columns: int) -> str:
    origin = judged.origin
    row, column = divmod(origin.patch, columns)
    patch = f"the patch in row {row}, column {column} of the picture {origin.picture[:16]}..."
    near = _near_in_words(origin)
    if not judged.by:
        return f"prototype {origin.prototype} is not proved to be {patch}, {near}: {judged.message}"
    by = in_words(judged.by, "" if judged.program is None else program_in_words(judged.program.named))
    if _is_near(origin, head):
        return f"proved: prototype {origin.prototype} is {patch}, {near} (by {by})"
    return (
        f"prototype {origin.prototype} is not shown to be a patch of these pictures; the nearest that was found is"
        f" {patch}, proved to lie {near} (by {by})"
    )


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
