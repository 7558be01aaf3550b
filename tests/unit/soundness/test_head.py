"""The independent reading of a head: its tables have the names of v1.md, and its values are those of the formulas."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import flint
import pytest
from attacks import floats

from verale.soundness.independent import files
from verale.soundness.independent.arithmetic import PRECISION, balls
from verale.soundness.independent.head import Head
from verale.soundness.independent.parts import OBSERVABLES, POOLINGS, READOUTS, SIMILARITIES
from verale.soundness.paths import CERTIFICATES

TABLES: dict[str, Any] = {
    "geometry": OBSERVABLES,
    "similarity": SIMILARITIES,
    "pooling": POOLINGS,
    "readout": READOUTS,
}
WEIGHT, PROTOTYPES = [[1.0, 2.0], [0.5, -1.0]], [[3.0, 4.0], [1.0, 0.0]]
Z = [0.75, 1.0]


@pytest.mark.parametrize("part", TABLES)
def test_a_table_has_the_kinds_of_the_specification(part: str) -> None:
    (row,) = re.findall(rf"^\| `{part}` \| (.*) \|$", (CERTIFICATES / "v1.md").read_text(), re.MULTILINE)
    kinds = set(re.findall(r"`(\w+)`", re.sub(r"\{.*?\}", "", row)))
    assert set(TABLES[part]) == kinds


def test_floats_have_the_same_similarities() -> None:
    """Otherwise an attack ends with a KeyError, and the writing of corpora after minutes."""
    assert floats.SIMILARITIES.keys() == SIMILARITIES.keys()


@pytest.mark.parametrize(
    ("geometry", "expected"),
    [
        (files.EUCLIDEAN, Fraction(2.25**2 + 9)),
        ({"kind": "inner_product", "radius": None}, Fraction(6.25)),
        (files.cosine(0.5), 6.25 / (5 * 1.75)),
        ({"kind": "rooted_cosine", "epsilon": (0.5).hex()}, 6.25 / (5 * math.sqrt(1.25**2 + 0.5))),
    ],
)
def test_an_observable(geometry: Any, expected: Any) -> None:
    """At floats and at balls."""
    head = Head(WEIGHT, PROTOTYPES, {"geometry": geometry})
    with flint.ctx.workprec(PRECISION):
        value, (real,) = head.observable(Z, 0), balls([Z])
        assert isinstance(value, Fraction) == isinstance(expected, Fraction)
        assert math.isclose(float(value), float(expected))
        assert math.isclose(float(head.observable(real, 0)), float(expected))


def test_a_mass() -> None:
    head = Head([[1.0, 0.0], [0.0, 1.0]], None, {"geometry": files.SOFTMAX, "similarity": files.IDENTITY})
    with flint.ctx.workprec(PRECISION):
        assert math.isclose(float(head.observable([0.0, math.log(3)], 1)), 0.75)


@pytest.mark.parametrize(
    ("similarity", "geometry", "expected"),
    [
        (files.IDENTITY, "cosine", 0.25),
        (files.log_ratio(0.5), "euclidean", math.log(1.5 / 1.0)),
        ({"kind": "negated"}, "euclidean", -0.5),
        ({"kind": "exp_distance", "epsilon": (0.5).hex()}, "euclidean", math.exp(-math.sqrt(0.75))),
        ({"kind": "exponential"}, "euclidean", math.exp(-0.5)),
        ({"kind": "exponential"}, "cosine", math.exp(-1.5)),
        ({"kind": "quadratic"}, "euclidean", -((0.25 - 0.75) ** 2)),
        ({"kind": "rectified"}, "cosine", 0.25),
        ({"kind": "threshold", "threshold": (0.25).hex()}, "softmax", 0.25),
        ({"kind": "threshold", "threshold": (0.5).hex()}, "softmax", 0.0),
    ],
)
def test_a_similarity_of_one_quarter(similarity: Any, geometry: str, expected: float) -> None:
    """With the scale 2 and the peak 3/4."""
    geometries = {"euclidean": files.EUCLIDEAN, "cosine": files.cosine(0.0), "softmax": files.SOFTMAX}
    parts = {"geometry": geometries[geometry], "similarity": similarity}
    head = Head(WEIGHT, PROTOTYPES, parts, scale=[2.0, 2.0], peak=[0.75, 0.75])
    with flint.ctx.workprec(PRECISION):
        assert math.isclose(float(head.similarity(Fraction(1, 4), 0)), expected)


def test_a_rectified_negative_cosine_is_zero() -> None:
    head = Head(WEIGHT, PROTOTYPES, {"geometry": files.cosine(0.0), "similarity": {"kind": "rectified"}})
    assert float(head.similarity(Fraction(-1, 4), 0)) == 0


def test_a_ball_that_holds_the_threshold_is_not_decided() -> None:
    head = Head(
        WEIGHT, None, {"geometry": files.SOFTMAX, "similarity": {"kind": "threshold", "threshold": (0.5).hex()}}
    )
    with pytest.raises(ValueError, match="threshold"):
        head.similarity(flint.arb(0.5, 0.25), 0)


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        (files.MAX, -1.0),
        ({"kind": "banks", "class_token": 1}, -4.0),
        ({"kind": "top_mean", "k": 2}, -1.5),
        ({"kind": "top_mean", "k": 9}, -7 / 3),
        ({"kind": "max_minus_mean"}, -1.0 + 7 / 3),
        ({"kind": "max_minus_mean_distance"}, -1.0 + 7 / 3),
    ],
)
def test_a_pooling_of_three_patches(pooling: Any, expected: float) -> None:
    head = Head(WEIGHT, PROTOTYPES, {"similarity": {"kind": "negated"}, "pooling": pooling})
    with flint.ctx.workprec(PRECISION):
        assert math.isclose(float(head.pooled([Fraction(4), Fraction(2), Fraction(1)], 0)), expected)


def test_the_second_bank_leaves_out_the_first_patch() -> None:
    head = Head(WEIGHT, PROTOTYPES, {"similarity": {"kind": "negated"}, "pooling": {"kind": "banks", "class_token": 1}})
    assert float(head.pooled([Fraction(1), Fraction(2), Fraction(4)], 1)) == -2


def test_the_readouts() -> None:
    activations = [flint.arb(0.5), flint.arb(0.25)]
    linear = Head(WEIGHT, PROTOTYPES, bias=[1.0, 2.0])
    assert list(map(float, linear.logits(activations))) == [2.0, 2.0]
    maximum = Head([[1.0, 1.0], [0.0, 1.0]], PROTOTYPES, {"readout": {"kind": "maximum"}}, bias=[0.0, 1.0])
    assert list(map(float, maximum.logits(activations))) == [1.25, 1.25]
    tree = {"kind": "soft_tree", "absent": [1, -1], "present": [-3, -2]}
    leaves = Head([[8.0, 16.0, 32.0], [0.0, 0.0, 1.0]], PROTOTYPES, {"readout": tree})
    assert list(map(float, leaves.logits(activations))) == [0.5 * (0.75 * 8 + 0.25 * 16) + 0.5 * 32, 0.5]


def test_a_head_is_read_from_the_file_that_it_writes() -> None:
    parts = {"similarity": {"kind": "quadratic"}, "pooling": {"kind": "top_mean", "k": 2}}
    head = Head(WEIGHT, PROTOTYPES, parts, bias=[1.0, 2.0], peak=[0.5, 0.0])
    again = Head.read(head.data)
    assert again.data == head.data
    assert (again.weight, again.prototypes, again.bias, again.scale, again.peak) == (
        WEIGHT,
        PROTOTYPES,
        [1.0, 2.0],
        None,
        [0.5, 0.0],
    )
    assert (again.kind("similarity"), again.part("pooling"), again.count) == ("quadratic", parts["pooling"], 2)


def test_the_domain() -> None:
    ball_of_one = {"geometry": {"kind": "inner_product", "radius": (1.0).hex()}, "domain": files.domain(None, 0.75)}
    with flint.ctx.workprec(PRECISION):
        assert Head(WEIGHT, PROTOTYPES, ball_of_one).admits([0.5, 0.75])
        assert not Head(WEIGHT, PROTOTYPES, ball_of_one).admits([0.75, 0.75])
        assert not Head(WEIGHT, PROTOTYPES, ball_of_one).admits([0.0, 0.875])
        assert not Head(WEIGHT, PROTOTYPES, {"geometry": files.cosine(0.0)}).admits([0.0, 0.0])
        assert Head(WEIGHT, PROTOTYPES, {"geometry": files.cosine(0.5)}).admits([0.0, 0.0])
