"""The checker: proves certificates again, from bytes, and trusts nothing that wrote them.

It imports the standard library and, each on demand, mpmath and python-flint; no other part of verale and no tensor
library. It never searches. What it proves is defined in certificates/v1.md.

    verdict = check(certificate_bytes, head_bytes, latents_bytes)
    verdict = check(certificate_bytes, head_bytes, network=network_bytes, pictures=png_bytes)
"""

from __future__ import annotations

from .auditor import Auditor, check
from .errors import CheckerError, HeadError, KernelError, LatentsError, NetworkError, OptionError, PictureError
from .options import AuditOptions
from .verdict import Status, Verdict, most_severe

__all__ = [
    "AuditOptions",
    "Auditor",
    "CheckerError",
    "HeadError",
    "KernelError",
    "LatentsError",
    "NetworkError",
    "OptionError",
    "PictureError",
    "Status",
    "Verdict",
    "check",
    "most_severe",
]
