"""Whole models and archives of torch.save, read without executing anything."""

from __future__ import annotations

import argparse
import datetime
import io
import logging
import os
import pickle
import pickletools
import re
import struct
import sys
import types
import zipfile
from decimal import Decimal

import numpy as np
import pytest
import torch
from support.cases import every
from support.hostile import archive, number, tensor, text
from torch import nn
from torch.nn.utils import weight_norm

from verale.adapters import load_model, load_state, modules
from verale.adapters.modules import MOST_LEVELS
from verale.adapters.pickled import Name, Record
from verale.errors import InputError

FORMATS = [(zipped, protocol) for zipped in (True, False) for protocol in (2, 3, 4, 5)]
LINEAR = "torch.nn.modules.linear.Linear"


def various() -> nn.Module:
    """A model with most of what models hold."""
    model = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Linear(4, 4))
    model.half = nn.Linear(4, 4).half()
    model.brain = nn.Linear(4, 4).bfloat16()
    model.double = nn.Linear(4, 4).double()
    model.tied = nn.Linear(4, 4)
    model.tied.weight = model[3].weight
    model.turned = nn.Parameter(torch.rand(3, 5).t())
    model.part = nn.Parameter(torch.rand(10)[3:7].view(2, 2))
    model.empty = nn.Parameter(torch.zeros(0, 3))
    model.register_buffer("counts", torch.arange(5))
    model.register_buffer("mask", torch.tensor([True, False]))
    model.register_buffer("passing", torch.rand(2), persistent=False)
    model.register_buffer("absent", None)
    model.register_parameter("none", None)
    model.again = model[0]
    with pytest.warns(FutureWarning, match="weight_norm"):
        model.normed = weight_norm(nn.Linear(3, 2))
    model.activation, model.function = torch.sigmoid, torch.nn.functional.relu
    model.array, model.scalar = np.arange(3.0), np.float32(2.5)
    model.kinds = {"device": torch.device("cuda:1"), "dtype": torch.float16, "size": torch.Size([2, 3])}
    model.pair, model.words, model.numbers = (1, 2.5), ["a", "b"], {3, 4}
    return model


@pytest.fixture
def lost(monkeypatch) -> type[nn.Module]:
    """A class of modules in a package that is removed again; `torch.save` finds it, nobody else does."""

    class Lost(nn.Module):
        def __init__(self, inner: nn.Module) -> None:
            super().__init__()
            self.inner, self.epsilon = inner, 1e-4

    package = types.ModuleType("lost_package")
    Lost.__module__, Lost.__qualname__, package.Lost = "lost_package", "Lost", Lost
    monkeypatch.setitem(sys.modules, "lost_package", package)
    return Lost


