"""The checker as a command: its records, lines and exit codes on the corpora, compared with what the specification
says of them (certificates/audit-log-v1.md). Each returns what it finds wrong, "" for nothing."""

from __future__ import annotations

import hashlib
import io
import json
import os
import runpy
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

from checker_mutants.mutant import CHECKER, Import

from verale.soundness.corpus.cases import BEYOND, manifest, paths_of
from verale.soundness.paths import CERTIFICATES

__all__ = ["SEVERITY", "commands_differ", "records_differ"]

SEVERITY = (4, 5, 9, 6, 7, 3, 12, 15, 8, 16, 11, 14, 0)
_CODES = {"": 0, "entailment": 3, "margin": 3, "kernels": 3, "refuted": 4, "malformed": 5, "subject": 6, "instance": 7}
_CODES |= {
    "minimality": 8,
    "unusable": 9,
    "witness": 11,
    "limit": 12,
    "unclaimed": 14,
    "uncovered": 15,
    "deployment": 16,
}
_KNOWN = {"margin": {"instance"}, "entailment": {"instance"}, "refuted": {"instance"}}
_KNOWN |= {"minimality": {"instance", "entailment"}}
"""What is proved where a later step fails."""
_SO_MANY = 12


@dataclass(frozen=True)
class _Filed:
    """A case of the corpora by the paths of its files."""

    path: str
    head: str
    latents: str | None
    status: str
    reason: str


@cache
def _filed() -> list[_Filed]:
    """The cases of audits whose verdict every checker gives: no witnesses, no deployed heads, nothing beyond the
    reference argument, and of whole files."""
    return [
        _Filed(
            str(CERTIFICATES / paths_of(name, entry)["certificate"]),
            str(CERTIFICATES / entry["head"]),
            str(CERTIFICATES / entry["latents"]) if "latents" in entry else None,
            entry["status"],
            entry["reason"],
        )
        for name, entry in manifest().items()
        if not entry.keys() & {"witness", "deployment", "inserted", "document", "network", "pictures", "certificate"}
        and entry.get("truth") != BEYOND
    ]


def records_differ(module: Import, kernel: str) -> str:
    """Every record says what the files and the manifest say, and its line what the record says."""
    auditor, limit = module("file_auditor").FileAuditor, module("limit").LIMIT + 1
    for case in _some():
        if case.status == "INPUT_ERROR":
            path = case.head if case.reason == "head" else str(case.latents)
            errors = {"head": module("errors").HeadError, "latents": module("errors").LatentsError}
            try:
                auditor(case.head, case.latents, kernel)
            except errors[case.reason] as error:
                if not str(error).startswith(f"{path}: "):
                    return f"{case.path}: the file at fault is not named"
                continue
            return f"{case.path}: no error"
        made = auditor(case.head, case.latents, kernel, minimality=True, limit=limit)
        if made.auditor._side(kernel).keywords["space"].arithmetic.name != kernel:
            return "the kernel"
        start = perf_counter()
        outcome = made.audit(case.path)
        if outcome.record["seconds"] > perf_counter() - start:
            return f"{case.path}: seconds"
        data, record = Path(case.path).read_bytes(), outcome.record
        wrong = _of_run(record["run"], case, kernel, limit) or _of_record(record, case, data, True)
        wrong = wrong or ("line" if outcome.line != _line(record) else "")
        if outcome.exit_code != record["exit_code"] or outcome.reused:
            wrong = wrong or "outcome"
        if not wrong and case.reason == "" and len(data) % 4 == 0:
            unasked = auditor(case.head, case.latents, kernel).audit("a name", data).record
            wrong = "a name" if unasked["certificate"] != "a name" else _of_claims(unasked, case, data, False)
        if wrong:
            return f"{case.path}: {wrong}"
    return _pictured_records_differ(module, kernel)


