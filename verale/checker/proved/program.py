"""The program of the kernel `proved`: the executable, or the script where there is none."""

from __future__ import annotations

import os

from ..errors import KernelError
from ..kernel import EITHER
from .dialogue import Dialogue
from .executable import VARIABLE, Executable, find_executable
from .script import Script, ScriptDialogue, find_script

__all__ = ["Program", "begin", "default_kernel", "find_program"]

Program = Executable | Script

LARGEST_FOR_SCRIPT = 2**20
"""Bytes of the largest head that is told to the script where nobody chose a kernel: the script takes some five times
as long as the executable, and the executable as long as arb. Of pictures it takes some thirty times as long as arb."""


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


def default_kernel(size: int, with_pictures: bool) -> str:
    """The choice where nobody made one: `EITHER` wherever the proved checker is there, otherwise `arb`.

    Args:
        size: of the head's file, in bytes.
        with_pictures: whether what a network gives for pictures is to be proved.

    Raises:
        KernelError: there is no executable where the variable VERALE_PROVED says.
    """
    try:
        program = find_program()
    except KernelError:
        if os.environ.get(VARIABLE):
            raise
        return "arb"
    is_slow = isinstance(program, Script) and (with_pictures or size > LARGEST_FOR_SCRIPT)
    return "arb" if is_slow else EITHER
