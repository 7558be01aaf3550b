"""Bundles: named tuples of arrays and numbers that machine code takes as one pointer.

numba would pass a named tuple by value: an image and what is known of it are 60 arrays, each of up to nine numbers, at
every call of a part. Most of what LLVM had to read only took such tuples apart and put them together again. So Python
writes them into a table, and machine code reads from there what it needs.
"""

from __future__ import annotations

import struct
from array import array
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from verale.search.compiled.settings import import_numba

numba = import_numba()

from numba.core import cgutils, types  # noqa: E402
from numba.core.typing.templates import AttributeTemplate  # noqa: E402
from numba.extending import (  # noqa: E402
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    unbox,
)

__all__ = ["Bundle", "bundled"]

_Kind: TypeAlias = "str | tuple[str, tuple[str, ...], tuple[_Kind, ...]]"
"""A letter for what a number is, followed by an array's dimensions; "n" for None; or a named tuple's name, its fields,
and their kinds."""

_NUMBERS = {"f": types.float64, "i": types.int64, "b": types.boolean}
_LETTERS = {np.dtype(np.float64): "f", np.dtype(np.int64): "i", np.dtype(np.bool_): "b"}


class Bundle:
    """A named tuple as machine code takes it.

    Attributes:
        address: where its table begins.
    """

    def __init__(self, value: Any) -> None:
        words: list[int] = []
        self._numba_type_ = _type_of(_kind(value, words))
        self._table, self._value = array("q", words), value  # to live as long as this
        self.address = self._table.buffer_info()[0]


def bundled(value: Any) -> Any:
    """A named tuple as a bundle; anything else as it is."""
    return Bundle(value) if hasattr(value, "_fields") else value


def _kind(value: Any, words: list[int]) -> _Kind:
    """What something is; its words are added to a table. Of an array they are numba's own of arrays, all eight bytes
    wide."""
    if value is None:
        return "n"
    if hasattr(value, "_fields"):
        return type(value).__name__, value._fields, tuple(_kind(each, words) for each in value)
    if isinstance(value, np.ndarray):
        if value.dtype not in _LETTERS or not value.flags.carray:  # contiguous, aligned and writeable
            raise TypeError(
                "machine code takes contiguous arrays of float64, int64 or bool that may be written, not one of"
                f" {value.dtype}, shape {value.shape} and strides {value.strides}"
            )
        address = value.__array_interface__["data"][0]
        words += (0, 0, value.size, value.itemsize, address, *value.shape, *value.strides)
        return f"{_LETTERS[value.dtype]}{value.ndim}"
    if isinstance(value, float):
        words += struct.unpack("q", struct.pack("d", value))
        return "f"
    if not isinstance(value, int | np.integer):
        raise TypeError(f"machine code takes floats, integers, arrays and named tuples, not {type(value).__name__}")
    words.append(int(value))
    return "b" if isinstance(value, bool) else "i"


class _BundleType(types.Type):
    """A named tuple's type.

    Attributes:
        fields: the fields' types, and where each begins in the table.
        words: how long that is.
    """

    def __init__(self, name: str, fields: dict[str, tuple[Any, int]], words: int) -> None:
        super().__init__(name)
        self.fields, self.words = fields, words


@cache
def _type_of(kind: _Kind) -> Any:
    if kind == "n":
        return types.none
    if isinstance(kind, str):
        number = _NUMBERS[kind[0]]
        return types.Array(number, int(kind[1:]), "C") if kind[1:] else number
    name, fields, kinds = kind
    placed, words = {}, 0
    for field, each in zip(fields, kinds, strict=True):
        placed[field] = _type_of(each), words
        words += _words(placed[field][0])
    # Types, and symbols of machine code, are told apart by the names of types, so a name says what all fields are.
    said = "_".join(
        f"{field}_{each if isinstance(each, str) else _type_of(each).name}"
        for field, each in zip(fields, kinds, strict=True)
    )
    return _BundleType(f"{name}_{said}_", placed, words)


def _words(type_: Any) -> int:
    if isinstance(type_, types.Array):
        return 5 + 2 * int(type_.ndim)
    return int(getattr(type_, "words", type_ is not types.none))


_WORD = cgutils.ir.IntType(64)
_LAYOUT = ["meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides"]
"""The parts of numba's arrays, as `_kind` writes them."""


def _require_layout(context: Any, array_type: Any) -> None:
    """Raise TypeError if numba's arrays are others here: machine code would read what is not there."""
    parts = context.data_model_manager[array_type]._fields
    size = context.get_abi_sizeof(context.get_value_type(array_type))
    if list(parts) != _LAYOUT or size != 8 * _words(array_type):
        raise TypeError(f"arrays of this version of numba have the parts {parts} in {size} bytes, expected {_LAYOUT}")


@register_model(_BundleType)
class _Pointer(models.PrimitiveModel):
    def __init__(self, manager: Any, type_: Any) -> None:
        super().__init__(manager, type_, _WORD.as_pointer())


def _address(type_: Any, bundle: Any, c: Any) -> Any:
    number = c.pyapi.object_getattr_string(bundle, "address")
    address = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    return NativeValue(c.builder.inttoptr(address, _WORD.as_pointer()), is_error=c.pyapi.c_api_error())


@infer_getattr
class _Fields(AttributeTemplate):
    key = _BundleType

    def generic_resolve(self, type_: Any, name: str) -> Any:
        return type_.fields[name][0] if name in type_.fields else None


def _read(context: Any, builder: Any, type_: Any, table: Any, name: str) -> Any:
    """Nothing writes to a table, so what was read once need not be read again."""
    field, where = type_.fields[name]
    if isinstance(field, types.Array):
        _require_layout(context, field)
    if field is types.none:
        return context.get_dummy_value()
    place = builder.gep(table, [_WORD(where)])
    if isinstance(field, _BundleType):
        return place
    as_stored = context.get_value_type(field) if field is not types.boolean else _WORD
    value = builder.load(builder.bitcast(place, as_stored.as_pointer()))
    add = builder.module.add_metadata
    word = add(["word", add(["bundle"]), _WORD(0)])
    value.set_metadata("tbaa", add([word, word, _WORD(0), _WORD(1)]))
    return builder.trunc(value, cgutils.bool_t) if field is types.boolean else value


unbox(_BundleType)(_address)
lower_getattr_generic(_BundleType)(_read)
