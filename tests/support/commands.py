"""`verale` for the tests: in this process, where a process of its own adds nothing but its start, and in one."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import chdir, nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from verale.cli import main

Completed = subprocess.CompletedProcess[str]


def in_process(*arguments: object, cwd: Path | None = None) -> Completed:
    """What `verale` prints and returns. It is the entry point itself that runs, so errors are what a user gets.

    Log handlers and signal handlers stay as they are set: `-v`, `--jobs` and interrupts need a process.
    """
    command = ["verale", *map(str, arguments)]
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    directory = chdir(cwd) if cwd is not None else nullcontext()
    with directory, patch.object(sys, "argv", command), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            code = stop.code
    printed, errors = (stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(command, int(code or 0), printed, errors)


def process(*arguments: object, cwd: Path | None = None) -> Completed:
    """The same by a process."""
    command = [sys.executable, "-m", "verale", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=600)
