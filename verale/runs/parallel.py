"""Images explained in several processes, each of which may die; this process explains too.

The others run this module and nothing else: not the program that called. So a script needs no main guard, and a
notebook nothing at all. They come when this process has explained the first images: then the search is compiled, and
they read what is compiled. What fails in one of them is done again here, where its error is raised.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import subprocess
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any, BinaryIO

from verale.errors import UsageError
from verale.runs.rows import explain_part
from verale.runs.table import Explained

if TYPE_CHECKING:
    from torch import Tensor

    from verale.runs.deployed import Reserves
    from verale.search import Batches

__all__ = ["cores", "explain_in_processes", "require_jobs", "serve"]

Part = tuple[list[Explained], list[tuple[str, bytes]]]
"""The rows of some images and their certificates, as `rows_and_certificates` gives them."""

_log = logging.getLogger(__name__)

_WORTH_STARTING = 5.0
"""The seconds that images have to take before other processes are started unasked: each needs some two to start."""

_SHARES = 8
"""Into how many parts a process's share of the images is cut, so that all processes end together."""

_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)

_PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from verale.runs.parallel import serve; serve()"


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def require_jobs(jobs: int | None) -> None:
    """Raise UsageError unless this is a number of processes, or None."""
    if jobs is not None and jobs < 1:
        raise UsageError(f"jobs is {jobs}, expected at least 1")