def _pictured_records_differ(module: Import, kernel: str) -> str:
    """Records of certificates of pictures name the network and the pictures, and have the status of the manifest."""
    entries = [entry for entry in manifest().values() if "network" in entry and entry["status"] == "PROVED"]
    for entry in entries[:2]:  # the pictures of the first are a PNG file, those of the second a tensor file
        names = ("certificate", "head", "network", "pictures")
        path, head, network, pictures = (str(CERTIFICATES / entry[name]) for name in names)
        made = module("file_auditor").FileAuditor(head, None, kernel, network=network, pictures=pictures)
        record = made.audit(path).record
        told = record["run"]["network"] == _digest(network), record["run"]["pictures"] == _digest(pictures)
        if record["status"] != entry["status"] or record["claims"].get("picture") != "proved" or told != (True, True):
            return f"{path}: {record['status']}, {record['message']}"
    return ""


@cache
def _some() -> list[_Filed]:
    """The first cases of each status and reason."""
    by_verdict: dict[tuple[str, str], list[_Filed]] = {}
    for case in _filed():
        by_verdict.setdefault((case.status, case.reason), []).append(case)
    return [case for cases in by_verdict.values() for case in cases[:_SO_MANY]]


def _of_run(run: dict[str, Any], case: _Filed, kernel: str, limit: float) -> str:
    names = sorted(path.relative_to(CHECKER).as_posix() for path in CHECKER.rglob("*.py"))
    listed = "".join(f"{_digest(str(CHECKER / name))}  {name}\n" for name in names)
    expected = {
        "head": _digest(case.head),
        "latents": None if case.latents is None else _digest(case.latents),
        "kernel": kernel,
        "minimality": True,
        "entailment_only": False,
        "limit": limit,
        "checker": {"version": version("verale"), "sha256": hashlib.sha256(listed.encode()).hexdigest()},
    }
    wrong = [name for name, value in expected.items() if run[name] != value]
    package = {"arb": "python-flint", "mpmath": "mpmath"}[kernel]
    if set(run["libraries"]) - {"gmpy2"} != {"python", package} or run["libraries"][package] != version(package):
        wrong.append("libraries")
    return "".join(wrong[:1])


@cache
def _digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _of_record(record: dict[str, Any], case: _Filed, data: bytes, minimality: bool) -> str:
    expected = {
        "_type": "urn:verale:report:v1",
        "certificate": case.path,
        "sha256": _digest(case.path),
        "status": case.status,
        "reason": case.reason,
        "exit_code": _CODES[case.reason],
    }
    wrong = [name for name, value in expected.items() if record[name] != value]
    if wrong or not record["seconds"] >= 0:
        return "".join(wrong[:1]) or "seconds"
    if case.status == "MALFORMED":
        read = record["predicted"] is not None  # only step 4 fails then
        return "" if read or not (record["claims"] or record["paradigm"] or record["statements"]) else "malformed"
    predicate = json.loads(data)["predicate"]
    found = record["predicted"], record["paradigm"], record["statements"]
    if found != (predicate["predicted"], predicate["paradigm"], len(predicate["statements"])):
        return "predicted, paradigm, statements"
    named = Counter(str(each["prototype"]) for each in predicate["statements"] if "prototype" in each)
    if record["elements"] != named:
        return "elements"
    return _of_claims(record, case, data, minimality) or _of_margins(record, case, predicate)


def _of_claims(record: dict[str, Any], case: _Filed, data: bytes, minimality: bool) -> str:
    claimed = json.loads(data)["predicate"]["claims"]
    known = _KNOWN.get(case.reason, set()) if case.status != "PROVED" else {"entailment", "instance", "minimality"}
    known = known - set() if case.latents is not None else known - {"instance"}
    known = known if minimality else known - {"minimality"}
    expected = {name: "proved" if name in known else "not checked" for name in claimed}
    if "instance" not in claimed:
        expected["instance"] = "not claimed"
    if record["by"] != {claim: record["run"]["kernel"] for claim, state in expected.items() if state == "proved"}:
        return "by"
    return "" if record["claims"] == expected else "claims"