@pytest.mark.parametrize(("zipped", "protocol"), FORMATS)
@pytest.mark.filterwarnings("ignore:Couldn't retrieve source code")
def test_the_state_is_that_of_the_model(zipped, protocol, tmp_path, lost, monkeypatch):
    monkeypatch.setattr(torch.serialization, "location_tag", lambda storage: "cuda:0")
    path, model = tmp_path / "model.pth", lost(various())
    torch.save(model, path, _use_new_zipfile_serialization=zipped, pickle_protocol=protocol)
    expected = model.state_dict()
    del sys.modules["lost_package"]
    with pytest.raises(ModuleNotFoundError):
        torch.load(path, weights_only=False, map_location="cpu")
    saved = load_model(path)
    assert list(saved.state) == list(expected)
    for name, value in expected.items():
        assert saved.state[name].dtype == value.dtype and torch.equal(saved.state[name], value), name
    assert all(torch.equal(value, expected[name]) for name, value in load_state(path).items())
    named = {name: f"{type(module).__module__}.{type(module).__qualname__}" for name, module in model.named_modules()}
    named["inner.again"] = named["inner.0"]  # the file has the module in two places, named_modules() the first
    assert {name: module.kind for name, module in saved.modules.items()} == named
    assert saved.modules[""].attributes == {"training": True, "epsilon": 1e-4}
    convolution = saved.modules["inner.0"].attributes
    assert (convolution["stride"], convolution["padding"], convolution["padding_mode"]) == ((2, 2), (1, 1), "zeros")
    inner = saved.modules["inner"].attributes
    assert (inner["pair"], inner["words"]) == ((1, 2.5), ["a", "b"])
    assert inner["function"] == Name("torch.nn.functional.relu") and type(inner["function"]) is Name
    for name in ("activation", "array", "scalar", "numbers"):
        assert isinstance(inner[name], Record), name
    assert inner["kinds"]["size"] == (2, 3) and inner["kinds"]["device"].arguments[0] == "cuda"


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("key", ["model", "net", "whatever"])
def test_a_model_in_a_dictionary(key, zipped, tmp_path):
    path, model = tmp_path / "model.pth", nn.DataParallel(nn.Linear(3, 2))
    arguments = argparse.Namespace(lr=0.1)
    torch.save({"epoch": 3, key: model, "args": arguments}, path, _use_new_zipfile_serialization=zipped)
    assert set(load_model(path).state) == {"weight", "bias"}
    assert list(load_model(path).modules) == [""], "the wrapper of several devices computes what the model does"
    assert torch.equal(load_state(path)["weight"], model.module.weight)
    torch.save({"state_dict": model.state_dict(), "args": arguments}, path, _use_new_zipfile_serialization=zipped)
    assert torch.equal(load_state(path)["weight"], model.module.weight)
    with pytest.raises(InputError, match=r"model\.pth: holds no whole models, expected one, as torch\.save\(model\)"):
        load_model(path)
    torch.save({"a": model, "b": model}, path, _use_new_zipfile_serialization=zipped)
    with pytest.raises(InputError, match="holds 2 whole models"):
        load_model(path)


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("kind", [list, tuple])
def test_a_model_or_its_state_in_a_list(kind, zipped, tmp_path):
    path, model = tmp_path / "model.pth", nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    for content in ([3, model, {"lr": 0.1}], [3, model.state_dict(), optimizer.state_dict()]):
        torch.save(kind(content), path, _use_new_zipfile_serialization=zipped)
        assert torch.equal(load_state(path)["weight"], model.weight)
        assert content[1] is not model or set(load_model(path).state) == {"weight", "bias"}


def test_harmless_attributes_are_recorded(tmp_path):
    """What people keep in their models: dates, loggers, generators of random numbers, expressions, transforms."""
    import torchvision  # takes more than a second

    model = nn.Linear(3, 2)
    model.kept = {
        "date": datetime.date(2020, 1, 2),
        "took": datetime.timedelta(3),
        "at": datetime.time(3),
        "decimal": Decimal(3),
        "log": logging.getLogger("a"),
        "pattern": re.compile("a+"),
        "bytes": bytearray(b"x"),
        "state": np.random.RandomState(0),
        "generator": np.random.default_rng(0),
        "torch": torch.Generator(),
        "transform": torchvision.transforms.Resize(28),
        "array": np.array([nn.Linear(1, 1), None], dtype=object),
    }
    torch.save(model, tmp_path / "model.pth")
    read = load_model(tmp_path / "model.pth")
    assert torch.equal(read.state["weight"], model.weight)
    kept = read.modules[""].attributes["kept"]
    assert set(kept) == set(model.kept) and all(isinstance(each, Record) for each in kept.values())
    assert kept["date"].name == "datetime.date" and kept["log"].arguments == ("a",)


def test_objects_without_tensors_are_refused(tmp_path):
    for content in (types.SimpleNamespace(a=1), {"args": argparse.Namespace(a=1)}, [argparse.Namespace(a=1), 3]):
        torch.save(content, tmp_path / "x.pth")
        with pytest.raises(InputError, match=r"x\.pth: holds (types|argparse|torch)\..* beside tensors"):
            load_state(tmp_path / "x.pth")


