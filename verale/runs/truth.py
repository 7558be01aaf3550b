"""Which statements are true of an image: each is decided by the checker, exactly, from bytes of a head and latents."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from verale.checker.certificate import (
    ActivationStatement,
    Certificate,
    OrderStatement,
    PatchStatement,
    Statement,
)
from verale.checker.choices import load_arithmetic
from verale.checker.errors import UnprovedError
from verale.checker.head import Head
from verale.checker.limit import LIMIT, allowed
from verale.checker.network.enclosure import EnclosedLatents
from verale.checker.read.latents import Image, Latents
from verale.checker.reading.evaluation import Evaluation
from verale.checker.reading.instance import require_domain, require_true
from verale.checker.reading.space import Space

__all__ = ["AtImage", "OutsideError", "Truths"]

_BITS = 128
"""Of values for people."""


class OutsideError(Exception):
    """Latents with another number of patches, or outside of the head's domain: statements say nothing about them."""


class Truths:
    """Decides statements at the images of a latents file.

    Args:
        head: the head.
        size: how many bytes its file has.
        latents: the bytes of the latents file.

    Raises:
        LatentsError, KernelError: not a latents file of the head's depth, or no kernel (`verale.checker`).
    """

    def __init__(self, head: Head, size: int, latents: bytes) -> None:
        self._space = Space(head, load_arithmetic("arb"))
        self._size = size
        self._latents = Latents(latents, head.depth)

    def image(self, digest: str) -> Image | None:
        """The image whose latents have this digest; None if there is none."""
        return self._latents.find(digest)

    def at(self, image: Image, patches: int, size: int) -> AtImage:
        """What decides statements at an image.

        Args:
            patches: of how many patches the statements speak.
            size: how many bytes the file of their certificate has.

        Raises:
            OutsideError: statements say nothing about this image.
        """
        self._space.arithmetic.clock.start(allowed(LIMIT, self._size + size + 8 * len(image.values)))
        try:
            latents = EnclosedLatents.exactly(image.exact)
            require_domain(self._space.head, latents, patches)
        except UnprovedError as error:
            raise OutsideError(str(error)) from error
        try:
            return AtImage(Evaluation(self._space, latents))
        except UnprovedError:
            return AtImage(None)


class AtImage:
    """Decides statements at one image. With None as evaluation, which takes too long, it decides none.

    Soundness: each answer is that of step 5 of certificates/v1.md, "Verification", for a certificate with this
        statement alone. What takes longer than an audit of files of this size is not decided.
    """

    def __init__(self, evaluation: Evaluation | None) -> None:
        self._evaluation = evaluation

    def is_true(self, statement: Statement, certificate: Certificate) -> bool | None:
        """Whether a statement of a certificate that fits the head is true; None where that is not decided."""
        if self._evaluation is None:
            return None
        try:
            require_true(replace(certificate, statements=(statement,)), self._evaluation)
        except UnprovedError as error:
            return False if error.false else None
        return True

    def value(self, statement: Statement) -> float | None:
        """What a statement bounds, at this image: a number for people, of which nothing is claimed."""
        try:
            return None if self._evaluation is None else _value(statement, self._evaluation)
        except UnprovedError:
            return None


def _value(statement: Statement, evaluation: Evaluation) -> float | None:
    if isinstance(statement, PatchStatement):
        return float(sum(evaluation.observable(statement.patch, statement.prototype, _BITS)) / 2)
    if isinstance(statement, ActivationStatement):
        ends = evaluation.greatest([statement.prototype], _BITS)
    else:
        others = sorted(set(range(evaluation.count)) - set(statement.exempt))
        if not others:
            return None
        ends = (evaluation.greatest if isinstance(statement, OrderStatement) else evaluation.least)(others, _BITS)
    return float(Fraction(sum(ends), 2 << _BITS))
