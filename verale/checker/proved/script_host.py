"""Runs the script of the kernel `proved` in V8, in a process of its own: `program` starts it, with two arguments.

The arguments are the folder of mini-racer's module, and how many megabytes an answer may take. First it reads the
script: the number of its bytes in base 16, a line feed, and these bytes. Then it greets, reads and writes lines as the
executable does (`proofs/rocq/front/main.ml`). It imports nothing of verale.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial

_TICK = 0.05
"""Seconds between two looks at the processor time that an answer has taken."""

Engine = Callable[[str], object]
"""What the script answers to a question. Raises MemoryError beyond its limit of memory."""


def converse(line: bytes, engine: Engine) -> tuple[bytes, bool]:
    """The answer to a line, QUESTION NUMBER MILLISECONDS TEXT, and whether the script can be asked again. The engine
    runs in another thread, so that its time can be looked at."""
    question, number, milliseconds, text = line.split(b" ", 3)
    began, seconds = time.process_time(), int(milliseconds, 16) / 1000
    thread = ThreadPoolExecutor(1)
    running = thread.submit(engine, f"{question.decode('ascii')} {text.decode('ascii')}")
    said, goes_on = "limit: it took more processor time than was allowed", False
    while time.process_time() - began <= seconds:
        if wait([running], _TICK).done:
            said, goes_on = _said(running)
            break
    thread.shutdown(wait=False)
    took = -int(1000 * (began - time.process_time()) // 1)
    return b"%s %x %s\n" % (number, took, said.encode("ascii", "backslashreplace")), goes_on


def _said(ended: Future[object]) -> tuple[str, bool]:
    try:
        said = ended.result()
    except MemoryError:
        return "limit: it took more memory than is allowed", False
    except Exception as error:
        return f"error: {type(error).__name__}: {error}", False
    return (said, True) if isinstance(said, str) else (f"error: {type(said).__name__}", False)


def main() -> None:
    """Greet, and answer lines of stdin until it ends."""
    modules, megabytes = sys.argv[1:]
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # where V8 lacks memory, it would leave its own on the disk
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    script = asked.read(int(asked.readline(), 16))
    sys.path.append(modules)
    from py_mini_racer import JSOOMException, MiniRacer

    racer = MiniRacer()
    racer.eval(script.decode())
    answers.write(f"{racer.eval('verale.greeting')}\n".encode())
    answers.flush()
    call = partial(racer.call, "verale.ask", max_memory=int(megabytes) * 2**20)

    def engine(line: str) -> object:
        try:
            return call(line)
        except JSOOMException:
            raise MemoryError from None

    for line in asked:
        answer, goes_on = converse(line, engine)
        answers.write(answer)
        answers.flush()
        if not goes_on:
            break


if __name__ == "__main__":
    code = 1
    try:
        main()
        code = 0
    finally:
        os._exit(code)  # whatever of V8 still runs
