"""Archives with two readings are refused: what is imported is what torch loads."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest
import torch

from verale.adapters import load_state
from verale.errors import InputError


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


def test_the_pickle_is_that_of_the_folder_that_torch_takes(tmp_path):
    path = tmp_path / "model.pth"
    with zipfile.ZipFile(path, "w") as other, zipfile.ZipFile(io.BytesIO(saved(0.25))) as archive:
        other.writestr("first/version", b"3\n")
        for entry in archive.infolist():
            other.writestr(entry.filename, archive.read(entry))
    with pytest.raises(InputError, match="beside the folder of its first entry"):
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


def test_a_program_of_torchscript_is_refused(tmp_path):
    path = tmp_path / "model.pth"
    with zipfile.ZipFile(path, "w") as other, zipfile.ZipFile(io.BytesIO(saved(0.25))) as archive:
        for entry in archive.infolist():
            other.writestr(entry.filename, archive.read(entry))
        other.writestr(f"{archive.infolist()[0].filename.partition('/')[0]}/constants.pkl", b"\x80\x02).")
    with pytest.raises(InputError, match="holds a program of TorchScript"):
        load_state(path)
