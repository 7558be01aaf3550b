"""A certificate told to people: the sentence, its numbers, the margins and the size, for every way to show them.

The numbers are the certificate's own (`verale.certificate.words`). Nothing here says that anything is proved.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from verale.certificate import Certificate, FloorStatement, OrderStatement, PatchStatement, Statement, SumStatement
from verale.certificate.statements import bounded, counted
from verale.certificate.words import below, class_name, enumerated
from verale.checker.certificate import Certificate as Read
from verale.checker.certificate import read_certificate
from verale.checker.errors import FormatError, UnprovedError
from verale.checker.numbers import Numbers
from verale.report.account import Account, account_of, has_account
from verale.report.explanation import Narrower, conditions, named_prototypes, narrower
from verale.rules.words import bounds_in_words
from verale.runs.explained_run import HeadOfRun

__all__ = ["Telling"]

_OBSERVABLE = "comparison"
"""What comparing a patch with a prototype gives, where the head is not known."""
_CLAUSES = FloorStatement | OrderStatement | SumStatement
_LISTED, _ACTIVE, _COMPARED = "listed below", "as active as", "as stated"
"""What a sentence says of clauses, activations and comparisons of which it leaves out prototypes or bounds."""


@dataclass(frozen=True)
class Telling:
    """What a certificate says, in words.

    Attributes:
        predicted: the class's name, or its number where it has none.
        sentence: what has to hold, and which class follows.
        statements: of each what it is about, and its bounds; those first that the sentence speaks of one by one.
        unsaid: those of them whose prototypes or bounds the sentence leaves out.
        margins: of each rival its name, and how far it stays behind at least; the closest first.
        size: how many statements there are, and how much they bound.
        prototypes: those to show with it.
        head: the digest of the head that the certificate names.
        digests: of the certificate's file and of all that it names, by what they are.
        account: why the class is ahead, in points; None where that is not known.
        points: the same in words, line by line.
        narrower: what can be asked where it is too long to be read; None where it is not.
        of_picture: whether it names a picture.
        arithmetic: in which the network computes.
    """

    predicted: str
    sentence: str
    statements: tuple[tuple[str, str], ...]
    unsaid: tuple[tuple[str, str], ...]
    margins: tuple[tuple[str, str], ...]
    size: str
    prototypes: tuple[int, ...]
    head: str
    digests: Mapping[str, str]
    account: Account | None = None
    points: tuple[tuple[str, str], ...] = ()
    narrower: Narrower | None = None
    of_picture: bool = False
    arithmetic: str | None = None

    @classmethod
    def of(
        cls,
        data: bytes,
        head: HeadOfRun | None = None,
        classes: Sequence[str] | None = None,
        numbers: Callable[[bytes], Numbers] | None = None,
        file: str = "FILE",
    ) -> Telling:
        """Tell a certificate.

        Args:
            data: the bytes of its file.
            head: what is known of a head; it counts if it is the one that the certificate names.
            classes: the names of the classes, where the head has none.
            numbers: what a checker proves from the statements in a certificate's bytes (`Auditor.numbers`).
            file: the certificate's, for commands.

        Raises:
            FormatError: (the checker's) bytes that are not a certificate.
            CertificateError: likewise.
        """
        read, certificate = read_certificate(data), Certificate.from_bytes(data)
        head = None if head is None or head.sha256 != certificate.head else head
        count = None if head is None else head.prototypes
        classes = (None if head is None else head.labels) or classes
        parts = conditions(read, _OBSERVABLE if head is None else head.observable, count)
        predicted = class_name(certificate.predicted, classes)
        sentence, account = _sentence(predicted, parts), _account(data, read, head, numbers)
        order = {} if account is None else {j: place for place, j in enumerate(account.adding)}
        ranked = sorted(
            certificate.statements,
            key=lambda each: (_rank(each), order.get(getattr(each, "prototype", -1), len(order))),
        )  # those first that give most points
        told = [(statement, (statement.in_words(count)[0], bounds_in_words(statement))) for statement in ranked]
        proved = sorted((margin, rival) for rival, margin in enumerate(certificate.margins) if margin is not None)
        return cls(
            predicted,
            sentence,
            tuple(pair for _, pair in told),
            tuple(pair for each, pair in told if _leaves_out(sentence, each)),
            tuple((class_name(rival, classes), below(margin)) for margin, rival in proved),
            _size(certificate, head),
            named_prototypes(read, count),
            certificate.head,
            {"certificate": hashlib.sha256(data).hexdigest(), **_named(certificate)},
            account,
            () if account is None else tuple(account.in_words(lambda c: class_name(c, classes))),
            narrower(read, count, file, lambda c: class_name(c, classes), account),
            certificate.picture is not None,
            certificate.arithmetic,
        )


def _account(
    data: bytes, certificate: Read, head: HeadOfRun | None, numbers: Callable[[bytes], Numbers] | None
) -> Account | None:
    if head is None or numbers is None or not has_account(certificate, head.head):
        return None
    try:
        return account_of(certificate, head.head, numbers(data))
    except (FormatError, UnprovedError):  # it does not fit the head, or is beyond the limit
        return None


def _named(certificate: Certificate) -> dict[str, str]:
    """The digests of what a certificate names, by what they are."""
    digests = {name: getattr(certificate, name) for name in ("head", "latents", "picture", "network")}
    return {f"{name} that it names": digest for name, digest in digests.items() if digest is not None}


def _sentence(predicted: str, parts: Sequence[str]) -> str:
    if not parts:
        return f"The class is {predicted} whatever the image shows: it follows from the network's last layers alone."
    return f"The class is {predicted} whenever {enumerated(parts)}."


def _leaves_out(sentence: str, statement: Statement) -> bool:
    """Whether a sentence leaves out prototypes or bounds of a statement."""
    if isinstance(statement, PatchStatement):
        return _COMPARED in sentence
    return (_LISTED if isinstance(statement, _CLAUSES) else _ACTIVE) in sentence


def _rank(statement: Statement) -> int:
    """Activations first, then clauses, floors before ceilings, as in the sentence; then patches."""
    if isinstance(statement, PatchStatement):
        return 3
    return {FloorStatement: 1, OrderStatement: 2, SumStatement: 2}.get(type(statement), 0)


def _size(certificate: Certificate, head: HeadOfRun | None) -> str:
    """How many statements there are, and which prototypes and pairs they bound, of how many."""
    said = counted(certificate.statements)
    if head is None or not certificate.statements:
        return said
    reach = bounded(certificate.statements, head.prototypes, certificate.patches)
    said += f"; they bound {reach.prototypes} of the head's {head.prototypes} prototypes"
    pairs = certificate.patches * head.prototypes
    return f"{said}, and {reach.pairs} of {pairs} pairs of a patch and a prototype" if reach.pairs else said