# Pickles by hand, from here on.

EMPTY = b"ccollections\nOrderedDict\n)R"


def module(*, kind: bytes = b"a\nB\n", more: bytes = b"", **tables: bytes) -> bytes:
    """The opcodes of a module whose tables hold these opcodes of keys and values."""
    state = b"}("
    for name in ("parameters", "buffers", "modules"):
        state += text(f"_{name}") + EMPTY + b"(" + tables.get(name, b"") + b"u"
    return b"c" + kind + b")\x81" + state + more + b"ub"


def read(pickled: bytes, folder, **storages: bytes) -> dict[str, torch.Tensor]:
    (folder / "model.pth").write_bytes(archive(b"\x80\x02" + pickled + b".", storages))
    return load_state(folder / "model.pth")


def test_modules_by_hand(tmp_path):
    data = np.arange(4, dtype=np.float32).tobytes()
    one = tensor(4, (2, 2), (2, 1))
    inner = module(buffers=text("b") + one)
    state = read(
        module(parameters=text("a") + one, modules=text("m") + inner + text("n") + b"N"), tmp_path, **{"0": data}
    )
    assert {name: value.tolist() for name, value in state.items()} == {"a": [[0, 1], [2, 3]], "m.b": [[0, 1], [2, 3]]}


def test_what_older_torch_wrote(tmp_path):
    data = np.arange(4, dtype=np.float32).tobytes()
    parameter = b"ctorch.nn.parameter\nParameter\n" + tensor(4, (4,), (1,)) + b"\x85R(\x89\x89" + EMPTY + b"tb"
    pairs = b"ccollections\nOrderedDict\n]]" + text("p") + b"a" + parameter + b"aa\x85R"
    tables = text("_parameters") + pairs + text("_buffers") + EMPTY + text("_modules") + EMPTY
    old = b"ca\nB\n)\x81}(" + tables + b"ub"
    assert read(old, tmp_path, **{"0": data})["p"].tolist() == [0, 1, 2, 3]
    view = b"(" + text("storage") + b"ctorch.cuda\nFloatStorage\n" + text("0") + text("cuda:0") + number(4)
    view += b"(" + text("v") + number(1) + number(2) + b"ttQ"
    seen = b"ctorch._utils\n_rebuild_tensor\n(" + view + number(1) + number(1) + b"\x85" + number(1) + b"\x85tR"
    assert read(module(parameters=text("p") + seen), tmp_path, **{"0": data})["p"].tolist() == [2]
    with pytest.raises(InputError, match="claims a view that is larger than its storage"):
        read(module(parameters=text("p") + seen.replace(number(2) + b"tt", number(4) + b"tt")), tmp_path, **{"0": data})


def call(name: str, arguments: bytes = b")") -> bytes:
    """The opcodes of a call."""
    return b"c" + name.replace(" ", "\n").encode() + b"\n" + arguments + b"R"


