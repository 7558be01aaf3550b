"""Workers of a Ray cluster: processes that do tasks, as those of this machine (`workers.local`), on any of its nodes.

What they do is written where they were asked: a run on a cluster is the run of one process, with the same store, bytes,
resume and log.
"""

from __future__ import annotations

import logging
import os
import pickle
import socket
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, suppress
from io import StringIO
from pathlib import Path
from typing import Any

from verale.errors import UsageError, VeraleError, first_line, option
from verale.runs.workers.guard import nowhere, pickled_with_guard
from verale.runs.workers.local import Job, cores, log_to

_PACKAGE = Path(__file__).parents[2]
"""The directory of this verale."""

_PATIENCE = 5
"""The seconds in which a cluster has to answer."""

_LATE = 60
"""The seconds in which workers usually start. On a busy machine they take longer; on a cluster in use they wait."""

_POLL = 1.0
"""So many seconds a worker that is awaited is not asked whether it is still wanted."""

_log = logging.getLogger(__name__)


class Workers:
    """Workers of the Ray that this process is connected to, a CPU each.

    Attributes:
        gpus: how many GPUs each has for itself.
    """

    def __init__(self, size: int, gpus: int = 0) -> None:
        self.size, self.gpus = size, gpus
        self._late: threading.Timer | None = None

    def process(self) -> RayProcess:
        """Another one; where none has begun for long, a warning says what is free."""
        if self._late is None:
            self._late = threading.Timer(_LATE, self._tell_late)
            self._late.daemon = True
            self._late.start()
        return RayProcess(self)

    def begun(self) -> None:
        """One has begun, or none is needed any more."""
        if self._late is not None:
            self._late.cancel()

    def _tell_late(self) -> None:
        with suppress(Exception):  # of a cluster that is gone, the run itself tells
            _log.warning("no worker has begun after %d s, though one may still start: %s", _LATE, self.free())

    def free(self) -> str:
        """What workers take, what Ray has, and what to do."""
        import ray

        free, there = ray.available_resources(), ray.cluster_resources()
        scales = {"CPU": (1, "CPUs"), "GPU": (1, "GPUs"), "object_store_memory": (10**6, "MB of the object store")}
        amounts = [
            f"{free.get(name, 0) / scale:.0f} of {there[name] / scale:.0f} {unit}"
            for name, (scale, unit) in scales.items()
            if name in there
        ]
        each = "a CPU and a GPU" if self.gpus else "a CPU"
        return (
            f"each of {self.size} takes {each}, and Ray has {', '.join(amounts)} free; end what holds the rest, or use"
            f" fewer {option('jobs')}"
        )


