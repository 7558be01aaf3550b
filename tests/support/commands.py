"""`verale` for the tests: in this process, where a process of its own adds nothing but its start, and in one."""

from __future__ import annotations

import io
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager, nullcontext, redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from subprocess import Popen
from typing import Any, TextIO
from unittest.mock import patch

import verale
from verale.cli import main

Completed = subprocess.CompletedProcess[str]


@contextmanager
def _printed(to_out: TextIO, to_err: TextIO, cwd: Path | None) -> Iterator[None]:
    directory = chdir(cwd) if cwd is not None else nullcontext()
    with directory, redirect_stdout(to_out), redirect_stderr(to_err):
        yield


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    return stream.buffer.getvalue().decode()  # type: ignore[attr-defined]


def in_process(
    *arguments: object, cwd: Path | None = None, merged: bool = False, stderr: TextIO | None = None
) -> Completed:
    """What `verale` prints and returns. It is the entry point itself that runs, so errors are what a user gets.

    Signal handlers stay as they are set: `--jobs` and interrupts need a process.
    `merged`: what goes to stderr is printed where stdout goes. `stderr`: what is printed there instead.
    """
    command = ["verale", *map(str, arguments)]
    out = _stream()
    own = out if merged else _stream()
    err = own if stderr is None else stderr
    code: object = 0
    log = logging.getLogger("verale")
    before = log.level
    alone = patch.multiple(log, handlers=[], propagate=False)  # as in a process: what is logged is printed, or nowhere
    with alone, _printed(out, err, cwd), patch.object(sys, "argv", command):
        try:
            main()
        except SystemExit as stop:
            code = stop.code
        finally:
            log.setLevel(before)
    return subprocess.CompletedProcess(command, int(code or 0), _text(out), "" if merged else _text(own))  # type: ignore[call-overload]


def program(text: str, cwd: Path) -> Completed:
    """What a Python program prints, run as `python -c` runs it, but in this process. What it raises is raised."""
    out, before = _stream(), set(sys.modules)
    with _printed(out, out, cwd), patch.object(sys, "path", [str(cwd), *sys.path]):
        try:
            exec(compile(text, "<program>", "exec"), {"__name__": "__main__"})
        finally:
            for name in set(sys.modules) - before:
                if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(cwd)):
                    del sys.modules[name]
    return subprocess.CompletedProcess(["python", "-c", text], 0, _text(out), "")


def process(*arguments: object, cwd: Path | None = None) -> Completed:
    """The same by a process."""
    command = [sys.executable, "-m", "verale", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=600)


def started(*arguments: object, cwd: Path, env: Mapping[str, str] | None = None, **options: Any) -> Popen[str]:
    """A process of `verale` in a folder, where a `sitecustomize.py` is run first; its streams are pipes."""
    paths = os.pathsep.join([str(cwd), str(Path(verale.__file__).parents[1])])
    # Where the tests themselves run in the background, an interrupt is ignored, and that would be inherited.
    options.setdefault("preexec_fn", partial(signal.signal, signal.SIGINT, signal.SIG_DFL))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    environment = os.environ | {"PYTHONPATH": paths} | dict(env or {})
    return Popen([sys.executable, "-m", "verale", *map(str, arguments)], cwd=cwd, text=True, env=environment, **pipes)


def wait_until(process: Popen[str], reached: Callable[[], bool]) -> None:
    """However long it takes, on a machine under load. Fails if the process ends first."""
    while not reached():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
