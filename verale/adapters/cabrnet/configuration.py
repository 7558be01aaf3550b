"""The YAML files of a run: read as plain data of bounded size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from verale.errors import InputError, first_line
from verale.files import read

__all__ = ["load_yaml"]

_BYTES, _VALUES, _DEPTH = 100_000, 20_000, 50
"""CaBRNet's own files have a few thousand bytes, two hundred values and ten levels."""


def load_yaml(path: Path) -> Any:
    """A YAML file's content: one document of plain values.

    Aliases are read, because `yaml.dump` writes them; the values are counted where they are repeated, too.

    Raises:
        InputError: a file that is not YAML, has more than 100,000 bytes, describes more than 20,000 values, nested at
            most 50 deep, or holds an integer beyond 64 bits.
    """
    data = read(path, "a CaBRNet configuration", _BYTES + 1)
    if len(data) > _BYTES:
        raise InputError(path, f"has more than {_BYTES} bytes: is it a CaBRNet configuration?")
    try:
        loader = _Loader(data)
        document = loader.get_single_node()
        if document is None:
            return None
        _values(document, {}, 0)
        return loader.construct_document(document)
    except RecursionError as error:
        raise InputError(path, f"is nested more than {_DEPTH} deep: is it a CaBRNet configuration?") from error
    except Exception as error:  # PyYAML raises errors of any kind on values of another type than their tag
        raise InputError(path, f"is not YAML that verale reads ({_brief(error)})") from error


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """PyYAML's loader of plain values, with integers of 64 bits, and the line in every error."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:
        try:
            return super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            line, kind = node.start_mark.line + 1, node.tag.rpartition(":")[2]
            raise _ValueError(f"line {line}: no value of type {kind} ({first_line(error)})") from error


class _ValueError(Exception):
    """A value that is not of the type that it seems to have."""


def _integer(loader: _Loader, node: yaml.ScalarNode) -> int:
    if len(node.value) <= 100 and -(2**63) <= (value := int(loader.construct_yaml_int(node))) < 2**63:
        return value
    raise ValueError("an integer beyond 64 bits")


_Loader.add_constructor("tag:yaml.org,2002:int", _integer)


def _values(node: yaml.Node, counts: dict[int, int | None], depth: int) -> int:
    """How many values a node describes, each alias counted as what it stands for. Raises ValueError: too many."""
    line = node.start_mark.line + 1
    if depth > _DEPTH:
        raise ValueError(f"line {line}: nested more than {_DEPTH} deep")
    if id(node) not in counts:
        counts[id(node)] = None
        parts = [] if isinstance(node, yaml.ScalarNode) else node.value
        inner = [part for pair in parts for part in pair] if isinstance(node, yaml.MappingNode) else parts
        counts[id(node)] = 1 + sum(_values(part, counts, depth + 1) for part in inner)
    count = counts[id(node)]
    if count is None:
        raise ValueError(f"line {line}: a value that contains itself")
    if count > _VALUES:
        raise ValueError(f"line {line}: aliases that stand for more than {_VALUES} values")
    return count


def _brief(error: Exception) -> str:
    """The first line of PyYAML's message, and where in the file it stands."""
    mark = getattr(error, "problem_mark", None)
    place = f"line {mark.line + 1}: " if mark is not None else ""
    return place + (getattr(error, "problem", None) or first_line(error))
