"""Heads and their file: every rule of certificates/v1.md, "The head file"."""

from __future__ import annotations

import hashlib
import json
import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from support import files
from support.cases import case, every
from support.similarities import ROWS

import verale.errors
import verale.head
from verale.checker.errors import HeadError
from verale.checker.head import read_head
from verale.checker.read import head_file

WEIGHT = [[1.0, -0.5], [0.25, 2.0]]
POINTS = [[0.5, 0.25, 1.0], [0.0, 0.0, 0.0]]
COSINE = {"geometry": files.cosine(0.5), "similarity": files.IDENTITY}
SOFTMAX = {"geometry": files.SOFTMAX, "similarity": files.IDENTITY}


def file(metadata: Any, **tensors: Any) -> bytes:
    return files.safetensors({name: files.tensor(values) for name, values in tensors.items()}, metadata)


def described(**changes: Any) -> dict[str, str]:
    return {"verale.head": json.dumps(files.description(**changes))}


def test_reads_a_euclidean_head() -> None:
    data = files.head(WEIGHT, POINTS, [1.0, -2.5], labels=["a", "b"], domain=files.domain(-1.5, None))
    head = read_head(data)
    assert head.sha256 == hashlib.sha256(data).hexdigest()
    assert (head.geometry, head.similarity.values) == ("euclidean", {"epsilon": Fraction(1, 1024)})
    assert (head.lower, head.upper) == (Fraction(-3, 2), None)
    assert (head.classes, head.count, head.depth) == (2, 2, 3)
    assert (head.weight.rows, head.weight.bits) == ([[4, -2], [1, 8]], 2)
    assert (head.bias.rows, head.bias.bits) == ([[2, -5]], 1)
    assert (head.prototypes.rows, head.prototypes.bits) == ([[2, 1, 4], [0, 0, 0]], 2)


def part(kind: str, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, **fields}


