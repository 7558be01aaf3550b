"""A conversation with the program of the kernel `proved`: a question is a line, and so is its answer.

The program is the executable, or a process that runs the same as JavaScript. `proofs/rocq/front/main.ml` and
`answers.ml` say what is asked and answered. Every question has a number of its own, which its answer repeats. So an
answer that is late, or given twice, is not taken for the answer to another question. What is not an answer to the
question is an error, and nothing is proved. That the program ends is an answer, `ended`, and so is that it takes too
long, `limit`.

Only the process that began a conversation may go on with it. After a fork two would write to one pipe.
"""

from __future__ import annotations

import errno
import os
import re
import select
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from threading import Timer
from time import monotonic
from typing import IO, cast
from weakref import finalize

from ..errors import ExecutableError
from .program import Program

_GREETING = re.compile(r"verale-proved 2 [ -~]*")
_ANSWER = re.compile(
    r"([0-9a-f]{1,8}) ([0-9a-f]{1,12}) (?:(ready|proved|not proved)|(not covered|limit|hints|numbers|values|latents):"
    r" ([ -~]+))",
    re.ASCII,
)
_LONGEST = 4096
_LONGEST_TEXT = 2**28
"""Bytes of an answer; of one that is hints or numbers."""
_CHUNK = 2**20
_ENDING = 5.0
_PATIENCE = 4
_STARTING = 30.0
"""Seconds. The program limits its own processor time. Where it has not answered after `_PATIENCE` times as many
seconds, and this many more, it is ended."""
_FOR_EVER = 1e6
"""Seconds, eleven days: as long as any system can wait."""
_SCARCE = (errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE)
"""Why a program that could be run cannot be run now."""
_CAN_WAIT = hasattr(select, "poll")
"""Whether the system can wait for a pipe. Windows cannot: there a timer ends the process."""
_AFFIRMATIVE = {
    **dict.fromkeys(("head", "network"), "ready"),
    **dict.fromkeys(("entailment_hints", "instance_settings"), "hints"),
    **{name: name for name in ("numbers", "values", "latents")},
}
"""The word that answers a question with what it asks for, where that is not `proved`. What is `ready` was told, and is
no question."""


class UnavailableError(Exception):
    """The program cannot be asked now, though nothing is wrong with it: memory is short, or it does not answer."""


@dataclass(frozen=True)
class Answer:
    """What the program says.

    Attributes:
        word: `ready`, `proved`, `not proved`, `not covered`, `limit`, `hints`, `numbers`, `values`, `latents`; or that
            it `ended`.
        why: of all but the first three; of `hints` settings and hints, as `proofs/rocq/front/hints.ml` writes them, of
            numbers these, as `proofs/rocq/front/numbers.ml` does.
        milliseconds: of processor time that the question took.
    """

    word: str
    why: str
    milliseconds: int


