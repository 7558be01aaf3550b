"""The program of the kernel `proved`: the executable, or the script where there is none."""

from __future__ import annotations

import os

from ..errors import KernelError
from .dialogue import Dialogue
from .executable import VARIABLE, Executable, find_executable
from .script import Script, ScriptDialogue, find_script

__all__ = ["Program", "begin", "find_program"]

Program = Executable | Script


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


def begin(program: Program, megabytes: int) -> Dialogue | ScriptDialogue:
    """A conversation with it, which may take so much memory. Raises KernelError, ExecutableError."""
    match program:
        case Executable():
            return Dialogue(program, megabytes)
        case Script():
            return ScriptDialogue(program, megabytes)
