"""What a command costs beyond its imports: a process that has imported everything forks one child a command.

So an attack costs a test what it costs the command, not seconds of imports; and a child's memory is its own growth.
Run as a program, this file is that process: commands come in on stdin, one JSON list a line, costs go out on stdout.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

__all__ = ["Cost", "Measurer", "measurer"]

_DATA = 4 * 2**30
"""Bytes of data that a command may add; what would take more fails, instead of the machine. Of address space V8, which
runs the proved checker where there is no executable, reserves far more than it uses."""

_SECONDS = 30
"""Processor seconds after which a command is killed."""


@dataclass(frozen=True)
class Cost:
    """One run of a command.

    Attributes:
        code: its exit code; negative if it was killed, after 30 processor seconds or `timeout` seconds of waiting.
        seconds: processor time, which a loaded machine changes little.
        megabytes: growth of its resident memory beyond that of the imports.
        out, err: what it printed.
    """

    code: int
    seconds: float
    megabytes: float
    out: str
    err: str


class Measurer:
    """Runs commands in children of a process that has imported what they need."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, cwd: Path, *arguments: object, timeout: int = 120, grace: float | None = None) -> Cost:
        """`verale` with these arguments in a folder; after "checker" those of `python -m verale.checker`. A search for
        counterexamples may take `grace` seconds more than asked for; by default as many as it takes for users."""
        request = {"cwd": str(cwd), "arguments": list(map(str, arguments)), "timeout": timeout}
        request["grace"] = grace
        self._process.stdin.write(json.dumps(request) + "\n")  # type: ignore[union-attr]
        self._process.stdin.flush()  # type: ignore[union-attr]
        return Cost(**json.loads(self._process.stdout.readline()))  # type: ignore[union-attr]


@contextmanager
def measurer() -> Iterator[Measurer]:
    """A measurer, which ends with the block."""
    command = [sys.executable, __file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Measurer(process)
        finally:
            process.kill()


_IMPORTS = (
    *("flint", "jinja2", "matplotlib.figure", "mpmath", "numpy", "pandas", "PIL.Image", "pyarrow.parquet"),
    *("safetensors.torch", "torch", "verale.cli.audit", "verale.cli.explain", "verale.counterexample"),
    *("verale.checker.reading.audit", "verale.report.page", "verale.report.picture", "verale.report.table"),
    *("verale.runs.explain", "verale.runs.refute", "verale.search"),
)


def _resident() -> int:
    """Bytes of this process that are resident."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _child(request: dict[str, object], out: int, err: int, start: int) -> None:
    os.write(start, str(_resident()).encode())  # less than its parent's: pages of files come back when they are used
    os.chdir(str(request["cwd"]))
    for descriptor, to in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1), (err, 2)):
        os.dup2(descriptor, to)
    data = int(Path("/proc/self/statm").read_text().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_DATA, (data + _DATA,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS,) * 2)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, mode, encoding="utf-8") for n, mode in enumerate("rww"))
    first, *rest = request["arguments"]  # type: ignore[misc]
    if request["grace"] is not None:
        import verale.counterexample as searched

        searched.counterexamples = partial(searched.counterexamples, grace=request["grace"])
    code: object = 1
    try:
        if first == "checker":
            from verale.checker.__main__ import main

            code = main(rest)
        else:
            from verale.cli import main as command

            sys.argv = ["verale", first, *rest]
            command()
    except SystemExit as stop:
        code = stop.code
    except BaseException:
        import traceback

        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0)


def _serve() -> None:
    import signal
    import tempfile
    import time

    for line in sys.stdin:
        request = json.loads(line)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                _child(request, out.fileno(), err.fileno(), writer)
            before = int(os.read(reader, 99))
            os.close(reader)
            os.close(writer)
            deadline, done = time.monotonic() + request["timeout"], 0
            while not done:
                done, status, usage = os.wait4(child, os.WNOHANG)
                if not done:
                    if time.monotonic() > deadline:
                        os.kill(child, signal.SIGKILL)
                    time.sleep(0.01)
            printed = []
            for stream in (out, err):
                stream.seek(0)
                printed.append(stream.read().decode("utf-8", "replace"))
            cost = {
                "code": os.waitstatus_to_exitcode(status),
                "seconds": usage.ru_utime + usage.ru_stime,
                "megabytes": max(0, usage.ru_maxrss * 1024 - before) / 1e6,
                "out": printed[0],
                "err": printed[1],
            }
        sys.stdout.write(json.dumps(cost) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]
    from support.forking import keep_one_thread

    keep_one_thread()
    for name in _IMPORTS:
        import_module(name)
    gc.freeze()  # no child looks for garbage among these objects, whose pages it would copy
    _serve()
