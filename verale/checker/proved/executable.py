"""Where the executable of the kernel `proved` is, its digest, and how it is run."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..choices import VARIABLE
from ..errors import KernelError

__all__ = ["Executable", "find_executable"]

_BUILT = Path(__file__).parents[3] / "build" / "verale-proved"
"""Where `make proved` puts it, in a clone."""
_BROUGHT = Path(__file__).with_name("verale-proved")
"""Where a wheel for one platform brings it."""
_REMEDY = (
    "build it with `make proved` in a clone of verale (on Debian, after `apt-get install ocaml-nox ocaml-findlib"
    f" libzarith-ocaml-dev`), and where verale was not installed from that clone, name it in {VARIABLE}; or install"
    " what needs no compiler, with `pip install mini-racer`"
)
_DESCRIPTORS = "/proc/self/fd"
"""Where Linux lets a process run a file that it has open."""


@dataclass(frozen=True)
class Executable:
    """An executable as it is found.

    Attributes:
        path: its file, an absolute path.
        sha256: the digest of its bytes.
        variable: the environment variable that names it; "" for one that belongs to verale.
    """

    path: str
    sha256: str
    variable: str = ""

    language = ""
    packages: tuple[str, ...] = ()
    """It is no script, and computes with no package of Python."""

    @property
    def beginning(self) -> bytes:
        """What it reads before it greets: nothing."""
        return b""

    def start(self, megabytes: int) -> subprocess.Popen[bytes]:
        """Run it, with so much memory.

        What runs is the file whose bytes were digested, by its descriptor where the system can: another file that gets
        its name meanwhile does not.

        Raises:
            KernelError: its file has other bytes by now: the audit log names the digest of these.
            OSError: it cannot be run.
        """
        try:
            with open(self.path, "rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != self.sha256:
                    raise KernelError(
                        f"kernel proved: {self.path} changed while certificates were audited; run this again"
                    )
                opened = file.fileno()
                run = f"{_DESCRIPTORS}/{opened}" if os.path.exists(f"{_DESCRIPTORS}/{opened}") else self.path
                process = _begun([self.path, str(megabytes)], run, (opened,))
        except FileNotFoundError as error:
            raise KernelError(f"kernel proved: {self.path} cannot be read ({error.strerror}); {_REMEDY}") from None
        _limit_memory(process.pid, megabytes)
        return process


def find_executable() -> Executable:
    """The executable that the variable VERALE_PROVED names; without it the one that `make proved` built, or that came
    with the wheel.

    Raises:
        KernelError: there is none, or the variable names it by a relative path. That would lead to another file in
            each folder, of which the current one may be a stranger's.
    """
    named = os.environ.get(VARIABLE)
    if named and not os.path.isabs(named):
        raise KernelError(
            f"kernel proved: {VARIABLE} is {named!r}, expected an absolute path: the current folder may be a stranger's"
        )
    for path in [named] if named else map(str, (_BUILT, _BROUGHT)):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return Executable(path, _digest(path), VARIABLE if named else "")
    raise KernelError(f"kernel proved: there is no executable at {named or _BUILT}; {_REMEDY}")


def _digest(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        raise KernelError(f"kernel proved: {path} cannot be read ({error.strerror}); {_REMEDY}") from None


def _begun(command: list[str], run: str, descriptors: tuple[int, ...]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        executable=run,
        pass_fds=descriptors,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _limit_memory(pid: int, megabytes: int) -> None:
    """The system's own limit, where there is one: it holds where the executable does not look, as in one huge product.
    It is twice as much, for what is reserved and not used, and never more than this process has itself."""
    if sys.platform == "linux":  # pragma: no branch
        import resource

        with suppress(OSError, ValueError):  # it has ended
            most = 2 * megabytes * 2**20
            own = [end for end in resource.prlimit(pid, resource.RLIMIT_AS) if end != resource.RLIM_INFINITY]
            resource.prlimit(pid, resource.RLIMIT_AS, (min(most, *own), min(most, *own)) if own else (most, most))
