"""Picture (step 5): every latent tensor that the network can give for the picture lies in the domain and satisfies
every statement.

The latents lie in a box, and what holds of every latent tensor in the box holds of them.
"""

from __future__ import annotations

from ..certificate import Certificate
from ..dyadic import ceil_at, floor_at
from ..errors import UnprovedError
from ..head import COSINES, Head
from ..network.enclosure import EnclosedLatents
from .box import BoxEvaluation
from .instance import truth
from .space import Space

__all__ = ["enclosed_evaluation"]

_BITS = 256


def enclosed_evaluation(space: Space, certificate: Certificate, latents: EnclosedLatents) -> BoxEvaluation:
    """The head over a box of latents. Raises UnprovedError, which names what fails, unless each latent tensor in the
    box has as many patches as the certificate, lies in the domain and satisfies every statement."""
    _require_domain(space.head, latents, certificate.patches)
    evaluation = BoxEvaluation(space, latents)
    for number, statement in enumerate(certificate.statements):
        holds = truth(statement, evaluation, _BITS)
        if not holds:
            fault = "is false" if holds is False else "is not shown to hold for every one"
            raise _unproved(
                f"statement {number} ({statement}) {fault} of the latents that the network can give for the picture;"
                " state an interval that holds the observable's whole range"
            )
    return evaluation


def _require_domain(head: Head, latents: EnclosedLatents, patches: int) -> None:
    if len(latents.lower) != patches:
        raise _unproved(f"the network gives {len(latents.lower)} patches, expected the certificate's {patches}")
    lower = None if head.lower is None else ceil_at(head.lower, latents.bits)
    upper = None if head.upper is None else floor_at(head.upper, latents.bits)
    radius = None if head.radius is None else floor_at(head.radius**2, 2 * latents.bits)
    for patch, (low, high) in enumerate(zip(latents.lower, latents.upper, strict=True)):
        if (lower is not None and min(low) < lower) or (upper is not None and max(high) > upper):
            raise _unproved(f"patch {patch}: a coordinate of the latents may lie outside the head's domain")
        ends = list(zip(low, high, strict=True))
        if radius is not None and sum(max(-least, most) ** 2 for least, most in ends) > radius:
            raise _unproved(f"patch {patch}: the latent may be longer than the radius of the head's domain")
        if head.geometry in COSINES and head.epsilon == 0 and all(least <= 0 <= most for least, most in ends):
            raise _unproved(f"patch {patch}: the latent may be zero, where a cosine without epsilon is undefined")


def _unproved(what: str) -> UnprovedError:
    return UnprovedError("picture", what)
