"""The audit log: one JSON object a line for each certificate (certificates/audit-log-v1.md), written and read back.

An interrupted audit continues from it. A line that no audit can have written is refused, and so is a log that
contradicts itself. Whoever reads a log reads it here, line by line, so that a log may be longer than memory.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from io import BytesIO
from itertools import count
from os.path import lexists
from pathlib import Path
from typing import Any, BinaryIO

from verale.checker.certificate import ARITHMETICS
from verale.checker.deployment import FORMULAS
from verale.checker.file_auditor import Outcome, certificate_digest, file_digest
from verale.checker.limit import wrong_limit
from verale.checker.options import CHOICES, EITHER, PROVED, VARIABLE
from verale.checker.verdict import EXIT_UNUSABLE, UNUSABLE, Status, Verdict
from verale.errors import InputError
from verale.files import opener_of, reading, write_atomically
from verale.paradigms import PARADIGMS
from verale.runs.folder import require_output
from verale.runs.listed import Stored, name_of

_PIECE = 2**20  # bytes of a file that are copied at once


class AuditLog:
    """An audit log: one JSON object a line (certificates/audit-log-v1.md).

    Records are appended while certificates are audited, so that finished work survives an interruption.

    Raises:
        InputError: the file exists and is not an audit log, or contradicts itself; then it stays as it is.
    """

    def __init__(self, path: str | Path, inputs: Iterable[str | Path | None] = ()) -> None:
        self._path = Path(path)
        self._places: dict[bytes, int] = {}
        """Where in the file the record about a subject begins."""
        with reading(self._path, "an audit log") if lexists(self._path) else BytesIO() as stream:
            length = 0
            for record, start, stop in read_records(path, stream):
                length = stop
                subject = subject_of(record["sha256"], record["run"])
                if record["status"] != UNUSABLE and subject is not None:
                    self._places.setdefault(subject, start)
            require_output(path, inputs)
            stream.seek(0)
            # Without half a record; and so it is known that it can be written.
            write_atomically(self._path, _beginning(stream, length))

    def require_empty(self, why: str) -> None:
        """Raise InputError if it holds verdicts of an earlier audit."""
        if self._places:
            raise InputError(self._path, f"holds verdicts of an earlier audit: {why}")

    def known(self, path: str | Stored, run: dict[str, Any]) -> Outcome | None:
        """The verdict on the same bytes, audited with the same head, latents, options and checker; None without one."""
        if not self._places:
            return None
        subject = subject_of(_digest(path), run)
        place = None if subject is None else self._places.get(subject)
        if place is None:
            return None
        with reading(self._path, "an audit log") as stream:
            stream.seek(place)
            try:
                record = read_record(stream.readline().removesuffix(b"\n"))
            except ValueError:
                return None  # the file was changed meanwhile
        if subject_of(record["sha256"], record["run"]) != subject:
            return None
        return Outcome(record | {"certificate": name_of(path), "reused": True})

    def add(self, outcome: Outcome) -> None:
        """Append an outcome."""
        try:
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(outcome.record) + "\n")
        except OSError as error:
            raise InputError(self._path, f"cannot be written ({error.strerror})") from error

    def finish(self, outcomes: Sequence[Outcome]) -> None:
        """Rewrite the log with just these outcomes, in this order."""
        write_atomically(self._path, (json.dumps(outcome.record).encode() + b"\n" for outcome in outcomes))


def _digest(path: str | Stored) -> str | None:
    """`certificate_digest` of a certificate; None if it cannot be read, which its audit then reports."""
    if isinstance(path, str):
        return file_digest(path, opener_of(path))
    try:
        return certificate_digest(path.read())
    except InputError:
        return None


def _beginning(stream: BinaryIO, length: int) -> Iterator[bytes]:
    """The first bytes of a file, in pieces."""
    while length and (piece := stream.read(min(length, _PIECE))):
        length -= len(piece)
        yield piece


_START = b'{"_type": "urn:verale:report:v1", '  # how every record begins

_REASONS = {
    "PROVED": ("", "unclaimed"),
    "REFUTED": ("refuted",),
    "MALFORMED": ("malformed",),
    UNUSABLE: ("unusable",),
    "NOT_PROVED": (
        "subject",
        "limit",
        "instance",
        "picture",
        "entailment",
        "margin",
        "kernels",
        "minimality",
        "deployment",
        "uncovered",
    ),
}
"""The reasons that a status can have. NOT_REFUTED is a status of `verale refute` alone."""

_AFTER_MINIMALITY = ("deployment", "picture", "uncovered")
"""The reasons with which minimality may be proved. The kernel `proved` proves it without the picture."""

_STATES = {
    "entailment": ("proved", "not checked"),
    "instance": ("proved", "not checked", "not claimed"),
    "picture": ("proved", "not checked"),
    "minimality": ("proved", "not checked"),
    "deployment": ("proved", "not checked"),
}
"""What can become of a claim."""
_DIGEST, _DECIMAL = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9]+(\.[0-9]+)?(E-[0-9]+|e[+-][0-9]+)?")
_INDEX = re.compile("0|[1-9][0-9]{0,15}")
_HEX_FLOAT = re.compile(r"-inf|-?0x[01](\.[0-9a-f]{1,13})?p[+-][0-9]{1,4}")

_LONGEST_INTEGER = 1000  # digits
_LONGEST = 1e15  # seconds
_LONGEST_LINE = 2**26  # bytes: more than the record of any certificate has, which may be as long as 8 MiB

_Check = Callable[[Any], bool]


def _is_text(value: object) -> bool:
    return type(value) is str


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _matches(pattern: re.Pattern[str]) -> _Check:
    return lambda value: type(value) is str and pattern.fullmatch(value) is not None


def _is_of(names: Collection[str]) -> _Check:
    return lambda value: type(value) is str and value in names


def _or_null(check: _Check) -> _Check:
    return lambda value: value is None or check(value)


_CHECKER: dict[str, _Check] = {"version": _or_null(_is_text), "sha256": _matches(_DIGEST)}
_EXECUTABLE: dict[str, _Check] = {
    "executable": _matches(_DIGEST),
    "variable": _is_of([VARIABLE]),
    "language": _is_of(["JavaScript"]),
}
_RUN: dict[str, _Check] = {
    "head": _matches(_DIGEST),
    "latents": _or_null(_matches(_DIGEST)),
    "kernel": _is_of(CHOICES),
    "minimality": lambda value: type(value) is bool,
    "entailment_only": lambda value: type(value) is bool,
    "limit": lambda value: type(value) in (int, float) and wrong_limit(value) is None,
    "checker": lambda value: _problem(value, _CHECKER, _EXECUTABLE) is None,
    "libraries": lambda value: (
        type(value) is dict and _is_text(value.get("python")) and all(map(_or_null(_is_text), value.values()))
    ),
}
_DEPLOYMENT: dict[str, _Check] = {"formula": _is_of(FORMULAS), **dict.fromkeys(("log", "exp", "sqrt"), _is_count)}
_ASKED: dict[str, _Check] = {
    "deployment": lambda value: _problem(value, _DEPLOYMENT) is None,
    **dict.fromkeys(("network", "pictures"), _matches(_DIGEST)),
}
_RECORD: dict[str, _Check] = {
    "_type": lambda value: value == "urn:verale:report:v1",
    "certificate": _is_text,
    "sha256": _or_null(_matches(_DIGEST)),
    "run": lambda value: _problem(value, _RUN, _ASKED) is None,
    "seconds": _or_null(lambda value: type(value) in (int, float) and 0 <= value < _LONGEST),
    "status": _is_of(_REASONS),
    "reason": _is_text,
    "message": _is_text,
    "exit_code": lambda value: type(value) is int,
    "claims": lambda value: (
        type(value) is dict and all(state in _STATES.get(name, ()) for name, state in value.items())
    ),
    "predicted": _or_null(_is_count),
    "paradigm": _or_null(_is_of(PARADIGMS)),
    "statements": _or_null(_is_count),
    "margin": _or_null(_matches(_DECIMAL)),
    "margins": lambda value: type(value) is list and all(map(_or_null(_matches(_HEX_FLOAT)), value)),
}
"""Every field of a record, and what its value must be."""

_OPTIONAL: dict[str, _Check] = {"reused": lambda value: value is True}
_BOX: dict[str, _Check] = {**dict.fromkeys(("width", "factor"), _matches(_DECIMAL)), "layer": _is_text}
_LATER: dict[str, _Check] = {
    "by": lambda value: type(value) is dict and all(map(_is_of(CHOICES), value.values())),
    "elements": lambda value: (
        type(value) is dict and all(_INDEX.fullmatch(name) and _is_count(count) for name, count in value.items())
    ),
    "arithmetic": _or_null(_is_of(ARITHMETICS)),
    "box": _or_null(lambda value: _problem(value, _BOX) is None),
}
"""Fields that older audits did not write."""


def read_record(line: bytes | str) -> dict[str, Any]:
    """The record that a line of an audit log holds, without `reused`: whoever takes it over says that anew.

    Raises:
        ValueError: no audit can have written it; the message says what is wrong, in a few words.

    Soundness: this finds damage and contradictions, not lies. A line that is consistent is believed.
    """
    try:
        text = line.decode("ascii") if isinstance(line, bytes) else line
        record = json.loads(text, object_pairs_hook=_object, parse_int=_integer, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError:
        raise ValueError("it is not JSON") from None
    except UnicodeDecodeError:
        raise ValueError("it is not ASCII") from None
    problem = _problem(record, _RECORD, _OPTIONAL | _LATER) or _contradiction(record)
    if problem is not None:
        raise ValueError(problem)
    return {name: value for name, value in record.items() if name not in _OPTIONAL}


def read_records(path: object, stream: BinaryIO) -> Iterator[tuple[dict[str, Any], int, int]]:
    """The records of an audit log, and where in it each begins and ends. After the last one comes nothing, or half a
    record. Raises InputError: a line that is not a record, or not the beginning of one at the end; or one with another
    verdict than an earlier line, on the same bytes and run. The message names the line."""
    verdicts: dict[bytes, bytes] = {}
    reached = 0
    for number in count(1):
        line = stream.readline(_LONGEST_LINE)
        if not line.endswith(b"\n"):
            if len(line) == _LONGEST_LINE:
                raise _refused(path, number, f"it has more than {_LONGEST_LINE} bytes")
            if line and not (line.startswith(_START) or (number > 1 and _START.startswith(line))):
                raise _refused(path, number, "nor the beginning of one")
            return
        try:
            record = read_record(line[:-1])
        except ValueError as error:
            raise _refused(path, number, str(error)) from None
        subject = subject_of(record["sha256"], record["run"])
        if record["status"] != UNUSABLE and subject is not None:
            # A digest of each: a million take some 200 MB.
            verdict = _short_digest([record[field] for field in _OF_A_VERDICT])
            if verdicts.setdefault(subject, verdict) != verdict:
                raise InputError(
                    path, f"line {number} has another verdict than an earlier line, on the same bytes; remove this file"
                )
        yield record, reached, reached + len(line)
        reached += len(line)


_OF_A_VERDICT = ("status", "reason", "claims", "margin", "margins", "predicted", "paradigm", "statements")
"""The fields that are the same in all verdicts on a subject."""


def subject_of(digest: str | None, run: Mapping[str, Any]) -> bytes | None:
    """What a verdict is about: the certificate's bytes, head, latents, network and pictures, what was checked, and by
    which checker, as a digest; None without a certificate's."""
    return None if digest is None else _short_digest([digest, run])


