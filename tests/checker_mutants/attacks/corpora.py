"""The corpora as an attack."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache

from checker_mutants.mutant import Import

from verale.soundness.corpus.cases import BEYOND, Case, stored

__all__ = ["verdicts_differ"]


def verdicts_differ(module: Import, kernel: str) -> str:
    """Every case gets its verdict."""
    checker = module("")
    for case in _cases():
        # The copy has errors of its own, which `judged` does not know.
        try:
            auditor = checker.Auditor(case.head, case.latents, kernel)
            if case.deployment is not None:
                asked = module("deployment").Deployment(**asdict(case.deployment))
                verdict = auditor.check(case.certificate, minimality=True, deployment=asked)
            elif case.witness is None:
                verdict = auditor.check(case.certificate, minimality=True)
            else:
                verdict = auditor.refute(case.certificate, case.witness)
            outcome = verdict.status.value, verdict.reason
        except checker.HeadError:
            outcome = "INPUT_ERROR", "head"
        except checker.LatentsError:
            outcome = "INPUT_ERROR", "latents"
        if outcome != case.expected:
            return case.name
    return ""


@cache
def _cases() -> list[Case]:
    """What tells most first: what is accepted, then attacks, those with raised margins last, then what is malformed.

    What is beyond the reference argument tells nothing where the checker, without a fault, proves more.
    """
    every = [*stored(), *stored("deployment")]
    cases = [case for case in every if case.mark != BEYOND or _is_exact(case)]
    return sorted(cases, key=lambda case: (case.name.startswith("malformed"), "margin-raised" in case.name))


def _is_exact(case: Case) -> bool:
    return case.verdict("arb") == case.expected
