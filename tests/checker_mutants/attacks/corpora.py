"""The corpora as an attack."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache

from checker_mutants.mutant import Import

from verale.soundness.corpus.cases import BEYOND, Case, stored

__all__ = ["origins_differ", "verdicts_differ"]


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


def origins_differ(module: Import, kernel: str) -> str:
    """Every origins file gets its outcome, and says of each origin what is proved."""
    checker, errors = module(""), module("errors")
    unusable = (checker.HeadError, checker.NetworkError, checker.PictureError)
    for case in stored("origins"):
        try:
            auditor = checker.Auditor(case.head, None, kernel, network=case.network, pictures=case.pictures)
            judged = module("origins").judge_origins(auditor, case.certificate)
            worst = max(judged, key=lambda each: each.exit_code)
            outcome = worst.status.value, worst.reason
            if [each.by for each in judged] != [kernel if each.exit_code == 0 else "" for each in judged]:
                return f"{case.name}: by"
            if outcome[0] == "MALFORMED":
                return f"{case.name}: the whole file is malformed"
            if any(bool(each.message) == (each.exit_code == 0) for each in judged):
                return f"{case.name}: message"
        except errors.FormatError:
            outcome = "MALFORMED", "malformed"
        except errors.UnprovedError as error:
            outcome = "NOT_PROVED", error.reason
        except unusable:
            outcome = "INPUT_ERROR", case.reason
        if outcome != case.expected:
            return case.name
        if case.name == "origins/half-the-distance" and [each.exit_code for each in judged] != [0, 7]:
            return f"{case.name}: each origin"
    return _without_a_network(module, kernel)


def _without_a_network(module: Import, kernel: str) -> str:
    case = next(case for case in stored("origins") if case.status == "PROVED")
    try:
        module("origins").judge_origins(module("").Auditor(case.head, None, kernel), case.certificate)
    except module("errors").UnprovedError as error:
        return "" if error.reason == "subject" else "no network"
    return "no network"


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
