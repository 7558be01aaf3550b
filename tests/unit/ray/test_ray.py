"""Ray itself: workers that are killed, the commands, and what is said where workers do not start."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import ray.cloudpickle
from ray.exceptions import GetTimeoutError, ObjectStoreFullError, OutOfDiskError, RaySystemError, RayTaskError
from support.commands import in_process as verale

from verale.errors import UsageError, VeraleError
from verale.files import certificates_in
from verale.runs.workers import ray as pipeline
from verale.runs.workers.local import Processes

ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])


def create(folder: str) -> Callable[[int], int]:
    """A job that kills its process at 3, the first time, and fails at 5."""

    def work(number: int) -> int:
        marker = Path(folder) / "killed"
        if number == 3 and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return 10 // (5 - number)

    return work


@pytest.mark.long  # Ray starts
def test_processes_of_a_cluster_are_as_those_of_this_machine(ray_itself, tmp_path, capfd) -> None:
    from collections import deque

    with pipeline.start_ray(2) as cluster:
        todo = deque(range(7))
        with Processes(create, (str(tmp_path),), todo, lambda number: (number,), cluster) as workers:
            assert workers.start(2)
            workers.begin()
            done = {}
            while len(done) < 7:
                one = workers.awaited()
                if one.died:
                    assert one.task == 3
                    todo.append(3)
                    assert workers.start(1)
                    continue
                done[one.task] = one.result
    assert done == {0: 2, 1: 2, 2: 3, 3: 5, 4: 10, 5: None, 6: -10}
    assert capfd.readouterr().out == ""


@pytest.mark.long  # Ray starts
def test_the_commands(given, tmp_path, ray_itself) -> None:
    head = ["--head", given.head, "--latents", given.latents]
    made = [*head, "--out", "out", "--paradigm", "projection", "--batch", "4", "--engine", "ray", "--jobs", "2"]
    done = verale("explain", *made, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr.startswith("40 of 40 images have a certificate in out\n")
    assert [path.read_bytes() for path in certificates_in(tmp_path / "out")] == given.certificates
    proved = verale("audit", "out", "--engine", "ray", "--jobs", "2", cwd=tmp_path)
    here = verale("audit", "out", cwd=tmp_path)
    assert (proved.returncode, proved.stdout.count("PROVED "), proved.stderr) == (0, 40, here.stderr)


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster whose CPUs are taken, without Ray."""
    monkeypatch.setattr(ray, "available_resources", lambda: {"memory": 1e9, "object_store_memory": 2e6})
    monkeypatch.setattr(
        ray, "cluster_resources", lambda: {"CPU": 2.0, "memory": 2e9, "object_store_memory": 8e7, "node:here": 1.0}
    )


FULL = (
    "each of 3 takes a CPU, and Ray has 0 of 2 CPUs, 2 of 80 MB of the object store free; end what holds the rest, or"
    " use fewer jobs"
)


def test_workers_that_start_late_are_told_of_once(full, caplog) -> None:
    workers = pipeline.Workers(3)
    for _ in range(2):
        workers.tell_late()
    said = f"no worker has begun after 60 s, though one may still start: {FULL}"
    assert [record.getMessage() for record in caplog.records] == [said]


@pytest.mark.parametrize("begins", [False, True])
def test_a_worker_is_late_until_one_has_begun(begins, full, monkeypatch, caplog) -> None:
    ready = iter([[], [True]])
    actor = SimpleNamespace(ready=SimpleNamespace(remote=lambda: None))
    made = SimpleNamespace(options=lambda **each: SimpleNamespace(remote=lambda **arguments: actor))
    monkeypatch.setattr(ray, "remote", lambda kind: made)
    monkeypatch.setattr(ray, "wait", lambda awaited, timeout: [next(ready)])
    monkeypatch.setattr(ray, "get", lambda answer: answer)
    monkeypatch.setattr(pipeline, "_LATE", -1)
    workers = pipeline.Workers(3)
    if begins:
        workers.settled.acquire()
    workers.process().begin((create, ("",)), 20)
    workers.tell_late()
    assert len(caplog.records) == (not begins)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (GetTimeoutError("Timed out. So."), "(GetTimeoutError: Timed out. So)"),
        (OutOfDiskError("Local disk is full\nThe object"), "(OutOfDiskError: Local disk is full)"),
        (
            RayTaskError("work", "Traceback\n  ...", OutOfDiskError("Local disk is full\n")).as_instanceof_cause(),
            "(OutOfDiskError: Local disk is full)",
        ),
        (ObjectStoreFullError("no place"), "(ObjectStoreFullError: no place)"),
        (RaySystemError("gone"), "(RaySystemError: System error: gone)"),
    ],
)
def test_an_error_of_ray_is_one_line_that_says_what_is_free(error, message, full) -> None:
    class Actor:
        @property
        def ask(self) -> Actor:
            raise error

    process = pipeline.RayProcess(pipeline.Workers(3))
    process._actor = Actor()
    with pytest.raises(VeraleError) as raised:
        process.ask(())
    assert str(raised.value) == f"Ray failed {message}: {FULL}"


@pytest.mark.long  # Ray starts
def test_without_a_gpu_none_is_used(ray_itself) -> None:
    with pytest.raises(UsageError, match="Ray knows of no GPU"), pipeline.start_ray(2, gpus=True):
        pass


@pytest.mark.long  # Ray starts
def test_each_worker_has_a_gpu_where_one_is_needed(tmp_path) -> None:
    """Ray is told of GPUs that this machine need not have: it shares them out, and nothing computes on them."""
    script = """if True:
        import os
        from collections import deque
        import ray
        from verale.runs.workers.local import Processes
        from verale.runs.workers.ray import start_ray

        def job():
            return lambda number: os.environ["CUDA_VISIBLE_DEVICES"]

        started = ray.init
        ray.init = lambda **options: started(**options, num_gpus=2)
        todo = deque([0, 1])
        with start_ray(4, gpus=True) as cluster, Processes(job, (), todo, lambda number: (number,), cluster) as workers:
            assert workers.start(cluster.size)
            workers.begin()
            print(cluster.size, sorted(workers.awaited().result for _ in range(2)))
        """
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and re.fullmatch(r"2 \['[01]', '[01]'\]\n", done.stdout), done.stderr
