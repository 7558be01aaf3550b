"""A head checks itself: what verale cannot vouch for is refused with the field's name."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import safetensors.torch
import torch
from support.small import FOCAL, GEOMETRIES, VARIED, focal_head, small_head, varied_head

from verale.errors import HeadError, InputError
from verale.head import (
    BankPooling,
    Box,
    Cosine,
    Euclidean,
    ExpDistance,
    Exponential,
    FocalPooling,
    Head,
    Identity,
    InnerProduct,
    LogRatio,
    Maximum,
    MaxPooling,
    Negated,
    Quadratic,
    Softmax,
    SoftTree,
    Threshold,
    TopMeanPooling,
)
from verale.head.file import METADATA_KEY

WEIGHT = torch.ones(2, 3)
POINTS = torch.rand(3, 4)


def rewritten(head: Head, **fields: object) -> bytes:
    """The head's file with fields of its description replaced (None removes one)."""
    data = head.to_bytes()
    length = int.from_bytes(data[:8], "little")
    description = json.loads(json.loads(data[8 : 8 + length])["__metadata__"][METADATA_KEY])
    for name, value in fields.items():
        if value is None:
            del description[name]
        else:
            description[name] = value
    return safetensors.torch.save(safetensors.torch.load(data), metadata={METADATA_KEY: json.dumps(description)})


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_a_head_survives_its_file(geometry, tmp_path):
    head = small_head(geometry)
    head.save(tmp_path / "head.safetensors")
    loaded = Head.load(tmp_path / "head.safetensors")
    assert (loaded.geometry, loaded.similarity, loaded.domain) == (head.geometry, head.similarity, head.domain)
    assert torch.equal(loaded.weight, head.weight) and torch.equal(loaded.bias, head.bias)
    assert loaded.to_bytes() == head.to_bytes()
    assert loaded.digest == head.digest


@pytest.mark.parametrize(("geometry", "kind"), FOCAL)
def test_a_focal_head_survives_its_file(geometry, kind):
    head = focal_head(geometry, kind)
    loaded = Head.from_bytes(head.to_bytes())
    assert loaded.pooling == head.pooling == FocalPooling(kind)
    assert loaded.to_bytes() == head.to_bytes()
    assert Head.from_bytes(small_head(geometry).to_bytes()).pooling == MaxPooling()


@pytest.mark.parametrize("name", VARIED)
def test_a_varied_head_survives_its_file(name):
    head = varied_head(name)
    loaded = Head.from_bytes(head.to_bytes())
    for part in ("geometry", "similarity", "domain", "pooling", "readout"):
        assert getattr(loaded, part) == getattr(head, part)
    assert loaded.to_bytes() == head.to_bytes()
    assert loaded.size == head.size == 12


def test_the_digest_is_that_of_the_file_loaded():
    data = rewritten(small_head("euclidean"), labels=["a", "b", "c"])
    head = Head.from_bytes(data)
    assert head.labels == ("a", "b", "c")
    assert head.digest != small_head("euclidean").digest


