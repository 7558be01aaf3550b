"""What the page contains to prove certificates again in the reader's browser, the proved checker and what it is asked;
and whether a page is the one that verale writes of the same files.

What a page says of itself proves nothing: who edits it can replace its checker, the digest of that checker, and every
word around it.

The questions are integers in text (`verale.checker.proved.text`), written by the checker's own readers of files. So the
page proves something about these integers; that they are those of the files has to be believed, or written again. Of a
picture these integers are its bytes, whose digest the page compares with that in the certificate.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path

from verale.checker import CheckerError, PictureError
from verale.checker.certificate import Certificate
from verale.checker.errors import UnprovedError
from verale.checker.file_auditor import picture_files
from verale.checker.head import Head
from verale.checker.proved.program import SCRIPT
from verale.checker.proved.text import (
    certificate_text,
    head_text,
    image_text,
    network_text,
    picture_text,
    prices_text,
)
from verale.checker.read.latents import Latents
from verale.checker.read.network_file import LARGEST as LARGEST_NETWORK
from verale.checker.read.network_file import read_network
from verale.checker.read.pictures import Pictures
from verale.errors import InputError, naming, option
from verale.files import LARGEST_LATENTS, opener_of, read
from verale.report.collect import Collection
from verale.report.templates import csp_digest, deflated
from verale.runs.inputs import find_seen
from verale.version import __version__

LARGEST_HEAD = 64 * 2**20
LARGEST_QUESTION = 8 * 2**20
"""The most characters of a head, of a network, and of a question that a page contains, before it deflates them. A
browser needs some thirty times as many bytes for them."""


@dataclass(frozen=True)
class SeenInPage:
    """Pictures (C, H, W) that the page can prove from their bytes; `told` is the network, of which the checker is told
    before them, deflated."""

    shape: tuple[int, int, int]
    told: str
    _sha256: str
    _pictures: Pictures

    @classmethod
    def beside(cls, folder: Path, notes: list[str]) -> SeenInPage | None:
        """Those beside a folder's certificates; None without, and a note where the network is too large."""
        seen = find_seen(folder)
        if seen is None:
            return None
        try:
            network = read_network(read(seen[0], "a network file (.safetensors)", most=LARGEST_NETWORK))
            pictures = Pictures(picture_files(seen[1], opener_of(seen[1]))[0], network.shape)
        except (CheckerError, OSError) as error:
            raise InputError(folder, f"holds a network and pictures that cannot be used: {error}") from error
        text = b"network " + network_text(network)
        if not _fits(text, "from pictures (--provable): the network", notes):
            return None
        return cls(network.shape, deflated(text), network.sha256, pictures)

    def question(self, certificate: Certificate, text: bytes) -> tuple[bytes, str]:
        """What is asked about a certificate's picture; empty, and why, where nothing is."""
        if certificate.network != self._sha256:
            return b"", "the report was written without the network that the certificate names"
        if certificate.arithmetic != "real":
            return b"", "what is proved of a network in float32 is checked by verale audit alone"
        try:
            picture = self._pictures.find(certificate.picture or "")
            if picture is None:
                return b"", "the report was written without the picture"
            return b"pictured %b %b" % (text, picture_text(picture)), ""
        except (PictureError, UnprovedError) as error:
            return b"", f"the report was written without the picture: {error}"


