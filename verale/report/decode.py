"""What head and latents say of an image, in float64, for people: nothing here is proved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from verale.checker.certificate import ActivationStatement, Certificate, PatchStatement, Statement
from verale.errors import InputError, LatentsError
from verale.head import BankPooling, Euclidean, Head, MaxPooling, SoftTree, as_patches, evaluate_observed
from verale.head.evaluate import observables, similarity
from verale.report.collect import Collection, Item
from verale.report.grid import Grid, grid_of

__all__ = ["Decoded", "decode", "decoded", "favoured", "grid_at"]


@dataclass(frozen=True)
class Decoded:
    """Of one certificate, statement by statement and class by class.

    Attributes:
        similarity: of the patch and the prototype of each statement; None for statements about activations, and where
            no head is at hand.
        place: for statements about activations the patch where the greatest similarity is; None where there is no one
            such patch.
        ahead: how far the predicted class is ahead of every class at this image; empty without latents.
    """

    similarity: list[float | None] = field(default_factory=list)
    place: list[int | None] = field(default_factory=list)
    ahead: list[float] = field(default_factory=list)


def decode(certificate: Certificate, head: Head, image: Tensor | None) -> Decoded:
    """What there is to say of a certificate of that head.

    Args:
        image: the image's latents, (1, D, H, W) or (1, L, D); without them similarities are those at the middles of the
            intervals.

    Raises:
        LatentsError: latents that do not fit the head.
    """
    if image is None or (isinstance(head.pooling, BankPooling) and certificate.patches < 2):
        rows, observed = _at_middles(certificate, head)
        similar = similarity(head, observed)
        return Decoded([_similarity(similar, rows, statement) for statement in certificate.statements])
    observed = _observables(head, as_patches(image))[0]
    similar = similarity(head, observed)
    rows = {patch: patch for patch in range(len(observed))}
    similarities = [_similarity(similar, rows, statement) for statement in certificate.statements]
    places = [_place(head, similar, statement) for statement in certificate.statements]
    if certificate.predicted >= head.classes:
        return Decoded(similarities, places)
    logits = evaluate_observed(head, observed[None]).logits[0]
    return Decoded(similarities, places, (logits[certificate.predicted] - logits).tolist())


def decoded(collection: Collection, item: Item, certificate: Certificate) -> Decoded:
    """What there is to say of an item's certificate; nothing, where its head is not at hand.

    Raises:
        InputError: latents that do not fit the head.
    """
    head, latents, index = collection.head, collection.latents, item.index
    if head is None or certificate.head != head.digest:
        return Decoded()
    known = latents is not None and index is not None and index < len(latents)
    try:
        return decode(certificate, head, latents[index : index + 1] if known else None)  # type: ignore[index, operator]
    except LatentsError as error:
        raise InputError(collection.latents_path, str(error)) from error


def grid_at(collection: Collection, patches: int) -> Grid | None:
    """Where an image's patches lie."""
    latents, head = collection.latents, collection.head
    tokens = int(head is not None and isinstance(head.pooling, BankPooling))
    shape = None if latents is None or latents.dim() != 4 else (int(latents.shape[2]), int(latents.shape[3]))
    return grid_of(patches, tokens, shape)


def favoured(head: Head) -> list[int | None]:
    """For each prototype the class it votes most for, None where there is none such (trees, equal weights)."""
    if isinstance(head.readout, SoftTree):
        return [None] * head.size
    top = head.weight.to(torch.float64).topk(2, dim=0)
    return [
        int(index) if first > second and first > 0 else None
        for first, second, index in zip(top.values[0], top.values[1], top.indices[0], strict=True)
    ]


def _observables(head: Head, patches: Tensor) -> Tensor:
    """(N, L, P). As `verale.head.observables`, with less memory for distances."""
    if not isinstance(head.geometry, Euclidean) or head.prototypes is None or patches.shape[-1] != head.depth:
        return observables(head, patches)
    prototypes = head.prototypes.to(patches)
    return torch.cdist(patches, prototypes, compute_mode="donot_use_mm_for_euclid_dist").square()


def _at_middles(certificate: Certificate, head: Head) -> tuple[dict[int, int], Tensor]:
    """Observables (rows, P) with the middles of the intervals where something is stated; the row of each patch."""
    stated = [s for s in certificate.statements if isinstance(s, PatchStatement) and s.prototype < head.size]
    rows = {patch: row for row, patch in enumerate(sorted({s.patch for s in stated}))}
    observed = torch.zeros(len(rows), head.size, dtype=torch.float64)
    for s in stated:
        observed[rows[s.patch], s.prototype] = float((s.lower + s.upper) / 2)
    return rows, observed


def _similarity(similar: Tensor, rows: Mapping[int, int], statement: Statement) -> float | None:
    if (
        not isinstance(statement, PatchStatement)
        or statement.prototype >= similar.shape[1]
        or statement.patch not in rows
    ):
        return None
    return float(similar[rows[statement.patch], statement.prototype])


def _place(head: Head, similar: Tensor, statement: Statement) -> int | None:
    if not isinstance(statement, ActivationStatement) or statement.prototype >= head.size:
        return None
    prototype = statement.prototype
    if isinstance(head.pooling, BankPooling):
        return 0 if prototype < head.pooling.class_token else 1 + int(similar[1:, prototype].argmax())
    return int(similar[:, prototype].argmax()) if isinstance(head.pooling, MaxPooling) else None
