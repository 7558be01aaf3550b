"""One verdict of several kernels: what each of them proves, or claim by claim what one of them proves."""

from __future__ import annotations

from dataclasses import replace

from .choices import KERNELS, PROVED
from .verdict import Status, Verdict

__all__ = ["DECIDED", "completed", "in_common", "with_proved"]

DECIDED = {Status.PROVED, Status.REFUTED}
"""The verdicts that say what is true."""


def completed(proved: Verdict, rules: Verdict) -> Verdict:
    """What either proves, the kernel `proved` or the one with rules, of which the second is asked where the first does
    not prove all: claim by claim what one of them proves, and then the reason of the one that gets further.

    They disagree where one proves what is certainly false by the other.
    """
    if _contradict(rules, proved) or _contradict(proved, rules):
        said = "; ".join(f"{by}: {_said(verdict)}" for by, verdict in ((PROVED, proved), ("arb", rules)))
        return _disagreement(rules, said)
    if proved.status in DECIDED or proved.false:
        return proved
    by = dict(rules.by) | dict(proved.by)
    claims = {claim: "proved" if claim in by else state for claim, state in rules.claims.items()}
    margins = proved.margins or rules.margins  # those that whoever is named for entailment proves
    if rules.reason == "limit":  # a greater one may help where `proved` does not decide
        gets_further = proved.reason in ("uncovered", "limit")
    else:
        gets_further = rules.reason == "picture" or _extent(rules) >= _extent(proved)  # `proved` covers no float32
    if gets_further:
        return replace(rules, claims=claims, by=by, margins=margins)
    why = "gives up at the limit" if rules.reason == "limit" else f"{rules.reason}: {rules.message}"
    message = f"{proved.message} (arb: {why})"
    return replace(proved, message=message, claims=claims, by=by, margins=margins)


def _contradict(first: Verdict, second: Verdict) -> bool:
    """Whether the first proves what is false by the second: the class, or that the statements hold of the image."""
    refuted = second.status is Status.REFUTED and "entailment" in first.by
    return refuted or (second.false and second.reason == "instance" and _proves_instance(first))


def with_proved(common: Verdict, proved: Verdict, kernel: str) -> Verdict:
    """What is proved by the kernels with rules, whose common verdict is given, and by the kernel `proved` too.

    One may prove more than the other, as certificates/v1.md allows. The verdict is then that of the one which proves
    less, and says what the other proves. They disagree where one proves what is certainly false by the other.
    """
    rules = " and ".join(KERNELS)
    if {common.status, proved.status} == DECIDED or (common.false and _proves_instance(proved)):
        return _disagreement(common, f"{rules}: {_said(common)}; {PROVED}: {_said(proved)}")
    if common.status is proved.status is Status.PROVED:
        return in_common([common, proved], kernel)
    if _extent(common) <= _extent(proved):
        less, more, who = common, proved, PROVED
    else:
        less, more, who = proved, common, rules
    less = replace(less, by=dict.fromkeys(less.by, kernel))
    if less.status in DECIDED or more.status not in DECIDED:
        return less
    return replace(less, message=f"{less.message} ({who}: {more.status.value})")


def _proves_instance(verdict: Verdict) -> bool:
    """Whether the latents are proved to lie in the domain and to satisfy every statement."""
    return verdict.status is Status.REFUTED or verdict.claims.get("instance") == "proved"


def _extent(verdict: Verdict) -> tuple[bool, int]:
    """How far a verdict goes. Claims are proved in one order, so of two verdicts one proves all that the other does."""
    return verdict.status in DECIDED, list(verdict.claims.values()).count("proved")


def in_common(verdicts: list[Verdict], kernel: str) -> Verdict:
    """What each of one or two verdicts proves; `kernel` names those together that gave them."""
    first, *others = verdicts
    if not others:
        return first
    second = others[0]
    # Where enclosures of one are wider, it tries more bits and takes more steps: who stops at the limit says nothing.
    for less in (first, second):
        if less.reason == "limit" and first.reason != second.reason:
            return replace(less, by=dict.fromkeys(less.by, kernel))
    if (first.status, first.reason) != (second.status, second.reason):
        return _disagreement(first, "; ".join(f"{name}: {_said(v)}" for name, v in zip(KERNELS, verdicts, strict=True)))
    margins, deployed = (
        tuple(None if one is None or other is None else min(one, other) for one, other in zip(*each, strict=True))
        for each in ((first.margins, second.margins), (first.deployed, second.deployed))
    )
    by = dict.fromkeys(first.by, kernel)
    return replace(first, margins=margins, deployed=deployed, false=first.false or second.false, by=by)


def _disagreement(verdict: Verdict, said: str) -> Verdict:
    """The verdict in place of one that another kernel does not share."""
    return Verdict(
        Status.NOT_PROVED,
        "kernels",
        f"the kernels disagree, expected one verdict ({said}); report it",
        {claim: "not checked" if state == "proved" else state for claim, state in verdict.claims.items()},
        verdict.predicted,
        verdict.paradigm,
        verdict.statements,
        elements=verdict.elements,
        arithmetic=verdict.arithmetic,
        deployment=verdict.deployment,
    )


def _said(verdict: Verdict) -> str:
    return f"{verdict.status.value} {verdict.message}"
