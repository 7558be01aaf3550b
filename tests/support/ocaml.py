"""Copies of the proved checker with a fault in its OCaml, built in a folder of their own."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FRONT", "ROOT", "OCamlFault", "built", "copied"]

ROOT = Path(__file__).parents[2]
FRONT = ROOT / "proofs" / "rocq" / "front"
_SECONDS = 900


@dataclass(frozen=True)
class OCamlFault:
    """A file of `proofs/rocq/front` with one fault.

    Attributes:
        file: its name.
        wrong: what is wrong then.
        source: the whole file with the fault.
    """

    file: str
    wrong: str
    source: str

    def __str__(self) -> str:
        return f"{self.file}: {self.wrong}"


def copied(fault: OCamlFault | None, rocq: Path) -> None:
    """`proofs/rocq` with the fault, in a new folder."""
    shutil.copytree(FRONT.parent, rocq, ignore=shutil.ignore_patterns("theories", "*.vo*", "*.glob", "*.aux"))
    if fault is not None:
        (rocq / "front" / fault.file).write_text(fault.source, encoding="utf-8")


def built(fault: OCamlFault | None, folder: Path) -> str | None:
    """The executable with the fault, in a folder; None where it does not compile."""
    copied(fault, folder / "rocq")
    command = ["make", "--directory", str(folder / "rocq"), f"BUILD={folder}"]
    made = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
    return str(folder / "verale-proved") if made.returncode == 0 else None
