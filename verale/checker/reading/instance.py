"""Instance, or picture (step 5): every latent tensor of a box lies in the domain and satisfies every statement. The
box is that of an image's latents, whose ends are equal, or that of all that the network can give for the picture.
Refutation (step 6): they are classified otherwise.

What holds of every latent tensor in the box holds of those in question. At known latents all but roots, logarithms and
exponentials is exact, so the domain is decided, and a statement with as many bits as that takes.
"""

from __future__ import annotations

from fractions import Fraction

from ..certificate import Certificate, Statement, SumStatement, spoken_of
from ..dyadic import ceil_at, floor_at
from ..errors import RefutedError, UnprovedError
from ..head import Head
from ..network.enclosure import EnclosedLatents
from ..read.similarities import COSINES
from .evaluation import Evaluation
from .margin import lower_bound

_BITS = 256
_LADDER = (128, 320, 1280)  # the last separates any two binary64 numbers, even the smallest


def require_domain(head: Head, latents: EnclosedLatents, patches: int) -> None:
    """Raises UnprovedError unless all these latents have that many patches, each of them in the head's domain."""
    if len(latents.lower) != patches:
        raise _untrue(latents, f"the latents have {len(latents.lower)} patches, expected the certificate's {patches}")
    lower = None if head.lower is None else ceil_at(head.lower, latents.bits)
    upper = None if head.upper is None else floor_at(head.upper, latents.bits)
    radius = None if head.radius is None else floor_at(head.radius**2, 2 * latents.bits)
    for patch, (low, high) in enumerate(zip(latents.lower, latents.upper, strict=True)):
        ends = list(zip(low, high, strict=True))
        if (lower is not None and min(low) < lower) or (upper is not None and max(high) > upper):
            raise _untrue(latents, f"patch {patch}: a coordinate of the latents lies outside the head's domain")
        if radius is not None and sum(max(-least, most) ** 2 for least, most in ends) > radius:
            raise _untrue(latents, f"patch {patch}: the latent is longer than the radius of the head's domain")
        if head.geometry in COSINES and head.epsilon == 0 and all(least <= 0 <= most for least, most in ends):
            raise _untrue(latents, f"patch {patch}: the latent is zero, where a cosine without epsilon is undefined")


def require_true(certificate: Certificate, evaluation: Evaluation) -> None:
    """Raises UnprovedError, which names the first statement that is false or cannot be decided."""
    for number, statement in enumerate(certificate.statements):
        decided = truth(statement, evaluation)
        if not decided:
            fault = "is false" if decided is False else f"cannot be decided with {_LADDER[-1]} bits"
            what = (
                f"statement {number} ({statement}) {fault} at the latents; state an interval that holds the observable"
            )
            raise _untrue(evaluation.latents, what, decided is False)


def require_not_refuted(head: Head, predicted: int, evaluation: Evaluation) -> None:
    """Raises RefutedError, which names a rival whose logit is certainly greater than or equal to the predicted
    one's."""
    box = evaluation.activations(_BITS)
    for rival in range(head.classes):
        if rival != predicted and lower_bound(head, box, rival, predicted) >= 0:
            raise RefutedError(
                f"rival {rival}: at the latents, which satisfy every statement, its logit is at least that of the"
                f" predicted class {predicted}; the certificate is wrong"
            )


def _untrue(latents: EnclosedLatents, what: str, false: bool = True) -> UnprovedError:
    """What is not so of these latents: where they are known, by every kernel if it is decided."""
    if latents.known:
        return UnprovedError("instance", what, false=false)
    return UnprovedError("picture", f"{what} (of some latents in the ranges of what the network gives for the picture)")


def truth(statement: Statement, evaluation: Evaluation) -> bool | None:
    """Whether the statement holds of all these latents, or of none, with as many bits as that takes; None where it is
    not decided."""
    if not isinstance(statement, SumStatement) and not spoken_of(statement, evaluation.count):
        return True
    tries = (_inside(*evaluation.bounded(statement, bits), statement.lower, statement.upper) for bits in _LADDER)
    return next((each for each in tries if each is not None), None)


def _inside(low: Fraction, high: Fraction, lower: Fraction | None, upper: Fraction | None) -> bool | None:
    """Whether the number enclosed by [low, high] lies in [lower, upper]; an end that is None bounds nothing."""
    if (lower is None or lower <= low) and (upper is None or high <= upper):
        return True
    return False if (lower is not None and high < lower) or (upper is not None and upper < low) else None
