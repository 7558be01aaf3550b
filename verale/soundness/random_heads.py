"""Explain random heads under every paradigm and order, and count the certificates that the checker does not prove.

Every certificate is audited with its latents, minimality included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

import safetensors.torch
from torch import Tensor

from verale.certificate import Certificate
from verale.checker import Auditor, Status
from verale.head import Head
from verale.paradigms import ORDERS
from verale.search import Unexplained
from verale.search.explain import explain
from verale.soundness.combinations import searches


class Emission(NamedTuple):
    """What the search gives of one image: under which paradigm, in which order, and of which image."""

    paradigm: str
    order: str
    image: int
    result: Certificate | Unexplained


def explained(
    head: Head, latents: Tensor, tolerance: float = 0.0, orders: Collection[str] = ORDERS
) -> Iterator[Emission]:
    """Images (N, L, D) explained under every paradigm that the head admits, in each of some orders that it has."""
    for paradigm, order in searches(head):
        if order in orders:
            for image, result in enumerate(explain(head, latents, paradigm, order=order, tolerance=tolerance)):
                yield Emission(paradigm, order, image, result)


def audit(head: Head, latents: Tensor, kernel: str, counts: Counter[str], tolerance: float = 0.0) -> list[str]:
    """Explain under every paradigm and order that the head admits, and audit.

    Args:
        counts: gets the number of certificates by head and paradigm, and under "unexplained".
        tolerance: see `SearchOptions`.

    Returns:
        What was not proved, or is wrong, a line each.
    """
    bad = []
    head_file, latents_file = head.to_bytes(), safetensors.torch.save({"latents": latents})
    auditor = Auditor(head_file, latents_file, kernel)
    for paradigm, order, image, result in explained(head, latents, tolerance):
        if not isinstance(result, Certificate):
            counts["unexplained"] += 1
            continue
        counts[f"{_named(head)} {paradigm} {order}"] += 1
        verdict = auditor.check(result.to_bytes(), minimality=True)
        if verdict.status is not Status.PROVED:
            bad.append(f"image {image} {paradigm} {order}: {verdict.reason}: {verdict.message}")
    return bad


def emitted_of(counts: Counter[str]) -> int:
    """How many certificates were emitted."""
    return counts.total() - counts["unexplained"]


def _named(head: Head) -> str:
    parts = (head.geometry, head.similarity, head.pooling, head.readout)
    return " ".join(type(part).__name__ for part in parts)