class Dialogue:
    """A running program. It ends with this object, and with the first answer that is `limit` or none.

    Args:
        program: what to run.
        megabytes: how much memory it may take.

    Raises:
        KernelError: its file is another one by now.
        UnavailableError: there is too little memory to run it, or it ends or hangs before it greets.
        ExecutableError: it cannot be run at all, or does not greet as it should.
    """

    def __init__(self, program: Program, megabytes: int) -> None:
        self._path = program.path
        self._asked = 0
        try:
            self._process, beginning = program.start(megabytes)
        except OSError as error:
            if error.errno in _SCARCE:
                raise UnavailableError(f"it cannot be run now ({error.strerror})") from None
            raise ExecutableError(f"{self._path} cannot be run ({error.strerror})") from None
        self._input, self._output = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        if _CAN_WAIT:
            os.set_blocking(self._input.fileno(), False)
        self._owner = os.getpid()
        self.close = finalize(self, _end, self._process, self._owner)
        greeting = self._exchange(beginning, _STARTING)
        if greeting is None:
            raise UnavailableError(self._ended())
        if not _GREETING.fullmatch(greeting):
            remedy = "; build it again (`make proved`) if it is older than verale"
            raise self.no_answer(f"greets with {greeting[:80]!r}, which is no answer", remedy)
        self.greeting = greeting

    @property
    def is_open(self) -> bool:
        """Whether this process can ask questions."""
        return self._owner == os.getpid() and self.close.alive and self._process.poll() is None

    def ask(self, question: str, text: bytes, milliseconds: int) -> Answer:
        """The answer to a question.

        Args:
            question: as `proofs/rocq/front/answers.ml` names it.
            text: of what it is about; it ends with a line feed.
            milliseconds: the most processor time.

        Raises:
            ExecutableError: what comes is no answer to this question. The process is ended.
        """
        number, self._asked = self._asked, self._asked + 1
        line = f"{question} {number:x} {milliseconds:x} ".encode() + text
        yes = _AFFIRMATIVE.get(question, "proved")
        words = (yes, "not covered", "limit", *(("not proved",) if yes != "ready" else ()))
        longest = _LONGEST if yes in ("proved", "ready") else _LONGEST_TEXT
        said = self._exchange(line, _PATIENCE * milliseconds / 1000 + _STARTING, longest)
        if said is None:
            is_late = not self.close.alive
            return Answer("limit" if is_late else "ended", self._ended(), milliseconds)
        answer = _ANSWER.fullmatch(said)
        if answer is None or (answer[3] or answer[4]) not in words or int(answer[1], 16) != number:
            raise self.no_answer(f"answers question {number:x}, {question}, with {said[:80]!r}, which is no answer")
        if answer[4] == "limit":
            self.close()  # its memory is free again
        return Answer(answer[3] or answer[4], answer[5] or "", int(answer[2], 16))

    def _exchange(self, line: bytes, seconds: float, longest: int = _LONGEST) -> str | None:
        """Send a line, and receive one, without its end; None if the process ended before. If it takes more seconds, it
        is ended, and so is this dialogue."""
        seconds = min(seconds, _FOR_EVER)
        deadline = monotonic() + seconds
        timer = Timer(seconds, self._process.kill)
        if not _CAN_WAIT:
            timer.start()
        try:
            return self._receive(deadline, longest) if self._send(line, deadline) else None
        except TimeoutError:
            self.close()
            return None
        finally:
            timer.cancel()

    def _send(self, line: bytes, deadline: float) -> bool:
        """Whether all of it was sent."""
        view = memoryview(line)
        while view:
            _wait(self._input, select.POLLOUT, deadline)
            try:
                view = view[os.write(self._input.fileno(), view[:_CHUNK]) :]
            except OSError:  # nobody reads any more
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
        if rest or not end:  # no line: its beginning, which is no answer
            return ascii(bytes(data))[:80]
        return line.decode("ascii", "backslashreplace")

    def _ended(self) -> str:
        """Why there is no answer, after the process has ended. Raises ExecutableError if it ended of its own accord."""
        if not self.close.alive:
            return "it did not answer in time"
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDING)
        code = self._process.poll()
        self.close()
        if not code:
            raise self.no_answer("ended instead of answering")
        how = f"with code {code}"
        if code < 0:
            how = f"by signal {signal.Signals(-code).name if -code in set(signal.Signals) else -code}"
        return f"it ended {how}, as it does where memory is short or limited (ulimit -v)"

    def no_answer(self, does: str, remedy: str = "") -> ExecutableError:
        """The error of what is no answer, after the process has ended."""
        self.close()
        return ExecutableError(f"{self._path} {does}; nothing is proved{remedy}")


def _wait(stream: IO[bytes], event: int, deadline: float) -> None:
    """Wait until a pipe can be written to, or read, or is closed at its other end. Raises TimeoutError."""
    if not _CAN_WAIT:
        return
    poll = select.poll()
    poll.register(stream, event)
    if not poll.poll(max(0.0, deadline - monotonic()) * 1000):
        raise TimeoutError


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    """End a process and forget it; in the child of a fork, only forget it: it is the parent's."""
    if os.getpid() != owner:
        for stream in (process.stdin, process.stdout):
            cast(IO[bytes], stream).close()
        return
    process.kill()
    with process:  # closes its pipes, and waits for it
        pass
