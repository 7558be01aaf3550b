"""Files that claim more bytes than any machine has, and take no space: every command refuses them before it reads."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from support.commands import in_process

from verale import files
from verale.checker.__main__ import main
from verale.checker.file_auditor import FileAuditor
from verale.checker.read.latents import LARGEST
from verale.errors import InputError
from verale.files import LARGEST_LATENTS, read
from verale.runs.doctor import SAMPLE
from verale.runs.inputs import sha256_of

HUGE = 2**42
CERTIFICATE, HEAD, LATENTS = "0.ale.json", "head.safetensors", "latents.safetensors"
GIVEN = (f"in/{CERTIFICATE}", "--head", f"in/{HEAD}", "--latents", f"in/{LATENTS}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(SAMPLE, tmp_path / "in")
    return tmp_path


def huge(path: Path) -> str:
    path.touch()
    os.truncate(path, HUGE)
    return str(path)


COMMANDS = {
    "audit": ("audit", "in"),
    "refute": ("refute", *GIVEN),
    "gap": ("gap", f"in/{CERTIFICATE}"),
    "report": ("report", "in", "--out", "r.html"),
    "contrast": ("contrast", f"in/{CERTIFICATE}", "--class", "1"),
    "necessity": ("necessity", f"in/{CERTIFICATE}"),
    "show": ("show", f"in/{CERTIFICATE}"),
    "explain": ("explain", *GIVEN[1:], "--out", "out"),
}


@pytest.mark.parametrize("name", [HEAD, LATENTS])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_it(command: str, name: str, folder: Path) -> None:
    huge(folder / "in" / name)
    done = in_process(*COMMANDS[command], cwd=folder)
    assert (done.returncode, done.stdout) == (9, "")
    last = done.stderr.splitlines()[-1]
    by_checker = command == "audit" and name == HEAD
    told = "bytes, the most that are allowed" if by_checker else f" {HUGE} bytes, "
    assert last.startswith(f"error: in/{name}: ") and told in last and (by_checker or "give " in last)
    assert not (folder / "r.html").exists() and not (folder / "out" / "run.json").exists()


@pytest.mark.parametrize("command", ["refute", "gap", "contrast", "necessity"])
def test_certificates_too(command: str, folder: Path) -> None:
    huge(folder / "in" / CERTIFICATE)
    done = in_process(*COMMANDS[command], cwd=folder)
    assert (done.returncode, done.stdout) == (9, "")
    assert done.stderr.splitlines()[-1].startswith(f"error: in/{CERTIFICATE}: has {HUGE} bytes, more than the ")


@pytest.mark.parametrize("name", ["source.json", "run.json", "explanations.csv"])
def test_what_lies_beside_certificates_too(name: str, folder: Path) -> None:
    huge(folder / "in" / name)
    command = ("summary", "in") if name == "explanations.csv" else ("report", "in", "--out", "r.html")
    done = in_process(*command, cwd=folder)
    assert done.returncode == 9 and f"in/{name}: has {HUGE} bytes, more than the " in done.stderr.splitlines()[-1]


def test_the_checker_alone_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [str(folder / each) if each.startswith("in/") else each for each in GIVEN]
    huge(folder / "in" / LATENTS)
    assert main(given) == 9
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert err.startswith(f"error: {given[-1]}: it has {HUGE} bytes, expected at most {LARGEST}; give ")


@pytest.mark.parametrize("where", ["read", "checker"])
def test_too_little_memory_is_one_line(where: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> None:
        raise MemoryError

    if where == "read":
        monkeypatch.setattr("verale.runs.audit.audit_groups", fails)
    else:
        monkeypatch.setattr("verale.checker.file_auditor.Auditor", fails)
    done = in_process("audit", *GIVEN, cwd=folder)
    assert (done.returncode, done.stdout) == (9, "") and done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ") and "takes more memory than there is; give " in done.stderr


def test_a_limit_is_the_last_size_that_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Latents may be larger than other files; the checker, which imports nothing, has the same limit as the rest."""
    assert LARGEST_LATENTS == LARGEST
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    monkeypatch.setattr(files, "LARGEST", 3)
    assert read(path, "text") == b"abc"
    monkeypatch.setattr(files, "LARGEST", 2)
    with pytest.raises(InputError, match=r"x: has 3 bytes, more than the 2 that are read; expected text: give"):
        read(path, "text")
    assert read(path, "text", most=3) == b"abc" and read(path, "text", 1) == b"a"
    with pytest.raises(InputError, match="more than the"):
        sha256_of(huge(tmp_path / "huge"))


def test_a_latents_file_may_have_as_many_bytes_as_are_allowed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = str(folder / "in" / HEAD), str(folder / "in" / LATENTS)
    monkeypatch.setattr("verale.checker.file_auditor.LARGEST_LATENTS", os.stat(given[1]).st_size)
    assert FileAuditor(*given).audit(str(folder / "in" / CERTIFICATE)).exit_code == 0
