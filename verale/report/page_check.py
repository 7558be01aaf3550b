"""What the page contains to prove certificates again in the reader's browser: the proved checker, and what it is asked.

The questions are integers in text (`verale.checker.proved.text`), written by the checker's own readers of files. So the
page proves something about these integers; that they are those of the files has to be believed, or written again. Of a
picture these integers are its bytes, whose digest the page compares with that in the certificate.
"""

from __future__ import annotations

import hashlib
import zlib
from base64 import b64encode
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
from verale.runs.inputs import find_seen

__all__ = ["LARGEST_HEAD", "LARGEST_QUESTION", "Checking", "csp_digest", "deflated"]

LARGEST_HEAD = 64 * 2**20
LARGEST_QUESTION = 8 * 2**20
"""The most characters of a head, of a network, and of a question that a page contains, before it deflates them. A
browser needs some thirty times as many bytes for them."""


@dataclass(frozen=True)
class SeenInPage:
    """Pictures that the page can prove from their bytes.

    Attributes:
        shape: (C, H, W) of a picture.
        told: the network, which the checker is told before pictures, deflated.
    """

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
    """The checker in the page, and what it is asked.

    Attributes:
        script: the program, deflated.
        sha256: of the program.
        csp_digest: the same, as a Content-Security-Policy spells it.
        told: the head, which it is told first, deflated.
        seen: the network and the pictures, where certificates begin there.
    """

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
        latents = None if collection.latents_path is None else _read_latents(collection.latents_path, head)
        digests = hashlib.sha256(script).hexdigest(), csp_digest(script)
        begins_there = any(item.certificate and item.certificate.picture is not None for item in collection.items)
        seen = SeenInPage.beside(collection.folder, notes) if begins_there and collection.embeds else None
        return cls(deflated(script), *digests, deflated(text), seen, head, latents)

    @property
    def size(self) -> int:
        """How many characters it takes of a page, without the questions."""
        return len(self.script) + len(self.told) + (0 if self.seen is None else len(self.seen.told))

    @property
    def facts(self) -> dict[str, object]:
        """What the page's own script has to know."""
        return {"sha256": self.sha256, "shape": None if self.seen is None else self.seen.shape}

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
        about = "instance" if certificate.picture is None else "pictured"
        question, missing = self._about_image(certificate, text)
        if len(question) > LARGEST_QUESTION:
            question, missing = b"", "the image is too large for this page"
        return {"entails": entails.decode(), about: question.decode() or None, "missing": missing}

    def _about_image(self, certificate: Certificate, text: bytes) -> tuple[bytes, str]:
        """What is asked about the certificate's image; empty, and why, where nothing is."""
        if certificate.picture is not None:
            if self.seen is None:
                return b"", "the report was written without the network and its pictures"
            return self.seen.question(certificate, text)
        if certificate.latents is None:
            return b"", "the certificate names no latents"
        image = None if self._latents is None else self._latents.find(certificate.latents)
        if image is None:
            return b"", "the report was written without the image's latents"
        return b"instance %b %b" % (text, image_text(image)), ""


def _fits(text: bytes, what: str, notes: list[str]) -> bool:
    """Whether a page can hold what its checker reads; otherwise a note says so."""
    if len(text) > LARGEST_HEAD:
        sizes = f"{len(text) / 2**20:.3g} MiB of text, and {LARGEST_HEAD / 2**20:.3g} MiB fit"
        notes.append(f"The page cannot prove again {what} takes {sizes}.")
    return len(text) <= LARGEST_HEAD


def deflated(data: bytes) -> str:
    """Bytes as the page contains them: deflated, base64."""
    return b64encode(zlib.compress(data, 9)).decode()


def csp_digest(data: bytes) -> str:
    """The SHA-256 of bytes, as a Content-Security-Policy spells it."""
    return b64encode(hashlib.sha256(data).digest()).decode()


def _read_latents(path: str, head: Head) -> Latents:
    with naming(path, CheckerError):
        return Latents(read(path, "a latents file (.safetensors)", most=LARGEST_LATENTS), head.depth)
