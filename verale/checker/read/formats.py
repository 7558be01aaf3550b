"""The formats of all files, read strictly: JSON, its fields, and safetensors. Whatever else bytes are is a FormatError.

**JSON**: exactly one plain object, at any size and depth. Stricter than the standard library: no repeated key, no NaN
or infinity, no number with a fraction or exponent, no integer of more than 18 digits, no lone surrogate, no nesting
deeper than 16, no more than 2^19 strings, brackets and commas. They are counted before parsing, without recursion, so
that no input exhausts the stack or the memory: a value can take many times the bytes of its text.

**Fields**: a reader takes a value and says where it stands, in messages; it gives the value, checked, or raises
FormatError. Readers of objects and lists are made of readers of what they hold.

**Safetensors**: an 8-byte little-endian length, a JSON header, the tensors' bytes without gap or overlap. Nothing is
allocated because the header says so: a claimed shape must fit the bytes of the file.
"""

from __future__ import annotations

import json
import re
import reprlib
import sys
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice, repeat
from math import isfinite, prod
from typing import Any, NoReturn, TypeAlias, TypeVar

from ..dyadic import hex_float
from ..errors import FormatError

_T = TypeVar("_T")
Reader: TypeAlias = Callable[[Any, str], _T]
Readers: TypeAlias = Mapping[str, Reader[Any]]
"""By the names of fields."""
_NONE: Readers = {}

LARGEST = 8 * 2**20
"""Bytes of a JSON text."""

_DEEPEST = 16
_LONGEST_INTEGER = 18
_MOST_TOKENS = 2**19
# A string, closed or running to the end of the text; possessive, so linear in its length.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_BRACKET = re.compile(r"[\[{\]}]")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

_LONGEST_HEADER = 4 * 2**20
_MOST_DIMENSIONS = 8
_PART = 2**20
"""Bytes of a tensor that are looked at together; whole entries."""
_ITEM_BYTES = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2"), 1),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 2),
    **dict.fromkeys(("U32", "I32", "F32"), 4),
    **dict.fromkeys(("U64", "I64", "F64"), 8),
}


