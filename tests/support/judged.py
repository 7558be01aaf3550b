"""What a checker says of a certificate, as the corpora have it."""

from __future__ import annotations

from functools import partial
from typing import Any

from verale.soundness.corpus.cases import outcome_of


def judged(
    auditor: Any, certificate: bytes, head: bytes, latents: bytes | None, kernel: str = "arb"
) -> tuple[str, str]:
    """Status and reason, minimality included, or an input error: see `outcome_of`."""
    return outcome_of(partial(auditor, head, latents, kernel), certificate)
