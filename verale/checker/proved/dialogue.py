"""A conversation with the executable of the kernel `proved`: a question is a line, and so is its answer.

`proofs/rocq/front/main.ml` and `answers.ml` say what is asked and answered. Every question has a number of its own,
which its answer repeats. So an answer that is late, or given twice, is not taken for the answer to another question.
What is not an answer to the question is an error, and nothing is proved.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import IO, cast
from weakref import finalize

from ..errors import ExecutableError
from .executable import Executable

__all__ = ["Answer", "Dialogue", "fits"]

_GREETING = re.compile(r"verale-proved 2 [ -~]*")
_ANSWER = re.compile(
    r"([0-9a-f]{1,8}) ([0-9a-f]{1,12}) (?:(ready|proved|not proved)|(not covered|limit|hints): ([ -~]+))", re.ASCII
)
_LONGEST = 4096
_LONGEST_HINTS = 2**28
"""Bytes of an answer."""
_CHUNK = 2**20
_ENDING = 5.0
_PATIENCE = 4
_STARTING = 30.0
"""Seconds. The executable limits its own processor time. Where it has not answered after `_PATIENCE` times as many
seconds, and this many more, it is ended."""


_TOLD = ("head", "network")
"""What is told, and no question: the answer is `ready`."""
_HINTED = ("entailment_hints", "instance_settings")
"""The questions that are answered with hints instead of `proved`."""


@dataclass(frozen=True)
class Answer:
    """What the executable says: `ready`, `proved`, `not proved`, `not covered`, `limit` or `hints`.

    Attributes:
        word: one of these.
        why: of the last three; of `hints` settings and hints, as `proofs/rocq/front/hints.ml` writes them.
        milliseconds: of processor time that the question took.
    """

    word: str
    why: str
    milliseconds: int


def fits(word: str, question: str) -> bool:
    """Whether a word may answer a question: what says that something is proved answers only what asks for that."""
    match word:
        case "ready":
            return question in _TOLD
        case "proved":
            return question not in _TOLD and question not in _HINTED
        case "hints":
            return question in _HINTED
        case "not proved":
            return question not in _TOLD
        case _:
            return True


class Dialogue:
    """A running executable. It ends with this object.

    Args:
        executable: what to run.
        megabytes: how much memory it may take.

    Raises:
        KernelError: its file is another one by now.
        ExecutableError: it cannot be run, or does not greet as it should.
    """

    def __init__(self, executable: Executable, megabytes: int) -> None:
        executable.require_unchanged()
        self._path = executable.path
        self._asked = 0
        try:
            self._process = subprocess.Popen(
                [executable.path, str(megabytes)],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise ExecutableError(f"{self._path} cannot be run ({error.strerror})") from None
        self._input, self._output = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        os.set_blocking(self._input.fileno(), False)
        self.close = finalize(self, _end, self._process)
        _limit_memory(self._process.pid, megabytes)
        greeting = self._exchange(b"", _STARTING)
        if greeting is None or not _GREETING.fullmatch(greeting):
            raise self._broken("greets with", greeting)
        self.greeting = greeting

    def ask(self, question: str, text: bytes, milliseconds: int) -> Answer:
        """The answer to a question.

        Args:
            question: `head`, `entails`, `instance`, `refuted`, `entailment_hints` or `instance_settings`.
            text: of what it is about; it ends with a line feed.
            milliseconds: the most processor time.

        Raises:
            ExecutableError: what comes is no answer to this question, or nothing comes. The process is ended.
        """
        number, self._asked = self._asked, self._asked + 1
        line = f"{question} {number:x} {milliseconds:x} ".encode() + text
        longest = _LONGEST_HINTS if question in _HINTED else _LONGEST
        said = self._exchange(line, _PATIENCE * milliseconds / 1000 + _STARTING, longest)
        if said is None and not self.close.alive:
            return Answer("limit", "it did not answer in time", milliseconds)
        answer = None if said is None else _ANSWER.fullmatch(said)
        if answer is None or not fits(answer[3] or answer[4], question) or int(answer[1], 16) != number:
            raise self._broken(f"answers question {number:x}, {question}, with", said)
        return Answer(answer[3] or answer[4], answer[5] or "", int(answer[2], 16))

    def _exchange(self, line: bytes, seconds: float, longest: int = _LONGEST) -> str | None:
        """Send a line, and receive one, without its end; None if the process ended before. If it takes more seconds, it
        is ended, and so is this dialogue."""
        deadline = monotonic() + seconds
        try:
            return self._receive(deadline, longest) if self._send(line, deadline) else None
        except TimeoutError:
            self.close()
            return None

    def _send(self, line: bytes, deadline: float) -> bool:
        """Whether all of it was sent."""
        view = memoryview(line)
        while view:
            _wait(self._input, select.POLLOUT, deadline)
            try:
                view = view[os.write(self._input.fileno(), view[:_CHUNK]) :]
            except BrokenPipeError:
                return False
        return True

    def _receive(self, deadline: float, longest: int) -> str | None:
        data = bytearray()
        while b"\n" not in data[-_LONGEST:] and len(data) <= longest:
            _wait(self._output, select.POLLIN, deadline)
            more = os.read(self._output.fileno(), _LONGEST)
            if not more:
                return None
            data += more
        line, end, rest = bytes(data).partition(b"\n")
        return ascii(data)[:80] if rest or not end else line.decode("ascii", "backslashreplace")

    def _broken(self, does: str, said: str | None) -> ExecutableError:
        """The error, after the process has ended."""
        if said is not None:
            self.close()
            remedy = "" if does != "greets with" else "; build it again (`make proved`) if it is older than verale"
            return ExecutableError(f"{self._path} {does} {said[:80]!r}, which is no answer; nothing is proved{remedy}")
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDING)
        code = self._process.poll()
        self.close()
        ended = "" if code is None or code >= 0 else f" (signal {signal.Signals(-code).name})"
        return ExecutableError(f"{self._path} ended{ended} instead of answering; nothing is proved")


def _wait(stream: IO[bytes], event: int, deadline: float) -> None:
    """Wait until a pipe can be written to, or read, or is closed at its other end. Raises TimeoutError."""
    poll = select.poll()
    poll.register(stream, event)
    if not poll.poll(max(0.0, deadline - monotonic()) * 1000):
        raise TimeoutError


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and forget it."""
    process.kill()
    with process:  # closes its pipes, and waits for it
        pass


def _limit_memory(pid: int, megabytes: int) -> None:
    """The system's own limit, where there is one: it holds where the executable does not look, as in one huge product.
    It is twice as much, for what is reserved and not used."""
    if sys.platform == "linux":  # pragma: no branch
        import resource

        most = 2 * megabytes * 2**20
        with suppress(OSError, ValueError):  # it has ended, or may not take as much anyway
            resource.prlimit(pid, resource.RLIMIT_AS, (most, most))
