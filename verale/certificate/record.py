"""The certificate: a frozen record of its claims, which checks its form when built (certificates/v1.md), and its bytes:
UTF-8 JSON with hex floats."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from html import escape
from importlib import import_module
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

from verale.certificate.statements import (
    Prices,
    Statement,
    check_increasing,
    check_indices,
    counted,
    statement_of,
)
from verale.certificate.words import below
from verale.checker.certificate import read_certificate
from verale.checker.errors import FormatError
from verale.errors import CertificateError, UsageError, VeraleError, naming
from verale.files import read, write_atomically
from verale.paradigms import PARADIGMS


@dataclass(frozen=True)
class Certificate:
    """An explanation with its guarantee.

    Attributes:
        head: SHA-256 (hex) of the head's file.
        latents: SHA-256 (hex) of the image's latents, or None. With None, and no picture, the certificate claims
            nothing of an image.
        predicted: the class that is entailed.
        paradigm: how bounds follow from the statements.
        patches: L.
        statements: the explanation E.
        margins: for each class a proved lower bound > 0 of o_predicted - o_class under E; None at the
            predicted class.
        minimal: whether the certificate claims that every statement is needed, by the reference ranges.
        version: the version of verale that wrote it.
        prices: hints of the paradigm `assignment`, rival by rival.
        network, picture: SHA-256 (hex) of a network's file and of a picture; then the certificate claims its statements
            of all latents that the network can give for the picture, in this `arithmetic`: `real` or `float32`.

    Raises:
        CertificateError: a record that certificates/v1.md rejects.
    """

    head: str
    latents: str | None
    predicted: int
    paradigm: str
    patches: int
    statements: tuple[Statement, ...]
    margins: tuple[float | None, ...]
    minimal: bool
    version: str
    prices: tuple[Prices, ...] = ()
    network: str | None = None
    picture: str | None = None
    arithmetic: str | None = None

    def __post_init__(self) -> None:
        check_indices(self.predicted, self.patches)
        for name in ("head", "latents", "network", "picture"):
            digest = getattr(self, name)
            if digest is not None and (len(digest) != 64 or set(digest) - set("0123456789abcdef")):
                raise CertificateError(f"the {name} digest is {digest!r}, expected 64 hexadecimal digits")
        of_picture = {self.network is None, self.picture is None, self.arithmetic is None}
        if len(of_picture) > 1 or (self.picture is not None and self.latents is not None):
            raise CertificateError(
                "names a part of network, picture and arithmetic, or latents too; expected all or none"
            )
        if self.arithmetic not in (None, "real", "float32"):
            raise CertificateError(f"arithmetic is {shortened(self.arithmetic)}, expected real or float32")
        if self.minimal and self.paradigm in PARADIGMS and not PARADIGMS[self.paradigm].minimal:
            raise CertificateError(f"minimal is claimed under {self.paradigm}, under which no certificate can claim it")
        for rival, margin in enumerate(self.margins):
            if (margin is None) != (rival == self.predicted):
                raise CertificateError(
                    f"margin {rival} is {margin}, expected None for the predicted class {self.predicted}"
                    " and a number for every other class"
                )
            if margin is not None and not 0 < margin < math.inf:
                raise CertificateError(f"margin {rival} is {margin}, expected a positive finite number")
        check_increasing([each.rival for each in self.prices], "the rivals with prices")

    @property
    def size(self) -> int:
        """The number of statements."""
        return len(self.statements)

    @property
    def margin(self) -> float:
        """The least margin over all rivals."""
        return min(margin for margin in self.margins if margin is not None)

    def of_latents(self, latents: str | None = None) -> Certificate:
        """The same about latents with this digest, or about no image; not about a picture."""
        return replace(self, latents=latents, network=None, picture=None, arithmetic=None)

    def to_bytes(self) -> bytes:
        """The bytes of the certificate's file; the same certificate gives the same bytes."""
        subject = [{"name": "head", "digest": {"sha256": self.head}}]
        claims = ["entailment"]
        if self.latents is not None:
            subject.append({"name": "latents", "digest": {"sha256": self.latents}})
            claims.append("instance")
        if self.picture is not None:
            subject += [{"name": name, "digest": {"sha256": getattr(self, name)}} for name in ("network", "picture")]
            claims.append("picture")
        if self.minimal:
            claims.append("minimality")
        predicate = {
            "predicted": self.predicted,
            "paradigm": self.paradigm,
            "patches": self.patches,
            "statements": [statement.to_json() for statement in self.statements],
            "margins": [None if margin is None else margin.hex() for margin in self.margins],
            "claims": claims,
            "hints": {"prices": [each.to_json() for each in self.prices]} if self.prices else {},
            "generator": {"name": "verale", "version": self.version},
        }
        if self.arithmetic is not None:
            predicate["arithmetic"] = self.arithmetic
        return encode(subject, predicate)

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Certificate:
        """What the checker reads of these bytes, as numbers to compute with; nothing is proved. Raises
        CertificateError; UsageError: something else than bytes."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise UsageError(
                f"{shortened(data)} is given for a certificate's bytes, expected bytes; Certificate.load(path) reads a"
                " file, and .encode() gives the bytes of a text"
            )
        try:
            given = read_certificate(data if isinstance(data, bytes) else bytes(data))
        except FormatError as error:
            raise CertificateError(f"is not a certificate: {error}") from error
        return cls(
            **{name: getattr(given, name) for name in _ALIKE},
            statements=tuple(map(statement_of, given.statements)),
            margins=tuple(None if margin is None else float(margin) for margin in given.margins),
            minimal="minimality" in given.claims,
            prices=tuple(Prices(c, tuple(of), tuple(map(float, of.values()))) for c, of in given.prices.items()),
        )

    def __repr__(self) -> str:
        margin = min((margin for margin in self.margins if margin is not None), default=None)
        return (
            f"Certificate(predicted={self.predicted}, paradigm={shortened(self.paradigm)}, size={self.size},"
            f" margin={margin if margin is None else below(margin)}, patches={self.patches}, minimal={self.minimal})"
        )

    def __str__(self) -> str:
        """Three lines: the class and the statements, the margin, the image."""
        known = isinstance(self.paradigm, str) and self.paradigm in PARADIGMS
        paradigm = self.paradigm if known else shortened(self.paradigm)
        margins = [margin for margin in self.margins if margin is not None]
        image = "no image is named" if self.latents is None else f"its latents {self.latents[:12]}..."
        if self.picture is not None and self.network is not None:
            image = f"picture {self.picture[:12]}..., by the network {self.network[:12]}..."
        return "\n".join(
            [
                f"Class {self.predicted} follows from {counted(self.statements)} (paradigm {paradigm}).",
                f"Every other class stays at least {below(min(margins))} below it, in real arithmetic (a claim,"
                " which verale.audit checks)."
                if margins
                else "No other class is named.",
                f"Image of {self.patches} patch{'' if self.patches == 1 else 'es'}: {image}; head {self.head[:12]}...",
            ]
        )

    def _repr_html_(self) -> str:
        """The HTML that notebooks show: that of `verale.show`; where the checker cannot read it, why it cannot."""
        try:
            # Pages stand above certificates: they are loaded only here, where one is shown.
            html: str = import_module("verale").show(self)._repr_html_()
            return html
        except VeraleError as error:
            return f"<pre>{escape(str(self))}</pre><p>{escape(str(error))}</p>"

    def save(self, path: str | Path) -> None:
        """Write the certificate to a file: to a temporary name first, then renamed."""
        write_atomically(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> Certificate:
        """Read a certificate from a file without proving it. Raises InputError, which names the file."""
        with naming(path, CertificateError):
            return cls.from_bytes(read(path, "a certificate (.ale.json)"))


TYPE = "urn:verale:certificate:v1"
_ALIKE = ("head", "latents", "network", "picture", "arithmetic", "predicted", "paradigm", "patches", "version")
"""What the checker's record holds in the same form."""


def encode(subject: list[dict[str, Any]], predicate: dict[str, Any]) -> bytes:
    """The file's bytes, with one statement a line, so that `diff` can compare two certificates."""
    statements = ",\n".join(map(json.dumps, predicate["statements"]))
    document = {"_type": TYPE, "subject": subject, "predicate": predicate | {"statements": []}}
    text = json.dumps(document, ensure_ascii=False)
    return (text.replace('"statements": []', f'"statements": [\n{statements}\n]', 1) + "\n").encode()
