"""The program of the kernel `proved`: the executable, or the script where there is none."""

from __future__ import annotations

import os

from ..choices import VARIABLE
from ..errors import KernelError
from .executable import Executable, find_executable
from .script import Script, find_script

__all__ = ["Program", "find_program", "find_program_if_any"]

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


def find_program_if_any() -> Program | None:
    """The same, but None where neither can be run. Raises KernelError: there is no executable where the variable
    VERALE_PROVED says."""
    try:
        return find_program()
    except KernelError:
        if os.environ.get(VARIABLE):
            raise
        return None
