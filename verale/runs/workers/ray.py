"""Parts of a dataset processed by Ray Data: one actor a worker, each part by one worker, whichever of them die."""

from __future__ import annotations

import json
import logging
import os
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakSet

from verale.errors import UsageError, VeraleError, first_line, option
from verale.runs.run import Finished, Range
from verale.runs.store.parquet import StagedDataset
from verale.runs.workers.guard import nowhere, pickled_with_guard
from verale.runs.workers.local import cores

__all__ = ["ATTEMPTS", "Job", "Workers", "process_parts", "start_ray"]

ATTEMPTS = 2
"""How often a part is begun before it is split. A machine that is taken away is not the part's fault, but the same part
seldom loses two."""

_PACKAGE = Path(__file__).parents[2]
"""The directory of this verale."""

_PATIENCE = 5
"""The seconds in which a cluster has to answer."""

_LATE = 60
"""The seconds in which workers usually start. On a busy machine they take longer; on a cluster in use they wait."""

_LONGEST_END = 60
"""The seconds that threads of Ray Data get to end in; all of them are told to."""

_log = logging.getLogger(__name__)

Summary = dict[str, Any]
"""Plain data about a part."""


class Job(Protocol):
    """What an actor does: it turns some rows into a Parquet file and a summary, which is plain data."""

    def __call__(self, start: int, stop: int) -> tuple[bytes, Summary]: ...


@dataclass(frozen=True)
class Workers:
    """Workers of a Ray cluster.

    Attributes:
        size: how many.
        gpus: how many GPUs each gets: 0 or 1.
    """

    size: int
    gpus: int = 0

    @property
    def device(self) -> str:
        """The torch device of each."""
        return "cuda" if self.gpus else "cpu"


@contextmanager
def start_ray(workers: int | None = None, address: str | None = None, device: str = "auto") -> Iterator[Workers]:
    """Start Ray on this machine, or connect to a cluster; keep it quiet.

    A Ray that this process is connected to already is used as it is.

    Args:
        workers: how many; by default one for each GPU if GPUs are used, else one for each core.
        address: as `ray.init` takes it; by default RAY_ADDRESS, or this machine if that is not set.
        device: `cuda` for a GPU each, or `cpu`, which `auto` is too.

    Raises:
        UsageError: no cluster answers at the address, or it has no GPU and `cuda` was asked for.
    """
    from verale.search.options import DEVICES

    if device not in DEVICES:
        raise UsageError(f"device {device!r}: the workers of a cluster take {', '.join(DEVICES[:-1])} or {DEVICES[-1]}")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ENABLE_AUTO_CONNECT", "0")  # a thread that is left would start Ray again
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # a dead worker, which Ray replaces, is no error here
    place = address or os.environ.get("RAY_ADDRESS") or "local"
    _require_answer(place)
    with _importable():
        import ray
        import ray.data

        own = not ray.is_initialized()
        if own:
            _connect(place, workers)
        with _quiet():
            try:
                resources: dict[str, float] = ray.cluster_resources()
                gpus = int(resources.get("GPU", 0))
                if device == "cuda" and not gpus:
                    raise UsageError(f"device 'cuda': this cluster has no GPU; say {option('device', 'cpu')}")
                each = 1 if device == "cuda" else 0
                yield Workers(workers or max(1, gpus if each else int(resources.get("CPU", 1))), each)
            finally:
                if own:
                    _end_threads()
                    ray.shutdown()