def read_object(data: bytes, what: str) -> dict[str, Any]:
    """The JSON object that `data`, UTF-8 text of at most LARGEST bytes, holds. Raises FormatError, which names the
    document, by `what`, and the fault."""
    if len(data) > LARGEST:
        raise FormatError(f"{what} has more than {LARGEST} bytes, the most that are allowed")
    try:
        source = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{what} is not UTF-8 ({error.reason} at byte {error.start})") from None
    bare, strings = _STRING.subn("", source, _MOST_TOKENS + 1)
    depth = 0
    for bracket in islice(_BRACKET.finditer(bare), _MOST_TOKENS):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > _DEEPEST:
            raise FormatError(f"{what} is nested deeper than {_DEEPEST}")
    if strings + sum(map(bare.count, "[{]},")) > _MOST_TOKENS:
        raise FormatError(f"{what} has more than {_MOST_TOKENS} strings, brackets and commas")
    try:
        value = json.loads(
            source,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=partial(_refuse, "a number with a fraction or exponent; write a hex float string"),
            parse_constant=partial(_refuse, "no JSON number"),
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


def _encode(value: Any) -> None:
    """Raises UnicodeEncodeError where a string of a document has a lone surrogate."""
    if isinstance(value, str):
        value.encode("utf-8")
    elif isinstance(value, dict | list | tuple):
        for part in value.items() if isinstance(value, dict) else value:
            _encode(part)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        repeated = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise FormatError(f"repeats the key {brief(repeated)}")
    return value


def _integer(literal: str) -> int:
    if len(literal.lstrip("-")) > _LONGEST_INTEGER:
        _refuse(f"an integer of more than {_LONGEST_INTEGER} digits", literal)
    return int(literal)


def _refuse(why: str, literal: str) -> NoReturn:
    raise FormatError(f"holds {brief(literal)}, {why}")


def brief(value: Any) -> str:
    """A short, printable description of any value of a document."""
    return reprlib.repr(value).encode("ascii", "backslashreplace").decode()


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


def record(
    value: Any, where: str, required: Readers, optional: Readers = _NONE, prefix: str | None = None
) -> dict[str, Any]:
    """The fields of an object, each by its reader; of the optional ones those that are there. In messages the names of
    fields begin with the prefix, by default with `where`. Raises FormatError."""
    fields(value, where, tuple(required), tuple(optional))
    prefix = f"{where}." if prefix is None else prefix
    readers = {**required, **optional} if optional else required
    return {name: read(value[name], prefix + name) for name, read in readers.items() if name in value}


def of_kind(
    value: Any, where: str, kinds: Mapping[str, Readers], common: Readers = _NONE
) -> tuple[str, dict[str, Any]]:
    """The kind of an object, and its fields: those that all kinds have, and those of its own. Raises FormatError."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise FormatError(f"{where} is {brief(value)}, expected an object whose kind is one of {', '.join(kinds)}")
    read = record(value, where, {"kind": text, **common, **kinds[kind]})
    return read.pop("kind"), read


def listed(read: Reader[_T], count: int | None = None, expected: str = "a list") -> Reader[tuple[_T, ...]]:
    """Reads lists: of `count` values, where it is given."""

    def reader(value: Any, where: str) -> tuple[_T, ...]:
        if not isinstance(value, list) or count not in (None, len(value)):
            raise FormatError(f"{where} is {brief(value)}, expected {expected}")
        try:
            return tuple(map(read, value, repeat(where)))
        except FormatError:  # the place is named only where something is wrong
            return tuple(read(part, f"{where}[{i}]") for i, part in enumerate(value))

    return reader


def nullable(read: Reader[_T]) -> Reader[_T | None]:
    """Reads null too, as None."""
    return lambda value, where: None if value is None else read(value, where)


def such(read: Reader[_T], holds: Callable[[_T], bool], expected: str) -> Reader[_T]:
    """Reads values of which a condition holds."""

    def reader(value: Any, where: str) -> _T:
        result = read(value, where)
        if not holds(result):
            raise FormatError(f"{where} is {brief(value)}, expected {expected}")
        return result

    return reader


# Each of these gives the value, of the kind that it is named after, or raises FormatError.


def integer(value: Any, where: str) -> int:
    if type(value) is not int:  # in JSON a boolean is none
        raise FormatError(f"{where} is {brief(value)}, expected an integer")
    return value


def index(value: Any, where: str) -> int:
    """An integer from 0."""
    if type(value) is not int or value < 0:
        raise FormatError(f"{where} is {brief(value)}, expected an integer from 0")
    return value


def number(value: Any, where: str) -> Fraction:
    """The number that the value is the hex float of."""
    exact = hex_float(text(value, where))
    if exact is None:
        raise FormatError(f"{where} is {brief(value)}, expected the hex float of a finite binary64, such as '0x1.8p-3'")
    return exact


def text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise FormatError(f"{where} is {brief(value)}, expected a string")
    return value


def digest(value: Any, where: str) -> str:
    """A SHA-256."""
    if not _DIGEST.fullmatch(text(value, where)):
        raise FormatError(f"{where} is {brief(value)}, expected 64 lowercase hex digits")
    return str(value)


@dataclass(frozen=True)
class Tensor:
    """A tensor of a safetensors file: its bytes, not yet converted."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    data: memoryview

    def check_finite(self, start: int = 0, stop: int | None = None) -> None:
        """Raises FormatError unless the entries start..stop are finite floats. Nothing is converted or kept.

        The last byte of a stored float has its sign and the seven upper bits of its exponent. All seven are 1 where a
        number is not finite, and beside that only in numbers of 2^127 and more, or 2^1009 of F64: these are looked at
        one by one.
        """
        if self.dtype not in ("F32", "F64"):
            raise FormatError(f"tensor {brief(self.name)} has dtype {self.dtype}, expected F32 or F64")
        size = _ITEM_BYTES[self.dtype]
        entries = self.data[start * size : None if stop is None else stop * size]
        for begin in range(0, len(entries), _PART):
            part = bytes(entries[begin : begin + _PART])
            uppermost = part[size - 1 :: size]
            if b"\x7f" in uppermost or b"\xff" in uppermost:
                for place, value in enumerate(self._native(part), start + begin // size):
                    if not isfinite(value):
                        where = f"tensor {brief(self.name)}"
                        raise FormatError(f"{where} holds {value} at entry {place}, expected finite numbers")

    def floats(self, start: int = 0, stop: int | None = None) -> array[float]:
        """The entries start..stop, in the order of storage, as binary64. Raises FormatError unless finite floats."""
        self.check_finite(start, stop)
        size = _ITEM_BYTES[self.dtype]
        return array("d", self._native(self.data[start * size : None if stop is None else stop * size]))

    def _native(self, data: bytes | memoryview) -> array[float]:
        """Stored floats in the byte order of this machine."""
        values: array[float] = array("f") if self.dtype == "F32" else array("d")
        values.frombytes(data)
        if sys.byteorder == "big":
            values.byteswap()
        return values


def read_described(
    data: bytes | bytearray, most: int, key: str, required: Readers, optional: Readers = _NONE
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The description and the tensors of a file whose one entry of metadata, `key`, is a JSON object of version 1.

    Raises:
        FormatError: more than `most` bytes, other metadata, another version, or other fields of the description.
    """
    if len(data) > most:
        raise FormatError(f"it has more than {most} bytes, the most that are allowed")
    metadata, tensors = read_tensors(data)
    if set(metadata) != {key}:
        raise FormatError(f"__metadata__ has the entries {brief(sorted(metadata))}, expected one: {key!r}")
    description = read_object(metadata[key].encode("utf-8"), key)
    return record(description, key, {"version": _VERSION, **required}, optional, prefix=""), tensors


_VERSION = such(integer, (1).__eq__, "1")


def read_tensors(data: bytes | bytearray) -> tuple[dict[str, str], dict[str, Tensor]]:
    """The metadata and the tensors of a safetensors file, which lie one after the other, from the header to the end of
    the file. Raises FormatError, which names the tensor and the fault."""
    if len(data) < 8:
        raise FormatError(
            f"the file has {len(data)} bytes, expected a safetensors file: at least 8, its header's length"
        )
    length, most = int.from_bytes(data[:8], "little"), min(_LONGEST_HEADER, len(data) - 8)
    if length > most:
        raise FormatError(f"the header claims {length} bytes, expected at most {most}")
    if data[8:9] != b"{":
        raise FormatError("the header does not begin with '{', expected a safetensors file")
    header = read_object(bytes(data[8 : 8 + length]), "the header")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise FormatError(f"__metadata__ is {brief(metadata)}, expected an object of strings")
    stored, places, tensors = memoryview(data)[8 + length :], [], {}
    for name, value in header.items():
        where = f"tensor {brief(name)}"
        dtype, shape, (begin, end) = record(value, where, _ENTRY).values()
        expected = prod(shape) * _ITEM_BYTES[dtype]
        if end - begin != expected:
            raise FormatError(f"{where} spans {end - begin} bytes, expected {expected} for {dtype} {list(shape)}")
        places.append((begin, end, where))
        tensors[name] = Tensor(name, dtype, shape, stored[begin:end])
    at = 0
    for begin, end, where in sorted(places):
        if begin != at or end > len(stored):
            raise FormatError(f"{where} lies at bytes {begin} to {end} of {len(stored)}, expected to begin at {at}")
        at = end
    if at != len(stored):
        raise FormatError(
            f"the tensors end at byte {at}, the file at byte {len(stored)}: it is cut short or has a tail"
        )
    return metadata, tensors


_ENTRY: Readers = {
    "dtype": such(text, _ITEM_BYTES.__contains__, f"one of {', '.join(_ITEM_BYTES)}"),
    "shape": such(listed(index), lambda sizes: len(sizes) <= _MOST_DIMENSIONS, f"at most {_MOST_DIMENSIONS} sizes"),
    "data_offsets": listed(index, 2, "[begin, end]"),
}
