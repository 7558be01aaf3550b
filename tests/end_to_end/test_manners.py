"""How the commands behave: interrupted, piped, at a terminal, given nonsense, and where little is installed."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest.mock import patch

import pytest
from support.commands import in_process, started, wait_until
from support.small import small_head, small_latents

from verale.head import save_latents
from verale.runs.table import read_table

INPUT = ("--head", "head", "--latents", "latents", "--out", "out", "--batch", "4", "--paradigm", "projection")

UNCOMPARED = "the head was not compared with the network (verale head compare)"


def again(folder: Path, *arguments: object) -> tuple[int, str, str]:
    """The same in this process, where another one would add nothing but its start."""
    done = in_process(*arguments, cwd=folder)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def given(tmp_path_factory) -> Path:
    """A head, latents of ten images, and what explaining them gives."""
    folder = tmp_path_factory.mktemp("given")
    head = small_head("euclidean")
    head.save(folder / "head")
    save_latents(folder / "latents", small_latents(head, images=10), labels=[n % 3 for n in range(10)])
    assert again(folder, "explain", *INPUT)[0] == 0
    return folder


@pytest.fixture
def folder(given: Path, tmp_path: Path) -> Path:
    for name in ("head", "latents"):
        shutil.copy(given / name, tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a run, without its times, and without the digest of the table, which has them."""
    found = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
    noted = found["files.json"].splitlines()
    found["files.json"] = b"\n".join(line for line in noted if b"explanations.csv" not in line)
    lines = found["explanations.csv"].decode().splitlines()
    time = re.compile(r",\d+\.\d+(,[\d.]+,[^,]+,(?:projection|top_k|mixed))")
    return found | {"explanations.csv": "\n".join(time.sub(r"\1", line) for line in lines).encode()}


def sleeping(folder: Path, start: int) -> None:
    """Let a run say that a batch begins, and sleep instead of explaining it."""
    (folder / "sitecustomize.py").write_text(
        "import sys, time\n"
        "from verale.runs.parts import Explainer\n"
        "explain = Explainer.part\n"
        "def slow(self, batches, images, first, labels):\n"
        f"    if first == {start}:\n"
        "        open('begun', 'w').close()\n"
        "        time.sleep(600)\n"
        "    return explain(self, batches, images, first, labels)\n"
        "Explainer.part = slow\n"
    )


@pytest.mark.parametrize(
    ("number", "done"),
    [
        (signal.SIGINT, 8),
        # A process more each.
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in ((signal.SIGINT, 0), (signal.SIGKILL, 4), (signal.SIGKILL, 0))
        ),
    ],
)
def test_an_interrupted_run_goes_on_where_it_was(number, done, folder, given) -> None:
    sleeping(folder, done)
    process = started("explain", *INPUT, "--jobs", "1", cwd=folder)
    wait_until(process, (folder / "begun").exists)
    process.send_signal(number)
    _, err = process.communicate(timeout=600)
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert err == f"interrupted: {done} of 10 images are explained; the same command continues\n"
    assert len(list((folder / "out").glob("*.ale.json"))) == done
    (folder / "sitecustomize.py").unlink()
    times = {path: path.stat().st_mtime_ns for path in (folder / "out").glob("*.ale.json")}
    code, out, err = again(folder, "explain", *INPUT)
    told = [f"{done} of 10 images are explained in out already: {10 - done} are left"] * (done > 0)
    assert (code, out, err.splitlines()) == (0, "", [*told, "10 of 10 images have a certificate in out", UNCOMPARED])
    assert contents(folder) == contents(given)
    assert {path: path.stat().st_mtime_ns for path in times} == times
    code, _, err = again(folder, "explain", *INPUT)
    assert code == 0
    assert err.splitlines()[0] == "10 of 10 images are explained in out already: nothing is left to do"


def started_in(folder: Path) -> list[int]:
    """What `started` runs in a folder, and the processes that it started; those that have just ended count no more.

    They are known by their environment: where a process is may change while it imports.
    """
    numbers = []
    for each in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"PYTHONPATH={folder}".encode() in (each / "environ").read_bytes():
                numbers.append(int(each.name))
    return numbers


@pytest.mark.long  # several processes; one alone is interrupted above
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no process tells its environment")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_several_processes_are_interrupted_together(number, folder, given) -> None:
    sleeping(folder, 4)
    process = started("explain", *INPUT, "--jobs", "2", cwd=folder)
    wait_until(process, (folder / "begun").exists)
    assert len(started_in(folder)) == 2
    process.send_signal(number)
    _, err = process.communicate(timeout=600)
    done = len(read_table(folder / "out" / "explanations.csv", whole=False))
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert err == f"interrupted: {done} of 10 images are explained; the same command continues\n"
    while started_in(folder):  # of a process that is killed, the other one is told by the end of what it reads
        time.sleep(0.02)
    (folder / "sitecustomize.py").unlink()
    times = {path: path.stat().st_mtime_ns for path in (folder / "out").glob("*.ale.json")}
    code, out, err = again(folder, "explain", *INPUT)
    assert (code, out) == (0, "")
    assert err.splitlines()[0] == f"{done} of 10 images are explained in out already: {10 - done} are left"
    assert contents(folder) == contents(given)
    assert {path: path.stat().st_mtime_ns for path in times} == times


