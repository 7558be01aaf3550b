"""Ray itself: workers that are killed, the commands, and what is said where workers do not start."""

from __future__ import annotations

import logging
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import ray
import ray.cloudpickle
from ray.exceptions import GetTimeoutError, ObjectStoreFullError, OutOfDiskError, RaySystemError, RayTaskError
from support.commands import in_process as verale

from verale.errors import UsageError, VeraleError
from verale.files import certificates_in
from verale.head import Head, load_latents, save_latents
from verale.runs.workers import local
from verale.runs.workers import ray as pipeline
from verale.runs.workers.local import Processes
from verale.runs.workers.ray import Worker, arguments_of_worker, sources_digest
from verale.search.explain import explain

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
    for before in (None, "", "a"):
        monkeypatch.delenv("PYTHONPATH", raising=False)
        if before is not None:
            monkeypatch.setenv("PYTHONPATH", before)
        with pipeline.start_ray():
            assert seen["there"] == [] and seen["cwd"] != tmp_path and seen["mode"] == 0o700
            assert Path.cwd() == tmp_path and seen["cwd"].is_dir(), "workers have it on their path"
            assert os.environ["PYTHONPATH"] == (f"a{os.pathsep}{ROOT}" if before else str(ROOT))
        assert not seen["cwd"].exists() and os.environ.get("PYTHONPATH") == before


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


ROOT = Path(__file__).parents[3]
TIMES = 8
"""How often the forty images of `given` are explained."""

SMALL: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 * 2**20}


@pytest.fixture
def cluster(monkeypatch) -> Iterator[Any]:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray's own
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args={**SMALL, "include_dashboard": False})
        try:
            yield cluster
        finally:
            cluster.shutdown()


def started(folder: Path, address: str) -> subprocess.Popen[str]:
    """The command."""
    arguments = ["--engine", "ray", "--address", address, "--head", "head", "--latents", "latents", "--out", "out"]
    return subprocess.Popen(
        [sys.executable, "-m", "verale", "explain", *arguments, "--paradigm", "projection", "--batch", "4"],
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )


def wait_for_certificates(folder: Path, process: subprocess.Popen[str], number: int) -> None:
    """Until so many are written. Fails if the command ends before."""
    while not (folder / "out").is_dir() or len(certificates_in(folder / "out")) < number:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


@pytest.fixture
def folder(given, tmp_path: Path) -> Path:
    (tmp_path / "head").write_bytes(Path(given.head).read_bytes())
    save_latents(tmp_path / "latents", load_latents(given.latents).repeat(TIMES, 1, 1))
    return tmp_path


def require_whole(folder: Path) -> None:
    """Every image has one certificate, with the bytes of the local run."""
    latents = load_latents(folder / "latents")
    here = [one.to_bytes() for one in explain(Head.load(folder / "head"), latents, "projection", batch=4)]
    assert [path.read_bytes() for path in certificates_in(folder / "out")] == here


def node_of_driver(cluster: Any) -> str:
    """The node that the command talks to, any of those on this machine: it cannot do without that one."""
    from ray._private.state import GlobalState
    from ray._raylet import GcsClientOptions
    from ray.core.generated import common_pb2, gcs_pb2

    state = GlobalState()
    state._initialize_global_state(GcsClientOptions.create(cluster.address, None, True, False))
    state._check_connected()
    rows = map(gcs_pb2.WorkerTableData.FromString, state.global_state_accessor.get_worker_table())
    (driver,) = (row for row in rows if row.is_alive and row.worker_type == common_pb2.DRIVER)
    return str(driver.worker_address.raylet_id.hex())


@pytest.mark.long  # Ray starts three nodes
def test_a_node_that_dies_loses_nothing(cluster, folder) -> None:
    added = [cluster.add_node(**SMALL) for _ in range(2)]
    process = started(folder, cluster.address)
    wait_for_certificates(folder, process, 12)
    own = node_of_driver(cluster)
    cluster.remove_node(next(node for node in added if node.node_id != own), allow_graceful=False)
    assert process.poll() is None, "it was over before the node died"
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out) == (0, ""), err
    assert f"{40 * TIMES} of {40 * TIMES} images have a certificate" in err
    require_whole(folder)


@pytest.mark.long  # Ray starts three nodes
def test_an_interrupted_run_on_a_cluster_continues(cluster, folder) -> None:
    process = started(folder, cluster.address)
    wait_for_certificates(folder, process, 12)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out) == (130, ""), err
    said = re.search(rf"interrupted: (\d+) of {40 * TIMES} images are explained; the same command continues\n$", err)
    assert said and "WARNING" not in err, err
    assert 0 < int(said[1]) < 40 * TIMES
    again = started(folder, cluster.address)
    _, err = again.communicate(timeout=600)
    assert again.returncode == 0, err
    assert f"{said[1]} of {40 * TIMES} images are explained in out already" in err
    require_whole(folder)


def test_an_address_where_nobody_answers_is_an_error_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    for address in (f"127.0.0.1:{port}", f"ray://127.0.0.1:{port}", "host.invalid:6379", "127.0.0.1:99999"):
        with pytest.raises(UsageError, match=r"Ray cannot be used at .*nobody answers.*is `ray start --head` running"):
            pipeline._require_answer(address)
    for address in ("auto", "local", "10.0.0.1", "[::1]"):
        pipeline._require_answer(address)


def test_an_address_where_something_else_answers_is_an_error_within_seconds(capfd, tmp_path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        pipeline._require_answer(address)
        with pytest.raises(UsageError, match="who answers is not Ray"):
            pipeline._connect(address, 1, str(tmp_path))
    assert capfd.readouterr().err == ""


def test_the_address_is_tried_before_ray_is_loaded(monkeypatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "host.invalid:1")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"'host\.invalid:1' \(nobody answers"), pipeline.start_ray(1):
        pass
