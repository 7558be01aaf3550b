"""The verdict on a certificate, its exit code and its one line; and what commands print, for
`python -P -m verale.checker` and all others.

The standard streams of a process may be closed, on a full disk, or read by nobody, whatever it was started with. What
cannot be printed is no reason to stop: an audit goes on, and files are written. But an answer that could not be printed
whole is not one, and the exit code says so.
"""

from __future__ import annotations

import io
import os
import re
import select
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from enum import Enum
from fractions import Fraction
from math import inf, nextafter
from typing import TYPE_CHECKING, Any, TextIO

from .certificate import Certificate
from .dyadic import decimal_below
from .options import in_words, program_in_words

if TYPE_CHECKING:
    from .deployment import Deployment
    from .numbers import LatentsBox, Margins
    from .proved.program import Program

UNUSABLE = "UNUSABLE"
"""The status of a file without a verdict."""
EXIT_UNUSABLE = 9
_EXIT_CODES = {
    "": 0,
    "entailment": 3,
    "margin": 3,
    "kernels": 3,
    "refuted": 4,
    "malformed": 5,
    "subject": 6,
    "instance": 7,
    "picture": 7,
    "minimality": 8,
    "witness": 11,
    "limit": 12,
    "unclaimed": 14,
    "uncovered": 15,
    "deployment": 16,
}
SEVERITY = (4, 5, EXIT_UNUSABLE, 6, 7, 3, 12, 15, 8, 16, 11, 17, 14, 0)
"""The exit codes of verdicts, the most severe first."""

_DIGITS = 4
_COMPUTED = {"real": "real arithmetic", "float32": "float32"}
"""In words, by the arithmetic that a certificate names: in which the network gives the picture's latents."""
# Characters that are printable and show nothing: marks without width, and letters that are blank.
_UNSEEN = "\u034f\u17b4\u17b5\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_SEPARATING = re.compile(rf"^ +| +$|[ {_UNSEEN}]{{2,}}|[\u115f\u1160\u2800\u3164\uffa0]+")


class Status(Enum):
    """The answer."""

    PROVED = "PROVED"
    NOT_PROVED = "NOT_PROVED"
    REFUTED = "REFUTED"
    NOT_REFUTED = "NOT_REFUTED"
    MALFORMED = "MALFORMED"


@dataclass(frozen=True)
class Verdict:
    """The checker's answer for one certificate.

    Attributes:
        status: the answer.
        reason: the step that failed; "" if none did; "unclaimed" if it is PROVED, but claims no instance.
        message: one sentence: what is wrong, what was expected, what to do.
        certificate: None if it could not be read.
        deployment: how the deployed head computes, if that was asked for.
        by: for every claim that is proved the kernel that proves it, or `both` or `all`.
        margins: the proved lower bound for every class, None at the predicted one; empty if the proof did not get that
            far.
        deployed: what is left of them in binary32, negative where they fall short; empty if that is not asked for, or
            not known.
        false: whether the instance is certainly false, not only unproved.
        spent: whether the processor time that is allowed has passed, so that no other kernel is asked.
        program: that the kernel `proved` asked; None where it was not asked.
        box: how exactly the reading enclosed the latents of a picture; None where it did not.
    """

    status: Status
    reason: str
    message: str
    certificate: Certificate | None = None
    deployment: Deployment | None = None
    by: Mapping[str, str] = field(default_factory=dict)
    margins: Margins = ()
    deployed: Margins = ()
    false: bool = False
    spent: bool = False
    program: Program | None = None
    box: LatentsBox | None = None

    @property
    def claims(self) -> dict[str, str]:
        """Every claim of the certificate: "proved" or "not checked"; and the instance, if it is "not claimed", nor a
        picture; and "deployment", if it was asked for. Empty if the certificate could not be read."""
        if self.certificate is None:
            return {}
        claimed = (*self.certificate.claims, *(() if self.deployment is None else ("deployment",)))
        return {
            claim: "proved" if claim in self.by else "not checked" if claim in claimed else "not claimed"
            for claim in ("entailment", "picture" if "picture" in claimed else "instance", *claimed)
        }

    @property
    def exit_code(self) -> int:
        """0 without a reason, otherwise one code for each kind of reason."""
        return _EXIT_CODES[self.reason]

    def line(self, name: str) -> str:
        """The verdict on one line, for the certificate of that name."""
        run: dict[str, Any] = {"checker": {} if self.program is None else self.program.named}
        run |= {} if self.deployment is None else {"deployment": asdict(self.deployment)}
        return line_of({"certificate": name, "run": run, **self.record()})

    def record(self) -> dict[str, Any]:
        """The verdict as plain data for JSON (certificates/audit-log-v1.md). `margins` are what is proved of those that
        the certificate states, whatever kernel proves more: these themselves, if all are proved; rounded down to
        binary64. `margin` is the least of them, rounded down to four digits."""
        read = self.certificate
        stated = () if read is None else read.margins
        margins = tuple(map(_at_most, self.margins, stated or self.margins))
        least = min((margin for margin in margins if margin is not None), default=None)
        return {
            "status": self.status.value,
            "reason": self.reason,
            "message": self.message,
            "exit_code": self.exit_code,
            "claims": self.claims,
            "by": dict(self.by),
            "predicted": None if read is None else read.predicted,
            "paradigm": None if read is None else read.paradigm,
            "arithmetic": None if read is None else read.arithmetic,
            "box": None
            if self.box is None
            else {  # the width is rounded up, the factor down
                "width": decimal_below(-self.box.width, _DIGITS).removeprefix("-"),
                "layer": self.box.layer,
                "factor": decimal_below(self.box.factor, _DIGITS),
            },
            "statements": None if read is None else len(read.statements),
            "elements": {} if read is None else {str(j): count for j, count in read.elements.items()},
            "margin": None if least is None or least <= 0 else decimal_below(least, _DIGITS),
            "margins": [None if margin is None else _binary64_below(margin).hex() for margin in margins],
        }