@every(
    ("value", "reason"),
    [
        (call("os system", text("true") + b"\x85"), r"a call of os\.system"),
        (call("posix system", text("true") + b"\x85"), r"a call of posix\.system"),
        (call("builtins eval", text("1") + b"\x85"), r"a call of builtins\.eval"),
        (call("torch load", text("x") + b"\x85"), r"a call of torch\.load"),
        (call("torch._utils _rebuild_sparse_tensor"), r"a call of torch\._utils\._rebuild_sparse_tensor"),
        (call("builtins getattr", b"cos\n\n" + text("system") + b"\x86") + text("true") + b"\x85R", "not a name"),
        (b"(cos\nsystem\n" + text("true") + b"o", "the opcode OBJ"),
        (b"(" + text("true") + b"ios\nsystem\n", "the opcode INST"),
        (b"\x82\x01", "the opcode EXT1"),
        (b"\x8b\x04\x00\x00\x00aaaa", "the opcode LONG4"),
        (text("x") + b"Q", "a call with more than 16 arguments"),
        (b"(" + text("file") + text("a") + text("b") + b"tQ", "references to something else"),
        (b"c" + b"a" * 300 + b"\nB\n", "a name that is not a short string"),
        (b"(" + text("storage") + b"ctorch\nQInt8Storage\n" + text("0") + text("cpu") + b"K\x04tQ", "numbers of type"),
        (call("torch._utils _rebuild_tensor_v2", b"(" + b"N" * 17 + b"t"), "more than 16 arguments"),
        (call("torch._tensor _rebuild_from_type_v2", b"(ctorch._utils\n_rebuild_tensor_v2\nca\nB\n)Nt"), r"type a\.B"),
    ],
)
def test_what_is_refused_by_name_and_not_done(value, reason, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "system", lambda command: pytest.fail("executed"))
    for pickled in (module(more=text("x") + value), module(parameters=text("w") + value)):
        with pytest.raises(InputError, match=reason) as error:
            read(pickled, tmp_path)
        assert "model.pth: holds" in str(error.value) and "convert it once" in str(error.value)


@pytest.mark.parametrize(
    ("pickled", "reason"),
    [
        (module(parameters=text("w") + b"ca\nC\n)\x81"), r"'w': is an object of a\.C, expected a tensor"),
        (module(buffers=text("w") + b"K\x01"), "'w': is a int, expected a tensor"),
        (module(modules=text("m") + b"]"), "'m': is a list, expected a module"),
        (module(modules=b"K\x01" + module()), "a key of type int"),
        (module(modules=text("m" * 500) + module()), "expected a module with a short name"),
    ],
)
def test_modules_that_hold_something_else_are_refused(pickled, reason, tmp_path):
    with pytest.raises(InputError, match=reason):
        read(pickled, tmp_path)


def chain(levels: int, copies: int = 1) -> bytes:
    """Modules in modules, each so many times in the one around it."""
    pickled = module(parameters=text("w") + tensor(1, (1,), (1,)))
    for level in range(levels):
        inner = text("0") + pickled + b"q" + bytes([level])
        pickled = module(modules=inner + b"".join(text(str(i)) + b"h" + bytes([level]) for i in range(1, copies)))
    return pickled


def test_modules_in_many_places_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(modules, "MOST_CHARACTERS", 1 << 18)
    assert len(read(chain(3, 3), tmp_path, **{"0": bytes(4)})) == 27
    assert list(read(chain(MOST_LEVELS), tmp_path, **{"0": bytes(4)})) == ["0." * MOST_LEVELS + "w"]
    for pickled in (chain(MOST_LEVELS + 1), chain(40, 2), chain(12, 8)):
        with pytest.raises(InputError, match="is one of too many modules"):
            read(pickled, tmp_path, **{"0": bytes(4)})


def test_a_module_in_itself_is_refused(tmp_path):
    tables = text("_parameters") + EMPTY + text("_buffers") + EMPTY + text("_modules")
    itself = b"ca\nB\n)\x81q\x00}(" + tables + EMPTY + b"(" + text("m") + b"h\x00uub"
    with pytest.raises(InputError, match="does one contain itself"):
        read(itself, tmp_path)


def test_a_tuple_in_itself_is_read(tmp_path):
    model, inner = nn.Linear(1, 1), []
    model.pair = (inner, inner, inner, inner)
    inner.append(model.pair)
    pickled = [opcode.name for opcode, _, _ in pickletools.genops(pickle.dumps(model.pair, 2))]
    assert "POP" in pickled or "POP_MARK" in pickled  # the pickler removes the half of the tuple that it had begun
    torch.save(model, tmp_path / "model.pth")
    pair = load_model(tmp_path / "model.pth").modules[""].attributes["pair"]
    assert pair[0][0] is pair


