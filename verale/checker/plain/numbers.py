"""The numbers of a certificate as the rules give them, where the program of the kernel `proved` cannot be asked."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..certificate import ActivationStatement, Certificate, PatchStatement, Statement
from ..numbers import Interval, Numbers
from ..steps import Margins
from .similarity import Box

__all__ = ["numbers_of"]


def numbers_of(certificate: Certificate, box: Box, domain: Box, margins: Margins) -> Numbers:
    """The numbers of a certificate whose statements prove a box and margins; the domain's box is that without any.

    Which statements give an end is told of those about its own prototype; what neighbours say is nobody's.
    """
    activations, of_domain = _intervals(box), _intervals(domain)
    givers = tuple(
        (
            _givers(certificate.statements, j, low, "lower") if low > least else (),
            _givers(certificate.statements, j, high, "upper") if high < most else (),
        )
        for j, ((low, high), (least, most)) in enumerate(zip(activations, of_domain, strict=True))
    )
    proved, wide = (tuple(Interval(*ends) for ends in each) for each in (activations, of_domain))
    return Numbers(proved, wide, margins, givers)


def _intervals(box: Box) -> list[tuple[Fraction, Fraction]]:
    return [
        (Fraction(int(low), 1 << box.bits), Fraction(int(high), 1 << box.bits))
        for low, high in zip(box.lower, box.upper, strict=True)
    ]


def _givers(statements: Sequence[Statement], prototype: int, end: Fraction, side: str) -> tuple[int, ...]:
    """The first statement about the activation that says as much as this end; else all about patches and its
    prototype."""
    for number, each in enumerate(statements):
        if isinstance(each, PatchStatement):
            continue
        about = each.prototype == prototype if isinstance(each, ActivationStatement) else prototype not in each.exempt
        stated = getattr(each, side, None)
        if about and stated is not None and (stated >= end if side == "lower" else stated <= end):
            return (number,)
    return tuple(
        number
        for number, each in enumerate(statements)
        if isinstance(each, PatchStatement) and each.prototype == prototype
    )
