"""An attack on what is proved of deployed heads: an adversary that loses as much as certificates/v1.md allows.

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

from checker_mutants.mutant import Import
from support import files
from support.exact import Head as ExactHead

__all__ = ["deployments_lose_less"]

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


def deployments_lose_less(module: Import, kernel: str) -> str:
    """What the adversary breaks, or what is proved though it is not covered."""
    found = _numbers(module("deployment")) or _refusals(module, kernel) or _together(module, kernel)
    return found or _adversary(module, kernel)


def _adversary(module: Import, kernel: str) -> str:
    heads, choices, spaces = module("head"), module("options"), module("reading.space")
    rule, similarity, records = module("reading.deployment"), module("reading.pooling"), module("certificate")
    for subject in _SUBJECTS:
        space = spaces.Space(heads.read_head(subject.data), choices.load_arithmetic(kernel))
        deployment = module("deployment").Deployment(subject.formula, **_ULPS)
        losses = rule.Losses(space, deployment, (), _PATCHES)
        for power in range(-space.bits, 0):  # all may be lost of such distances
            near = 1 << space.bits + power
            if subject.geometry == "euclidean" and losses.least(0, 0) > near - losses.loss(0, near):
                return f"{subject}: a distance of 2^{power} may be computed as less than one of 0"
        certificate = records.Certificate("", None, 0, "top_k", _PATCHES, (), (None, 1, 1), ("entailment",))
        for image in _images(subject):
            real, computed = _activations(subject, image)
            low = [floor(Fraction(a) * 2**space.bits) for a in real]
            box = similarity.Box(low, [a + 1 for a in low], space.bits)
            margins = rule.deployed_margins(space, certificate, box, (None, 1, 1), deployment)
            for rival in (1, 2):
                reached = _difference(subject, computed, rival)
                if margins[rival] > Fraction(reached) + Fraction(1, 2**44):
                    return f"{subject}: {float(margins[rival])} is proved of rival {rival}, {reached} is computed"
    return ""


def _numbers(deployment: Any) -> str:
    """What is wrong with binary32 numbers and gamma."""
    known = {1.0: True, 2.0**-149: True, 2.0**-150: False, 1 + 2.0**-24: False, 2.0**128: False, 0.1: False, 0.0: True}
    for value, expected in known.items():
        if deployment.is_binary32(Fraction(value)) != expected:
            return f"{value} is taken for a number that it is not"
    for n in (1, 7, 2**20):
        if deployment.gamma(n) < Fraction(n) / (2**24 - n):
            return f"gamma of {n} is too small"
    if deployment.TINY < 2.0**-126 or deployment.LARGEST > 2.0**126:
        return "normal numbers are of another format"
    for wrong in ({"log": 0}, {"exp": 1025}, {"sqrt": -1}, {"formula": "winograd"}):
        try:
            deployment.Deployment(**({"formula": "direct"} | wrong))
        except ValueError:
            continue
        return f"{wrong} is taken"
    return ""


def _refusals(module: Import, kernel: str) -> str:
    """What is proved that should not be, of heads whose first class wins by its bias alone."""
    deployment = module("deployment").Deployment("direct")
    tree = {"kind": "soft_tree", "absent": [-1, -2, -3, -4], "present": [1, 2, 3, -5]}
    unit = {"kind": "exp_distance", "epsilon": _EPSILON.hex()}
    bare = {"geometry": files.cosine(0.0), "similarity": files.IDENTITY}
    masses = {"geometry": files.SOFTMAX, "similarity": {"kind": "threshold", "threshold": (0.1).hex()}}
    points = _Subject("euclidean", "log_ratio").points
    heads: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("", {}, {}),
        ("soft_tree", {"readout": tree, "similarity": unit}, {"weight": [[x] * 5 for x in (9.0, 0.0)], "bias": None}),
        ("quadratic", {"similarity": {"kind": "quadratic"}}, {}),
        ("overflow", {"domain": files.domain(None, None)}, {}),
        ("overflow", {"domain": files.domain(0.0, 2.0**70), "similarity": unit}, {}),
        ("overflow", {}, {"weight": [[2.0**125] * _COUNT] * 2}),
        ("underflow", bare, {}),
        ("prototypes", {}, {"prototypes": [[0.1] * _DEPTH] * _COUNT}),
        ("threshold", masses, {"prototypes": None}),
        ("scaled", {"similarity": {"kind": "exponential"}}, {"scale": [2.0**124] * _COUNT}),
        ("scaled", {"similarity": {"kind": "exponential"}}, {"scale": [2.0**-127] * _COUNT}),
        ("falls short", {}, {"weight": [[1e4] * _COUNT] * 2, "bias": [1e-3, 0.0]}),
    ]
    for why, parts, numbers in heads:
        given: dict[str, Any] = {"weight": [[1.0] * _COUNT] * 2, "prototypes": points, "bias": [9.0, 0.0]} | numbers
        data = ExactHead(given.pop("weight"), given.pop("prototypes"), parts, **given).data
        certificate = files.certificate(data, [], paradigm="top_k", patches=_PATCHES)
        verdict = module("").Auditor(data, None, kernel).check(certificate, entailment_only=True, deployment=deployment)
        said = (verdict.reason, verdict.exit_code, verdict.claims.get("deployment"))
        if said != (("deployment", 16, "not checked") if why else ("", 0, "proved")) or why not in verdict.message:
            return f"expected {why or 'a proof'}: {said} {verdict.message}"
    try:
        module("reading.deployment").require_deployed((None, Fraction(0), Fraction(1)))
    except module("errors").UnprovedError:
        return ""
    return "a tie is a proof"


def _together(module: Import, kernel: str) -> str:
    """What is proved though the margin is bounded as a whole; and how long latents of stated patches may be."""
    heads, load = module("head"), module("options").load_arithmetic
    subject, deployment = _Subject("softmax", "identity"), module("deployment").Deployment("direct", **_ULPS)
    space = module("reading.space").Space(heads.read_head(subject.data), load(kernel))
    record = module("certificate").Certificate("", None, 0, "assignment", 2, (), (None, 1, 1), ("entailment",))
    box = module("reading.pooling").Box([0] * _COUNT, [1 << space.bits] * _COUNT, space.bits)
    margins = module("reading.deployment").deployed_margins(space, record, box, (None, Fraction(1, 2), 1), deployment)
    apart = sum(abs(w - v) for w, v in zip(subject.weight[0], subject.weight[1], strict=True))
    lost = _NEARLY * _gamma(_COUNT + 4 * _ULPS["exp"] + 3) * apart
    if margins[1] > Fraction(0.5 - lost):
        return f"{float(margins[1])} is proved, {0.5 - lost} is computed"
    open_domain = ExactHead([[1.0], [0.0]], [[3.0, 4.0]], {"domain": files.domain(None, None)}).data
    space = module("reading.space").Space(heads.read_head(open_domain), load(kernel))
    stated = [module("certificate").PatchStatement(n, 0, None, Fraction(h)) for n, h in enumerate((1, 100))]
    losses = module("reading.deployment").Losses
    if losses(space, deployment, stated, 2).farthest[0] < 20 * 20 << space.bits:
        return "a latent may be farther away than that"
    try:
        losses(space, deployment, stated[:1], 2)
    except module("errors").UnprovedError:
        return ""
    return "a patch without statements is bounded"


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
