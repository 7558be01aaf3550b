"""What the words of an explanation mean, for people who have not met prototypes before."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

import torch

from verale.certificate.words import PROTOTYPES, about, seen_alone
from verale.checker.options import CHOICES, PROVED
from verale.checker.receptive import ReceptiveFields as Checked
from verale.checker.verdict import printable
from verale.head import Cosine, Euclidean, MaskedMaxPooling, Softmax
from verale.head.head import similarity

if TYPE_CHECKING:
    from verale.adapters.fields import ReceptiveFields
    from verale.head import Head
    from verale.report.collect import Collection

__all__ = [
    "copy_of",
    "meaning_of_prototypes",
    "of_activations",
    "of_fields",
    "of_kernel",
    "of_observables",
    "of_prototypes",
    "of_squares",
    "of_unproved",
]

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


def of_prototypes(collection: Collection, proved: Container[int] = ()) -> str:
    """What prototypes are, as far as the source tells, and what nothing proves of their pictures."""
    return " ".join(filter(None, (meaning_of_prototypes(collection), of_unproved(collection, proved))))


def of_unproved(collection: Collection, proved: Container[int] = ()) -> str:
    """That nothing proves where prototypes come from; empty where each picture that is shown is proved to be one.

    Args:
        proved: the prototypes that are shown as parts of pictures from which they are proved to come.
    """
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
    """How a checker computes, by the name of its kernel; it shares no code with what found the statements.

    Args:
        variable: the environment variable that named the proved checker where the audit ran. Then it is not known
            whether that is the program which is proved right.
    """
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