def _at_most(margin: Fraction | None, stated: Fraction | None) -> Fraction | None:
    return None if margin is None or stated is None else min(margin, stated)


def line_of(record: Mapping[str, Any]) -> str:
    """A verdict on one line, from its record and the name of the certificate."""
    parts = [record["certificate"]]
    if record["predicted"] is not None:
        parts += [f"class {record['predicted']}", record["paradigm"], f"{record['statements']} statements"]
    if record["status"] == Status.PROVED.value:
        claims = [(claim_in_words(claim, record), state) for claim, state in record["claims"].items()]
        proved = "+".join(claim for claim, state in claims if state == "proved")
        unchecked = "".join(
            f", no {claim} claimed" if state == "not claimed" else f", {claim} {state}"
            for claim, state in claims
            if state != "proved"
        )
        parts += [f"margin >= {record['margin']}", f"{proved} proved{unchecked}", *_who(record)]
    else:
        parts.append(f"{record['reason']}: {record['message']}")
    box = record.get("box")
    if box is not None:
        by = f", widened most by layer {box['layer']}, {box['factor']} times" if box["layer"] else ""
        parts.append(f"latents to within {box['width']}{by}")
    return "  ".join((f"{record['status']:<10}", *map(one_field, parts)))


def claim_in_words(claim: str, record: Mapping[str, Any]) -> str:
    """A claim's name and what it is about: `picture (real arithmetic)`; `deployment (direct, log=4,exp=4,sqrt=1)`. Old
    records do not say in which arithmetic a picture was proved."""
    how = record.get("run", {}).get("deployment") if claim == "deployment" else None
    said = _COMPUTED.get(record.get("arithmetic") or "", "") if claim == "picture" else ""
    if how is not None:
        said = f"{how['formula']}, " + ",".join(f"{name}={how[name]}" for name in ("log", "exp", "sqrt"))
    return f"{claim} ({said})" if said else claim


def _who(record: Mapping[str, Any]) -> list[str]:
    """What proved: that which proved entailment, then the claims that another kernel proved. Old records do not say."""
    by: Mapping[str, str] = record.get("by", {})
    if not by:
        return []
    program = program_in_words(record["run"]["checker"])
    first = by["entailment"]
    others = [f"{claim} by {in_words(kernel, program)}" for claim, kernel in by.items() if kernel != first]
    return [", ".join([f"by {in_words(first, program)}", *others])]


def most_severe(exit_codes: list[int]) -> int:
    """The exit code of several certificates: the first of these that occurs: refuted, malformed, unusable, subject,
    instance, bounds, limit, not covered by the proof, minimality, deployment, no counterexample, a folder that is not
    whole (17, of `verale audit` alone), no instance claimed, proved. Of none it is `unusable`: nothing was proved."""
    return min(exit_codes, key=SEVERITY.index, default=EXIT_UNUSABLE)


