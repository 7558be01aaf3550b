"""Explain random heads under every paradigm and order, and count the certificates that the checker does not prove.

Every certificate is audited with its latents, minimality included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import flint
import safetensors.torch
from torch import Tensor

from verale.certificate import Certificate
from verale.checker import Auditor, Status
from verale.head import Head
from verale.search.explain import explain
from verale.soundness.combinations import searches
from verale.soundness.independent.arithmetic import PRECISION
from verale.soundness.independent.claim import Claim
from verale.soundness.independent.readers import WrongError
from verale.soundness.independent.witnesses import is_refuted

FEW = 8
"""Certificates with more statements are not judged without the checker, which would take long."""


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