def _of_margins(record: dict[str, Any], case: _Filed, predicate: dict[str, Any]) -> str:
    if case.status != "PROVED":
        reached = case.reason in ("entailment", "margin", "minimality", "refuted")
        return "" if bool(record["margins"]) == reached else "margins"
    ends = [None if margin is None else float.fromhex(margin) for margin in record["margins"]]
    for c, (proved, stated) in enumerate(zip(ends, predicate["margins"], strict=True)):
        if (proved is None) != (c == predicate["predicted"]):
            return "margins"
        if proved is not None and proved < float.fromhex(stated):
            return "margins"
    least = min(float.fromhex(margin) for margin in predicate["margins"] if margin is not None)
    return "" if 0.999 * least <= float(record["margin"]) <= least else "margin"


def _line(record: dict[str, Any]) -> str:
    """The line of certificates/audit-log-v1.md."""
    parts = [record["status"] + " " * (10 - len(record["status"])), record["certificate"]]
    if record["predicted"] is not None:
        parts += [f"class {record['predicted']}", record["paradigm"], f"{record['statements']} statements"]
    if record["status"] != "PROVED":
        return "  ".join([*parts, f"{record['reason']}: {record['message']}"])
    words = {"not checked": ", {} not checked", "not claimed": ", no {} claimed"}
    proved = "+".join(name for name, state in record["claims"].items() if state == "proved")
    rest = "".join(words[state].format(name) for name, state in record["claims"].items() if state != "proved")
    (kernel,) = set(record["by"].values())
    who = {"both": "arb and mpmath"}.get(kernel, kernel)
    return "  ".join([*parts, f"margin >= {record['margin']}", f"{proved} proved{rest}", f"by {who}"])


def commands_differ(module: Import, kernel: str) -> str:
    """`main` prints every record, and its exit code is that of the most severe; files without a verdict have 9."""
    wrong = _wrong_codes(module) or _wrong_streams(module, kernel) or _wrong_options(module, kernel)
    return wrong or _wrong_failures(module, kernel)