class RayProcess:
    """One of the workers. It dies with its machine; whoever asked starts another one."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._actor: Any = None
        self._killed = False

    def begin(self, job: Job, level: int) -> None:
        """Start it. Raises OSError: it has died."""
        import ray
        from ray.exceptions import RayError

        kind, arguments = pickled_with_guard(_Worker, job=job, level=level, folder=os.getcwd())
        try:
            each = {"num_cpus": 1, "num_gpus": self._workers.gpus, "max_restarts": 0}
            self._actor = ray.remote(kind).options(**each).remote(**arguments)
            ready = self._actor.ready.remote()
            while not ray.wait([ready], timeout=_POLL)[0]:
                if self._killed:
                    raise OSError("it was ended before it began")
            ray.get(ready)
        except RayError as error:
            raise OSError(first_line(error)) from error
        self._workers.begun()

    def ask(self, message: tuple[Any, ...]) -> object:
        """What its job returns. Raises EOFError: it has died; VeraleError: Ray failed, or it is another verale."""
        import ray
        from ray.exceptions import RayActorError, RayError

        try:
            result, records, problem = ray.get(self._actor.ask.remote(pickle.dumps(message, pickle.HIGHEST_PROTOCOL)))
        except RayActorError as error:
            raise EOFError(first_line(error)) from error
        except RayError as error:
            cause = getattr(error, "cause", None) or error  # an error of a worker has its traceback as message
            why = f"Ray failed ({type(cause).__name__}: {first_line(cause).rstrip('.')})"
            raise VeraleError(f"{why}: {self._workers.free()}") from error
        if problem:
            raise VeraleError(problem)
        for record in records:
            logging.getLogger(record.name).handle(record)
        return result

    def kill(self) -> None:
        """End it, whatever it does. A CPU that it holds is free for another one."""
        import ray

        self._killed = True
        with suppress(Exception):  # it has died, or Ray has ended
            ray.kill(self._actor)

    def close(self) -> None:
        """Nothing is left of it."""


class _Worker:
    """What a worker does. It creates its job with the first task, so that an error there is one of this task."""

    def __init__(self, job: Job, level: int, folder: str) -> None:
        if os.path.isdir(folder):  # a path that is given may be relative to it
            os.chdir(folder)
        self._job = job
        self._work: Callable[..., Any] | None = None
        self._records: list[logging.LogRecord] = []
        log_to(self._records.append, level)

    def __call__(self, message: bytes) -> tuple[Any, list[logging.LogRecord]]:
        """What the job returns, None where it raises an error; and what is logged meanwhile."""
        result = None
        try:
            if self._work is None:
                create, arguments = self._job
                self._work = create(*arguments)
            result = self._work(*pickle.loads(message))
        except Exception:  # it is raised where the task is done again
            _log.info("a task failed:\n%s", traceback.format_exc())
        records, self._records[:] = list(self._records), []
        return result, records


@contextmanager
def start_ray(workers: int | None = None, address: str | None = None, gpus: bool = False) -> Iterator[Workers]:
    """Start Ray on this machine, or connect to a cluster; keep it quiet.

    A Ray that this process is connected to already is used as it is.

    Args:
        workers: how many; by default one for each core, or for each GPU.
        address: as `ray.init` takes it; by default RAY_ADDRESS, or this machine if that is not set.
        gpus: whether each has a GPU for itself.

    Raises:
        UsageError: no cluster answers at the address, or none of its machines has a GPU.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ENABLE_AUTO_CONNECT", "0")  # a thread that is left would start Ray again
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # a dead worker, which is replaced, is no error here
    place = address or os.environ.get("RAY_ADDRESS") or "local"
    _require_answer(place)
    with _importable():
        import ray

        own = not ray.is_initialized()
        if own:
            _connect(place, workers)
        with _quiet(), ExitStack() as ended:
            if own:
                ended.callback(ray.shutdown)
            there = int(ray.cluster_resources().get("GPU" if gpus else "CPU", 0))
            if gpus and not there:
                raise UsageError(f"Ray knows of no GPU at {place!r}: leave out {option('device')}")
            started = Workers(min(workers or there, there) if gpus else workers or max(1, there), int(gpus))
            ended.callback(started.begun)
            yield started


def _require_answer(address: str) -> None:
    """Raise UsageError within seconds if nobody answers at HOST:PORT or ray://HOST:PORT; Ray itself tries for a minute.

    What is no such address, Ray refuses itself.
    """
    place = address.removeprefix("ray://")
    host, _, port = place.rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise _unusable(address, f"nobody answers: {error}") from error


def _require_ray(address: str) -> None:
    """The same where somebody answers that is not Ray. Of ray://HOST:PORT, Ray itself says so in half a minute."""
    from ray import _raylet

    check = getattr(_raylet, "check_health", None)
    if check is None or "://" in address or not address.rpartition(":")[2].isdigit():
        return
    with redirect_stderr(StringIO()):  # it prints the traceback of what it catches
        answers = check(address, timeout=_PATIENCE)
    if not answers:
        raise _unusable(address, "who answers is not Ray, or another version of it")


def _unusable(address: str, why: str) -> UsageError:
    return UsageError(f"Ray cannot be used at {address!r} ({why}); is `ray start --head` running there?")


def _connect(address: str, workers: int | None) -> None:
    import ray

    _require_ray(address)
    here = {"num_cpus": workers or cores(), "include_dashboard": False}
    # A cluster gets the code too, so that every node runs this verale.
    elsewhere = {"runtime_env": {"py_modules": [str(_PACKAGE)]}}
    options: dict[str, Any] = here if address == "local" else elsewhere
    try:
        with chdir(nowhere()):
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise _unusable(address, first_line(error)) from error


@contextmanager
def _importable() -> Iterator[None]:
    """Let the processes that Ray starts on this machine import this verale, even where it is not installed."""
    before = os.environ.get("PYTHONPATH")
    root = _PACKAGE.parent
    if root.name in ("site-packages", "dist-packages"):
        yield
        return
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (before, str(root))))
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


@contextmanager
def _quiet() -> Iterator[None]:
    """Ray without the page about each dead worker, which it prints to stdout, where verdicts go."""
    from ray._private import worker

    prints_logs = getattr(worker, "_worker_logs_enabled", True)
    worker._worker_logs_enabled = False
    try:
        yield
    finally:
        worker._worker_logs_enabled = prints_logs
