"""Explain random heads under every paradigm and order, and count the certificates that the checker does not prove.

Heads and latents are small, so that there are many; they have duplicate, nearly equal, collinear, huge and tiny
prototypes, weights without structure, biases, one patch, one dimension. Every certificate is audited with its latents,
minimality included.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import flint
import safetensors.torch
import torch
from torch import Tensor

from verale.certificate import Certificate
from verale.checker import Auditor, Status
from verale.head import (
    BankPooling,
    Box,
    Cosine,
    Euclidean,
    ExpDistance,
    Exponential,
    FocalPooling,
    Head,
    Identity,
    InnerProduct,
    Linear,
    LogRatio,
    MaskedMaxPooling,
    Maximum,
    MaxPooling,
    Negated,
    Quadratic,
    Rectified,
    Similarity,
    Softmax,
    SoftTree,
    Threshold,
    TopMeanPooling,
)
from verale.paradigms import ORDERS, PARADIGMS, paradigms_of
from verale.search.explain import explain
from verale.search.options import LEAST_TOLERANCE
from verale.soundness.independent.arithmetic import PRECISION
from verale.soundness.independent.claim import Claim
from verale.soundness.independent.readers import WrongError
from verale.soundness.independent.witnesses import is_refuted

IMAGES = 6
FEW = 8
"""Certificates with more statements are not judged without the checker, which would take long."""


def random_case(seed: int) -> tuple[Head, Tensor]:
    """A head and latents (IMAGES, L, D); a third of the heads have log_ratio or identity, and a linear readout."""
    generator = torch.Generator().manual_seed(seed)
    head, latents = _max_case(generator)
    if seed % 3:
        return _varied(head, latents, generator), latents
    pooling = int(torch.randint(4, (), generator=generator))
    tied = latents.shape[1] == 1 and head.bias is None  # under focal pooling: all activations are 0
    if pooling < 2 or tied:
        return head, latents
    by_distance = pooling == 3 and isinstance(head.geometry, Euclidean)
    return replace(head, pooling=FocalPooling("max_minus_mean_distance" if by_distance else "max_minus_mean")), latents


def _varied(head: Head, latents: Tensor, generator: torch.Generator) -> Head:
    """The same prototypes with another geometry, similarity, pooling or readout."""

    def whole(high: int) -> int:
        return int(torch.randint(high, (), generator=generator))

    count, patches = head.size, latents.shape[1]
    low, high = float(latents.min()), float(latents.max())
    box = Box(low, high) if low < high else Box(low, low + 1)
    scale = 10 ** (2 * torch.rand(count, generator=generator) - 1)
    similarity: Similarity
    if isinstance(head.geometry, Softmax):
        similarity = (Identity(), Threshold(0.1))[whole(2)]
        head = replace(head, similarity=similarity)
    elif isinstance(head.geometry, Euclidean):
        similarity = (LogRatio(1e-4), Negated(), ExpDistance(), Exponential(), Quadratic())[whole(5)]
        takes = isinstance(similarity, (Negated, Exponential)) and whole(2)
        domain = box if isinstance(similarity, (Negated, Quadratic)) else head.domain
        head = replace(head, similarity=similarity, scale=scale if takes else None, domain=domain)
    else:
        geometry = (Cosine(1e-8), Cosine(1e-4, rooted=True), InnerProduct())[whole(3)]
        similarity = (Identity(), Quadratic(), Rectified(), Exponential())[
            whole(4 - isinstance(geometry, InnerProduct))
        ]
        peak = torch.rand(count, generator=generator) * 2 - 0.7 if isinstance(similarity, Quadratic) else None
        takes = isinstance(similarity, Exponential) and whole(2)
        domain = box if isinstance(geometry, InnerProduct) else head.domain
        if isinstance(geometry, InnerProduct) and whole(2):
            longest = float(latents.double().norm(dim=-1).max()) * 1.001 or 1.0
            geometry, domain = InnerProduct(longest), Box(None if low < 0 else 0.0, None)
        head = replace(
            head, geometry=geometry, similarity=similarity, peak=peak, scale=scale if takes else None, domain=domain
        )
    pooling = (MaxPooling(), TopMeanPooling(1 + whole(4)), BankPooling(1 + whole(max(1, count - 1))))[whole(3)]
    if isinstance(pooling, BankPooling) and whole(2):
        head = replace(head, pooling=random_mask(count, 1 + whole(patches), generator))
    elif not isinstance(pooling, BankPooling) or (patches > 1 and count > 1):
        head = replace(head, pooling=pooling)
    readout = whole(3)
    if readout == 1 and not isinstance(head.geometry, Softmax):
        members = (torch.arange(count) % head.classes == torch.arange(head.classes)[:, None]).float()
        return replace(head, weight=members, bias=torch.rand(count, generator=generator) * 0.2, readout=Maximum())
    if readout == 2 and isinstance(head.similarity, (ExpDistance, Exponential)) and head.pooling == MaxPooling():
        tree, leaves = random_tree(count, head.classes, generator)
        return replace(head, weight=leaves, bias=None, readout=tree)
    return head


def random_mask(count: int, columns: int, generator: torch.Generator) -> MaskedMaxPooling:
    """A mask of that many prototypes: each looks at one column at least."""
    mask = torch.rand(count, columns, generator=generator) < 0.4
    mask[torch.arange(count), torch.randint(columns, (count,), generator=generator)] = True
    return MaskedMaxPooling(mask)


def random_tree(nodes: int, classes: int, generator: torch.Generator) -> tuple[SoftTree, Tensor]:
    """A tree of that many prototypes, unbalanced, and the classes' shares in its leaves (C, P + 1)."""
    absent, present = [-1] * nodes, [-1] * nodes
    free = [(0, False), (0, True)]
    for node in range(1, nodes):
        parent, side = free.pop(int(torch.randint(len(free), (), generator=generator)))
        (present if side else absent)[parent] = node
        free += [(node, False), (node, True)]
    for leaf, (parent, side) in enumerate(free):
        (present if side else absent)[parent] = -1 - leaf
    shares = torch.softmax(4 * torch.randn(classes, nodes + 1, generator=generator, dtype=torch.float64), 0)
    return SoftTree(tuple(absent), tuple(present)), shares