@dataclass(frozen=True)
class Checking:
    """The checker in the page, its program and digests; the head, which it is told first; and the network and the
    pictures, where certificates begin there. What it is told is deflated."""

    script: str
    sha256: str
    csp_digest: str
    told: str
    seen: SeenInPage | None
    _head: Head
    _latents: Latents | None

    @classmethod
    def of(cls, collection: Collection, notes: list[str]) -> Checking | None:
        """That of a collection with a head; None, and a note, if the head does not fit.

        Raises:
            InputError: no head, or a head or latents file that the checker cannot use.
        """
        head = collection.checked_head
        if head is None:
            raise InputError(
                collection.folder,
                f"has no head, without which {option('provable')} can prove nothing: say {option('head')}",
            )
        text = b"head " + head_text(head)
        if not _fits(text, "(--provable): the head", notes):
            return None
        script = SCRIPT.read_bytes()
        latents, path = None, collection.latents_path
        if path is not None:
            with naming(path, CheckerError):
                latents = Latents(read(path, "a latents file (.safetensors)", most=LARGEST_LATENTS), head.depth)
        digests = hashlib.sha256(script).hexdigest(), csp_digest(script)
        begins_there = any(item.certificate and item.certificate.picture is not None for item in collection.items)
        seen = SeenInPage.beside(collection.folder, notes) if begins_there and collection.embeds else None
        return cls(deflated(script), *digests, deflated(text), seen, head, latents)

    @property
    def size(self) -> int:
        """How many characters it takes of a page, without the questions."""
        return len(self.script) + len(self.told) + (0 if self.seen is None else len(self.seen.told))

    def questions(self, certificate: Certificate) -> dict[str, object]:
        """What is asked about a certificate: `entails`, and `pictured` or `instance`, or what is `missing` for both; or
        `why` nothing is."""
        if certificate.head != self._head.sha256:
            return {"why": "the certificate is about another head than that of this page"}
        try:
            certificate.check_against(self._head)
        except CheckerError as error:
            return {"why": str(error)}
        text = certificate_text(certificate)[:-1]
        entails = b"entails %b %b" % (text, prices_text(certificate, self._head.count))
        if len(entails) > LARGEST_QUESTION:
            return {"why": "the certificate is too large for this page"}
        about, question, missing = "instance", b"", ""
        if certificate.picture is not None:
            about, missing = "pictured", "the report was written without the network and its pictures"
            if self.seen is not None:
                question, missing = self.seen.question(certificate, text)
        elif certificate.latents is None:
            missing = "the certificate names no latents"
        elif self._latents is None or (image := self._latents.find(certificate.latents)) is None:
            missing = "the report was written without the image's latents"
        else:
            question = b"instance %b %b" % (text, image_text(image))
        if len(question) > LARGEST_QUESTION:
            question, missing = b"", "the image is too large for this page"
        return {"entails": entails.decode(), about: question.decode() or None, "missing": missing}


def _fits(text: bytes, what: str, notes: list[str]) -> bool:
    """Whether a page can hold what its checker reads; otherwise a note says so."""
    if len(text) > LARGEST_HEAD:
        sizes = f"{len(text) / 2**20:.3g} MiB of text, and {LARGEST_HEAD / 2**20:.3g} MiB fit"
        notes.append(f"The page cannot prove again {what} takes {sizes}.")
    return len(text) <= LARGEST_HEAD


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
    difference = _difference(_text(path), own.decode())
    if difference:
        raise InputError(
            path,
            f"is not the page that verale {__version__} writes of these files: {difference} differs; do not trust it,"
            " and write it anew (its title and other options have to be the same here)",
        )


def _difference(given: str, own: str) -> str:
    """What differs, in words, the checker first; empty if nothing does."""
    for pattern, neutral in _TIMES:
        given, own = pattern.sub(neutral, given, count=1), pattern.sub(neutral, own, count=1)
    texts = [{match[2]: match[3] for match in _EMBEDDED.finditer(text)} for text in (given, own)]
    for name in sorted(texts[1], key=lambda name: (name not in _NAMES, name)):
        held = [texts[0].get(name, ""), texts[1][name]]
        if held[0] == held[1]:
            continue
        if name[0] == "i":
            return f"the picture {name[1:]}"
        there, here = (one.encode() if name == "data" else _inflated(one, held[1]) for one in held)
        if name == "rows":
            there, here = (_TIMES_OF_LIST.sub(b'"audit":[]', one, count=1) for one in (there, here))
        if there != here:
            first = json.loads(texts[1]["data"])["blocks"][int(name[1:])] if re.fullmatch(r"d\d+", name) else None
            return _NAMES.get(name) or _fields(there, here, first)
    shells = [_EMBEDDED.sub(r'\1" id="\2"></script>', text) for text in (given, own)]
    return "" if shells[0] == shells[1] else "its text, its styles or its script"


def _fields(there: bytes, here: bytes, first: int | None) -> str:
    """Which fields of a JSON object differ: of that of all, of the list, or of a block of certificates, `first` its
    first."""
    own, fields = json.loads(here), []
    try:
        given = json.loads(there)
        fields = [name for name in own if json.dumps(given.get(name)) != json.dumps(own[name])]
    except (ValueError, AttributeError, RecursionError):
        given = {}
    if "blocks" in own:
        return ", ".join(fields) or "what it says of all"
    if first is None:
        return f"{', '.join(fields) or 'what is said'} of the list"
    lists = {name: given[name] if isinstance(given.get(name), list) else [] for name in fields}
    for place in range(len(own["text"])):
        differing = [name for name in fields if lists[name][place : place + 1] != [own[name][place]]]
        if differing:
            return f"{', '.join(differing)} of certificate {first + place}"
    return f"what is said of the certificates from {first} on"


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
