"""The strict JSON reader: its limits, and what it allows. What it refuses besides: `corpus/messages.txt`."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from support import files
from support.cases import every

from verale.checker.errors import FormatError
from verale.checker.read import formats
from verale.checker.read.formats import index, read_object, read_tensors


def test_refuses_more_than_eight_megabytes() -> None:
    text = b'{"a": "' + b"x" * (8 * 2**20 - 9) + b'"}'
    assert read_object(text, "the document")
    with pytest.raises(FormatError, match="has more than 8388608 bytes"):
        read_object(text + b" ", "the document")


def test_refuses_many_small_values() -> None:
    for few in (b"[[],%s]", b'{"":"",%s}', b'"",%s', b"]%s"):
        with pytest.raises(FormatError, match="more than 524288 strings, brackets and commas"):
            read_object(few % (b"[]," * 200_000), "the document")


def test_reads_what_is_allowed() -> None:
    data = (
        b' {"a": [-0, 123456789012345678, -123456789012345678], "b": "[[[\\"{{{",'
        b' "c": "\\ud83d\\ude00", "d": [true, null]}\n'
    )
    assert read_object(data, "the document") == {
        "a": [0, 123456789012345678, -123456789012345678],
        "b": '[[["{{{',
        "c": "\N{GRINNING FACE}",
        "d": [True, None],
    }
    assert read_object(b'{"a":' + b"[" * 15 + b"]" * 15 + b"}", "the document")


def test_brackets_in_long_strings_of_escapes_are_not_counted_and_cost_no_time() -> None:
    data = b'{"a": "' + b'\\"[' * 300_000 + b'"}'
    assert len(read_object(data, "the document")["a"]) == 600_000
    with pytest.raises(FormatError, match="not JSON"):
        read_object(data[:-2], "the document")


@pytest.mark.parametrize("value", [True, False, -1, "1", None, 1.0, [1]])
def test_index_refuses(value: object) -> None:
    with pytest.raises(FormatError, match="expected an integer from 0"):
        index(value, "x")


# The safetensors reader: structure, claims that do not fit the bytes, values.


def entry(dtype: Any = "F32", shape: Any = (1,), offsets: Any = (0, 4)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def file(header: Any, body: bytes = b"\0" * 4) -> bytes:
    return files.framed(json.dumps(header).encode(), body)


MALFORMED = {
    "an entry without a shape": (file({"a": {"dtype": "F32", "data_offsets": [0, 4]}}), "lacks the field 'shape'"),
    "an entry with another field": (file({"a": {**entry(), "x": 1}}), "unknown field 'x'"),
    "nine dimensions": (file({"a": entry(shape=[1] * 9)}), "at most 8"),
    "a shape whose product overflows": (file({"a": entry(shape=[10**17] * 8)}), "spans 4 bytes"),
    "offsets in reverse": (file({"a": entry(offsets=[4, 0])}), "spans -4 bytes"),
    "offsets that do not fit the shape": (file({"a": entry(shape=[2])}), "spans 4 bytes, expected 8"),
}


@every("name", MALFORMED)
def test_refuses(name: str) -> None:
    data, fault = MALFORMED[name]
    with pytest.raises(FormatError, match=fault):
        read_tensors(data)


def test_every_cut_is_refused() -> None:
    data = files.safetensors({"a": files.tensor([[1.0, 2.0], [3.0, 4.0]], "F32")}, {"key": "value"})
    read_tensors(data)
    for length in range(len(data)):
        with pytest.raises(FormatError):
            read_tensors(data[:length])


def test_reads_values_in_any_order_of_tensors() -> None:
    header = {
        "b": entry("F64", [1, 1], [4, 12]),
        "a": entry(),
        "c": entry("U8", [0], [12, 12]),
        "__metadata__": {"k": "v"},
    }
    metadata, tensors = read_tensors(file(header, struct.pack("<fd", 0.1, -5e-324)))
    assert metadata == {"k": "v"}
    assert tensors["a"].floats().tolist() == [struct.unpack("<f", struct.pack("<f", 0.1))[0]]
    assert tensors["b"].floats().tolist() == [-5e-324]
    assert tensors["b"].shape == (1, 1)
    with pytest.raises(FormatError, match="tensor 'c' has dtype U8, expected F32 or F64"):
        tensors["c"].floats()


@pytest.mark.parametrize("dtype", ["F32", "F64"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_refuses_what_is_not_finite(dtype: str, value: float) -> None:
    _, tensors = read_tensors(files.safetensors({"a": files.tensor([1.0, 2.0, value, 3.0], dtype)}))
    with pytest.raises(FormatError, match=f"holds {value} at entry 2, expected finite numbers"):
        tensors["a"].floats()
    with pytest.raises(FormatError, match="at entry 2"):
        tensors["a"].floats(1, 4)
    assert tensors["a"].floats(0, 2).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("dtype", ["F32", "F64"])
def test_a_big_endian_host_swaps_bytes(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code, kind, data = files.tensor([1.5, -2.25], dtype)
    size = len(data) // 2
    swapped = b"".join(data[at : at + size][::-1] for at in (0, size))
    monkeypatch.setattr(formats.sys, "byteorder", "big")
    _, tensors = read_tensors(files.safetensors({"a": (code, kind, swapped)}))
    assert tensors["a"].floats().tolist() == [1.5, -2.25]