@pytest.mark.parametrize(
    ("field", "build"),
    [
        ("weight", lambda: Head(torch.full((2, 3), torch.nan), Euclidean(), LogRatio(), prototypes=POINTS)),
        ("weight", lambda: Head(torch.ones(2, 3, dtype=torch.float16), Euclidean(), LogRatio(), prototypes=POINTS)),
        ("weight", lambda: Head(torch.ones(1, 3), Euclidean(), LogRatio(), prototypes=POINTS)),
        ("weight", lambda: Head(torch.ones(3), Euclidean(), LogRatio(), prototypes=POINTS)),
        ("bias", lambda: Head(WEIGHT, Euclidean(), LogRatio(), prototypes=POINTS, bias=torch.ones(3))),
        ("bias", lambda: Head(WEIGHT, Euclidean(), LogRatio(), prototypes=POINTS, bias=torch.tensor([0.0, torch.inf]))),
        ("prototypes", lambda: Head(WEIGHT, Euclidean(), LogRatio(), prototypes=POINTS[:2])),
        ("prototypes", lambda: Head(WEIGHT, Euclidean(), LogRatio())),
        ("prototypes", lambda: Head(WEIGHT, Softmax(), Identity(), prototypes=POINTS)),
        ("prototypes", lambda: Head(WEIGHT, Cosine(), Identity(), prototypes=POINTS * torch.tensor([[1], [0], [1]]))),
        ("similarity", lambda: Head(WEIGHT, Euclidean(), Identity(), prototypes=POINTS)),
        ("scale", lambda: Head(WEIGHT, Euclidean(), LogRatio(), prototypes=POINTS, scale=torch.ones(2))),
        ("scale", lambda: Head(WEIGHT, Euclidean(), LogRatio(), prototypes=POINTS, scale=torch.tensor([1.0, 0, 1]))),
        ("scale", lambda: Head(WEIGHT, Cosine(), Identity(), prototypes=POINTS + 1, scale=torch.ones(3))),
        ("similarity.epsilon", lambda: LogRatio(0.0)),
        ("similarity.epsilon", lambda: LogRatio(-1e-4)),
        ("similarity.epsilon", lambda: LogRatio(1.0)),
        ("geometry.epsilon", lambda: Cosine(-1e-8)),
        ("geometry.epsilon", lambda: Cosine(float("nan"))),
        ("domain.lower", lambda: Box(float("-inf"), 1)),
        ("domain", lambda: Box(1, 1)),
        ("pooling", lambda: FocalPooling("mean")),
        (
            "pooling",
            lambda: Head(WEIGHT, Softmax(), Identity(), pooling=FocalPooling("max_minus_mean_distance")),
        ),
        (
            "pooling",
            lambda: Head(
                WEIGHT, Cosine(), Identity(), prototypes=POINTS + 1, pooling=FocalPooling("max_minus_mean_distance")
            ),
        ),
        ("labels", lambda: Head(WEIGHT, Euclidean(), LogRatio(), prototypes=POINTS, labels=("a",))),
        ("geometry.radius", lambda: InnerProduct(0.0)),
        ("geometry.radius", lambda: InnerProduct(float("inf"))),
        ("domain", lambda: Head(WEIGHT, InnerProduct(), Identity(), prototypes=POINTS, domain=Box(0, None))),
        ("domain", lambda: Head(WEIGHT, Euclidean(), Negated(), prototypes=POINTS)),
        ("domain", lambda: Head(WEIGHT, Euclidean(), Quadratic(), prototypes=POINTS, domain=Box(0, None))),
        ("similarity", lambda: Head(WEIGHT, InnerProduct(9.0), Exponential(), prototypes=POINTS)),
        ("similarity.epsilon", lambda: ExpDistance(-1.0)),
        ("similarity.threshold", lambda: Threshold(0.0)),
        ("similarity.threshold", lambda: Threshold(1.0)),
        ("peak", lambda: Head(WEIGHT, Euclidean(), LogRatio(), prototypes=POINTS, peak=torch.ones(3))),
        ("peak", lambda: replace(varied_head("cosine quadratic"), peak=torch.ones(3))),
        ("scale", lambda: replace(varied_head("exp_distance"), scale=torch.ones(12))),
        ("pooling.class_token", lambda: BankPooling(0)),
        ("pooling.class_token", lambda: replace(small_head("euclidean"), pooling=BankPooling(12))),
        ("pooling.k", lambda: TopMeanPooling(0)),
        ("pooling", lambda: replace(varied_head("exp_distance"), pooling=FocalPooling())),
        ("pooling", lambda: replace(varied_head("cosine maximum"), pooling=FocalPooling())),
        ("readout", lambda: SoftTree((), ())),
        ("readout", lambda: SoftTree((-1,), (-2, -3))),
        ("readout", lambda: SoftTree((0,), (-1,))),
        ("readout", lambda: SoftTree((-1,), (-3,))),
        ("readout", lambda: SoftTree((-1,), (-1,))),
        ("readout", lambda: SoftTree((1, -1), (-2, 2))),
        ("readout", lambda: replace(varied_head("tree"), similarity=LogRatio())),
        ("readout", lambda: replace(varied_head("tree"), pooling=TopMeanPooling(2))),
        ("readout", lambda: replace(small_head("softmax"), bias=None, readout=Maximum())),
        ("weight", lambda: replace(varied_head("tree"), weight=torch.ones(3, 12))),
        ("prototypes", lambda: replace(varied_head("tree"), prototypes=torch.ones(3, 12))),
        ("bias", lambda: replace(varied_head("tree"), bias=torch.ones(3))),
        ("weight", lambda: replace(varied_head("maximum"), weight=torch.full((3, 12), 0.5))),
        ("weight", lambda: replace(varied_head("maximum"), weight=torch.eye(3, 12) * torch.tensor([[1], [1], [0]]))),
        ("bias", lambda: replace(varied_head("maximum"), bias=torch.ones(3))),
    ],
)
def test_what_cannot_be_vouched_for_is_refused(field, build):
    with pytest.raises(HeadError) as refusal:
        build()
    assert refusal.value.field == field
    assert "expected" in str(refusal.value) or "remove" in str(refusal.value)


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("version", {"version": 2}),
        ("version", {"version": True}),
        ("colour", {"colour": "red"}),
        ("pooling", {"pooling": None}),
        ("pooling", {"pooling": {"kind": "mean"}}),
        ("pooling", {"pooling": {"kind": "max_minus_mean", "k": 1}}),
        ("geometry", {"geometry": {"kind": "euclidean", "epsilon": "0x0p+0"}}),
        ("geometry", {"geometry": "euclidean"}),
        ("similarity.epsilon", {"similarity": {"kind": "log_ratio", "epsilon": 1e-4}}),
        ("similarity.epsilon", {"similarity": {"kind": "log_ratio", "epsilon": "-0x1p-10"}}),
        ("domain", {"domain": {"lower": "0x0p+0"}}),
        ("domain.upper", {"domain": {"lower": "0x0p+0", "upper": "inf"}}),
        ("labels", {"labels": "abc"}),
        ("pooling.k", {"pooling": {"kind": "top_mean", "k": True}}),
        ("readout", {"readout": {"kind": "forest"}}),
        ("readout.absent", {"readout": {"kind": "soft_tree", "absent": "-1", "present": [-2]}}),
        ("readout.present", {"readout": {"kind": "soft_tree", "absent": [-1], "present": ["-2"]}}),
        ("geometry.radius", {"geometry": {"kind": "inner_product", "radius": 4}}),
    ],
)
def test_a_file_with_a_wrong_description_is_refused(field, fields):
    with pytest.raises(HeadError) as refusal:
        Head.from_bytes(rewritten(small_head("euclidean"), **fields))
    assert refusal.value.field == field


def test_files_that_are_no_heads_are_refused_by_name(tmp_path):
    path = tmp_path / "head.safetensors"
    with pytest.raises(InputError, match="no such file"):
        Head.load(path)
    whole = small_head("euclidean").to_bytes()
    for data, reason in [
        (b"", "not a readable safetensors"),
        (whole[:100], "not a readable safetensors"),
        (whole[:-1], "not a readable safetensors"),
        (safetensors.torch.save({"weight": WEIGHT}), "no head file"),
        (safetensors.torch.save({"weight": WEIGHT}, metadata={METADATA_KEY: "[]"}), "not a JSON object"),
        (safetensors.torch.save({"weight": WEIGHT}, metadata={METADATA_KEY: "{"}), "not JSON"),
        (safetensors.torch.save({"extra": WEIGHT}, metadata={METADATA_KEY: "{}"}), "unknown tensor"),
        (safetensors.torch.save({"bias": WEIGHT}, metadata={METADATA_KEY: "{}"}), "missing"),
    ]:
        path.write_bytes(data)
        with pytest.raises(InputError, match=reason) as refusal:
            Head.load(path)
        assert str(path) in str(refusal.value)
