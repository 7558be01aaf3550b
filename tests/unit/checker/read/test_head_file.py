"""Heads and their file: every rule of certificates/v1.md, "The head file"."""

from __future__ import annotations

import hashlib
import json
import math
import random
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from support import files
from support.cases import every

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


def without(field: str) -> dict[str, str]:
    description = files.description()
    del description[field]
    return {"verale.head": json.dumps(description)}


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


def test_reads_the_other_geometries_and_f32() -> None:
    cosine = read_head(files.head(WEIGHT, POINTS[:1] * 2, dtype="F32", **COSINE))
    assert (cosine.geometry, cosine.epsilon, cosine.bias.rows) == ("cosine", Fraction(1, 2), [[0, 0]])
    softmax = read_head(files.head(WEIGHT, **SOFTMAX))
    assert (softmax.geometry, softmax.depth, softmax.prototypes.rows) == ("softmax", 2, [])


def test_reads_poolings() -> None:
    assert read_head(files.head(WEIGHT, POINTS)).pooling == "max"
    for kind in ("max_minus_mean", "max_minus_mean_distance"):
        assert read_head(files.head(WEIGHT, POINTS, pooling={"kind": kind})).pooling == kind
    assert read_head(files.head(WEIGHT, **SOFTMAX, pooling={"kind": "max_minus_mean"})).pooling == "max_minus_mean"


def part(kind: str, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, **fields}


INNER = {"geometry": part("inner_product", radius=None), "similarity": files.IDENTITY}
BALL = {
    "geometry": part("inner_product", radius="0x1.8p+0"),
    "similarity": files.IDENTITY,
    "domain": files.domain(None, None),
}
EXPONENTIAL = {"similarity": part("exponential")}
MAXIMUM = {"readout": part("maximum")}
MASK = [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
ONE_EACH = [[1.0, 0.0], [0.0, 1.0]]


def tree(absent: Any, present: Any) -> dict[str, Any]:
    return EXPONENTIAL | {"readout": part("soft_tree", absent=absent, present=present)}


LEAVES = [[1.0, -0.5, 2.0], [0.25, 2.0, 3.0]]


def test_reads_new_parts() -> None:
    rooted = read_head(
        files.head(WEIGHT, [POINTS[0]] * 2, geometry=part("rooted_cosine", epsilon="0x1p-4"), similarity=files.IDENTITY)
    )
    assert (rooted.geometry, rooted.epsilon) == ("rooted_cosine", Fraction(1, 16))
    assert read_head(files.head(WEIGHT, POINTS, **INNER)).radius is None
    assert read_head(files.head(WEIGHT, POINTS, **BALL)).radius == Fraction(3, 2)
    plain = read_head(files.head(WEIGHT, POINTS, similarity=part("exp_distance", epsilon="0x0p+0"))).similarity
    assert (plain.name, plain.values) == ("exp_distance", {"epsilon": 0})
    threshold = read_head(files.head(WEIGHT, **SOFTMAX | {"similarity": part("threshold", threshold="0x1p-3")}))
    assert (threshold.similarity.name, threshold.similarity.values) == ("threshold", {"threshold": Fraction(1, 8)})
    banks = read_head(files.head(WEIGHT, POINTS, pooling=part("banks", class_token=1)))
    assert (banks.pooling, banks.mask, banks.columns) == ("masked_max", ((0,), (1,)), 2)
    masked = read_head(file(described(pooling=part("masked_max")), weight=WEIGHT, prototypes=POINTS, mask=MASK))
    assert (masked.pooling, masked.mask, masked.columns) == ("masked_max", ((0, 2), (1,)), 3)
    assert [masked.patches_of(j, 5) for j in range(2)] == [[0, 2, 3, 4], [1]]
    assert list(map(masked.column, (0, 1, 2, 3, 10**17))) == [0, 1, 2, 2, 2]
    assert read_head(files.head(WEIGHT, POINTS, pooling=part("top_mean", k=10**17))).k == 10**17
    assert read_head(files.head(WEIGHT, POINTS, readout=part("linear"))).readout == "linear"


def test_reads_readouts_and_tensors_of_each_prototype() -> None:
    result = read_head(files.head(LEAVES, POINTS, **tree([1, -1], [-2, -3])))
    assert (result.readout, result.absent, result.present, result.count) == ("soft_tree", (1, -1), (-2, -3), 2)
    best = read_head(files.head([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]], [POINTS[0]] * 3, [0.5, 1.0, -2.0], **MAXIMUM))
    assert (best.readout, best.bias.rows) == ("maximum", [[1, 2, -4]])
    assert read_head(files.head(ONE_EACH, POINTS, **MAXIMUM)).bias.rows == [[0, 0]]
    peaked = file(described(similarity=part("quadratic")), weight=WEIGHT, prototypes=POINTS, peak=[0.5, -1.0])
    assert (read_head(peaked).similarity.peak.rows, read_head(peaked).similarity.peak.bits) == ([[1, -2]], 1)
    scaled = file(described(similarity=part("negated")), weight=WEIGHT, prototypes=POINTS, scale=[0.5, 2.0])
    assert read_head(scaled).similarity.scale.rows == [[1, 4]]