def _end_threads() -> None:
    """End the threads of Ray Data. One that goes on after Ray is shut down would end this process with exit code 1.

    Ray Data itself waits two seconds for them, which are too few on a busy machine. Its prefetcher it tells to end only
    where every row was read; otherwise that waits for more to fetch for ever.
    """
    for parts in list(_running):
        parts.close()
    last = time.monotonic() + _LONGEST_END
    for thread in threading.enumerate():
        if thread.name.startswith(("StreamingExecutor-", "Prefetcher")) or "(execute_computation)" in thread.name:
            stop = getattr(getattr(getattr(thread, "_target", None), "__self__", None), "stop", None)
            if stop is not None:
                stop()
            thread.join(max(0.0, last - time.monotonic()))


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
    """Ray Data without its progress bars and messages; its log file still has them."""
    from ray._private import worker
    from ray.data import DataContext

    context = DataContext.get_current()
    names = ("enable_progress_bars", "print_on_execution_start")
    before = {name: getattr(context, name) for name in names if hasattr(context, name)}
    # Its own handler may be older than the stderr that a command prints to.
    printed = (sys.stderr, sys.__stderr__)
    handlers = [one for one in logging.getLogger("ray.data").handlers if getattr(one, "stream", None) in printed]
    levels = [one.level for one in handlers]
    for name in before:
        setattr(context, name, False)
    for one in handlers:
        one.setLevel(logging.CRITICAL)
    # Otherwise Ray prints a page about each dead worker to stdout, where verdicts go.
    prints_logs = getattr(worker, "_worker_logs_enabled", True)
    worker._worker_logs_enabled = False
    try:
        yield
    finally:
        worker._worker_logs_enabled = prints_logs
        for name, value in before.items():
            setattr(context, name, value)
        for one, level in zip(handlers, levels, strict=True):
            one.setLevel(level)


class _Worker:
    """The actor. It creates its job with the first part, so that dying there counts as an attempt at that part."""

    def __init__(self, create_job: Callable[[], Job], staged: StagedDataset, folder: str | None = None) -> None:
        if folder is not None and os.path.isdir(folder):  # a path that is given may be relative to it
            os.chdir(folder)
        self._create_job, self._staged = create_job, staged
        self._job: Job | None = None

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[Any]]:
        start, stop = int(batch["start"][0]), int(batch["stop"][0])
        summary: Summary | None = None
        problem = trace = ""
        attempt, clock = 1, time.process_time()
        try:
            attempt = self._staged.attempt(start, stop)
            if attempt <= ATTEMPTS:
                summary = self._process(start, stop)
        except VeraleError as error:
            problem = str(error)
        except Exception as error:  # Ray would retry forever, or wrap the error in pages
            problem = f"a worker failed at {start} to {stop - 1} ({type(error).__name__}: {error}); please report it"
            trace = traceback.format_exc()
        seconds = time.process_time() - clock
        row = {"start": start, "stop": stop, "summary": json.dumps(summary), "died": attempt - 1, "seconds": seconds}
        return {name: [value] for name, value in (row | {"problem": problem, "trace": trace}).items()}

    def _process(self, start: int, stop: int) -> Summary:
        if self._job is None:
            self._job = self._create_job()
        parquet, summary = self._job(start, stop)
        self._staged.write(start, stop, parquet)
        return summary


def process_parts(
    create_job: Callable[[], Job],
    staged: StagedDataset,
    parts: Iterable[Range],
    smaller: Callable[[Range], list[Range]],
    workers: Workers,
) -> Iterator[Finished[Summary | None]]:
    """Have the workers process parts, in any order; the summary is None where every worker that began the part died.

    Args:
        create_job: creates a worker's job, in the worker.
        staged: the dataset that the parts go to.
        parts: the rows of each.
        smaller: splits a part that killed its workers; an empty list if it cannot be split. One worker alone processes
            the smaller parts.
        workers: who does the work.

    Raises:
        VeraleError: a job raised it; or all parts killed their workers.

    Ray restarts a worker that dies and begins its part again, up to ATTEMPTS times.
    """
    todo, alone, alive = list(parts), False, False
    while todo:
        dead = []
        for part in _through_ray(create_job, staged, todo, Workers(1, workers.gpus) if alone else workers):
            if part.result is None:
                dead.append((part.start, part.stop))
                if not alive and not alone and len(dead) > workers.size:
                    raise VeraleError(
                        f"workers died at every part they began, {len(dead)} so far, perhaps because memory ran out:"
                        f" use fewer {option('jobs')}, or a smaller {option('batch')}"
                    )
                if smaller(dead[-1]):
                    continue
            alive = alive or part.result is not None
            yield part
        todo, alone = [half for whole in sorted(dead) for half in smaller(whole)], True


