"""The JSON of a head's parts: an object with the part's `kind` and one field for each field of its dataclass.

The type of a field says how the file spells it: a float is a hex float, `float | None` is a hex float or null, an int
is an integer, and a tuple of ints is a list of integers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, MutableMapping
from dataclasses import dataclass, field, fields
from types import UnionType
from typing import Any, Generic, TypeVar, get_type_hints

from torch import Tensor

from verale.errors import HeadError

__all__ = ["Kind", "read_fields", "read_part", "write_fields", "write_part"]

T = TypeVar("T")


@dataclass(frozen=True)
class Kind(Generic[T]):
    """One kind of part in head files.

    Attributes:
        part: the class.
        implied: fields of the class that the kind itself stands for; the file does not spell them.
        tensors: fields of the class that are tensors of the file.
    """

    part: type[T]
    implied: Mapping[str, Any] = field(default_factory=dict)
    tensors: tuple[str, ...] = ()


def write_part(part: Any, kinds: Mapping[str, Kind[Any]]) -> dict[str, object]:
    """The JSON object of a part."""
    kind = kinds[part.kind]
    return {"kind": part.kind, **write_fields(part, [*kind.implied, *kind.tensors])}


def read_part(
    name: str, value: Any, kinds: Mapping[str, Kind[T]], tensors: MutableMapping[str, Tensor] | None = None
) -> T:
    """The part that a JSON object describes.

    Args:
        name: the head's field; errors carry it.
        value: the JSON value.
        kinds: the kinds that the field may have.
        tensors: of the file. Those that belong to the part are taken out.

    Raises:
        HeadError: a missing tensor, an unknown kind, a missing or unknown field, or a value of another type.
    """
    name_of_kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(name_of_kind, str) or name_of_kind not in kinds:
        raise HeadError(name, f"is {value!r}, expected an object whose kind is one of {', '.join(kinds)}")
    kind = kinds[name_of_kind]
    expected = {"kind", *_spelled(kind.part, [*kind.implied, *kind.tensors])}
    if set(value) != expected:
        raise HeadError(name, f"has fields {sorted(value)}, expected {sorted(expected)}")
    given: dict[str, Any] = dict(kind.implied)
    for each in kind.tensors:
        if not tensors or each not in tensors:
            raise HeadError(each, f"is missing, expected a tensor for the {name} {name_of_kind}")
        given[each] = tensors.pop(each)
    return read_fields(name, value, kind.part, given)


def write_fields(part: object, implied: Collection[str] = ()) -> dict[str, object]:
    """The fields of a dataclass as JSON, without the implied ones."""
    return {name: _CODECS[kind][0](getattr(part, name)) for name, kind in _spelled(type(part), implied).items()}


def read_fields(name: str, value: Mapping[str, Any], part: type[T], implied: Mapping[str, Any] | None = None) -> T:
    """A dataclass from the JSON of its fields, all of which are there. Raises HeadError, which names the field."""
    implied = implied or {}
    spelled = _spelled(part, implied).items()
    return part(**{each: _CODECS[kind][1](f"{name}.{each}", value[each]) for each, kind in spelled}, **implied)


def _spelled(part: type, implied: Collection[str]) -> dict[str, type | UnionType]:
    """The fields that the file spells, with their types."""
    types = get_type_hints(part)
    return {each.name: types[each.name] for each in fields(part) if each.name not in implied}


def _write_optional(value: float | None) -> str | None:
    return None if value is None else float(value).hex()


def _read_optional(name: str, value: object) -> float | None:
    return None if value is None else _read_float(name, value)


def _read_float(name: str, value: object) -> float:
    try:
        if not isinstance(value, str) or not value.lstrip("-").startswith("0x"):
            raise ValueError
        return float.fromhex(value)
    except (ValueError, OverflowError):
        raise HeadError(name, f"is {value!r}, expected a hex float such as '0x1.8p+0'") from None


def _read_integer(name: str, value: object) -> int:
    if type(value) is not int:
        raise HeadError(name, f"is {value!r}, expected an integer")
    return value


def _read_integers(name: str, value: object) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise HeadError(name, "is not a list of integers")
    return tuple(_read_integer(name, each) for each in value)


_CODECS: dict[Any, tuple[Callable[[Any], Any], Callable[[str, Any], Any]]] = {
    float: (lambda value: float(value).hex(), _read_float),
    float | None: (_write_optional, _read_optional),
    int: (int, _read_integer),
    tuple[int, ...]: (list, _read_integers),
}
"""How a field of a type is written and read."""