INNER = {"geometry": part("inner_product", radius=None), "similarity": files.IDENTITY}
EXPONENTIAL = {"similarity": part("exponential")}
MASK = [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
ONE_EACH = [[1.0, 0.0], [0.0, 1.0]]


def tree(absent: Any, present: Any) -> dict[str, Any]:
    return EXPONENTIAL | {"readout": part("soft_tree", absent=absent, present=present)}


LEAVES = [[1.0, -0.5, 2.0], [0.25, 2.0, 3.0]]


def test_parts_go_together_as_the_specification_says() -> None:
    """Every combination of named parts, most of them wrong, against the rules of v1.md, written out once more."""
    parts = {name: part(name) for name in ("max", "max_minus_mean", "max_minus_mean_distance", "masked_max")}
    parts |= {"top_mean": part("top_mean", k=2), "banks": part("banks", class_token=1)}
    geometries = {
        "euclidean": files.EUCLIDEAN,
        "cosine": files.cosine(0.0),
        "rooted_cosine": part("rooted_cosine", epsilon="0x1p-4"),
        "inner_product": INNER["geometry"],
        "softmax": files.SOFTMAX,
    }
    readouts = {"linear": part("linear"), "maximum": part("maximum"), "soft_tree": tree([1, -1], [-2, -3])["readout"]}
    rows = {row.json["kind"]: row for row in ROWS if row.json["kind"] != "steps"}
    of = {kind: {each.kind for row in ROWS if row.json["kind"] == kind for each in row.geometries} for kind in rows}
    accepted = 0
    for geometry, kind, pooling, readout in product(geometries, rows, parts, readouts):
        subtracts, row = pooling.startswith("max_minus"), rows[kind]
        fits = (
            geometry in of[kind]
            and not (subtracts and (not row.focal or readout != "linear"))
            and not (pooling == "max_minus_mean_distance" and geometry != "euclidean")
            and not (readout == "soft_tree" and (not row.soft_tree or pooling != "max"))
            and not (geometry == "softmax" and readout != "linear")
        )
        tensors: dict[str, Any] = {"weight": LEAVES if readout == "soft_tree" else ONE_EACH}
        if geometry != "softmax":
            tensors["prototypes"] = [[0.5, 0.25], [1.0, -1.0]]
        if pooling == "masked_max":
            tensors["mask"] = MASK
        chosen = {"geometry": geometries[geometry], "similarity": row.json, "pooling": parts[pooling]}
        data = file(described(**chosen, readout=readouts[readout], domain=files.domain(0.0, 1.0)), **tensors)
        with case(geometry, kind, pooling, readout):
            if fits:
                assert read_head(data).count == verale.head.Head.from_bytes(data).size == 2
                accepted += 1
            else:
                with pytest.raises(HeadError):
                    read_head(data)
    assert 50 < accepted < 200


def in_ball(lower: float | None, upper: float | None, radius: float, depth: int) -> bytes:
    """A head of inner products whose latents lie in a box and in a ball."""
    geometry = part("inner_product", radius=radius.hex())
    points = [[1.0] * depth, [0.5] * depth]
    return files.head(WEIGHT, points, geometry=geometry, similarity=files.IDENTITY, domain=files.domain(lower, upper))


CORNERS = [
    # The box, the radius and D; whether any latent is in both. The latent nearest to 0 has equal coordinates.
    (2.0, 3.0, 1.0, 2, False),
    (2.0, 3.0, 2.0, 1, True),  # one latent, 2
    (2.0, 3.0, math.nextafter(2.0, 0.0), 1, False),
    (2.0, None, 4.0, 4, True),
    (2.0, None, 4.0, 5, False),
    (None, -2.0, 4.0, 4, True),
    (-3.0, -2.0, math.nextafter(4.0, 0.0), 4, False),
    (None, 2.0, 2.0**-1074, 9, True),
    (-2.0, None, 2.0**-1074, 9, True),
    (0.0, 1.0, 2.0**-1074, 9, True),
    (2.0**-1074, 1.0, 2.0**-1074, 1, True),
    (2.0**-1074, 1.0, 2.0**-1074, 2, False),  # squares that no float holds
    (2.0**1000, None, 2.0**1001, 4, True),
    (2.0**1000, None, 2.0**1001, 5, False),
    (0.1, 1.0, 0.30000000000000004, 9, True),  # 9 (0.1)^2 rounds to 0.09000000000000001
    (0.1, 1.0, 0.3, 9, False),  # as floats, 0.3 is less than 3 times 0.1
]


@every(("lower", "upper", "radius", "depth", "latents"), CORNERS)
def test_a_ball_that_misses_the_box_is_refused_and_one_that_touches_it_is_not(
    lower: float | None, upper: float | None, radius: float, depth: int, latents: bool
) -> None:
    data = in_ball(lower, upper, radius, depth)
    if latents:
        assert read_head(data).radius == Fraction(radius)
        assert verale.head.Head.from_bytes(data).depth == depth
        return
    with pytest.raises(HeadError, match=r"domain is empty: .* expected latents both in the box and"):
        read_head(data)
    with pytest.raises(verale.errors.HeadError, match=r"domain is empty: .* expected latents"):
        verale.head.Head.from_bytes(data)


def _steps(
    *steps: dict[str, Any],
    weight: files.Matrix = WEIGHT,
    scale: list[float] | None = None,
    **changes: Any,
) -> bytes:
    """A head whose similarity is given by its steps, of distances in a box where `changes` say nothing else."""
    changes = {"domain": files.domain(0.0, 1.0)} | changes | {"similarity": part("steps", steps=list(steps))}
    tensors: dict[str, Any] = {"weight": weight, "prototypes": [[0.5, 0.25], [1.0, -1.0]]}
    if changes.get("geometry") == files.SOFTMAX:
        del tensors["prototypes"]
    return file(described(**changes), **tensors, **({} if scale is None else {"scale": scale}))


UNUSABLE = {
    "quadratic distances without a bound": (
        files.head(WEIGHT, POINTS, similarity=part("quadratic"), domain=files.domain(None, 0.0)),
        "domain is unbounded, expected two ends: quadratic",
    ),
    "a step with a number too many": (_steps(part("negate", number="0x1p+0")), "similarity.steps"),
    "seventeen steps": (_steps(*[part("negate")] * 17), "similarity.steps has 17 steps, expected at most 16"),
    "a negative threshold in a step": (
        _steps(part("threshold", number="-0x1p-2"), part("negate")),
        "threshold has -0.25, expected a positive number",
    ),
    "a reciprocal at 0": (_steps(part("reciprocal", number="0x0p+0")), "reciprocal has 0, expected a positive"),
    "steps that fall with a cosine": (
        _steps(part("negate"), **COSINE),
        "similarity: it falls with observables that are no distances, expected one that rises",
    ),
    "a root of what may be negative": (
        _steps(part("root"), **COSINE),
        "step 0, root, takes -1 to 1, expected numbers at least 0: put rectify before",
    ),
    "a peak of masses": (
        _steps(part("from_peak"), part("negate"), geometry=files.SOFTMAX),
        "step 0, from_peak, is not defined for softmax",
    ),
    "a limit that is not 0, without a bound": (
        _steps(part("reciprocal", number="0x1p+0"), part("add", number="0x1p+0"), domain=files.domain(0.0, None)),
        "domain is unbounded, expected two ends: steps",
    ),
    "a scale of steps without one": (
        _steps(part("negate"), scale=[1.0, 1.0]),
        "'scale' is there, expected none for steps, but for log_ratio, negated, exponential, steps only",
    ),
    "the mean distance of masses": (
        files.head(WEIGHT, **SOFTMAX, pooling={"kind": "max_minus_mean_distance"}),
        "defined for euclidean only, not for softmax",
    ),
}


@every("name", UNUSABLE)
def test_refuses(name: str) -> None:
    data, fault = UNUSABLE[name]
    with pytest.raises(HeadError, match=fault):
        read_head(data)


def test_refuses_more_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    data = files.head([[1.0], [2.0]], [[0.5]])
    monkeypatch.setattr(head_file, "LARGEST", len(data))
    read_head(data)
    with pytest.raises(HeadError, match=f"more than {len(data)} bytes"):
        read_head(data + b" ")
