"""A cluster of three nodes on this machine: one dies in the middle, or nobody answers."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from verale.certificate import Certificate
from verale.datasets.certificates import packed_certificates
from verale.errors import UsageError
from verale.head import Head, load_latents, save_latents
from verale.runs.workers import ray as pipeline
from verale.search.explain import explain

ROOT = Path(__file__).parents[3]
TIMES = 40
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


HELD = """
import os
import sys
import time
from pathlib import Path
os.environ["RAY_ENABLE_AUTO_CONNECT"] = "0"  # as the command sets it before it imports Ray
import ray
from ray.data._internal.execution.streaming_executor import StreamingExecutor
from verale.cli import main

step = StreamingExecutor._scheduling_loop_step
seconds = int(sys.argv.pop(1))

def held_step(executor, topology):
    goes_on = step(executor, topology)
    if len(list(Path("out/certificates.parquet.partial").glob("part-*"))) >= 3 and not Path("go").exists():
        while not (executor._shutdown or Path("go").exists()):
            time.sleep(0.05)
        for _ in range(10 * seconds):
            time.sleep(0.1)
            ray.get(ray.put(0))
    return goes_on

StreamingExecutor._scheduling_loop_step = held_step
main()
"""
"""The command, where the thread of Ray Data stays in the middle of the run until it is told to end, or until there is a
file `go`. Then it goes on with Ray for some seconds; Ray Data waits two for it."""


def started(folder: Path, address: str, late: int | None = None) -> subprocess.Popen[str]:
    """The command; one that is held, if it is said how many seconds it then goes on."""
    arguments = ["--engine", "ray", "--address", address, "--head", "head", "--latents", "latents", "--out", "out"]
    program = ["-m", "verale"] if late is None else ["-c", HELD, str(late)]
    return subprocess.Popen(
        [sys.executable, *program, "explain", *arguments, "--paradigm", "projection", "--batch", "4"],
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )


def parts(folder: Path) -> list[Path]:
    return list((folder / "out" / "certificates.parquet.partial").glob("part-*"))


def wait_for_parts(folder: Path, process: subprocess.Popen[str], number: int) -> None:
    """Until so many parts are written. Fails if the command ends before."""
    while len(parts(folder)) < number:
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
    there, without = packed_certificates(str(folder / "out" / "certificates.parquet"))
    assert without == 0 and [one.read() for one in there] == here
    assert all(isinstance(Certificate.from_bytes(each), Certificate) for each in here)


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
    process = started(folder, cluster.address, late=0)
    wait_for_parts(folder, process, 3)
    own = node_of_driver(cluster)
    cluster.remove_node(next(node for node in added if node.node_id != own), allow_graceful=False)
    assert process.poll() is None, "it was over before the node died"
    (folder / "go").touch()
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out) == (0, ""), err
    assert f"{40 * TIMES} of {40 * TIMES} images have a certificate" in err
    require_whole(folder)


def interrupt(folder: Path, address: str, late: int) -> None:
    """Interrupt a run in the middle, and require that it says so, and that another call completes it."""
    process = started(folder, address, late)
    wait_for_parts(folder, process, 3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out) == (130, ""), err
    said = re.search(
        rf"interrupted: (\d+) of {40 * TIMES} images are explained; the same command continues\n$",
        err,
    )
    assert said and "WARNING" not in err, err
    kept = {path.name: path.read_bytes() for path in parts(folder)}
    images = sum(pq.read_metadata(path).num_rows for path in parts(folder))
    assert int(said[1]) <= images and int(said[1]) < 40 * TIMES
    again = started(folder, address)
    _, err = again.communicate(timeout=600)
    assert again.returncode == 0, err
    assert f"{images} of {40 * TIMES} images are explained in out/certificates.parquet.partial already" in err
    whole = folder / "out" / "certificates.parquet"
    assert kept and all((whole / name).read_bytes() == data for name, data in kept.items())
    require_whole(folder)


@pytest.mark.long  # Ray starts three nodes
def test_an_interrupted_run_on_a_cluster_continues(cluster, folder) -> None:
    """Ray Data goes on for longer than it is waited for; test_resume.py interrupts runs that end at once."""
    for _ in range(2):
        cluster.add_node(**SMALL)
    interrupt(folder, cluster.address, late=6)


def test_an_address_where_nobody_answers_is_an_error_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    for address in (f"127.0.0.1:{port}", f"ray://127.0.0.1:{port}", "host.invalid:6379", "127.0.0.1:99999"):
        with pytest.raises(UsageError, match=r"Ray cannot be used at .*nobody answers.*is `ray start --head` running"):
            pipeline._require_answer(address)
    for address in ("auto", "local", "10.0.0.1", "[::1]"):
        pipeline._require_answer(address)


def test_an_address_where_something_else_answers_is_an_error_within_seconds(capfd) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        pipeline._require_answer(address)
        with pytest.raises(UsageError, match="who answers is not Ray"):
            pipeline._require_ray(address)
    assert capfd.readouterr().err == ""


def test_the_address_is_tried_before_ray_is_loaded(monkeypatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "host.invalid:1")
    monkeypatch.setattr(pipeline, "_importable", None)
    with pytest.raises(UsageError, match=r"'host\.invalid:1' \(nobody answers"), pipeline.start_ray(1):
        pass
