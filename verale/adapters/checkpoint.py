"""Checkpoints: files of `torch.save`, in its archives and in its older format, read without torch's unpickler.

`torch.load` would execute what a pickled model names, and it trusts sizes: a file of 2 kB may claim gigabytes. Here the
pickle is read as data (`pickled.Machine`), every claim is compared with what the file holds, and then the storages are
filled. A whole pickled model is read like a state dictionary: `modules` finds its tensors among the records.

**Archives.** A ZIP file has a directory at its end, and readers differ in where they look for it and for what it lists:
torch takes the offset that the last record states, Python's `zipfile` moves it where bytes stand before the archive. So
of two archives in one file each reads another. Here the entries have to fill the file from its first byte to the
directory, and the directory the rest, so that both see the same.
"""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path
from typing import Any

from torch import Tensor

from verale.adapters.accounts import Said, said_of
from verale.adapters.modules import SavedModel, is_module, saved_model, unwrapped
from verale.adapters.pickled import ExcessError, ForeignError, Machine, Storages
from verale.errors import HeadError, InputError, naming
from verale.files import LARGEST_LATENTS, read
from verale.head.latents import require_path

_END = struct.Struct("<4s4H2LH")
"""The last record: signature, two disks, entries on this disk, entries, bytes and offset of the directory, comment."""
_LARGE_END = struct.Struct("<4sQ2H2L4Q")
"""The same of large archives: signature, its size, two versions, two disks, then as above."""
_LOCATOR = struct.Struct("<4sLQL")
"""Where that is: signature, disk, offset, disks. It stands before the last record."""
_LOCAL = struct.Struct("<4s5H3L2H")
"""What stands before the bytes of an entry: ..., the lengths of its name and of what follows that."""

_DESCRIPTORS = (0, 16, 24)
"""Bytes that may follow those of an entry: its sizes once more."""

_REMEDY = "save it again, with torch.save"


def require_one_reading(data: bytes, archive: zipfile.ZipFile) -> None:
    """Raise ExcessError unless entries and directory fill the file, each where it says. Other errors: broken bytes.

    Args:
        data: the whole file.
        archive: the same, as `zipfile` reads it.
    """
    entries = sorted(archive.infolist(), key=lambda entry: entry.header_offset)
    at = 0
    for entry in entries:
        if entry.header_offset not in {at + more for more in (_DESCRIPTORS if at else (0,))}:
            raise _several(f"entry {entry.filename[:40]!r} lies at byte {entry.header_offset}, expected {at}")
        signature, *_, name, extra = _LOCAL.unpack_from(data, entry.header_offset)
        start = entry.header_offset + _LOCAL.size
        stated = data[start : start + name]
        if (
            signature != b"PK\x03\x04"
            or stated != entry.orig_filename.encode()
            or entry.filename != entry.orig_filename
        ):
            raise _several(f"entry {entry.filename[:40]!r} has two names")
        at = start + name + extra + entry.file_size

    last = len(data) - _END.size
    signature, *_, count, size, begin, comment = _END.unpack_from(data, last)
    if signature != b"PK\x05\x06" or comment:
        raise _several("something follows its last record")
    if data[last - _LOCATOR.size :][:4] == b"PK\x06\x07":
        large = last - _LOCATOR.size - _LARGE_END.size
        _, _, offset, _ = _LOCATOR.unpack_from(data, last - _LOCATOR.size)
        signature, *_, of_large, wide, start = _LARGE_END.unpack_from(data, large)
        same = all(
            short in (long, 2**bits - 1)
            for short, long, bits in ((count, of_large, 16), (size, wide, 32), (begin, start, 32))
        )
        if signature != b"PK\x06\x06" or offset != large or not same:
            raise _several("its last records differ")
        last, count, size, begin = large, of_large, wide, start
    if count != len(entries) or begin + size != last:
        raise _several(f"its directory of {size} bytes and {count} entries does not lie before its last record")
    end = begin
    for _ in entries:
        signature, *lengths = struct.unpack_from("<4s24x3H", data, end)
        if signature != b"PK\x01\x02":
            raise _several("its directory does not lie where its last record says")
        end += 46 + sum(lengths)
    if begin not in {at + more for more in _DESCRIPTORS} or end != last:
        raise _several(f"its directory lies at bytes {begin} to {last}, its entries end at byte {at}")


