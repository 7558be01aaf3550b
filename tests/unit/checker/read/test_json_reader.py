"""The strict JSON reader: every reject rule of certificates/v1.md, step 2, that concerns JSON itself."""

from __future__ import annotations

import pytest
from support.cases import every

from verale.checker.errors import FormatError
from verale.checker.read.formats import brief, fields, index, read_object, text

MALFORMED = {
    "not UTF-8": (b'{"a": "\xff"}', "not UTF-8"),
    "an overlong encoding": (b'{"a": "\xc0\xaf"}', "not UTF-8"),
    "a surrogate in UTF-8": (b'{"a": "\xed\xa0\x80"}', "not UTF-8"),
    "a byte order mark": (b"\xef\xbb\xbf{}", "not JSON"),
    "nothing": (b"", "not JSON"),
    "a list": (b"[]", "expected one JSON object"),
    "a string": (b'"a"', "expected one JSON object"),
    "null": (b"null", "expected one JSON object"),
    "two objects": (b"{} {}", "not JSON"),
    "cut short": (b'{"a": [1, 2', "not JSON"),
    "a string cut short": (b'{"a": "b', "not JSON"),
    "a trailing comma": (b'{"a": 1,}', "not JSON"),
    "a comment": (b"{} // x", "not JSON"),
    "a control character": (b'{"a": "\n"}', "not JSON"),
    "a repeated key": (b'{"a": 1, "b": 2, "a": 1}', "repeats the key 'a'"),
    "a key repeated in another spelling": (b'{"a": 1, "\\u0061": 1}', "repeats the key 'a'"),
    "a key repeated deep down": (b'{"x": [{"a": 1, "a": 2}]}', "repeats the key 'a'"),
    "NaN": (b'{"a": NaN}', "NaN"),
    "an infinity": (b'{"a": -Infinity}', "-Infinity"),
    "a fraction": (b'{"a": 1.0}', "1.0"),
    "an exponent": (b'{"a": 1e3}', "1e3"),
    "a number too large for a float": (b'{"a": 1e999}', "1e999"),
    "an integer of 19 digits": (b'{"a": 1234567890123456789}', "more than 18 digits"),
    "an integer of 10000 digits": (b'{"a": ' + b"9" * 10000 + b"}", "more than 18 digits"),
    "a lone surrogate": (b'{"a": "\\ud800"}', "lone surrogate"),
    "a lone surrogate in a list": (b'{"a": [{"b": ["", "\\uDbff "]}]}', "lone surrogate"),
    "a lone surrogate in a key": (b'{"\\udfff": 1}', "lone surrogate"),
    "depth 17": (b'{"a":' + b"[" * 16 + b"]" * 16 + b"}", "nested deeper than 16"),
    "depth a million": (b"[" * 10**6, "nested deeper than 16"),
    "depth a million, behind escaped quotes": (b'{"a": "\\"' + b'", "b": ' + b"[" * 10**6, "nested deeper than 16"),
}


@every("name", MALFORMED)
def test_refuses(name: str) -> None:
    data, fault = MALFORMED[name]
    with pytest.raises(FormatError, match=r"^the document ") as caught:
        read_object(data, "the document")
    assert fault in str(caught.value)
    assert len(str(caught.value)) < 200


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
