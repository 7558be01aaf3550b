"""What a certificate claims, read again from its bytes and judged without the checker.

Nothing here knows a rule of a paradigm. Whether a statement is true is decided in rationals or balls; whether the
statements entail a class is attacked with latents that satisfy them (`witnesses`).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from math import inf
from typing import Any

from verale.soundness.independent.arithmetic import (
    Ball,
    Matrix,
    Number,
    Vector,
    ball,
    certainly_within,
    possibly_within,
)
from verale.soundness.independent.files import digest, given
from verale.soundness.independent.head import Head
from verale.soundness.independent.readers import Document, WrongError, read_json, read_latents

_TOLERANCE_BITS = 100
"""Constructed latents satisfy their statements up to the width of a ball, 2^-300 or so; margins allow for that."""

_SIDES = ("lower", "upper")

_AT_MOST_ONE = ("cosine", "rooted_cosine", "softmax")
"""Geometries whose observables are at most 1 in size. A ball cannot show that 1 <= 1."""


class Evaluations:
    """Observables, similarities and activations of a head, each patch evaluated once."""

    def __init__(self, head: Head) -> None:
        self.head = head
        self._by_patch: dict[int, tuple[list[Number], list[Ball], Vector]] = {}

    def with_head(self, head: Head) -> Evaluations:
        """The same values, of a head that differs in weights and biases alone."""
        other = Evaluations(head)
        other._by_patch = self._by_patch
        return other

    def _of(self, z: Vector) -> tuple[list[Number], list[Ball], Vector]:
        if id(z) not in self._by_patch:
            observables = [self.head.observable(z, j) for j in range(self.head.count)]
            similarities = [self.head.similarity(m, j) for j, m in enumerate(observables)]
            self._by_patch[id(z)] = observables, similarities, z  # z is kept, so that its id stays its own
        return self._by_patch[id(z)]

    def observable(self, z: Vector, j: int) -> Number:
        return self._of(z)[0][j]

    def activations(self, image: list[Vector]) -> list[Ball]:
        patches = [self._of(z) for z in image]
        return [
            self.head.pooled([m[j] for m, _, _ in patches], j, [g[j] for _, g, _ in patches])
            for j in range(self.head.count)
        ]

    def holds(self, statement: Document, image: list[Vector], activations: list[Ball], certainly: bool) -> bool:
        """Whether a statement holds at latents with these activations.

        If not `certainly`, a value whose ball overlaps the interval counts as inside: a latent turned about a span
        satisfies its statements but for the last digits.
        """
        low, high = interval(statement)
        if "except" in statement:
            values = [a for j, a in enumerate(activations) if j not in statement["except"]]
        elif "patch" in statement:
            values = [self.observable(image[statement["patch"]], statement["prototype"])]
        else:
            values = [activations[statement["prototype"]]]
        if certainly:
            at_most_one = "patch" in statement and self.head.kind("geometry") in _AT_MOST_ONE
            return all(certainly_within(value, low, high, at_most_one) for value in values)
        return all(possibly_within(value, low, high) for value in values)

    def all_may_hold(self, statements: list[Document], image: list[Vector], activations: list[Ball]) -> bool:
        """Whether no ball shows a statement to be false."""
        return all(self.holds(statement, image, activations, certainly=False) for statement in statements)


def interval(statement: Document) -> tuple[float, float]:
    """The ends of a statement's interval; infinite where it has none. The ceiling has an upper end alone, the floor a
    lower one."""
    if "except" in statement:
        low, high = statement.get("lower"), statement.get("upper")
    else:
        low, high = statement["interval"]
    return -inf if low is None else float.fromhex(low), inf if high is None else float.fromhex(high)


def about(statement: Document) -> str:
    """What a statement is about: an observable, an activation, or what the ceiling or the floor is."""
    return json.dumps([statement.get("patch"), statement.get("prototype"), *(side in statement for side in _SIDES)])


@dataclass(frozen=True)
class Claim:
    """What a certificate claims about a head and its latents.

    Attributes:
        head: the head that it names.
        predicted: the index of the predicted class.
        patches: L.
        statements: as JSON objects.
        margins: a ball for each rival, None for the predicted class.
        image: the latents (L, D) that it names, None where it names none or none were given.
    """

    head: Head
    predicted: int
    patches: int
    statements: list[Document]
    margins: list[Any]
    image: Matrix | None

    @classmethod
    def read(cls, certificate: bytes, head: bytes, latents: bytes | None) -> Claim:
        """Raises WrongError where digests, counts or indices contradict each other."""
        document = read_json(certificate)
        predicate, subject = document["predicate"], document["subject"]
        parsed = Head.read(head)
        if subject[0]["digest"]["sha256"] != hashlib.sha256(head).hexdigest():
            raise WrongError("the certificate is of another head")
        image = None
        if len(subject) > 1 and latents is not None:
            matches = [each for each in read_latents(latents) if digest(each) == subject[1]["digest"]["sha256"]]
            if not matches:
                raise WrongError("the certificate is of another image")
            image = matches[0]
            if len(image) != predicate["patches"]:
                raise WrongError("the image has another number of patches")
        margins = [None if m is None else ball(float.fromhex(m)) for m in predicate["margins"]]
        if len(margins) != len(parsed.weight) or any(
            (m is None) != (c == predicate["predicted"]) for c, m in enumerate(margins)
        ):
            raise WrongError("there is not one margin for each rival")
        if any(m is not None and not m > 0 for m in margins):
            raise WrongError("a margin is not positive")
        if len({*map(about, predicate["statements"])}) != len(predicate["statements"]):
            raise WrongError("two statements are about the same thing")
        if any(s.get("patch", 0) >= predicate["patches"] for s in predicate["statements"]):
            raise WrongError("a statement is about a patch that does not exist")
        return cls(parsed, predicate["predicted"], predicate["patches"], predicate["statements"], margins, image)

    def require_instance(self, certainly: bool = True) -> None:
        """Raises WrongError unless the statements are certainly true of the image; or may be, where that is enough."""
        if self.image is None:
            return
        if not all(map(self.head.admits, self.image)):
            raise WrongError("the latents lie outside the domain")
        evaluations = Evaluations(self.head)
        activations = evaluations.activations(given(self.image))
        for statement in self.statements:
            if not evaluations.holds(statement, self.image, activations, certainly=certainly):
                raise WrongError("a statement is not true of the image")

    def counterexample(self, evaluations: Evaluations, witnesses: list[list[Vector]]) -> list[Vector] | None:
        """A witness that satisfies every statement and certainly falls short of a margin, None where there is none."""
        for image in witnesses:
            if len(image) != self.patches:
                continue
            activations = evaluations.activations(image)
            if not evaluations.all_may_hold(self.statements, image, activations):
                continue
            if not all(map(self.head.admits, image)):
                continue
            logits = self.head.logits(activations)
            for c, margin in enumerate(self.margins):
                if margin is None:
                    continue
                if bool(logits[self.predicted] - logits[c] < margin - ball(2) ** -_TOLERANCE_BITS):
                    return image
        return None
