"""The JSON of a head's parts: an object with the part's `kind` and one field for each field of its dataclass, spelled
as its type says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cache
from operator import index
from typing import Any, Generic, TypeVar, get_type_hints

from torch import Tensor

from verale.checker.read.head_file import HeadPart
from verale.checker.read.similarities import Step
from verale.errors import HeadError

T = TypeVar("T")


@dataclass(frozen=True)
class Kind(Generic[T]):
    """One kind of part in head files: its class, the fields of the class that the kind itself stands for, which files
    do not spell, and those that are tensors of the file."""

    part: type[T]
    implied: Mapping[str, Any] = field(default_factory=dict)
    tensors: tuple[str, ...] = ()


def write_part(part: Any, kinds: Mapping[str, Kind[Any]]) -> dict[str, object]:
    """The JSON object of a part. Raises TypeError, ValueError: a field is not of its type."""
    kind = kinds[part.kind]
    return {"kind": part.kind, **write_fields(part, [*kind.implied, *kind.tensors])}


def read_part(
    name: str, part: HeadPart, kinds: Mapping[str, Kind[T]], tensors: MutableMapping[str, Tensor] | None = None
) -> T:
    """The part that a head file has in the field `name`, which may have these kinds. Of the file's tensors, those that
    belong to the part are taken out. Raises HeadError: a kind that is read and not explained, or a number that is not.
    """
    if part.kind not in kinds:
        raise HeadError(name, f"is {part.kind}, expected one of {', '.join(kinds)}")
    kind = kinds[part.kind]
    numbers = {each: float(value) if isinstance(value, Fraction) else value for each, value in part.numbers.items()}
    own = {each: tensors.pop(each) for each in kind.tensors} if tensors is not None else {}
    return kind.part(**kind.implied, **numbers, **own)


def write_fields(part: Any, implied: Collection[str] = ()) -> dict[str, object]:
    """The fields of a dataclass as JSON, without the implied ones."""
    types = _types(part.__class__)
    spelled = [each.name for each in fields(type(part)) if each.init and each.name not in implied]
    return {name: _WRITERS[types[name]](getattr(part, name)) for name in spelled}


_types = cache(get_type_hints)  # of a class


def _hex(value: float) -> str:
    return float(value).hex()


def _steps(steps: Sequence[Step]) -> list[object]:
    return [{"kind": each.kind, **{name: _hex(float(each.numbers[name])) for name in each.of.fields}} for each in steps]


_WRITERS: dict[Any, Callable[[Any], Any]] = {
    float: _hex,
    float | None: lambda value: None if value is None else _hex(value),
    int: index,
    tuple[int, ...]: lambda numbers: list(map(index, numbers)),
    Sequence[Any]: _steps,
}
"""How a field of a type is written."""
