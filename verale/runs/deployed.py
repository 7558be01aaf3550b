"""Explanations whose margins outweigh what float32 loses: explained against rivals that are ahead by a reserve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from torch import Tensor

from verale.certificate import Certificate
from verale.certificate.words import above
from verale.checker import Auditor, Verdict
from verale.checker.deployment import Deployment
from verale.errors import UsageError
from verale.head import Head, Linear
from verale.head.latents import as_patches
from verale.runs.arguments import HeadFile, latents_bytes
from verale.runs.options import audit_options
from verale.search import SearchOptions, Unexplained
from verale.search.explain import explain_batches

_TRIALS = 4
_MORE = Fraction(9, 8)
"""What is lost depends on the statements, so the reserve is greater than what the last ones lost."""


class Reserves:
    """Certificates of one head that hold in float32.

    Args:
        head: the head; its readout is linear.
        deployment: how the deployed head computes.
        options: how to explain.

    Attributes:
        deployment: how the deployed head computes.

    Raises:
        UsageError: another readout.
    """

    def __init__(self, head: Head, deployment: Deployment, options: SearchOptions) -> None:
        if not isinstance(head.readout, Linear):
            raise UsageError("the readout is not linear, expected logits that a reserve can be taken from")
        self._head, self._file = head, HeadFile("head", head.to_bytes(), head)
        self.deployment, self._options = deployment, options

    def held(self, images: Tensor, explained: Sequence[Certificate | Unexplained]) -> list[Certificate | Unexplained]:
        """For each image (L, D) its certificate, or one of the same paradigm that holds in float32, or why there is
        none. The checker proves each of them."""
        auditor = Auditor(self._file.data, latents_bytes(images, self._file))
        each = zip(images, explained, strict=True)
        return [one if isinstance(one, Unexplained) else self._one(auditor, image, one) for image, one in each]

    def _one(self, auditor: Auditor, image: Tensor, certificate: Certificate) -> Certificate | Unexplained:
        kept, reserve = certificate, Fraction(0)
        options = replace(self._options, paradigm=certificate.paradigm, batch=1)
        for _ in range(_TRIALS):
            verdict = auditor.check(kept.to_bytes(), deployment=self.deployment)
            if verdict.claims.get("deployment") == "proved":
                return kept
            if not verdict.deployed:
                return Unexplained(certificate.predicted, verdict.message)
            reserve = max(_lost(verdict), reserve) * _MORE
            behind, taken = _behind(self._head, certificate.predicted, reserve)
            again = next(explain_batches(behind, image[None], options))[0]
            if isinstance(again, Unexplained) or again.predicted != certificate.predicted:
                break
            margins = tuple(None if m is None else _below(Fraction(m) + taken) for m in again.margins)
            kept = replace(again, head=certificate.head, minimal=False, margins=margins)
        why = f"no statements are found that leave a lead of {above(reserve)}, which float32 may lose"
        return Unexplained(certificate.predicted, why)


def explain_deployed(
    head: Head, latents: object, formula: str, options: SearchOptions | None = None, ulps: str | None = None
) -> list[Certificate | Unexplained]:
    """Explain the prediction for every image, so that `audit` with this formula proves the certificate.

    An explanation is shrunk until its margins are hardly positive, and then rounding may make up for them. So such an
    image is explained again as if each rival's logit were greater by what is lost: these statements leave as much more.
    They are not minimal for the head itself, and the certificate does not claim it.

    Args:
        head: the head; its readout is linear.
        latents: (N, D, H, W) or (N, L, D).
        formula: how the deployed head computes squared distances, `direct`, `expanded` or `cdist`.
        options: how to explain.
        ulps: within how many units in the last place its functions are, "log=4,exp=4,sqrt=1" by default.

    Raises:
        UsageError: a formula or ulps that are not defined, or another readout.
        LatentsError: latents that do not fit the head.

    Soundness: a certificate is returned only where the checker has proved it, in float32 too.
    """
    deployment = audit_options(fields={"deployment": formula, "ulps": ulps}).deployment
    options = options or SearchOptions()
    if deployment is None:
        raise UsageError("deployment: there is no formula")
    reserves, images = Reserves(head, deployment, options), as_patches(latents, head.depth)
    explained = [one for batch in explain_batches(head, images, options) for one in batch]
    return reserves.held(images, explained)


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
