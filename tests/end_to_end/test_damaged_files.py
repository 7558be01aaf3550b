"""Whatever is in a file, a command answers with a documented exit code and printable lines, never with a traceback."""

from __future__ import annotations

import random
import shutil
import warnings
from pathlib import Path

import pytest
from support.commands import in_process
from support.damage import damaged
from support.reporting import folder_of

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


def tried(name: str, command: str, seed: int, made: Path, folder: Path) -> None:
    """One draw: a damaged file in an undamaged folder, and a command that reads it."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(made, folder)
    (folder / name).write_bytes(damaged((made / name).read_bytes(), random.Random(f"{name} {seed}")))
    answers(command, folder)


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_never_a_traceback(name: str, made: Path, tmp_path: Path) -> None:
    for seed in range(3):
        tried(name, READERS[name][seed % len(READERS[name])], seed, made, tmp_path / "work")


@pytest.mark.long
@pytest.mark.parametrize("name", READERS)
def test_many_damaged_files_are_never_a_traceback(name: str, made: Path, tmp_path: Path) -> None:
    for seed in range(3, 30):
        tried(name, READERS[name][seed % len(READERS[name])], seed, made, tmp_path / "work")


@pytest.mark.parametrize("name", READERS)
def test_undamaged_files_are_used(name: str, made: Path, tmp_path: Path) -> None:
    """Otherwise a wrong option would pass for an answer."""
    for command in READERS[name]:
        shutil.rmtree(tmp_path / "work", ignore_errors=True)
        shutil.copytree(made, tmp_path / "work")
        done = in_process(*command.split(), cwd=tmp_path / "work")
        expected = 11 if command.startswith("refute") else 9 if command in ODD else 0
        assert done.returncode == expected, (command, done.stderr)
