"""Heads with every part that certificates/v1.md has, drawn at random, and latents in their domains."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any

from support import arithmetic, files
from support.exact import Head as ExactHead

from verale.checker.read.similarities import SIMILARITIES

COUNT, DEPTH, CLASSES, PATCHES = 5, 3, 3, 4
GEOMETRIES: dict[str, dict[str, Any]] = {
    "euclidean": {"geometry": files.EUCLIDEAN, "domain": files.domain(-1.0, 1.0)},
    "cosine": {"geometry": files.cosine(0.25), "domain": files.domain(None, None)},
    "rooted_cosine": {"geometry": {"kind": "rooted_cosine", "epsilon": (0.1).hex()}, "domain": files.domain(0.0, None)},
    "inner_product": {"geometry": {"kind": "inner_product", "radius": None}, "domain": files.domain(-0.3, 1.0)},
    "inner_product in a ball": {
        "geometry": {"kind": "inner_product", "radius": (1.5).hex()},
        "domain": files.domain(None, None),
    },
    "inner_product in an orthant of a ball": {
        "geometry": {"kind": "inner_product", "radius": (1.5).hex()},
        "domain": files.domain(0.0, 1.0),
    },
    "softmax": {"geometry": files.SOFTMAX, "domain": files.domain(None, None)},
}
SIMILARITY_FIELDS = {
    "log_ratio": {"epsilon": (1e-3).hex()},
    "exp_distance": {"epsilon": (1e-14).hex()},
    "threshold": {"threshold": (0.15).hex()},
}
POOLINGS: list[dict[str, Any]] = [
    files.MAX,
    {"kind": "banks", "class_token": 2},
    {"kind": "masked_max"},
    {"kind": "top_mean", "k": 1},
    {"kind": "top_mean", "k": 3},
    {"kind": "top_mean", "k": 10**17},
    {"kind": "max_minus_mean"},
    {"kind": "max_minus_mean_distance"},
]
LINEAR = {"kind": "linear"}
STEPS: dict[str, tuple[tuple[str, ...], list[dict[str, Any]]]] = {
    "steps of distances": (
        ("euclidean",),
        [
            {"kind": "scale"},
            {"kind": "add", "number": "0x1p-6"},
            {"kind": "root"},
            {"kind": "reciprocal", "number": "0x1p-2"},
            {"kind": "multiply", "number": "0x1p-2"},
        ],
    ),
    "steps from a peak": (
        ("euclidean", "cosine", "rooted_cosine", "inner_product"),
        [{"kind": "from_peak"}, {"kind": "square"}, {"kind": "negate"}, {"kind": "exp"}],
    ),
    "steps of cosines": (
        ("cosine", "rooted_cosine", "softmax"),
        [
            {"kind": "negate"},
            {"kind": "add", "number": "0x1p+0"},
            {"kind": "rectify"},
            {"kind": "log_ratio", "over": "0x1p+1", "under": "0x1p-3"},
        ],
    ),
}
"""Some similarities given by their steps, the geometries that they are tried with, and the steps."""
TREE = {"kind": "soft_tree", "absent": [1, -1, -3, -5, -4], "present": [2, 3, 4, -2, -6]}


def cases() -> list[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Every combination of parts that v1.md allows, but for readouts under every pooling."""
    result = []
    for geometry in GEOMETRIES:
        kind = geometry.split()[0]
        similarities = [name for name, each in SIMILARITIES.items() if kind in each.geometries and name != "steps"]
        similarities += [name for name, (geometries, _) in STEPS.items() if kind in geometries]
        for similarity, pooling in product(similarities, POOLINGS):
            focal = similarity in ("log_ratio", "identity") and (
                pooling["kind"] == "max_minus_mean" or similarity == "log_ratio"
            )
            if not pooling["kind"].startswith("max_minus") or focal:
                result.append((geometry, similarity, pooling, LINEAR))
        if kind != "softmax":
            result += [(geometry, similarity, files.MAX, {"kind": "maximum"}) for similarity in similarities]
        result += [
            (geometry, each, files.MAX, TREE) for each in similarities if each in ("exp_distance", "exponential")
        ]
    return result


