"""Rows made by Ray Data: an actor a worker, each part of a dataset made by one, whatever dies in between."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from verale.datasets.staging import Staged
from verale.errors import UsageError, VeraleError, first_line

__all__ = ["ATTEMPTS", "Crew", "Job", "Made", "Range", "made", "together"]

ATTEMPTS = 2
"""How often a part is begun before it is split: a machine that is taken away is no part's fault, twice seldom."""

Range = tuple[int, int]

_PACKAGE = Path(__file__).parents[1]
"""This verale."""

_log = logging.getLogger(__name__)


class Job(Protocol):
    """What an actor does: some rows as a Parquet file, and what is told of them, as plain data."""

    def __call__(self, start: int, stop: int) -> tuple[bytes, dict[str, Any]]: ...


@dataclass(frozen=True)
class Crew:
    """Workers of a Ray cluster.

    Attributes:
        size: how many.
        gpus: what each is given of them: 0 or 1.
    """

    size: int
    gpus: int = 0

    @property
    def device(self) -> str:
        """The torch device of each."""
        return "cuda" if self.gpus else "cpu"


@dataclass(frozen=True)
class Made:
    """A part that a worker is done with.

    Attributes:
        start, stop: its rows.
        told: what the job tells of it; None where every worker that began it died.
        seconds: the worker's processor time, the making of its job included if this was its first part.
    """

    start: int
    stop: int
    told: dict[str, Any] | None
    seconds: float = 0.0


@contextmanager
def together(workers: int | None = None, address: str | None = None, device: str = "auto") -> Iterator[Crew]:
    """Ray, quiet: one that this process is connected to, the cluster at an address, or one on this machine alone.

    Args:
        workers: how many; by default one a GPU where the device is one, else one a core.
        address: as `ray.init` takes it; by default that of RAY_ADDRESS, or none: this machine.
        device: `auto` (a GPU each where the cluster has some), `cpu` or `cuda`.

    Raises:
        UsageError: no cluster answers there, or it has no GPU where one is asked for.
    """
    if device not in ("auto", "cpu", "cuda"):
        raise UsageError(f"device {device!r}: the workers of a cluster take auto, cpu or cuda")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # what Ray does about a dead worker is no error here
    with _importable():
        import ray
        import ray.data

        own = not ray.is_initialized()
        if own:
            _connect(address or os.environ.get("RAY_ADDRESS") or "local", workers)
        with _quiet():
            try:
                there: dict[str, float] = ray.cluster_resources()
                gpus = int(there.get("GPU", 0))
                if device == "cuda" and not gpus:
                    raise UsageError("device 'cuda': this cluster has no GPU; say --device cpu")
                each = 1 if gpus and device != "cpu" else 0
                yield Crew(workers or max(1, gpus if each else int(there.get("CPU", 1))), each)
            finally:
                if own:
                    ray.shutdown()


def _connect(address: str, workers: int | None) -> None:
    import ray

    here = {"num_cpus": workers or _cores(), "include_dashboard": False}
    # Elsewhere the code travels along, so that every node runs this verale.
    there = {"runtime_env": {"py_modules": [str(_PACKAGE)]}}
    options: dict[str, Any] = here if address == "local" else there
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        first = first_line(error)
        raise UsageError(
            f"Ray cannot be used at {address!r} ({first}); is `ray start --head` running there?"
        ) from error


def _cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _importable() -> Iterator[None]:
    """This verale, for the processes that Ray starts here: also where it is no installed package."""
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
    """Ray Data without bars and reports of its own; its log file has them."""
    from ray._private import worker
    from ray.data import DataContext

    context = DataContext.get_current()
    names = ("enable_progress_bars", "print_on_execution_start")
    before = {name: getattr(context, name) for name in names if hasattr(context, name)}
    handlers = [one for one in logging.getLogger("ray.data").handlers if getattr(one, "stream", None) is sys.stderr]
    levels = [one.level for one in handlers]
    for name in before:
        setattr(context, name, False)
    for one in handlers:
        one.setLevel(logging.CRITICAL)
    # Otherwise a page about a dead worker goes to stdout, where verdicts are.
    aloud = getattr(worker, "_worker_logs_enabled", True)
    worker._worker_logs_enabled = False
    try:
        yield
    finally:
        worker._worker_logs_enabled = aloud
        for name, value in before.items():
            setattr(context, name, value)
        for one, level in zip(handlers, levels, strict=True):
            one.setLevel(level)


