"""MkDocs hooks: every file of this repository that a page links to becomes part of the site, and its links work there.

Files of `docs/` are at the root of the site, all other files keep their paths. The front page is README.md.
"""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(?<=\]\()[^)\s#:]+(?=[)#])")
FOREIGN = re.compile(r"<(?:script|img|iframe)[^>]*\ssrc=.?(?:https?:)?//[^>]*>|<link[^>]*\shref=.?(?:https?:)?//[^>]*>")

log = logging.getLogger("mkdocs.hooks.verale")


def path_of(uri: str) -> str:
    """The path in the repository of a file of the site."""
    return f"docs/{uri}" if (ROOT / "docs" / uri).exists() else uri


def linked(path: str, link: str) -> str | None:
    """The file of the repository that a page at `path` links to; None if the link is not to a file of it."""
    target = os.path.normpath(os.path.join(os.path.dirname(path), link))
    return target if (ROOT / target).is_file() else None


def on_files(files: Any, config: Any) -> Any:
    """Add the front page, then all linked files, page after page."""
    files.append(File.generated(config, "README.md", abs_src_path=str(ROOT / "README.md")))
    pages = [path_of(file.src_uri) for file in files.documentation_pages()]
    while pages:
        page = pages.pop()
        for link in LINK.findall((ROOT / page).read_text(encoding="utf-8")):
            target = linked(page, link)
            uri = None if target is None else target.removeprefix("docs/")
            if uri is not None and files.get_file_from_path(uri) is None:
                files.append(File.generated(config, uri, abs_src_path=str(ROOT / str(target))))
                pages += [str(target)] if uri.endswith(".md") else []
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite links so that they work between the files of the site."""
    path = path_of(page.file.src_uri)

    def moved(link: re.Match[str]) -> str:
        target = linked(path, link[0])
        if target is None:
            return link[0]
        return os.path.relpath(target.removeprefix("docs/"), os.path.dirname(page.file.src_uri)).replace(os.sep, "/")

    return LINK.sub(moved, markdown)


def on_post_page(output: str, page: Any, **_: Any) -> None:
    """Warn about a page that loads something from elsewhere; warnings are errors in `make check`."""
    for tag in FOREIGN.findall(output):
        log.warning("%s loads from elsewhere: %s", page.file.src_uri, tag)
