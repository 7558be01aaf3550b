"""Workers of Ray import the verale of the process that asks, or nothing."""

from __future__ import annotations

import logging
import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import ray

from verale.errors import VeraleError
from verale.runs.workers import local
from verale.runs.workers import ray as pipeline
from verale.runs.workers.ray import Worker, arguments_of_worker, sources_digest


def doubling(times: int):
    """A job."""
    return lambda number: times * number


def arguments() -> dict[str, object]:
    return arguments_of_worker((doubling, (2,)), logging.INFO, "")


def test_ray_is_started_where_there_is_nothing_to_import(monkeypatch, tmp_path) -> None:
    """Ray puts the folder in which it is started first on its workers' path."""
    seen = {}
    for name, value in {"is_initialized": False, "shutdown": None, "cluster_resources": {"CPU": 2}}.items():
        monkeypatch.setattr(ray, name, lambda value=value: value)
    init = lambda **options: seen.update(cwd=Path.cwd(), there=os.listdir(), mode=os.stat(".").st_mode & 0o777)  # noqa: E731
    monkeypatch.setattr(ray, "init", init)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "verale").mkdir()
    with pipeline.start_ray():
        assert seen["there"] == [] and seen["cwd"] != tmp_path and seen["mode"] == 0o700
        assert Path.cwd() == tmp_path and seen["cwd"].is_dir(), "workers have it on their path"
    assert not seen["cwd"].exists()


def test_a_worker_with_the_same_sources_works(monkeypatch) -> None:
    monkeypatch.setattr(local, "log_to", lambda send, level: send("logged"))
    worker = Worker(**arguments())
    assert worker.ready() and worker.ask(pickle.dumps((3,))) == (6, ["logged"], "")
    assert worker.ask(pickle.dumps((3,))) == (6, [], "")


WORKER = """
import pickle, sys
kind, arguments = pickle.load(open(sys.argv[1], "rb"))
sys.path.insert(0, sys.argv[2])
print(kind(**arguments).ask(b""))
print([name for name in sys.modules if name.split(".")[0] == "verale"])
"""


def test_a_worker_that_would_import_other_sources_imports_none(tmp_path) -> None:
    """As a process of Ray does, where somebody's folder is first on its path."""
    marker = tmp_path / "ran"
    (tmp_path / "verale").mkdir()
    (tmp_path / "verale" / "__init__.py").write_text(f"open({str(marker)!r}, 'w')")
    given = arguments()
    (tmp_path / "pickled").write_bytes(ray.cloudpickle.dumps((Worker, given)))
    program = [sys.executable, "-c", WORKER, tmp_path / "pickled", tmp_path]
    done = subprocess.run(program, capture_output=True, text=True, timeout=120)
    assert f"workers of this Ray import {tmp_path / 'verale'}, but this process" in done.stdout, done.stderr
    assert done.stdout.startswith("(None, [], ")
    assert done.stdout.endswith("[]\n") and not marker.exists()


def test_what_such_a_worker_answers_ends_the_run(monkeypatch) -> None:
    worker = Worker(**arguments() | {"sha256": "0" * 64})
    process = pipeline.RayProcess(pipeline.Workers(1))
    process._actor = SimpleNamespace(ask=SimpleNamespace(remote=worker.ask))
    monkeypatch.setattr(ray, "get", lambda answer: answer)
    with pytest.raises(VeraleError, match="start Ray in a folder that holds no verale"):
        process.ask((1,))


def test_the_name_of_a_module_is_no_other_module(tmp_path) -> None:
    """A name with a line feed was the name of one module, and the beginning of another one."""
    for folder, files in (("two", {"a.py": "", "b.py": "x = 1"}), ("one", {"a.py 0\nb.py": "x = 1"})):
        for name, text in files.items():
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / name).write_text(text)
    assert sources_digest(tmp_path / "one") != sources_digest(tmp_path / "two")
