"""Estimates for people, in float64 from head and latents: similarities, how far the class is ahead, and how the
activations of an image stand among those of all images of a run. Not proved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from verale.certificate.words import about
from verale.checker.certificate import ActivationStatement, Certificate, PatchStatement
from verale.errors import LatentsError
from verale.head import Head, Linear, as_patches, evaluate_observed
from verale.head.head import belonging, observables, similarity
from verale.report.collect import Collection


@dataclass(frozen=True)
class Estimates:
    """What is estimated of one certificate, statement by statement and class by class.

    Attributes:
        similarity: of each statement's patch and prototype; None for statements about activations. Empty without
            latents.
        attained: for each statement about an activation the patch with the greatest similarity; None for other
            statements, and where no single patch has it. Empty without latents.
        ahead: how far the predicted class is ahead of every class at this image; empty without latents.
        second: the class with the greatest logit but the predicted one; None without latents.
        adds: for each statement what its prototype adds to the lead over `second` at this image: the difference of the
            two classes' weights times the activation. For a statement about a patch it counts at the patch where the
            activation is attained, and is 0 elsewhere. None for clauses. Empty unless the readout is linear.
        heat: the same, of all prototypes, by the patch where the activation is attained. With the difference of the
            biases these sum to the lead. Empty where no single patch attains an activation.
        best: for each prototype the patch with the greatest similarity; empty without latents, and where no single
            patch has it.
        logits: (C,) of this image; empty without latents.
        activations: (P,) likewise.
        similar: (L, P) the similarity of each patch with each prototype; None without latents.
    """

    similarity: list[float | None] = field(default_factory=list)
    attained: list[int | None] = field(default_factory=list)
    ahead: list[float] = field(default_factory=list)
    second: int | None = None
    adds: list[float | None] = field(default_factory=list)
    heat: dict[int, float] = field(default_factory=dict)
    best: list[int] = field(default_factory=list)
    logits: list[float] = field(default_factory=list)
    activations: list[float] = field(default_factory=list)
    similar: Tensor | None = None


def estimates_of(certificate: Certificate, head: Head | None, image: Tensor | None) -> Estimates:
    """The estimates of a certificate.

    Args:
        head: where it is not the certificate's head, there are no estimates.
        image: the image's latents, (1, D, H, W) or (1, L, D); likewise without them.

    Raises:
        LatentsError: latents that do not fit the head.
    """
    known = head is not None and certificate.head == head.digest
    if head is None or image is None or not known or certificate.patches < head.pooling.least_patches:
        return Estimates()
    observed = observables_of(head, as_patches(image))[0]
    similar = similarity(head, observed)
    similarities = [
        float(similar[each.patch, each.prototype])
        if isinstance(each, PatchStatement) and each.prototype < similar.shape[1] and each.patch < len(similar)
        else None
        for each in certificate.statements
    ]
    best: list[int] = []
    if not head.pooling.needs_all_patches:
        hidden = head.pooling.hidden(len(similar), head.size)
        best = (similar if hidden is None else similar.masked_fill(hidden, -torch.inf)).argmax(0).tolist()
    attained = [
        best[s.prototype] if best and isinstance(s, ActivationStatement) and s.prototype < head.size else None
        for s in certificate.statements
    ]
    result = Estimates(similarities, attained, best=best, similar=similar)
    if certificate.predicted >= head.classes or len(certificate.margins) != head.classes:
        return result
    evaluation = evaluate_observed(head, observed[None])
    activations, logits = evaluation.activations[0], evaluation.logits[0]
    ahead = (logits[certificate.predicted] - logits).tolist()
    second = min((c for c in range(head.classes) if c != certificate.predicted), key=ahead.__getitem__, default=None)
    result = replace(result, ahead=ahead, second=second, logits=logits.tolist(), activations=activations.tolist())
    if second is None or not isinstance(head.readout, Linear):
        return result
    weight = head.weight.to(activations)
    parts = ((weight[certificate.predicted] - weight[second]) * activations).tolist()
    heat: dict[int, float] = {}
    for prototype, patch in enumerate(best):
        heat[patch] = heat.get(patch, 0.0) + parts[prototype]
    adds: list[float | None] = []
    for each in certificate.statements:
        if not isinstance(each, PatchStatement | ActivationStatement) or each.prototype >= len(parts):
            adds.append(None)
        elif isinstance(each, PatchStatement):
            adds.append((parts[each.prototype] if best[each.prototype] == each.patch else 0.0) if best else None)
        else:
            adds.append(parts[each.prototype])
    return replace(result, adds=adds, heat=heat)


def favoured_classes(head: Head) -> list[int | None]:
    """For each prototype the class it votes most for; None where there is no such class (trees, equal weights)."""
    if head.weight.shape[1] != head.size:  # a tree's columns are leaves
        return [None] * head.size
    top = head.weight.to(torch.float64).topk(2, dim=0)
    return [
        int(index) if first > second and first > 0 else None
        for first, second, index in zip(top.values[0], top.values[1], top.indices[0], strict=True)
    ]


def given_and_taken(
    head: Head, estimates: Estimates, predicted: int, rivals: Sequence[int]
) -> list[tuple[float, float]]:
    """Of each rival what the prototypes of the class and the biases give the class of this image, and what all other
    prototypes take back. Linear readouts."""
    activations = torch.tensor(estimates.activations, dtype=torch.float64)
    weight = head.weight.double()
    own = belonging(head, torch.tensor([predicted]))[0]
    bias = torch.zeros(head.classes, dtype=torch.float64) if head.bias is None else head.bias.double()
    pairs = []
    for rival in rivals:
        points = (weight[predicted] - weight[rival]) * activations
        given = points[own].sum() + bias[predicted] - bias[rival]
        pairs.append((float(given), float(-points[~own].sum())))
    return pairs


def observables_of(head: Head, patches: Tensor) -> Tensor:
    """(N, L, P). As `verale.head.observables`, with less memory for distances."""
    if not head.geometry.is_distance or head.prototypes is None or patches.shape[-1] != head.depth:
        return observables(head, patches)
    prototypes = head.prototypes.to(patches)
    return torch.cdist(patches, prototypes, compute_mode="donot_use_mm_for_euclid_dist").square()


_MOST = 2**28
"""Of more products of images, patches and prototypes nothing is computed."""
_AT_ONCE = 2**22
_FEWEST = 10
"""Among fewer images a place says little."""


def standing_of(collection: Collection) -> Callable[[int, int], str] | None:
    """What says of an image and a prototype the activation, and of how many other images it is greater: `about 2.1,
    more than 44 of the 49 other images here`; None where activations are unknown, too few or too many."""
    head, latents = collection.head, collection.latents
    if head is None or latents is None or len(latents) < _FEWEST:
        return None
    patches = latents[:1].flatten(2).shape[2] if latents.dim() == 4 else latents.shape[1]
    each = patches * head.size * (head.depth if head.geometry.is_distance else 1)
    if len(latents) * patches * head.size > _MOST or patches < head.pooling.least_patches:
        return None
    try:
        chunks = torch.split(latents, max(1, _AT_ONCE // each))
        observed = (observables_of(head, as_patches(chunk)) for chunk in chunks)
        activations = torch.cat([evaluate_observed(head, each).activations for each in observed])  # (N, P)
    except LatentsError:
        return None
    ordered = activations.T.sort(dim=1).values.contiguous().numpy()

    def told(image: int, prototype: int) -> str:
        own = float(activations[image, prototype])
        below = int(ordered[prototype].searchsorted(own))
        return f"about {about(own)}, more than {below} of the {len(activations) - 1} other images here"

    return told
