"""Refute a certificate file: the search for a counterexample, called on paths; the checker decides."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from verale.checker import Auditor, HeadError, Status, Verdict
from verale.errors import InputError, LatentsError, UsageError
from verale.files import read, require_writable, write_atomically

if TYPE_CHECKING:
    from torch import Tensor

    from verale.certificate import Certificate
    from verale.head import Head

__all__ = ["named_image", "refute"]

_log = logging.getLogger(__name__)

SECONDS = 60.0


def refute(
    certificate: str | Path,
    head: str | Path,
    latents: str | Path | None = None,
    out: str | Path | None = None,
    seconds: float = SECONDS,
) -> Verdict:
    """Search for latents that satisfy every statement of a certificate but are classified otherwise.

    Args:
        certificate: file of the certificate.
        head: file of the head that it is about.
        latents: file that holds the image's latents, to start from; they need not be an instance of the certificate.
        out: where a witness goes: a latents file of one image (1, L, D) float64.
        seconds: how long to search; a step that began may take 5 seconds more.

    Returns:
        REFUTED: the search gave a witness, and the checker proved that it is one. NOT_REFUTED with the reason
        `witness`: the search gave none in that time, which proves nothing. MALFORMED, or NOT_REFUTED with the reason
        `subject`: the certificate cannot be read, or is about another head.

    Raises:
        InputError: a file that cannot be read or written, an invalid head, or latents that do not fit it.
        UsageError: seconds below 0, or an image too large to search.

    Soundness: REFUTED means that the checker evaluated the witness from its bytes: see `Auditor.refute`.
    """
    import safetensors.torch
    import torch

    from verale.certificate import Certificate
    from verale.counterexample import counterexamples
    from verale.head import Head

    if not seconds >= 0:
        raise UsageError(f"seconds is {seconds}, expected at least 0")
    start = time.monotonic()
    head_bytes = read(head, "a head file (safetensors)")
    try:
        auditor = Auditor(head_bytes)
    except HeadError as error:
        raise InputError(head, str(error)) from error
    data = read(certificate, "a certificate (.ale.json)")
    target = Head.load(head)
    if out is not None:
        require_writable(out)

    def verdict_on(image: Tensor) -> tuple[Verdict, bytes]:
        witness = safetensors.torch.save({"latents": image[None].contiguous()})
        return auditor.refute(data, witness), witness

    # Any latents show whether the certificate can be read and is about this head.
    verdict, _ = verdict_on(torch.zeros(1, target.depth, dtype=torch.float64))
    if verdict.status is Status.MALFORMED or verdict.reason == "subject":
        return verdict
    record = Certificate.from_bytes(data)
    given = None if latents is None else named_image(latents, target, record)
    for image in counterexamples(target, record, given, seconds):
        verdict, witness = verdict_on(image)
        took = time.monotonic() - start
        _log.info("after %.1f s the search has a candidate; the checker says %s", took, verdict.status.value)
        if verdict.status is Status.REFUTED:
            if out is not None:
                write_atomically(out, witness)
            return verdict
    took = time.monotonic() - start
    return replace(verdict, reason="witness", message=f"no counterexample found in {took:.1f} s, which proves nothing")


def named_image(path: str | Path, head: Head, certificate: Certificate) -> Tensor:
    """The image (L, D) that the certificate names; where it names none, the file's only one."""
    from verale.bounds import check_domain
    from verale.head import as_patches, digest, load_latents

    try:
        images = as_patches(load_latents(path))
        check_domain(head, images)
    except LatentsError as error:
        raise InputError(path, str(error)) from error
    if images.shape[1] != certificate.patches:
        raise InputError(
            path, f"holds images of {images.shape[1]} patches, expected the certificate's {certificate.patches}"
        )
    if certificate.latents is None:
        if len(images) != 1:
            raise InputError(path, f"holds {len(images)} images, expected 1: the certificate names none of them")
        return images[0]
    for index in range(len(images)):
        if digest(images[index]) == certificate.latents:
            image: Tensor = images[index]
            return image
    raise InputError(
        path,
        f"holds no image with the digest {certificate.latents[:16]}... that the certificate names; give the latents of"
        " its image, or none",
    )
