"""Whether the independent reading knows what a certificate claims to be false. It shares nothing with any kernel."""

from __future__ import annotations

import json
from dataclasses import replace

from verale.soundness.agreement.sets import Group, Question
from verale.soundness.corpus.judge import FEW, judge_of, known_false, precisely
from verale.soundness.independent.arithmetic import ball, balls
from verale.soundness.independent.claim import Claim, Evaluations
from verale.soundness.independent.readers import WrongError
from verale.soundness.independent.witnesses import is_refuted

__all__ = ["is_small", "not_broken", "not_true"]

SMALL = 30_000
"""Certificates of heads with more bytes are not judged, nor those with more than FEW statements."""
_TIE = 90
"""Bits: logits that are as near as this are not told from equal ones."""


def is_small(group: Group, question: Question) -> bool:
    """Whether a certificate is judged."""
    return len(group.head) <= SMALL and len(json.loads(question.certificate)["predicate"]["statements"]) <= FEW


def not_true(group: Group, question: Question) -> str | None:
    """What is known to be false of a certificate that a kernel proves, None if nothing is."""
    refuted = is_refuted if group.base is None else judge_of(group.base).refuted
    return known_false(question.certificate, group.head, group.latents, refuted)


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
