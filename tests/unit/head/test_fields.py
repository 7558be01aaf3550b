"""The head's file: it survives, and what is wrong with one is refused with the field's name."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest
import safetensors.torch
import torch
from support.cases import every
from support.small import GEOMETRIES, VARIED, small_head, small_latents, varied_head

import verale
from verale.checker.read.head_file import METADATA_KEY as HEAD_KEY
from verale.checker.read.head_file import HeadPart as Stored
from verale.errors import HeadError, InputError
from verale.head import Euclidean, Head, LogRatio
from verale.head.fields import Kind, read_part, write_fields, write_part
from verale.head.geometry import GEOMETRIES as PARTS_GEOMETRIES
from verale.head.pooling import POOLINGS
from verale.head.readout import READOUTS
from verale.head.similarity import SIMILARITIES


def rewritten(head: Head, **fields: object) -> bytes:
    """The head's file with fields of its description replaced (None removes one)."""
    data = head.to_bytes()
    length = int.from_bytes(data[:8], "little")
    description = json.loads(json.loads(data[8 : 8 + length])["__metadata__"][HEAD_KEY])
    for name, value in fields.items():
        if value is None:
            del description[name]
        else:
            description[name] = value
    return safetensors.torch.save(safetensors.torch.load(data), metadata={HEAD_KEY: json.dumps(description)})


@every("name", (*GEOMETRIES, *VARIED))
def test_a_head_survives_its_file(name, tmp_path):
    head = small_head(name) if name in GEOMETRIES else varied_head(name)
    head.save(tmp_path / "head.safetensors")
    loaded = Head.load(tmp_path / "head.safetensors")
    for part in ("geometry", "similarity", "domain", "pooling", "readout", "digest"):
        assert getattr(loaded, part) == getattr(head, part)
    assert torch.equal(loaded.weight, head.weight) and loaded.to_bytes() == head.to_bytes()


def test_the_digest_is_that_of_the_file_loaded():
    data = rewritten(small_head("euclidean"), labels=["a", "b", "c"])
    head = Head.from_bytes(data)
    assert head.labels == ("a", "b", "c")
    assert head.digest != small_head("euclidean").digest


def test_another_head_made_of_a_loaded_one_has_a_digest_of_its_own() -> None:
    loaded = Head.from_bytes(small_head("euclidean").to_bytes())
    other = replace(loaded, weight=loaded.weight * 2)
    assert other.digest == Head.from_bytes(other.to_bytes()).digest != loaded.digest
    (certificate,) = verale.explain(other, small_latents(loaded, images=1), "top_k")
    assert certificate.head == other.digest


def test_tensors_that_share_their_memory_are_stored_one_by_one() -> None:
    whole = torch.rand(3, 3)
    tied = Head(whole[:2], Euclidean(), LogRatio(), whole, scale=whole[0])
    assert tied.to_bytes() == Head(whole[:2].clone(), Euclidean(), LogRatio(), whole, scale=whole[0].clone()).to_bytes()


def test_other_files_are_refused_by_name(tmp_path):
    path = tmp_path / "head.safetensors"
    with pytest.raises(InputError, match="no such file"):
        Head.load(path)
    whole = small_head("euclidean").to_bytes()
    for data, reason in ((b"", "the file has 0 bytes, expected a safetensors file"), (whole[:-1], "lies at bytes")):
        path.write_bytes(data)
        with pytest.raises(InputError, match=reason) as refusal:
            Head.load(path)
        assert str(path) in str(refusal.value)


def test_the_bytes_of_a_head_are_those_of_certificates_v1():
    """The description is spelled out, in this order; a reader of v1.md has to be able to write the same file."""
    data = small_head("cosine").to_bytes()
    length = int.from_bytes(data[:8], "little")
    assert json.loads(data[8 : 8 + length])["__metadata__"] == {
        HEAD_KEY: '{"version": 1, "geometry": {"kind": "cosine", "epsilon": "0x1.5798ee2308c3ap-27"},'
        ' "domain": {"lower": "0x0.0p+0", "upper": null}, "similarity": {"kind": "identity"},'
        ' "pooling": {"kind": "max"}, "labels": null}'
    }


# Parts of heads: the type of a field says how it is spelled, and what is read becomes that part.


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


@pytest.mark.parametrize("kinds", [PARTS_GEOMETRIES, SIMILARITIES, POOLINGS, READOUTS])
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
