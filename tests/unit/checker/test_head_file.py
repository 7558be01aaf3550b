"""Heads and their file: every rule of certificates/v1.md, "The head file"."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import Any

import handmade as hm
import pytest

from verale.checker.errors import HeadError
from verale.checker.head_file import read_head

WEIGHT = [[1.0, -0.5], [0.25, 2.0]]
POINTS = [[0.5, 0.25, 1.0], [0.0, 0.0, 0.0]]
COSINE = {"geometry": hm.cosine(0.5), "similarity": hm.IDENTITY}
SOFTMAX = {"geometry": hm.SOFTMAX, "similarity": hm.IDENTITY}


def file(metadata: Any, **tensors: Any) -> bytes:
    return hm.safetensors({name: hm.tensor(values) for name, values in tensors.items()}, metadata)


def described(**changes: Any) -> dict[str, str]:
    return {"verale.head": json.dumps(hm.description(**changes))}


def without(field: str) -> dict[str, str]:
    description = hm.description()
    del description[field]
    return {"verale.head": json.dumps(description)}


def test_reads_a_euclidean_head() -> None:
    data = hm.head(WEIGHT, POINTS, [1.0, -2.5], labels=["a", "b"], domain=hm.domain(-1.5, None))
    head = read_head(data)
    assert head.sha256 == hashlib.sha256(data).hexdigest()
    assert (head.geometry, head.epsilon) == ("euclidean", Fraction(1, 1024))
    assert (head.lower, head.upper) == (Fraction(-3, 2), None)
    assert (head.classes, head.count, head.depth) == (2, 2, 3)
    assert (head.weight.rows, head.weight.bits) == ([[4, -2], [1, 8]], 2)
    assert (head.bias.rows, head.bias.bits) == ([[2, -5]], 1)
    assert (head.prototypes.rows, head.prototypes.bits) == ([[2, 1, 4], [0, 0, 0]], 2)


def test_reads_the_other_geometries_and_f32() -> None:
    cosine = read_head(hm.head(WEIGHT, POINTS[:1] * 2, dtype="F32", **COSINE))
    assert (cosine.geometry, cosine.epsilon, cosine.bias.rows) == ("cosine", Fraction(1, 2), [[0, 0]])
    softmax = read_head(hm.head(WEIGHT, **SOFTMAX))
    assert (softmax.geometry, softmax.depth, softmax.prototypes.rows) == ("softmax", 2, [])


def test_reads_poolings() -> None:
    assert read_head(hm.head(WEIGHT, POINTS)).pooling == "max"
    for kind in ("max_minus_mean", "max_minus_mean_distance"):
        assert read_head(hm.head(WEIGHT, POINTS, pooling={"kind": kind})).pooling == kind
    assert read_head(hm.head(WEIGHT, **SOFTMAX, pooling={"kind": "max_minus_mean"})).pooling == "max_minus_mean"


UNUSABLE = {
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
        for field in hm.description()
    },
    "another field": (hm.head(WEIGHT, POINTS, scale=1), "unknown field 'scale'"),
    "version 2": (hm.head(WEIGHT, POINTS, version=2), "version is 2, expected 1"),
    "version true": (hm.head(WEIGHT, POINTS, version=True), "version is True, expected 1"),
    "version as a string": (hm.head(WEIGHT, POINTS, version="1"), "version is '1'"),
    "an unknown geometry": (hm.head(WEIGHT, POINTS, geometry={"kind": "hyperbolic"}), "geometry is .*euclidean"),
    "a geometry that is no object": (hm.head(WEIGHT, POINTS, geometry="euclidean"), "geometry is 'euclidean'"),
    "a kind that is a list": (hm.head(WEIGHT, POINTS, geometry={"kind": []}), "geometry is"),
    "a euclidean epsilon": (
        hm.head(WEIGHT, POINTS, geometry={"kind": "euclidean", "epsilon": "0x0p+0"}),
        "unknown field",
    ),
    "no cosine epsilon": (
        hm.head(WEIGHT, POINTS[:1] * 2, **COSINE | {"geometry": {"kind": "cosine"}}),
        "lacks the field",
    ),
    "a negative cosine epsilon": (
        hm.head(WEIGHT, POINTS[:1] * 2, **COSINE | {"geometry": hm.cosine(-0.5)}),
        "at least 0",
    ),
    "a zero prototype of cosines": (hm.head(WEIGHT, POINTS, **COSINE), "row 1 is zero"),
    "an unknown similarity": (hm.head(WEIGHT, POINTS, similarity={"kind": "exp"}), "similarity is"),
    "identity of squared distances": (
        hm.head(WEIGHT, POINTS, similarity=hm.IDENTITY),
        "expected log_ratio or .* for euclidean",
    ),
    "log_ratio of cosines": (
        hm.head(WEIGHT, POINTS[:1] * 2, geometry=hm.cosine(0.0)),
        "expected identity or .* for cosine",
    ),
    "log_ratio of masses": (hm.head(WEIGHT, geometry=hm.SOFTMAX), "expected identity or threshold for softmax"),
    "epsilon 0": (hm.head(WEIGHT, POINTS, similarity=hm.log_ratio(0.0)), "between 0 and 1"),
    "epsilon 1": (hm.head(WEIGHT, POINTS, similarity=hm.log_ratio(1.0)), "between 0 and 1"),
    "epsilon -1": (hm.head(WEIGHT, POINTS, similarity=hm.log_ratio(-1.0)), "between 0 and 1"),
    "a decimal epsilon": (hm.head(WEIGHT, POINTS, similarity={"kind": "log_ratio", "epsilon": "0.1"}), "hex float"),
    "a number as epsilon": (
        hm.head(WEIGHT, POINTS, similarity={"kind": "log_ratio", "epsilon": 1}),
        "expected a string",
    ),
    "mean pooling": (hm.head(WEIGHT, POINTS, pooling={"kind": "mean"}), "pooling is"),
    "focal pooling with a field": (
        hm.head(WEIGHT, POINTS, pooling={"kind": "max_minus_mean", "k": 1}),
        "unknown field 'k'",
    ),
    "the mean distance of cosines": (
        hm.head(WEIGHT, POINTS[:1] * 2, **COSINE, pooling={"kind": "max_minus_mean_distance"}),
        "defined for euclidean only, not for cosine",
    ),
    "the mean distance of masses": (
        hm.head(WEIGHT, **SOFTMAX, pooling={"kind": "max_minus_mean_distance"}),
        "defined for euclidean only, not for softmax",
    ),
    "a domain with another field": (
        hm.head(WEIGHT, POINTS, domain={"lower": None, "upper": None, "x": 1}),
        "unknown field",
    ),
    "a domain without upper": (hm.head(WEIGHT, POINTS, domain={"lower": None}), "domain lacks"),
    "a domain with a number": (hm.head(WEIGHT, POINTS, domain={"lower": 0, "upper": None}), "domain.lower is 0"),
    "an infinite domain": (hm.head(WEIGHT, POINTS, domain={"lower": None, "upper": "inf"}), "domain.upper is 'inf'"),
    "an empty domain": (hm.head(WEIGHT, POINTS, domain=hm.domain(1.0, 0.0)), "less than upper"),
    "a domain of one point": (hm.head(WEIGHT, POINTS, domain=hm.domain(1.0, 1.0)), "less than upper"),
    "labels too few": (hm.head(WEIGHT, POINTS, labels=["a"]), "list of 2 strings"),
    "labels of numbers": (hm.head(WEIGHT, POINTS, labels=[1, 2]), "list of 2 strings"),
    "labels that are no list": (hm.head(WEIGHT, POINTS, labels="ab"), "list of 2 strings"),
    "no weight": (file(described(), prototypes=POINTS), "tensor 'weight' is missing"),
    "a weight of one dimension": (file(described(), weight=[1.0, 2.0], prototypes=POINTS), "expected 2 dimensions"),
    "one class": (hm.head(WEIGHT[:1], POINTS), "at least 2 classes"),
    "no prototype in weight": (
        hm.safetensors({"weight": hm.tensor([], sizes=[2, 0])}, described()),
        "at least 2 classes and 1 prototype",
    ),
    "a bias of another length": (hm.head(WEIGHT, POINTS, [1.0]), r"shape \[1\], expected \[2\]"),
    "a bias of two dimensions": (
        file(described(), weight=WEIGHT, prototypes=POINTS, bias=[[1.0, 2.0]]),
        "1 dimensions",
    ),
    "no prototypes": (hm.head(WEIGHT), "tensor 'prototypes' is missing"),
    "prototypes too few": (hm.head(WEIGHT, POINTS[:1]), r"shape \[1, 3\], expected \[2, D\]"),
    "prototypes of no depth": (
        hm.safetensors({"weight": hm.tensor(WEIGHT), "prototypes": hm.tensor([], sizes=[2, 0])}, described()),
        "D from 1",
    ),
    "prototypes of a softmax head": (hm.head(WEIGHT, POINTS, **SOFTMAX), "expected none for softmax"),
    "another tensor": (file(described(), weight=WEIGHT, prototypes=POINTS, gamma=[1.0]), "tensor 'gamma' is unknown"),
    "a scale too few": (file(described(), weight=WEIGHT, prototypes=POINTS, scale=[1.0]), "tensor 'scale' has shape"),
    "a scale of 0": (file(described(), weight=WEIGHT, prototypes=POINTS, scale=[1.0, 0.0]), "entry 1 is not positive"),
    "a scale of cosines": (
        file(
            described(geometry=hm.cosine(0.0), similarity=hm.IDENTITY),
            weight=WEIGHT,
            prototypes=POINTS,
            scale=[1.0, 1.0],
        ),
        "expected none for identity",
    ),
    "a half-precision weight": (
        hm.safetensors({"weight": ("F16", [2, 2], b"\0" * 8), "prototypes": hm.tensor(POINTS)}, described()),
        "dtype F16",
    ),
    "a NaN prototype": (hm.head(WEIGHT, [[float("nan"), 0.0], [1.0, 1.0]]), "holds nan"),
    "an infinite weight": (hm.head([[1.0, 2.0], [3.0, float("inf")]], POINTS), "holds inf at entry 3"),
    "a NaN bias": (hm.head(WEIGHT, POINTS, [0.0, float("nan")]), "tensor 'bias' holds nan"),
    "a million claimed classes": (
        hm.framed(
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


@pytest.mark.parametrize("name", UNUSABLE)
def test_refuses(name: str) -> None:
    data, fault = UNUSABLE[name]
    with pytest.raises(HeadError, match=fault):
        read_head(data)


def test_every_cut_is_refused() -> None:
    data = hm.head(WEIGHT, POINTS)
    for length in range(len(data)):
        with pytest.raises(HeadError):
            read_head(data[:length])