class _Worker:
    """The actor. Its job is begun with the first part, so that what dies in that counts as an attempt too."""

    def __init__(self, make: Callable[[], Job], staged: Staged) -> None:
        self._make, self._staged = make, staged
        self._job: Job | None = None

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[Any]]:
        start, stop = int(batch["start"][0]), int(batch["stop"][0])
        told: dict[str, Any] | None = None
        problem = trace = ""
        attempt, clock = 1, time.process_time()
        try:
            attempt = self._staged.attempt(start, stop)
            if attempt <= ATTEMPTS:
                told = self._do(start, stop)
        except VeraleError as error:
            problem = str(error)
        except Exception as error:  # what Ray would repeat for ever, or wrap in pages
            problem = f"a worker failed at {start} to {stop - 1} ({type(error).__name__}: {error}); please report it"
            trace = traceback.format_exc()
        seconds = time.process_time() - clock
        row = {"start": start, "stop": stop, "told": json.dumps(told), "died": attempt - 1, "seconds": seconds}
        return {name: [value] for name, value in (row | {"problem": problem, "trace": trace}).items()}

    def _do(self, start: int, stop: int) -> dict[str, Any]:
        if self._job is None:
            self._job = self._make()
        parquet, told = self._job(start, stop)
        self._staged.write(start, stop, parquet)
        return told


def made(
    make: Callable[[], Job], staged: Staged, parts: Iterable[Range], smaller: Callable[[Range], list[Range]], crew: Crew
) -> Iterator[Made]:
    """Have the parts made, in any order.

    Args:
        make: makes a worker's job, in the worker.
        parts: the rows of each.
        smaller: into what a part is split that killed its workers; into nothing if it cannot be. What is smaller is
            made by one worker alone.

    Raises:
        VeraleError: what a job raised; or all parts killed their workers.

    A worker that dies is started again by Ray, and its part begun again, up to ATTEMPTS times.
    """
    todo, alone, alive = list(parts), False, False
    while todo:
        dead = []
        for one in _through_ray(make, staged, todo, Crew(1, crew.gpus) if alone else crew):
            if one.told is None:
                dead.append((one.start, one.stop))
                if not alive and not alone and len(dead) > crew.size:
                    raise VeraleError(
                        f"workers died at every part they began, {len(dead)} by now, perhaps for want of memory: take"
                        " fewer --workers, or a smaller --batch"
                    )
                if smaller(dead[-1]):
                    continue
            alive = alive or one.told is not None
            yield one
        todo, alone = [part for whole in sorted(dead) for part in smaller(whole)], True


def _through_ray(make: Callable[[], Job], staged: Staged, parts: list[Range], crew: Crew) -> Iterator[Made]:
    import ray.data

    pipeline = ray.data.from_items(
        [{"start": start, "stop": stop} for start, stop in parts], override_num_blocks=len(parts)
    ).map_batches(
        _Worker,
        fn_constructor_kwargs={"make": make, "staged": staged},
        batch_size=1,
        compute=ray.data.ActorPoolStrategy(size=min(crew.size, len(parts)), max_tasks_in_flight_per_actor=2),
        num_cpus=1,
        num_gpus=crew.gpus or None,
    )
    yield from map(_read, pipeline.iter_rows())


def _read(row: Mapping[str, Any]) -> Made:
    """What a worker says of a part. Raises VeraleError: what its job raised."""
    if row["problem"]:
        if row["trace"]:
            _log.error(row["trace"])
        raise VeraleError(row["problem"])
    if row["died"]:
        again = "left out" if row["told"] == "null" and row["stop"] - row["start"] == 1 else "begun again"
        _log.warning("a worker died at %d to %d, %s", row["start"], row["stop"] - 1, again)
    return Made(row["start"], row["stop"], json.loads(row["told"]), row["seconds"])
