"""What the program of the kernel `proved` proves of certificates of one head."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from ..certificate import Certificate, PatchStatement
from ..errors import UnprovedError
from ..head import Head
from ..limit import LIMIT, seconds_in_words
from ..read.latents import Image
from .dialogue import Answer, Dialogue, UnavailableError
from .program import Program
from .text import (
    addition_text,
    certificate_text,
    head_text,
    image_text,
    network_text,
    picture_text,
    prices_text,
    unknown_part,
)

if TYPE_CHECKING:
    from ..numbers import Numbers
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

    def first_unneeded(self, certificate: Certificate) -> int | None:
        """The number of the first statement that is not proved to be needed; None if all are."""
        addition = addition_text(certificate)
        numbers = range(len(certificate.statements))
        return next((n for n in numbers if not self._ask("needed", certificate, addition + b" %x\n" % n)), None)

    def first_spare(self, certificate: Certificate) -> int | None:
        """The number of the first statement without which the class is proved; None if none is found.

        Only statements about activations are tried. Those about patches bound patches one by one, and the proof of that
        reaches no further than the reference ranges; of activations it uses what one says of another, as well.
        """
        statements = certificate.statements
        if any(isinstance(each, PatchStatement) for each in statements):
            return None
        without = (
            replace(certificate, statements=statements[:n] + statements[n + 1 :]) for n in range(len(statements))
        )
        return next((n for n, fewer in enumerate(without) if self.entails_at_all(fewer)), None)

    def instance(self, certificate: Certificate, image: Image) -> bool:
        """Whether an image is proved to lie in the domain and to satisfy every statement."""
        return self._ask("instance", certificate, image_text(image))

    def refuted(self, certificate: Certificate, image: Image) -> bool:
        """Whether an image is proved to satisfy every statement and to be classified otherwise."""
        return self._ask("refuted", certificate, image_text(image))

    def pictured(self, certificate: Certificate, picture: Picture) -> bool:
        """Whether the latents that the network gives for a picture, in real arithmetic, are proved to lie in the domain
        and to satisfy every statement."""
        return self._ask("pictured", certificate, picture_text(picture))

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
            raise self._begun().no_answer("numbers", str(error)) from None

    def first_untrue(self, certificate: Certificate, seen: Image | Picture) -> int | None:
        """The number of the first statement that is not proved true of an image's latents, or of those that the network
        gives for a picture, where not all are; None if they are not even proved to lie in the domain."""

        def proved(count: int) -> bool:
            part = replace(certificate, statements=certificate.statements[:count])
            return self.instance(part, seen) if isinstance(seen, Image) else self.pictured(part, seen)

        if not proved(0):
            return None
        good, bad = 0, len(certificate.statements)
        while bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if proved(middle) else (good, middle)
        return good

    def _ask(self, question: str, certificate: Certificate, rest: bytes) -> bool:
        return self._answer(question, self._about(certificate, rest)).word == "proved"

    def _about(self, certificate: Certificate, rest: bytes) -> bytes:
        """The text of a question about a certificate."""
        return certificate_text(certificate)[:-1] + b" " + rest

    def _answer(self, question: str, text: bytes) -> Answer:
        """Raises UnprovedError: `uncovered` or `limit`."""
        dialogue = self._begun()
        if question in _OF_PICTURES and not self._network_told and self._network is not None:
            self._counted(dialogue.ask("network", network_text(self._network), max(1, self._left)))
            self._network_told = True
        if self._left <= 0:
            raise self._limit("all questions together took more processor time than was allowed")
        return self._counted(dialogue.ask(question, text, self._left))

    def _begun(self) -> Dialogue:
        """A dialogue in which the head has been told."""
        unknown = unknown_part(self._head)
        if unknown is not None:
            raise _uncovered(unknown)
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


def _uncovered(why: str) -> UnprovedError:
    return UnprovedError("uncovered", f"not covered by the proof: {why}; {_ANOTHER}")


def _not_asked(why: str) -> UnprovedError:
    return UnprovedError("limit", f"{NOT_ASKED}: {why}; {_ANOTHER}")