def _ran(module: Import, *arguments: str, encoding: str = "utf-8") -> tuple[int, list[str], list[str]]:
    """Exit code, and the lines of stdout and of stderr."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True) for _ in range(2)]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        try:
            with module("file_auditor").standard_streams():
                sys.exit(module("__main__").main(arguments))
        except SystemExit as end:
            code = end.code
    texts = [stream.buffer.getvalue().decode(encoding) for stream in streams]
    return code, texts[0].splitlines(), texts[1].splitlines()


def _wrong_codes(module: Import) -> str:
    verdict = module("verdict")
    for first, second, third in product(SEVERITY, repeat=3):
        if verdict.most_severe([first, second, third]) != min(first, second, third, key=SEVERITY.index):
            return "most_severe"
    if verdict.most_severe([]) != 9:
        return "most_severe of none"
    for reason, code in _CODES.items():
        if reason != "unusable" and verdict.Verdict(verdict.Status.PROVED, reason, "").exit_code != code:
            return f"the code of {reason or 'proved'}"
    return ""


def _groups() -> Iterator[tuple[str, str | None, list[_Filed]]]:
    """Cases of the same head and latents, one for each reason; some groups, in which every reason occurs."""
    together: dict[tuple[str, str | None], dict[str, _Filed]] = {}
    for case in _filed():
        if case.status != "INPUT_ERROR":
            together.setdefault((case.head, case.latents), {}).setdefault(case.reason, case)
    seen: set[str] = set()
    for (head, latents), cases in sorted(together.items(), key=lambda item: -len(item[1])):
        if not set(cases) <= seen:
            seen |= set(cases)
            yield head, latents, list(cases.values())


def _wrong_streams(module: Import, kernel: str) -> str:
    for head, latents, cases in _groups():
        options = ["--head", head, "--minimality", "--kernel", kernel]
        options += [] if latents is None else ["--latents", latents]
        made = module("file_auditor").FileAuditor(head, latents, kernel, minimality=True)
        for order in (cases, cases[::-1]):
            codes = [_CODES[case.reason] for case in order]
            code, lines, errors = _ran(module, *(case.path for case in order), *options)
            if code != min(codes, key=SEVERITY.index) or errors:
                return f"exit code {code} of {codes}"
            if lines != [made.audit(case.path).line for case in order]:
                return "lines"
        code, lines, _ = _ran(module, *(case.path for case in cases), *options, "--json")
        expected = [made.audit(case.path).record | {"seconds": 0} for case in cases]
        if [json.loads(line) | {"seconds": 0} for line in lines] != expected:
            return "--json"
    return ""


def _wrong_options(module: Import, kernel: str) -> str:
    def path(name: str) -> str:
        return str(CERTIFICATES / name)

    base = path("accept/projection-euclidean")
    proved, own = base + ".ale.json", ["--head", base + ".head.safetensors", "--kernel", kernel]
    latents = ["--latents", base + ".latents.safetensors"]
    code, (line,), _ = _ran(module, proved, *own, *latents)
    if code or not line.endswith(f"entailment+instance proved, minimality not checked  by {kernel}"):
        return "without options"
    code, (line,), _ = _ran(module, proved, *own, "--minimality")
    if code or not line.endswith(f"entailment+minimality proved, instance not checked  by {kernel}"):
        return "--minimality"
    code, (line,), _ = _ran(module, proved, *own, *latents, "--limit", "1e-7")
    if code != 12 or "  limit: " not in line:
        return "--limit"
    code, (line,), _ = _ran(module, proved, *own[:2], *latents, "--kernel", "both", "--minimality")
    if code or not line.endswith("entailment+instance+minimality proved  by arb and mpmath"):
        return "--kernel both"
    if _ran(module, proved, *own[:2], "--kernel", "all", "--deployment", "direct")[:2] != (2, []):
        return "what is never proved"
    _, (line,), _ = _ran(module, proved, *own[:2], "--kernel", "both", "--json")
    if json.loads(line)["run"]["kernel"] != "both":
        return "--kernel"
    unclaimed = next(case for case in _filed() if case.reason == "unclaimed")
    code, (line,), _ = _ran(module, unclaimed.path, "--head", unclaimed.head, "--kernel", kernel)
    if code != 14 or not line.endswith(f"entailment proved, no instance claimed  by {kernel}"):
        return "unclaimed"
    code, (again,), _ = _ran(module, unclaimed.path, "--head", unclaimed.head, "--kernel", kernel, "--entailment-only")
    return "" if code == 0 and line == again else "--entailment-only"


def _wrong_failures(module: Import, kernel: str) -> str:
    """Files that cannot be used, a checker that fails, and Ctrl-C."""
    base = str(CERTIFICATES / "accept/projection-euclidean")
    proved, head, missing = base + ".ale.json", base + ".head.safetensors", base + ".nothing"
    own = ["--head", head, "--kernel", kernel]
    for certificates in ([proved, missing], [missing, proved]):
        code, lines, errors = _ran(module, *certificates, *own)
        if code != 9 or len(lines) != 1 or len(errors) != 1 or not errors[0].startswith(f"error: {missing}: cannot be"):
            return "a missing certificate"
    for broken in (["--head", missing], ["--head", proved], [*own, "--latents", missing], [*own, "--latents", proved]):
        code, lines, errors = _ran(module, proved, *broken)
        if code != 9 or lines or len(errors) != 1 or not errors[0].startswith("error: ") or broken[-1] not in errors[0]:
            return "a head or latents that cannot be used"
    for arguments in ([proved], own, [proved, *own, "--limit", "1\x1b[2J\n0"], [proved, *own, "--no-such-option"]):
        code, lines, errors = _ran(module, *arguments)
        if code != 2 or lines or "\x1b" in "".join(errors) or "error: " not in errors[-1]:
            return "usage"
    code, lines, errors = _ran(module, "\u00e9\n", *own, encoding="ascii")
    if code != 9 or lines or len(errors) != 1 or not errors[0].startswith("error: \\xe9\\n: cannot be"):
        return "a name that cannot be printed"
    printed = io.StringIO()
    module("file_auditor").print_line("one\nline\x1b[2J", printed)
    if printed.getvalue() != "one\\nline\\x1b[2J\n":
        return "what a line holds ends it"
    if _as_process(module, missing, *own) != 9 or _as_process(module, proved, *own) != 0:
        return "the exit code of the process"
    if _as_process(module, proved, *own, closed=True) != 9:
        return "a verdict that is printed nowhere"
    auditor = module("file_auditor").FileAuditor(head, None, kernel)
    if _unusable(auditor.audit(missing).record, missing, None, auditor.run):
        return "the record of a missing certificate"
    true = auditor.auditor.check
    for error in (ValueError("new"), MemoryError(), RecursionError()):

        def fails(*arguments: Any, error: BaseException = error) -> None:
            raise error

        auditor.auditor.check = fails
        if _unusable(auditor.audit(proved).record, proved, _digest(proved), auditor.run):
            return f"a checker that fails with {type(error).__name__}"
    auditor.auditor.check = true
    with tempfile.TemporaryDirectory() as folder:
        pipe = os.path.join(folder, "pipe.ale.json")
        os.mkfifo(pipe)
        for path in (pipe, folder):
            if _unusable(auditor.audit(path).record, path, None, auditor.run):
                return "what is no regular file"
        long = Path(folder) / "long.ale.json"
        for size, digest in ((8 * 2**20, hashlib.sha256(b" " * 8 * 2**20).hexdigest()), (8 * 2**20 + 1, None)):
            long.write_bytes(b" " * size)
            record = auditor.audit(str(long)).record
            if (record["reason"], record["sha256"]) != ("malformed", digest):
                return "the digest of a long file"
            if module("file_auditor").file_digest(str(long)) != digest:
                return "file_digest"
            if len(module("file_auditor")._read(str(long), 9, None)) != 10:
                return "more of a file is read than is needed"
    if module("file_auditor").file_digest(missing) is not None:
        return "the digest of a missing file"
    return _wrong_interrupt(module, proved, own)


def _as_process(module: Import, *arguments: str, closed: bool = False) -> int | None:
    """The exit code of `python -m`, perhaps without standard output; None if the process just ends."""
    given = sys.argv, sys.__stdout__
    sys.argv = ["checker", *arguments]
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    try:
        with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
            name = module("__main__").__name__
            del sys.modules[name]
            if closed:
                sys.stdout = sys.__stdout__ = None  # type: ignore[assignment, misc]
            runpy.run_module(name, run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    finally:
        sys.argv, sys.__stdout__ = given  # type: ignore[misc]
    return None


def _unusable(record: dict[str, Any], path: str, digest: str | None, run: dict[str, Any]) -> bool:
    """Whether it is another record than that of a file without a verdict."""
    message = record.pop("message")
    expected: dict[str, Any] = {
        "_type": "urn:verale:report:v1",
        "certificate": path,
        "sha256": digest,
        "run": run,
        "seconds": None,
    }
    expected |= {"status": "UNUSABLE", "reason": "unusable", "exit_code": 9, "claims": {}, "by": {}, "margins": []}
    expected["elements"] = {}
    expected |= dict.fromkeys(("predicted", "paradigm", "arithmetic", "statements", "margin"))
    return not message or record != expected


def _wrong_interrupt(module: Import, proved: str, own: list[str]) -> str:
    main = module("__main__")
    auditor = main.FileAuditor

    class Interrupted(auditor):  # type: ignore[misc, valid-type]
        def audit(self, path: str, data: bytes | None = None) -> Any:
            if path != proved:
                raise KeyboardInterrupt
            return super().audit(path, data)

    main.FileAuditor = Interrupted
    try:
        code, lines, errors = _ran(module, proved, "another", proved, *own)
    finally:
        main.FileAuditor = auditor
    told = errors == ["interrupted: 1 of 3 certificates are checked"]
    return "" if code == 130 and len(lines) == 1 and told else "Ctrl-C"