def _short_digest(value: object) -> bytes:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()[:16]


def _refused(path: object, line: int, problem: str) -> InputError:
    return InputError(
        path, f"line {line} is not a record of an audit log ({problem}); choose another file, or remove this one"
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("it repeats a key")
    return value


def _integer(literal: str) -> int:
    if len(literal) > _LONGEST_INTEGER:
        raise ValueError(f"it holds an integer of {len(literal)} digits")
    return int(literal)


def _refuse(constant: str) -> None:
    raise ValueError(f"it holds {constant}")


def _problem(value: object, required: Mapping[str, _Check], optional: Mapping[str, _Check] | None = None) -> str | None:
    """What is wrong with an object's fields, one by one; None if nothing is."""
    if type(value) is not dict:
        return "it is not an object"
    allowed = {**required, **(optional or {})}
    for name in required:
        if name not in value:
            return f"it lacks {name}"
    if not value.keys() <= allowed.keys():
        return "it has an unknown field"
    return next((f"{name} is wrong" for name, each in value.items() if not allowed[name](each)), None)


def _contradiction(record: Mapping[str, Any]) -> str | None:
    """Which fields contradict each other; None if they can all be true together."""
    status, reason, claims, run = record["status"], record["reason"], record["claims"], record["run"]
    proved = {claim for claim, state in claims.items() if state == "proved"}
    # An audit with these options minds that no instance is claimed.
    is_unclaimed = claims.get("instance") == "not claimed" and not run["entailment_only"]
    # Who can have proved the claims in a run with this choice of kernels.
    by, kernels = record.get("by", {}), set(CHOICES[EITHER]) if run["kernel"] == EITHER else {run["kernel"]}
    subject = [record[name] is None for name in ("predicted", "paradigm", "statements")]
    rules = {
        "status, reason and exit_code": reason in _REASONS[status] and record["exit_code"] == _exit_code(record),
        "status and sha256": status == UNUSABLE or record["sha256"] is not None or status == "MALFORMED",
        "status and seconds": (status == UNUSABLE) == (record["seconds"] is None),
        "predicted, paradigm and statements": len(set(subject)) == 1,
        "status and predicted": subject[0] if status == UNUSABLE else status == "MALFORMED" or not subject[0],
        "predicted and claims": not claims
        if subject[0]
        else "entailment" in claims and ("instance" in claims) != ("picture" in claims),
        "claims and box": record.get("box") is None or "picture" in claims,
        "claims and arithmetic": ("picture" in claims) == (record.get("arithmetic") is not None)
        or "arithmetic" not in record,
        "status and claims": "entailment" in proved
        if status == "PROVED" or reason in ("minimality", "deployment")
        else "entailment" not in proved or reason in ("picture", "uncovered", "limit"),
        "kernel and executable": ("executable" in run["checker"]) == (PROVED in CHOICES[run["kernel"]])
        or (run["kernel"] == EITHER and PROVED not in record.get("by", {}).values()),
        "claims and run": ("instance" not in proved or run["latents"] is not None)
        and ("picture" not in proved or "network" in run)
        and ("minimality" not in proved or (run["minimality"] and (status == "PROVED" or reason in _AFTER_MINIMALITY)))
        and ("deployment" not in proved or status == "PROVED")
        and ("deployment" in claims) == ("deployment" in run and bool(claims))
        and ("network" in run) == ("pictures" in run),
        "claims and status": status != "PROVED" or proved == _asked(claims, run),
        "claims and reason": (reason == "unclaimed") == (status == "PROVED" and is_unclaimed),
        "claims and by": "by" not in record or (by.keys() == proved and set(by.values()) <= kernels),
        "statements and elements": "elements" not in record
        or (all(record["elements"].values()) and sum(record["elements"].values()) <= (record["statements"] or 0)),
        "status and margins": status != "PROVED" or _are_positive(record),
    }
    return next((f"{fields} contradict each other" for fields, hold in rules.items() if not hold), None)


def _exit_code(record: Mapping[str, Any]) -> int:
    """That of the status and the reason, which belong together."""
    if record["status"] == UNUSABLE:
        return EXIT_UNUSABLE
    return Verdict(Status(record["status"]), record["reason"], record["message"]).exit_code


def _asked(claims: Mapping[str, str], run: Mapping[str, Any]) -> set[str]:
    """The claims of a certificate that an audit with these options checks."""
    asked = {"entailment": True, "instance": run["latents"] is not None, "minimality": run["minimality"]}
    asked |= {"picture": "network" in run, "deployment": "deployment" in run}
    return {claim for claim, state in claims.items() if asked[claim] and state != "not claimed"}


def _are_positive(record: Mapping[str, Any]) -> bool:
    """Whether there is a margin over every class but the predicted one, and what is printed is at most the least."""
    bounds = [None if margin is None else float.fromhex(margin) for margin in record["margins"]]
    rivals = [bound for bound in bounds if bound is not None]
    own = [number for number, bound in enumerate(bounds) if bound is None]
    if own != [record["predicted"]] or not rivals or record["margin"] is None:
        return False
    # What is printed is at most the least one, and is rounded down, as these are: older audits printed that one itself.
    stated = Decimal(record["margin"])
    return min(rivals) >= 0 and 0 < stated <= Decimal(math.nextafter(min(rivals), math.inf))
