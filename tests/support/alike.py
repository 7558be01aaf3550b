"""Certificates that are the same but for last bits, which depend on the batch, the processor and matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isclose

from verale.certificate import Certificate, FloorStatement, OrderStatement, Statement, SumStatement
from verale.search import Unexplained


def alike(first: Sequence[Certificate | Unexplained], second: Sequence[Certificate | Unexplained]) -> bool:
    """Whether they say the same of the same latents: statements one for one, ends and margins to six digits."""
    return len(first) == len(second) and all(_alike(one, other) for one, other in zip(first, second, strict=True))


def _alike(first: Certificate | Unexplained, second: Certificate | Unexplained) -> bool:
    if isinstance(first, Unexplained) or isinstance(second, Unexplained):
        return first == second
    return (
        (first.head, first.latents, first.predicted) == (second.head, second.latents, second.predicted)
        and (first.paradigm, first.minimal) == (second.paradigm, second.minimal)
        and list(map(_about, first.statements)) == list(map(_about, second.statements))
        and _close(
            [end for each in first.statements for end in _ends(each)],
            [end for each in second.statements for end in _ends(each)],
        )
        and _close(first.margins, second.margins)
    )


def _about(statement: Statement) -> object:
    """What a statement is about."""
    if isinstance(statement, OrderStatement | FloorStatement):
        return type(statement), statement.exempt
    if isinstance(statement, SumStatement):
        return SumStatement, statement.rivals
    return getattr(statement, "patch", None), statement.prototype


def _ends(statement: Statement) -> list[float]:
    """The ends; of a side without one an infinite one."""
    return [getattr(statement, "lower", -inf), getattr(statement, "upper", inf)]


def _close(first: Sequence[float | None], second: Sequence[float | None]) -> bool:
    return len(first) == len(second) and all(
        one == other if one is None or other is None else isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
        for one, other in zip(first, second, strict=True)
    )
