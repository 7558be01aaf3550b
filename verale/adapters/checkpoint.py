"""Checkpoints: what a file claims is compared with what it holds, before torch reads it.

`torch.load(weights_only=True)` executes nothing, but it trusts sizes: a file of 2 kB may claim gigabytes, or more bytes
than it holds. So the pickle is first walked without building anything. It may hold numbers, strings, collections and
plain dense tensors, each collection in one place only. Every storage has the size of its entry in the file, every
tensor fits its storage, and all tensors together are at most a few times as large as the file. Then torch reads it.
"""

from __future__ import annotations

import io
import math
import pickletools
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

import torch

from verale.errors import InputError
from verale.files import read

__all__ = ["read_checkpoint"]

_SHARED = 4
"""All tensors together may be so many times as large as the file: tied weights share a storage, and views may."""

_DIMENSIONS = 64
"""The most dimensions that a tensor of torch has."""

_SHORT = 8
"""A tuple with so many items may be referred to again: optimizers share pairs of numbers."""

_LEGACY_PICKLES = 5
"""Magic number, protocol, system, content, keys of storages; the storages follow."""

_ITEM_BYTES = {
    "torch BoolStorage": 1,
    "torch ByteStorage": 1,
    "torch CharStorage": 1,
    "torch ShortStorage": 2,
    "torch HalfStorage": 2,
    "torch BFloat16Storage": 2,
    "torch IntStorage": 4,
    "torch FloatStorage": 4,
    "torch LongStorage": 8,
    "torch DoubleStorage": 8,
    "torch ComplexFloatStorage": 8,
    "torch ComplexDoubleStorage": 16,
}
_ORDERED, _COUNTER, _PARAMETER = "collections OrderedDict", "collections Counter", "torch._utils _rebuild_parameter"
_TENSORS = ("torch._utils _rebuild_tensor", "torch._utils _rebuild_tensor_v2")
_CALLED = (_ORDERED, _COUNTER, _PARAMETER, *_TENSORS)
_NAMED = (*_CALLED, *_ITEM_BYTES)
"""What a pickle may name: a checkpoint of tensors, and of an optimizer's state, names nothing else."""

_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_WITH_VALUE = ("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINSTRING")
_PUT, _GET = ("BINPUT", "LONG_BINPUT"), ("BINGET", "LONG_BINGET")
_TUPLES = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_ATOMS = (str, int, float, bool, bytes, type(None))


class _ForeignError(Exception):
    """The file holds something that verale does not read."""


class _ExcessError(Exception):
    """The file claims more than it holds."""


class _Name(str):
    """A class or function that the pickle names."""

    __slots__ = ()


@dataclass(frozen=True)
class _Storage:
    """Numbers that tensors share: how many, and of which type."""

    count: int
    type: str

    @property
    def bytes(self) -> int:
        return self.count * _ITEM_BYTES[self.type]


@dataclass(frozen=True)
class _Tensor:
    """A tensor."""


@dataclass
class _List:
    """A list."""


@dataclass
class _Dict:
    """A dictionary: its keys."""

    keys: list[Any] = field(default_factory=list)


_MARK: Final = object()


def read_checkpoint(path: str | Path) -> Any:
    """The content of a checkpoint: tensors, numbers, strings and collections of them.

    Raises:
        InputError: a file that is missing or broken, that holds anything else, such as a whole pickled model, or that
            claims more than it holds. Nothing in the file is executed.
    """
    data = read(path, "a state dictionary (.pth)")
    size = len(data)
    try:
        stream = _checked(data)
        del data
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what torch warns of is either refused here or an error there
            return torch.load(stream, map_location="cpu", weights_only=True)
    except _ExcessError as error:
        raise InputError(path, f"{error}; save it again, with tensor.contiguous().clone() of each tensor") from error
    except _ForeignError as error:
        raise InputError(
            path,
            f"holds {error} beside tensors, and reading that would execute code from the file."
            f" If you trust it, convert it once in the environment that wrote it:{_RECIPE.format(path=str(path))}",
        ) from error
    except Exception as error:  # torch, zipfile and pickletools raise errors of any kind on broken bytes
        raise InputError(
            path, f"{size} bytes that torch cannot read as a state dictionary: truncated, or another format?"
        ) from error


