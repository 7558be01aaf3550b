"""Whether a page is the one that verale writes of the same files. What a page says of itself proves nothing: who edits
it can replace its checker, the digest of that checker, and every word around it."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path

from verale.errors import InputError
from verale.files import read
from verale.version import __version__

__all__ = ["holds_checker", "require_same"]

_EMBEDDED = re.compile(r'(?<=<script type=")(application/json|text/plain)" id="([\w-]+)">([^<]*)</script>')
"""What a page contains beside its own text; `<` is escaped in all of it."""

_TIMES = (
    (re.compile(r"\. Written \d{4}-\d\d-\d\d \d\d:\d\d UTC by "), ". Written by "),
    (re.compile(r"<dt>median seconds to audit</dt><dd>[0-9.e+-]{1,12}</dd>"), ""),
)
_TIMES_OF_LIST = re.compile(rb'"audit":\[[0-9., eul+n-]*\]')
"""When a page was written, and how long its audit took: numbers, which may differ."""

_NAMES = {
    "checker": "the checker's script",
    "head-text": "the head that its checker is told",
    "network-text": "the network that its checker is told",
}


def holds_checker(path: Path) -> bool:
    """Whether a page contains a checker. Raises InputError."""
    return '<script type="text/plain" id="checker">' in _text(path)


def require_same(path: Path, own: bytes) -> None:
    """Raise InputError unless a page is `own`, which verale has just written, but for times.

    Soundness: everything that is not a time is compared as text, or as what it is deflated from. So whatever makes the
    page look or act otherwise is a difference.
    """
    difference = next(_differences(_text(path), own.decode()), None)
    if difference is not None:
        raise InputError(
            path,
            f"is not the page that verale {__version__} writes of these files: {difference} differs; do not trust it,"
            " and write it anew (its title and other options have to be the same here)",
        )


def _differences(given: str, own: str) -> Iterator[str]:
    """What differs, in words; the checker first."""
    for pattern, neutral in _TIMES:
        given, own = pattern.sub(neutral, given, count=1), pattern.sub(neutral, own, count=1)
    texts = [{match[2]: match[3] for match in _EMBEDDED.finditer(text)} for text in (given, own)]
    for name in sorted(texts[1], key=lambda name: (name not in _NAMES, name)):
        there, here = texts[0].get(name, ""), texts[1][name]
        if there == here:
            continue
        if name in _NAMES:
            if _inflated(there, here) != _inflated(here, here):
                yield _NAMES[name]
        elif name == "data":
            yield ", ".join(_fields(there, here)) or "what it says of all"
        elif name == "rows":
            yield from _list(there, here)
        elif name[0] == "i":
            yield f"the picture {name[1:]}"
        else:
            yield from _details(there, here, json.loads(texts[1]["data"])["blocks"][int(name[1:])])
    shells = [_EMBEDDED.sub(r'\1" id="\2"></script>', text) for text in (given, own)]
    if shells[0] != shells[1]:
        yield "its text, its styles or its script"


def _list(there: str, here: str) -> Iterator[str]:
    """What differs of the list, but for the times."""
    inflated, expected = (_TIMES_OF_LIST.sub(b'"audit":[]', _inflated(one, here), count=1) for one in (there, here))
    if inflated != expected:
        fields = _fields(inflated.decode(errors="replace"), expected.decode())
        yield f"{', '.join(fields) or 'what is said'} of the list"


def _details(there: str, here: str, first: int) -> Iterator[str]:
    """What differs of the details of some certificates, of which the first one has this number."""
    inflated, expected = _inflated(there, here), _inflated(here, here)
    if inflated != expected:
        fields = _fields(inflated.decode(errors="replace"), expected.decode())
        given, own = (json.loads(one) if fields else {} for one in (inflated, expected))
        for place in range(len(own["text"]) if fields else 0):
            differing = [name for name in fields if _at(given.get(name), place) != own[name][place]]
            if differing:
                yield f"{', '.join(differing)} of certificate {first + place}"
        yield f"what is said of the certificates from {first} on"


def _at(values: object, place: int) -> object:
    return values[place] if isinstance(values, list) and place < len(values) else None


def _fields(there: str, here: str) -> list[str]:
    """The fields of a JSON object that differ."""
    try:
        given, own = json.loads(there), json.loads(here)
        return [name for name in own if json.dumps(given.get(name)) != json.dumps(own[name])]
    except (ValueError, AttributeError, RecursionError):
        return []


def _inflated(deflated: str, own: str) -> bytes:
    """What base64 text is deflated from, or its beginning: at most some times what `own` is, whoever wrote it."""
    try:
        most = len(zlib.decompress(b64decode(own)))
        return zlib.decompressobj().decompress(b64decode(deflated, validate=True), 2 * most + 2**16)
    except (ValueError, zlib.error):
        return b""


def _text(path: Path) -> str:
    try:
        return read(path, "a page that verale report wrote").decode()
    except UnicodeDecodeError as error:
        raise InputError(path, "is not a page that verale report wrote: it is not UTF-8") from error
