"""What all pages are made of: their templates, their style sheets and scripts."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from verale.report.page_check import csp_digest
from verale.version import __version__

__all__ = ["Bar", "joined", "last_names", "rendered"]

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
    text = _template(name).render(
        version=__version__,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        style=style,
        style_digest=csp_digest(style.encode()),
        **values,
    )
    return text.encode("utf-8", "replace")


def last_names(path: str | Path, most: int = 2) -> str:
    """The last names of a path: a page that is sent on does not name the folders of the machine that wrote it."""
    return "/".join(part for part in Path(path).parts[-most:] if part != Path(path).anchor)


@cache
def _template(name: str) -> Template:
    """A page's template. What it inserts is escaped, and a name that it does not get is an error."""
    loader = PackageLoader("verale.report", _FOLDER)
    environment = Environment(autoescape=True, undefined=StrictUndefined, loader=loader, trim_blocks=True)
    return environment.get_template(name)


def joined(names: tuple[str, ...]) -> str:
    """Style sheets, or scripts, as one."""
    folder = files("verale.report") / _FOLDER
    return "\n" + "\n".join((folder / name).read_text(encoding="utf-8") for name in names)
