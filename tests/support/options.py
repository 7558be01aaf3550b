"""The tables of options in docs/cli.md, made of the fields: `PYTHONPATH=tests python -m support.options --write`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from verale.checker.options import AuditOptions
from verale.options import options_of
from verale.runs.options import RunOptions
from verale.search.options import SearchOptions

DOCUMENT = Path(__file__).parents[2] / "docs" / "cli.md"
KINDS: dict[str, tuple[str, type]] = {
    "explanation": ("What an explanation is to be", SearchOptions),
    "audit": ("What an audit proves", AuditOptions),
    "run": ("How a run runs", RunOptions),
}
"""Each dataclass of options, by the name of its table."""
_TABLE = "<!-- options: {name} -->\n\n{rows}\n\n<!-- end -->"


def flag(name: str) -> str:
    """The option of a field."""
    return f"--{name.replace('_', '-')}"


def rows(title: str, kind: type) -> str:
    """A table: each option, its name in Python, its default, and its help."""
    lines = [f"| {title} | in Python | default | |", "|---|---|---|---|"]
    for name, field in options_of(kind).items():
        empty = isinstance(field.default, bool) or field.default is None or "several" in field.metadata
        default = "" if empty else f"`{field.default}`"
        lines.append(f"| `{flag(name)}` | `{name}` | {default} | {field.metadata['help']} |")
    return "\n".join(lines)


def renewed(text: str) -> str:
    """The page with the tables that the fields give."""
    for name, (title, kind) in KINDS.items():
        made = _TABLE.format(name=name, rows=rows(title, kind))
        text = re.sub(rf"<!-- options: {name} -->.*?<!-- end -->", lambda _, made=made: made, text, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    given = DOCUMENT.read_text(encoding="utf-8")
    if "--write" in sys.argv[1:]:
        DOCUMENT.write_text(renewed(given), encoding="utf-8")
    sys.exit("--write" not in sys.argv[1:] and given != renewed(given))
