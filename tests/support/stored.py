"""Stored certificates for tests of audits in processes, which import this file and nothing that takes long."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

from verale.errors import InputError


@dataclass(frozen=True)
class Deadly:
    """A stored certificate; whoever reads it dies."""

    name: str

    def read(self) -> bytes:
        os.kill(os.getpid(), signal.SIGKILL)
        return b""


_TIRED: list[str] = []
"""What this process has read."""


@dataclass(frozen=True)
class Exhausting:
    """A stored certificate, malformed; whoever has read another one before dies, as where memory is short."""

    name: str

    def read(self) -> bytes:
        if _TIRED:
            os.kill(os.getpid(), signal.SIGKILL)
        _TIRED.append(self.name)
        return b"{"


@dataclass(frozen=True)
class Unreadable:
    """A stored certificate in a damaged file."""

    name: str

    def read(self) -> bytes:
        raise InputError("x.parquet", "cannot be read")
