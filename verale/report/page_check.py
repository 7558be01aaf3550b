"""What the page contains to prove certificates again in the reader's browser: the proved checker, and what it is asked.

The questions are integers in text (`verale.checker.proved.text`), written by the checker's own readers of files. So the
page proves something about these integers; that they are those of the files has to be believed, or written again.
"""

from __future__ import annotations

import hashlib
import zlib
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verale.checker import CheckerError
from verale.checker.certificate import Certificate
from verale.checker.head import Head
from verale.checker.head_file import read_head
from verale.checker.latents import Latents
from verale.checker.proved import SCRIPT
from verale.checker.proved.text import certificate_text, head_text, image_text, prices_text
from verale.errors import InputError
from verale.files import LARGEST_LATENTS, read
from verale.report.collect import Collection

__all__ = ["LARGEST_HEAD", "LARGEST_QUESTION", "Checking", "csp_digest", "deflated"]

LARGEST_HEAD = 64 * 2**20
LARGEST_QUESTION = 8 * 2**20
"""The most characters of a head and of a question that a page contains, before it deflates them. A browser needs some
thirty times as many bytes for them."""


@dataclass(frozen=True)
class Checking:
    """The checker in the page, and what it is asked.

    Attributes:
        script: the program, deflated.
        sha256: of the program.
        csp_digest: the same, as a Content-Security-Policy spells it.
        told: the head, which it is told first, deflated.
    """

    script: str
    sha256: str
    csp_digest: str
    told: str
    _head: Head
    _digest: str
    _latents: Latents | None

    @classmethod
    def of(cls, collection: Collection, notes: list[str]) -> Checking | None:
        """That of a collection with a head; None, and a note, if the head does not fit.

        Raises:
            InputError: no head, or a head or latents file that the checker cannot use, or a head that is no longer the
                collection's.
        """
        path, digest = collection.head_path, None if collection.head is None else collection.head.digest
        if path is None or digest is None:
            raise InputError(collection.folder, "has no head, without which --check can prove nothing: say --head")
        head = _read_head(path)
        if head.sha256 != digest:
            raise InputError(path, "changed while the report was written: run the command again")
        text = b"head " + head_text(head)
        if len(text) > LARGEST_HEAD:
            notes.append(
                f"The page cannot prove again (--check): the head takes {len(text) / 2**20:.3g} MiB of text, and"
                f" {LARGEST_HEAD / 2**20:.3g} MiB fit."
            )
            return None
        script = SCRIPT.read_bytes()
        latents = None if collection.latents_path is None else _read_latents(collection.latents_path, head)
        digests = hashlib.sha256(script).hexdigest(), csp_digest(script)
        return cls(deflated(script), *digests, deflated(text), head, digest, latents)

    def questions(self, certificate: Certificate) -> dict[str, Any]:
        """What is asked about a certificate: `entails`, and `instance` or None; or `why` nothing is."""
        if certificate.head != self._digest:
            return {"why": "the certificate is about another head than that of this page"}
        try:
            certificate.check_against(self._head)
        except CheckerError as error:
            return {"why": str(error)}
        text = certificate_text(certificate)[:-1]
        entails = b"entails %b %b" % (text, prices_text(certificate, self._head.count))
        if len(entails) > LARGEST_QUESTION:
            return {"why": "the certificate is too large for this page"}
        return {"entails": entails.decode(), **self._about_image(certificate, text)}

    def _about_image(self, certificate: Certificate, text: bytes) -> dict[str, str | None]:
        if certificate.latents is None:
            named = "a picture, which verale audit checks" if certificate.picture else "no latents"
            return {"instance": None, "missing": f"the certificate names {named}"}
        image = None if self._latents is None else self._latents.find(certificate.latents)
        if image is None:
            return {"instance": None, "missing": "the report was written without the image's latents"}
        instance = b"instance %b %b" % (text, image_text(image))
        if len(instance) > LARGEST_QUESTION:
            return {"instance": None, "missing": "the image's latents are too large for this page"}
        return {"instance": instance.decode(), "missing": None}


def deflated(data: bytes) -> str:
    """Bytes as the page contains them: deflated, base64."""
    return b64encode(zlib.compress(data, 9)).decode()


def csp_digest(data: bytes) -> str:
    """The SHA-256 of bytes, as a Content-Security-Policy spells it."""
    return b64encode(hashlib.sha256(data).digest()).decode()


def _read_head(path: Path) -> Head:
    try:
        return read_head(read(path, "a head file (.safetensors)"))
    except CheckerError as error:
        raise InputError(path, str(error)) from error


def _read_latents(path: Path, head: Head) -> Latents:
    try:
        return Latents(read(path, "a latents file (.safetensors)", most=LARGEST_LATENTS), head.depth)
    except CheckerError as error:
        raise InputError(path, str(error)) from error