_RECIPE = """
    saved = torch.load({path!r}, map_location="cpu", weights_only=False)
    torch.save({{k: v for k, v in saved.state_dict().items() if torch.is_tensor(v)}}, "state.pth")
(or, where saved is a dictionary, of its entry that holds the state dictionary)"""


def _checked(data: bytes) -> BinaryIO:
    """The file's bytes for torch, once their claims are checked. Raises errors of any kind."""
    if data[:2] == b"PK":
        return _archive(data)
    stream = io.BytesIO(data)
    for _ in range(_LEGACY_PICKLES):
        _Walk(len(data), None).walk(stream)
    return io.BytesIO(data)


def _archive(data: bytes) -> BinaryIO:
    """An archive with the same entries, written anew: torch's reader of archives must see what Python's sees."""
    copy = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise _ExcessError("holds compressed entries")
        claimed = sum(entry.file_size for entry in entries)
        if claimed > len(data):
            raise _ExcessError(f"claims entries of {claimed} bytes in a file of {len(data)}")
        if len({entry.filename.lower() for entry in entries}) < len(entries):
            raise _ExcessError("holds two entries of one name")
        (pickled,) = (entry.filename for entry in entries if entry.filename.lower().endswith("data.pkl"))
        folder = pickled.removesuffix("data.pkl") + "data/"
        stored = [entry for entry in entries if entry.filename.startswith(folder)]
        sizes = {entry.filename.removeprefix(folder): entry.file_size for entry in stored}
        _Walk(len(data), sizes).walk(io.BytesIO(archive.read(pickled)))
        with zipfile.ZipFile(copy, "w") as rewritten:
            for entry in entries:
                rewritten.writestr(entry.filename, archive.read(entry))
    copy.seek(0)
    return copy