def explain_in_processes(
    batches: Batches,
    left: Sequence[int],
    labels: Sequence[int] | None,
    jobs: int | None,
    reserves: Reserves | None = None,
) -> Iterator[Part]:
    """Explain images, part by part, in the order in which the parts are done.

    Args:
        batches: the images, and how to explain them.
        left: the indices of those to explain, ascending; all of a batch or none, unless images are searched alone.
        labels: the true classes of all images, if they are known.
        jobs: how many processes, this one among them; fewer where the memory allowed has no room for so many batches,
            and this one alone on another device than the CPU. None for one a core, if the images take seconds.
        reserves: what keeps only certificates that hold in float32 too, if that is wanted.
    """
    here = _Explainer(batches, reserves)
    most = min(_processes(batches, jobs), len(left) if batches.are_alone else -(-len(left) // batches.size))
    if most <= 1:
        for part in _parts(left, batches.size):
            yield here(part, labels)
        return
    todo: deque[range] = deque()
    with _one_thread(), _Others(here, todo, labels) as others:
        if jobs is not None:
            others.start(most - 1)
        clock = perf_counter()
        first = next(_parts(left, 1 if jobs is not None and batches.are_alone else batches.size))
        yield here(first, labels)
        left = left[len(first) :]
        if jobs is None and (perf_counter() - clock) / len(first) * len(left) > _WORTH_STARTING:
            others.start(most - 1)
        processes = most if others.are_there else 1
        todo.extend(_parts(left, _part_size(batches, len(left), processes)))
        others.begin()
        for _ in range(len(todo)):
            done = others.finished() if todo else others.awaited()
            if done is None:
                own = _popped(todo)
                done = others.awaited() if own is None else here(own, labels)
            yield done


def _processes(batches: Batches, jobs: int | None) -> int:
    """How many processes there may be."""
    import torch

    if torch.device(batches.options.device).type != "cpu" or not sys.executable:
        return 1
    most = min(jobs or cores(), max(1, int(batches.options.max_memory // batches.bytes_at_once)))
    if jobs is not None and most < jobs:
        _log.warning("%d processes explain, not %d: more would exceed the memory allowed (--max-memory)", most, jobs)
    return most


def _part_size(batches: Batches, left: int, processes: int) -> int:
    """How many images a part has: a batch; where images are searched alone, fewer, so that processes end together."""
    if processes == 1 or not batches.are_alone:
        return batches.size
    return max(1, min(batches.size, left // (_SHARES * processes)))


def _parts(left: Sequence[int], size: int) -> Iterator[range]:
    """Images that follow one another, at most so many in a part."""
    begin = 0
    while begin < len(left):
        first, stop = left[begin], begin + 1
        while stop < min(begin + size, len(left)) and left[stop] == first + stop - begin:
            stop += 1
        yield range(first, first + stop - begin)
        begin = stop


def _popped(todo: deque[range]) -> range | None:
    """The next part, unless another process has just taken the last one."""
    try:
        return todo.popleft()
    except IndexError:
        return None


class _Explainer:
    """Explains parts of a run's images in this process."""

    def __init__(self, batches: Batches, reserves: Reserves | None) -> None:
        from verale.runs.affordable import DefaultAudits

        self.batches, self.reserves, self._audits = batches, reserves, DefaultAudits(batches.head)

    def __call__(self, part: range, labels: Sequence[int] | None) -> Part:
        known = None if labels is None else labels[part.start : part.stop]
        images = self.batches.images[part.start : part.stop]
        return explain_part(self.batches, images, part.start, known, self._audits, self.reserves)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Torch with one thread in this process, as in the others."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class _Others:
    """The other processes: each takes parts from the same queue as this one."""

    def __init__(self, here: _Explainer, todo: deque[range], labels: Sequence[int] | None) -> None:
        self._here, self._todo, self._labels = here, todo, labels
        self._begin, self._stopped = Event(), Event()
        self._finished: SimpleQueue[tuple[range, Part | None]] = SimpleQueue()
        self._processes: list[tuple[subprocess.Popen[bytes], Thread]] = []

    @property
    def are_there(self) -> bool:
        """Whether some are started."""
        return bool(self._processes)

    def __enter__(self) -> _Others:
        return self

    def __exit__(self, *exception: object) -> None:
        """End them, whatever they are doing: what they have not given back is not in the folder."""
        self._stopped.set()
        self._begin.set()
        for process, thread in self._processes:
            process.kill()
            process.wait()
            thread.join()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):  # what was not sent cannot be flushed
                    pipe.close()  # type: ignore[union-attr]

    def start(self, number: int) -> None:
        """Start so many. They take parts when `begin` is called."""
        _log.info("%d more processes explain", number)
        for _ in range(number):
            try:
                process = subprocess.Popen(
                    [sys.executable, "-P", "-c", _PROGRAM, json.dumps(sys.path)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=os.environ | _ONE_THREAD,
                    start_new_session=True,  # so that Ctrl-C reaches this process only
                )
            except OSError as error:
                _log.warning("no more processes can be started (%s)", error.strerror)
                return
            thread = Thread(target=self._feed, args=(process,), daemon=True)
            self._processes.append((process, thread))
            thread.start()

    def begin(self) -> None:
        """Let them take parts."""
        self._begin.set()

    def finished(self) -> Part | None:
        """A part that one of them has done; None if none has."""
        try:
            return self._known(*self._finished.get_nowait())
        except Empty:
            return None

    def awaited(self) -> Part:
        """The part that is done next."""
        return self._known(*self._finished.get())

    def _known(self, part: range, done: Part | None) -> Part:
        """What is done; what failed there is done here."""
        return self._here(part, self._labels) if done is None else done

    def _feed(self, process: subprocess.Popen[bytes]) -> None:
        """Give a process its parts, one after the other, until there are no more or it dies."""
        to, back = process.stdin, process.stdout
        if to is None or back is None:
            return
        batches, reserves = self._here.batches, self._here.reserves
        images, level = batches.images, logging.getLogger("verale").getEffectiveLevel()
        setup = (batches.head, batches.options, images[:0], reserves and reserves.deployment), level
        with suppress(OSError):  # then it is dead, which the first part will tell
            _send(to, setup)
        self._begin.wait()
        alive = True
        while alive and not self._stopped.is_set() and (part := _popped(self._todo)) is not None:
            known = None if self._labels is None else self._labels[part.start : part.stop]
            done: Part | None = None
            try:
                _send(to, (images[part.start : part.stop].contiguous(), part.start, known))
                done = _answer(back)
            except (OSError, EOFError, pickle.UnpicklingError):
                alive = False
                if not self._stopped.is_set():
                    _log.warning(
                        "a process died, perhaps because memory ran out; images %d to %d are explained again",
                        *(part.start, part.stop - 1),
                    )
            finally:
                self._finished.put((part, done))


def _send(stream: BinaryIO | Any, message: object) -> None:
    pickle.dump(message, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


def _answer(stream: BinaryIO | Any) -> Part | None:
    """A process's rows and certificates; None if it failed. What it logs meanwhile is logged here."""
    while isinstance(answer := pickle.load(stream), logging.LogRecord):
        logging.getLogger(answer.name).handle(answer)
    done: Part | None = answer
    return done


def serve() -> None:
    """What another process does: it explains the parts that it gets, until its standard input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    messages: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_receive, args=(messages,), daemon=True).start()
    setup, level = messages.get()
    _log_to(answers, level)
    explain = _explainer(*setup)
    while True:
        message = messages.get()
        try:
            done = explain(*message)
        except Exception:  # it is raised where the part is done again
            _log.info("a part failed:\n%s", traceback.format_exc())
            done = None
        _send(answers, done)


def _receive(messages: SimpleQueue[Any]) -> None:
    """Read messages; where they end, even in the middle of a search, end the process."""
    with suppress(Exception):
        while True:
            messages.put(pickle.load(sys.stdin.buffer))
    os._exit(0)


def _explainer(head: Any, options: Any, none: Tensor, deployment: Any) -> Callable[..., Part]:
    """The function that explains a part."""
    import torch

    from verale.runs.affordable import DefaultAudits
    from verale.search import Batches

    torch.set_num_threads(1)
    batches, audits, reserves = Batches(head, none, options), DefaultAudits(head), None
    if deployment is not None:
        from verale.runs.deployed import Reserves

        reserves = Reserves(head, deployment, options)
    return lambda images, first, labels: explain_part(batches, images, first, labels, audits, reserves)


def _log_to(answers: BinaryIO, level: int) -> None:
    """Send what is logged from a level on to the process that asks; it has said itself that the search is compiled."""

    class Sent(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            record.msg, record.args, record.exc_info = record.getMessage(), None, None
            _send(answers, record)

    log = logging.getLogger("verale")
    log.handlers, log.propagate = [Sent()], False
    log.setLevel(level)
    logging.getLogger("verale.search.compiled").setLevel(logging.ERROR)
