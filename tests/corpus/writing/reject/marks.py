"""The mark of every rejected case: whether what it claims is true, with what shows it.

Each mark is judged by the independent reading before it is written (`truth.holds`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import flint
from corpus.writing.found import found
from corpus.writing.truth import breaks, gaps, holds, satisfied

from verale.soundness.corpus.cases import Case
from verale.soundness.corpus.truth import BEYOND, FALSE, INSTANCE, MALFORMED, SUBJECT, Truth
from verale.soundness.independent import files
from verale.soundness.independent.arithmetic import PRECISION, Matrix
from verale.soundness.independent.claim import Claim
from verale.soundness.independent.readers import read_json

__all__ = ["marked", "searched"]

_PRICES = "The same statements entail the class: accept/assignment-prices proves it with other prices."
_VACUOUS = (
    "No latents have such an activation, so its statement entails everything; a checker need not see that a range is"
    " empty."
)
_BEYOND = {
    "undecided": "The latent is a multiple of the prototype, so the cosine is exactly 1; enclosures do not show that.",
    "activation-below-0": _VACUOUS,
    "activation-beyond-1": _VACUOUS,
    "no-prices": _PRICES,
    "prices-too-low": _PRICES,
    "prices-too-high": _PRICES,
    "price-for-one": _PRICES,
    "prices-beyond-all": _PRICES,
}
"""Cases that are true, and why."""

_AGAIN = "run PYTHONPATH=tests python -m corpus.writing.breaking again"

_BY_HAND: dict[str, Matrix] = {
    "tie-without-an-image": [[1.0, 0.0]],
    "tie-of-thirds": [[1.0], [0.0], [0.0]],
    "bounded-logits": [[0.0, 1.0]],
    "opposite-orthant-epsilon": [[0.0, 0.0]],
    "one-coordinate-of-two": [[3.0, 4.0]],
}
"""Latents that break cases without an image, or with one that is a tie."""


def marked(cases: list[Case]) -> list[Case]:
    """The cases with their marks. Raises ValueError where a mark does not hold."""
    by_name = {case.name.removeprefix("reject/"): case for case in cases}
    each = [replace(case, truth=_truth(case, name, by_name)) for name, case in by_name.items()]
    for case in each:
        if case.truth is None or not holds(case.certificate, case.head, case.latents, case.truth):
            raise ValueError(f"{case.name}: its mark does not hold; {_AGAIN}")
    return each


def searched(cases: list[Case]) -> Iterator[Case]:
    """The cases whose breaking latents have to be searched for."""
    names = {case.name.removeprefix("reject/") for case in cases}
    for case in cases:
        name = case.name.removeprefix("reject/")
        known = name in _BEYOND or name in _BY_HAND or f"{name}-refuted" in names or _of_accepted(name) is not None
        if case.reason in ("entailment", "margin") and not known:
            yield case


def _of_accepted(name: str) -> str | None:
    """The accepted case whose margin was raised."""
    for prefix in ("margin-raised-", "margin-broken-"):
        if name.startswith(prefix):
            return "accept/" + name.removeprefix(prefix)
    return None


def _truth(case: Case, name: str, cases: dict[str, Case]) -> Truth:
    match case.reason:
        case "malformed":
            return Truth(MALFORMED)
        case _ if name in _BEYOND:
            return Truth(BEYOND, why=_BEYOND[name])
        case "subject":
            return Truth(FALSE, claim=SUBJECT)
        case "instance":
            return Truth(FALSE, claim=INSTANCE)
        case "minimality":
            return _needless(case)
    image = _BY_HAND.get(name)
    if image is None and case.reason == "refuted":
        image = _named(case)
    elif image is None and f"{name}-refuted" in cases:
        image = _named(cases[f"{name}-refuted"])
    elif image is None:
        image = found().get(_of_accepted(name) or case.name)
    if image is None or not _complies(case, image):
        raise ValueError(f"{case.name}: nothing is known of its truth; {_AGAIN}")
    latents = files.latents([image])
    if breaks(case.certificate, case.head, latents):
        return Truth(FALSE, breaks=latents)
    return Truth(BEYOND, why=_how_near(case, image))


def _complies(case: Case, image: Matrix) -> bool:
    with flint.ctx.workprec(PRECISION):
        return satisfied(Claim.read(case.certificate, case.head, None), image)


def _named(case: Case) -> Matrix:
    return files.given(Claim.read(case.certificate, case.head, case.latents).image)


def _needless(case: Case) -> Truth:
    """The first statement that is needless."""
    for index in range(len(read_json(case.certificate)["predicate"]["statements"])):
        truth = Truth(FALSE, dropped=index)
        if holds(case.certificate, case.head, case.latents, truth):
            return truth
    raise ValueError(f"{case.name}: no statement is certainly needless")


def _how_near(case: Case, image: Matrix) -> str:
    """What is known of a claim that no latents are known to break."""
    with flint.ctx.workprec(PRECISION):
        least = min(float(gap - margin) for gap, margin in gaps(Claim.read(case.certificate, case.head, None), image))
    what = "One binary64 above what is proved" if "-raised-" in case.name else "Changed, and less is proved"
    left = f"{least:.1e} more than" if least else "just"
    return f"{what}, and not known to be false: the nearest latents that were found leave {left} what is claimed."
