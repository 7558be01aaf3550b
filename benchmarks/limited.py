"""A process that answers requests, each within a limit of its own processor time, whatever it computes then."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Self

from verale.errors import VeraleError

__all__ = ["Limited", "limited", "prepare"]


class Limited:
    """The process. It is started with the first request, and again with the first after one that was ended.

    Args:
        serve: called there with a connection and `given`; it calls `prepare`, and answers, each request within
            `limited`, until the other end is closed.
        given: what can be pickled.
    """

    def __init__(self, serve: Callable[..., None], *given: Any) -> None:
        self._serve, self._given = serve, given
        self._process: BaseProcess | None = None
        self._line: Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def ask(self, request: object) -> Any:
        """The answer to a request; None where the limit did not suffice.

        Raises:
            VeraleError: the process ended by itself.
        """
        line = self._line or self._begin()
        try:
            line.send(request)
            return line.recv()
        except (EOFError, ConnectionError):
            code = self.end()
            if code == -signal.SIGPROF:
                return None
            raise VeraleError(f"the process that explains ended with code {code}: the lines above say why") from None

    def _begin(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        line, theirs = context.Pipe()
        self._line, self._process = line, context.Process(target=self._serve, args=(theirs, *self._given), daemon=True)
        self._process.start()
        theirs.close()
        return line

    def end(self) -> int | None:
        """End the process, and return its exit code; the next request starts another."""
        line, process, self._line, self._process = self._line, self._process, None, None
        if line is not None:
            line.close()
        if process is None:
            return None
        process.join()
        return process.exitcode


def prepare() -> None:
    """Let the timer end this process, and leave an interruption to the one that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """End this process when it has computed so long within the block."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
