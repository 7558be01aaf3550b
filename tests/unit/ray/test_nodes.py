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

import pytest

from verale.errors import UsageError
from verale.files import certificates_in
from verale.head import Head, load_latents, save_latents
from verale.runs.workers import ray as pipeline
from verale.search.explain import explain

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
