"""The strict JSON reader: its limits, and what it allows. What it refuses besides: `corpus/messages.txt`."""

from __future__ import annotations

import pytest

from verale.checker.errors import FormatError
from verale.checker.read.formats import brief, fields, index, read_object, text


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


def test_fields() -> None:
    assert fields({"a": 1, "c": 2}, "x", ("a",), ("b", "c")) == {"a": 1, "c": 2}
    for value, fault in (
        ([], "expected an object"),
        ({}, "lacks the field 'a'"),
        ({"a": 1, "z": 1}, "unknown field 'z'"),
    ):
        with pytest.raises(FormatError, match=fault):
            fields(value, "x", ("a",))


@pytest.mark.parametrize("value", [True, False, -1, "1", None, 1.0, [1]])
def test_index_refuses(value: object) -> None:
    with pytest.raises(FormatError, match="expected an integer from 0"):
        index(value, "x")


def test_index_and_text() -> None:
    assert index(0, "x") == 0
    assert text("", "x") == ""
    with pytest.raises(FormatError, match="x is 1, expected a string"):
        text(1, "x")


def test_brief_is_short_and_printable() -> None:
    assert brief("\ud800\x00é" * 100).isascii()
    assert len(brief([[i] * 1000 for i in range(1000)])) < 300
