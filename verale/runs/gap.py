"""The gap: how many statements an explanation has, and how many every explanation of its image by activations needs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verale.certificate import Certificate
from verale.checker import AuditOptions
from verale.checker.errors import UnprovedError
from verale.checker.least import proved_least
from verale.checker.options import CHOICES, EITHER, KERNELS, PROVED
from verale.errors import InputError, UsageError, VeraleError, option
from verale.files import LARGEST_LATENTS, read, write_atomically
from verale.options import keywords
from verale.runs.arguments import HeadFile, require_search
from verale.runs.folder import require_output
from verale.runs.options import PROVING, audit_options
from verale.runs.refute import opened

SECONDS = 30.0


PARADIGM = "top_k"
"""The paradigm of the explanations that the bound is about."""


@dataclass(frozen=True)
class Gap:
    """The size of an explanation, and what the checker proves of all explanations of its image under `top_k`.

    Attributes:
        certificate: the explanation.
        least: no explanation of the image under `top_k`, its activations taken one by one, has fewer statements.
        by: what proves that: `arb`, `mpmath`, or `both` of them.
        document: the proof, which the checker reads (certificates/least-v1.md).
    """

    certificate: Certificate
    least: int
    by: str
    document: bytes = field(default=b"", repr=False, compare=False)

    @property
    def is_smallest(self) -> bool | None:
        """Whether none under `top_k` is smaller whose activations are taken one by one; None if it is under another
        paradigm, of which nothing is proved."""
        return self.certificate.size <= self.least if self.certificate.paradigm == PARADIGM else None

    def record(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "predicted": self.certificate.predicted,
            "paradigm": self.certificate.paradigm,
            "statements": self.certificate.size,
            "least": self.least,
            "least_paradigm": PARADIGM,
            "least_by": self.by,
            "smallest": self.is_smallest,
        }


@keywords(AuditOptions, *PROVING)
def gap(
    certificate: str | Path,
    head: str | Path | HeadFile,
    latents: str | Path | None,
    out: str | Path | None = None,
    seconds: float = SECONDS,
    options: AuditOptions | str | None = None,
    **fields: Any,
) -> Gap:
    """How far an explanation is from the smallest one under `top_k`: statements about activations, ceiling and floor.

    Args:
        certificate: file of a proved certificate that names its image.
        head: file of the head that it is about; its readout is linear.
        latents: file that holds the image's latents.
        out: a file for the proof (`verale.checker.least`), or None.
        seconds: how long to search for a better bound.
        options: what proves, and how long it may take: `arb`, `mpmath` or `both`; by default the certificate is proved
            by what `audit` takes, and the bound by `arb`.
        fields: other values of some options, by their names (`verale.checker.options.AuditOptions`).

    Raises:
        InputError: a file that cannot be read or written, no latents, latents that do not fit, a certificate that is
            not proved: its class, or that its statements are true of its image.
        UsageError: another readout, seconds below 0, or a kernel that proves no bounds.
        VeraleError: the checker does not prove what the search found.

    Soundness: the checker proves the bound from the bytes of the files: see `proved_least`. It also proves that the
        certificate is about the image, so that both numbers are about one image and one class.
    """
    from verale.search.least import least_document

    require_search(seconds, None)
    proving = audit_options(options, fields, PROVING)
    by = "arb" if proving.kernel == EITHER else proving.kernel
    if PROVED in CHOICES.get(by, ()):
        raise UsageError(
            f"kernel {by}: the proof of {PROVED} does not cover how small explanations can be; choose one of"
            f" {', '.join(KERNELS)}, both"
        )
    if latents is None:
        raise InputError(
            certificate, f"has no latents beside it, and the bound is about its image: give {option('latents')}"
        )
    file = HeadFile.of(head)
    released = opened(certificate, file, latents, proving)
    if released.given is None or released.certificate.latents is None:
        raise InputError(certificate, "names no latents, and the bound is about some: explain latents, not pictures")
    if out is not None:
        require_output(out, (Path(certificate).parent, certificate, file.path, latents))
    _, document = least_document(released.head, released.given, seconds)
    if (found := json.loads(document)["predicted"]) != released.certificate.predicted:
        raise InputError(
            certificate,
            f"is about class {released.certificate.predicted}, and in float64 the image has class {found}: both logits"
            " are too close to each other for a bound",
        )
    data = read(latents, "a latents file (safetensors)", most=LARGEST_LATENTS)
    try:
        least = proved_least(document, file.data, data, by, proving.limit)
    except UnprovedError as error:
        raise VeraleError(
            f"{certificate}: the bound that was found is not proved ({error}); please report this"
        ) from error
    if out is not None:
        write_atomically(out, document)
    return Gap(released.certificate, least, by, document)
