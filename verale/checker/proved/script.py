"""The kernel `proved` without a compiler: the same program as JavaScript, run by V8 (mini-racer) in this process.

`verale-proved.js` is made of the OCaml that the executable is made of (`proofs/rocq/javascript.mk`). What it is asked,
and what it answers, is told in `proofs/rocq/front/browser.ml`.
"""

from __future__ import annotations

import hashlib
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol
from weakref import finalize

from ..errors import ExecutableError, KernelError
from .dialogue import Answer, fits

__all__ = ["SCRIPT", "V8", "Engine", "Script", "ScriptDialogue", "find_script"]

SCRIPT = Path(__file__).with_name("verale-proved.js")
"""Its file, which is part of the package."""
_ENGINE = "py_mini_racer"
"""The module of mini-racer."""
_ANSWER = re.compile(r"(ready|proved|not proved)|(not covered|limit|hints): ([ -~]+)", re.ASCII)
_PATIENCE = 4
_STARTING = 30.0
"""Seconds, as for the executable (`dialogue`): V8 counts those of the clock, and not those of the processor."""


class Engine(Protocol):
    """What runs JavaScript, and keeps what it has defined. It raises what it wants where it cannot answer."""

    def define(self, script: str) -> None:
        """Run a script, and keep what it defines."""

    def ask(self, line: str, seconds: float, megabytes: int) -> object:
        """What the script answers to a line. Raises TimeoutError or MemoryError beyond these limits."""

    def close(self) -> None:
        """End it."""


@dataclass(frozen=True)
class Script:
    """The script as it is found.

    Attributes:
        path: its file.
        sha256: the digest of its bytes.
    """

    path: str
    sha256: str


def find_script() -> Script | None:
    """The script, where there is something to run it."""
    if find_spec(_ENGINE) is None:
        return None
    return Script(str(SCRIPT), hashlib.sha256(SCRIPT.read_bytes()).hexdigest())


class ScriptDialogue:
    """The script as it runs. It ends with this object, and with the first answer that is none.

    Args:
        script: what to run.
        megabytes: how much memory it may take.
        engine: what runs it; by default V8.

    Raises:
        KernelError: its file is another one by now: the audit log names the digest of the first.
        ExecutableError: it cannot be run.
    """

    def __init__(self, script: Script, megabytes: int, engine: Engine | None = None) -> None:
        data = Path(script.path).read_bytes()
        if hashlib.sha256(data).hexdigest() != script.sha256:
            raise KernelError(f"kernel proved: {script.path} changed while certificates were audited; run this again")
        self._path = script.path
        self._engine = engine or V8()
        self._megabytes = megabytes
        self.close = finalize(self, self._engine.close)
        try:
            self._engine.define(data.decode())
        except Exception as error:
            self.close()
            raise ExecutableError(f"{self._path} cannot be run ({type(error).__name__}: {error})") from None

    def ask(self, question: str, text: bytes, milliseconds: int) -> Answer:
        """The answer to a question.

        Args:
            question: as for `Dialogue`.
            text: of what it is about; it ends with a line feed.
            milliseconds: the most processor time, about.

        Raises:
            ExecutableError: what comes is no answer to this question. Nothing more can be asked.
        """
        line = f"{question} {text.decode('ascii')}"
        began = time.process_time()
        try:
            said = self._engine.ask(line, _PATIENCE * milliseconds / 1000 + _STARTING, self._megabytes)
        except TimeoutError:
            self.close()
            return Answer("limit", "it did not answer in time", milliseconds)
        except MemoryError:
            self.close()
            return Answer("limit", f"it took more than {self._megabytes} MB", milliseconds)
        except Exception as error:
            raise self._broken(question, f"{type(error).__name__}: {error}") from None
        took = -int(1000 * (began - time.process_time()) // 1)
        answer = _ANSWER.fullmatch(said) if isinstance(said, str) else None
        if answer is None or not fits(answer[1] or answer[2], question):
            raise self._broken(question, ascii(said))
        return Answer(answer[1] or answer[2], answer[3] or "", took)

    def _broken(self, question: str, said: str) -> ExecutableError:
        """The error, after the script has ended."""
        self.close()
        what = f"{self._path} answers {question} with {said[:80]}"
        return ExecutableError(f"{what}, which is no answer; nothing is proved")


class V8:
    """V8, by mini-racer. It is asked from a thread of its own, since it refuses to wait where an event loop runs, as in
    a notebook."""

    def __init__(self) -> None:
        from py_mini_racer import JSOOMException, MiniRacer

        self._out_of_memory = JSOOMException
        self._thread = ThreadPoolExecutor(1)
        self._racer = self._thread.submit(MiniRacer).result()

    def define(self, script: str) -> None:
        self._thread.submit(self._racer.eval, script).result()

    def ask(self, line: str, seconds: float, megabytes: int) -> object:
        try:
            return self.call("verale.ask", line, seconds=seconds, most=megabytes * 2**20)
        except self._out_of_memory:
            raise MemoryError from None

    def call(self, function: str, *given: object, seconds: float, most: int | None = None) -> object:
        """What a function that was defined answers, within so many seconds and bytes; mini-racer's errors otherwise."""
        call = partial(self._racer.call, timeout_sec=seconds, max_memory=most)
        return self._thread.submit(call, function, *given).result()

    def close(self) -> None:
        self._racer.close()
        self._thread.shutdown(wait=False)
