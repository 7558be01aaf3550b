"""The certificate: a frozen record of what is claimed, that checks itself when built (certificates/v1.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from verale.errors import CertificateError, InputError
from verale.files import read, write_atomically

__all__ = ["ActivationStatement", "Certificate", "OrderStatement", "PatchStatement", "Prices", "Statement"]


@dataclass(frozen=True)
class PatchStatement:
    """The observable m(z_patch, p_prototype) lies in [lower, upper]."""

    patch: int
    prototype: int
    lower: float
    upper: float

    def __post_init__(self) -> None:
        _check_indices(self.patch, self.prototype)
        _check_interval(self.lower, self.upper)


@dataclass(frozen=True)
class ActivationStatement:
    """The activation a_prototype lies in [lower, upper]."""

    prototype: int
    lower: float
    upper: float

    def __post_init__(self) -> None:
        _check_indices(self.prototype)
        _check_interval(self.lower, self.upper)


@dataclass(frozen=True)
class OrderStatement:
    """No activation outside `exempt` exceeds `upper`."""

    exempt: tuple[int, ...]
    upper: float

    def __post_init__(self) -> None:
        _check_indices(*self.exempt)
        _check_increasing(self.exempt, "the order statement's exempt prototypes")
        _check_interval(self.upper, self.upper)


Statement = PatchStatement | ActivationStatement | OrderStatement


@dataclass(frozen=True)
class Prices:
    """A hint of the paradigm `assignment`: what each prototype pays for a patch's remainder, against one rival."""

    rival: int
    prototypes: tuple[int, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        _check_indices(self.rival, *self.prototypes)
        _check_increasing(self.prototypes, "the prices' prototypes")
        if len(self.values) != len(self.prototypes):
            raise CertificateError(f"{len(self.values)} prices are given for {len(self.prototypes)} prototypes")
        for value in self.values:
            if not 0 < value < math.inf:
                raise CertificateError(f"the price {value} is not positive and finite")


@dataclass(frozen=True)
class Certificate:
    """An explanation with its guarantee.

    Attributes:
        head: SHA-256 (hex) of the head's file.
        latents: SHA-256 (hex) of the image's latents, or None: then nothing is claimed of an instance.
        predicted: the class that is entailed.
        paradigm: how bounds follow from the statements.
        patches: L.
        statements: the explanation E.
        margins: for each class a proved lower bound > 0 of o_predicted - o_class under E; None at the
            predicted class.
        minimal: whether it is claimed that no statement can be dropped.
        version: version of the verale that made it.
        prices: hints of the paradigm `assignment`, rival by rival.

    Raises:
        CertificateError: a record that certificates/v1.md would reject.
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

    def __post_init__(self) -> None:
        _check_indices(self.predicted, self.patches)
        for name, digest in (("head", self.head), ("latents", self.latents)):
            if digest is not None and (len(digest) != 64 or set(digest) - set("0123456789abcdef")):
                raise CertificateError(f"the {name} digest is {digest!r}, expected 64 hexadecimal digits")
        for rival, margin in enumerate(self.margins):
            if (margin is None) != (rival == self.predicted):
                raise CertificateError(
                    f"margin {rival} is {margin}: only the predicted class {self.predicted} has none"
                )
            if margin is not None and not 0 < margin < math.inf:
                raise CertificateError(f"margin {rival} is {margin}: not positive and finite, so nothing is entailed")
        _check_increasing([each.rival for each in self.prices], "the rivals with prices")

    @property
    def size(self) -> int:
        """The number of statements."""
        return len(self.statements)

    @property
    def margin(self) -> float:
        """The least margin over all rivals."""
        return min(margin for margin in self.margins if margin is not None)

    def to_bytes(self) -> bytes:
        """The certificate's file; the same certificate gives the same bytes."""
        from verale.certificate.encoding import encode

        return encode(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Certificate:
        """Read a certificate, without proving anything. Raises CertificateError."""
        from verale.certificate.encoding import decode

        return decode(data)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from verale.certificate.notebook import html

        return html(self)

    def save(self, path: str | Path) -> None:
        """Write the certificate (beside its place, then renamed)."""
        write_atomically(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> Certificate:
        """Read a certificate's file, without proving anything. Raises InputError, which names the file."""
        try:
            return cls.from_bytes(read(path, "a certificate (.ale.json)"))
        except CertificateError as error:
            raise InputError(path, str(error)) from error


def _check_indices(*indices: int) -> None:
    for index in indices:
        if index < 0:
            raise CertificateError(f"index {index} is negative")


def _check_increasing(indices: Sequence[int], what: str) -> None:
    if list(indices) != sorted(set(indices)):
        raise CertificateError(f"{what} are not strictly increasing")


def _check_interval(lower: float, upper: float) -> None:
    if not (math.isfinite(lower) and math.isfinite(upper) and lower <= upper):
        raise CertificateError(f"[{lower}, {upper}] is no interval of finite numbers")
