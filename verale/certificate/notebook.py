"""A certificate as a small piece of HTML for notebooks: no script, nothing from anywhere else."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from verale.certificate.words import NOT_PROVED, above, below, claim

if TYPE_CHECKING:
    from verale.certificate.record import Certificate, Statement

__all__ = ["html"]

_STATEMENTS, _RIVALS = 10, 5
"""How many are shown."""


def html(certificate: Certificate) -> str:
    """What the certificate claims, its closest rivals and its first statements. Whatever a file may hold is escaped."""
    from verale.certificate.record import ActivationStatement, OrderStatement

    spatial = not any(isinstance(s, (ActivationStatement, OrderStatement)) for s in certificate.statements)
    margins = [(margin, rival) for rival, margin in enumerate(certificate.margins) if margin is not None]
    predicted = f"class {certificate.predicted}"
    said = (
        claim(predicted, certificate.size, below(certificate.margin, 4), spatial) if margins else "Nothing: no rivals."
    )
    closest = [(f"class {rival}", f"at least {below(margin, 4)}") for margin, rival in sorted(margins)[:_RIVALS]]
    stated = [_row(statement) for statement in certificate.statements[:_STATEMENTS]]
    digests = [("head", certificate.head), ("latents", certificate.latents or "none named")]
    return "\n".join(
        [
            f"<div><p><b>Certificate: {escape(predicted)}</b>, {escape(certificate.paradigm)}, {certificate.size}"
            " statements. Claimed, and not audited here:</p>",
            f"<p>{escape(said)}</p><p><small>{escape(NOT_PROVED)}</small></p>",
            _table("Margins", ("rival", "below"), closest, len(margins)),
            _table("Statements", ("of", "in"), stated, certificate.size),
            _table("Digests (SHA-256)", ("of", "is"), digests, len(digests)),
            "</div>",
        ]
    )


def _row(statement: Statement) -> tuple[str, str]:
    from verale.certificate.record import OrderStatement, PatchStatement

    if isinstance(statement, OrderStatement):
        return "every other prototype", f"at most {above(statement.upper)}"
    interval = f"[{below(statement.lower)}, {above(statement.upper)}]"
    if isinstance(statement, PatchStatement):
        return f"patch {statement.patch}, prototype {statement.prototype}", interval
    return f"activation of prototype {statement.prototype}", interval


def _table(title: str, headings: tuple[str, str], rows: list[tuple[str, str]], total: int) -> str:
    """A table; how many lines there are in all, where not all are shown."""
    if not rows:
        return ""
    more = "" if len(rows) == total else f", {len(rows)} of {total}"
    lines = "".join(f"<tr><td>{escape(left)}</td><td>{escape(right)}</td></tr>" for left, right in rows)
    heading = "".join(f'<th scope="col">{name}</th>' for name in headings)
    return f"<table><caption>{title}{more}</caption><thead><tr>{heading}</tr></thead><tbody>{lines}</tbody></table>"
