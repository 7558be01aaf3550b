"""What commands share: files given as arguments, and the extra that brings a module."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping, Sequence
from os.path import lexists
from pathlib import Path

from verale.errors import InputError
from verale.files import CERTIFICATE_SUFFIX, SentFile, certificates_folder, certificates_in
from verale.runs.listed import differences
from verale.runs.table import TABLE

__all__ = ["EXTRA_OF", "certificate_files", "log_to_stderr", "one_certificate", "print_record", "require_distinct"]

_log = logging.getLogger(__name__)

EXTRA_OF = {
    **dict.fromkeys(("torch", "numpy", "safetensors", "scipy", "threadpoolctl", "PIL", "yaml"), "explain"),
    **dict.fromkeys(("cabrnet", "torchvision", "loguru"), "cabrnet"),
    **dict.fromkeys(("jinja2", "matplotlib", "pandas", "pyarrow"), "report"),
    "z3": "soundness",
    "onnx": "vnnlib",
    **dict.fromkeys(("ray", "fsspec"), "ray"),
}
"""For each module, the extra that brings it."""


def certificate_files(paths: tuple[str, ...], compared: bool = True) -> list[str]:
    """Files as given; for each directory its certificates, sorted. Raises InputError if it has none.

    Args:
        paths: files and directories.
        compared: whether a warning says in what a directory is not what its run's record lists.
    """
    files: list[str] = []
    for path in map(Path, paths):
        folder = certificates_folder(path) if path.is_dir() else None
        inside = [path] if folder is None else certificates_in(folder)
        if not inside:
            why = f": its {TABLE} says why" if lexists(path / TABLE) else ""
            raise InputError(path, f"holds no *{CERTIFICATE_SUFFIX}{why}")
        files += map(str if folder is None else SentFile, inside)
        for difference in differences(folder) if compared and folder is not None else ():
            _log.warning("%s %s", folder, difference)
    return files


def require_distinct(files: Sequence[str], out: str) -> None:
    """Raise InputError for two certificates of one name, since what is written of them to `out` has their names."""
    seen: dict[str, str] = {}
    for file in files:
        name = Path(file).name
        if name in seen and Path(seen[name]).resolve() != Path(file).resolve():
            raise InputError(
                file, f"has the name of {seen[name]}, and {out} would get a file of both; take another --out"
            )
        seen[name] = file


def one_certificate(path: str) -> str:
    """The file of a command that takes one. Raises InputError, which names one, for a folder of certificates."""
    inside = certificate_files((path,))
    if not Path(path).is_dir():
        return path
    raise InputError(path, f"is a folder, expected one certificate, such as {inside[0]}")


def print_record(kind: str, record: Mapping[str, object]) -> None:
    """Print a result as one line of JSON, whose first field says what it is: `urn:verale:KIND:v1`."""
    from verale.checker.output import print_line

    print_line(json.dumps({"_type": f"urn:verale:{kind}:v1", **record}))


class _Lines(logging.Handler):
    """Prints each record of the log on stderr, as one line."""

    def emit(self, record: logging.LogRecord) -> None:
        from verale.checker.output import print_line

        print_line(self.format(record), sys.stderr)


def log_to_stderr(level: int, form: str) -> None:
    """Send verale's log to stderr, from a level on, in a format of `logging`."""
    handler = _Lines()
    handler.setFormatter(logging.Formatter(form))
    log = logging.getLogger("verale")
    log.handlers = [handler]
    log.setLevel(level)