def test_the_order_of_bytes(tmp_path):
    data = archive(b"\x80\x02" + module() + b".").replace(b"little", b"bigbig")
    (tmp_path / "model.pth").write_bytes(data)
    with pytest.raises(InputError):
        load_state(tmp_path / "model.pth")


def saved(value: float) -> bytes:
    stream = io.BytesIO()
    torch.save({"prototype_vectors": torch.full((4, 3), value), "last_layer.weight": torch.ones(2, 4)}, stream)
    return stream.getvalue()


def two_names(data: bytes) -> bytes:
    """The first entry, the pickle, has another name in its own header."""
    return data.replace(b"data.pkl", b"data.pkk", 1)


def with_gap(data: bytes) -> bytes:
    """Bytes between the last entry and the directory, to which the last record points."""
    begin = struct.unpack_from("<L", data, len(data) - 6)[0]
    assert data[begin : begin + 4] == b"PK\x01\x02"
    return data[:begin] + bytes(4) + data[begin:-6] + struct.pack("<L", begin + 4) + data[-2:]


def with_large_records(data: bytes) -> bytes:
    """Records for large archives, which name another directory than the last record does."""
    at, (begin,) = len(data) - 22, struct.unpack_from("<L", data, len(data) - 6)
    (count,) = struct.unpack_from("<H", data, len(data) - 12)
    large = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, at - begin, begin - 1)
    return data[:at] + large + struct.pack("<4sLQL", b"PK\x06\x07", 0, at, 1) + data[at:]


@pytest.mark.parametrize(
    "changed",
    [
        lambda data: data + saved(0.75),
        lambda data: b"PK\x03\x04" + data,
        lambda data: data[:30] + data,
        lambda data: data + b"\0",
        lambda data: data[:-2] + b"\x01\0!",
        two_names,
        with_gap,
        with_large_records,
    ],
)
def test_an_archive_with_several_readings_is_refused(changed, tmp_path):
    path = tmp_path / "model.pth"
    path.write_bytes(saved(0.25))
    assert float(load_state(path)["prototype_vectors"][0, 0]) == 0.25
    path.write_bytes(changed(saved(0.25)))
    with pytest.raises(InputError, match=r"can be read in several ways|cannot read as a checkpoint"):
        load_state(path)


@pytest.mark.parametrize(
    ("first", "last", "reason"),
    [
        ("first/version", None, "beside the folder of its first entry"),
        (None, "constants.pkl", "holds a program of TorchScript"),
    ],
)
def test_other_entries_beside_those_of_torch_are_refused(first, last, reason, tmp_path):
    """The pickle is that of the folder that torch takes."""
    path = tmp_path / "model.pth"
    with zipfile.ZipFile(path, "w") as other, zipfile.ZipFile(io.BytesIO(saved(0.25))) as archive:
        if first:
            other.writestr(first, b"3\n")
        for entry in archive.infolist():
            other.writestr(entry.filename, archive.read(entry))
        if last:
            other.writestr(f"{archive.infolist()[0].filename.partition('/')[0]}/{last}", b"\x80\x02).")
    with pytest.raises(InputError, match=reason):
        load_state(path)


def test_archives_of_torch_are_read(tmp_path):
    """Of many entries, of empty ones and of a name with a space; and as `zipfile` writes the same entries."""
    path = tmp_path / "a model.pth"
    state = {f"layer{number}.weight": torch.full((number % 3,), float(number)) for number in range(300)}
    torch.save(state, path)
    read = load_state(path)
    assert all(torch.equal(read[name], tensor) for name, tensor in state.items())
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(tmp_path / "again.pth", "w") as again:
        for entry in archive.infolist():
            again.writestr(entry.filename, archive.read(entry))
    read, of_torch = load_state(tmp_path / "again.pth"), torch.load(tmp_path / "again.pth", weights_only=True)
    assert all(torch.equal(read[name], of_torch[name]) for name in state)
