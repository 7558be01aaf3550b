"""Files audited, and what is told of each (certificates/report-v1.md)."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any, TextIO

from .auditor import Auditor
from .certificate import LARGEST
from .cost import LIMIT
from .errors import HeadError, LatentsError
from .head_file import LARGEST as LARGEST_HEAD
from .kernel import KERNELS
from .verdict import EXIT_UNUSABLE, line_of

__all__ = ["FileAuditor", "Outcome", "UNUSABLE", "checker_digest", "file_digest", "say", "tell", "unusable"]

UNUSABLE = "UNUSABLE"
"""The status of a file of which there is no verdict."""
_TYPE = "urn:verale:report:v1"
_PACKAGES = {"arb": "python-flint", "mpmath": "mpmath"}


@dataclass(frozen=True)
class Outcome:
    """What is told of one file.

    Attributes:
        record: as plain data for JSON.
        reused: whether it was taken from an earlier report.
    """

    record: dict[str, Any]
    reused: bool = False

    @property
    def exit_code(self) -> int:
        """That of the verdict, or 9."""
        return int(self.record["exit_code"])

    @property
    def line(self) -> str:
        """On one line."""
        return line_of(self.record)


class FileAuditor:
    """Checks certificate files of one head file.

    Attributes:
        run: what a verdict depends on besides the certificate, as plain data.

    Raises:
        HeadError, LatentsError: a file that cannot be used, named in the message.
        KernelError: a kernel that is unknown or not installed.
        OSError: a file that cannot be read.
    """

    def __init__(
        self, head: str, latents: str | None, kernel: str = "arb", minimality: bool = False, limit: int = LIMIT
    ) -> None:
        head_data = _read(head, LARGEST_HEAD)
        latents_data = None if latents is None else _read(latents)
        try:
            self._auditor = Auditor(head_data, latents_data, kernel, limit)
        except HeadError as error:
            raise HeadError(f"{head}: {error}") from None
        except LatentsError as error:
            raise LatentsError(f"{latents}: {error}") from None
        self._minimality = minimality
        self.run = {
            "head": _digest(head_data),
            "latents": None if latents_data is None else _digest(latents_data),
            "kernel": kernel,
            "minimality": minimality,
            "limit": limit,
            "checker": {"version": _version("verale"), "sha256": checker_digest()},
            "libraries": {
                "python": platform.python_version(),
                **{_PACKAGES[name]: _version(_PACKAGES[name]) for name in KERNELS if kernel in (name, "both")},
            },
        }

    def audit(self, path: str, data: bytes | None = None) -> Outcome:
        """The verdict on a file, or why there is none. Raises nothing: one bad file must not stop the rest.

        Args:
            path: the file, or what the certificate is called.
            data: its bytes, where they are not in a file of that name.
        """
        start = perf_counter()
        digest = None
        try:
            data = _read(path, LARGEST) if data is None else data
            digest = _digest(data) if len(data) <= LARGEST else None
            found = self._auditor.check(data, self._minimality).record()
        except OSError as error:
            return unusable(path, f"cannot be read ({error.strerror})", self.run, digest)
        except MemoryError:
            return unusable(path, "takes more memory than there is", self.run, digest)
        except Exception as error:
            return unusable(
                path, f"the checker failed ({type(error).__name__}: {error}), which it never should; report it",
                self.run, digest,
            )  # fmt: skip
        return Outcome(_head(path, self.run, digest) | {"seconds": perf_counter() - start} | found)


def unusable(path: str, message: str, run: dict[str, Any], digest: str | None = None) -> Outcome:
    """What is told of a file of which there is no verdict."""
    nothing = dict.fromkeys(("predicted", "paradigm", "statements", "margin")) | {"claims": {}, "margins": []}
    why = {"status": UNUSABLE, "reason": "unusable", "message": message, "exit_code": EXIT_UNUSABLE}
    return Outcome(_head(path, run, digest) | {"seconds": None} | why | nothing)


def file_digest(path: str) -> str | None:
    """SHA-256 of a certificate file's bytes, None where it cannot be read or is too large to be one."""
    try:
        data = _read(path, LARGEST)
    except OSError:
        return None
    return _digest(data) if len(data) <= LARGEST else None


@cache
def checker_digest() -> str:
    """What names the code of this checker: SHA-256 of what `sha256sum` says of its source files, sorted by path:
    `cd verale/checker && sha256sum $(find * -name '*.py' | LC_ALL=C sort) | sha256sum`."""
    here = Path(__file__).parent
    sources = {path.relative_to(here).as_posix(): path.read_bytes() for path in here.rglob("*.py")}
    return _digest("".join(f"{_digest(sources[name])}  {name}\n" for name in sorted(sources)).encode())


def tell(outcome: Outcome, as_json: bool) -> None:
    """One line on stdout: the verdict's, or the record as JSON. Of a file without a verdict, one on stderr."""
    if as_json:
        say(json.dumps(outcome.record))
    elif outcome.record["status"] == UNUSABLE:
        say(f"error: {outcome.record['certificate']}: {outcome.record['message']}", sys.stderr)
    else:
        say(outcome.line)


def say(line: str, stream: TextIO | None = None) -> None:
    """Print a line. Where nobody reads any more (`... | head`), print nothing, now and at exit; the work goes on."""
    stream = stream or sys.stdout
    try:
        print(line, file=stream, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _head(path: str, run: dict[str, Any], digest: str | None) -> dict[str, Any]:
    return {"_type": _TYPE, "certificate": path, "sha256": digest, "run": run}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _read(path: str, limit: int | None = None) -> bytes:
    """The bytes of a file; of one longer than `limit` bytes one more than that, which is enough to refuse it."""
    with open(path, "rb") as stream:
        return stream.read() if limit is None else stream.read(limit + 1)
