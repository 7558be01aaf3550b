"""Pickles as data: a machine that follows the opcodes of a pickle, executes nothing, and builds inert values.

The values are numbers, strings, lists, tuples, dictionaries, tensors, and two kinds of label: a `Name` for each class
or function that the pickle names, and a `Record` for each object of such a class. No name is looked up and nothing is
imported. So a whole pickled model can be read although its classes exist nowhere.

What a call would give is built here for tensors and dictionaries, and recorded for a short list of harmless things,
such as devices, sets and numpy's arrays. Every other call is refused by its name.

Bounds: an opcode takes constant time and memory, and there are at most `MOST_STEPS`. Every storage has the size of its
entry in the file, or all have together at most the size of the file. Every tensor fits its storage, and all tensors
together are at most `_SHARED` times as large as the file. Nothing here is recursive, and nothing but a string or a
small number is hashed.
"""

from __future__ import annotations

import math
import pickletools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

import torch
from torch import Tensor

DTYPES = {
    "torch.BoolStorage": torch.bool,
    "torch.ByteStorage": torch.uint8,
    "torch.CharStorage": torch.int8,
    "torch.ShortStorage": torch.int16,
    "torch.HalfStorage": torch.float16,
    "torch.BFloat16Storage": torch.bfloat16,
    "torch.IntStorage": torch.int32,
    "torch.FloatStorage": torch.float32,
    "torch.LongStorage": torch.int64,
    "torch.DoubleStorage": torch.float64,
    "torch.ComplexFloatStorage": torch.complex64,
    "torch.ComplexDoubleStorage": torch.complex128,
}


class ForeignError(Exception):
    """The file holds something that verale does not read."""


class ExcessError(Exception):
    """The file claims more than it holds, or than verale reads; with what to do about it."""

    def __init__(self, problem: str, remedy: str = "save it again, with tensor.contiguous().clone() of each tensor"):
        super().__init__(f"{problem}; {remedy}")


@dataclass(frozen=True, eq=False)
class Storage:
    """Numbers that tensors share, as bytes that are filled in later."""

    type: str
    data: Tensor

    @property
    def numbers(self) -> Tensor:
        return self.data.view(DTYPES[self.type])


class Storages:
    """The storages of a file, by their keys; empty until they are filled.

    Args:
        size: bytes of the file.
        entries: bytes of each storage's entry in an archive; None if storages follow one another.
    """

    def __init__(self, size: int, entries: Mapping[str, int] | None = None) -> None:
        self.size = size
        self._entries = entries
        self._stored = 0
        self._known: dict[str, Storage] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def find(self, key: str, type_: str, count: int) -> Storage:
        """The storage of so many numbers. Raises ExcessError if it is not of the file's size."""
        size = count * DTYPES[type_].itemsize
        if self._entries is not None and self._entries.get(key) != size:
            raise ExcessError(f"claims {size} bytes for storage {key[:40]!r}, another size than its entry")
        if key not in self._known:
            self._stored += size
            if self._stored > self.size:
                raise ExcessError(f"claims storages of {self._stored} bytes in a file of {self.size}")
            self._known[key] = Storage(type_, torch.zeros(size, dtype=torch.uint8))
        storage = self._known[key]
        if (storage.type, storage.data.numel()) != (type_, size):
            raise ExcessError(f"claims two sizes or types for storage {key[:40]!r}")
        return storage

    def count(self, key: str) -> tuple[int, int]:
        """How many numbers a storage has, and of how many bytes each. Raises KeyError."""
        storage = self._known[key]
        item = DTYPES[storage.type].itemsize
        return storage.data.numel() // item, item

    def fill(self, key: str, data: bytes) -> None:
        """Write the numbers of a storage. Raises ValueError unless the data have its size."""
        storage = self._known[key]
        if len(data) != storage.data.numel():
            raise ValueError("a storage is truncated")
        if data:
            storage.data.copy_(torch.frombuffer(bytearray(data), dtype=torch.uint8))


MOST_STEPS = 2_000_000
"""The most opcodes of a checkpoint: some 20,000 layers with their parameters."""

_SHARED = 4
"""All tensors together may be so many times as large as the file: tied weights share a storage, and views may."""

_DIMENSIONS = 64
"""The most dimensions that a tensor of torch has."""

_SHORT = 8
"""A tuple with so many items may be referred to again: optimizers share pairs of numbers."""

_LONG_NAME = 200
"""Names of classes and functions have fewer characters."""

_FEW = 16
"""The calls that are understood here have at most so many arguments."""

