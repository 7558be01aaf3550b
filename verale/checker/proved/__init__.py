"""The kernel `proved`: a checker that is proved right in Rocq, extracted to OCaml (`proofs/rocq`), and asked from here.

Files are read by this package's readers, which is what they have to be right for: steps 1 to 4 of certificates/v1.md.
What is claimed goes to the executable as integers (`text`), and it answers (`dialogue`).
"""

from __future__ import annotations

from .audit import ProvedAudit
from .claims import ProvedClaims
from .executable import Executable, find_executable

__all__ = ["Executable", "ProvedAudit", "ProvedClaims", "find_executable"]
