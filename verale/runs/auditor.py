"""Audit options, and the checker prepared with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from verale.checker import CheckerError
from verale.checker.file_auditor import FileAuditor, Outcome, unusable
from verale.checker.limit import LIMIT
from verale.errors import InputError, UsageError, option
from verale.files import opener_of

if TYPE_CHECKING:
    from verale.checker.deployment import Deployment

__all__ = ["AuditOptions", "Stored", "auditor_of", "deployment_of", "name_of", "outcome_of"]


class Stored(Protocol):
    """A certificate that is not a file of its own, such as a row of a dataset."""

    @property
    def name(self) -> str:
        """Its name, for messages and records."""

    def read(self) -> bytes:
        """Its bytes. Raises InputError."""


def name_of(path: str | Stored) -> str:
    """The name of a certificate: its path, or the name under which it is stored."""
    return path if isinstance(path, str) else path.name


@dataclass(frozen=True)
class AuditOptions:
    """What certificates are audited with: see `audit`. `limit` is the most seconds of a proof for each megabyte, and
    `pictures` a file, or a folder of PNG files."""

    head: str
    latents: str | None = None
    kernel: str | None = None
    minimality: bool = False
    limit: float = LIMIT
    entailment_only: bool = False
    deployment: Deployment | None = None
    network: str | None = None
    pictures: str | None = None


def deployment_of(formula: str | None, ulps: str | None) -> Deployment | None:
    """How a deployed head computes, from what a user says; None without a formula. Raises UsageError."""
    if formula is None and ulps is None:
        return None
    from verale.checker.deployment import parse_deployment

    try:
        return parse_deployment(formula, ulps)
    except ValueError as error:
        raise UsageError(f"{option('deployment')}: {error}") from error


def auditor_of(options: AuditOptions, head: bytes | None = None) -> FileAuditor:
    """The auditor; of the head's bytes, where its file has been read.

    Raises:
        InputError: a file of what certificates are about that cannot be used.
    """
    try:
        files = options.head, options.latents, options.network, options.pictures
        return FileAuditor(**vars(options), opener=opener_of(*files), head_data=head)
    except CheckerError as error:
        path, named, problem = str(error).partition(": ")
        raise (InputError(path, problem) if named else UsageError(path)) from error
    except OSError as error:
        raise InputError(error.filename, f"cannot be read ({error.strerror}); expected a file") from error


def outcome_of(auditor: FileAuditor, path: str | Stored) -> Outcome:
    """Audit a certificate, in a file or stored otherwise. One that cannot be read is an outcome too."""
    if isinstance(path, str):
        return auditor.audit(path)
    try:
        data = path.read()
    except InputError as error:
        return unusable(path.name, str(error), auditor.run)
    return auditor.audit(path.name, data)
