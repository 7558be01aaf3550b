"""Parts of heads: the type of a field says how it is spelled, and what is read becomes that part."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest
import torch

from verale.checker.read.head_file import HeadPart as Stored
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
NUMBERS = {"number": Fraction(3), "optional": None, "count": 2, "list": (-1, 3)}


def test_a_part_is_written_and_read():
    part = Part(3.0, None, 2, (-1, 3), "right")
    assert write_part(part, KINDS) == JSON
    assert read_part("part", Stored("right part", NUMBERS), KINDS) == part
    assert type(read_part("part", Stored("right part", NUMBERS), KINDS).number) is float
    assert read_part("part", Stored("left part", NUMBERS), KINDS) == Part(3.0, None, 2, (-1, 3))
    assert write_fields(Part(3, 0.5, 2, ()), {"side": "left"})["number"] == "0x1.8000000000000p+1"
    with pytest.raises(KeyError):
        write_fields(part)  # a string is spelled by no field, only by the kind


def test_a_kind_that_is_read_and_not_explained_is_refused_with_its_field():
    with pytest.raises(HeadError, match="head field 'part': is part, expected one of left part, right part"):
        read_part("part", Stored("part", NUMBERS), KINDS)


@pytest.mark.parametrize("kinds", [GEOMETRIES, SIMILARITIES, POOLINGS, READOUTS])
def test_every_kind_is_that_of_the_part_it_reads(kinds):
    known = {"epsilon": Fraction(1, 16), "threshold": Fraction(1, 16), "radius": None, "class_token": 1, "k": 1}
    known |= {"absent": (-1,), "present": (-2,), "steps": ()}
    mask = torch.tensor([[1.0, 0.0]])
    for name, kind in kinds.items():
        spelled = [field for field in kind.part.__dataclass_fields__ if field not in (*kind.implied, *kind.tensors)]
        numbers = {field: known.get(field, Fraction(1, 16)) for field in spelled}
        part = read_part("part", Stored(name, numbers), kinds, {"mask": mask})
        assert part.kind == name and type(part) is kind.part
        written = write_part(part, kinds)
        assert written.keys() == {"kind", *spelled} and written["kind"] == name
