"""Audit options, and the checker prepared with them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Protocol

from verale.checker import CheckerError
from verale.checker.cost import LIMIT
from verale.checker.file_auditor import FileAuditor, Outcome
from verale.errors import InputError

__all__ = ["AuditOptions", "Stored", "auditor_of", "name_of", "outcome_of"]


class Stored(Protocol):
    """A certificate that is not a file of its own, such as a row of a dataset."""

    @property
    def name(self) -> str:
        """Its name, for messages and records."""

    def read(self) -> bytes:
        """Its bytes."""


def name_of(path: str | Stored) -> str:
    """The name of a certificate: its path, or the name under which it is stored."""
    return path if isinstance(path, str) else path.name


@dataclass(frozen=True)
class AuditOptions:
    """What certificates are audited with: see `audit`. `limit` is the most steps that a proof may take."""

    head: str
    latents: str | None = None
    kernel: str = "arb"
    minimality: bool = False
    limit: int = LIMIT


def auditor_of(options: AuditOptions) -> FileAuditor:
    """The auditor. Raises InputError: a head or latents file that cannot be used."""
    try:
        return FileAuditor(**asdict(options))
    except CheckerError as error:
        raise InputError(*str(error).split(": ", 1)) from error
    except OSError as error:
        raise InputError(error.filename, f"cannot be read ({error.strerror}); expected a file") from error


def outcome_of(auditor: FileAuditor, path: str | Stored) -> Outcome:
    """Audit a certificate, in a file or stored otherwise."""
    return auditor.audit(path) if isinstance(path, str) else auditor.audit(path.name, path.read())
