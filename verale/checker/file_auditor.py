"""Audits certificate files: one record for each (certificates/audit-log-v1.md), which is the same line, whoever prints
it."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import stat
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from .auditor import Auditor
from .certificate import LARGEST
from .errors import CheckerError, ExecutableError, HeadError, KernelError, LatentsError, NetworkError, PictureError
from .options import AuditOptions
from .read.head_file import LARGEST as LARGEST_HEAD
from .read.latents import LARGEST as LARGEST_LATENTS
from .verdict import EXIT_UNUSABLE, UNUSABLE, Status, Verdict, before_colon, line_of, print_line

if TYPE_CHECKING:
    from .read.pictures import PictureFile


_TYPE = "urn:verale:report:v1"
Opener = Callable[[str, int], int]
"""Gives the descriptor of a file, as `open` has it. Raises OSError."""


@dataclass(frozen=True)
class Outcome:
    """What an audit says about one file.

    Attributes:
        record: plain data for JSON.
    """

    record: dict[str, Any]

    @property
    def reused(self) -> bool:
        """Whether it was taken from an earlier audit log, not proved now."""
        return "reused" in self.record

    @property
    def is_proved(self) -> bool:
        """Whether everything is proved that the audit was asked for."""
        return bool(self.record["status"] == Status.PROVED.value)

    @property
    def exit_code(self) -> int:
        """The verdict's, or 9."""
        return int(self.record["exit_code"])

    @property
    def line(self) -> str:
        """The verdict line."""
        return line_of(self.record) + "  taken from the audit log" * self.reused


class FileAuditor:
    """Checks certificate files of one head file.

    Args:
        options: as of `Auditor`.
        fields: other values of some options, by their names (`verale.checker.options.AuditOptions`).
        pictures: a tensor or PNG file, or a folder, of which all PNG files count; None where `network` is None.
        opener: opens all of these, and certificates; by default wherever links lead.
        head_data: the bytes of the head file, where they have been read.

    Attributes:
        auditor: the checker that it asks.
        run: what a verdict depends on besides the certificate; plain data for JSON.

    Raises:
        HeadError, LatentsError, NetworkError, PictureError: a file that cannot be used, named in the message.
        KernelError, OptionError: as `Auditor`.
        OSError: a file that cannot be read.
    """

    def __init__(
        self,
        head: str,
        latents: str | None,
        options: AuditOptions | str | None = None,
        network: str | None = None,
        pictures: str | None = None,
        opener: Opener | None = None,
        head_data: bytes | None = None,
        **fields: Any,
    ) -> None:
        options = AuditOptions.of(options, fields)
        self._opener = opener
        if pictures is None and network is not None:
            raise PictureError(f"{network}: a network is given without pictures; give a file or a folder of them too")
        paths = {HeadError: head, LatentsError: latents, NetworkError: network or pictures}
        try:
            head_data = _read(head, LARGEST_HEAD, opener) if head_data is None else head_data
            network_data = None
            if network is not None:
                from .read.network_file import LARGEST as LARGEST_NETWORK

                network_data = _read(network, LARGEST_NETWORK, opener)
            files, pictures_digest = (None, None) if pictures is None else picture_files(pictures, opener)
            latents_data = None if latents is None else _read(latents, LARGEST_LATENTS, opener, LatentsError)
            self.auditor = Auditor(head_data, latents_data, options, network_data, files)
        except (HeadError, LatentsError, NetworkError) as error:
            raise type(error)(f"{paths[type(error)]}: {error}") from None
        except MemoryError:
            largest = pictures or latents or head
            raise LatentsError(f"{largest}: takes more memory than there is; give fewer images at once") from None
        program = self.auditor.executable
        executable = {} if program is None else {"executable": program.sha256} | program.named
        self.run = {
            "head": _digest(head_data),
            "latents": None if latents_data is None else _digest(latents_data),
            **({} if network_data is None else {"network": _digest(network_data), "pictures": pictures_digest}),
            "kernel": options.kernel,
            "minimality": options.minimality,
            "entailment_only": options.entailment_only,
            "limit": options.limit,
            **({} if options.deployment is None else {"deployment": asdict(options.deployment)}),
            "checker": {"version": _version("verale"), "sha256": checker_digest(), **executable},
            "libraries": {
                "python": platform.python_version(),
                **{package: _version(package) for package in self.auditor.packages},
            },
        }

    def audit(self, path: str, data: bytes | None = None) -> Outcome:
        """The verdict on a file, or why there is none. Never raises: one bad file must not stop the rest.

        Args:
            path: the file, or the certificate's name if `data` is given.
            data: the certificate's bytes; None reads the file.
        """
        start, digest = perf_counter(), None
        try:
            data = _read(path, LARGEST, self._opener) if data is None else data
            digest = certificate_digest(data)
            verdict = self.auditor.check(data).record()
        except OSError as error:
            why = f"cannot be read ({error.strerror})"
        except (ExecutableError, KernelError, PictureError) as error:
            why = str(error)
        except MemoryError:
            why = "takes more memory than there is"
        except Exception as error:
            why = f"the checker failed ({type(error).__name__}: {error}), which it never should; report it"
        else:
            return Outcome(_head(path, self.run, digest) | {"seconds": perf_counter() - start} | verdict)
        return unusable(path, why, self.run, digest)