def _several(problem: str) -> ExcessError:
    return ExcessError(f"can be read in several ways ({problem})", _REMEDY)


_COLLECTIONS = (dict, list, tuple)

_MAGIC, _VERSION = 0x1950A86A20F9469CFC6C, 1001
"""The first two pickles of the older format; the system, the content and the keys of storages follow, then those."""

_START = 64
"""Bytes of a file in the older format among which its first number stands."""


def read_checkpoint(path: str | Path) -> tuple[Any, Said]:
    """The content of a checkpoint, and what it says beside its tensors (`accounts.said_of`).

    The content is tensors, numbers, strings and collections of them. The place of a whole pickled model is taken by its
    state dictionary. Other objects beside models and tensors, such as a run's arguments, are left out.

    Raises:
        InputError: a file that is missing or broken, that holds calls or objects but no model or tensors, or that
            claims more than it holds. Nothing in the file is executed.
    """
    content, foreign = _content(path)
    with naming(path, HeadError):
        said = said_of(content)
        if foreign is None:
            return content, said
        plain = _without_objects(content)
    if plain is None:
        raise _refused(path, foreign)
    return plain, said


def load_model(path: str | Path) -> SavedModel:
    """A whole pickled model as data: its tensors, and the classes and attributes of its modules.

    The model may be the file's content, or an entry of the dictionary, list or tuple that is. Where it lies in the
    wrapper of several devices (`DataParallel`), it is the model inside.

    Raises:
        InputError: as `read_checkpoint`; or the file holds no whole model, or several.
    """
    content, _ = _content(path)
    entries = list(_entries(content).values()) if isinstance(content, _COLLECTIONS) else [content]
    models = [entry for entry in entries if is_module(entry)]
    if len(models) != 1:
        raise InputError(
            path,
            f"holds {len(models) or 'no'} whole models, expected one, as torch.save(model) writes it:"
            " of a state dictionary only the tensors can be read, with verale.adapters.load_state",
        )
    with naming(path, HeadError):
        return saved_model(unwrapped(models[0]))


def _content(path: str | Path) -> tuple[Any, str | None]:
    """The content as the machine built it, and what in it is foreign to a state dictionary. Raises InputError."""
    require_path(path, "load_state(path)")
    data = read(path, "a checkpoint (.pth)", most=LARGEST_LATENTS)
    try:
        return _archive(data) if data[:4] == b"PK\x03\x04" else _legacy(data)
    except ExcessError as error:
        raise InputError(path, str(error)) from error
    except ForeignError as error:
        raise _refused(path, str(error), data) from error
    except Exception as error:  # zipfile, pickletools and torch raise errors of any kind on broken bytes
        raise InputError(
            path, f"{len(data)} bytes that verale cannot read as a checkpoint: truncated, or not of torch.save?"
        ) from error


def _refused(path: str | Path, what: str, data: bytes = b"PK") -> InputError:
    """The error for what holds more than tensors, with Python that converts it: on one line, as errors are printed."""
    of_torch = data[:2] == b"PK" or _MAGIC.to_bytes(10, "little") in data[:_START]
    load = (
        "torch.load({!r}, map_location='cpu', weights_only=False)"
        if of_torch
        else "pickle.loads(pathlib.Path({!r}).read_bytes())"
    )
    return InputError(
        path,
        f"holds {what} beside tensors, and reading that would execute code from the file. If you trust it, convert it"
        f" once in the environment that wrote it: import {'torch' if of_torch else 'pathlib, pickle, torch'};"
        f" saved = {load.format(str(path))}; torch.save({{k: v for k, v in saved.state_dict().items()"
        " if torch.is_tensor(v)}, 'state.pth') (where saved is a dictionary, take its entry that holds the model)",
    )


