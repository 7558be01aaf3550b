"""What commands share: exit codes, JSON, the log, the extra that brings a module, and names of before."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any, TypeVar

EXTRA_OF = {
    **dict.fromkeys(("torch", "numpy", "safetensors", "scipy", "threadpoolctl", "PIL", "yaml"), "explain"),
    **dict.fromkeys(("cabrnet", "torchvision", "loguru"), "cabrnet"),
    **dict.fromkeys(("jinja2", "matplotlib", "pandas", "pyarrow"), "report"),
    "z3": "soundness",
    "onnx": "vnnlib",
    **dict.fromkeys(("ray", "fsspec"), "ray"),
}
"""For each module, the extra that brings it."""


def print_record(kind: str, record: Mapping[str, object]) -> None:
    """Print a result as one line of JSON, whose first field says what it is: `urn:verale:KIND:v1`."""
    from verale.checker.file_auditor import print_line

    print_line(json.dumps({"_type": f"urn:verale:{kind}:v1", **record}))


class _Lines(logging.Handler):
    """Prints each record of the log on stderr, as one line."""

    def emit(self, record: logging.LogRecord) -> None:
        from verale.checker.file_auditor import print_line

        print_line(self.format(record), sys.stderr)


def log_to_stderr(level: int, form: str) -> None:
    """Send verale's log to stderr, from a level on, in a format of `logging`."""
    handler = _Lines()
    handler.setFormatter(logging.Formatter(form))
    log = logging.getLogger("verale")
    log.handlers = [handler]
    log.setLevel(level)


Command = TypeVar("Command", bound=Callable[..., Any])


class Exit(IntEnum):
    """An exit code. Those of verdicts are the checker's (`verale.checker.verdict`).

    Attributes:
        meaning: in a few words.
    """

    meaning: str

    def __new__(cls, code: int, meaning: str) -> Exit:
        member = int.__new__(cls, code)
        member._value_, member.meaning = code, meaning
        return member

    DONE = 0, "done; where something is proved: all of it"
    USAGE = 2, "unknown command, option or argument"
    BOUNDS = 3, "not proved: the bounds do not reach"
    REFUTED = 4, "refuted"
    MALFORMED = 5, "not proved: the certificate is malformed"
    SUBJECT = 6, "not proved: about another head, other latents or another picture"
    INSTANCE = 7, "not proved: a statement is not true of the latents, or of the picture"
    MINIMALITY = 8, "not proved: perhaps not minimal"
    UNUSABLE = 9, "a file, folder or option cannot be used; nothing could be audited; standard output is closed or full"
    UNEXPLAINED = 10, "some images have no certificate"
    NOT_FOUND = 11, "the search found nothing, which proves nothing"
    LIMIT = 12, "not proved: more work than the limit"
    WRONG = 13, "the soundness suite found a mistake"
    UNCLAIMED = 14, "proved, but no instance is claimed"
    UNCOVERED = 15, "not covered by the proof of the kernel proved"
    DEPLOYMENT = 16, "not proved in float32"
    INCOMPLETE = 17, "proved, but a folder is not what its own record lists"
    SKIPPED = 18, "images that cannot be read were left out, by --skip-unreadable"
    INTERRUPTED = 130, "interrupted (Ctrl-C)"


VERDICTS = "3 to 8, 12, 14 to 16 the verdict on a certificate, the most severe of several"
"""The exit codes of verdicts, for the help of a command that proves."""


def exits(*codes: Exit, verdicts: bool = False, done: str = "done") -> Callable[[Command], Command]:
    """Add to a command's help the exit codes that it has beside 2, 9 and 130, which every command has.

    Args:
        codes: what they are.
        verdicts: whether it also ends with the code of a verdict.
        done: what 0 means here.
    """

    def add(command: Command) -> Command:
        rows = [f"0 {done}", *([VERDICTS] if verdicts else []), *(f"{code.value} {code.meaning}" for code in codes)]
        command.__doc__ = f"{command.__doc__}\n    Exit code: {'; '.join(rows)}. `verale --help` lists all.\n"
        return command

    return add


_WRITERS = ("compare", "export rocq", "head compare", "head import", "latents", "network export", "report")

FORMER: dict[tuple[str, str], str] = {
    ("", "export-vnnlib"): "verale export vnnlib",
    ("", "theorem"): "verale export rocq",
    **{(command, "--output"): "--out" for command in _WRITERS},
    ("audit", "--pictures"): "--images",
    ("audit", "--report"): "--log",
    ("audit", "--workers"): "--jobs",
    ("explain", "--cost"): "--costs",
    ("explain", "--gap"): "verale gap FOLDER",
    ("explain", "--pictures"): "--images",
    ("explain", "--workers"): "--jobs",
    ("export rocq", "--no-instance"): "--entailment-only",
    **{(command, "--pictures"): "--prototype-pictures" for command in ("attribute", "latents", "report", "rules")},
    ("report", "--check"): "--provable",
    ("report", "--compare"): "--same-as",
    ("report", "--verdicts"): "--log",
}
"""By the command, "" for verale itself, and by what was written: what to write."""

FORMER_VALUES: dict[tuple[str, str], str] = {("--paradigm", "smallest"): "readable"}
"""By the option and the value that was written: the value to write."""


def now(path: str, name: str) -> str | None:
    """What a name is called now; None if it is unknown.

    Args:
        path: the command, as in `verale head import`.
        name: a command's, or an option's.
    """
    return FORMER.get((path.removeprefix("verale").strip(), name))
