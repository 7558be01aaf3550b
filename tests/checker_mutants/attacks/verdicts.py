"""Attacks on verdicts, witnesses and limits. Each returns what it finds wrong, "" for nothing."""

from __future__ import annotations

import hashlib

from checker_mutants.mutant import Import

from verale.soundness.corpus.cases import Case, stored

__all__ = ["witnesses"]


def witnesses(module: Import, kernel: str) -> str:
    """Latents refute a certificate exactly where they satisfy its statements and a rival wins."""
    checker = module("")
    for case in _with_latents():
        auditor = checker.Auditor(case.head, None, kernel)
        try:
            verdict = auditor.refute(case.certificate, case.latents)
        except checker.LatentsError:
            if _images(case) == 1:
                return f"{case.name}: no witness"
            continue
        if _images(case) != 1:
            return f"{case.name}: a witness of several images"
        # A file that lacks the certificate's own latents is a witness nevertheless.
        known = {"refuted": ("REFUTED", "refuted"), "instance": ("NOT_REFUTED", "instance")}
        known |= {"malformed": ("MALFORMED", "malformed")}
        known |= dict.fromkeys(("", "margin", "minimality", "entailment"), ("NOT_REFUTED", "witness"))
        if case.reason == "subject" and hashlib.sha256(case.head).hexdigest().encode() not in case.certificate:
            known["subject"] = "NOT_REFUTED", "subject"
        found = verdict.status.value, verdict.reason
        if found != known.get(case.reason, found):
            return f"{case.name}: {' '.join(found)}"
        if "proved" in verdict.claims.values() or verdict.margins:
            return f"{case.name}: a witness proves nothing"
    return ""


def _with_latents() -> list[Case]:
    return [case for case in stored() if case.latents is not None and case.status != "INPUT_ERROR"]


def _images(case: Case) -> int:
    from support.editing import split
    from support.files import given

    return int(split(given(case.latents))[0]["latents"]["shape"][0])
