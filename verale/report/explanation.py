"""An explanation in words for people who have not met prototypes before: what has to hold, and what follows.

Decimals are rounded to a few digits here. The statements in full, and the claim in the checker's words, are beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from verale.certificate.words import above, below
from verale.checker.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    Statement,
)

__all__ = ["conditions", "in_brief", "stated_prototypes"]

_DIGITS = 3
"""The digits of an end in a sentence."""

_NAMED = 3
"""The most prototypes that are named as exempt without a statement of their own."""


def stated_prototypes(statements: Sequence[Statement]) -> tuple[int, ...]:
    """The prototypes whose activations have statements, in the certificate's order."""
    return tuple(s.prototype for s in statements if isinstance(s, ActivationStatement))


def in_brief(certificate: Certificate) -> str:
    """What an explanation consists of, in a few words: `5 prototypes, no other above 0.36`."""
    stated = stated_prototypes(certificate.statements)
    parts = [_counted(len(stated), "prototype")] if stated else []
    patches = [s.patch for s in certificate.statements if isinstance(s, PatchStatement)]
    if patches:
        parts.append(_counted(len(patches), "comparison") + _where(len(set(patches)), certificate.patches))
    parts += [_clause(s, stated) for s in certificate.statements if isinstance(s, OrderStatement | FloorStatement)]
    return ", ".join(parts) if parts else "nothing has to hold"


def conditions(certificate: Certificate) -> list[str]:
    """What has to hold, as the parts of a sentence that begins "The class is 3 whenever ..."; empty if nothing."""
    stated = stated_prototypes(certificate.statements)
    parts = []
    if stated:
        which = "this prototype is" if len(stated) == 1 else f"these {len(stated)} prototypes are"
        parts.append(f"{which} as active as shown")
    patches = [s.patch for s in certificate.statements if isinstance(s, PatchStatement)]
    if patches:
        what = "comparison with a prototype" if len(patches) == 1 else "comparisons with prototypes"
        comes = "comes" if len(patches) == 1 else "come"
        place = _where(len(set(patches)), certificate.patches)
        parts.append(f"{len(patches)} {what}{place} {comes} out as stated")
    parts += [_clause(s, stated) for s in certificate.statements if isinstance(s, OrderStatement | FloorStatement)]
    return parts


def _where(patches: int, of: int) -> str:
    """Where statements about patches are; nothing if the image is one patch."""
    if of == 1:
        return ""
    return f" in all {of} patches" if patches == of else f" in {patches} of the {of} patches"


def _clause(statement: OrderStatement | FloorStatement, stated: Collection[int]) -> str:
    """A clause. It speaks of every other where it exempts all that have statements, and names the rest of the exempt."""
    if isinstance(statement, OrderStatement):
        bound = f"above {above(statement.upper, _DIGITS)}"
    else:
        bound = f"below {below(statement.lower, _DIGITS)}"
    if not statement.exempt:
        return f"no prototype is {bound}"
    rest = sorted(set(statement.exempt) - set(stated))
    if set(stated) <= set(statement.exempt) and len(rest) <= _NAMED:
        named = f"prototype {rest[0]}" if len(rest) == 1 else f"prototypes {', '.join(map(str, rest))}"
        return f"no other is {bound}" + (f" (except perhaps {named})" if rest else "")
    return f"none but {_counted(len(statement.exempt), 'prototype')}, listed below, may be {bound}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
