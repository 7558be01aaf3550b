"""Whether a mutant that the checker proved is harmless: judged without the checker, with a name for each change."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import lru_cache

import flint

from verale.soundness.corpus.cases import Case
from verale.soundness.corpus.mutants import Mutant
from verale.soundness.independent.arithmetic import PRECISION
from verale.soundness.independent.claim import Claim, Evaluations, about, interval
from verale.soundness.independent.readers import Document, WrongError, read_json
from verale.soundness.independent.witnesses import is_refuted, witnesses

HARMLESS = {
    "text": "white space, `generator`, `extensions`, another spelling of a number",
    "order": "the order of statements",
    "dropped": "a statement dropped that nothing rests on",
    "narrower": "an interval narrower, and still true",
    "wider": "an interval wider, within the margin",
    "elsewhere": "an interval moved, and still true; or a statement about something else",
    "lower margin": "a margin lowered",
    "higher margin": "a margin raised, and still proved",
    "claims": "fewer claims",
    "paradigm": "another paradigm that proves as much",
    "patches": "another number of patches, where no image is named",
    "prices": "other prices, or none where none are needed",
    "head": "another head, named by its digest, of which the same is true",
    "image": "another image, named by its digest, of which the same is true",
    "latents file": "other latents beside the image, or another layout of the file",
    "image unchecked": "another image's digest, where no latents are given",
}
"""What can change in a certificate that stays proved; certificates/README.md explains each."""


FEW = 8
"""Of certificates with more statements, judging one without the checker would take long: latents for each of them."""

BROKEN = "latents that satisfy every statement fall short of a margin"


class Judge:
    """Judges the mutants of one case."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._original = Claim.read(case.certificate, case.head, case.latents)
        self._evaluations = Evaluations(self._original.head)
        self._witnesses = witnesses(self._original, random.Random(case.name))

    def judge(self, mutant: Mutant, thoroughly: bool) -> set[str]:
        """What changed in a mutant that was proved, by names of HARMLESS. Raises WrongError where its claim is false.

        Args:
            thoroughly: whether to search for new witnesses where the head or the image is another one.
        """
        claim = Claim.read(mutant.certificate, mutant.head, mutant.latents)
        claim.require_instance()
        if self.refuted(claim, thoroughly):
            raise WrongError(BROKEN)
        return self._changes(mutant)

    def refuted(self, claim: Claim, thoroughly: bool = False) -> bool:
        """Whether some latents satisfy every statement and fall short of a margin."""
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

    def _changes(self, mutant: Mutant) -> set[str]:
        before, after = (read_json(data) for data in (self._case.certificate, mutant.certificate))
        old, new = before["predicate"], after["predicate"]
        changes = _of_statements(old["statements"], new["statements"])
        if mutant.head != self._case.head:
            changes.add("head")
        subject = before["subject"][1:], after["subject"][1:]
        if subject[0] != subject[1] and subject[1]:
            changes.add("image" if mutant.latents is not None else "image unchecked")
        elif mutant.latents != self._case.latents:
            changes.add("latents file")
        for first, second in zip(old["margins"], new["margins"], strict=True):
            if first is None or second is None:
                if first != second:
                    raise WrongError("another class is proved")
            elif float.fromhex(first) != float.fromhex(second):
                changes.add("lower margin" if float.fromhex(second) < float.fromhex(first) else "higher margin")
        for field in ("paradigm", "claims", "patches"):
            if old[field] != new[field]:
                changes.add(field)
        if old["hints"] != new["hints"]:
            changes.add("prices")
        return changes or {"text"}


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


def _of_statements(old: list[Document], new: list[Document]) -> set[str]:
    before, after = ({_subject(statement): interval(statement) for statement in each} for each in (old, new))
    changes = set()
    for subject, (low, high) in before.items():
        if subject not in after:
            changes.add("dropped")
            continue
        least, greatest = after[subject]
        if (least, greatest) != (low, high):
            inside, outside = least >= low and greatest <= high, least <= low and greatest >= high
            changes.add("narrower" if inside else "wider" if outside else "elsewhere")
    if set(after) - set(before):
        changes.add("elsewhere")
    shared = [[subject for subject in each if subject in before and subject in after] for each in (before, after)]
    if shared[0] != shared[1]:
        changes.add("order")
    return changes


def _subject(statement: Document) -> str:
    return about(statement) + json.dumps(statement.get("except"))


def precisely() -> AbstractContextManager[object]:
    """The context in which balls have PRECISION bits."""
    context: AbstractContextManager[object] = flint.ctx.workprec(PRECISION)
    return context
