"""What all pages are made of: their templates, their style sheets and scripts, and how they write a share."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

__all__ = ["joined", "percent", "template"]

_FOLDER = "page_files"


@cache
def template(name: str) -> Template:
    """A page's template. What it inserts is escaped, and a name that it does not get is an error."""
    loader = PackageLoader("verale.report", _FOLDER)
    environment = Environment(autoescape=True, undefined=StrictUndefined, loader=loader, trim_blocks=True)
    return environment.get_template(name)


def joined(names: tuple[str, ...]) -> str:
    """Style sheets, or scripts, as one."""
    folder = files("verale.report") / _FOLDER
    return "\n" + "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def percent(part: int, whole: int) -> str:
    """A share, rounded down: it is 100 % only if it is all."""
    return f"{1000 * part // whole / 10:.1f} %"
