"""A process forked from this one: what is imported and compiled here it need not import and read again.

A fork has only the thread that forks, and a lock that another thread holds stays locked in it for ever. So a process
is forked only while it has one thread, whoever would have started others.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
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
    """A process that serves its standard input and output; otherwise it has no open file of this one.

    Args:
        serve: what it does. It ends when this returns or raises.
        environment: variables that are other ones there.

    Raises:
        OSError: there can be no more processes or files.
    """

    def __init__(self, serve: Callable[[], object], environment: Mapping[str, str]) -> None:
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        with suppress(OSError, ValueError):  # nobody reads it, or it is closed
            sys.stdout.flush()  # so that nothing is printed twice
        try:
            self._pid = os.fork()
        except OSError:
            for end in (theirs_in, ours_out, ours_in, theirs_out):
                os.close(end)
            raise
        if self._pid == 0:
            _become(serve, theirs_in, theirs_out, environment)
        os.close(theirs_in)
        os.close(theirs_out)
        self.stdin: BinaryIO = os.fdopen(ours_out, "wb")
        self.stdout: BinaryIO = os.fdopen(ours_in, "rb")

    def kill(self) -> None:
        """End it, if it has not ended."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> None:
        """Wait until it has ended."""
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


def _become(
    serve: Callable[[], object], stdin: int, stdout: int, environment: Mapping[str, str]
) -> NoReturn:  # pragma: no cover  # the other process, which nothing measures
    """Be the other process. Nothing of this one is done there when it ends: no handler, no file is flushed."""
    try:
        os.setsid()  # so that Ctrl-C reaches this process only
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        os.environ.update(environment)
        sys.stdin = os.fdopen(0)
        serve()
    finally:
        os._exit(1)
