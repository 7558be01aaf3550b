"""Commands in a folder that a stranger sent: nothing that lies there is run, however processes are started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from support.small import small_head, small_latents
from support.strangers import VERALE, plant

from verale.files import certificate_name
from verale.head import save_latents
from verale.search.explain import explain


@dataclass(frozen=True)
class Folder:
    """A folder with a head, latents, three certificates, and modules that leave a mark where they are run."""

    path: Path
    mark: Path

    def run(self, *command: object) -> subprocess.CompletedProcess[str]:
        """A command in the folder. Nothing in it may be run."""
        done = subprocess.run(list(map(str, command)), cwd=self.path, capture_output=True, text=True, timeout=300)
        assert self.ran() == "", f"{command}\n{done.stdout}{done.stderr}"
        return done

    def ran(self) -> str:
        return self.mark.read_text() if self.mark.exists() else ""


@pytest.fixture
def sent(tmp_path: Path) -> Folder:
    folder, mark = tmp_path / "sent", tmp_path / "mark"
    folder.mkdir()
    head = small_head("euclidean")
    latents = small_latents(head, images=3)
    head.save(folder / "head.safetensors")
    save_latents(folder / "latents.safetensors", latents)
    for index, certificate in enumerate(explain(head, latents, "top_k")):
        certificate.save(folder / certificate_name(index))
    plant(folder, mark)
    return Folder(folder, mark)


def test_what_lies_there_would_leave_a_mark(sent: Folder) -> None:
    subprocess.run([sys.executable, "-m", "verale.checker"], cwd=sent.path, capture_output=True)
    assert "verale" in sent.ran()
    sent.mark.unlink()
    subprocess.run([sys.executable, "-c", "import numpy"], cwd=sent.path, capture_output=True)
    assert "numpy" in sent.ran()


def test_audits_in_several_processes(sent: Folder) -> None:
    done = sent.run(VERALE, "audit", ".", "--jobs", 2)
    assert done.returncode == 0 and done.stdout.count("PROVED") == 3, done.stderr


def test_the_checker_alone(sent: Folder) -> None:
    files = (*sorted(sent.path.glob("*.ale.json")), "--head", "head.safetensors", "--latents", "latents.safetensors")
    done = sent.run(sys.executable, "-P", "-m", "verale.checker", *files)
    assert done.returncode == 0 and done.stdout.count("PROVED") == 3, done.stderr


@pytest.mark.long  # three processes that load torch; those of an audit are started above
def test_explanations_in_several_processes(sent: Folder) -> None:
    files = ("--head", "head.safetensors", "--latents", "latents.safetensors")
    done = sent.run(VERALE, "explain", *files, "--paradigm", "top_k", "--out", "../out", "--jobs", 2)
    assert done.returncode == 0, done.stderr


FILE = "000000.ale.json"
OTHERS = {
    "audit": ("audit", ".", "--minimality", "--kernel", "both", "--attest", "../A.json", "--log", "../log"),
    "audit, proved": ("audit", ".", "--kernel", "proved"),
    "report": ("report", ".", "-o", "../report.html"),
    "figure": ("report", FILE, "-o", "../figure.svg"),
    "table": ("report", ".", "-o", "../table.parquet"),
    "explain": ("explain", "--head", "head.safetensors", "--latents", "latents.safetensors", "--out", "../explained"),
    "attribute": (
        *("attribute", "--head", "head.safetensors", "--latents", "latents.safetensors"),
        *("--count", 2, "--out", "../attributed"),
    ),
    "certificates": ("certificates", "pack", ".", "--out", "../certificates.parquet"),
    "compare": ("compare", ".", ".", "-o", "../compared.html"),
    "contrast": ("contrast", FILE, "--class", 0, "--seconds", 1),
    "cover": ("cover", ".", "--latents", "latents.safetensors"),
    "doctor": ("doctor",),
    "vnnlib": ("export", "vnnlib", FILE, "--out", "../asked"),
    "gap": ("gap", FILE, "--seconds", 1),
    "head": ("head", "show", "head.safetensors"),
    "latents": ("latents", "--help"),
    "network": ("network", "show", "head.safetensors"),
    "necessity": ("necessity", FILE, "--seconds", 1),
    "origins": (
        *("origins", "--head", "head.safetensors", "--network", "head.safetensors"),
        *("--images", ".", "--out", "../origins.json"),
    ),
    "refute": ("refute", FILE, "--seconds", 1),
    "rules": ("rules", "--head", "head.safetensors", "--latents", "latents.safetensors", "--out", "../rules"),
    "show": ("show", FILE),
    "soundness": ("soundness", "--only", "lemmas"),
    "summary": ("summary", "."),
    "rocq": ("export", "rocq", ".", "-o", "../Proofs.v"),
    "completion": ("completion", "bash"),
}
ON_RAY = {
    "audit": (
        *("audit", "../packed.parquet", "--head", "head.safetensors", "--latents", "latents.safetensors"),
        *("--engine", "ray", "--jobs", 1, "--log", "../log.json"),
    ),
    "explain": (
        *("explain", "--head", "head.safetensors", "--latents", "latents.safetensors", "--out", "../by-ray"),
        *("--engine", "ray", "--jobs", 1, "--paradigm", "top_k"),
    ),
}
UNDONE = {
    **dict.fromkeys(("summary", "compare", "network", "origins"), 9),
    **dict.fromkeys(("contrast", "necessity", "rules", "gap")),
    "refute": 11,
}
"""Commands that do not end with 0; None: with one of their codes."""


ONE_PROCESS = """
import json, sys
from support.commands import in_process

path = [*sys.path]
done = {name: in_process(*command) for name, command in json.load(sys.stdin).items()}
assert sys.path == path and "" not in path, "or what was imported before would not be looked for there"
print(json.dumps({name: (each.returncode, each.stdout + each.stderr) for name, each in done.items()}))
"""


@pytest.mark.long  # some twenty commands
def test_every_command(sent: Folder) -> None:
    """In one process, of what each needs to import. `proved` needs an executable or V8: without both it refuses, but
    runs nothing either."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    command = (sys.executable, "-P", "-c", ONE_PROCESS)
    said = subprocess.run(
        command, cwd=sent.path, capture_output=True, text=True, env=environment, input=json.dumps(OTHERS), timeout=600
    )
    assert sent.ran() == "" and said.returncode == 0, said.stderr
    done = json.loads(said.stdout)
    assert done.keys() == OTHERS.keys()
    for name, (code, printed) in done.items():
        expected = UNDONE.get(name, 0)
        assert "Traceback" not in printed
        free = expected is None or name == "audit, proved"
        assert code in ((0, 3, 9, 10, 11, 12) if free else (expected,)), (name, printed)


@pytest.mark.long  # Ray starts
@pytest.mark.parametrize("name", ON_RAY)
def test_a_command_on_ray(name: str, sent: Folder) -> None:
    if name == "audit":
        sent.run(VERALE, "certificates", "pack", ".", "--out", "../packed.parquet")
    done = sent.run(VERALE, *ON_RAY[name])
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stdout + done.stderr


def test_every_command_is_tried() -> None:
    from verale.cli import cli

    commands = {*cli.list_commands(click.Context(cli))} - {"demo"}  # test_command_line.py runs it in such a folder
    assert {"audit", "explain"} < commands <= {str(command[0]) for command in OTHERS.values()}
