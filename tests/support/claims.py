"""What a certificate says of latents, decided on exact numbers (`support.exact`).

Call what decides within `flint.ctx.workprec(PRECISION)`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import inf
from typing import Any

from support.arithmetic import Ball, Matrix, Number, Vector, ball, certainly_within
from support.exact import Head, Values
from support.files import Document, digest, read_latents

_AT_MOST_ONE = ("cosine", "rooted_cosine", "softmax")
"""Geometries whose observables are at most 1 in size. A ball cannot show that 1 <= 1."""


def interval(statement: Document) -> tuple[float, float]:
    """The ends of a statement's interval; infinite where it has none. The ceiling and a sum have an upper end alone,
    the floor a lower one."""
    ends = statement["interval"] if "interval" in statement else (statement.get("lower"), statement.get("upper"))
    low, high = (None if end is None else float.fromhex(end) for end in ends)
    return -inf if low is None else low, inf if high is None else high


def values_of(statement: Document, values: Values, head: Head, predicted: int) -> list[Number]:
    """The numbers of an image that a statement is about: an observable, or activations; of a sum what is taken back for
    each of its rivals."""
    if "rivals" in statement:
        rivals = range(len(head.weight)) if statement["rivals"] is None else statement["rivals"]
        return [taken_back(head, values.activations, predicted, c) for c in rivals if c != predicted]
    if "except" in statement:
        return [a for j, a in enumerate(values.activations) if j not in statement["except"]]
    if "patch" in statement:
        return [values.observables[statement["patch"]][statement["prototype"]]]
    return [values.activations[statement["prototype"]]]


def taken_back(head: Head, activations: list[Ball], predicted: int, rival: int) -> Ball:
    """What the prototypes of which another class has a greater weight give the rival more than the class."""
    total = ball(0)
    for j, activation in enumerate(activations):
        own = head.weight[predicted][j]
        if any(row[j] > own for row in head.weight):
            total += (ball(head.weight[rival][j]) - ball(own)) * activation
    return total


@dataclass(frozen=True)
class Claim:
    """What a well-formed certificate claims about a head and its latents.

    Attributes:
        head: the head that it names.
        predicted: the index of the predicted class.
        patches: L.
        statements: as JSON objects.
        margins: a ball for each rival, None for the predicted class.
        image: the latents (L, D) that it names, None where it names none or they are not in the file.
    """

    head: Head
    predicted: int
    patches: int
    statements: list[Document]
    margins: list[Any]
    image: Matrix | None

    @classmethod
    def read(cls, certificate: bytes, head: bytes, latents: bytes | None) -> Claim:
        document = json.loads(certificate)
        predicate, subject = document["predicate"], document["subject"]
        images = [] if latents is None or len(subject) == 1 else read_latents(latents)
        image = next((each for each in images if digest(each) == subject[1]["digest"]["sha256"]), None)
        margins = [None if margin is None else ball(float.fromhex(margin)) for margin in predicate["margins"]]
        said = predicate["predicted"], predicate["patches"], predicate["statements"]
        return cls(Head.read(head), *said, margins, image)

    def holds(self, statement: Document, values: Values) -> bool:
        """Whether a statement is certainly true of an image."""
        at_most_one = "patch" in statement and self.head.kind("geometry") in _AT_MOST_ONE
        about = values_of(statement, values, self.head, self.predicted)
        return all(certainly_within(each, *interval(statement), at_most_one) for each in about)

    def satisfied(self, image: list[Vector], values: Values | None = None) -> bool:
        """Whether latents certainly lie in the domain and satisfy every statement."""
        if len(image) != self.patches or not all(map(self.head.admits, image)):
            return False
        values = self.head.at(image) if values is None else values
        return all(self.holds(statement, values) for statement in self.statements)

    def gaps(self, image: list[Vector]) -> list[tuple[Ball, Ball]]:
        """For each rival the difference of logits at these latents, and the claimed margin."""
        logits = self.head.at(image).logits
        return [
            (logits[self.predicted] - logits[c], margin) for c, margin in enumerate(self.margins) if margin is not None
        ]
