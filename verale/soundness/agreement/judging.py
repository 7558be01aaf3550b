"""Whether the independent reading knows what a certificate claims to be false. It shares nothing with any kernel."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache

from verale.soundness.agreement.sets import Group, Question
from verale.soundness.corpus.cases import Case
from verale.soundness.corpus.judge import Judge, precisely
from verale.soundness.independent.arithmetic import ball, balls
from verale.soundness.independent.claim import Claim, Evaluations
from verale.soundness.independent.readers import WrongError
from verale.soundness.independent.witnesses import is_refuted

__all__ = ["FEW", "is_small", "known_false", "not_broken"]

FEW = 8
"""Certificates with more statements are not judged: latents for each of them would take long."""
SMALL = 30_000
"""Nor are those of heads with more bytes."""
_TIE = 90
"""Bits: logits that are as near as this are not told from equal ones."""


def is_small(group: Group, question: Question) -> bool:
    """Whether a certificate is judged."""
    return len(group.head) <= SMALL and len(json.loads(question.certificate)["predicate"]["statements"]) <= FEW


def known_false(group: Group, question: Question) -> str | None:
    """What is known to be false of a certificate that a kernel proves, None if nothing is."""
    with precisely():
        try:
            claim = Claim.read(question.certificate, group.head, group.latents)
            claim.require_instance()
        except WrongError as wrong:
            return str(wrong)
        try:
            broken = is_refuted(claim) if group.base is None else _judge(group.base).refuted(claim)
        except ValueError:  # a mass is too near to the head's threshold for any precision: nothing is known
            return None
    return "latents that satisfy every statement fall short of a margin" if broken else None


def not_broken(group: Group, question: Question) -> str | None:
    """What speaks against the refutation of a certificate by its own image, None if nothing does."""
    with precisely():
        try:
            claim = Claim.read(question.certificate, group.head, group.latents)
            claim.require_instance()
        except WrongError as wrong:
            return f"refuted though {wrong}"
        tied = replace(claim, margins=[None if margin is None else ball(2) ** -_TIE for margin in claim.margins])
        if tied.image is None or tied.counterexample(Evaluations(tied.head), [balls(tied.image)]) is None:
            return "refuted though the image has the class"
    return None


@lru_cache(maxsize=1)
def _judge(case: Case) -> Judge:
    """That of the case whose mutants come one after the other."""
    return Judge(case)
