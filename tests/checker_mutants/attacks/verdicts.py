"""Attacks on verdicts, witnesses and limits. Each returns what it finds wrong, "" for nothing."""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import inf, nextafter
from typing import Any

from checker_mutants.mutant import Import
from support import files

from verale.soundness.corpus.cases import Case, stored

__all__ = ["margins_in_records", "two_kernels", "witnesses"]


def margins_in_records(module: Import, kernel: str) -> str:
    """Margins are rounded down: in decimal to some digits, in binary64 to the greatest that is no greater."""
    verdict = module("verdict")
    generator = random.Random(9)
    tiny = Fraction(1, 2**1074)
    values = [Fraction(1, 3), Fraction(9999, 10000), Fraction(99999, 10000), Fraction(1), tiny, Fraction(2) ** 1030]
    values += [Fraction(generator.randrange(1, 10**9), 10 ** generator.randrange(40)) for _ in range(60)]
    values += [Fraction(1 + 2**-60), Fraction(10**9 + 1, 10**9), Fraction(1, 2**60)]
    for value in values:
        margins = (None, value, value * 2)
        made = _made(module, verdict.Status.PROVED, "", margins)
        record = made.record()
        shown = Fraction(Decimal(record["margin"]))
        if not value * Fraction(999, 1000) < shown <= value:
            return f"margin {record['margin']}"
        stated = replace(made.certificate, margins=(None, value / 2, value * 3))
        told = replace(made, certificate=stated).record()
        if Fraction(Decimal(told["margin"])) > value / 2:
            return f"margin {told['margin']}, which is not that of the certificate"
        for end, exact in zip(told["margins"][1:], (value / 2, value * 2), strict=True):
            if _not_below(end, exact):
                return f"margins {end}, which are not those of the certificate"
        for end, exact in zip(record["margins"][1:], margins[1:], strict=True):
            if _not_below(end, exact):
                return f"margins {end}"
        below = _made(module, verdict.Status.NOT_PROVED, "entailment", (value, None, -value)).record()
        if below["margin"] is not None or _not_below(below["margins"][2], -value) or below["margins"][1] is not None:
            return "a negative margin"
        if made.line(" a  b \ufe0f c\u2800 ").split("  ")[3] != r"\x20a\x20\x20b\x20\ufe0f\x20c\u2800\x20":
            return "a name of several fields"
        if verdict.before_colon("a: b  c") != r"a:\x20b\x20\x20c":
            return "a name and a message"
        if not made.line("a\nb").startswith("PROVED      a\\nb  class 0  top_k  1 statements  margin >= "):
            return "line"
        deployed = replace(
            made, by=made.by | {"deployment": "arb"}, deployment=module("deployment").Deployment("cdist", log=2)
        )
        if "+deployment (cdist, log=2,exp=4,sqrt=1) proved" not in deployed.line("a"):
            return "how the deployed head computes"
    return ""


_CERTIFICATE = files.certificate(b"", [files.activation_statement(0, 0.0, None)], paradigm="top_k")


def _made(module: Import, status: Any, reason: str, margins: tuple[Fraction | None, ...]) -> Any:
    """A verdict, of a certificate that states great margins."""
    stated = tuple(None if margin is None else Fraction(2**1040) for margin in margins)
    read = replace(module("certificate").read_certificate(_CERTIFICATE), margins=stated)
    return module("verdict").Verdict(status, reason, "words", read, None, {"entailment": "arb"}, margins)


def _not_below(end: str, exact: Any) -> bool:
    """Whether this is another binary64 than the greatest that is no greater."""
    value = float.fromhex(end)
    return bool((value != -inf and value > exact) or nextafter(value, inf) <= exact)


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


def two_kernels(module: Import, kernel: str) -> str:
    """`both` proves what both kernels prove, with the lesser margins."""
    auditor, status, third = module("auditor"), module("verdict").Status, Fraction(1, 3)

    def both(*verdicts: Any) -> Any:
        return auditor.together(dict(zip(("arb", "mpmath"), verdicts, strict=True)), "both", frozenset({"entailment"}))

    one = _made(module, status.PROVED, "", (None, third, third))
    other = _made(module, status.PROVED, "", (None, 2 * third, third / 2))
    for verdict in (both(one, other), both(other, one)):
        if (verdict.status, verdict.reason, verdict.margins) != (status.PROVED, "", (None, third, third / 2)):
            return "margins of both"
        if verdict.by != {"entailment": "both"} or verdict.certificate != one.certificate:
            return "claims of both"
    unlike = replace(_made(module, status.NOT_PROVED, "entailment", (None, -third, third)), by={})
    for pair in ((one, unlike), (unlike, one), (unlike, replace(unlike, reason="margin"))):
        verdict = both(*pair)
        if (verdict.status, verdict.reason, verdict.margins) != (status.NOT_PROVED, "kernels", ()):
            return "kernels that disagree"
        if "proved" in verdict.claims.values() or verdict.certificate != one.certificate:
            return "claims of kernels that disagree"
    stopped = replace(unlike, reason="limit", by={"instance": "mpmath"})
    if (told := both(one, stopped)).by or (told.status, told.reason, told.margins) != (
        unlike.status,
        "limit",
        unlike.margins,
    ):
        return "a claim that one of both proves"
    made = auditor.Auditor(stored()[0].head, None, "both")
    names = [made._side(name).keywords["space"].arithmetic.name for name in ("arb", "mpmath")]
    return "" if names == ["arb", "mpmath"] else "the kernels of both"
