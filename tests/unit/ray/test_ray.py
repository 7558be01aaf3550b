"""Ray itself: workers that are killed, and the commands."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import ray.cloudpickle
from click.testing import CliRunner
from ray.exceptions import GetTimeoutError, ObjectStoreFullError, OutOfDiskError, RaySystemError, RayTaskError

from verale.cli.audit import command as audit_command
from verale.cli.explain import command as explain_command
from verale.datasets.certificates import packed_certificates
from verale.datasets.latents import open_latents
from verale.errors import UsageError, VeraleError
from verale.head import Head
from verale.runs import audit_dataset as audit
from verale.runs import explain_dataset as explain
from verale.runs.auditor import AuditSetup
from verale.runs.parts import Explainer
from verale.runs.processes import DIED
from verale.runs.store.parquet import StagedDataset
from verale.runs.workers import ray as pipeline
from verale.search import SearchOptions as Search

ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])


class Once(explain._ExplainLatents):
    """Kills its process at image 21, the first time."""

    def __call__(self, start, stop):
        marker = Path(self._latents.path + ".killed")
        if start <= 21 < stop and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(start, stop)


@pytest.mark.long  # Ray starts workers again; test_pipeline.py has the same without Ray
def test_a_killed_worker_loses_nothing_and_changes_no_byte(given, tmp_path, workers, monkeypatch, caplog, capfd):
    monkeypatch.setattr(explain, "_ExplainLatents", Once)
    (tmp_path / "latents").write_bytes(Path(given.latents).read_bytes())
    out, latents = str(tmp_path / "out.parquet"), open_latents(str(tmp_path / "latents"))
    run = explain.explain_latents(
        Explainer(Head.load(given.head), Search("projection", batch=4)), latents, out, workers
    )
    parts = list(run.parts())
    assert [(one.start, one.stop) for one in parts] == [(n, n + 8) for n in range(0, 40, 8)]
    assert all(row.certificate for part in parts for row in part.result)
    assert (tmp_path / "latents.killed").exists()
    assert [one.read() for one in packed_certificates(out)[0]] == given.certificates
    assert "a worker died at 16 to 23, begun again" in caplog.text
    assert capfd.readouterr().out == ""
    assert not (tmp_path / "out.parquet.partial").exists()


class Always(audit._AuditRows):
    """Kills its process at certificate 38, every time."""

    def __call__(self, start, stop):
        if start <= 38 < stop:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(start, stop)


@pytest.mark.long  # seven workers die and are started again; test_pipeline.py has the same without Ray
def test_a_certificate_that_kills_every_worker_is_an_outcome(given, tmp_path, workers, monkeypatch):
    monkeypatch.setattr(audit, "_AuditRows", Always)
    run = audit.audit_rows(given.packed, AuditSetup(given.head), str(tmp_path / "report"), workers)
    outcomes = [outcome for part in run.parts for outcome in part.result]
    assert [outcome.record["certificate"][-15:] for outcome in outcomes] == [f"{n:06d}.ale.json" for n in range(40)]
    assert [outcome.exit_code for outcome in outcomes] == [0] * 38 + [9, 0]
    assert outcomes[38].record["message"] == DIED


@pytest.mark.long  # Ray starts twice; test_pipeline.py has the same without Ray
def test_the_commands(given, tmp_path, workers):
    head = ["--head", given.head, "--latents", given.latents]
    out, report, with_ray = str(tmp_path / "out"), str(tmp_path / "report.parquet"), ["--engine", "ray", "--jobs"]
    arguments = [*head, "--out", out, "--paradigm", "projection", "--batch", "4", *with_ray, "1"]
    done = CliRunner().invoke(explain_command, arguments, catch_exceptions=False)
    assert (done.exit_code, done.stdout) == (0, "")
    said = f"40 of 40 images have a certificate in {out}/certificates.parquet\n"
    assert done.stderr == said + "the head was not compared with the network (verale head compare)\n"
    assert [one.read() for one in packed_certificates(f"{out}/certificates.parquet")[0]] == given.certificates

    arguments = [f"{out}/certificates.parquet", *head, "--log", report, *with_ray, "2"]
    done = CliRunner().invoke(audit_command, arguments, catch_exceptions=False)
    assert (done.exit_code, done.stderr) == (0, "")
    here = CliRunner().invoke(audit_command, arguments[:5], catch_exceptions=False)
    assert (here.exit_code, here.stdout) == (0, done.stdout)
    assert done.stdout.count("PROVED ") == 40


def test_a_device_that_no_worker_has(monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: True)
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 2.0})
    with pytest.raises(UsageError, match="no GPU"), pipeline.start_ray(1, device="cuda"):
        pass
    with pytest.raises(UsageError, match="auto, cpu or cuda"), pipeline.start_ray(1, device="mps"):
        pass


def test_a_prefetcher_whose_rows_are_not_read_any_more_ends() -> None:
    """Ray Data does not tell it to: an interrupted run waited for it as long as it waits for anything."""
    from ray.data._internal.block_batching.util import WaitBlockPrefetcher

    before = set(threading.enumerate())
    prefetcher = WaitBlockPrefetcher()
    (thread,) = set(threading.enumerate()) - before
    assert thread.name == "Prefetcher" and not prefetcher._stopped
    pipeline._end_threads()
    assert not thread.is_alive()


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster whose CPUs are taken, without Ray; and the time for workers to start ends when their work does."""

    class Timer:
        def __init__(self, seconds: float, function: Callable[[], None]) -> None:
            assert seconds == pipeline._LATE
            self.cancel = function

        def start(self) -> None:
            pass

        join = start

    monkeypatch.setattr(threading, "Timer", Timer)
    monkeypatch.setattr(ray, "available_resources", lambda: {"memory": 1e9, "object_store_memory": 2e6})
    monkeypatch.setattr(
        ray, "cluster_resources", lambda: {"CPU": 2.0, "memory": 2e9, "object_store_memory": 8e7, "node:here": 1.0}
    )