def unusable(path: str, message: str, run: dict[str, Any], digest: str | None = None) -> Outcome:
    """The outcome of a file without a verdict."""
    why = {"status": UNUSABLE, "reason": "unusable", "exit_code": EXIT_UNUSABLE}
    nothing = Verdict(Status.MALFORMED, "malformed", message).record() | why
    return Outcome(_head(path, run, digest) | {"seconds": None} | nothing)


def file_digest(path: str, opener: Opener | None = None) -> str | None:
    """SHA-256 of a certificate file's bytes; None if it cannot be read or is too large for a certificate."""
    try:
        return certificate_digest(_read(path, LARGEST, opener))
    except OSError:
        return None


def certificate_digest(data: bytes) -> str | None:
    """SHA-256 of a certificate's bytes, as records have it; None if they are too many for a certificate."""
    return _digest(data) if len(data) <= LARGEST else None


@cache
def checker_digest() -> str:
    """The digest of this checker's code: SHA-256 of what `sha256sum` prints for its source files, sorted by path:
    `cd verale/checker && sha256sum $(find * -name '*.py' | LC_ALL=C sort) | sha256sum`."""
    here = Path(__file__).parent
    paths = {os.fsencode(path.relative_to(here).as_posix()): path for path in here.rglob("*.py")}
    return _digest_of_files({name: _digest(path.read_bytes()) for name, path in paths.items()})


def _head(path: str, run: dict[str, Any], digest: str | None) -> dict[str, Any]:
    return {"_type": _TYPE, "certificate": path, "sha256": digest, "run": run}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _digest_of_files(digests: Mapping[bytes, str]) -> str:
    """SHA-256 of what `sha256sum` of coreutils 9 prints for files, sorted by the bytes of their names.

    It escapes a backslash and ends of lines in a name, and begins the line with a backslash. So a name cannot look like
    several files, and other names or other bytes of the files give other lines.
    """
    lines = []
    for name in sorted(digests):
        escaped = name.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
        lines.append(b"\\" * (escaped != name) + digests[name].encode("ascii") + b"  " + escaped + b"\n")
    return _digest(b"".join(lines))


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _read(path: str, most: int, opener: Opener | None, refusal: type[CheckerError] | None = None) -> bytes:
    """The bytes of a regular file, at most `most` + 1 of them: enough to refuse a file that is too long. Raises the
    refusal, if there is one, before so much is read."""
    with open(path, "rb", opener=opener or _opened) as stream:
        if refusal is None:
            return stream.read(most + 1)
        if (size := os.fstat(stream.fileno()).st_size) > most:
            raise refusal(f"it has {size} bytes, expected at most {most}; give fewer images at once")
        return stream.read()


def picture_files(path: str, opener: Opener | None = None) -> tuple[list[PictureFile], str]:
    """The files of pictures at a path, and a digest: of a file its SHA-256, of a folder that of what `sha256sum` prints
    for its PNG files, by their paths in it, sorted (`_digest_of_files`). What is in them is not looked at yet.

    Raises:
        PictureError: there is none, or a file is too long.
    """
    from .read.pictures import LARGEST, LARGEST_PNG, PictureFile

    if not os.path.isdir(path):
        try:
            data = _read(path, LARGEST, opener, PictureError)
        except PictureError as error:
            raise PictureError(f"{path}: {error}") from None
        return [PictureFile(path, partial(bytes, data))], _digest(data)
    found = (each for each in Path(path).rglob("*") if each.suffix.lower() == ".png")
    names = sorted(os.fsencode(each.relative_to(path).as_posix()) for each in found)
    if not names:
        raise PictureError(f"{path}: holds no PNG file; give a folder of them, or a tensor file of pictures")
    files, digests = [], {}
    for name in names:
        png = os.path.join(path, os.fsdecode(name))
        with suppress(OSError):  # of what cannot be read `sha256sum` prints nothing
            digests[name] = _digest(_read(png, LARGEST_PNG, opener))
        files.append(PictureFile(png, partial(_read_png, png, digests.get(name), opener)))
    return files, _digest_of_files(digests)


def _read_png(path: str, digest: str | None, opener: Opener | None) -> bytes:
    """The bytes of a PNG file. Raises OSError; PictureError, if their digest is another one by now."""
    from .read.pictures import CHANGED, LARGEST_PNG

    data = _read(path, LARGEST_PNG, opener)
    if _digest(data) != digest:
        raise PictureError(CHANGED)
    return data


def _opened(path: str, flags: int) -> int:
    """The descriptor of a regular file, without waiting. Raises OSError for a pipe or a device: they may never end."""
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):  # of a folder, `open` itself says so
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is a pipe, socket or device; write its content to a regular file", path)


def print_outcome(outcome: Outcome, as_json: bool) -> None:
    """Print the verdict line, or the record as JSON, on stdout; for a file without a verdict one line on stderr."""
    if as_json:
        print_line(json.dumps(outcome.record))
    elif outcome.record["status"] == UNUSABLE:
        print_line(f"error: {before_colon(outcome.record['certificate'])}: {outcome.record['message']}", sys.stderr)
    else:
        print_line(outcome.line)