def cases_of(geometry: str) -> list[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Those of one geometry."""
    return [parts for parts in cases() if parts[0] == geometry]


def _similarity(name: str) -> dict[str, Any]:
    if name in STEPS:
        return {"kind": "steps", "steps": STEPS[name][1]}
    return {"kind": name, **SIMILARITY_FIELDS.get(name, dict.fromkeys(SIMILARITIES[name].fields, "0x1p-1"))}


def head_with(
    geometry: str, similarity: str, pooling: dict[str, Any], readout: dict[str, Any], generator: random.Random
) -> ExactHead:
    """A head with these parts, its other numbers drawn."""

    def gauss(rows: int, columns: int) -> files.Matrix:
        return [[generator.gauss(0, 1) for _ in range(columns)] for _ in range(rows)]

    prototypes = None if geometry == "softmax" else gauss(COUNT, DEPTH)
    if prototypes:
        prototypes[-1] = prototypes[0]  # a duplicate, as projection leaves them
    weight = gauss(CLASSES, COUNT + (readout == TREE))
    if readout["kind"] == "maximum":
        weight = [[float(j % CLASSES == c) for j in range(COUNT)] for c in range(CLASSES)]
    size = COUNT if readout["kind"] == "maximum" else CLASSES
    scaled = similarity in ("log_ratio", "negated", "exponential", "steps of distances") and generator.random() < 0.7
    return ExactHead(
        weight,
        prototypes,
        GEOMETRIES[geometry]
        | {"similarity": _similarity(similarity), "pooling": pooling}
        | ({} if readout == LINEAR else {"readout": readout}),
        bias=None if readout == TREE else gauss(1, size)[0],
        scale=[generator.choice((0.1, 1.0, 3.0)) for _ in range(COUNT)] if scaled else None,
        peak=gauss(1, COUNT)[0]
        if similarity in ("quadratic", "steps from a peak") and generator.random() < 0.7
        else None,
        mask=masked(generator) if pooling["kind"] == "masked_max" else None,
    )


def masked(generator: random.Random) -> files.Matrix:
    """A mask of some columns; each prototype looks at one at least."""
    columns = generator.randrange(1, PATCHES + 1)
    rows = [[float(generator.random() < 0.4) for _ in range(columns)] for _ in range(COUNT)]
    for row in rows:
        row[generator.randrange(columns)] = 1.0
    return rows


def draw(head: ExactHead, generator: random.Random) -> files.Matrix:
    """Latents in the head's domain; some near a prototype or at a corner."""
    ends = [None if x is None else float.fromhex(x) for x in head.part("domain").values()]
    low, high = (d if x is None else x for x, d in zip(ends, (-1.5, 1.5), strict=True))
    radius = head.part("geometry").get("radius")
    image = []
    while len(image) < PATCHES:
        centre = generator.choice(head.prototypes or [[0.0] * COUNT])
        size = generator.choice((0.01, 0.5, 5.0))
        z = [min(high, max(low, generator.choice((-1, 1, 1)) * x + generator.gauss(0, size))) for x in centre]
        if any(z) and (radius is None or arithmetic.product(z, z) <= Fraction(float.fromhex(radius)) ** 2):
            image.append(z)
    return image


def around(value: Any, generator: random.Random) -> tuple[Fraction, Fraction]:
    """An interval that holds a number, narrow or wide."""
    low, high = arithmetic.ends(value)
    width = generator.choice((Fraction(0), Fraction(1, 2**50), Fraction(1, 10)))
    return Fraction(arithmetic.below(low - width)), Fraction(arithmetic.above(high + width * generator.randrange(3)))