_running: WeakSet[Generator[Finished[Summary | None], None, None]] = WeakSet()
"""What runs through Ray; where who iterates is interrupted, it is not closed."""


def _through_ray(
    create_job: Callable[[], Job], staged: StagedDataset, parts: list[Range], workers: Workers
) -> Iterator[Finished[Summary | None]]:
    parts_done = _processed_by_ray(create_job, staged, parts, workers)
    _running.add(parts_done)
    return parts_done


def _processed_by_ray(
    create_job: Callable[[], Job], staged: StagedDataset, parts: list[Range], workers: Workers
) -> Generator[Finished[Summary | None], None, None]:
    import ray.data

    worker, arguments = pickled_with_guard(_Worker, create_job=create_job, staged=staged, folder=os.getcwd())
    with _shortage_told(staged, workers):
        pipeline = ray.data.from_items(
            [{"start": start, "stop": stop} for start, stop in parts], override_num_blocks=len(parts)
        ).map_batches(
            worker,
            fn_constructor_kwargs=arguments,
            batch_size=1,
            compute=ray.data.ActorPoolStrategy(size=min(workers.size, len(parts)), max_tasks_in_flight_per_actor=2),
            num_cpus=1,
            num_gpus=workers.gpus or None,
        )
        try:
            yield from map(_finished, pipeline.iter_rows())
        finally:
            # Its threads are told to end.
            pipeline._synchronize_progress_bar()


@contextmanager
def _shortage_told(staged: StagedDataset, workers: Workers) -> Iterator[None]:
    """Warn where no worker has begun a part when they usually have, and say what there is free.

    Raises:
        VeraleError: Ray itself failed: no place is left for an object, or, with some versions, no worker started in
            ten minutes.
    """
    from ray.exceptions import GetTimeoutError, ObjectStoreFullError, OutOfDiskError, RayError

    before, fewer = staged.attempts(), option("jobs")

    def warn() -> None:
        with suppress(Exception):  # of a cluster or a folder that is gone, the run itself tells
            if staged.attempts() == before:
                _log.warning(
                    "no worker has begun after %d s, though one may still start: %s", _LATE, _free(workers, fewer)
                )

    timer = threading.Timer(_LATE, warn)
    timer.daemon = True
    timer.start()
    try:
        yield
    except RayError as error:
        cause = getattr(error, "cause", None) or error  # an error of a worker has its traceback as message
        why = f"Ray failed ({type(cause).__name__}: {first_line(cause).rstrip('.')})"
        short = isinstance(error, GetTimeoutError | ObjectStoreFullError | OutOfDiskError)
        raise VeraleError(f"{why}: {_free(workers, fewer)}" if short else why) from error
    finally:
        timer.cancel()
        timer.join()


def _free(workers: Workers, fewer: str) -> str:
    """What workers take, what Ray has, and what to do."""
    import ray

    free, there = ray.available_resources(), ray.cluster_resources()
    scales = {"CPU": (1, "CPUs"), "GPU": (1, "GPUs"), "object_store_memory": (10**6, "MB of the object store")}
    amounts = [
        f"{free.get(name, 0) / scale:.0f} of {there[name] / scale:.0f} {unit}"
        for name, (scale, unit) in scales.items()
        if name in there
    ]
    needed = "a CPU and a GPU" if workers.gpus else "a CPU"
    return (
        f"each of {workers.size} takes {needed}, and Ray has {', '.join(amounts)} free; end what holds the rest, or use"
        f" fewer {fewer}"
    )


def _finished(row: Mapping[str, Any]) -> Finished[Summary | None]:
    """The part that a worker's row is about. Raises VeraleError: what its job raised."""
    if row["problem"]:
        if row["trace"]:
            for line in row["trace"].splitlines():
                _log.error("  %s", line)
        raise VeraleError(row["problem"])
    if row["died"]:
        again = "left out" if row["summary"] == "null" and row["stop"] - row["start"] == 1 else "begun again"
        _log.warning("a worker died at %d to %d, %s", row["start"], row["stop"] - 1, again)
    return Finished(row["start"], row["stop"], json.loads(row["summary"]), row["seconds"])