_DICTIONARIES = ("collections.OrderedDict", "collections.Counter", "collections.defaultdict")
_TENSORS = ("torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v2")
_PARAMETERS = (
    "torch._utils._rebuild_parameter",
    "torch._utils._rebuild_parameter_with_state",
    "torch.nn.parameter.Parameter",
    "torch.autograd.variable.Variable",
)
_TYPED = ("torch._tensor._rebuild_from_type_v2", "torch._tensor._rebuild_from_type")
_PLAIN_TYPES = ("torch.Tensor", "torch.nn.parameter.Parameter")
_PLAIN = {*DTYPES, *_DICTIONARIES, *_TENSORS, *_PARAMETERS}
"""What a state dictionary, or an optimizer's state, may name. Any other name makes the content foreign."""

_SETS = ("builtins.set", "__builtin__.set", "builtins.frozenset", "__builtin__.frozenset")
_INSTANCES = ("copyreg._reconstructor", "copy_reg._reconstructor")
_RECORDED = {
    *_SETS,
    *(
        f"{module}.{name}"
        for module in ("builtins", "__builtin__")
        for name in ("bytearray", "complex", "getattr", "slice")
    ),
    *("builtins.range", "__builtin__.xrange"),
    *(f"datetime.{name}" for name in ("date", "datetime", "time", "timedelta")),
    *(f"numpy.{core}.multiarray.{name}" for core in ("core", "_core") for name in ("_reconstruct", "scalar")),
    *(f"numpy.{core}.numeric._frombuffer" for core in ("core", "_core")),
    *(f"numpy.random._pickle.__{name}_ctor" for name in ("bit_generator", "generator", "randomstate")),
    *("numpy.dtype", "numpy.random.bit_generator.__pyx_unpickle_SeedSequence"),
    *("torch.device", "torch.Size", "torch.serialization._get_layout", "torch._C.Generator"),
    "torch.nn.backends.thnn._get_thnn_function_backend",
    "torchvision.transforms.functional.InterpolationMode",
    *("timm.layers.format.Format", "timm.models.layers.format.Format"),
    *("_codecs.encode", "collections.deque", "decimal.Decimal", "functools.partial", "logging.getLogger"),
    *("pathlib.PosixPath", "pathlib.WindowsPath", "re._compile", "types.SimpleNamespace"),
}
"""Calls that are kept as records, not made: models have such attributes, and no tensor of theirs depends on them."""


class Name(str):
    """A class or function that the pickle names, such as `torch.nn.modules.conv.Conv2d`. It is only a string."""

    __slots__ = ()


