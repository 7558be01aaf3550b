"""Workers of a Ray cluster: processes that do tasks, as those of this machine (`workers.local`), on any of its nodes.

What they do is written where they were asked: a run on a cluster is the run of one process, with the same store, bytes,
resume and log. And they have the same verale. Ray puts the folder in which a program connects to it first on its
workers' path, and one that somebody sent may hold a `verale` that proves everything: so verale connects in an empty
one. Who starts Ray before may stand elsewhere: a worker's first act is to compare what it would import with what this
process has imported.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, suppress
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

from verale.errors import UsageError, VeraleError, first_line, option
from verale.runs.workers.local import Job, cores

_PACKAGE = Path(__file__).parents[2]
_PATIENCE, _LATE = 5, 60
"""The seconds in which a cluster has to answer, and those in which workers usually start. On a busy machine they take
longer; on a cluster in use they wait."""

_log = logging.getLogger(__name__)


class Workers:
    """Workers of the Ray that this process is connected to, a CPU each, and so many GPUs. `settled` is taken once one
    has begun, or a warning was given that none has."""

    def __init__(self, size: int, gpus: int = 0) -> None:
        self.size, self.gpus = size, gpus
        self.settled = Lock()

    def process(self) -> RayProcess:
        """Another one."""
        return RayProcess(self)

    def tell_late(self) -> None:
        """Warn, once, unless one has begun."""
        if self.settled.acquire(blocking=False):
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

        arguments, started = arguments_of_worker(job, level, os.getcwd()), time.monotonic()
        try:
            each = {"num_cpus": 1, "num_gpus": self._workers.gpus, "max_restarts": 0}
            self._actor = ray.remote(Worker).options(**each).remote(**arguments)
            ready = self._actor.ready.remote()
            while not ray.wait([ready], timeout=1.0)[0]:
                if self._killed:
                    raise OSError("it was ended before it began")
                if time.monotonic() > started + _LATE:
                    self._workers.tell_late()
            ray.get(ready)
        except RayError as error:
            raise OSError(first_line(error)) from error
        self._workers.settled.acquire(blocking=False)

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


def sources_digest(folder: Path) -> str:
    """SHA-256 of the names and bytes of a package's modules, after how long they are: so that no name, which may hold
    any byte, looks like another module."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py"), key=os.fsencode):
        name, source = os.fsencode(path.relative_to(folder)), path.read_bytes()
        digest.update(b"%d %d\n%b%b" % (len(name), len(source), name, source))
    return digest.hexdigest()


def arguments_of_worker(job: Job, level: int, folder: str) -> dict[str, Any]:
    """The arguments of `Worker`: plain values and bytes, which need no verale. It gets its own code, not its name."""
    from ray import cloudpickle

    pickled = cloudpickle.dumps(job)
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    given = {"pickled": pickled, "level": level, "folder": folder}
    return given | {"sha256": sources_digest(_PACKAGE), "package": str(_PACKAGE)}


class Worker:
    """What a worker does, where `import verale` gives the sources with this digest; nothing is imported before that.

    It creates its job with the first task, so that an error there is one of this task.
    """

    def __init__(self, pickled: bytes, level: int, folder: str, sha256: str, package: str) -> None:
        spec = find_spec("verale")
        found = None if spec is None or not spec.origin else Path(spec.origin).parent
        self._problem = ""
        self._work: Callable[..., Any] | None = None
        self._records: list[logging.LogRecord] = []
        if found is not None and sources_digest(found) == sha256:
            from ray import cloudpickle

            from verale.runs.workers.local import log_to

            if os.path.isdir(folder):  # a path that is given may be relative to it
                os.chdir(folder)
            self._job = cloudpickle.loads(pickled)
            log_to(self._records.append, level)
        else:
            self._problem = (
                f"workers of this Ray import {found or 'no verale'}, but this process {package}, whose sources are"
                " others: install this version where they run, and start Ray in a folder that holds no verale"
            )

    def ready(self) -> bool:
        """Whether it is there, whatever it can do."""
        return True

    def ask(self, message: bytes) -> tuple[Any, list[logging.LogRecord], str]:
        """What the job returns, None where it raises an error; what is logged meanwhile; and why it can do nothing,
        empty if it can."""
        result = None
        try:
            if not self._problem:
                if self._work is None:
                    create, arguments = self._job
                    self._work = create(*arguments)
                result = self._work(*pickle.loads(message))
        except Exception:  # it is raised where the task is done again
            _log.info("a task failed:\n%s", traceback.format_exc())
        records, self._records[:] = list(self._records), []
        return result, records, self._problem


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
    with ExitStack() as ended:
        if _PACKAGE.parent.name not in ("site-packages", "dist-packages"):
            # The processes that Ray starts on this machine can import this verale, even where it is not installed.
            before = os.environ.get("PYTHONPATH")
            if before is None:
                ended.callback(os.environ.pop, "PYTHONPATH", None)
            else:
                ended.callback(os.environ.update, PYTHONPATH=before)
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (before, str(_PACKAGE.parent))))
        import ray
        from ray._private import worker

        own = not ray.is_initialized()
        if own:
            nowhere = TemporaryDirectory(prefix="verale-", ignore_cleanup_errors=True)
            _connect(place, workers, ended.enter_context(nowhere))
        # Ray prints a page about each dead worker to stdout, where verdicts go.
        ended.callback(setattr, worker, "_worker_logs_enabled", getattr(worker, "_worker_logs_enabled", True))
        worker._worker_logs_enabled = False
        if own:
            ended.callback(ray.shutdown)
        there = int(ray.cluster_resources().get("GPU" if gpus else "CPU", 0))
        if gpus and not there:
            raise UsageError(f"Ray knows of no GPU at {place!r}: leave out {option('device')}")
        yield Workers(min(workers or there, there) if gpus else workers or max(1, there), int(gpus))


def _require_answer(address: str) -> None:
    """Raise UsageError within seconds if nobody answers at HOST:PORT or ray://HOST:PORT; Ray itself tries for a minute.

    What is no such address, Ray refuses itself.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        try:
            socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()
        except (OSError, OverflowError) as error:
            raise _unusable(address, f"nobody answers: {error}") from error


def _connect(address: str, workers: int | None, nowhere: str) -> None:
    """Connect to Ray in an empty folder that nobody else can write to. Raises UsageError."""
    import ray
    from ray import _raylet

    # Where somebody answers that is not Ray. Of ray://HOST:PORT, Ray itself says so in half a minute.
    if hasattr(_raylet, "check_health") and "://" not in address and address.rpartition(":")[2].isdigit():
        with redirect_stderr(StringIO()):  # it prints the traceback of what it catches
            answers = _raylet.check_health(address, timeout=_PATIENCE)
        if not answers:
            raise _unusable(address, "who answers is not Ray, or another version of it")
    options: dict[str, Any] = {"num_cpus": workers or cores(), "include_dashboard": False}
    if address != "local":  # a cluster gets the code too, so that every node runs this verale
        options = {"runtime_env": {"py_modules": [str(_PACKAGE)]}}
    try:
        with chdir(nowhere):
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise _unusable(address, first_line(error)) from error


def _unusable(address: str, why: str) -> UsageError:
    return UsageError(f"Ray cannot be used at {address!r} ({why}); is `ray start --head` running there?")
