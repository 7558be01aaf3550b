"""A certificate as a small piece of HTML for notebooks, without scripts and without outside resources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from verale.certificate.statements import PatchStatement, Statement
from verale.certificate.words import NOT_PROVED, below, claim, subjects

__all__ = ["html"]

_STATEMENTS, _RIVALS = 10, 5
"""How many statements and rivals are shown."""


def html(
    predicted: int,
    paradigm: str,
    statements: Sequence[Statement],
    margins: Sequence[float | None],
    digests: Mapping[str, str],
) -> str:
    """What a certificate claims, its closest rivals and its first statements. All text from the file is escaped."""
    patches = [isinstance(statement, PatchStatement) for statement in statements]
    about = subjects(any(patches), not all(patches))
    proved = sorted((margin, rival) for rival, margin in enumerate(margins) if margin is not None)
    name, size = f"class {predicted}", len(statements)
    claimed = claim(name, size, below(proved[0][0], 4), about) if proved else "Nothing: no rivals."
    closest = [(f"class {rival}", f"at least {below(margin, 4)}") for margin, rival in proved[:_RIVALS]]
    stated = [statement.in_words() for statement in statements[:_STATEMENTS]]
    return "\n".join(
        [
            f"<div><p><b>Certificate: {escape(name)}</b>, {escape(paradigm)}, {size}"
            " statements. Claimed, and not audited here:</p>",
            f"<p>{escape(claimed)}</p><p><small>{escape(NOT_PROVED)}</small></p>",
            _table("Margins", ("rival", "below"), closest, len(proved)),
            _table("Statements", ("of", "in"), stated, size),
            _table("Digests (SHA-256)", ("of", "is"), list(digests.items()), len(digests)),
            "</div>",
        ]
    )


def _table(title: str, headings: tuple[str, str], rows: list[tuple[str, str]], total: int) -> str:
    """A table. Its caption gives the total where not all rows are shown."""
    if not rows:
        return ""
    more = "" if len(rows) == total else f", {len(rows)} of {total}"
    lines = "".join(f"<tr><td>{escape(left)}</td><td>{escape(right)}</td></tr>" for left, right in rows)
    heading = "".join(f'<th scope="col">{name}</th>' for name in headings)
    return f"<table><caption>{title}{more}</caption><thead><tr>{heading}</tr></thead><tbody>{lines}</tbody></table>"
