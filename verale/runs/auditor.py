"""An audit: its files, its options, and the checker prepared with them, for certificates and for origins files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from verale.checker import Auditor, CheckerError, KernelError
from verale.checker.certificate import LARGEST
from verale.checker.errors import OptionError, PictureError
from verale.checker.file_auditor import FileAuditor, Outcome, unusable
from verale.checker.options import AuditOptions
from verale.errors import InputError, UsageError, option
from verale.files import opener_of, read
from verale.options import require_known

if TYPE_CHECKING:
    from verale.checker.origins import JudgedOrigin
    from verale.runs.arguments import HeadFile

__all__ = [
    "PROVING",
    "AuditOptions",
    "AuditSetup",
    "Stored",
    "StoredBytes",
    "audit_options",
    "auditor_of",
    "judged_origins",
    "name_of",
    "origins_auditor",
    "outcome_of",
]


class Stored(Protocol):
    """A certificate that is not a file of its own, such as a row of a dataset."""

    @property
    def name(self) -> str:
        """Its name, for messages and records."""

    def read(self) -> bytes:
        """Its bytes. Raises InputError."""


@dataclass(frozen=True)
class StoredBytes:
    """A certificate whose bytes are at hand; perhaps no file has them.

    Attributes:
        name: for messages and records.
        data: the bytes.
    """

    name: str
    data: bytes

    def read(self) -> bytes:
        """The bytes."""
        return self.data


def name_of(path: str | Stored) -> str:
    """The name of a certificate: its path, or the name under which it is stored."""
    return path if isinstance(path, str) else path.name


@dataclass(frozen=True)
class AuditSetup:
    """The files with which certificates are audited, and the options.

    Attributes:
        head, latents, network: paths.
        options: who proves, what, and how long it may take.
        pictures: a file, or a folder of PNG files.
    """

    head: str
    latents: str | None = None
    options: AuditOptions = field(default_factory=AuditOptions)
    network: str | None = None
    pictures: str | None = None


PROVING = ("kernel", "limit")
"""The options of whoever asks the checker for proofs, but decides what is proved."""


def audit_options(
    options: AuditOptions | str | None = None, fields: Mapping[str, Any] | None = None, only: Iterable[str] = ()
) -> AuditOptions:
    """The options of an audit, as a caller gives them.

    Args:
        options: all; or the name of a kernel; None for the defaults.
        fields: other values of some, by name.
        only: those that this audit has; by default all.

    Raises:
        UsageError: another name, or a value that cannot be used.
    """
    require_known(AuditOptions, fields or (), only, ("ulps",) if not (*only,) else ())
    try:
        made = AuditOptions.of(options, fields)
    except (KernelError, OptionError) as error:
        name, rest = str(error).split(" ", 1)
        raise UsageError(f"{option(name)} {rest}") from error
    for name, value in vars(made).items() if (*only,) else ():
        if name not in only and value != getattr(AuditOptions(), name):
            raise UsageError(f"{option(name)} is for an audit, expected {' and '.join(only)} alone")
    return made


def auditor_of(setup: AuditSetup, head: bytes | None = None) -> FileAuditor:
    """The auditor; of the head's bytes, where its file has been read.

    Raises:
        InputError: a file of what certificates are about that cannot be used.
    """
    try:
        files = setup.head, setup.latents, setup.network, setup.pictures
        return FileAuditor(**vars(setup), opener=opener_of(*files), head_data=head)
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


def origins_auditor(
    head: str | Path | HeadFile,
    network: str | Path,
    images: str | Path,
    options: AuditOptions | str | None = None,
) -> Auditor:
    """The checker for origins files.

    Args:
        head, network: their files.
        images: a folder of PNG files, a PNG file, or a tensor file of pictures.
        options: who proves, and how long that may take.

    Raises:
        InputError: a file that cannot be used.
    """
    from verale.runs.arguments import HeadFile

    file = HeadFile.of(head)
    setup = AuditSetup(file.path, None, audit_options(options), str(network), str(images))
    return auditor_of(setup, file.data).auditor


def judged_origins(path: str | Path, auditor: Auditor, images: str | Path) -> tuple[JudgedOrigin, ...]:
    """What the checker proves of each origin of a file.

    Args:
        path: the origins file.
        auditor: see `origins_auditor`.
        images: the path of its pictures, for messages.

    Raises:
        InputError: a file that cannot be used.
        FormatError, UnprovedError: of the whole file; see `judge_origins`.
    """
    from verale.checker.origins import judge_origins

    try:
        return judge_origins(auditor, read(path, "an origins file", LARGEST + 1))
    except PictureError as error:
        raise InputError(images, str(error)) from error
