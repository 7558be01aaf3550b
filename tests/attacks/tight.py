"""Certificates whose rule is attained: some latents satisfy every statement and leave just the proved margin.

Certificates of random heads seldom tell whether a rule proves too much: a rival's prototypes cannot all be near at
once, so bounds that treat each of them alone are not attained. Here one prototype decides, the *free* one. It is the
rival's or the predicted class's own, and what all other weights are about is stated. The patches vary independently,
so the margin is attained where the range of the free activation is.

**Prototypes.** Of every patch the observable of an anchor is stated, and that of a second one if `slanted`. What is
left is a sphere about a centre c. The free prototype lies in the plane of that sphere, so that the triangle inequality
about c is attained (`hypersphere`). If not `slanted`, c is the anchor itself (`triangle`). With cosines and inner
products, c is the projection on the span of the anchors, and the free prototype lies in the span of c and a direction
of which nothing is stated.

**Softmax.** If one mass of every patch is stated, the free one can have all that is left, or nothing. If all others are
stated, it has what they leave. For `assignment` two or three channels of the rival compete for what is left.

**Activations.** For `top_k`, `sparse` and `evidence`, what is stated of the free activation are its values at two
images that differ from the certificate's in nothing else that is stated; of the rival's free one, under `evidence`,
what a sum says.

A constant is added to the predicted logit, so that the proved margin is just above 0.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import flint
from support import files
from support.arithmetic import PRECISION, Matrix, above, below, ends
from support.claims import taken_back
from support.exact import Head

from verale.checker import Auditor
from verale.paradigms import paradigms_of
from verale.soundness.combinations import Combination

__all__ = ["Tight", "around", "tight"]

_PATCHES = 3
_ANCHOR, _FREE, _OTHER = range(3)
_MARGIN = 2.0**-6
_FAR = 1024.0
"""A constant that makes any margin positive."""

_SIMILARITIES: dict[str, dict[str, str]] = {
    "log_ratio": {"epsilon": (2.0**-13).hex()},
    "exp_distance": {"epsilon": (2.0**-47).hex()},
    "threshold": {"threshold": (0.125).hex()},
}
_GEOMETRIES: dict[str, dict[str, str]] = {
    "cosine": {"epsilon": (2.0**-27).hex()},
    "rooted_cosine": {"epsilon": (2.0**-27).hex()},
    "inner_product": {"radius": (2.0).hex()},
}
_POOLINGS: dict[str, dict[str, int]] = {"banks": {"class_token": 2}, "top_mean": {"k": 2}}
_MASK = [[1.0, 0.0, 1.0]] * 2 + [[0.0, 1.0, 0.0]] * 2
_TREE: dict[str, list[int]] = {"absent": [1, 2, -3], "present": [-1, -2, -4]}
_BOUNDED = ("negated", "quadratic")
"""Similarities of a distance that need a bounded domain."""


@dataclass(frozen=True)
class Tight:
    """A certificate whose rule is attained, with its files. Its margins are the smallest positive number."""

    paradigm: str
    name: str
    head: bytes
    latents: bytes
    document: dict[str, Any]


@dataclass(frozen=True)
class _Scene:
    """A head without a constant, an image of it, and two images with the same anchors and the free one extreme."""

    head: Head
    image: Matrix
    extremes: tuple[Matrix, Matrix]


def around(value: object) -> tuple[float, float]:
    """An interval about a number, 2^-40 of it wide on either side."""
    low, high = ends(value)
    by = max(abs(low), abs(high)) / 2**40
    return below(low - by), above(high + by)


def tight(combination: Combination) -> Iterator[Tight]:
    """A certificate of a head with these parts, for every paradigm that it has."""
    softmax = combination.geometry == "softmax"
    mixes = (combination.pooling, combination.readout) == ("max", "linear") and combination.similarity != "quadratic"
    left_out = {"assignment"} if mixes else {"assignment", "mixed"}
    left_out |= set() if combination.readout == "linear" else {"evidence"}
    paradigms = [name for name in paradigms_of(combination.geometry, _PATCHES) if name not in left_out]
    for turn, paradigm in enumerate(paradigms):
        # What is stated of the second anchor is not attained in `triangle`, and other paradigms state nothing of it.
        slants = (False, True) if paradigm in ("projection", "hypersphere") else (False,)
        choices = [(upper, slanted) for upper in (True, False) for slanted in slants]
        upper, slanted = choices[turn % len(choices)]
        generator = random.Random(f"{combination} 0 {upper} {slanted}")
        scene = (_masses if softmax else _points)(combination, generator, upper, slanted)
        name = f"{'greatest' if upper else 'least'}{' slanted' if slanted else ''}"
        yield _settled(paradigm, name, scene, _statements(paradigm, scene, upper, slanted))
    if softmax and (combination.similarity, combination.pooling) == ("identity", "max"):
        yield _competition(2, random.Random(f"{combination} 0 2"))


# Heads.


def _head(combination: Combination, prototypes: Matrix | None, upper: bool, generator: random.Random) -> Head:
    """The free prototype is the rival's if its greatest activation is wanted, else the predicted class's."""
    kinds: dict[str, dict[str, Any]] = {
        "geometry": _GEOMETRIES.get(combination.geometry, {}),
        "similarity": _SIMILARITIES.get(combination.similarity, {}),
        "pooling": _POOLINGS.get(combination.pooling, {}),
        "readout": _TREE if combination.readout == "soft_tree" else {},
    }
    parts: dict[str, Any] = {name: {"kind": getattr(combination, name)} | kinds[name] for name in kinds}
    bounded = combination.geometry == "euclidean" and combination.similarity in _BOUNDED
    parts["domain"] = files.domain(-16.0, 16.0) if bounded else files.domain(None, None)
    count = len(prototypes or range(4))
    peak = [generator.uniform(0.2, 0.8) for _ in range(count)] if combination.similarity == "quadratic" else None
    mask = _MASK[:count] if combination.pooling == "masked_max" else None
    first, second = [0.0] * count, [0.0] * count
    if combination.readout == "soft_tree":
        # At the node of the free prototype the present child has leaf 1 and the absent one the leaves 2 and 3.
        leaves = [0.5, 0.0, 1.0, 1.0] if upper else [0.5, 1.0, 0.0, 0.0]
        return Head([leaves, [0.0] * 4], prototypes, parts, None, None, peak)
    first[_ANCHOR if upper else _FREE] = 1.0
    second[_FREE if upper else _ANCHOR] = 1.0
    if combination.readout == "linear":
        return Head([first, second], prototypes, parts, [0.0, 0.0], None, peak, mask)
    (first if upper else second)[_OTHER] = 1.0
    return Head([first, second], prototypes, parts, [0.0, 0.0, -_FAR * 16], None, peak, mask)


def _raised(head: Head, by: float) -> Head:
    """The head with a constant added to the predicted logit, or to the one of its terms that is greatest."""
    if head.part("readout")["kind"] == "soft_tree":
        return replace(head, weight=[[leaf + by for leaf in head.weight[0]], head.weight[1]])
    bias = list(files.given(head.bias))
    bias[head.weight[0].index(1.0) if head.part("readout")["kind"] == "maximum" else 0] += by
    return replace(head, bias=bias)


def _points(combination: Combination, generator: random.Random, upper: bool, slanted: bool) -> _Scene:
    """Prototypes and latents in a random frame of four directions; nothing is stated of the last two."""
    frame = _frame(generator)
    euclidean = combination.geometry == "euclidean"
    origin = [generator.uniform(-0.3, 0.3) if euclidean else 0.0 for _ in range(4)]

    def at(*coordinates: float) -> list[float]:
        return [o + sum(c * axis[d] for c, axis in zip(coordinates, frame, strict=True)) for d, o in enumerate(origin)]

    turn = generator.uniform(0.3, 0.6) if slanted else 0.0
    if euclidean:
        prototypes = [at(0, 0, 0, 0), at(turn, 0, generator.uniform(1.2, 1.5), 0), at(1, 0, 0, 0)]
    else:
        along, across = generator.uniform(0.3, 0.6), generator.uniform(0.7, 1.0)
        prototypes = [at(1.5, 0, 0, 0), at(along * math.cos(turn), along * math.sin(turn), across, 0), at(0, 0.8, 0, 0)]
    sizes = [generator.uniform(0.3, 0.7) for _ in range(_PATCHES)]

    def image(angles: list[float]) -> Matrix:
        rows = []
        for size, angle in zip(sizes, angles, strict=True):
            x, y = math.cos(angle), math.sin(angle)
            if euclidean:
                rows.append(at(turn, 0, size * x, size * y))
            else:
                wide = 0.95 * math.sqrt(1 - size**2)
                rows.append([2 * c for c in at(size * math.cos(turn), size * math.sin(turn), wide * x, wide * y)])
        return rows

    head = _head(combination, prototypes, upper, generator)
    own = [generator.uniform(1.0, 2.1) * generator.choice((1, -1)) for _ in range(_PATCHES)]
    return _Scene(head, image(own), (image([0.0] * _PATCHES), image([math.pi] * _PATCHES)))


def _frame(generator: random.Random) -> Matrix:
    """Four orthonormal vectors, but for rounding."""
    rows: Matrix = []
    while len(rows) < 4:
        row = [generator.gauss(0, 1) for _ in range(4)]
        for other in rows:
            share = sum(a * b for a, b in zip(row, other, strict=True))
            row = [a - share * b for a, b in zip(row, other, strict=True)]
        length = math.hypot(*row)
        if length > 0.1:
            rows.append([a / length for a in row])
    return rows


def _masses(combination: Combination, generator: random.Random, upper: bool, slanted: bool) -> _Scene:
    """Four channels; the free one has some of what the first leaves, or all, or nothing."""
    sizes = [generator.uniform(0.3, 0.6) for _ in range(_PATCHES)]
    shares = [[generator.uniform(0.3, 0.4), generator.uniform(0.25, 0.3)] for _ in range(_PATCHES)]

    def image(shares: list[list[float]]) -> Matrix:
        masses = [
            [size, *((1 - size) * share for share in (*pair, 1 - sum(pair)))]
            for size, pair in zip(sizes, shares, strict=True)
        ]
        return [list(map(math.log, row)) for row in masses]

    tiny = 2.0**-40
    extremes = image([[1 - 2 * tiny, tiny]] * _PATCHES), image([[tiny, 0.5]] * _PATCHES)
    return _Scene(_head(combination, None, upper, generator), image(shares), extremes)


# Certificates.


def _statements(paradigm: str, scene: _Scene, upper: bool, slanted: bool) -> list[dict[str, object]]:
    with flint.ctx.workprec(PRECISION):
        values = scene.head.at(scene.image)
        activations = values.activations
        if paradigm in ("top_k", "sparse", "evidence"):
            each = [activations, *(scene.head.at(extreme).activations for extreme in scene.extremes)]
            low, high = (pick(end for a in each for end in around(a[_FREE])) for pick in (min, max))
            anchor = files.activation_statement(_ANCHOR, *around(activations[_ANCHOR]))
            most = max(around(taken_back(scene.head, at, 0, 1))[1] for at in each) if paradigm == "evidence" else -1.0
            if upper and most >= 0:
                return [anchor, files.total(None, most)]
            if upper and paradigm != "sparse":
                exempt = [j for j in range(scene.head.count) if j != _FREE]
                return [anchor, files.order_clause(exempt, high)]
            return [anchor, files.activation_statement(_FREE, low, high)]
        statements = []
        for patch in range(len(scene.image)):
            stated = [_ANCHOR] + [_OTHER] * (slanted or patch % 2 == 1)
            if scene.head.prototypes is None:
                stated = [_ANCHOR] if upper else [_ANCHOR, _OTHER, 3]
            for j in stated:
                low, high = around(values.observables[patch][j])
                if scene.head.prototypes is None and j != _ANCHOR:
                    low, high = 0.9 * low, 1.1 * high
                statements.append(files.patch_statement(patch, j, low, high))
        return statements


def _settled(paradigm: str, name: str, scene: _Scene, statements: list[dict[str, Any]]) -> Tight:
    """The certificate with the constant that leaves the proved margin just above 0."""
    first = _of(paradigm, name, _raised(scene.head, _FAR), scene.image, statements)
    margins = Auditor(first.head, first.latents, kernel="arb").check(files.encode(first.document)).margins
    by = _FAR - float(files.given(margins[1])) + _MARGIN
    return _of(paradigm, name, _raised(scene.head, by), scene.image, statements)


def _of(
    paradigm: str,
    name: str,
    head: Head,
    image: Matrix,
    statements: list[dict[str, Any]],
    prices: list[dict[str, Any]] | None = None,
) -> Tight:
    data = head.data
    document = files.document(data, statements, paradigm=paradigm, patches=len(image), image=image)
    document["predicate"]["hints"] = {"prices": prices} if prices else {}
    return Tight(paradigm, name, data, files.latents([image]), document)


def _competition(rivals: int, generator: random.Random) -> Tight:
    """Channel 0 is the predicted class's and stated everywhere; `rivals` others share what it leaves.

    With n rivals of weight 1 the heaviest matching gives them the n greatest remainders, and n prices of the least of
    these prove just that.
    """
    left = sorted((generator.uniform(0.1, 0.25) + 0.15 * step for step in range(_PATCHES)), reverse=True)
    image = [
        [math.log(1 - rest), *[math.log(rest / (rivals + 1))] * (rivals + 1)]
        for rest in generator.sample(left, len(left))
    ]
    count = rivals + 2
    weight = [[1.0] + [0.0] * (count - 1), [0.0] + [1.0] * rivals + [0.0]]
    bias = [sum(left[:rivals]) - (1 - left[-1]) + _MARGIN, 0.0]
    parts = {"geometry": files.SOFTMAX, "similarity": files.IDENTITY, "domain": files.domain(None, None)}
    head = Head(weight, None, parts, bias)
    with flint.ctx.workprec(PRECISION):
        observables = head.at(image).observables
        statements = [files.patch_statement(patch, 0, *around(row[0])) for patch, row in enumerate(observables)]
    price = [left[rivals - 1].hex()] * rivals
    prices = [{"rival": 1, "prototypes": [*range(1, rivals + 1)], "prices": price}]
    return _of("assignment", f"{rivals} compete", head, image, statements, prices)
