"""The counts of TRUSTED.md: `PYTHONPATH=tests python -m support.trusted --write` renews them.

Only counts and names of files are written. What each file does, and whether it has to be right, stays as it is; a new
file gets a row without a text, which `tests/unit/checker/test_trusted.py` refuses until somebody writes one.
"""

from __future__ import annotations

import ast
import re
import sys
import tokenize
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHECKER = ROOT / "verale" / "checker"
DOCUMENT = ROOT / "TRUSTED.md"
ROW = re.compile(r"^\| `([\w/]+\.py)` \| \d+ \| \d+ \| (yes|no) \| (.*) \|$", re.MULTILINE)
TOTALS = re.compile(r"\d+ files, \d+ lines, \d+ of them code")
SIDES = {
    "right": (),
    "right where only the proved program's verdict is used": (
        "reading/",
        "network/",
        "arithmetic.py",
        "arb.py",
        "series.py",
        "chain.py",
        "deployment.py",
        "least.py",
        "receptive.py",
    ),
    "right where only the reading's is": ("proved/", "receptive.py"),
}
"""What of the files has to be right, in words, and how the names begin of those that are left out."""
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


@cache
def code_lines(path: Path) -> int:
    """How many lines hold code: blank lines, comments and docstrings do not."""
    lines: set[int] = set()
    with path.open(encoding="utf-8") as stream:
        for token in tokenize.generate_tokens(stream.readline):
            if token.type not in _NO_CODE:
                lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines -= set(range(node.lineno, (node.end_lineno or 0) + 1))
    return len(lines)


@cache
def counted() -> dict[str, tuple[int, int]]:
    """For every file of the checker its lines, and how many of them hold code."""
    return {
        path.relative_to(CHECKER).as_posix(): (len(path.read_text(encoding="utf-8").splitlines()), code_lines(path))
        for path in sorted(CHECKER.rglob("*.py"))
    }


def renewed(text: str) -> str:
    """The document with the counts of the files as they are."""
    counts = counted()
    texts = {name: (needed, purpose) for name, needed, purpose in ROW.findall(text)}
    texts = {name: texts.get(name, ("yes", "")) for name in counts}
    rows = [
        f"| `{name}` | {lines} | {code} | {texts[name][0]} | {texts[name][1]} |"
        for name, (lines, code) in counts.items()
    ]
    start, *_, end = [position for match in ROW.finditer(text) for position in match.span()]
    text = text[:start] + "\n".join(rows) + text[end:]
    lines, code = map(sum, zip(*counts.values(), strict=True))
    text = TOTALS.sub(f"{len(counts)} files, {lines} lines, {code} of them code", text)
    for words, left_out in SIDES.items():
        needed = [counts[name] for name, (kind, _) in texts.items() if kind == "yes" and not name.startswith(left_out)]
        right, right_code = map(sum, zip(*needed, strict=True))
        said = rf"\d+ lines, \d+ of them code, have to be {re.escape(words)}(?=[.;,])"
        text = re.sub(said, f"{right} lines, {right_code} of them code, have to be {words}", text)
    return text


if __name__ == "__main__":
    written = DOCUMENT.read_text(encoding="utf-8")
    current = renewed(written)
    if "--write" in sys.argv[1:]:
        DOCUMENT.write_text(current, encoding="utf-8")
    elif current != written:
        sys.exit("TRUSTED.md: the counts are old; renew them with `PYTHONPATH=tests python -m support.trusted --write`")
