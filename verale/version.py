"""The version of the installed distribution, and how to add extras to it."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution, version
from shlex import quote
from urllib.parse import unquote, urlsplit

try:
    __version__ = version("verale")
except PackageNotFoundError:
    __version__ = "0+uninstalled"


def installing(*extras: str) -> str:
    """The command that adds extras to verale, from where this one was installed: a folder, a file, a repository, an
    index. Of the name alone an index might give something else.

    Reference: PEP 610, `direct_url.json`.
    """
    chosen = f"[{','.join(extras)}]"
    try:
        noted = distribution("verale").read_text("direct_url.json")
    except PackageNotFoundError:
        return f"pip install {quote(f'.{chosen}')}, in a clone of verale"
    origin = {} if noted is None else json.loads(noted)
    address, repository = origin.get("url", ""), origin.get("vcs_info")
    if repository is not None:
        address = f"{repository['vcs']}+{address}@{repository['commit_id']}"
    if not address.startswith("file://"):
        return f"pip install {quote(f'verale{chosen} @ {address}' if address else f'verale{chosen}')}"
    editable = "--editable " if origin.get("dir_info", {}).get("editable") else ""
    return f"pip install {editable}{quote(unquote(urlsplit(address).path) + chosen)}"