def _max_case(generator: torch.Generator) -> tuple[Head, Tensor]:
    """A head with max pooling and a linear readout, and latents, some of them near prototypes."""

    def whole(low: int, high: int) -> int:
        return int(torch.randint(low, high + 1, (), generator=generator))

    def rand(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator)

    classes, patches, depth = whole(2, 6), whole(1, 9), whole(1, 10)
    count = classes * whole(1, 5)
    weight = rand(classes, count) - 0.7
    weight[torch.arange(count) % classes, torch.arange(count)] += 1.5
    bias = rand(classes) * 0.2 if whole(0, 1) else None
    if whole(0, 2) == 0:
        return Head(weight, Softmax(), Identity(), bias=bias), rand(IMAGES, patches, count) * whole(1, 12)
    points, latents = rand(count, depth) + 0.01, rand(IMAGES, patches, depth)
    kind = whole(0, 5)
    if kind == 1:
        points = points[torch.randint(count, (count,), generator=generator)]
    elif kind == 2:
        points = points[:1] + 1e-5 * rand(count, depth)
    elif kind == 3:
        points = points[:1] + rand(count, 1) * (points[-1:] - points[:1])
    points = points + 1e-12
    scale = 10.0 ** whole(-12, 12) if kind == 4 else 1.0
    near = torch.randint(count, (IMAGES,), generator=generator)
    latents[:, 0] = torch.lerp(latents[:, 0], points[near].clamp(0, 1), rand(IMAGES, 1))
    points, latents = points * scale, latents * scale
    box = Box(0, float(latents.max()) or 1.0) if whole(0, 1) else Box()
    if whole(0, 1):
        scales = 10 ** (2 * rand(count) - 1) if whole(0, 2) == 0 else None
        head = Head(weight, Euclidean(), LogRatio(1e-4), prototypes=points, bias=bias, scale=scales, domain=box)
        return head, latents
    shift = 0.5 * scale if whole(0, 1) else 0.0
    return Head(weight, Cosine(1e-8), Identity(), prototypes=points - shift, bias=bias, domain=box), latents


