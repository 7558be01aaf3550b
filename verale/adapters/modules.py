"""Whole pickled models: the tensors and the attributes of their modules, from the records of a pickle.

A module is recognised by its three dictionaries, whatever its class is called: `_parameters`, `_buffers`, `_modules`.
No class is looked up, so a model can be read although its code is lost. What such a model computes is not in the file;
an architecture's adapter says it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from verale.adapters.pickled import Record
from verale.errors import HeadError

_PARAMETERS, _BUFFERS, _MODULES = "_parameters", "_buffers", "_modules"

_WRAPPERS = (
    "torch.nn.parallel.data_parallel.DataParallel",
    "torch.nn.parallel.distributed.DistributedDataParallel",
)
"""Modules that compute what the one module in them does, on several devices."""

MOST_LEVELS, MOST_CHARACTERS = 64, 1 << 23
"""Modules in each other, and characters of all names: one module may stand in several places, even in itself."""


@dataclass(frozen=True)
class Module:
    """What a file says of a module.

    Attributes:
        kind: its class, such as `torch.nn.modules.conv.Conv2d`.
        attributes: by name; without parameters, buffers, modules and torch's own, which begin with an underscore and
            are no numbers, words or tensors.
    """

    kind: str
    attributes: dict[str, Any]


@dataclass(frozen=True)
class SavedModel:
    """A whole model as data.

    Attributes:
        state: its state dictionary, as `model.state_dict()` would give it.
        modules: by the names that `model.named_modules()` would give them; the model itself is `""`.
    """

    state: dict[str, Tensor]
    modules: dict[str, Module]


def is_module(value: object) -> bool:
    """Whether this is the record of a module."""
    return isinstance(value, Record) and all(
        isinstance(value.attributes.get(name), dict) for name in (_PARAMETERS, _BUFFERS, _MODULES)
    )


def unwrapped(record: Record) -> Record:
    """The model in the wrapper of several devices; without one, the same record."""
    inside = record.attributes[_MODULES].get("module") if record.name in _WRAPPERS else None
    return inside if isinstance(inside, Record) and is_module(inside) else record


def saved_model(record: Record) -> SavedModel:
    """The model that a record describes.

    Raises:
        HeadError: a parameter, buffer or module is something else, or there are too many modules.
    """
    state: dict[str, Tensor] = {}
    modules: dict[str, Module] = {}
    waiting, spent = [("", 0, record)], 0
    while waiting:
        name, level, module = waiting.pop()
        prefix = f"{name}." if name else ""
        tables = [module.attributes[table] for table in (_PARAMETERS, _BUFFERS, _MODULES)]
        left_out = _left_out(module)
        spent += sum(map(len, (module.attributes, *tables, left_out)))
        spent += len(prefix) * sum(map(len, tables))
        if spent > MOST_CHARACTERS or level > MOST_LEVELS:
            raise HeadError(
                name[:80],
                f"is one of too many modules (more than {MOST_LEVELS} in each other, or names of more than"
                f" {MOST_CHARACTERS:,} characters): does one contain itself, or stand in many places?",
            )
        modules[name] = Module(module.name, _own(module))
        parameters, buffers, children = (
            [(key, value) for key, value in table.items() if value is not None] for table in tables
        )
        hidden = {key for key in left_out if type(key) is str}
        for key, value in (*parameters, *(entry for entry in buffers if entry[0] not in hidden)):
            if type(key) is not str or not isinstance(value, Tensor):
                raise HeadError(f"{prefix}{_text(key)}", f"is {_told(value)}, expected a tensor")
            state[prefix + key] = value
        for key, value in reversed(children):
            if type(key) is not str or len(key) > MOST_LEVELS or not is_module(value):
                raise HeadError(f"{prefix}{_text(key)}", f"is {_told(value)}, expected a module with a short name")
            waiting.append((prefix + key, level + 1, value))
    return SavedModel(state, modules)


def _own(module: Record) -> dict[str, object]:
    """The attributes that the module's class gave it."""
    return {
        key: value
        for key, value in module.attributes.items()
        if type(key) is str and (not key.startswith("_") or type(value) in (int, float, str, list, tuple, Tensor))
    }


def _left_out(module: Record) -> list[object]:
    """The buffers that a state dictionary leaves out."""
    names = module.attributes.get("_non_persistent_buffers_set")
    given = names.arguments[0] if isinstance(names, Record) and names.arguments else []
    return given if isinstance(given, list) else []


def _text(key: object) -> str:
    return key[:80] if type(key) is str else f"(a key of type {type(key).__name__})"


def _told(value: object) -> str:
    return f"an object of {value.name}" if isinstance(value, Record) else f"a {type(value).__name__}"