def test_a_full_disk_loses_nothing_that_counts(folder, given) -> None:
    allowed, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3500, most))
    try:
        code, _, err = again(folder, "explain", *INPUT)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (allowed, most))
    assert code == 9
    assert err == "error: out/files.json: cannot be written (File too large); free some space, then " \
                  "the same command continues\n"  # fmt: skip
    assert (folder / "out" / "files.json").stat().st_size == 3500, "a line is cut short"
    code, _, err = again(folder, "explain", *INPUT)
    assert code == 0 and "images are explained in out already" in err
    assert contents(folder) == contents(given)


@pytest.mark.parametrize("module", ["verale.cli", "verale.version", "torch"])
def test_an_interrupt_before_anything_is_written_is_one_line(module: str, folder) -> None:
    """While modules are imported: torch takes seconds, the command line itself tenths."""
    (folder / "sitecustomize.py").write_text(
        "import sys, time\n"
        "class Slow:\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == {module!r}:\n"
        "            open('begun', 'w').close()\n"
        "            time.sleep(600)\n"
        "sys.meta_path.insert(0, Slow())\n"
    )
    process = started("explain", *INPUT, "--jobs", "1", cwd=folder)
    wait_until(process, (folder / "begun").exists)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")
    assert not (folder / "out").exists()


def test_piped_it_is_quiet_and_json_is_an_object_an_image_and_v_logs_with_times(folder, given) -> None:
    code, out, err = again(folder, "explain", *INPUT, "--json")
    assert (code, err) == (0, f"10 of 10 images have a certificate in out\n{UNCOMPARED}\n")
    records = [json.loads(line) for line in out.splitlines()]
    assert [record["index"] for record in records] == list(range(10))
    assert all((folder / record["certificate"]).exists() for record in records)
    assert [record["label"] for record in records] == [n % 3 for n in range(10)]
    _, out, _ = again(folder, "explain", *INPUT, "--json")
    assert [json.loads(line) for line in out.splitlines()] == records
    _, out, err = again(folder, "explain", *INPUT, "--overwrite", "--jobs", "1", "-v")
    logged = r"^\d{4}-\d\d-\d\d [\d:,]+ INFO verale\.runs\.explain: images 4 to 7: [\d.]+ s$"
    assert out == "" and re.search(logged, err, re.MULTILINE)


def test_without_a_command_there_is_help(tmp_path) -> None:
    code, out, err = again(tmp_path)
    assert code in (0, 2)
    assert "Explain:\n  explain" in out + err and "error:" not in err


MISSING = ("torch", "numpy", "safetensors", "PIL", "yaml")


@contextmanager
def torch_missing(**environment: str) -> Iterator[None]:
    """In this process, nothing of that can be imported meanwhile."""
    with patch.dict(sys.modules, dict.fromkeys(MISSING)), patch.dict(os.environ, environment):
        yield


def test_a_core_installation_has_doctor_summary_and_compare(given, tmp_path) -> None:
    """As a process of one, tests/packaging has them, and what explains is refused there."""
    with torch_missing():
        out = again(tmp_path, "doctor", "--json")[1]
        assert json.loads(out)["devices"] == [{"name": "cpu", "usable": False, "detail": "torch is not installed"}]
        for command in (("compare", "out", "out"), ("summary", "out", "--by", "prototype")):
            assert again(given, *command)[0] == 0


def completed(folder: Path, line: str) -> list[str]:
    """What bash is told when a line is completed, by its environment; torch cannot be loaded meanwhile."""
    words = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    with torch_missing(_VERALE_COMPLETE="bash_complete", **words):
        _, out, err = again(folder)
    assert err == ""
    return [each.split(",")[1] for each in out.splitlines()]


def test_shells_complete_commands_options_and_names(tmp_path) -> None:
    assert {"audit", "explain", "summary", "doctor"} <= set(completed(tmp_path, "verale "))
    assert completed(tmp_path, "verale explain --par") == ["--paradigm"]
    assert completed(tmp_path, "verale explain --paradigm s") == ["simplex", "sparse"]
    assert completed(tmp_path, "verale explain --order ") == ["rival", "nearest", "highest"]
    assert completed(tmp_path, "verale explain --device c") == ["cpu", "cuda"]
    assert completed(tmp_path, "verale audit --kernel m") == ["mpmath"]
    assert completed(tmp_path, "verale completion z") == ["zsh"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_say_where_they_go(shell, tmp_path) -> None:
    code, out, _ = again(tmp_path, "completion", shell)
    assert code == 0 and "_VERALE_COMPLETE" in out
    assert out.splitlines()[-1].startswith(f"# To install: verale completion {shell} > ")
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=out, text=True, timeout=60).returncode == 0