def random_tolerance(seed: int) -> float:
    """The tolerance of a case: none for one in two, else between LEAST_TOLERANCE and 1."""
    drawn = random.Random(seed)
    return 0.0 if drawn.random() < 0.5 else LEAST_TOLERANCE ** drawn.random()


def searches(head: Head) -> list[tuple[str, str]]:
    """Every paradigm that is defined for the head and images of many patches, with every order that it has
    (certificates/v1.md, "Paradigms")."""
    pools_max = head.pooling == MaxPooling()
    assigns = head.similarity == Identity() and pools_max
    mixes = isinstance(head.readout, Linear) and pools_max and not isinstance(head.similarity, Quadratic)
    return [
        (name, order)
        for name in paradigms_of(head.geometry.kind, patches=2)
        if (name != "assignment" or assigns) and (name != "mixed" or mixes)
        for order in (ORDERS if PARADIGMS[name].spatial else ORDERS[:1])
    ]


def audit(
    head: Head, latents: Tensor, kernel: str, counts: Counter[str], judged_one_in: int = 0, tolerance: float = 0.0
) -> list[str]:
    """Explain under every paradigm and order that the head admits, and audit.

    Args:
        counts: gets the number of certificates by head and paradigm, and under "unexplained" and "judged".
        judged_one_in: one in so many certificates, of those with few statements, is judged without the checker too: its
            statements must be true of the image, and no witness may satisfy them and fall short of a margin.
        tolerance: see `SearchOptions`.

    Returns:
        What was not proved, or is wrong, a line each.
    """
    bad = []
    head_file, latents_file = head.to_bytes(), safetensors.torch.save({"latents": latents})
    auditor = Auditor(head_file, latents_file, kernel)
    for paradigm, order in searches(head):
        for index, result in enumerate(explain(head, latents, paradigm, order=order, tolerance=tolerance)):
            if not isinstance(result, Certificate):
                counts["unexplained"] += 1
                continue
            counts[f"{_named(head)} {paradigm} {order}"] += 1
            verdict = auditor.check(result.to_bytes(), minimality=True)
            if verdict.status is not Status.PROVED:
                bad.append(f"image {index} {paradigm} {order}: {verdict.reason}: {verdict.message}")
            if judged_one_in and counts.total() % judged_one_in == 0 and result.size <= FEW:
                counts["judged"] += 1
                wrongs = _judged(result, head_file, latents_file)
                bad += [f"image {index} {paradigm} {order}: {wrong}" for wrong in wrongs]
    return bad


def emitted_of(counts: Counter[str]) -> int:
    """How many certificates were emitted."""
    return counts.total() - counts["unexplained"] - counts["judged"]


def _judged(certificate: Certificate, head: bytes, latents: bytes) -> Iterator[str]:
    """What is wrong with a certificate, decided without the checker."""
    with flint.ctx.workprec(PRECISION):
        claim = Claim.read(certificate.to_bytes(), head, latents)
        try:
            claim.require_instance()
        except WrongError as wrong:
            yield str(wrong)
        if is_refuted(claim):
            yield "latents satisfy the statements and fall short of a margin"


def _named(head: Head) -> str:
    parts = (head.geometry, head.similarity, head.pooling, head.readout)
    return " ".join(type(part).__name__ for part in parts)
