"""The kernel `proved` without a compiler: the same program as JavaScript, run by V8 (mini-racer).

`verale-proved.js` is made of the OCaml that the executable is made of (`proofs/rocq/javascript.mk`). V8 ends a process
in which it lacks memory, and after a fork it waits for ever. So it has a process of its own (`script_host`), which
speaks as the executable does.
"""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ..errors import KernelError

__all__ = ["SCRIPT", "Script", "find_script"]

SCRIPT = Path(__file__).with_name("verale-proved.js")
"""Its file, which is part of the package."""
_HOST = Path(__file__).with_name("script_host.py")
_ENGINE = "py_mini_racer"
"""The module of mini-racer."""


@dataclass(frozen=True)
class Script:
    """The script as it is found.

    Attributes:
        path: its file.
        sha256: the digest of its bytes.
        modules: the folder of the module that runs JavaScript.
    """

    path: str
    sha256: str
    modules: str

    variable = ""
    """No environment variable names it."""
    language = "JavaScript"
    packages = ("mini-racer",)

    @property
    def beginning(self) -> bytes:
        """What the host reads before it greets: how many bytes the script has, and these. So what runs is what was
        digested. Raises KernelError: they are other ones by now; the audit log names the digest of the first."""
        data = Path(self.path).read_bytes()
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise KernelError(f"kernel proved: {self.path} changed while certificates were audited; run this again")
        return b"%x\n" % len(data) + data

    def start(self, megabytes: int) -> subprocess.Popen[bytes]:
        """Run it, with so much memory. Raises OSError: it cannot be run."""
        from multiprocessing.spawn import get_executable  # also where Python is embedded in another program

        return subprocess.Popen(
            # Isolated: what lies in the current folder, or what the environment says, is not imported.
            [get_executable(), "-I", "-S", str(_HOST), self.modules, str(megabytes)],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )


def find_script() -> Script | None:
    """The script, where there is something to run it."""
    found = find_spec(_ENGINE)
    if found is None or found.origin is None:
        return None
    modules = Path(found.origin).parents[1 if found.submodule_search_locations is not None else 0]
    return Script(str(SCRIPT), hashlib.sha256(SCRIPT.read_bytes()).hexdigest(), str(modules.absolute()))