def _archive(data: bytes) -> tuple[Any, str | None]:
    """The content of an archive. Raises errors of any kind."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ExcessError("holds compressed entries", "save it again, with torch.save")
        claimed = sum(entry.file_size for entry in entries)
        if claimed > len(data):
            raise ExcessError(f"claims entries of {claimed} bytes in a file of {len(data)}")
        if len({entry.filename.lower() for entry in entries}) < len(entries):
            raise ExcessError("holds two entries of one name", "save it again, with torch.save")
        require_one_reading(data, archive)
        names = {entry.filename for entry in entries}
        (pickled,) = (name for name in names if name.lower().endswith("data.pkl"))
        root = pickled.removesuffix("data.pkl")
        if f"{root}constants.pkl" in names:
            raise ForeignError("a program of TorchScript")
        if root != f"{entries[0].filename.partition('/')[0]}/":  # torch takes the folder of the first entry
            raise ExcessError(f"holds {pickled[:40]!r} beside the folder of its first entry", "save it again")
        if f"{root}byteorder" in names and archive.read(f"{root}byteorder") != b"little":
            raise ForeignError("numbers in another byte order than little-endian")
        folder = f"{root}data/"
        stored = [entry for entry in entries if entry.filename.startswith(folder)]
        storages = Storages(len(data), {entry.filename.removeprefix(folder): entry.file_size for entry in stored})
        machine = Machine(storages)
        content = machine.read(io.BytesIO(archive.read(pickled)))
        for key in storages:
            storages.fill(key, archive.read(folder + key))
    return content, machine.foreign


def _legacy(data: bytes) -> tuple[Any, str | None]:
    """The content of a file in the older format: five pickles, then the storages. Raises errors of any kind."""
    stream, storages = io.BytesIO(data), Storages(len(data))
    start = Machine(storages)
    magic, version, system = (start.read(stream) for _ in range(3))
    if (magic, version) != (_MAGIC, _VERSION):
        raise ValueError("another format")
    if isinstance(system, dict) and system.get("little_endian") is False:
        raise ForeignError("numbers in another byte order than little-endian")
    machine = Machine(storages)
    content = machine.read(stream)
    keys = Machine(storages).read(stream)
    if not all(type(key) is str for key in keys) or set(keys) != set(storages):
        raise ValueError("other storages than the tensors name")
    for key in keys:
        count, item = storages.count(key)
        (stored,) = struct.unpack("<q", stream.read(8))
        if stored != count:
            raise ExcessError(f"claims {count} numbers for storage {key[:40]!r}, and holds {stored}")
        storages.fill(key, stream.read(count * item))
    return content, machine.foreign


def _without_objects(content: Any) -> object:
    """The state dictionary of a model; of a dictionary, what is plain or a model. None if there is no tensor in it.

    Raises HeadError.
    """
    if is_module(content):
        return saved_model(content).state
    if not isinstance(content, _COLLECTIONS):
        return None
    plain: dict[Any, Any] = {}
    known: dict[int, Any] = {}  # one value may stand in many places
    for key, value in _entries(content).items():
        if id(value) not in known:
            known[id(value)] = _plain_entry(value)
        if known[id(value)] is not None:
            plain[key] = known[id(value)]
    named = Tensor | dict if isinstance(content, dict) else dict
    return plain if any(isinstance(value, named) for value in plain.values()) else None


def _entries(content: Any) -> dict[Any, Any]:
    """The entries of a collection; those of a list or a tuple by their places."""
    return content if isinstance(content, dict) else dict(enumerate(content))


def _plain_entry(value: Any) -> object:
    """A model's state dictionary; a tensor, a number, a string or a dictionary of tensors; None for anything else."""
    if is_module(value):
        return saved_model(value).state
    if isinstance(value, dict):
        return value if value and all(isinstance(each, Tensor) for each in value.values()) else None
    return value if isinstance(value, Tensor | str | int | float) else None