FULL = (
    "each of 3 takes a CPU, and Ray has 0 of 2 CPUs, 2 of 80 MB of the object store free; end what holds the rest, or"
    " use fewer jobs"
)


@pytest.mark.parametrize("begins", [False, True])
def test_workers_that_start_late_are_told_of_once_and_those_that_work_long_are_not(
    begins, full, tmp_path, caplog
) -> None:
    staged = StagedDataset.begin(str(tmp_path / "out.parquet"), {})
    assert staged.attempt(0, 8) == 1  # by another round of workers
    with pipeline._shortage_told(staged, pipeline.Workers(3)):
        if begins:
            staged.attempt(8, 12)
    said = [] if begins else [f"no worker has begun after 60 s, though one may still start: {FULL}"]
    assert [record.getMessage() for record in caplog.records] == said


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (GetTimeoutError("Timed out while starting actors. So."), f"(GetTimeoutError: Timed out ... So): {FULL}"),
        (OutOfDiskError("Local disk is full\nThe object"), f"(OutOfDiskError: Local disk is full): {FULL}"),
        (
            RayTaskError("work", "Traceback\n  ...", OutOfDiskError("Local disk is full\n")).as_instanceof_cause(),
            f"(OutOfDiskError: Local disk is full): {FULL}",
        ),
        (ObjectStoreFullError("no place"), f"(ObjectStoreFullError: no place): {FULL}"),
        (RaySystemError("gone"), "(RaySystemError: System error: gone)"),
    ],
)
def test_an_error_of_ray_is_one_line_that_says_what_is_free(error, message, full, tmp_path) -> None:
    staged = StagedDataset.begin(str(tmp_path / "out.parquet"), {})
    with pytest.raises(VeraleError) as raised, pipeline._shortage_told(staged, pipeline.Workers(3)):
        raise error
    assert str(raised.value).replace("while starting actors.", "...") == f"Ray failed {message}"


@pytest.mark.long  # Ray starts; those above are the same without it
def test_workers_start_when_what_holds_the_cpus_ends(given, tmp_path, workers, monkeypatch) -> None:
    holders = [ray.remote(num_cpus=1)(threading.Event).remote() for _ in range(2)]
    ray.get([holder.is_set.remote() for holder in holders])
    said = []

    def warning(*arguments: object) -> None:
        said.append(arguments[0] % arguments[1:])
        for holder in holders:
            ray.kill(holder)

    monkeypatch.setattr(pipeline, "_LATE", 1)
    monkeypatch.setattr(pipeline._log, "warning", warning)
    out = str(tmp_path / "out.parquet")
    explainer = Explainer(Head.load(given.head), Search("projection", batch=4))
    run = explain.explain_latents(explainer, open_latents(given.latents), out, workers)
    assert sum(len(part.result) for part in run.parts()) == 40
    (line,) = said
    assert line.startswith("no worker has begun after 1 s, though one may still start: each of 2 takes a CPU, ")
    assert [one.read() for one in packed_certificates(out)[0]] == given.certificates
