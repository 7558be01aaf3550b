"""Mutate every accepted case, and judge each mutant that the checker proves."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from verale.checker import Auditor
from verale.soundness.corpus.cases import Case, accepted, judged
from verale.soundness.corpus.judge import BROKEN, judge_of, precisely
from verale.soundness.corpus.mutants import Mutant, mutants_of
from verale.soundness.independent.claim import Claim, about, interval
from verale.soundness.independent.readers import Document, WrongError, read_json

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


@dataclass
class Tally:
    """Counts of mutants.

    Attributes:
        verdicts: by status and reason.
        kinds: by kind.
        harmless: of the proved ones, by what is changed in them.
        refuted: of those whose entailment is not proved, by whether a counterexample was found.
        redropped: statements dropped again from certificates that are proved minimal.
        wrong: in words, whatever is wrong.
    """

    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    harmless: Counter[str] = field(default_factory=Counter)
    refuted: Counter[bool] = field(default_factory=Counter)
    redropped: int = 0
    wrong: list[str] = field(default_factory=list)


def attacked(
    one_in: int = 1,
    thoroughly_one_in: int = 1,
    auditor: Any = Auditor,
    cases: list[Case] | None = None,
    most: int = 100,
) -> Tally:
    """Judge mutants of accepted cases.

    Args:
        one_in: one mutant in so many is taken.
        thoroughly_one_in: one in so many of the proved ones is judged thoroughly.
        auditor: the checker, or a faulty one.
        cases: the accepted cases; None for all.
        most: it stops after so many wrong ones.
    """
    tally, proved = Tally(), 0
    with precisely():
        for _, case, mutant in mutants_of(accepted() if cases is None else cases, one_in):
            if mutant == Mutant(mutant.kind, case.certificate, case.head, case.latents):
                continue
            verdict = judged(auditor, mutant.certificate, mutant.head, mutant.latents)
            tally.verdicts[verdict] += 1
            tally.kinds[mutant.kind] += 1
            if verdict == ("NOT_PROVED", "entailment"):
                claim = Claim.read(mutant.certificate, mutant.head, mutant.latents)
                tally.refuted[judge_of(case).refuted(claim)] += 1
            if verdict[0] != "PROVED":
                continue
            if len(tally.wrong) >= most:
                return tally
            proved += 1
            thoroughly = proved % thoroughly_one_in == 0
            try:
                claim = Claim.read(mutant.certificate, mutant.head, mutant.latents)
                claim.require_instance()
                if judge_of(case).refuted(claim, thoroughly):
                    raise WrongError(BROKEN)
                tally.harmless.update(changes(case, mutant))
                if thoroughly:
                    tally.redropped += require_needed(auditor, mutant)
            except WrongError as wrong:
                tally.wrong.append(f"{case.name}, {mutant.kind}: {wrong}")
    return tally


def require_needed(auditor: Any, mutant: Mutant) -> int:
    """Raises WrongError if minimality is claimed and a statement can be dropped. Returns how many were tried."""
    document = json.loads(mutant.certificate)
    predicate = document["predicate"]
    if "minimality" not in predicate["claims"]:
        return 0
    statements, prices = predicate["statements"], predicate["hints"]
    predicate["margins"] = [margin and (2.0**-1074).hex() for margin in predicate["margins"]]
    for index in range(len(statements)):
        predicate["statements"] = [s for i, s in enumerate(statements) if i != index]
        predicate["hints"] = prices
        fewer = judged(auditor, json.dumps(document).encode(), mutant.head, mutant.latents)
        # What is left may be minimal or not; that it entails the class is what the claim denies.
        if fewer[0] == "PROVED" or fewer == ("NOT_PROVED", "minimality"):
            raise WrongError(f"statement {index} can be dropped though minimality is proved")
    return len(statements)


def changes(case: Case, mutant: Mutant) -> set[str]:
    """What changed in a mutant that was proved, by names of HARMLESS. WrongError where another class is proved."""
    before, after = (read_json(data) for data in (case.certificate, mutant.certificate))
    old, new = before["predicate"], after["predicate"]
    found = _of_statements(old["statements"], new["statements"])
    if mutant.head != case.head:
        found.add("head")
    subject = before["subject"][1:], after["subject"][1:]
    if subject[0] != subject[1] and subject[1]:
        found.add("image" if mutant.latents is not None else "image unchecked")
    elif mutant.latents != case.latents:
        found.add("latents file")
    for first, second in zip(old["margins"], new["margins"], strict=True):
        if first is None or second is None:
            if first != second:
                raise WrongError("another class is proved")
        elif float.fromhex(first) != float.fromhex(second):
            found.add("lower margin" if float.fromhex(second) < float.fromhex(first) else "higher margin")
    found |= {name for name in ("paradigm", "claims", "patches") if old[name] != new[name]}
    if old["hints"] != new["hints"]:
        found.add("prices")
    return found or {"text"}


def _of_statements(old: list[Document], new: list[Document]) -> set[str]:
    before, after = ({_subject(statement): interval(statement) for statement in each} for each in (old, new))
    found = set()
    for subject, (low, high) in before.items():
        if subject not in after:
            found.add("dropped")
            continue
        least, greatest = after[subject]
        if (least, greatest) != (low, high):
            inside, outside = least >= low and greatest <= high, least <= low and greatest >= high
            found.add("narrower" if inside else "wider" if outside else "elsewhere")
    if set(after) - set(before):
        found.add("elsewhere")
    shared = [[subject for subject in each if subject in before and subject in after] for each in (before, after)]
    if shared[0] != shared[1]:
        found.add("order")
    return found


def _subject(statement: Document) -> str:
    return about(statement) + json.dumps(statement.get("except"))
