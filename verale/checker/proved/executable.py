"""Where the executable of the kernel `proved` is, and its digest."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from ..errors import KernelError

__all__ = ["VARIABLE", "Executable", "find_executable"]

VARIABLE = "VERALE_PROVED"
_BUILT = Path(__file__).parents[3] / "build" / "verale-proved"
"""Where `make proved` puts it, in a clone."""
_BROUGHT = Path(__file__).with_name("verale-proved")
"""Where a wheel for one platform brings it."""
_REMEDY = (
    "build it with `make proved` in a clone of verale (on Debian, after `apt-get install ocaml-nox ocaml-findlib"
    f" libzarith-ocaml-dev`), and where verale was not installed from that clone, name it in {VARIABLE}; or install"
    " what needs no compiler, with `pip install mini-racer`"
)


@dataclass(frozen=True)
class Executable:
    """An executable as it is found.

    Attributes:
        path: its file.
        sha256: the digest of its bytes.
    """

    path: str
    sha256: str

    def require_unchanged(self) -> None:
        """Raises KernelError if the file has other bytes by now: the audit log names the digest of these."""
        if _digest(self.path) != self.sha256:
            raise KernelError(f"kernel proved: {self.path} changed while certificates were audited; run this again")


def find_executable() -> Executable:
    """The executable that the variable VERALE_PROVED names; without it the one that `make proved` built, or that came
    with the wheel. Raises KernelError if there is none."""
    named = os.environ.get(VARIABLE)
    for path in [named] if named else map(str, (_BUILT, _BROUGHT)):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return Executable(path, _digest(path))
    raise KernelError(f"kernel proved: there is no executable at {named or _BUILT}; {_REMEDY}")


def _digest(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        raise KernelError(f"kernel proved: {path} cannot be read ({error.strerror}); {_REMEDY}") from None
