"""The JSON of parts: the type of a field says how it is spelled."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from support.cases import every

from verale.errors import HeadError
from verale.head.fields import Kind, read_part, write_fields, write_part
from verale.head.geometry import GEOMETRIES
from verale.head.pooling import POOLINGS
from verale.head.readout import READOUTS
from verale.head.similarity import SIMILARITIES


@dataclass(frozen=True)
class Part:
    """A field of every type."""

    number: float
    optional: float | None
    count: int
    list: tuple[int, ...]
    side: str = "left"

    @property
    def kind(self) -> str:
        return f"{self.side} part"


KINDS = {f"{side} part": Kind(Part, {"side": side}) for side in ("left", "right")}
JSON = {"kind": "right part", "number": "0x1.8000000000000p+1", "optional": None, "count": 2, "list": [-1, 3]}


def test_a_part_is_written_and_read():
    part = Part(3.0, None, 2, (-1, 3), "right")
    assert write_part(part, KINDS) == JSON
    assert read_part("part", JSON, KINDS) == part
    assert read_part("part", {**JSON, "kind": "left part"}, KINDS) == Part(3.0, None, 2, (-1, 3))
    assert write_fields(Part(3, 0.5, 2, ()), {"side": "left"})["number"] == "0x1.8000000000000p+1"
    with pytest.raises(KeyError):
        write_fields(part)  # a string is spelled by no field, only by the kind


@every(
    ("field", "value"),
    [
        ("part", None),
        ("part", []),
        ("part", {**JSON, "kind": "part"}),
        ("part", {**JSON, "kind": ["right part"]}),
        ("part", {**JSON, "side": "right"}),
        ("part", {name: value for name, value in JSON.items() if name != "count"}),
        ("part.number", {**JSON, "number": 3.0}),
        ("part.number", {**JSON, "number": "3.0"}),
        ("part.number", {**JSON, "number": "0xx"}),
        ("part.number", {**JSON, "number": "0x1p+9999"}),
        ("part.number", {**JSON, "number": None}),
        ("part.optional", {**JSON, "optional": "inf"}),
        ("part.count", {**JSON, "count": True}),
        ("part.count", {**JSON, "count": "2"}),
        ("part.list", {**JSON, "list": "-1"}),
        ("part.list", {**JSON, "list": [1.0]}),
    ],
)
def test_another_value_is_refused_with_its_field(field, value):
    with pytest.raises(HeadError) as refusal:
        read_part("part", value, KINDS)
    assert refusal.value.field == field


@pytest.mark.parametrize("kinds", [GEOMETRIES, SIMILARITIES, POOLINGS, READOUTS])
def test_every_kind_is_that_of_the_part_it_reads(kinds):
    known = {"epsilon": "0x1.0p-4", "threshold": "0x1.0p-4", "radius": None, "class_token": 1, "k": 1}
    known |= {"absent": [-1], "present": [-2]}
    mask = torch.tensor([[1.0, 0.0]])
    for name, kind in kinds.items():
        spelled = [field for field in kind.part.__dataclass_fields__ if field not in (*kind.implied, *kind.tensors)]
        value = {"kind": name, **{field: known[field] for field in spelled}}
        part = read_part("part", value, kinds, {"mask": mask})
        assert part.kind == name and type(part) is kind.part
        assert read_part("part", write_part(part, kinds), kinds, {"mask": mask}) == part