def test_agrees_with_the_head_of_the_other_side_of_the_wall() -> None:
    """Every combination of parts, most of them wrong, in a domain that is drawn: both read it, or both refuse it."""
    geometries = [
        files.EUCLIDEAN,
        files.cosine(0.0),
        part("rooted_cosine", epsilon="0x1p-4"),
        INNER["geometry"],
        BALL["geometry"],
        files.SOFTMAX,
    ]
    similarities = [
        files.IDENTITY,
        files.log_ratio(0.5),
        part("exp_distance", epsilon="0x1p-40"),
        part("threshold", threshold="0x1p-3"),
        *map(part, ("negated", "exponential", "quadratic", "rectified")),
        part("steps", steps=[part("reciprocal", number="0x1p+0")]),
        part("steps", steps=[part("rectify"), part("square")]),
        part("steps", steps=[part("from_peak"), part("negate")]),
    ]
    poolings = [
        files.MAX,
        part("banks", class_token=1),
        part("masked_max"),
        part("top_mean", k=2),
        *map(part, ("max_minus_mean", "max_minus_mean_distance")),
    ]
    readouts = [part("linear"), part("maximum"), tree([1, -1], [-2, -3])["readout"]]
    domains = [files.domain(0.0, 1.0), files.domain(None, None), files.domain(0.0, None)]
    generator, accepted = random.Random(1), 0
    for chosen in product(geometries, similarities, poolings, readouts):
        parts = (*chosen, generator.choice(domains))
        fields = dict(zip(("geometry", "similarity", "pooling", "readout", "domain"), parts, strict=True))
        tensors: dict[str, Any] = {"weight": LEAVES if parts[3]["kind"] == "soft_tree" else ONE_EACH}
        if parts[0] != files.SOFTMAX:
            tensors["prototypes"] = [[0.5, 0.25], [1.0, -1.0]]
        for name in ("bias", "scale", "peak"):
            if generator.random() < 0.2:
                tensors[name] = [0.5, 0.25]
        if generator.random() < (0.8 if parts[2]["kind"] == "masked_max" else 0.1):
            tensors["mask"] = generator.choice((MASK, MASK, MASK, [[1.0], [0.0]], [[0.5], [1.0]], [[1.0]]))
        data = file(described(**fields), **tensors)
        try:
            theirs = verale.head.Head.from_bytes(data)
        except verale.errors.HeadError:
            with pytest.raises(HeadError):
                read_head(data)
        else:
            ours = read_head(data)
            assert (ours.classes, ours.count, ours.depth) == (theirs.classes, theirs.size, theirs.depth)
            accepted += 1
    assert 50 < accepted < 600


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
    "a negative epsilon of a rooted cosine": (
        files.head(
            WEIGHT, [POINTS[0]] * 2, geometry=part("rooted_cosine", epsilon="-0x1p-4"), similarity=files.IDENTITY
        ),
        "geometry.epsilon is '-0x1p-4', expected at least 0",
    ),
    "a zero prototype of rooted cosines": (
        files.head(WEIGHT, POINTS, geometry=part("rooted_cosine", epsilon="0x1p-4"), similarity=files.IDENTITY),
        "row 1 is zero",
    ),
    "inner products without a bound": (
        files.head(WEIGHT, POINTS, **INNER | {"domain": files.domain(0.0, None)}),
        "domain is unbounded",
    ),
    "a radius of 0": (
        files.head(WEIGHT, POINTS, **BALL | {"geometry": part("inner_product", radius="0x0p+0")}),
        "radius is '0x0p[+]0', expected a positive",
    ),
    "a radius that is a number": (
        files.head(WEIGHT, POINTS, **BALL | {"geometry": part("inner_product", radius=1)}),
        "geometry.radius is 1, expected a string",
    ),
    "no radius": (files.head(WEIGHT, POINTS, **BALL | {"geometry": part("inner_product")}), "lacks the field 'radius'"),
    "negated distances without a bound": (
        files.head(WEIGHT, POINTS, similarity=part("negated"), domain=files.domain(0.0, None)),
        "domain is unbounded, expected two ends: negated",
    ),
    "quadratic distances without a bound": (
        files.head(WEIGHT, POINTS, similarity=part("quadratic"), domain=files.domain(None, 0.0)),
        "domain is unbounded, expected two ends: quadratic",
    ),
    "a negative epsilon of exp_distance": (
        files.head(WEIGHT, POINTS, similarity=part("exp_distance", epsilon="-0x1p-4")),
        "similarity: epsilon is -0.0625, expected at least 0",
    ),
    "a threshold of 0": (
        files.head(WEIGHT, **SOFTMAX | {"similarity": part("threshold", threshold="0x0p+0")}),
        "threshold is 0, expected between 0 and 1",
    ),
    "a threshold of 1": (
        files.head(WEIGHT, **SOFTMAX | {"similarity": part("threshold", threshold="0x1p+0")}),
        "threshold is 1, expected between 0 and 1",
    ),
    "a threshold of cosines": (
        files.head(WEIGHT, [POINTS[0]] * 2, **COSINE | {"similarity": part("threshold", threshold="0x1p-1")}),
        "similarity is threshold, expected identity or exponential or quadratic or rectified or steps for cosine",
    ),
    "a step of no kind": (
        _steps(part("sine")),
        r"similarity.steps\[0\] is .*, expected an object whose kind is one of",
    ),
    "steps that are no list": (
        files.head(WEIGHT, POINTS, similarity=part("steps", steps="exp")),
        "similarity.steps is 'exp', expected a list of steps",
    ),
    "a step with a number too many": (_steps(part("negate", number="0x1p+0")), "similarity.steps"),
    "seventeen steps": (_steps(*[part("negate")] * 17), "similarity.steps has 17 steps, expected at most 16"),
    "a factor of 0": (_steps(part("multiply", number="0x0p+0")), "multiply has 0, expected a positive number"),
    "a negative threshold in a step": (
        _steps(part("threshold", number="-0x1p-2"), part("negate")),
        "threshold has -0.25, expected a positive number",
    ),
    "a reciprocal at 0": (_steps(part("reciprocal", number="0x0p+0")), "reciprocal has 0, expected a positive"),
    "a logarithm that rises": (
        _steps(part("log_ratio", over="0x1p-2", under="0x1p+0"), part("negate")),
        "log_ratio has over 0.25 and under 1, expected 0 < under < over",
    ),
    "steps that rise with a distance": (
        _steps(part("root")),
        "similarity: it rises with a distance, expected one that falls: add a step negate",
    ),
    "steps that fall with a cosine": (
        _steps(part("negate"), **COSINE),
        "similarity: it falls with observables that are no distances, expected one that rises",
    ),
    "a root of what may be negative": (
        _steps(part("root"), **COSINE),
        "step 0, root, takes -1 to 1, expected numbers at least 0: put rectify before",
    ),
    "an exponential of a distance": (
        _steps(part("exp"), part("negate")),
        "step 0, exp, takes 0 to infinity, expected numbers at most 0: negate, or add a negative number",
    ),
    "a peak at last": (
        _steps(part("negate"), part("from_peak")),
        "step 1, from_peak, comes after another, expected the distance from the peak first",
    ),
    "a peak of masses": (
        _steps(part("from_peak"), part("negate"), geometry=files.SOFTMAX),
        "step 0, from_peak, is not defined for softmax",
    ),
    "steps without a limit, and without a bound": (
        _steps(part("negate"), domain=files.domain(0.0, None)),
        "domain is unbounded, expected two ends: steps has no least value without",
    ),
    "a limit that is not 0, without a bound": (
        _steps(part("reciprocal", number="0x1p+0"), part("add", number="0x1p+0"), domain=files.domain(0.0, None)),
        "domain is unbounded, expected two ends: steps",
    ),
    "a scale of steps without one": (
        _steps(part("negate"), scale=[1.0, 1.0]),
        "'scale' is there, expected none for steps, but for log_ratio, negated, exponential, steps only",
    ),
    "focal pooling of steps": (
        _steps(part("negate"), pooling=part("max_minus_mean")),
        "pooling is max_minus_mean, which is defined for log_ratio and identity only",
    ),
    "a tree of steps beyond 1": (
        _steps(part("reciprocal", number="0x1p-1"), weight=LEAVES, **tree([1, -1], [-2, -3])),
        "readout is soft_tree, expected activations in",
    ),
    "focal pooling of exponentials": (
        files.head(WEIGHT, POINTS, **EXPONENTIAL, pooling=part("max_minus_mean")),
        "pooling is max_minus_mean, which is defined for log_ratio and identity only",
    ),
    "focal pooling of a maximum": (
        files.head(ONE_EACH, POINTS, **MAXIMUM, pooling=part("max_minus_mean")),
        "defined for linear only, not for maximum",
    ),
    "a class token of no prototype": (
        files.head(WEIGHT, POINTS, pooling=part("banks", class_token=0)),
        "class_token is 0",
    ),
    "a class token of all": (
        files.head(WEIGHT, POINTS, pooling=part("banks", class_token=2)),
        "class_token is 2, expected from 1 to less than the 2 prototypes",
    ),
    "a mask of another pooling": (files.head(WEIGHT, POINTS, mask=MASK), "'mask' is there, expected none for max, but"),
    "a mask beside banks": (
        files.head(WEIGHT, POINTS, mask=MASK, pooling=part("banks", class_token=1)),
        "'mask' is there, expected none for banks, but for masked_max only",
    ),
    "masked_max without a mask": (files.head(WEIGHT, POINTS, pooling=part("masked_max")), "'mask' is missing"),
    "a mask of fewer prototypes": (
        files.head(WEIGHT, POINTS, mask=MASK[:1], pooling=part("masked_max")),
        r"'mask' has shape \[1, 3\], expected \[2, K\] with K from 1 to 65536",
    ),
    "a mask of too many columns": (
        files.head(WEIGHT, POINTS, mask=[[1.0] * (2**16 + 1)] * 2, dtype="F32", pooling=part("masked_max")),
        r"has shape \[2, 65537\]",
    ),
    "a mask without a column": (
        files.safetensors(
            {"weight": files.tensor(WEIGHT), "prototypes": files.tensor(POINTS), "mask": ("F64", [2, 0], b"")},
            described(pooling=part("masked_max")),
        ),
        r"'mask' has shape \[2, 0\]",
    ),
    "a mask of one dimension": (
        file(described(pooling=part("masked_max")), weight=WEIGHT, prototypes=POINTS, mask=[1.0, 1.0]),
        "expected 2 dimensions",
    ),
    "a prototype that looks nowhere": (
        files.head(WEIGHT, POINTS, mask=[[1.0, 0.0], [0.0, 0.0]], pooling=part("masked_max")),
        "'mask': row 1 is not of 0 and 1 with a 1, expected which patches it looks at",
    ),
    "a mask of other numbers": (
        files.head(WEIGHT, POINTS, mask=[[1.0, 0.5], [0.0, 1.0]], pooling=part("masked_max")),
        "'mask': row 0 is not of 0 and 1",
    ),
    "a tree over masked prototypes": (
        files.head(LEAVES, POINTS, mask=MASK, pooling=part("masked_max"), **tree([1, -1], [-2, -3])),
        "expected activations in .*, pooling max",
    ),
    "a class token below 0": (
        files.head(WEIGHT, POINTS, pooling=part("banks", class_token=-1)),
        "expected an integer from 0",
    ),
    "the mean of the top 0": (files.head(WEIGHT, POINTS, pooling=part("top_mean", k=0)), "k is 0, expected at least 1"),
    "the mean of the top true": (files.head(WEIGHT, POINTS, pooling=part("top_mean", k=True)), "pooling.k is True"),
    "an unknown readout": (
        files.head(WEIGHT, POINTS, readout=part("argmax")),
        "readout is .* linear, soft_tree, maximum",
    ),
    "a maximum with other weights": (
        files.head([[1.0, 0.5], [0.0, 1.0]], POINTS, **MAXIMUM),
        "'weight': row 0 is not of 0 and 1",
    ),
    "a maximum with an empty class": (files.head([[1.0, 1.0], [0.0, 0.0]], POINTS, **MAXIMUM), "'weight': row 1"),
    "a maximum with a bias for classes": (
        files.head([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]], [POINTS[0]] * 3, [0.0, 1.0], **MAXIMUM),
        r"'bias' has shape \[2\], expected \[3\]",
    ),
    "a maximum of masses": (files.head(ONE_EACH, **SOFTMAX, **MAXIMUM), "readout is maximum, expected linear"),
    "a tree of log ratios": (
        files.head(LEAVES, POINTS, readout=tree([1, -1], [-2, -3])["readout"]),
        "readout is soft_tree, expected activations in",
    ),
    "a tree of means": (
        files.head(LEAVES, POINTS, **tree([1, -1], [-2, -3]), pooling=part("top_mean", k=2)),
        "readout is soft_tree, expected activations in",
    ),
    "a tree with a bias": (
        files.head(LEAVES, POINTS, [0.0, 0.0], **tree([1, -1], [-2, -3])),
        "expected none for soft_tree",
    ),
    "a tree of one leaf": (
        files.head([[1.0], [0.0]], POINTS, **tree([], [])),
        r"\[2, 1\], .* soft_tree for each leaf",
    ),
    "a tree with too few nodes": (
        files.head(LEAVES, POINTS, **tree([-1], [-2])),
        "has 1 absent and 1 present .* 2 prototypes",
    ),
    "a tree with a child less": (files.head(LEAVES, POINTS, **tree([1, -1], [-2])), "has 2 absent and 1 present"),
    "a tree with a loop": (files.head(LEAVES, POINTS, **tree([0, -1], [-2, -3])), "node 0 has the child 0"),
    "a tree with a node beyond": (files.head(LEAVES, POINTS, **tree([2, -1], [-2, -3])), "node 0 has the child 2"),
    "a tree with a leaf beyond": (
        files.head(LEAVES, POINTS, **tree([1, -1], [-2, -4])),
        "node 1 has the child -4.* -1 to -3",
    ),
    "a tree with a leaf twice": (files.head(LEAVES, POINTS, **tree([1, -1], [-2, -2])), "two parents"),
    "children that are no list": (
        files.head(LEAVES, POINTS, **tree(1, [-2, -2])),
        "readout.absent is 1, expected a list",
    ),
    "children that are no integers": (
        files.head(LEAVES, POINTS, **tree([1, True], [-2, -2])),
        r"readout.absent\[1\] is True, expected an integer",
    ),
    "a peak of distances' log ratios": (
        file(described(), weight=WEIGHT, prototypes=POINTS, peak=[0.0, 0.0]),
        "'peak' is there, expected none for log_ratio, but for quadratic, steps only",
    ),
    "a scale of quadratic": (
        file(described(similarity=part("quadratic")), weight=WEIGHT, prototypes=POINTS, scale=[1.0, 1.0]),
        "'scale' is there, expected none for quadratic",
    ),
    "a peak too many": (
        file(described(similarity=part("quadratic")), weight=WEIGHT, prototypes=POINTS, peak=[1.0] * 3),
        r"'peak' has shape \[3\], expected \[2\]",
    ),
    "no safetensors": (b"", "safetensors"),
    "no metadata": (file(None, weight=WEIGHT, prototypes=POINTS), "expected one: 'verale.head'"),
    "other metadata": (file({"format": "pt"}, weight=WEIGHT), "expected one: 'verale.head'"),
    "more metadata": (file({**described(), "format": "pt"}, weight=WEIGHT, prototypes=POINTS), "expected one"),
    "metadata that is no JSON": (file({"verale.head": "{"}), "verale.head is not JSON"),
    "metadata with a lone surrogate": (file({"verale.head": '{"a": "\\ud800"}'}), "lone surrogate"),
    "metadata that repeats a key": (file({"verale.head": '{"version": 1, "version": 1}'}), "repeats the key"),
    "a list for metadata": (file({"verale.head": "[]"}), "expected one JSON object"),
    **{
        f"no {field}": (file(without(field), weight=WEIGHT, prototypes=POINTS), f"lacks the field '{field}'")
        for field in files.description()
    },
    "another field": (files.head(WEIGHT, POINTS, scale=1), "unknown field 'scale'"),
    "version 2": (files.head(WEIGHT, POINTS, version=2), "version is 2, expected 1"),
    "version true": (files.head(WEIGHT, POINTS, version=True), "version is True, expected an integer"),
    "version as a string": (files.head(WEIGHT, POINTS, version="1"), "version is '1'"),
    "an unknown geometry": (files.head(WEIGHT, POINTS, geometry={"kind": "hyperbolic"}), "geometry is .*euclidean"),
    "a geometry that is no object": (files.head(WEIGHT, POINTS, geometry="euclidean"), "geometry is 'euclidean'"),
    "a kind that is a list": (files.head(WEIGHT, POINTS, geometry={"kind": []}), "geometry is"),
    "a euclidean epsilon": (
        files.head(WEIGHT, POINTS, geometry={"kind": "euclidean", "epsilon": "0x0p+0"}),
        "unknown field",
    ),
    "no cosine epsilon": (
        files.head(WEIGHT, POINTS[:1] * 2, **COSINE | {"geometry": {"kind": "cosine"}}),
        "lacks the field",
    ),
    "a negative cosine epsilon": (
        files.head(WEIGHT, POINTS[:1] * 2, **COSINE | {"geometry": files.cosine(-0.5)}),
        "at least 0",
    ),
    "a zero prototype of cosines": (files.head(WEIGHT, POINTS, **COSINE), "row 1 is zero"),
    "an unknown similarity": (files.head(WEIGHT, POINTS, similarity={"kind": "exp"}), "similarity is"),
    "identity of squared distances": (
        files.head(WEIGHT, POINTS, similarity=files.IDENTITY),
        "expected log_ratio or .* for euclidean",
    ),
    "log_ratio of cosines": (
        files.head(WEIGHT, POINTS[:1] * 2, geometry=files.cosine(0.0)),
        "expected identity or .* for cosine",
    ),
    "log_ratio of masses": (
        files.head(WEIGHT, geometry=files.SOFTMAX),
        "expected identity or threshold or steps for softmax",
    ),
    "epsilon 0": (files.head(WEIGHT, POINTS, similarity=files.log_ratio(0.0)), "between 0 and 1"),
    "epsilon 1": (files.head(WEIGHT, POINTS, similarity=files.log_ratio(1.0)), "between 0 and 1"),
    "epsilon -1": (files.head(WEIGHT, POINTS, similarity=files.log_ratio(-1.0)), "between 0 and 1"),
    "a decimal epsilon": (files.head(WEIGHT, POINTS, similarity={"kind": "log_ratio", "epsilon": "0.1"}), "hex float"),
    "a number as epsilon": (
        files.head(WEIGHT, POINTS, similarity={"kind": "log_ratio", "epsilon": 1}),
        "expected a string",
    ),
    "mean pooling": (files.head(WEIGHT, POINTS, pooling={"kind": "mean"}), "pooling is"),
    "focal pooling with a field": (
        files.head(WEIGHT, POINTS, pooling={"kind": "max_minus_mean", "k": 1}),
        "unknown field 'k'",
    ),
    "the mean distance of cosines": (
        files.head(WEIGHT, POINTS[:1] * 2, **COSINE, pooling={"kind": "max_minus_mean_distance"}),
        "defined for euclidean only, not for cosine",
    ),
    "the mean distance of masses": (
        files.head(WEIGHT, **SOFTMAX, pooling={"kind": "max_minus_mean_distance"}),
        "defined for euclidean only, not for softmax",
    ),
    "a domain with another field": (
        files.head(WEIGHT, POINTS, domain={"lower": None, "upper": None, "x": 1}),
        "unknown field",
    ),
    "a domain without upper": (files.head(WEIGHT, POINTS, domain={"lower": None}), "domain lacks"),
    "a domain with a number": (files.head(WEIGHT, POINTS, domain={"lower": 0, "upper": None}), "domain.lower is 0"),
    "an infinite domain": (files.head(WEIGHT, POINTS, domain={"lower": None, "upper": "inf"}), "domain.upper is 'inf'"),
    "an empty domain": (files.head(WEIGHT, POINTS, domain=files.domain(1.0, 0.0)), "less than upper"),
    "a domain of one point": (files.head(WEIGHT, POINTS, domain=files.domain(1.0, 1.0)), "less than upper"),
    "labels too few": (files.head(WEIGHT, POINTS, labels=["a"]), "labels has 1 strings, expected 2"),
    "labels of numbers": (files.head(WEIGHT, POINTS, labels=[1, 2]), r"labels\[0\] is 1, expected a string"),
    "labels that are no list": (files.head(WEIGHT, POINTS, labels="ab"), "list of strings, one a class"),
    "no weight": (file(described(), prototypes=POINTS), "tensor 'weight' is missing"),
    "a weight of one dimension": (file(described(), weight=[1.0, 2.0], prototypes=POINTS), "expected 2 dimensions"),
    "one class": (files.head(WEIGHT[:1], POINTS), "at least 2 classes"),
    "no prototype in weight": (
        files.safetensors({"weight": files.tensor([], sizes=[2, 0])}, described()),
        r"shape \[2, 0\], expected \[C, P\] with C and P from 1",
    ),
    "a bias of another length": (files.head(WEIGHT, POINTS, [1.0]), r"shape \[1\], expected \[2\]"),
    "a bias of two dimensions": (
        file(described(), weight=WEIGHT, prototypes=POINTS, bias=[[1.0, 2.0]]),
        "1 dimensions",
    ),
    "no prototypes": (files.head(WEIGHT), "tensor 'prototypes' is missing"),
    "prototypes too few": (files.head(WEIGHT, POINTS[:1]), r"shape \[1, 3\], expected \[2, D\]"),
    "prototypes of no depth": (
        files.safetensors({"weight": files.tensor(WEIGHT), "prototypes": files.tensor([], sizes=[2, 0])}, described()),
        "D from 1",
    ),
    "prototypes of a softmax head": (files.head(WEIGHT, POINTS, **SOFTMAX), "expected none for softmax"),
    "another tensor": (file(described(), weight=WEIGHT, prototypes=POINTS, gamma=[1.0]), "tensor 'gamma' is unknown"),
    "a scale too few": (file(described(), weight=WEIGHT, prototypes=POINTS, scale=[1.0]), "tensor 'scale' has shape"),
    "a scale of 0": (file(described(), weight=WEIGHT, prototypes=POINTS, scale=[1.0, 0.0]), "entry 1 is not positive"),
    "a scale of cosines": (
        file(
            described(geometry=files.cosine(0.0), similarity=files.IDENTITY),
            weight=WEIGHT,
            prototypes=POINTS,
            scale=[1.0, 1.0],
        ),
        "expected none for identity",
    ),
    "a half-precision weight": (
        files.safetensors({"weight": ("F16", [2, 2], b"\0" * 8), "prototypes": files.tensor(POINTS)}, described()),
        "dtype F16",
    ),
    "a NaN prototype": (files.head(WEIGHT, [[float("nan"), 0.0], [1.0, 1.0]]), "holds nan"),
    "an infinite weight": (files.head([[1.0, 2.0], [3.0, float("inf")]], POINTS), "holds inf at entry 3"),
    "a NaN bias": (files.head(WEIGHT, POINTS, [0.0, float("nan")]), "tensor 'bias' holds nan"),
    "a million claimed classes": (
        files.framed(
            json.dumps(
                {
                    "__metadata__": described(),
                    "weight": {"dtype": "F64", "shape": [10**17, 10**17], "data_offsets": [0, 0]},
                }
            ).encode(),
            b"",
        ),
        "spans 0 bytes",
    ),
}


@every("name", UNUSABLE)
def test_refuses(name: str) -> None:
    data, fault = UNUSABLE[name]
    with pytest.raises(HeadError, match=fault):
        read_head(data)


def test_every_cut_is_refused() -> None:
    data = files.head(WEIGHT, POINTS)
    for length in range(len(data)):
        with pytest.raises(HeadError):
            read_head(data[:length])


def test_refuses_more_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    data = files.head([[1.0], [2.0]], [[0.5]])
    monkeypatch.setattr(head_file, "LARGEST", len(data))
    read_head(data)
    with pytest.raises(HeadError, match=f"more than {len(data)} bytes"):
        read_head(data + b" ")
