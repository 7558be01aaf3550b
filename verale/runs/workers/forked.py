"""A process forked from this one: what is imported here it need not import again.

A fork has only the thread that forks, and a lock that another thread holds stays locked in it for ever. So a process
is forked only while it has one thread, whoever would have started others.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NoReturn

__all__ = ["Forked", "can_fork"]

_THREADS = Path("/proc/self/task")
"""Linux lists the threads of a process here, those of libraries too."""


def can_fork() -> bool:
    """Whether this process has one thread. Elsewhere than on Linux that is not known."""
    return sys.platform == "linux" and _THREADS.is_dir() and len(list(_THREADS.iterdir())) == 1


class Forked:
    """A process that serves its standard input and output. What else this one has open leads nowhere there: the numbers
    stay taken, so that an object of this one which is freed there closes no file of its own.

    Args:
        serve: what it does. It ends when this returns or raises.
        environment: variables that are other ones there.

    Raises:
        OSError: there can be no more processes or files.
    """

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