def _binary64_below(value: Fraction) -> float:
    """The greatest binary64 that is no greater; minus infinity below all of them."""
    try:
        nearest = float(value)
    except OverflowError:
        nearest = inf if value > 0 else -inf
    return nearest if nearest == -inf or nearest <= value else nextafter(nearest, -inf)


def one_field(text: str) -> str:
    """A text as one field of a line, where two spaces separate fields: what looks like such a separator, or begins or
    ends with a part of one, is written as an escape, besides what is not printable."""
    return _SEPARATING.sub(
        lambda run: "".join("\\x20" if c == " " else c.encode("unicode_escape").decode("ascii") for c in run[0]),
        printable(text),
    )


def before_colon(name: str) -> str:
    """A name as what stands before the first colon and space of a line."""
    return one_field(name).replace(": ", ":\\x20")


def printable(text: str) -> str:
    """A text on one line: what is not printable, such as a line end or an escape sequence, is written as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def print_line(line: str, stream: TextIO | None = None) -> None:
    """Print exactly one line: what a name or a message from outside holds cannot end it, nor steer a terminal."""
    print(printable(line), file=stream, flush=True)


@contextmanager
def standard_streams() -> Iterator[None]:
    """Where a command runs: nothing that it prints raises an error, and it ends by SystemExit.

    - A stream that was closed is opened, on a file that takes nothing. Otherwise the next file that is opened would get
      its number, and whatever is printed would go into that file.
    - Standard output that does not take all that is printed is said on stderr, and no exit code is less severe than
      `EXIT_UNUSABLE` then. A reader who leaves (`... | head`) wants no more: that changes no code.
    - What stderr does not take is lost. No exit code depends on it.

    Streams that a program has put in the place of the process's stay, and raise what they raise.
    """
    while (number := os.open(os.devnull, os.O_RDONLY)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    sys.stdout, printed = _guarded(sys.stdout, sys.__stdout__)
    sys.stderr, _ = _guarded(sys.stderr, sys.__stderr__)
    code: object = 0
    try:
        yield
    except SystemExit as end:
        code = end.code or 0
    sys.stdout.flush()
    if printed.failure is not None:
        why = printed.failure.strerror
        print_line(f"error: standard output: {why}; what is printed there is not whole", sys.stderr)
        code = most_severe([code, EXIT_UNUSABLE]) if code in SEVERITY else code
    sys.exit(code)  # type: ignore[arg-type]  # what the command gave


class _Sink(io.RawIOBase):
    """Writes to a file while it takes what is written, and drops the rest.

    Attributes:
        failure: what the file said where it took no more; None if its reader left.
    """

    failure: OSError | None = None

    def __init__(self, file: io.RawIOBase) -> None:
        self._file, self._takes = file, True

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._file.isatty()

    def fileno(self) -> int:
        return self._file.fileno()

    def write(self, data: memoryview, /) -> int:  # type: ignore[override]  # what buffers write
        rest = data
        try:
            while rest and self._takes:
                written = self._file.write(rest)
                if written is None:  # another program has made the file one that does not wait
                    select.select([], [self._file], [])
                rest = rest[written or 0 :]
        except BrokenPipeError:
            self._takes = False
        except OSError as error:
            self._takes, self.failure = False, error
        return len(data)


def _guarded(stream: TextIO | None, original: TextIO | None) -> tuple[TextIO, _Sink]:
    """A stream that prints where this one does, any text, and raises nothing; and what is under it. Where it is not the
    process's, the stream itself, which prints any text then too."""
    if stream is None:  # it was closed
        nowhere = io.FileIO(os.open(os.devnull, os.O_RDONLY), "w", closefd=False)  # as long as the process
        return _text(sink := _Sink(nowhere)), sink
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    if stream is not original or not isinstance(stream, io.TextIOWrapper):
        return stream, _Sink(io.RawIOBase())
    file: Any = getattr(stream.buffer, "raw", stream.buffer)  # there is no buffer with `python -u`
    return _text(sink := _Sink(file), stream.encoding, stream.line_buffering), sink


def _text(sink: Any, encoding: str = "utf-8", by_line: bool = False) -> TextIO:
    return io.TextIOWrapper(io.BufferedWriter(sink), encoding, "backslashreplace", line_buffering=by_line)
