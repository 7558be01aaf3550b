"""What is proved of deployed heads holds for an adversary that loses as much as certificates/v1.md allows.

Every step is moved by nearly all that its formula may lose, in the direction that costs the class most. All of it is
computed in binary64 from the formulas that the checker's docstrings state, whose own error is far smaller.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from math import exp, floor, log, prod, sqrt
from typing import Any

import pytest
from support import files
from support.exact import Head as ExactHead

from verale.checker.certificate import Certificate, PatchStatement
from verale.checker.deployment import Deployment
from verale.checker.errors import UnprovedError
from verale.checker.head import read_head
from verale.checker.options import load_arithmetic
from verale.checker.reading.deployment import Losses, deployed_margins
from verale.checker.reading.pooling import Box
from verale.checker.reading.space import Space

_U = 2.0**-24
_NEARLY = 0.999
_ULPS = {"log": 5, "exp": 6, "sqrt": 2}
_DEPTH, _COUNT, _CLASSES, _PATCHES = 12, 4, 3, 6
_BOX = {"lower": (0.0).hex(), "upper": (1.0).hex()}
_EPSILON, _SMALL = 2.0**-13, 2.0**-20
_Vector = Sequence[float]


@dataclass(frozen=True)
class _Subject:
    """A head of these parts, with numbers of binary32."""

    geometry: str
    similarity: str
    pooling: str = "max"
    formula: str = "direct"
    scaled: bool = False
    rounded: bool = False

    @property
    def points(self) -> list[list[float]]:
        draw = random.Random(f"points {self.geometry}")
        return [[_short(draw.random()) for _ in range(_DEPTH)] for _ in range(_COUNT)]

    @property
    def scales(self) -> list[float]:
        return [0.3, 1.7, 4.1, 1.1] if self.rounded else [0.5, 2.0, 4.0, 1.0] if self.scaled else [1.0] * _COUNT

    @property
    def weight(self) -> list[list[float]]:
        draw = random.Random(7)
        rows = [[_short(draw.gauss(0, 1)) for _ in range(_COUNT)] for _ in range(_CLASSES)]
        rows[1][2] = 0.0
        return [[w * 1.1 for w in row] for row in rows] if self.rounded else rows

    @property
    def bias(self) -> list[float]:
        return [0.25, 0.0, -3.0]

    @property
    def data(self) -> bytes:
        epsilon = {"log_ratio": _EPSILON, "exp_distance": _EPSILON}.get(self.similarity)
        similarity: dict[str, Any] = {"kind": self.similarity}
        if epsilon is not None:
            similarity["epsilon"] = epsilon.hex()
        if self.similarity == "threshold":
            similarity["threshold"] = (0.25).hex()
        geometry: dict[str, Any] = {"kind": self.geometry}
        if self.geometry in ("cosine", "rooted_cosine"):
            geometry["epsilon"] = _SMALL.hex()
        if self.geometry == "inner_product":
            geometry["radius"] = None
        pooling: dict[str, Any] = {"kind": self.pooling} | ({"k": _PATCHES} if self.pooling == "top_mean" else {})
        parts = {"geometry": geometry, "similarity": similarity, "pooling": pooling, "domain": _BOX}
        points = None if self.geometry == "softmax" else self.points
        return ExactHead(self.weight, points, parts, bias=self.bias, scale=self.scales if self.scaled else None).data


_SUBJECTS = (
    *(_Subject("euclidean", "log_ratio", formula=formula) for formula in ("direct", "expanded", "cdist")),
    _Subject("euclidean", "log_ratio", formula="direct", scaled=True, rounded=True),
    _Subject("euclidean", "negated", formula="cdist", scaled=True),
    _Subject("euclidean", "exp_distance"),
    _Subject("euclidean", "exponential", formula="direct", scaled=True),
    _Subject("euclidean", "log_ratio", "top_mean"),
    _Subject("euclidean", "log_ratio", "max_minus_mean", "expanded"),
    _Subject("euclidean", "log_ratio", "max_minus_mean_distance"),
    _Subject("cosine", "identity"),
    _Subject("cosine", "exponential", scaled=True),
    _Subject("rooted_cosine", "rectified"),
    _Subject("cosine", "identity", "top_mean"),
    _Subject("cosine", "identity", "max_minus_mean"),
    _Subject("inner_product", "identity"),
    _Subject("softmax", "identity"),
    _Subject("softmax", "threshold"),
)


def space_of(data: bytes) -> Space:
    return Space(read_head(data), load_arithmetic("arb"))


@pytest.mark.parametrize("subject", _SUBJECTS, ids=lambda each: f"{each.geometry} {each.similarity} {each.pooling}")
def test_no_more_is_proved_than_the_adversary_computes(subject: _Subject) -> None:
    space, deployment = space_of(subject.data), Deployment(subject.formula, **_ULPS)
    losses = Losses(space, deployment, (), _PATCHES)
    if subject.geometry == "euclidean":
        for power in range(-space.bits, 0):  # all may be lost of such distances
            near = 1 << space.bits + power
            assert losses.least(0, 0) <= near - losses.loss(0, near), f"a distance of 2^{power}"
    certificate = Certificate("", None, 0, "top_k", _PATCHES, (), (None, 1, 1), ("entailment",))
    for image in _images(subject):
        real, computed = _activations(subject, image)
        low = [floor(Fraction(a) * 2**space.bits) for a in real]
        box = Box(low, [a + 1 for a in low], space.bits)
        margins = deployed_margins(space, certificate, box, (None, 1, 1), deployment)
        for rival in (1, 2):
            assert files.given(margins[rival]) <= Fraction(_difference(subject, computed, rival)) + Fraction(1, 2**44)


def test_a_margin_that_is_bounded_as_a_whole_loses_as_much() -> None:
    subject, deployment = _Subject("softmax", "identity"), Deployment("direct", **_ULPS)
    space = space_of(subject.data)
    record = Certificate("", None, 0, "assignment", 2, (), (None, 1, 1), ("entailment",))
    box = Box([0] * _COUNT, [1 << space.bits] * _COUNT, space.bits)
    margins = deployed_margins(space, record, box, (None, Fraction(1, 2), 1), deployment)
    apart = sum(abs(w - v) for w, v in zip(subject.weight[0], subject.weight[1], strict=True))
    assert files.given(margins[1]) <= Fraction(0.5 - _NEARLY * _gamma(_COUNT + 4 * _ULPS["exp"] + 3) * apart)


def test_latents_of_stated_patches_are_as_far_away_as_they_may_be() -> None:
    space = space_of(ExactHead([[1.0], [0.0]], [[3.0, 4.0]], {"domain": files.domain(None, None)}).data)
    deployment = Deployment("direct", **_ULPS)
    stated = [PatchStatement(n, 0, None, Fraction(h)) for n, h in enumerate((1, 100))]
    assert Losses(space, deployment, stated, 2).farthest[0] >= 20 * 20 << space.bits
    with pytest.raises(UnprovedError):
        Losses(space, deployment, stated[:1], 2)


@cache
def _images(subject: _Subject) -> list[list[list[float]]]:
    draw = random.Random(f"image {subject.geometry}")
    images = [[[_short(draw.random()) for _ in range(_DEPTH)] for _ in range(_PATCHES)] for _ in range(3)]
    if subject.geometry == "softmax":
        level = [[1.0, 1.0, 1.0, 1 - 2.0**-20]] * _PATCHES
        return [level, *([row[:_COUNT] for row in image] for image in images)]
    near = [[_short(x * (1 - 1e-3)) for x in subject.points[j % _COUNT]] for j in range(_PATCHES)]
    return [*images, near, [[1.0] * _DEPTH] * _PATCHES]


def _activations(subject: _Subject, image: list[list[float]]) -> tuple[list[float], list[tuple[float, float]]]:
    """The real activations, and the least and the greatest that the adversary computes."""
    real, computed = [], []
    for j in range(_COUNT):
        column = [_observable(subject, z, j) for z in image]
        real.append(_pooled(subject, j, [x for x, _ in column], 0))
        values = [_similarity(subject, j, x, 0) for x, _ in column]
        best = values.index(max(values))
        ends = [
            _pooled(
                subject,
                j,
                [x + _NEARLY * loss * (own if n == best else rest) for n, (x, loss) in enumerate(column)],
                side,
            )
            for own, rest, side in product((-1, 1), (-1, 1), (-1, 1))
        ]
        computed.append((min(ends), max(ends)))
    return real, computed


def _observable(subject: _Subject, z: _Vector, j: int) -> tuple[float, float]:
    """The real one, and what it may lose."""
    squares = sum(x * x for x in z)
    root = 4 * _ULPS["sqrt"] + 3
    if subject.geometry == "softmax":
        total = sum(exp(x - max(z)) for x in z)
        mass = exp(z[j] - max(z)) / total
        return mass, _gamma(_COUNT + 4 * _ULPS["exp"] + 3) * mass
    p = subject.points[j]
    along, own = sum(map(prod, zip(z, p, strict=True))), sum(x * x for x in p)
    if subject.geometry == "inner_product":
        return along, _gamma(_DEPTH + 2) * along
    if subject.geometry != "euclidean":
        length = sqrt(squares) + _SMALL if subject.geometry == "cosine" else sqrt(squares + _SMALL)
        value = along / (sqrt(own) * length)
        return value, _gamma(3 * _DEPTH + 8 * _ULPS["sqrt"] + 15) * value + 2 * _U
    distance = sum((x - y) ** 2 for x, y in zip(z, p, strict=True))
    if subject.formula == "direct":
        return distance, _gamma(_DEPTH + 3 + root) * distance
    n = _DEPTH + 4 + root
    m = n + (_DEPTH + 1) * (subject.formula == "cdist")
    return distance, _gamma(m) * (squares + own) + 2 * _gamma(n) * along


def _pooled(subject: _Subject, j: int, column: list[float], side: int) -> float:
    """The activation of moved observables; `side` is where similarities and means are moved, 0 for not at all."""
    similar = [_similarity(subject, j, x, side) for x in column]
    match subject.pooling:
        case "max":
            return max(similar)
        case "top_mean":
            return _moved(sum(similar) / _PATCHES, _gamma(_PATCHES + 1), side)
        case "max_minus_mean":
            mean = sum(_similarity(subject, j, x, -side) for x in column) / _PATCHES
            return _moved(max(similar) - _moved(mean, _gamma(_PATCHES + 1), -side), _U, side)
        case _:
            mean = _moved(sum(column) / _PATCHES, _gamma(_PATCHES + 1), side)
            return _moved(max(similar) - _similarity(subject, j, mean, -side), _U, side)


def _similarity(subject: _Subject, j: int, x: float, side: int) -> float:
    scale, k = subject.scales[j], _ULPS
    own = 1 + (2 * k["exp"] + 2 if subject.rounded else 0) if subject.scaled else 0
    match subject.similarity:
        case "log_ratio":
            scaled = _moved(scale * max(0.0, x), _gamma(own), -side)
            value = log((scaled + 1) / (scaled + _EPSILON)) + side * _NEARLY * _gamma(4)
            return _moved(value, 2 * k["log"] * _U, side)
        case "negated":
            return -_moved(scale * x, _gamma(own), -side)
        case "exp_distance":
            under = _moved(max(0.0, x) + _EPSILON, _gamma(4 * k["sqrt"] + 4), -side)
            return _moved(exp(-sqrt(under)), 2 * k["exp"] * _U, side)
        case "exponential":
            far = scale * (x if subject.geometry == "euclidean" else 1 - x)
            return _moved(exp(-_moved(far, _gamma(own + 1), -side)), 2 * k["exp"] * _U, side)
        case "rectified":
            return max(0.0, x)
        case "threshold":
            return x if x >= 0.25 else 0.0
        case _:
            return x


def _difference(subject: _Subject, computed: list[tuple[float, float]], rival: int) -> float:
    """The least difference of two logits that the adversary computes."""
    predicted, other = subject.weight[0], subject.weight[rival]
    chosen = [low if w > v else high for w, v, (low, high) in zip(predicted, other, computed, strict=True)]
    apart = sum((w - v) * a for w, v, a in zip(predicted, other, chosen, strict=True))
    apart += subject.bias[0] - subject.bias[rival]
    for c in (0, rival):
        terms = [abs(w * a) for w, a in zip(subject.weight[c], chosen, strict=True) if w]
        terms += [abs(subject.bias[c])] * (subject.bias[c] != 0)
        apart -= _NEARLY * _gamma(len(terms) + 1 + subject.rounded) * sum(terms)
    return apart


def _gamma(n: float) -> float:
    return n * _U / (1 - n * _U)


def _moved(value: float, share: float, side: float) -> float:
    return value + side * _NEARLY * share * abs(value)


def _short(x: float) -> float:
    """A number of at most 20 bits after the point."""
    return round(x * 2**20) / 2**20
