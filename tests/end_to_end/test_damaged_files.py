"""Whatever is in a file, a command answers with a documented exit code and printable lines, never with a traceback."""

from __future__ import annotations

import json
import random
import shutil
import struct
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import in_process
from support.reporting import folder_of

TEXTS = ("", "\n", "\x1b[2K", "é\u202e", "\ud800", "PROVED", "../../x", "/", "0x1p+0", "nan", "-1", "1e999", "a" * 300)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**40, 0.5, -0.0, 1e308, float("nan"), float("inf")),
    *([], {}, [[]], [None], {"": None}, *TEXTS),
)


HOSTILE = (
    *(b"", b"\0" * 64, b"null", b"[]", b"{}", b"1", b'"x"', b"\n\n"),
    *(b"\xff" * 40, b"[" * 100000, b"PAR1", b"PK\3\4"),
)
INSERTED = (b"\0", b"\xff\xfe", b"\n", b'"', b"[" * 3000, b"9" * 5000, b",")


def damaged(data: bytes, draw: random.Random) -> bytes:
    """A variant of a file: cut, changed, repeated, hostile, or, where it holds JSON, with other values in it."""
    at = draw.randrange(len(data) + 1)
    kinds: list[Callable[[bytes, random.Random], bytes]] = [
        lambda data, draw: data[:at],
        _flipped,
        lambda data, draw: data[:at] + draw.choice(INSERTED) + data[at:],
        lambda data, draw: data * draw.choice((2, 3)),
        lambda data, draw: draw.choice(HOSTILE),
    ]
    if data[:1] in (b"{", b"["):
        kinds += [_json] * 10
    elif 8 <= int.from_bytes(data[:8], "little") + 8 <= len(data):
        kinds += [_safetensors] * 10
    elif b"," in data[:20]:
        kinds += [_csv] * 5
    return draw.choice(kinds)(data, draw)


def _flipped(data: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice((1, 3, 30))):
        changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)


def _json(data: bytes, draw: random.Random) -> bytes:
    """One of the documents in it (one a line, or one in all), with one or two values changed."""
    try:
        value = json.loads(data)
    except ValueError:
        lines = data.split(b"\n")
        at = draw.randrange(len(lines))
        return b"\n".join([*lines[:at], _json(lines[at], draw) if lines[at] else b"{}", *lines[at + 1 :]])
    for _ in range(draw.choice((1, 1, 2))):
        value = _varied(value, draw)
    return (json.dumps(value) + "\n" * data.endswith(b"\n")).encode("utf-8", "surrogatepass")


