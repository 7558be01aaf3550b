"""What all pages are made of: their templates, their style sheets and scripts."""

from __future__ import annotations

import hashlib
import json
import zlib
from base64 import b64encode
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category

from verale.checker.verdict import printable
from verale.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

_FOLDER = "page_files"


class Bar(NamedTuple):
    """A row of a bar chart: what it is about, its share of a hundred, both in words, and its picture."""

    subject: str
    percent: float
    words: str
    picture: str | None = None


def rendered(name: str, styles: tuple[str, ...], **values: object) -> bytes:
    """The bytes of a page's file, UTF-8 HTML: of its template, with its style sheets, and when which version has
    written it; `values` are those of the other variables of the template, by name."""
    style = joined(styles)
    text = (
        _environment()
        .get_template(name)
        .render(
            version=__version__,
            written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            style=style,
            style_digest=csp_digest(style.encode()),
            **values,
        )
    )
    return text.encode("utf-8", "replace")


@cache
def _environment() -> Environment:
    """That of the templates. What they insert is escaped, also what is not printable: by that a name from a file could
    turn around the digits of numbers that follow it. A name that they do not get is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # which notebooks do not need

    loader = PackageLoader("verale.report", _FOLDER)
    return Environment(
        autoescape=True, undefined=StrictUndefined, loader=loader, trim_blocks=True, finalize=_printable_text
    )


def _printable_text(value: object) -> object:
    """A value that a template inserts; a style sheet, a script and data, which are marked as safe, stay as they are."""
    return printable_on_pages(value) if type(value) is str else value


def printable_on_pages(text: str) -> str:
    """A text on one line, as `printable` gives it, but for what names in many scripts need: spaces of any width stay,
    and so do U+200C and U+200D within a word or an emoji, neither of which changes a direction."""
    if text.isprintable():
        return text
    return "".join(c if _is_for_pages(text, place) else printable(c) for place, c in enumerate(text))


def _is_for_pages(text: str, place: int) -> bool:
    if text[place] not in "\u200c\u200d":
        return category(text[place]) == "Zs"
    beside = text[place - 1 : place], text[place + 1 : place + 2]
    return all(c and category(c)[0] in "LMS" for c in beside)


def joined(names: tuple[str, ...]) -> str:
    """Style sheets, or scripts, as one."""
    folder = files("verale.report") / _FOLDER
    return "\n" + "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def deflated(value: object) -> str:
    """Bytes, or any other value as JSON, as a page contains them: deflated, base64."""
    data = value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()
    return b64encode(zlib.compress(data, 9)).decode()


def csp_digest(data: bytes) -> str:
    """The SHA-256 of bytes, as a Content-Security-Policy spells it."""
    return b64encode(hashlib.sha256(data).digest()).decode()


def last_names(path: str | Path) -> str:
    """The last two names of a path: a page that is sent on does not name the folders of the machine that wrote it."""
    return "/".join(part for part in Path(path).parts[-2:] if part != Path(path).anchor)
