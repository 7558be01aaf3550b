"""An explanation in words for people who have not met prototypes before: what has to hold, and what follows.

Decimals are rounded to a few digits here. The statements in full, and the claim in the checker's words, are beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from verale.certificate.words import above, below, between
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

_COMPARED = 4
"""The most comparisons that are named one by one."""
_NAMED = 3
"""The most prototypes that are named as exempt without a statement of their own."""


def stated_prototypes(statements: Sequence[Statement]) -> tuple[int, ...]:
    """The prototypes whose activations have statements, in the certificate's order."""
    return tuple(s.prototype for s in statements if isinstance(s, ActivationStatement))


def in_brief(certificate: Certificate) -> str:
    """What an explanation consists of, in a few words: `5 prototypes, no other above 0.36`."""
    stated = stated_prototypes(certificate.statements)
    parts = [_counted(len(stated), "prototype")] if stated else []
    compared = [s for s in certificate.statements if isinstance(s, PatchStatement)]
    if _few(compared, certificate.patches):
        parts += [f"prototype {s.prototype} {_ends(s)}" for s in compared]
    elif compared:
        parts.append(_counted(len(compared), "comparison") + _where(compared, certificate.patches))
    parts += [_clause(s, stated) for s in certificate.statements if isinstance(s, OrderStatement | FloorStatement)]
    return ", ".join(parts) if parts else "nothing has to hold"


def conditions(certificate: Certificate, observable: str = "comparison") -> list[str]:
    """What has to hold, as the parts of a sentence that begins "The class is 3 whenever ..."; empty if nothing.

    Args:
        certificate: whose statements have to hold.
        observable: what comparing a patch with a prototype gives, such as `squared distance`.
    """
    stated = stated_prototypes(certificate.statements)
    parts = []
    if stated:
        which = "this prototype is" if len(stated) == 1 else f"these {len(stated)} prototypes are"
        parts.append(f"{which} as active as shown")
    compared = [s for s in certificate.statements if isinstance(s, PatchStatement)]
    if _few(compared, certificate.patches):
        parts += [
            f"its {observable} {'to' if 'distance' in observable else 'with'} prototype {s.prototype} is {_ends(s)}"
            for s in compared
        ]
    elif compared:
        what = "comparison with a prototype" if len(compared) == 1 else "comparisons with prototypes"
        comes = "comes" if len(compared) == 1 else "come"
        parts.append(f"{len(compared)} {what}{_where(compared, certificate.patches)} {comes} out as stated")
    parts += [_clause(s, stated) for s in certificate.statements if isinstance(s, OrderStatement | FloorStatement)]
    return parts


def _few(compared: Sequence[PatchStatement], patches: int) -> bool:
    """Whether comparisons are named one by one: a few, of an image that is one patch."""
    return patches == 1 and len(compared) <= _COMPARED


def _ends(statement: PatchStatement) -> str:
    if statement.lower is None or statement.upper is None:
        return between(statement.lower, statement.upper, _DIGITS)
    return f"{below(statement.lower, _DIGITS)} to {above(statement.upper, _DIGITS)}"


def _where(compared: Sequence[PatchStatement], of: int) -> str:
    """Where statements about patches are; nothing if the image is one patch."""
    patches = len({statement.patch for statement in compared})
    if of == 1:
        return ""
    return f" in all {of} patches" if patches == of else f" in {patches} of the {of} patches"


def _clause(statement: OrderStatement | FloorStatement, stated: Collection[int]) -> str:
    """A clause. "No other" only where all that have statements are exempt; what else is exempt is named."""
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