def _varied(value: Any, draw: random.Random) -> Any:
    if isinstance(value, dict) and value and draw.random() < 0.9:
        key = draw.choice(list(value))
        if draw.random() < 0.15:
            return {name: each for name, each in value.items() if name != key}
        if draw.random() < 0.1:
            return {draw.choice(TEXTS) if name == key else name: each for name, each in value.items()}
        return value | {key: _varied(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.8:
        at = draw.randrange(len(value))
        if draw.random() < 0.2:
            return value[:at] + value[at + 1 :]
        return [*value[:at], _varied(value[at], draw), *value[at + 1 :]]
    if isinstance(value, str) and value.startswith("{"):
        return json.dumps(_varied(json.loads(value), draw))
    return draw.choice(VALUES)


def _safetensors(data: bytes, draw: random.Random) -> bytes:
    """Its header changed, or its numbers."""
    length = int.from_bytes(data[:8], "little")
    header, body = data[8 : 8 + length], data[8 + length :]
    if draw.random() < 0.3 and len(body) >= 8:
        at = 4 * draw.randrange(len(body) // 4 - 1)
        word = struct.pack("<d", draw.choice((0.0, float("nan"), float("inf"), 1e308, 5e-324, -1.0)))
        return data[: 8 + length] + body[:at] + word + body[at + 8 :]
    header = _json(header.rstrip(), draw)
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + body


def _csv(data: bytes, draw: random.Random) -> bytes:
    """One cell changed."""
    lines = data.decode("utf-8", "replace").split("\n")
    at = draw.randrange(len(lines))
    cells = lines[at].split(",")
    cells[draw.randrange(len(cells))] = str(draw.choice((*VALUES, "9" * 5000, '"')))
    lines[at] = ",".join(cells)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


READERS: dict[str, tuple[str, ...]] = {
    "out/000000.ale.json": (
        "audit out --head head --latents latents",
        "refute out/000000.ale.json --head head --latents latents --seconds 0",
        "certificates pack out --out new.parquet",
        "report out -o r.html",
        "report out -o t.csv --no-audit",
        "report out/000000.ale.json -o p.svg",
    ),
    "head": (
        "head show head",
        "audit out --head head",
        "explain --head head --latents latents --out new --paradigm projection",
        "refute out/000000.ale.json --head head --seconds 0",
        "report out -o r.html --head head",
    ),
    "latents": (
        "audit out --head head --latents latents",
        "explain --head head --latents latents --out new --paradigm projection",
        "refute out/000000.ale.json --head head --latents latents --seconds 0",
        "report out -o r.html --latents latents",
    ),
    "log": (
        "audit out --head head --latents latents --log log",
        "report out -o r.html --log log",
        "report out -o t.csv --log log",
    ),
    "out/explanations.csv": ("summary out", "summary out/explanations.csv --format csv", "report out -o r.html"),
    "run/explanations.csv": (
        "explain --head head --latents latents --out run --paradigm projection",
        "summary run --format markdown",
    ),
    "run/run.json": ("explain --head head --latents latents --out run --paradigm projection", "summary run"),
    "out/source.json": (
        "report out -o r.html",
        "report out -o r.html --no-audit",
        "report out/000000.ale.json -o p.svg",
    ),
    "packed.parquet": ("audit packed.parquet --head head", "certificates unpack packed.parquet --out new"),
    "out/images/0.png": ("report out -o r.html --no-audit", "report out/000000.ale.json -o p.svg --no-audit"),
    "witness": ("audit out --head head --latents witness", "head show witness"),
    "state.pth": ("head import state.pth -o new --arch protopnet", "head import state.pth -o new --arch pipnet"),
}
"""For each file the commands that read it."""

ODD = ("head show witness", "head import state.pth -o new --arch pipnet")
"""Of these commands, those that the undamaged file is no use for."""

CODES = {0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
"""Of these commands, as docs/cli.md and certificates/audit-log-v1.md list them."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file of every kind, all valid."""
    import torch

    folder = tmp_path_factory.mktemp("made")
    folder_of(folder / "out")
    for name in ("head", "latents"):
        shutil.copy(folder / "out" / f"{name}.safetensors", folder / name)
    shutil.copy(folder / "latents", folder / "witness")
    for command in (
        "audit out --head head --latents latents --log log",
        "explain --head head --latents latents --out run --paradigm projection",
        "certificates pack out --out packed.parquet",
    ):
        done = in_process(*command.split(), cwd=folder)
        assert done.returncode == 0, done.stderr
    torch.save(
        {"prototype_vectors": torch.rand(4, 3, 1, 1), "last_layer.weight": torch.rand(2, 4)}, folder / "state.pth"
    )
    assert set(READERS) == {name for name in READERS if (folder / name).is_file()}
    return folder


def answers(command: str, folder: Path) -> None:
    """Fail unless a command answers as it should."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = in_process(*command.split(), cwd=folder, merged=True)
    assert done.returncode in CODES, (command, done.stdout)
    assert all(line.isprintable() for line in done.stdout.split("\n")), (command, done.stdout)
    assert "never should" not in done.stdout, (command, done.stdout)


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 30), marks=pytest.mark.long)], ids=["few", "many"])
@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_never_a_traceback(name: str, seeds: range, made: Path, tmp_path: Path) -> None:
    """In a folder of undamaged files, by the commands that read it."""
    for seed in seeds:
        folder = tmp_path / f"{seed}"
        shutil.copytree(made, folder)
        (folder / name).write_bytes(damaged((made / name).read_bytes(), random.Random(f"{name} {seed}")))
        answers(READERS[name][seed % len(READERS[name])], folder)


@pytest.mark.parametrize("command", sorted({each for commands in READERS.values() for each in commands}))
def test_undamaged_files_are_used(command: str, made: Path, tmp_path: Path) -> None:
    """Otherwise a wrong option would pass for an answer."""
    shutil.copytree(made, tmp_path / "work")
    done = in_process(*command.split(), cwd=tmp_path / "work")
    expected = 11 if command.startswith("refute") else 9 if command in ODD else 0
    assert done.returncode == expected, (command, done.stderr)
