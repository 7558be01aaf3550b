"""Numbers beside a verdict: of the rules, of several kernels, and as the proved checker's answer is read."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from checker_mutants.mutant import Import
from support import files

__all__ = ["numbers_beside_verdicts"]

_TEXT = "4 2 0 8 -1 3 2 -4 8 -4 4 8 2 none 4 2 0 1 0 0 0"
"""Of two prototypes and two classes, over 4 and over 8, with one statement."""


def numbers_beside_verdicts(module: Import, kernel: str) -> str:
    """Each is what was worked out by hand, and no other text is read."""
    interval, numbers = module("numbers").Interval, module("numbers").Numbers

    def intervals(*ends: Any) -> Any:
        return tuple(interval(Fraction(low), Fraction(high)) for low, high in ends)

    read = module("numbers")
    halves = [(0, 2), (Fraction(-1, 4), Fraction(3, 4))], [(-1, 2), (-1, 1)]
    expected = numbers(*(intervals(*each) for each in halves), (None, Fraction(1, 2)), (((), (0,)), ((), ())))
    if read.numbers_of(_TEXT, 2, 2, 0, 1) != expected:
        return "a text has other numbers"
    for text in (f"{_TEXT} 0", _TEXT[:-2], _TEXT.replace("4 2 0", "0 2 0"), _TEXT.replace("2 none 4", "2 4 none")):
        try:
            read.numbers_of(text, 2, 2, 0, 1)
        except read.NotNumbersError:
            continue
        return f"{text!r} is read"
    wider = numbers(*(intervals((1, 3), (0, 1)) for _ in range(2)), (None, Fraction(1)), (((), ()), ((), ())))
    common = module("numbers").shared(expected, wider)
    if common.activations != intervals((0, 3), (Fraction(-1, 4), 1)) or common.margins != (None, Fraction(1, 2)):
        return "kernels share other numbers"
    products: Any = {"geometry": {"kind": "inner_product", "radius": None}, "similarity": {"kind": "identity"}}
    head = files.head(
        [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.5], [-1.0, 1.0]], [0.0, 0.0], domain=files.domain(0.0, 1.0), **products
    )
    stated = [files.activation_statement(0, 0.5, None)]
    document = files.document(head, stated, classes=2, patches=1, paradigm="top_k", minimality=False)
    proved = module("auditor").Auditor(head, None, kernel).numbers(files.encode(document))
    whole = (0, Fraction(3, 2)), (-1, 1)
    ends = intervals((Fraction(1, 2), Fraction(3, 2)), (-1, 1))
    expected = numbers(ends, intervals(*whole), (None, Fraction(-1, 2)), (((0,), ()), ((), ())))
    if proved != expected:
        return f"the reading gives {proved}"
    return _asked_too_long(module, head) or _at_an_image(module, kernel)


def _at_an_image(module: Import, kernel: str) -> str:
    """Of statements at an image each is true, false, or not decided; and false ones are told with what they bound."""
    row = [[0.5, 0.5]]
    head = files.head(
        [[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 0.0]],
        geometry=files.cosine(0.0), similarity={"kind": "identity"}, domain=files.domain(0.0, 1.0),
    )  # fmt: skip
    auditor, at = module("auditor"), module("numbers").StatementAt
    asked = auditor.Auditor(head, files.latents([row]), kernel)
    ceiling, edge = files.order_clause([], 0.75), files.activation_statement(0, 1.0, 2.0)  # the cosine is 1
    document = files.document(head, [files.activation_statement(1, 0.5, 0.75), ceiling, edge], paradigm="mixed")
    first, second, third = asked.at_image(files.encode(document), files.digest(row))
    if (first, second.true, third.true) != (at(True), False, None):
        return f"{(first, second, third)} at an image"
    if not second.value.low <= 1 <= second.value.high:
        return f"the greatest activation is {second.value}"
    if module("numbers").agreed(at(True), at(None)).true is not None or auditor._is_decided([at(True), at(None)]):
        return "what one kernel decides is decided by all"
    subject = SimpleNamespace(certificate=SimpleNamespace(statements=(1, 2)), seconds=1)
    claims = SimpleNamespace(allow=lambda seconds: None, holds=lambda certificate, image: False)
    if module("proved.claims").ProvedAudit(subject, claims=claims).at_image(None) != (at(None),) * 2:
        return "what the program does not prove is true"
    return ""


def _asked_too_long(module: Import, head: bytes) -> str:
    """By default nobody else is asked where the proved checker took too long, and arb where it gave up otherwise."""
    auditor, error = module("auditor").Auditor(head), module("errors").UnprovedError
    auditor.executable, auditor._side = object(), lambda name: lambda subject: name
    for spent, expected in ((True, ["proved"]), (False, ["proved", "arb"])):
        names: list[str] = []

        def ask(name: str, side: Any, names: list[str] = names, spent: bool = spent) -> None:
            names.append(name)
            raise error("limit", "it took too long", spent=spent)

        try:
            auditor._answers(None, ask, bool)
        except error:
            if names == expected:
                continue
        return f"{names} are asked"
    return ""
