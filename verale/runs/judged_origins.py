"""Origins files, proved by the checker from the bytes of head, network and pictures."""

from __future__ import annotations

from pathlib import Path

from verale.checker import Auditor
from verale.checker.certificate import LARGEST
from verale.checker.errors import PictureError
from verale.checker.origins import JudgedOrigin, judge_origins
from verale.errors import InputError
from verale.files import read
from verale.runs.arguments import HeadFile
from verale.runs.auditor import AuditOptions, AuditSetup, audit_options, auditor_of

__all__ = ["judged_origins", "origins_auditor"]


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
    try:
        return judge_origins(auditor, read(path, "an origins file", LARGEST + 1))
    except PictureError as error:
        raise InputError(images, str(error)) from error