class _Walk:
    """A walk through a pickle that builds nothing of what it describes."""

    def __init__(self, size: int, entries: Mapping[str, int] | None) -> None:
        self._size, self._entries = size, entries
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._storages: dict[Any, _Storage] = {}
        self._stored = self._claimed = 0

    def walk(self, stream: BinaryIO) -> None:
        """Read one pickle. Raises _ExcessError, _ForeignError, and errors of any kind for broken bytes."""
        stack = self._stack
        value: Any
        for opcode, value, _ in pickletools.genops(stream):
            name = opcode.name
            if name in _CONSTANTS:
                stack.append(_CONSTANTS[name])
            elif name in _WITH_VALUE:
                stack.append(value)
            elif name in _TUPLES:
                stack.append(_tuple(self.take(_TUPLES[name])))
            elif name in _PUT:
                self._memo[value] = stack[-1]
            elif name in _GET:
                stack.append(_again(self._memo[value]))
            elif name == "GLOBAL":
                if value not in _NAMED:
                    raise _ForeignError(value.replace(" ", "."))
                stack.append(_Name(value))
            elif name in _BUILDERS:
                _BUILDERS[name](self)
            elif name not in ("PROTO", "STOP"):
                raise _ForeignError("Python objects")

    def take(self, count: int) -> list[Any]:
        """Remove the last items of the stack."""
        items = self._stack[len(self._stack) - count :]
        if len(items) < count or any(item is _MARK for item in items):
            raise ValueError("too few items")
        del self._stack[len(self._stack) - count :]
        return items

    def to_mark(self) -> list[Any]:
        """Remove the items after the last mark, and the mark."""
        items: list[Any] = []
        while (item := self._stack.pop()) is not _MARK:
            items.append(item)
        return items[::-1]

    def push(self, item: Any) -> None:
        """Add an item to the stack."""
        self._stack.append(item)

    def append(self, items: list[Any]) -> None:
        """A list gets these items."""
        if not isinstance(self._stack[-1], _List):
            raise _ForeignError("Python objects")

    def set_items(self, items: list[Any]) -> None:
        """A dictionary gets these keys and values."""
        keys, target = items[::2], self._stack[-1]
        if not isinstance(target, _Dict) or not all(type(key) in _ATOMS for key in keys):
            raise _ForeignError("keys that are neither numbers nor strings")
        target.keys += keys

    def set_attributes(self) -> None:
        """A state dictionary has one attribute, the versions of its modules."""
        (state,) = self.take(1)
        if not (isinstance(self._stack[-1], _Dict) and isinstance(state, _Dict) and set(state.keys) <= {"_metadata"}):
            raise _ForeignError("Python objects")

    def storage(self) -> None:
        """A storage, which must have the size of its entry; in the older format, storages fit the file together."""
        kind, name, key, _, count, *view = self.take(1)[0]
        if kind not in ("storage", b"storage") or type(name) is not _Name or name not in _ITEM_BYTES:
            raise _ForeignError("references to something else")
        if type(key) is not str or type(count) is not int or count < 0 or view not in ([], [None]):
            raise _ForeignError("views of storages")
        storage = _Storage(count, name)
        if self._entries is not None and self._entries.get(key) != storage.bytes:
            raise _ExcessError(f"claims {storage.bytes} bytes for storage {key[:40]!r}, another size than its entry")
        if key not in self._storages:
            self._stored += storage.bytes
        if self._stored > self._size:
            raise _ExcessError(f"claims storages of {self._stored} bytes in a file of {self._size}")
        if self._storages.setdefault(key, storage) != storage:
            raise _ExcessError(f"claims two sizes or types for storage {key[:40]!r}")
        self.push(storage)

    def call(self) -> None:
        """A collection or a tensor."""
        name, arguments = self.take(2)
        if type(name) is not _Name or name not in _CALLED or type(arguments) is not tuple:
            raise _ForeignError("Python objects")
        if name in _TENSORS:
            self.push(self._tensor(*arguments))
        elif name == _PARAMETER and arguments and isinstance(arguments[0], _Tensor):
            self.push(arguments[0])
        elif arguments == () or (name == _COUNTER and len(arguments) == 1 and isinstance(arguments[0], _Dict)):
            self.push(_Dict())
        else:
            raise _ForeignError(name.replace(" ", "."))

    def _tensor(self, storage: Any, offset: Any, shape: Any, strides: Any, *_: Any) -> _Tensor:
        named = next((item for item in reversed(self._stack[-8:]) if type(item) is str), "")[:80]
        if not isinstance(storage, _Storage) or len(shape) != len(strides) or len(shape) > _DIMENSIONS:
            raise ValueError("no tensor")
        if not all(type(size) is int and 0 <= size < 2**63 for size in (*shape, *strides, offset)):
            raise ValueError("no tensor")
        count = math.prod(shape)
        last = offset + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
        if count > storage.count or (count and last >= storage.count):
            raise _ExcessError(
                f"claims shape {str(shape)[:80]} for tensor {named!r}, whose storage holds {storage.count} numbers"
            )
        self._claimed += _Storage(count, storage.type).bytes
        if self._claimed > _SHARED * self._size:
            raise _ExcessError(
                f"claims, up to tensor {named!r}, tensors of {self._claimed} bytes in a file of {self._size}"
            )
        return _Tensor()


def _tuple(items: list[Any]) -> tuple[Any, ...]:
    """A tuple. Torch takes some for keys, and Python's hash of tuples nested without bound ends the process."""
    if any(type(inner) is tuple for item in items if type(item) is tuple for inner in item):
        raise _ForeignError("tuples of tuples of tuples")
    return tuple(items)


def _again(item: Any) -> Any:
    """What a pickle refers to once more: never a collection, since a few of those describe any number of items."""
    plain = item if type(item) is tuple else (item,)
    if len(plain) <= _SHORT and all(type(each) in (*_ATOMS, _Name) or isinstance(each, _Tensor) for each in plain):
        return item
    raise _ForeignError("one collection in several places")


_BUILDERS: dict[str, Callable[[_Walk], None]] = {
    "MARK": lambda walk: walk.push(_MARK),
    "TUPLE": lambda walk: walk.push(_tuple(walk.to_mark())),
    "EMPTY_LIST": lambda walk: walk.push(_List()),
    "EMPTY_DICT": lambda walk: walk.push(_Dict()),
    "APPEND": lambda walk: walk.append(walk.take(1)),
    "APPENDS": lambda walk: walk.append(walk.to_mark()),
    "SETITEM": lambda walk: walk.set_items(walk.take(2)),
    "SETITEMS": lambda walk: walk.set_items(walk.to_mark()),
    "BUILD": _Walk.set_attributes,
    "BINPERSID": _Walk.storage,
    "REDUCE": _Walk.call,
}
"""What builds a collection or a tensor from what lies on the stack."""
