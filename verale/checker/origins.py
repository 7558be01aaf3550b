"""Origins of prototypes: which patch of which picture each one is (certificates/origins-v1.md).

An origin says that the latents which a network gives for a picture lie in the head's domain, and that the latent of one
patch lies within a distance d of the prototype, or has at least the cosine c with it. So it is what the claim `picture`
says of one statement about a patch: the squared distance is at most d^2, or the cosine is at least c. All origins of a
picture are proved together; where that fails, one by one. Whoever proves the claim proves them: the kernel `proved`
(`theorem origin_ok` of proofs/rocq/theories/Origins.v), or the reading.

Soundness: d is a binary64 number that is not negative, so m <= d^2 exactly where the root of m is at most d; d^2 is
computed exactly. Digests are compared with those of the files that were read, and the picture is found by its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from .auditor import Auditor
from .certificate import Certificate, PatchStatement
from .errors import FormatError, UnprovedError
from .read.formats import Readers, digest, index, listed, number, read_object, record, such, text
from .read.similarities import COSINES
from .verdict import Status, Verdict

if TYPE_CHECKING:
    from .proved.program import Program
    from .read.network_file import Network

TYPE = "urn:verale:origins:v1"


@dataclass(frozen=True)
class Origin:
    """Prototype `prototype` is patch `patch` of the picture with the digest `picture`: to within `distance`, or with at
    least the cosine `cosine`. One of these two is None."""

    prototype: int
    picture: str
    patch: int
    distance: Fraction | None = None
    cosine: Fraction | None = None

    @property
    def statement(self) -> PatchStatement:
        """The same of the head's observable: a squared distance, or a cosine."""
        most = None if self.distance is None else self.distance**2
        return PatchStatement(self.patch, self.prototype, self.cosine, most)


@dataclass(frozen=True)
class Origins:
    """An origins file: digests of its head and network, and origins in the order of their prototypes."""

    head: str
    network: str
    origins: tuple[Origin, ...]


@dataclass(frozen=True)
class JudgedOrigin:
    """An origin, and what was proved of it: PROVED or NOT_PROVED, and as those of a verdict a reason and a message, ""
    where it is proved; the kernel that proved it, or `both` or `all`, "" where none did; the exit code; and the program
    that the kernel `proved` asked, None where it was not asked."""

    origin: Origin
    status: Status
    reason: str
    message: str
    by: str
    exit_code: int
    program: Program | None = None


def read_origins(data: bytes) -> Origins:
    """The origins of a file's bytes. Raises FormatError, which names the field."""
    document = record(read_object(data, "the origins file"), "the origins file", _DOCUMENT, prefix="")
    origins = tuple(Origin(**each) for each in document["origins"])
    if not origins:
        raise FormatError("origins is empty, expected one origin at least")
    for first, second in pairwise(origins):
        if first.prototype >= second.prototype:
            raise FormatError(
                f"origins has prototype {second.prototype} after {first.prototype}, expected each prototype at most"
                " once, in rising order"
            )
    return Origins(document["head"], document["network"], origins)


def judge_origins(auditor: Auditor, data: bytes) -> tuple[JudgedOrigin, ...]:
    """What is proved of each origin of a file, in its order.

    Args:
        auditor: of the head, with the network and its pictures.
        data: the bytes of the file.

    Raises:
        FormatError: a file that is malformed, or does not fit head and network.
        UnprovedError: `subject`: it speaks of another head or network, or no network is given; `uncovered`: no origins
            are defined for the head's geometry.
        PictureError: a picture that is named is not among those that can be read, and some file cannot be used.
    """
    document, network = read_origins(data), auditor.network
    if network is None:
        raise UnprovedError("subject", "no network is given; origins are about a network and its pictures")
    for what, named, own in (
        ("head", document.head, auditor.head.sha256),
        ("network", document.network, network.sha256),
    ):
        if named != own:
            raise UnprovedError(
                "subject",
                f"the file speaks of the {what} {named[:16]}..., this one is {own[:16]}...; check it with its own"
                f" {what}",
            )
    _require_fit(document, auditor, network)
    made: dict[int, JudgedOrigin] = {}
    for _, same in groupby(sorted(document.origins, key=lambda each: each.picture), lambda each: each.picture):
        made |= {judged.origin.prototype: judged for judged in _of_picture(auditor, document, list(same), len(data))}
    return tuple(made[each.prototype] for each in document.origins)


def _require_fit(document: Origins, auditor: Auditor, network: Network) -> None:
    """Raises FormatError, which names the origin; UnprovedError for a geometry without origins."""
    head = auditor.head
    if head.geometry != "euclidean" and head.geometry not in COSINES:
        raise UnprovedError(
            "uncovered",
            f"the head's geometry is {head.geometry}, for which no origins are defined: expected euclidean or"
            f" {' or '.join(COSINES)}",
        )
    stated = "distance" if head.geometry == "euclidean" else "cosine"
    for place, origin in enumerate(document.origins):
        where = f"origins[{place}]"
        if origin.prototype >= head.count:
            raise FormatError(f"{where}.prototype is {origin.prototype}, expected less than the head's {head.count}")
        if origin.patch >= network.patches:
            raise FormatError(f"{where}.patch is {origin.patch}, expected less than the network's {network.patches}")
        if getattr(origin, stated) is None:
            raise FormatError(f"{where} has no {stated}, expected one for a {head.geometry} head")


def _of_picture(auditor: Auditor, document: Origins, origins: list[Origin], size: int) -> Iterator[JudgedOrigin]:
    """Origins of one picture: all together, or one by one where not all are proved."""
    together = _pictured(auditor, document, origins, size)
    each = len(origins) > 1 and together.reason == "picture"
    for origin in origins:
        verdict = _pictured(auditor, document, [origin], size) if each else together
        proved = verdict.status is Status.PROVED and "picture" in verdict.by
        yield JudgedOrigin(
            *(origin, verdict.status, verdict.reason, "" if proved else verdict.message),
            *(verdict.by["picture"] if proved else "", verdict.exit_code, verdict.program),
        )


def _pictured(auditor: Auditor, document: Origins, origins: list[Origin], size: int) -> Verdict:
    """The verdict on the claim `picture` with the statements of some origins of one picture. The certificate's class
    and its margins are never looked at."""
    head, network = auditor.head, auditor.network
    margins = (None, *(Fraction(1),) * (head.classes - 1))
    certificate = Certificate(
        *(document.head, None, 0, "projection", 1 if network is None else network.patches),
        *(tuple(each.statement for each in origins), margins, ("entailment", "picture")),
        network=document.network,
        picture=origins[0].picture,
        arithmetic="real",
    )
    return auditor.pictured(certificate, size)


def _origin(value: Any, where: str) -> dict[str, Any]:
    stated = "cosine" if isinstance(value, dict) and "cosine" in value else "distance"
    return record(value, where, {**_ORIGIN, stated: _STATED[stated]})


_ORIGIN: Readers = {"prototype": index, "picture": digest, "patch": index}
_STATED: Readers = {
    "distance": such(number, lambda each: each >= 0, "a hex float that is not negative"),
    "cosine": number,
}
_DOCUMENT: Readers = {
    "_type": such(text, TYPE.__eq__, repr(TYPE)),
    "head": digest,
    "network": digest,
    "origins": listed(_origin),
}
