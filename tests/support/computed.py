"""One evaluation of a head in binary32 that certificates/v1.md, "Deployment", allows, without the checker.

It judges rejected deployment claims: latents of binary32 numbers that satisfy every statement, for which this
evaluation does not give the predicted class the greatest logit, show that the claim is false. Sums run from left to
right, every step is rounded to the nearest binary32 number, and each logarithm is off by nearly as many ulps as the
auditor allows, in the direction that costs the predicted class most.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import reduce
from math import log, sqrt
from typing import Any

import flint
from support.arithmetic import PRECISION, Matrix, Vector
from support.claims import Claim
from support.exact import Head
from support.files import given, read_latents

from verale.soundness.corpus.cases import BEYOND, Case

__all__ = ["PROTOTYPES", "holds_of_deployed", "is_lost", "rounded"]

PROTOTYPES = "prototypes"
"""What is false of a head whose prototypes are no binary32 numbers (`claim` of the mark)."""

_ULP = 2.0**-23
_COVERED = (("euclidean", "negated"), ("euclidean", "log_ratio"), ("cosine", "identity"))


def holds_of_deployed(case: Case) -> bool:
    """Whether the mark of a rejected case holds. Of what is beyond: whether there is a reason."""
    asked = asdict(given(case.deployment))
    if case.mark == BEYOND:
        return case.why != ""
    if case.breaks is not None:
        return is_lost(case.certificate, case.head, case.breaks, asked)
    rows = Head.read(case.head).prototypes or []
    return case.claim == PROTOTYPES and any(rounded(x) != x for row in rows for x in row)


def is_lost(certificate: bytes, head: bytes, latents: bytes, asked: Mapping[str, Any]) -> bool:
    """Whether the one image of a latents file is of binary32 numbers, certainly satisfies every statement, and a rival
    is computed to have at least the logit of the predicted class, or a number overflows or is divided by 0.

    Args:
        asked: the field `deployment` of the case.
    """
    with flint.ctx.workprec(PRECISION):
        (image,) = read_latents(latents)
        claim = Claim.read(certificate, head, None)
        if not claim.satisfied(image):
            return False
    if any(rounded(x) != x for z in image for x in z):
        return False
    rivals = [c for c, margin in enumerate(claim.margins) if margin is not None]
    try:
        return any(_Evaluation(claim.head, asked, claim.predicted, c).loses(image) for c in rivals)
    except (OverflowError, ZeroDivisionError):
        return True


def rounded(value: float) -> float:
    """The nearest binary32 number. Of a sum, product or quotient in binary64 of binary32 numbers it is that of the
    exact one, since 53 >= 2 * 24 + 2. Raises OverflowError."""
    (found,) = struct.unpack("<f", struct.pack("<f", value))
    return float(found)


@dataclass(frozen=True)
class _Evaluation:
    """Of a head with cosines, or with logarithms or negatives of squared distances, maxima and a linear readout."""

    head: Head
    asked: Mapping[str, Any]
    predicted: int
    rival: int

    def loses(self, image: Matrix) -> bool:
        """Whether the predicted class has no greater logit."""
        head = self.head
        parts = (head.kind("geometry"), head.kind("similarity"))
        others = (head.scale, head.kind("pooling"), head.kind("readout"))
        if parts not in _COVERED or others != (None, "max", "linear"):
            raise ValueError("only maxima of cosines or of squared distances, read out linearly, are covered")
        activations = [max(self._similarity(z, j) for z in image) for j in range(head.count)]
        return self._logit(self.predicted, activations) <= self._logit(self.rival, activations)

    def _logit(self, c: int, activations: list[float]) -> float:
        terms = [rounded(rounded(w) * a) for w, a in zip(self.head.weight[c], activations, strict=True) if w]
        return _sum([*terms, *([] if self.head.bias is None else [rounded(self.head.bias[c])])])

    def _similarity(self, z: Vector, j: int) -> float:
        p = given(self.head.prototypes)[j]
        if self.head.kind("geometry") == "cosine":
            epsilon = rounded(float.fromhex(self.head.part("geometry")["epsilon"]))
            along = rounded(_dot(z, p) / rounded(_length(z) + epsilon))
            return rounded(along / _length(p))
        distance = self._distance(z, p)
        if self.head.kind("similarity") == "negated":
            return -distance
        epsilon = rounded(float.fromhex(self.head.part("similarity")["epsilon"]))
        distance = max(0.0, distance)
        value = log(rounded(rounded(distance + 1) / rounded(distance + epsilon)))
        costs = -1 if self.head.weight[self.predicted][j] > self.head.weight[self.rival][j] else 1
        return rounded(value + costs * (self.asked["log"] - 1) * _ULP * abs(value))

    def _distance(self, z: Vector, p: Vector) -> float:
        if self.asked["formula"] == "direct":
            return _dot(differences := [rounded(x - y) for x, y in zip(z, p, strict=True)], differences)
        if self.asked["formula"] == "expanded":
            return _sum([_dot(z, z), -2 * _dot(z, p), _dot(p, p)])
        return _sum([*(rounded(-2 * x * y) for x, y in zip(z, p, strict=True)), _dot(z, z), _dot(p, p)])


def _dot(one: Vector, other: Vector) -> float:
    return _sum(rounded(x * y) for x, y in zip(one, other, strict=True))


def _length(z: Vector) -> float:
    return rounded(sqrt(_dot(z, z)))


def _sum(terms: Iterable[float]) -> float:
    """From left to right."""
    return reduce(lambda total, term: rounded(total + term), terms, 0.0)
