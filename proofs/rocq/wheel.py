"""Makes a wheel that brings the executable of the proved checker: a hook of hatchling, which runs for every wheel.

    make -C proofs/rocq ../../build/static/verale-proved
    VERALE_WHEEL_EXECUTABLE=build/static/verale-proved python -m hatchling build -t wheel

Without the variable the wheel is for every platform, and the proved checker runs as JavaScript.
"""

from __future__ import annotations

import os
import platform
import struct
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VARIABLE = "VERALE_WHEEL_EXECUTABLE"
INSIDE = "verale/checker/proved/verale-proved"
_MACHINES = {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
_INTERPRETER = 3
"""The type of a program header (ELF) that names a dynamic linker."""


def is_static(program: bytes) -> bool:
    """Whether a program is an ELF file of 64 bits, little-endian, that names no dynamic linker."""
    if program[:6] != b"\x7fELF\x02\x01":
        return False
    (start,) = struct.unpack_from("<Q", program, 32)
    size, count = struct.unpack_from("<HH", program, 54)
    return all(struct.unpack_from("<I", program, start + size * i)[0] != _INTERPRETER for i in range(count))


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        given = os.environ.get(VARIABLE)
        if not given or version != "standard":
            return
        program, machine = Path(self.root, given), _MACHINES.get(platform.machine())
        if sys.platform != "linux" or machine is None:
            raise ValueError(f"{VARIABLE} is for Linux on x86-64 and ARM")
        if not os.access(program, os.X_OK) or not is_static(program.read_bytes()):
            raise ValueError(f"{VARIABLE}: {program} is no executable that is linked statically")
        build_data["force_include"][str(program)] = INSIDE
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-manylinux2014_{machine}.musllinux_1_1_{machine}"
