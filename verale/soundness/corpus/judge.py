"""Whether what a certificate claims is known to be false, judged without the checker."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import lru_cache

import flint

from verale.soundness.corpus.cases import Case
from verale.soundness.independent.arithmetic import PRECISION
from verale.soundness.independent.claim import Claim, Evaluations
from verale.soundness.independent.readers import WrongError
from verale.soundness.independent.witnesses import is_refuted, witnesses

FEW = 8
"""Of certificates with more statements, judging one without the checker would take long: latents for each of them."""

BROKEN = "latents that satisfy every statement fall short of a margin"


class Judge:
    """Knows latents that satisfy the statements of one case, which may refute its mutants."""

    def __init__(self, case: Case) -> None:
        self._original = Claim.read(case.certificate, case.head, case.latents)
        self._evaluations = Evaluations(self._original.head)
        self._witnesses = witnesses(self._original, random.Random(case.name))

    def refuted(self, claim: Claim, thoroughly: bool = False) -> bool:
        """Whether some latents satisfy every statement of a mutant and fall short of a margin.

        Args:
            thoroughly: whether to search for new latents where the head or the image is another one.
        """
        own, other = self._original.head, claim.head
        alike = replace(other, weight=own.weight, bias=own.bias) == own
        evaluations = self._evaluations if alike else Evaluations(other)
        if other.weight != own.weight or other.bias != own.bias:
            evaluations = evaluations.with_head(other)
        if claim.counterexample(evaluations, self._witnesses) is not None:
            return True
        if not thoroughly or (alike and claim.image == self._original.image):
            return False
        return is_refuted(claim)


@lru_cache(maxsize=1)
def judge_of(case: Case) -> Judge:
    """That of the case whose mutants come one after the other."""
    return Judge(case)


def known_false(
    certificate: bytes,
    head: bytes,
    latents: bytes | None,
    refuted: Callable[[Claim], bool] = is_refuted,
    certainly: bool = True,
) -> str | None:
    """What is known to be false of a certificate that is proved, without the checker; None if nothing is.

    Args:
        refuted: whether latents are found that satisfy every statement and fall short of a margin.
        certainly: whether a statement counts as false where no ball shows that it is true.
    """
    with precisely():
        try:
            claim = Claim.read(certificate, head, latents)
            claim.require_instance(certainly)
        except WrongError as wrong:
            return str(wrong)
        try:
            return BROKEN if refuted(claim) else None
        except ValueError:  # a mass is too near to the head's threshold for any precision: nothing is known
            return None


def precisely() -> AbstractContextManager[object]:
    """The context in which balls have PRECISION bits."""
    context: AbstractContextManager[object] = flint.ctx.workprec(PRECISION)
    return context
