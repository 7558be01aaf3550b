"""The steps of certificates/v1.md with the kernel `proved`, from 5 on: every claim is left to the program.

What it does not cover is refused by name. No rule of this package is asked instead.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from ..certificate import Certificate, PatchStatement
from ..errors import RefutedError, UnprovedError
from ..head import Head
from ..limit import LIMIT, seconds_in_words
from ..read.latents import Image
from ..subject import NO_PICTURE, Proof, Subject
from .dialogue import Answer, Dialogue, UnavailableError
from .program import Program
from .text import (
    KNOWN,
    UNKNOWN_LAYERS,
    addition_text,
    certificate_text,
    head_text,
    image_text,
    network_text,
    picture_text,
    prices_text,
)

if TYPE_CHECKING:
    from ..numbers import Numbers, StatementAt
    from ..read.network_file import Network
    from ..read.pictures import Picture

NOT_ASKED = "the proved checker could not be asked"
"""So begins the message where the program could not be started, or died."""

_MEGABYTE = 2**20
_MEGABYTES = 1024
_MEGABYTES_A_MEGABYTE = 64
"""Memory that the program may take at the default limit: so much, and so much more for each megabyte of the head."""
_MOST_MEGABYTES = 2**24
"""More than any machine has, and a number to which limits can be set."""
_MOST_MILLISECONDS = 2**32
"""Seven weeks, which every system can count."""
_ANOTHER = "audit it with another kernel, such as arb"
_SPENT = (
    "all questions together took more processor time",
    "it took more processor time",
    "it did not answer in time",
)
"""So begin the reasons for which a greater limit helps, and is what helps."""
_MEMORY = "it took more"
"""So begins the reason for which one helps that allows more memory. For all others none does."""
_OF_PICTURES = ("pictured", "latents")
"""The questions before which the network is told, once."""
MOST_PRODUCTS_OF_SCRIPT = 2**28
"""Of a network that the script is asked about: beyond, it would take minutes and gigabytes."""
_LEAST = Fraction(1, 2**1074)
"""The smallest margin that can be stated."""


class ProvedClaims:
    """Asks the program about certificates. It runs from the first question on, and again after it has failed.

    Only one thread at a time may ask. In the child of a fork the program runs anew.

    Args:
        head: the head.
        size: of its file, and of the network's, in bytes.
        program: what to ask.
        network: the one before the head; None if nothing is asked about pictures.
        limit: of an audit. Memory grows with it.
    """

    def __init__(
        self, head: Head, size: int, program: Program, network: Network | None = None, limit: float = LIMIT
    ) -> None:
        self._head, self._network = head, network
        megabytes = (_MEGABYTES + _MEGABYTES_A_MEGABYTE * -(-size // _MEGABYTE)) * max(1, ceil(limit / LIMIT))
        self._megabytes = min(megabytes, _MOST_MEGABYTES)
        self._program = program
        self._left, self._allowed = 0, 0.0
        self._dialogue: Dialogue | None = None
        self._network_told = False
        self._unavailable = ""

    def allow(self, seconds: float) -> None:
        """Begin to count again: what all questions may take until the next call."""
        self._allowed = seconds
        self._left = min(max(1, int(1000 * seconds)), _MOST_MILLISECONDS)

    def entails(self, certificate: Certificate) -> bool:
        """Whether the statements are proved to entail the class, with the stated margins."""
        return self._ask("entails", certificate, prices_text(certificate, self._head.count))

    def entails_at_all(self, certificate: Certificate) -> bool:
        """The same with the smallest margins."""
        margins = tuple(None if margin is None else _LEAST for margin in certificate.margins)
        return self.entails(replace(certificate, margins=margins))

    def minimal(self, certificate: Certificate) -> bool:
        """Whether every statement is proved to be needed."""
        return self._ask("minimal", certificate, addition_text(certificate) + b"\n")

    def needed(self, certificate: Certificate, number: int) -> bool:
        """Whether the statement of this number is proved to be needed."""
        return self._ask("needed", certificate, addition_text(certificate) + b" %x\n" % number)

    def holds(self, certificate: Certificate, seen: Image | Picture) -> bool:
        """Whether latents are proved to lie in the domain and to satisfy every statement: those of an image, or those
        that the network gives for a picture, in real arithmetic."""
        if isinstance(seen, Image):
            return self._ask("instance", certificate, image_text(seen))
        return self._ask("pictured", certificate, picture_text(seen))

    def refuted(self, certificate: Certificate, image: Image) -> bool:
        """Whether an image is proved to satisfy every statement and to be classified otherwise."""
        return self._ask("refuted", certificate, image_text(image))

    def numbers(self, certificate: Certificate) -> Numbers:
        """What the statements prove of each activation and of each rival, whether or not they entail the class. Raises
        ExecutableError: the answer is none."""
        from ..numbers import Interval, NotNumbersError, Numbers, numbers_of

        head, statements = self._head, len(certificate.statements)
        answer = self._answer("numbers", self._about(certificate, prices_text(certificate, head.count)))
        if answer.word != "numbers":
            anything = (Interval(None, None),) * head.count
            return Numbers(anything, anything, (None,) * head.classes, (((), ()),) * head.count)
        try:
            return numbers_of(answer.why, head.count, head.classes, certificate.predicted, statements)
        except NotNumbersError as error:
            raise self._begun().no_answer(f"answers numbers with what is no answer ({error})") from None

    def _ask(self, question: str, certificate: Certificate, rest: bytes) -> bool:
        return self._answer(question, self._about(certificate, rest)).word == "proved"

    def _about(self, certificate: Certificate, rest: bytes) -> bytes:
        """The text of a question about a certificate."""
        return certificate_text(certificate)[:-1] + b" " + rest

    def _answer(self, question: str, text: bytes) -> Answer:
        """Raises UnprovedError: `uncovered` or `limit`."""
        network = self._network if question in _OF_PICTURES else None
        if network is not None:  # what the program cannot prove of its pictures is not asked
            for layer in network.layers:
                if layer.kind in UNKNOWN_LAYERS:
                    raise _uncovered(f"the layer {layer.name} ({layer.kind})")
            products = sum(layer.products for layer in network.layers)
            if self._program.language and products > MOST_PRODUCTS_OF_SCRIPT:
                raise UnprovedError(
                    "limit",
                    f"as {self._program.language} the proved checker takes networks of at most"
                    f" {MOST_PRODUCTS_OF_SCRIPT} products, and this one has {products}; build its executable"
                    f" (`make proved`), or {_ANOTHER}",
                )
        dialogue = self._begun()
        if network is not None and not self._network_told:
            self._counted(dialogue.ask("network", network_text(network), max(1, self._left)))
            self._network_told = True
        if self._left <= 0:
            raise self._limit("all questions together took more processor time than was allowed")
        return self._counted(dialogue.ask(question, text, self._left))

    def _begun(self) -> Dialogue:
        """A dialogue in which the head has been told."""
        for part, known in KNOWN.items():
            if (name := getattr(self._head, part)) not in known.split():
                raise _uncovered(f"the {part} {name}")
        if self._dialogue is None or not self._dialogue.is_open:
            if self._unavailable:  # it would fail, or let wait, for every certificate
                raise _not_asked(self._unavailable)
            try:
                dialogue = Dialogue(self._program, self._megabytes)
            except UnavailableError as error:
                self._unavailable = str(error)
                raise _not_asked(self._unavailable) from None
            self._counted(dialogue.ask("head", head_text(self._head), self._left))
            self._dialogue, self._network_told = dialogue, False
        return self._dialogue

    def _counted(self, answer: Answer) -> Answer:
        """The answer, its time taken off. Raises UnprovedError if nothing was decided."""
        self._left -= answer.milliseconds
        if answer.word == "not covered":
            raise _uncovered(answer.why)
        if answer.word == "limit":
            raise self._limit(answer.why)
        if answer.word == "ended":
            raise _not_asked(answer.why)
        return answer

    def _limit(self, why: str) -> UnprovedError:
        said = f"the proved checker gave up: {why}"
        if why.startswith(_SPENT):
            said += f", {seconds_in_words(self._allowed)} for files of this size"
            return UnprovedError("limit", f"{said}; raise the limit", spent=True)
        more = "raise the limit, which allows more memory too, or " if why.startswith(_MEMORY) else ""
        return UnprovedError("limit", f"{said}; {more}{_ANOTHER}")


class ProvedAudit:
    """A subject in the kernel `proved`, whose processor time is limited; `claims` are of its head."""

    def __init__(self, subject: Subject, *, claims: ProvedClaims) -> None:
        self.proof = Proof()
        self._subject, self._certificate, self._claims = subject, subject.certificate, claims
        claims.allow(subject.seconds)

    def prove(self) -> None:
        subject, certificate = self._subject, self._certificate
        if subject.image is not None:  # 5. Instance
            self._require_true("instance", subject.image)
            self.proof.claims.add("instance")
        if not self._claims.entails(certificate):
            if subject.image is not None:  # 6. What is refuted cannot be entailed: tried only where the proof fails.
                try:
                    self._require_not_refuted(subject.image)
                except UnprovedError as error:
                    if error.reason != "uncovered":
                        raise
            if self._claims.entails_at_all(certificate):
                raise UnprovedError(
                    "margin", "a margin is smaller than stated; the class is proved, state a smaller margin"
                )
            raise UnprovedError(
                "entailment", "the statements are not proved to entail the class; state more, or less widely"
            )
        self.proof.margins = certificate.margins
        self.proof.claims.add("entailment")  # 7.
        uncovered = self._uncovered_minimality() if subject.minimality else None  # 8. Minimality
        if subject.minimality and uncovered is None:
            self.proof.claims.add("minimality")
        if subject.picture is not None:  # 5.
            self.prove_picture()
        if subject.minimality:
            self._require_none_spare()
        if uncovered is not None:
            raise uncovered
        if subject.deployment is not None:  # 9.
            raise _uncovered("deployment", f"do not ask for it, or {_ANOTHER}")

    def prove_picture(self) -> None:
        picture = self._subject.picture
        if picture is None:
            raise UnprovedError("subject", NO_PICTURE)
        if self._certificate.arithmetic != "real":
            raise _uncovered("picture in float32", f"{_ANOTHER}, or without the network")
        self._require_true("picture", picture)
        self.proof.claims.add("picture")

    def numbers(self) -> Numbers:
        return self._claims.numbers(self._certificate)

    def at_image(self, image: Image) -> tuple[StatementAt, ...]:
        """All true, or none decided: the program does not say which one is false."""
        from ..numbers import StatementAt

        true = True if self._claims.holds(self._certificate, image) else None
        return (StatementAt(true),) * len(self._certificate.statements)

    def refute(self, witness: Image) -> None:
        self._require_not_refuted(witness)  # 5. and 6.
        self._require_true("instance", witness)
        raise UnprovedError(
            "witness",
            "the witness satisfies every statement, and no rival's logit is proved to be at least that of class"
            f" {self._certificate.predicted}: it is no counterexample, which proves nothing",
        )

    def _require_true(self, claim: str, seen: Image | Picture) -> None:
        """Raises UnprovedError, which names the first statement that is not proved true, unless the latents of an
        image, or those of a picture, are proved to lie in the domain and to satisfy every statement."""
        certificate, statements = self._certificate, self._certificate.statements
        if self._claims.holds(certificate, seen):
            return
        latents = "the latents" if claim == "instance" else "the latents that the network gives for the picture"

        def holds(count: int) -> bool:
            return self._claims.holds(replace(certificate, statements=statements[:count]), seen)

        try:
            why = f"{latents} have another number of patches, or are not proved to lie in the head's domain"
            if holds(0):
                first = bisect_left(range(1, len(statements)), True, key=lambda count: not holds(count))
                why = (
                    f"{self._statement(first)} is not proved to hold for {latents}; state an interval that holds the"
                    " observable's whole range"
                )
        except UnprovedError as error:  # to find the statement takes more than is left of the limit
            if claim == "instance":
                raise
            why = (
                f"{latents} are not proved to lie in the head's domain and to satisfy every statement; which one fails"
                f" was not found: {error}"
            )
        raise UnprovedError(claim, why)

    def _uncovered_minimality(self) -> UnprovedError | None:
        """None where every statement is proved to be needed, by the reference ranges; the error where that is not
        covered. Raises UnprovedError."""
        certificate = self._certificate
        try:
            if self._claims.minimal(certificate):
                return None
            for number in range(len(certificate.statements)):
                if not self._claims.needed(certificate, number):
                    raise UnprovedError(
                        "minimality",
                        f"{self._statement(number)} is not proved to be needed: drop it, or withdraw the claim",
                    )
        except UnprovedError as error:
            if error.reason != "uncovered":
                raise
            return error
        return None

    def _require_none_spare(self) -> None:
        """Raises UnprovedError: the class is proved without a statement that the reference ranges need. What is left of
        the limit is spent on this; it cannot show that there is none, and minimality does not say so.

        Only statements about activations are tried. Those about patches bound patches one by one, and the proof of that
        reaches no further than the reference ranges; of activations it uses what one says of another, as well.
        """
        certificate, statements = self._certificate, self._certificate.statements
        if any(isinstance(each, PatchStatement) for each in statements):
            return
        for number in range(len(statements)):
            fewer = replace(certificate, statements=statements[:number] + statements[number + 1 :])
            try:
                if not self._claims.entails_at_all(fewer):
                    continue
            except UnprovedError:
                return
            self.proof.claims.discard("minimality")
            raise UnprovedError(
                "minimality",
                f"{self._statement(number)} is not needed: without it the class is proved too, though not by the"
                " reference ranges; drop it, or withdraw the claim",
                false=True,
            )

    def _require_not_refuted(self, image: Image) -> None:
        if self._claims.refuted(self._certificate, image):
            raise RefutedError(
                "at the latents, which satisfy every statement, some rival's logit is at least that of the predicted"
                f" class {self._certificate.predicted}; the certificate is wrong"
            )

    def _statement(self, number: int) -> str:
        return f"statement {number} ({self._certificate.statements[number]})"


def _uncovered(what: str, remedy: str = _ANOTHER) -> UnprovedError:
    return UnprovedError("uncovered", f"not covered by the proof: {what}; {remedy}")


def _not_asked(why: str) -> UnprovedError:
    return UnprovedError("limit", f"{NOT_ASKED}: {why}; {_ANOTHER}")
