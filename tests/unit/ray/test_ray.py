"""Ray itself: workers that are killed, and the commands."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import pytest
import ray.cloudpickle
from click.testing import CliRunner

from verale.cli.audit import command as audit_command
from verale.cli.explain import command as explain_command
from verale.datasets.certificates import packed_certificates
from verale.datasets.latents import open_latents
from verale.errors import UsageError
from verale.head import Head
from verale.runs import audit_dataset as audit
from verale.runs import explain_dataset as explain
from verale.runs.auditor import AuditOptions
from verale.runs.parts import Explainer
from verale.runs.processes import DIED
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
    run = explain.explain_latents(Explainer(Head.load(given.head), Search(batch=4)), latents, out, workers)
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
    run = audit.audit_rows(given.packed, AuditOptions(given.head), str(tmp_path / "report"), workers)
    outcomes = [outcome for part in run.parts for outcome in part.result]
    assert [outcome.record["certificate"][-15:] for outcome in outcomes] == [f"{n:06d}.ale.json" for n in range(40)]
    assert [outcome.exit_code for outcome in outcomes] == [0] * 38 + [9, 0]
    assert outcomes[38].record["message"] == DIED


@pytest.mark.long  # Ray starts twice; test_pipeline.py has the same without Ray
def test_the_commands(given, tmp_path, workers):
    head = ["--head", given.head, "--latents", given.latents]
    out, report, with_ray = str(tmp_path / "out"), str(tmp_path / "report.parquet"), ["--engine", "ray", "--workers"]
    arguments = [*head, "--out", out, "--paradigm", "projection", "--batch", "4", *with_ray, "1"]
    done = CliRunner().invoke(explain_command, arguments, catch_exceptions=False)
    assert (done.exit_code, done.stdout) == (0, "")
    said = f"40 of 40 images have a certificate in {out}/certificates.parquet\n"
    assert done.stderr == said + "the head was not compared with the network (verale head compare)\n"
    assert [one.read() for one in packed_certificates(f"{out}/certificates.parquet")[0]] == given.certificates

    arguments = [f"{out}/certificates.parquet", *head, "--report", report, *with_ray, "2"]
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
