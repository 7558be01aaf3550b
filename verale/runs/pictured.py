"""Certificates of pictures whose latents the search only estimated: kept where the reading proves them.

Of a deep network float64 encloses nothing of use, so statements are found for latents that are estimated
(`verale.bounds.network`). Nothing of that is a proof. So each certificate is audited before it is written, by the
enclosure of the checker's own reading and within the limit of an audit; without a proof there is no certificate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from verale.certificate import Certificate
from verale.checker import Auditor
from verale.checker.verdict import Status
from verale.search.options import Unexplained

if TYPE_CHECKING:
    from torch import Tensor

    from verale.head import Head
    from verale.search import ImageResult
    from verale.search.through import ThroughNetwork

__all__ = ["proved_where_estimated"]

_KERNEL = "arb"
"""The reading: the proved program takes many times as long for a network, and what it gives up an audit asks of arb."""


def proved_where_estimated(
    head: Head, through: ThroughNetwork, pictures: Tensor, results: Sequence[ImageResult]
) -> list[ImageResult]:
    """The results for pictures; where latents were estimated, and the certificate is not proved, the reason instead.

    Args:
        head: the head.
        through: the network.
        pictures: uint8 (N, C, H, W).
        results: one for each picture.

    Soundness: a certificate that is kept for estimated latents was proved by the checker, of the same numbers: the
        bytes of head, network and picture are written anew, and the certificate names these here.
    """
    from verale.network import pictures_file

    if not any(each.estimated and isinstance(each.explanation, Certificate) for each in results):
        return list(results)
    files = head.to_bytes(), through.network.to_bytes()
    auditor = Auditor(files[0], kernel=_KERNEL, network=files[1], pictures=pictures_file(pictures))
    of_head, of_network = (hashlib.sha256(each).hexdigest() for each in files)
    return [_proved(auditor, result, of_head, of_network) if result.estimated else result for result in results]


def _proved(auditor: Auditor, result: ImageResult, head: str, network: str) -> ImageResult:
    certificate = result.explanation
    if isinstance(certificate, Unexplained):
        return result
    verdict = auditor.check(replace(certificate, head=head, network=network).to_bytes())
    if verdict.status is Status.PROVED:
        return result
    reason = f"statements were found, but an audit by {_KERNEL} does not prove them: {verdict.message}"
    return replace(result, explanation=Unexplained(certificate.predicted, reason))