@dataclass(slots=True, eq=False, repr=False)
class Record:
    """What a pickle says of an object.

    Attributes:
        name: its class, or the function whose call would give it.
        arguments: of that class or function.
        attributes: the object's, by name.
    """

    name: Name
    arguments: tuple[Any, ...]
    attributes: dict[Any, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<record of {self.name}>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Key:
    """A key of a dictionary that is neither a string nor a small number. Each differs from all others."""

    value: Any


_MARK: Final = object()


class Machine:
    """Reads the pickles of one file.

    Attributes:
        foreign: the first thing that no state dictionary holds: the name of a class, or what is odd; or None.
    """

    def __init__(self, storages: Storages) -> None:
        self.foreign: str | None = None
        self._storages = storages
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._steps = self._claimed = 0

    def read(self, stream: BinaryIO) -> Any:
        """The value of one pickle. Raises ExcessError, ForeignError, and errors of any kind for broken bytes."""
        self._stack, self._memo = [], {}
        stack = self._stack
        value: Any
        for opcode, value, _ in pickletools.genops(stream):
            name = opcode.name
            self._spend(1)
            if name in _CONSTANTS:
                stack.append(_CONSTANTS[name])
            elif name in _WITH_VALUE:
                stack.append(value)
            elif name in _PUT:
                self._memo[len(self._memo) if value is None else value] = stack[-1]
            elif name in _GET:
                stack.append(self._again(self._memo[value]))
            elif name in _TUPLES:
                stack.append(tuple(self._take(_TUPLES[name])))
            elif name == "GLOBAL":
                self._name(*value.split(" ", 1))
            elif name in _BUILDERS:
                _BUILDERS[name](self)
            elif name not in ("PROTO", "FRAME", "STOP"):
                raise ForeignError(f"the opcode {name}")
        (result,) = stack
        return result

    def _spend(self, steps: int) -> None:
        self._steps += steps
        if self._steps > MOST_STEPS:
            raise ExcessError(f"takes more than {MOST_STEPS:,} steps to read", "save its state dictionary alone")

    def _note(self, what: str) -> None:
        """The content is more than a state dictionary."""
        if self.foreign is None:
            self.foreign = what

    def _again(self, value: object) -> object:
        """A value in one more place. Readers of plain content walk through it as through a tree."""
        if isinstance(value, list | dict) or (
            type(value) is tuple
            and (len(value) > _SHORT or any(isinstance(item, tuple | list | dict) for item in value))
        ):
            self._note("one collection in several places")
        return value

    def _take(self, count: int) -> list[Any]:
        """Remove the last items of the stack."""
        items = self._stack[len(self._stack) - count :] if count else []
        if len(items) < count or any(item is _MARK for item in items):
            raise ValueError("too few items")
        del self._stack[len(self._stack) - count :]
        return items

    def _to_mark(self) -> list[object]:
        """Remove the items after the last mark, and the mark."""
        items: list[Any] = []
        while (item := self._stack.pop()) is not _MARK:
            items.append(item)
        return items[::-1]

    def _name(self, module: object, name: object) -> None:
        """A class or function, which stays a name."""
        if type(module) is not str or type(name) is not str or len(module) + len(name) > _LONG_NAME:
            raise ForeignError("a name that is not a short string")
        full = f"{module}.{name}".replace("torch.cuda.", "torch.") if name.endswith("Storage") else f"{module}.{name}"
        if full not in _PLAIN:
            self._note(full)
        self._stack.append(Name(full))

    def _append(self, items: list[Any]) -> None:
        """A list, a set or a record of a list's subclass gets these items."""
        target = self._stack[-1]
        if isinstance(target, Record):
            target = target.arguments[0] if target.name in _SETS else target.attributes.setdefault("__items__", [])
        if not isinstance(target, list):
            raise ForeignError("items of something that is not a list")
        target += items

    def _set_items(self, items: list[Any]) -> None:
        """A dictionary gets these keys and values; the record of a dictionary's subclass has them as attributes."""
        target = self._stack[-1]
        target = target.attributes if isinstance(target, Record) else target
        if not isinstance(target, dict) or len(items) % 2:
            raise ForeignError("keys of something that is not a dictionary")
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[self._key(key)] = value

    def _key(self, key: object) -> object:
        """A key whose hash nobody can choose: strings, and numbers small enough that few of them collide."""
        if type(key) in (str, bool, bytes, float, type(None)) or (type(key) is int and abs(key) < 2**60):
            return key
        self._note("keys that are neither numbers nor strings")
        return Key(key)

    def _build(self) -> None:
        """An object gets its attributes. Those of tensors and dictionaries are left out."""
        (state,) = self._take(1)
        target = self._stack[-1]
        if not isinstance(target, Record):
            if not isinstance(target, Tensor | dict):
                raise ForeignError("attributes of something that has none")
            if not (isinstance(state, dict) and len(state) <= 1 and "_metadata" in (*state, "_metadata")[:1]):
                self._note("Python objects")
            return
        parts = state if type(state) is tuple and len(state) == 2 else (state,)
        if not all(part is None or isinstance(part, dict) for part in parts):
            target.attributes["__state__"] = state
            return
        for part in parts:
            if part and not target.attributes:
                target.attributes = part
            elif part:
                self._spend(len(part) + len(target.attributes))
                target.attributes = {**target.attributes, **part}

    def _persistent(self) -> None:
        """A storage, or a class with its source, as torch refers to them."""
        kind, name, key, *more = self._few(self._take(1)[0])
        if kind in ("module", b"module") and type(name) is Name:  # a module's class, with its file and its source
            self._stack.append(name)
            return
        if kind not in ("storage", b"storage") or type(name) is not Name:
            raise ForeignError("references to something else")
        if name not in DTYPES:
            raise ForeignError(f"numbers of type {name}")
        _, count, *view = more
        key = str(key) if type(key) is int else key
        if type(key) is not str or type(count) is not int or count < 0 or len(view) > 1:
            raise ForeignError("views of storages")
        storage = self._storages.find(key, name, count)
        if view not in ([], [None]):  # a part of it, as old torch wrote it
            _, start, count = view[0]
            item = DTYPES[storage.type].itemsize
            if not (type(start) is type(count) is int and 0 <= start <= start + count <= len(storage.data) // item):
                raise ExcessError("claims a view that is larger than its storage")
            storage = Storage(storage.type, storage.data[start * item : (start + count) * item])
        self._stack.append(storage)

    def _few(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Few arguments: a long tuple could be unpacked again and again."""
        if type(arguments) is not tuple or len(arguments) > _FEW:
            raise ForeignError(f"a call with more than {_FEW} arguments")
        return arguments

    def _call(self) -> object:
        """What a call would give: a dictionary, a tensor, or the record of a harmless call."""
        name, arguments = self._take(2)
        if type(name) is not Name or type(arguments) is not tuple:
            raise ForeignError("a call of something that is not a name")
        if name == "torch.Size" and len(arguments) == 1 and type(arguments[0]) is tuple:
            return arguments[0]
        if name in _RECORDED:  # sets are as their opcodes give them
            return Record(name, arguments or ([],) if name in _SETS else arguments)
        self._few(arguments)
        if name in _TENSORS:
            return self._tensor(*arguments)
        if name in _PARAMETERS and arguments and isinstance(arguments[0], Tensor):
            return arguments[0]
        if name in _TYPED:
            function, kind, inner, *_ = arguments
            if function in _TENSORS and kind in _PLAIN_TYPES and type(inner) is tuple:
                return self._tensor(*self._few(inner))
            raise ForeignError(f"tensors of type {kind}" if type(kind) is Name else name)
        if name in _DICTIONARIES:
            return self._dictionary(name, *arguments)
        if name in _INSTANCES and arguments and type(arguments[0]) is Name:
            return Record(arguments[0], ())
        raise ForeignError(f"a call of {name}" if name not in _PLAIN else f"an unusual call of {name}")

    def _new(self, keywords: bool = False) -> None:
        """An object of a class, without its attributes."""
        name, arguments, *named = self._take(3 if keywords else 2)
        if type(name) is not Name or type(arguments) is not tuple:
            raise ForeignError("an object whose class is not a name")
        if name in _DICTIONARIES:
            self._stack.append(self._dictionary(name, *self._few(arguments)))
        else:
            self._stack.append(Record(name, arguments, {"__keywords__": named[0]} if keywords else {}))

    def _dictionary(self, name: Name, *arguments: object) -> object:
        """An empty dictionary, or one of the given pairs; a counter of the given dictionary."""
        if not arguments or (name == "collections.defaultdict" and len(arguments) == 1):
            return {}
        (content,) = arguments
        if isinstance(content, dict):
            return content
        if not isinstance(content, list):
            raise ForeignError(f"an unusual call of {name}")
        self._spend(len(content))
        return {self._key(key): value for key, value in content}

    def _set(self, name: str, items: list[Any]) -> None:
        self._note(name)
        self._stack.append(Record(Name(name), (items,)))

    def _tensor(self, storage: Any, offset: Any, shape: Any, strides: Any, *more: Any) -> Tensor:
        named = next((item for item in reversed(self._stack[-8:]) if type(item) is str), "")[:80]
        if not isinstance(storage, Storage) or len(shape) != len(strides) or len(shape) > _DIMENSIONS:
            raise ValueError("no tensor")
        if not all(type(size) is int and 0 <= size < 2**63 for size in (*shape, *strides, offset)):
            raise ValueError("no tensor")
        if len(more) > 2 and more[2]:
            raise ForeignError("conjugated or negated tensors")
        numbers, count = storage.numbers, math.prod(shape)
        last = offset + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
        if count > numbers.numel() or (count and last >= numbers.numel()):
            raise ExcessError(
                f"claims shape {str(shape)[:80]} for tensor {named!r}, whose storage holds {numbers.numel()} numbers"
            )
        self._claimed += count * numbers.element_size()
        if self._claimed > _SHARED * self._storages.size:
            raise ExcessError(
                f"claims, up to tensor {named!r}, tensors of {self._claimed} bytes in a file of {self._storages.size}"
            )
        start = numbers.storage_offset() + offset
        return numbers.as_strided(shape, strides, start) if count else numbers.new_empty(shape)


_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_WITH_VALUE = {
    *("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"),
    *("BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "BINSTRING", "SHORT_BINSTRING"),
    *("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"),
}
_PUT, _GET = ("BINPUT", "LONG_BINPUT", "MEMOIZE"), ("BINGET", "LONG_BINGET")
_TUPLES = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_BUILDERS: dict[str, Callable[[Machine], None]] = {
    "MARK": lambda machine: machine._stack.append(_MARK),
    "POP": lambda machine: (machine._stack.pop(), None)[1],
    "POP_MARK": lambda machine: (machine._to_mark(), None)[1],
    "TUPLE": lambda machine: machine._stack.append(tuple(machine._to_mark())),
    "EMPTY_LIST": lambda machine: machine._stack.append([]),
    "EMPTY_DICT": lambda machine: machine._stack.append({}),
    "EMPTY_SET": lambda machine: machine._set("builtins.set", []),
    "FROZENSET": lambda machine: machine._set("builtins.frozenset", machine._to_mark()),
    "APPEND": lambda machine: machine._append(machine._take(1)),
    "APPENDS": lambda machine: machine._append(machine._to_mark()),
    "ADDITEMS": lambda machine: machine._append(machine._to_mark()),
    "SETITEM": lambda machine: machine._set_items(machine._take(2)),
    "SETITEMS": lambda machine: machine._set_items(machine._to_mark()),
    "BUILD": Machine._build,
    "BINPERSID": Machine._persistent,
    "REDUCE": lambda machine: machine._stack.append(machine._call()),
    "NEWOBJ": Machine._new,
    "NEWOBJ_EX": lambda machine: machine._new(True),
    "STACK_GLOBAL": lambda machine: machine._name(*machine._take(2)),
}
"""What builds a value from what lies on the stack."""
