"""The executable of the kernel `proved`: built once for all tests, or a fake one that behaves as a test wants."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_ROCQ = Path(__file__).parents[2] / "proofs" / "rocq"
_BUILD = Path(__file__).parents[2] / "build"
_TOOLS = "OCaml with findlib and Zarith (Debian: ocaml-nox ocaml-findlib libzarith-ocaml-dev)"

_FAKE = """#!{python} -I
import os, signal, sys, time
asked = []
def answer(question, number, text):
{body}
print("verale-proved 2 a fake", flush=True)
for line in sys.stdin:
    question, number, milliseconds, text = line.split(" ", 3)
    asked.append(question)
    said = answer(question, number, text) or "ready"
    print(said[1:] if said.startswith("=") else f"{{number}} 1 {{said}}", flush=True)
"""


def fake(folder: Path, body: str, name: str = "fake") -> str:
    """An executable whose answers a function's body gives, from `question`, `number`, `text` and `asked`, all questions
    so far. What it returns follows the number, unless it begins with `=`; nothing stands for `ready`."""
    path = folder / name
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    path.write_text(_FAKE.format(python=sys.executable, body=lines))
    path.chmod(0o755)
    return str(path)


def _missing_tools() -> bool:
    """Whether the executable cannot be built here."""
    if shutil.which("ocamlfind") is None or shutil.which("ocamlopt") is None or shutil.which("make") is None:
        return True
    return subprocess.run(["ocamlfind", "query", "zarith"], capture_output=True, timeout=60).returncode != 0


def _make(folder: Path) -> list[str]:
    return ["make", "--directory", str(_ROCQ), f"BUILD={folder}"]


def _is_made(target: str) -> bool:
    """Whether `make proved` has built it and no source is newer."""
    ready = _BUILD / target
    asked = [*_make(_BUILD), "--question", str(ready)]
    return ready.exists() and not subprocess.run(asked, capture_output=True).returncode


def build(shared: Path, target: str = "verale-proved") -> Path:
    """The executable, or another target: that of `make proved`, if it is there and no source is newer, or built in a
    folder that several processes share, from what `make proved` compiled. Skips the test where it cannot be built."""
    if _is_made(target):
        return _BUILD / target
    if _missing_tools():
        pytest.skip(f"the proved checker is not built here, which takes {_TOOLS}")
    shared.mkdir(exist_ok=True)
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "verale-proved").exists() and _is_made("verale-proved"):
            compiled = shutil.ignore_patterns("theories")
            shutil.copytree(_BUILD / "rocq", shared / "rocq", ignore=compiled, dirs_exist_ok=True)
            shutil.copy2(_BUILD / "verale-proved", shared)
        made = subprocess.run([*_make(shared), str(shared / target)], capture_output=True, text=True, timeout=600)
    if made.returncode:
        pytest.fail(f"make proved failed:\n{made.stdout}{made.stderr}")
    return shared / target


def theories(shared: Path) -> Path:
    """The folder of the compiled Rocq theories, which processes share. Skips the test where there is no Coq."""
    if shutil.which("coqc") is None or shutil.which("make") is None:
        pytest.skip("the Rocq theories are not compiled here, which takes Coq 8.16 (Debian: coq)")
    shared.mkdir(exist_ok=True)
    with (shared / "lock of theories").open("w") as lock:  # who wants the executable does not wait for a minute
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = subprocess.run([*_make(shared), "theories"], capture_output=True, text=True, timeout=3000)
    if made.returncode:
        pytest.fail(f"make theories failed:\n{made.stdout[-2000:]}{made.stderr}")
    return shared / "rocq" / "theories"
