"""Mutate every accepted case, and ask the proved checker about each mutant that the rules prove."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import flint
from attacks.slack import attack
from support.arithmetic import PRECISION
from support.claims import interval
from support.files import Document
from support.judged import judged
from support.mutants import Mutant, mutants_of

from benchmarks.agreement.tally import with_margins
from verale.checker import Auditor
from verale.soundness.corpus.cases import Case, accepted


class WrongError(Exception):
    """The checker proves something false, or what the proved checker does not."""


GIVEN_UP = ("limit", "minimality")
"""Reasons of the proved checker that say nothing of what is claimed: it searches less for what is needed."""

UNPROVED = ("entailment", "margin")
"""Reasons that it has of few: it finds no weights where ends are as large as 1e300. These are attacked."""

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
        missed: those that the proved checker does not prove, by its reason (`GIVEN_UP`, `UNPROVED`).
        redropped: statements dropped again from certificates that are proved minimal.
        wrong: in words, whatever is wrong.
    """

    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    harmless: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    redropped: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def unproved(self) -> float:
        """The share of the mutants that the rules prove and the proved checker does not."""
        proved = sum(count for (status, _), count in self.verdicts.items() if status == "PROVED")
        return sum(self.missed[reason] for reason in UNPROVED) / max(1, proved)


def attacked(
    one_in: int = 1,
    thoroughly_one_in: int = 1,
    auditor: Any = Auditor,
    cases: list[Case] | None = None,
    most: int = 100,
) -> Tally:
    """Compare the checkers' verdicts on mutants of accepted cases.

    Args:
        one_in: one mutant in so many is taken.
        thoroughly_one_in: of one in so many of the proved ones statements are dropped again.
        auditor: the checker that follows the rules, or a faulty one.
        cases: the accepted cases; None for all.
        most: it stops after so many that are wrong, or that the proved checker does not prove.
    """
    tally = Tally()
    for _, case, mutant in mutants_of(accepted() if cases is None else cases, one_in):
        if mutant == Mutant(mutant.kind, case.certificate, case.head, case.latents):
            continue
        verdict = judged(auditor, mutant.certificate, mutant.head, mutant.latents)
        tally.verdicts[verdict] += 1
        tally.kinds[mutant.kind] += 1
        if verdict[0] != "PROVED":
            continue
        if len(tally.wrong) + sum(tally.missed[reason] for reason in UNPROVED) >= most:
            return tally
        try:
            tally.missed.update(_missed(mutant))
            tally.harmless.update(changes(case, mutant))
            if sum(tally.verdicts[each] for each in tally.verdicts if each[0] == "PROVED") % thoroughly_one_in == 0:
                tally.redropped += require_needed(auditor, mutant)
        except WrongError as wrong:
            tally.wrong.append(f"{case.name}, {mutant.kind}: {wrong}")
    return tally


def _missed(mutant: Mutant) -> set[str]:
    """Why the proved checker does not prove a mutant, nothing where it does; of margins 2^-16 may be given up.

    Raises WrongError where it speaks against the subject or the image, or where the attack refutes the certificate.
    """
    reason = ""
    for certificate in (mutant.certificate, with_margins(mutant.certificate, 1 - 2.0**-16)):
        status, reason = judged(Auditor, certificate, mutant.head, mutant.latents, "proved")
        if status == "PROVED":
            return set()
        if reason != "margin":
            break
    if reason not in (*GIVEN_UP, *UNPROVED):
        raise WrongError(f"the proved checker says {reason}")
    claim = json.loads(mutant.certificate)
    if reason in UNPROVED and mutant.latents is not None and "instance" in claim["predicate"]["claims"]:
        attempts = attack(mutant.certificate, mutant.head, mutant.latents)
        with flint.ctx.workprec(PRECISION):
            if any(attempt.refutes() for attempt in attempts):
                raise WrongError("latents that satisfy every statement fall short of a margin")
    return {reason}


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
    before, after = (json.loads(data) for data in (case.certificate, mutant.certificate))
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
    """What a statement is about: an observable, an activation, what a clause exempts, or the rivals of a sum."""
    sides = [side in statement for side in ("lower", "upper")]
    return json.dumps([*sides, *(statement.get(name, 0) for name in ("patch", "prototype", "except", "rivals"))])
