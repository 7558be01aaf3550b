"""docs/proved.md: the lines that have to be believed are those that there are."""

from __future__ import annotations

import re

from support.believed import DOCUMENT, PARTS, lines_of, renewed

TEXT = DOCUMENT.read_text(encoding="utf-8")


def test_the_counts_are_those_of_the_files() -> None:
    """If not: `PYTHONPATH=tests python -m support.believed --write`."""
    assert renewed(TEXT) == TEXT
    assert all(f"| {part} |" in TEXT for part in PARTS)


def test_old_counts_do_not_pass() -> None:
    """Else the test above could not fail."""
    for part in PARTS:
        old = re.sub(rf"\| {re.escape(part)} \| \d+", f"| {part} | 1", TEXT)
        assert old != TEXT and renewed(old) == TEXT
    old = re.sub(r"\d+ lines of\s+definitions", "7 lines of definitions", TEXT)
    assert old != TEXT and " 7 lines" not in renewed(old)


def test_comments_and_blank_lines_do_not_count(tmp_path) -> None:
    path = tmp_path / "a.v"
    path.write_text("(** a\n (* nested *)\n b *)\n\nDefinition x := 1. (* c *)\n  (* d *)\nDefinition y := 2.\n")
    assert lines_of(path) == 2
