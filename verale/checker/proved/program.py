"""The program of the kernel `proved`: where it is, its digest, and how it is run.

It is the executable, or where there is none the same as JavaScript, run by V8 (mini-racer): `verale-proved.js` is made
of the OCaml that the executable is made of (`proofs/rocq/javascript.mk`). V8 ends a process in which it lacks memory,
and after a fork it waits for ever. So it has a process of its own (`script_host`), which speaks as the executable does.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ..errors import KernelError
from ..options import VARIABLE

SCRIPT = Path(__file__).with_name("verale-proved.js")
"""The script, which is part of the package."""
_HOST = Path(__file__).with_name("script_host.py")
_ENGINE = "py_mini_racer"
"""The module of mini-racer."""
_BUILT = Path(__file__).parents[3] / "build" / "verale-proved"
"""Where `make proved` puts the executable, in a clone."""
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
class Program:
    """The executable, or the script, as it is found.

    Attributes:
        path: its file, an absolute path.
        sha256: the digest of its bytes.
        variable: the environment variable that names it; "" for one that belongs to verale.
        modules: of the script the folder of the module that runs JavaScript; "" of the executable.
    """

    path: str
    sha256: str
    variable: str = ""
    modules: str = ""

    @property
    def language(self) -> str:
        """Of a script."""
        return "JavaScript" if self.modules else ""

    @property
    def named(self) -> dict[str, str]:
        """As records have it (certificates/audit-log-v1.md): by what a verdict says which program was asked."""
        return {name: said for name in ("variable", "language") if (said := getattr(self, name))}

    @property
    def packages(self) -> tuple[str, ...]:
        """Those of Python that run it."""
        return ("mini-racer",) if self.modules else ()

    def start(self, megabytes: int) -> tuple[subprocess.Popen[bytes], bytes]:
        """Run it, with so much memory; and what has to be sent before it greets.

        What runs is what was digested. An executable is run by its descriptor where the system can, so that no other
        file does that gets its name meanwhile; a script is sent: how many bytes it has, and these.

        Raises:
            KernelError: its file has other bytes by now.
            OSError: it cannot be run.
        """
        try:
            with open(self.path, "rb") as file:
                data = file.read()
                if hashlib.sha256(data).hexdigest() != self.sha256:
                    raise KernelError(
                        f"kernel proved: {self.path} changed while certificates were audited; run this again"
                    )
                if self.modules:
                    from multiprocessing.spawn import get_executable  # also where Python is embedded

                    # Isolated: what lies in the current folder, or what the environment says, is not imported.
                    command = [get_executable(), "-I", "-S", str(_HOST), self.modules, str(megabytes)]
                    return _begun(command), b"%x\n" % len(data) + data
                opened = file.fileno()
                run = f"{_DESCRIPTORS}/{opened}" if os.path.exists(f"{_DESCRIPTORS}/{opened}") else self.path
                process = _begun([self.path, str(megabytes)], run, (opened,))
        except FileNotFoundError as error:
            raise _unreadable(self.path, error) from None
        _limit_memory(process.pid, megabytes)
        return process, b""


def find_program() -> Program:
    """The executable; without one the script. Raises KernelError if neither can be run, or if there is no executable
    where the variable VERALE_PROVED says."""
    try:
        return find_executable()
    except KernelError:
        script = find_script()
        if script is None or os.environ.get(VARIABLE):
            raise
        return script


def find_executable() -> Program:
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
            return Program(path, _digest(path), VARIABLE if named else "")
    raise KernelError(f"kernel proved: there is no executable at {named or _BUILT}; {_REMEDY}")


def find_script() -> Program | None:
    """The script, where there is something to run it."""
    module = find_spec(_ENGINE)
    if module is None or module.origin is None:
        return None
    modules = Path(module.origin).parents[1 if module.submodule_search_locations is not None else 0]
    return Program(str(SCRIPT), _digest(str(SCRIPT)), modules=str(modules.absolute()))


def _digest(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: OSError) -> KernelError:
    return KernelError(f"kernel proved: {path} cannot be read ({error.strerror}); {_REMEDY}")


def _begun(command: list[str], run: str | None = None, descriptors: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
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
