"""Explanations whose margins outweigh what float32 loses: explained against rivals that are ahead by a reserve."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from verale.certificate import Certificate
from verale.checker import Auditor, Verdict
from verale.checker.deployment import Deployment, parse_deployment
from verale.errors import UsageError
from verale.head import Head, Linear
from verale.head.latents import as_patches
from verale.runs.arguments import latents_bytes
from verale.search import Unexplained
from verale.search.explain import explain

__all__ = ["explain_deployed"]

_TRIALS = 4
_MORE = Fraction(9, 8)
"""What is lost depends on the statements, so the reserve is greater than what the last ones lost."""


def explain_deployed(
    head: Head,
    latents: Any,
    paradigm: str | None = None,
    deployment: str = "cdist",
    ulps: str | None = None,
    **options: Any,
) -> list[Certificate | Unexplained]:
    """Explain the prediction for every image, so that `audit` with this deployment proves the certificate.

    An explanation is shrunk until its margins are hardly positive, and then rounding may make up for them. So the image
    is explained again as if each rival's logit were greater by what is lost: these statements leave as much more. They
    are not minimal for the head itself, and the certificate does not claim it.

    Args:
        head: the head; its readout is linear.
        latents: (N, D, H, W) or (N, L, D).
        paradigm: as `explain` has it.
        deployment: how the deployed head computes squared distances, `direct`, `expanded` or `cdist`.
        ulps: within how many units in the last place its functions are, "log=4,exp=4,sqrt=1" by default.
        options: further ones of `explain`.

    Raises:
        UsageError: a formula or ulps that are not defined, or another readout.
        LatentsError: latents that do not fit the head.

    Soundness: a certificate is returned only where the checker has proved it, in float32 too.
    """
    try:
        deployed = parse_deployment(deployment, ulps)
    except ValueError as error:
        raise UsageError(f"deployment: {error}") from error
    assert deployed is not None
    if not isinstance(head.readout, Linear):
        raise UsageError("the readout is not linear, expected logits that a reserve can be taken from")
    patches = as_patches(latents, head.depth)
    data = head.to_bytes()
    auditor = Auditor(data, latents_bytes(patches, head, data))
    found = explain(head, patches, paradigm, **options)
    return [
        one if isinstance(one, Unexplained) else _held(head, auditor, deployed, patches[n : n + 1], one, options)
        for n, one in enumerate(found)
    ]


def _held(
    head: Head, auditor: Auditor, deployment: Deployment, image: Any, certificate: Certificate, options: dict[str, Any]
) -> Certificate | Unexplained:
    """The certificate, or one of the same image and paradigm that holds in float32."""
    kept, reserve = certificate, Fraction(0)
    for _ in range(_TRIALS):
        verdict = auditor.check(kept.to_bytes(), deployment=deployment)
        if verdict.claims.get("deployment") == "proved":
            return kept
        if not verdict.deployed:
            return Unexplained(certificate.predicted, verdict.message)
        reserve = max(_lost(verdict), reserve) * _MORE
        behind, taken = _behind(head, certificate.predicted, reserve)
        again = explain(behind, image, certificate.paradigm, **options)[0]
        if isinstance(again, Unexplained) or again.predicted != certificate.predicted:
            break
        margins = tuple(None if m is None else _below(Fraction(m) + taken) for m in again.margins)
        kept = replace(again, head=certificate.head, minimal=False, margins=margins)
    return Unexplained(
        certificate.predicted,
        f"no statements are found that leave a margin of {float(reserve):.3g}, which float32 may lose",
    )


def _lost(verdict: Verdict) -> Fraction:
    """The most that a margin loses."""
    pairs = zip(verdict.margins, verdict.deployed, strict=True)
    return max(real - left for real, left in pairs if real is not None and left is not None)


def _behind(head: Head, predicted: int, reserve: Fraction) -> tuple[Head, Fraction]:
    """The head with a smaller bias of that class, and exactly by how much it is smaller."""
    bias = head.weight.new_zeros(head.classes).double() if head.bias is None else head.bias.double().clone()
    before = Fraction(float(bias[predicted]))
    bias[predicted] -= float(reserve)
    return replace(head, bias=bias), before - Fraction(float(bias[predicted]))


def _below(value: Fraction) -> float:
    """A binary64 number that is no greater."""
    nearest = float(value)
    return nearest if nearest <= value else math.nextafter(nearest, -math.inf)
