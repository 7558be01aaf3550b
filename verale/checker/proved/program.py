"""The program of the kernel `proved`: the executable, or the script where there is none."""

from __future__ import annotations

import os

from ..errors import KernelError
from ..kernel import EITHER, VARIABLE
from .executable import Executable, find_executable
from .script import Script, find_script

__all__ = ["Program", "default_kernel", "find_program", "is_slow"]

Program = Executable | Script

LARGEST_FOR_SCRIPT = 2**20
"""Bytes of the largest head about which the script is asked before arb: the script takes some five times as long as the
executable, and the executable as long as arb. Of pictures it takes some thirty times as long as arb."""


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


def default_kernel() -> str:
    """The choice where nobody made one: `EITHER` wherever the proved checker is there, otherwise `arb`.

    Raises:
        KernelError: there is no executable where the variable VERALE_PROVED says.
    """
    try:
        find_program()
    except KernelError:
        if os.environ.get(VARIABLE):
            raise
        return "arb"
    return EITHER


def is_slow(program: Program, size: int, with_pictures: bool) -> bool:
    """Whether the rules are faster, so that `EITHER` asks them first.

    Args:
        program: what would be asked.
        size: of the head's file, in bytes.
        with_pictures: whether what a network gives for pictures is to be proved.
    """
    return isinstance(program, Script) and (with_pictures or size > LARGEST_FOR_SCRIPT)
