"""Audit a certificate's file: the checker, called on paths."""

from __future__ import annotations

from pathlib import Path

from verale.checker import Auditor, HeadError, LatentsError, Verdict
from verale.errors import InputError
from verale.files import read

__all__ = ["audit"]


def audit(
    certificate: str | Path,
    head: str | Path,
    latents: str | Path | None = None,
    kernel: str = "arb",
    minimality: bool = False,
) -> Verdict:
    """Prove a certificate again, from bytes, in interval arithmetic.

    Args:
        certificate: file of the certificate.
        head: file of the head it speaks of.
        latents: file that holds the image's latents; without it the instance claim is not checked.
        kernel: `arb` (fast), `mpmath` (reference) or `both` (proves only what both prove).
        minimality: also prove that no statement can be dropped, if the certificate claims it.

    Returns:
        The verdict: PROVED, NOT_PROVED, REFUTED or MALFORMED, with the reason.

    Raises:
        InputError: a file that cannot be read, or a head or latents file that is none.

    Soundness: PROVED means that the checker, which shares no code with the search, proved every checked claim.
    """
    try:
        auditor = Auditor(
            read(head, "a head file (safetensors)"),
            None if latents is None else read(latents, "a latents file (safetensors)"),
            kernel,
        )
    except HeadError as error:
        raise InputError(head, str(error)) from error
    except LatentsError as error:
        raise InputError(latents, str(error)) from error
    return auditor.check(read(certificate, "a certificate (.ale.json)"), minimality)
