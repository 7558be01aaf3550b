"""A strict JSON reader: it takes exactly one plain object; all else is a FormatError, at any size and depth.

Stricter than the standard library: no repeated key, no NaN or infinity, no number with a fraction or exponent, no
integer of more than 18 digits, no lone surrogate, no nesting deeper than 16, no more than 2^19 strings, brackets and
commas. They are counted before parsing, without recursion, so that no input exhausts the stack or the memory: a value
can take many times the bytes of its text.
"""

from __future__ import annotations

import json
import re
import reprlib
from itertools import islice
from typing import Any, NoReturn

from ..errors import FormatError

__all__ = ["LARGEST", "brief", "digest", "fields", "index", "read_object", "text"]

LARGEST = 8 * 2**20
"""Bytes of a text."""

_DEEPEST = 16
_LONGEST_INTEGER = 18
_MOST_TOKENS = 2**19
# A string, closed or running to the end of the text; possessive, so linear in its length.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_BRACKET = re.compile(r"[\[{\]}]")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read_object(data: bytes, what: str) -> dict[str, Any]:
    """The JSON object that `data` holds. Raises FormatError, which names `what` and the fault.

    Args:
        data: UTF-8 text of at most LARGEST bytes.
        what: the name of the document in messages, such as "the certificate".
    """
    if len(data) > LARGEST:
        raise FormatError(f"{what} has more than {LARGEST} bytes, the most that are allowed")
    try:
        source = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{what} is not UTF-8 ({error.reason} at byte {error.start})") from None
    _check_structure(source, what)
    try:
        value = json.loads(
            source,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=lambda literal: _refuse(
                literal, "a number with a fraction or exponent; write a hex float string"
            ),
            parse_constant=lambda literal: _refuse(literal, "no JSON number"),
        )
        if _SURROGATE.search(source):  # only an escape can make a lone one
            _encode(value)
    except json.JSONDecodeError as error:
        raise FormatError(f"{what} is not JSON ({error.msg} at line {error.lineno} column {error.colno})") from None
    except UnicodeEncodeError:
        raise FormatError(f"{what} holds a lone surrogate, expected whole Unicode characters") from None
    except FormatError as error:
        raise FormatError(f"{what} {error}") from None
    if not isinstance(value, dict):
        raise FormatError(f"{what} is {brief(value)}, expected one JSON object")
    return value


def fields(value: Any, where: str, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """`value`, an object with all required fields, perhaps optional ones, and no more. Raises FormatError."""
    if not isinstance(value, dict):
        raise FormatError(f"{where} is {brief(value)}, expected an object")
    for name in required:
        if name not in value:
            raise FormatError(f"{where} lacks the field {name!r}, expected {', '.join(required)}")
    for name in value:
        if name not in required and name not in optional:
            raise FormatError(f"{where} has the unknown field {brief(name)}, expected {', '.join(required + optional)}")
    return value


def index(value: Any, where: str) -> int:
    """`value`, an integer that counts from 0. Raises FormatError."""
    if type(value) is not int or value < 0:  # in JSON a boolean is not an integer
        raise FormatError(f"{where} is {brief(value)}, expected an integer from 0")
    return value


def text(value: Any, where: str) -> str:
    """`value`, a string. Raises FormatError."""
    if not isinstance(value, str):
        raise FormatError(f"{where} is {brief(value)}, expected a string")
    return value


def digest(value: Any, where: str) -> str:
    """`value`, a SHA-256. Raises FormatError."""
    if not _DIGEST.fullmatch(text(value, where)):
        raise FormatError(f"{where} is {brief(value)}, expected 64 lowercase hex digits")
    return str(value)


def brief(value: Any) -> str:
    """A short, printable description of any value of a document."""
    return reprlib.repr(value).encode("ascii", "backslashreplace").decode()


def _check_structure(source: str, what: str) -> None:
    bare, strings = _STRING.subn("", source, _MOST_TOKENS + 1)
    depth = 0
    for bracket in islice(_BRACKET.finditer(bare), _MOST_TOKENS):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > _DEEPEST:
            raise FormatError(f"{what} is nested deeper than {_DEEPEST}")
    if strings + sum(map(bare.count, "[{]},")) > _MOST_TOKENS:
        raise FormatError(f"{what} has more than {_MOST_TOKENS} strings, brackets and commas")


def _encode(value: Any) -> None:
    """Raises UnicodeEncodeError where a string of a document has a lone surrogate."""
    if isinstance(value, str):
        value.encode("utf-8")
    elif isinstance(value, dict):
        for each in value.items():
            _encode(each)
    elif isinstance(value, list | tuple):
        for each in value:
            _encode(each)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        repeated = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise FormatError(f"repeats the key {brief(repeated)}")
    return value


def _integer(literal: str) -> int:
    if len(literal.lstrip("-")) > _LONGEST_INTEGER:
        _refuse(literal, f"an integer of more than {_LONGEST_INTEGER} digits")
    return int(literal)


def _refuse(literal: str, why: str) -> NoReturn:
    raise FormatError(f"holds {brief(literal)}, {why}")
