"""Whether the independent reading knows what a certificate claims to be false. It shares nothing with any kernel."""

from __future__ import annotations

import json
import random
from functools import lru_cache

from verale.soundness.agreement.sets import Group, Question
from verale.soundness.corpus.cases import Case
from verale.soundness.corpus.judge import Judge, precisely
from verale.soundness.independent.claim import Claim, Evaluations
from verale.soundness.independent.readers import WrongError
from verale.soundness.independent.witnesses import witnesses

__all__ = ["FEW", "is_small", "known_false"]

FEW = 8
"""Certificates with more statements are not judged: latents for each of them would take long."""
SMALL = 30_000
"""Nor are those of heads with more bytes."""


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
            broken = _by_witnesses(claim) if group.base is None else _judge(group.base).refuted(claim)
        except ValueError:  # a mass is too near to the head's threshold for any precision: nothing is known
            return None
    return "latents that satisfy every statement fall short of a margin" if broken else None


@lru_cache(maxsize=1)
def _judge(case: Case) -> Judge:
    """That of the case whose mutants come one after the other."""
    return Judge(case)


def _by_witnesses(claim: Claim) -> bool:
    return claim.counterexample(Evaluations(claim.head), witnesses(claim, random.Random(0))) is not None
