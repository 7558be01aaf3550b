"""The kernel `proved`: a checker that is proved right in Rocq, extracted to OCaml (`proofs/rocq`), and asked from here.

Files are read by this package's readers, which is what they have to be right for: steps 1 to 4 of certificates/v1.md.
What is claimed goes to a program as integers (`text`), and it answers (`dialogue`): the executable, or where there is
none the same as JavaScript (`program`). Either is a process of its own.
"""

from __future__ import annotations

from .audit import ProvedAudit
from .claims import ProvedClaims
from .program import (
    SCRIPT,
    Executable,
    Program,
    Script,
    find_executable,
    find_program,
    find_program_if_any,
    find_script,
)

__all__ = [
    "SCRIPT",
    "Executable",
    "Program",
    "ProvedAudit",
    "ProvedClaims",
    "Script",
    "find_executable",
    "find_program",
    "find_program_if_any",
    "find_script",
]
