"""What who uses the proved checker has to believe, counted: `PYTHONPATH=tests python -m support.believed --write`.

Lines of code of each part, in the table of docs/proved.md: without blank lines, comments and docstrings.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from support.trusted import CHECKER, ROOT, code_lines

ROCQ = ROOT / "proofs" / "rocq"
DOCUMENT = ROOT / "docs" / "proved.md"
_READERS = ("read/formats", "dyadic", "head", "read/head_file", "read/similarities", "certificate", "read/latents")
_OF_PICTURES = ("read/pictures", "read/network_file")
_ASKING = ("claims", "dialogue", "program")
PARTS: dict[str, tuple[Path, ...]] = {
    "the definitions, `Semantics.v`": (ROCQ / "theories" / "Semantics.v",),
    "of minimality besides, `MinimalSemantics.v`": (ROCQ / "theories" / "MinimalSemantics.v",),
    "Python: files to exact numbers": tuple(CHECKER / f"{name}.py" for name in _READERS),
    "Python, of pictures besides: files to exact numbers": tuple(CHECKER / f"{name}.py" for name in _OF_PICTURES),
    "Python: exact numbers to terms of Rocq": (CHECKER / "proved" / "text.py", ROOT / "verale" / "runs" / "terms.py"),
    "Python: exact numbers to a line of text": (CHECKER / "proved" / "text.py",),
    "Python, of origins besides: the file to statements": (CHECKER / "origins.py",),
    "of pictures besides, `NetworkSemantics.v`": (ROCQ / "theories" / "NetworkSemantics.v",),
    "OCaml: the line to records": (ROCQ / "front" / "reader.ml",),
    "OCaml: the line to networks and pictures": (ROCQ / "front" / "network_reader.ml",),
    "OCaml: questions and answers": tuple(
        ROCQ / "front" / f"{name}.ml" for name in ("claims", "answers", "main", "writer", "numbers")
    ),
    "Python: asking, and the steps of an audit": (
        *(CHECKER / "proved" / f"{name}.py" for name in _ASKING),
        CHECKER / "numbers.py",
        CHECKER / "subject.py",
    ),
}
"""The rows of the table, and the files of each."""
_ROW = re.compile(r"^\| ([^|\n]+?) \| (?:\d+ )?\|", re.MULTILINE)
_OPENING = re.compile(r"\d+ lines of\s+definitions")


def lines_of(path: Path) -> int:
    """How many lines of a file of Python, Rocq or OCaml hold code."""
    return code_lines(path) if path.suffix == ".py" else len(_without_comments(path.read_text(encoding="utf-8")))


def _without_comments(text: str) -> list[str]:
    """The lines that are left where comments, which may be nested, are taken out; none of them blank."""
    depth, kept = 0, []
    for token in re.split(r"(\(\*|\*\))", text):
        depth += (token == "(*") - (token == "*)")
        if token not in ("(*", "*)"):
            kept.append(token if depth == 0 else "\n" * token.count("\n"))
    return [line for line in "".join(kept).splitlines() if line.strip()]


def renewed(text: str) -> str:
    """The page with the counts of the files as they are."""
    counts = {part: sum(map(lines_of, files)) for part, files in PARTS.items()}
    text = _ROW.sub(lambda row: f"| {row[1]} | {counts[row[1]]} |" if row[1] in counts else row[0], text)
    return _OPENING.sub(
        lambda found: re.sub(r"\d+", str(lines_of(PARTS[next(iter(PARTS))][0])), found[0], count=1), text
    )


if __name__ == "__main__":
    written = DOCUMENT.read_text(encoding="utf-8")
    current = renewed(written)
    if "--write" in sys.argv[1:]:
        DOCUMENT.write_text(current, encoding="utf-8")
    elif current != written:
        sys.exit(
            "docs/proved.md: the counts are old; renew them with `PYTHONPATH=tests python -m support.believed --write`"
        )
