"""Processes that do the tasks of one job, each of which may die: of this machine, or of a Ray cluster (`workers.ray`).

Those of this machine run this module and what their job needs, not the program that called. So a script needs no main
guard, and a notebook nothing at all. They import nothing from the current folder, which may be somebody else's; Ctrl-C
does not reach them. Where that is safe they can be forks of this process, which have imported all of it: a fork has
only the thread that forks, and a lock that another thread holds stays locked in it for ever. So a process is forked
only while it has one thread, whoever would have started others.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any, BinaryIO, Generic, NoReturn, Protocol, TypeVar

from verale.errors import VeraleError

_log = logging.getLogger(__name__)

_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from verale.runs.workers.local import serve; serve()"
)

Task = TypeVar("Task")

Job = tuple[Callable[..., Callable[..., Any]], tuple[Any, ...]]
"""A function of a module and its arguments: a process calls it once, and it returns what does a task."""


class Process(Protocol):
    """A process that does tasks, one after the other."""

    def begin(self, job: Job, level: int) -> None:
        """Give it its job, and the level from which on it logs. Raises OSError: it has died."""

    def ask(self, message: tuple[Any, ...]) -> object:
        """What its job returns for these arguments; None where that raised an error. Raises OSError, EOFError,
        pickle.UnpicklingError: it has died; VeraleError: it cannot do any task."""

    def kill(self) -> None:
        """End it, whatever it does."""

    def close(self) -> None:
        """Wait until it has ended, and close what leads to it."""


class Cluster(Protocol):
    """Where processes of other machines are started."""

    @property
    def size(self) -> int:
        """How many processes there are to be."""

    def process(self) -> Process:
        """Another one, which is started when it begins."""


Start = Callable[[bool], AbstractContextManager[Cluster]]
"""Starts a cluster, where there is work for it; told whether each of its processes needs a GPU of its own."""


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def popped(todo: deque[Task]) -> Task | None:
    """The next task, unless another process has just taken the last one."""
    try:
        return todo.popleft()
    except IndexError:
        return None


@dataclass(frozen=True)
class Done(Generic[Task]):
    """A task that a process has taken, and what its job returned: None if it raised an error, which doing the task here
    shows, or never returned. `error` is why the process cannot do any task."""

    task: Task
    result: Any
    died: bool = False
    error: VeraleError | None = None


class Processes(Generic[Task]):
    """Processes, of this machine or a cluster, that take tasks from one queue; whoever has this object may take tasks
    too. Each calls `create`, a function of a module, once, and it returns what does a task. Leaving the context ends
    them, whatever they are doing."""

    def __init__(
        self,
        create: Callable[..., Callable[..., Any]],
        arguments: tuple[Any, ...],
        todo: deque[Task],
        message: Callable[[Task], tuple[Any, ...]],
        cluster: Cluster | None = None,
    ) -> None:
        self._job, self._todo, self._message, self._cluster = (create, arguments), todo, message, cluster
        self._begin, self._stopped = Event(), Event()
        self._finished: SimpleQueue[Done[Task]] = SimpleQueue()
        self._processes: list[tuple[Process, Thread]] = []

    @property
    def are_there(self) -> bool:
        """Whether some are started."""
        return bool(self._processes)

    def __enter__(self) -> Processes[Task]:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stopped.set()
        self._begin.set()
        for process, thread in self._processes:
            process.kill()
            thread.join()
            process.close()

    def start(self, number: int, fork: bool = False, first: Iterable[Task] = ()) -> bool:
        """Start so many, as forks if asked and possible; return whether all are started.

        They take tasks when `begin` is called; before those of the queue the ones that are given here to one process.
        """
        _log.info("%d more processes", number)
        started: list[Process] = []
        fork = fork and can_fork()  # the threads below come after the last one
        try:
            while len(started) < number:
                if self._cluster is not None:
                    started.append(self._cluster.process())
                else:
                    started.append(_Piped(Forked(serve, _ONE_THREAD) if fork else _fresh()))
        except OSError as error:
            _log.warning("no more processes can be started (%s)", error.strerror)
        for process in started:
            thread = Thread(target=self._feed, args=(process, first), daemon=True)
            self._processes.append((process, thread))
            thread.start()
        return len(started) == number

    def begin(self) -> None:
        """Let them take tasks."""
        self._begin.set()

    def finished(self) -> Done[Task] | None:
        """A task that one of them has done; None if none has. Raises VeraleError: it can do none."""
        return None if self._finished.empty() else self.awaited()

    def awaited(self) -> Done[Task]:
        """The task that is done next. Raises VeraleError: a process can do none."""
        done = self._finished.get()
        if done.error is not None:
            raise done.error
        return done

    def _feed(self, process: Process, first: Iterable[Task]) -> None:
        """Give a process its tasks, until there are no more or it dies. Then it gives back what it holds."""
        tasks = chain(first, iter(partial(popped, self._todo), None))
        with suppress(OSError):  # then it is dead, which the first task will tell
            process.begin(self._job, logging.getLogger("verale").getEffectiveLevel())
        self._begin.wait()
        died = False
        while not died and not self._stopped.is_set() and (task := next(tasks, None)) is not None:
            result = error = None
            try:
                result = process.ask(self._message(task))
            except (OSError, EOFError, pickle.UnpicklingError):
                died = True
            except VeraleError as raised:
                error = raised
            finally:
                self._finished.put(Done(task, result, died, error))
        process.kill()


class _Piped:
    """A process of this machine, asked through its standard input and output."""

    def __init__(self, process: subprocess.Popen[bytes] | Forked) -> None:
        self._process = process

    def begin(self, job: Job, level: int) -> None:
        _send(self._process.stdin, (job, level))

    def ask(self, message: tuple[Any, ...]) -> object:
        _send(self._process.stdin, message)
        stream: Any = self._process.stdout
        while isinstance(answer := pickle.load(stream), logging.LogRecord):
            logging.getLogger(answer.name).handle(answer)
        return answer

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # what was not sent cannot be flushed
                pipe.close()  # type: ignore[union-attr]


def _fresh() -> subprocess.Popen[bytes]:
    """A process that imports what it needs. Raises OSError if it cannot be started."""
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _PROGRAM, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | _ONE_THREAD,
        process_group=0,  # as `serve` says
    )


def _send(stream: BinaryIO | Any, message: object) -> None:
    pickle.dump(message, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


def serve() -> None:
    """What a process does: the tasks that it gets, until its standard input ends.

    It has its own process group, which Ctrl-C does not reach, in the session of the process that asks: where this one
    dies while it is stopped, the system wakes it by a signal that ends it.
    """
    if hasattr(signal, "SIGTTOU"):
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # what it prints to a terminal does not stop it
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    messages: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_receive, args=(messages,), daemon=True).start()
    (create, arguments), level = messages.get()
    log_to(partial(_send, answers), level)
    job = create(*arguments)
    while True:
        message = messages.get()
        try:
            result = job(*message)
        except Exception:  # it is raised where the task is done again
            _log.info("a task failed:\n%s", traceback.format_exc())
            result = None
        _send(answers, result)


def _receive(messages: SimpleQueue[Any]) -> None:
    """Read messages; where they end, even in the middle of a task, end the process."""
    with suppress(Exception):
        while True:
            messages.put(pickle.load(sys.stdin.buffer))
    os._exit(0)


def log_to(send: Callable[[logging.LogRecord], object], level: int) -> None:
    """Send what is logged from a level on to the process that asks."""

    class Sent(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            record.msg, record.args, record.exc_info = record.getMessage(), None, None
            send(record)

    log = logging.getLogger("verale")
    log.handlers, log.propagate = [Sent()], False
    log.setLevel(level)


def can_fork() -> bool:
    """Whether this process has one thread. Elsewhere than on Linux that is not known."""
    threads = Path("/proc/self/task")  # Linux lists the threads of a process here, those of libraries too
    return sys.platform == "linux" and threads.is_dir() and len(list(threads.iterdir())) == 1


class Forked:
    """A process that serves its standard input and output, and ends when `serve` returns or raises. What else this one
    has open leads nowhere there: the numbers stay taken, so that an object of this one which is freed there closes no
    file of its own. The variables of `environment` are other ones there. Raises OSError: there can be no more processes
    or files."""

    def __init__(self, serve: Callable[[], object], environment: Mapping[str, str]) -> None:
        with suppress(AttributeError, OSError, ValueError):  # there is none, nobody reads it, or it is closed
            sys.stdout.flush()  # so that nothing is printed twice
        ends: list[int] = []
        # Until it is another process, an interrupt there would be handled by what waits for it here.
        masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        try:
            ends += [*os.pipe(), *os.pipe()]
            self._pid = os.fork()
            if self._pid == 0:
                _become(serve, ends[0], ends[3], environment, masked)  # which never returns
            with suppress(OSError):  # it may have ended
                os.setpgid(self._pid, self._pid)  # as it does itself; whoever is first, nobody stops it before
        except OSError:
            for end in ends:
                os.close(end)
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        os.close(ends[0])
        os.close(ends[3])
        self.stdin: BinaryIO = os.fdopen(ends[1], "wb")
        self.stdout: BinaryIO = os.fdopen(ends[2], "rb")

    def kill(self) -> None:
        """End it, if it has not ended."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> None:
        """Wait until it has ended."""
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


def _become(
    serve: Callable[[], object], stdin: int, stdout: int, environment: Mapping[str, str], masked: Iterable[int]
) -> NoReturn:  # pragma: no cover  # the other process, which nothing measures
    """Be the other process. Nothing of this one is done there when it ends: no handler, no file is flushed."""
    try:
        os.setpgid(0, 0)  # as `serve` says
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        gc.freeze()  # what this one has left behind is not looked for there
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in map(int, os.listdir("/proc/self/fd")):
            if number > 2 and number != nowhere:
                os.dup2(nowhere, number)
        os.environ.update(environment)
        sys.stdin = os.fdopen(0)
        serve()
    finally:
        os._exit(1)
