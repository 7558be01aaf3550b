"""Instance (step 5): the latents lie in the domain and satisfy every statement. Refutation (step 6): they are
classified otherwise.

Picture (step 5): every latent tensor that the network can give for the picture lies in the domain and satisfies
every statement.

The latents lie in a box, and what holds of every latent tensor in the box holds of them.
"""

from __future__ import annotations

from fractions import Fraction

from ..certificate import ActivationStatement, Certificate, OrderStatement, PatchStatement, Statement
from ..dyadic import Exact, ceil_at, dot, floor_at
from ..errors import RefutedError, UnprovedError
from ..head import COSINES, Head
from ..network.enclosure import EnclosedLatents
from .evaluation import BoxEvaluation, Evaluation, HeadEvaluation
from .margin import lower_bound
from .space import Space

__all__ = ["enclosed_evaluation", "require_domain", "require_not_refuted", "require_true", "truth"]

_BITS = 256
_LADDER = (128, 320, 1280)  # the last separates any two binary64 numbers, even the smallest


def require_domain(head: Head, latents: Exact, patches: int) -> None:
    """Raises UnprovedError unless the latents have that many patches, all of them in the head's domain."""
    if len(latents.rows) != patches:
        raise _untrue(f"the latents have {len(latents.rows)} patches, expected the certificate's {patches}")
    lower = None if head.lower is None else ceil_at(head.lower, latents.bits)
    upper = None if head.upper is None else floor_at(head.upper, latents.bits)
    for patch, row in enumerate(latents.rows):
        if (lower is not None and min(row) < lower) or (upper is not None and max(row) > upper):
            raise _untrue(f"patch {patch}: a coordinate of the latents lies outside the head's domain")
        if head.radius is not None and Fraction(dot(row, row), 1 << 2 * latents.bits) > head.radius**2:
            raise _untrue(f"patch {patch}: the latent is longer than the radius of the head's domain")
        if head.geometry in COSINES and head.epsilon == 0 and not any(row):
            raise _untrue(f"patch {patch}: the latent is zero, where a cosine without epsilon is undefined")


def require_true(certificate: Certificate, evaluation: Evaluation) -> None:
    """Raises UnprovedError, which names the first statement that is false or cannot be decided."""
    for number, statement in enumerate(certificate.statements):
        tries = (truth(statement, evaluation, bits) for bits in _LADDER)
        decided = next((each for each in tries if each is not None), None)
        if not decided:
            fault = "is false" if decided is False else f"cannot be decided with {_LADDER[-1]} bits"
            raise UnprovedError(
                "instance",
                f"statement {number} ({statement}) {fault} at the latents; state an interval that holds the observable",
                false=decided is False,
            )


def require_not_refuted(head: Head, predicted: int, evaluation: HeadEvaluation) -> None:
    """Raises RefutedError, which names a rival whose logit is certainly greater than or equal to the predicted
    one's."""
    box = evaluation.activations(_BITS)
    for rival in range(head.classes):
        if rival != predicted and lower_bound(head, box, rival, predicted) >= 0:
            raise RefutedError(
                f"rival {rival}: at the latents, which satisfy every statement, its logit is at least that of the"
                f" predicted class {predicted}; the certificate is wrong"
            )


def _untrue(what: str) -> UnprovedError:
    """What is decided exactly, so by every kernel."""
    return UnprovedError("instance", what, false=True)


def truth(statement: Statement, evaluation: HeadEvaluation, bits: int) -> bool | None:
    """Whether the statement holds, None where the enclosures do not decide it."""
    match statement:
        case PatchStatement():
            low, high = evaluation.observable(statement.patch, statement.prototype, bits)
            return _inside(low, high, statement.lower, statement.upper)
        case ActivationStatement():
            low, high = (Fraction(end, 1 << bits) for end in evaluation.greatest([statement.prototype], bits))
            return _inside(low, high, statement.lower, statement.upper)
        case _:
            others = sorted(set(range(evaluation.count)) - set(statement.exempt))
            if not others:
                return True
            if isinstance(statement, OrderStatement):
                low, high = (Fraction(end, 1 << bits) for end in evaluation.greatest(others, bits))
                return _inside(low, high, None, statement.upper)
            low, high = (Fraction(end, 1 << bits) for end in evaluation.least(others, bits))
            return _inside(low, high, statement.lower, None)


def _inside(low: Fraction, high: Fraction, lower: Fraction | None, upper: Fraction | None) -> bool | None:
    """Whether the number enclosed by [low, high] lies in [lower, upper]; an end that is None bounds nothing."""
    if (lower is None or lower <= low) and (upper is None or high <= upper):
        return True
    return False if (lower is not None and high < lower) or (upper is not None and upper < low) else None


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
