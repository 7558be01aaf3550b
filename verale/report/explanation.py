"""An explanation in words for people who have not met prototypes before: what has to hold, and what follows.

Its numbers are the statements' own. The statements in full, and the claim in the checker's words, are beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

from verale.certificate.words import between, enumerated, lower_end, upper_end
from verale.checker.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    Statement,
)

__all__ = ["conditions", "in_brief", "named_prototypes", "stated_prototypes"]

_COMPARED = 4
"""The most comparisons that are named one by one."""
_NAMED = 3
"""The most prototypes of which a clause says that it does, or does not, mean them too."""


def stated_prototypes(statements: Sequence[Statement]) -> tuple[int, ...]:
    """The prototypes whose activations have statements, in the certificate's order."""
    return tuple(s.prototype for s in statements if isinstance(s, ActivationStatement))


def named_prototypes(certificate: Certificate, count: int | None = None) -> tuple[int, ...]:
    """The prototypes to show with an explanation: those of statements that are named one by one, and the few that a
    floor speaks of.

    Args:
        certificate: whose statements are meant.
        count: how many prototypes the head has, if that is known.
    """
    compared = [s for s in certificate.statements if isinstance(s, PatchStatement)]
    named = [s.prototype for s in compared] if _few(compared, certificate.patches) else []
    named += stated_prototypes(certificate.statements)
    for statement in certificate.statements:
        if isinstance(statement, FloorStatement) and count is not None and count - len(statement.exempt) <= _COMPARED:
            named += sorted(set(range(count)).difference(statement.exempt))
    return tuple(dict.fromkeys(named))


def in_brief(certificate: Certificate, count: int | None = None) -> str:
    """What an explanation consists of, in a few words: `5 prototypes as active as stated; no other is active above 1`.

    Args:
        certificate: whose statements are meant.
        count: how many prototypes the head has, if that is known.
    """
    stated = stated_prototypes(certificate.statements)
    if len(stated) <= _NAMED:
        parts = [
            f"prototype {s.prototype} is active {_ends(s)}"
            for s in certificate.statements
            if isinstance(s, ActivationStatement)
        ]
    else:
        parts = [f"{_counted(len(stated), 'prototype')} as active as stated"]
    compared = [s for s in certificate.statements if isinstance(s, PatchStatement)]
    if _few(compared, certificate.patches):
        parts += [f"prototype {s.prototype} {_ends(s)}" for s in compared]
    elif compared:
        parts.append(_counted(len(compared), "comparison") + _where(compared, certificate.patches))
    parts += _clauses(certificate.statements, count, "")
    return "; ".join(parts) if parts else "nothing has to hold"


def conditions(certificate: Certificate, observable: str = "comparison", count: int | None = None) -> list[str]:
    """What has to hold, as the parts of a sentence that begins "The class is 3 whenever ..."; empty if nothing.

    Args:
        certificate: whose statements have to hold.
        observable: what comparing a patch with a prototype gives, such as `squared distance`.
        count: how many prototypes the head has, if that is known.
    """
    stated = stated_prototypes(certificate.statements)
    parts = []
    if stated:
        which = "this prototype is" if len(stated) == 1 else f"these {len(stated)} prototypes are"
        parts.append(f"{which} as active as shown")
    compared = [s for s in certificate.statements if isinstance(s, PatchStatement)]
    if _few(compared, certificate.patches):
        to = "to" if "distance" in observable else "with"
        parts += [f"the image's {observable} {to} prototype {s.prototype} is {_ends(s)}" for s in compared]
    elif compared:
        what = "comparison with a prototype" if len(compared) == 1 else "comparisons with prototypes"
        comes = "comes" if len(compared) == 1 else "come"
        parts.append(f"{len(compared)} {what}{_where(compared, certificate.patches)} {comes} out as stated")
    return parts + _clauses(certificate.statements, count, ", listed below,")


def _few(compared: Sequence[PatchStatement], patches: int) -> bool:
    """Whether comparisons are named one by one: a few, of an image that is one patch."""
    return patches == 1 and len(compared) <= _COMPARED


def _ends(statement: PatchStatement | ActivationStatement) -> str:
    if statement.lower is None or statement.upper is None:
        return between(statement.lower, statement.upper)
    return f"from {lower_end(statement.lower)} to {upper_end(statement.upper)}"


def _where(compared: Sequence[PatchStatement], of: int) -> str:
    """Where statements about patches are; nothing if the image is one patch."""
    patches = len({statement.patch for statement in compared})
    if of == 1:
        return ""
    return f" in all {of} patches" if patches == of else f" in {patches} of the {of} patches"


def _clauses(statements: Sequence[Statement], count: int | None, unnamed: str) -> list[str]:
    """The clauses in words.

    Args:
        statements: all statements.
        count: how many prototypes there are, if that is known.
        unnamed: what follows the number of prototypes that are not named.
    """
    ends = {s.prototype: (s.lower, s.upper) for s in statements if isinstance(s, ActivationStatement)}
    words = []
    for statement in sorted(statements, key=lambda s: isinstance(s, OrderStatement)):  # floors first
        if isinstance(statement, OrderStatement):
            end = upper_end(statement.upper)
            inside, outside = f"active at most {end}", f"active above {end}"
            bounded = {j for j, (_, upper) in ends.items() if upper is not None and upper <= statement.upper}
        elif isinstance(statement, FloorStatement):
            end = lower_end(statement.lower)
            inside, outside = f"active at least {end}", f"active below {end}"
            bounded = {j for j, (lower, _) in ends.items() if lower is not None and lower >= statement.lower}
        else:
            continue
        words.append(_clause(statement.exempt, bounded, set(ends), count, (inside, outside), unnamed))
    return list(filter(None, words))


def _clause(
    listed: Sequence[int], bounded: set[int], stated: set[int], count: int | None, bounds: tuple[str, str], unnamed: str
) -> str:
    """A clause, by the prototypes that it speaks of where they are fewer than those that it exempts.

    Those with a statement of their own that says as much are not named: the clause says nothing of them.
    Empty if it says nothing of any other.
    """
    inside, outside = bounds
    exempt = bounded.union(listed)
    if count is not None and count - len(exempt) < len(exempt):
        meant = [j for j in range(count) if j not in exempt]
        if not meant:
            return ""
        who = _prototypes(meant) if len(meant) <= _COMPARED else f"{count - len(set(listed))} prototypes{unnamed}"
        return f"{who} {'is' if len(meant) == 1 else 'are'} {inside}"
    if not exempt:
        return f"no prototype is {outside}"
    too, but = sorted(stated - exempt), sorted(exempt - stated)
    if max(len(too), len(but)) > _NAMED:
        return f"only {_counted(len(listed), 'prototype')}{unnamed} may be {outside}"
    if not stated:
        return f"only {_prototypes(but)} may be {outside}"
    who = f"neither {_prototypes(too)} nor any other" if too else "no other"
    return f"{who} is {outside}{f', except perhaps {_prototypes(but)}' if but else ''}"


def _prototypes(names: Sequence[int]) -> str:
    return ("prototype " if len(names) == 1 else "prototypes ") + enumerated(list(map(str, names)))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
