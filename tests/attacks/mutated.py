"""Mutate every accepted case, and judge each mutant that the checker proves."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from verale.checker import Auditor
from verale.soundness.corpus.cases import Case, accepted, judged
from verale.soundness.corpus.judge import judge_of, precisely
from verale.soundness.corpus.mutants import Mutant, mutants_of
from verale.soundness.independent.claim import Claim
from verale.soundness.independent.readers import WrongError


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
                tally.harmless.update(judge_of(case).judge(mutant, thoroughly))
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
