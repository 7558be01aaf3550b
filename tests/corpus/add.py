"""Add a case to the corpora: `PYTHONPATH=tests python -m corpus.add FOLDER/NAME --help`.

The files are copied as they are, the manifest gets a line, and `corpora.sha256` a line a new file. Nothing is written
where a checker gives another outcome than the one that is expected, or where the mark of a rejected case does not hold.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from support.binary32 import holds_of_deployed
from support.truth import holds

from verale.checker import Auditor, Status
from verale.checker.deployment import parse_deployment
from verale.checker.options import KERNELS
from verale.files import write_atomically
from verale.soundness.corpus.cases import FILES, FOLDERS, MANIFEST, Case, case_of
from verale.soundness.paths import CERTIFICATES

__all__ = ["DIGESTS", "digests", "main"]

DIGESTS = "corpora.sha256"
_SUFFIXES = {"certificate": ".ale.json", "smaller": ".smaller.ale.json"}
_OPTIONAL = ("message", "truth", "claim", "dropped", "why")


def digests(folder: Path) -> list[str]:
    """The lines of `corpora.sha256`."""
    files = sorted(path for name in FOLDERS for path in (folder / name).iterdir())
    return [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}" for path in files]


def wrong(case: Case) -> Iterator[str]:
    """What speaks against a case, a line each."""
    for kernel in KERNELS:
        if (verdict := case.verdict(kernel)) != case.expected:
            yield f"{kernel}: {' '.join(verdict)}, expected {' '.join(case.expected)}"
    if not case.name.startswith("least/") and (verdict := case.verdict("proved")) != case.expected:
        weaker = verdict[0].startswith("NOT_") and case.status not in ("MALFORMED", "INPUT_ERROR")  # it covers less
        if not weaker and not case.allows(verdict):
            yield f"proved: {' '.join(verdict)}, expected {' '.join(case.expected)}"
    folder = case.name.partition("/")[0]
    marked = case.status in ("NOT_PROVED", "REFUTED") and folder in ("reject", "deployment", "sizes")
    if bool(case.mark) != (marked or folder == "reject"):
        yield f"the mark (--truth) is {'missing' if marked else 'for what is rejected'}"
    elif case.mark and not (holds_of_deployed(case) if case.deployment else holds(case)):
        yield "the mark (--truth) does not hold"
    if case.smaller is not None and Auditor(case.head, case.latents).check(case.smaller).status is not Status.PROVED:
        yield "the smaller certificate is not proved"


def main(arguments: Sequence[str], folder: Path = CERTIFICATES) -> None:
    """Add the case that the arguments name. Raises SystemExit, and says why, where it is wrong."""
    parser = argparse.ArgumentParser(prog="python -m corpus.add", description=__doc__.partition("\n\n")[0])
    parser.add_argument("name", metavar="FOLDER/NAME", help=f"FOLDER is one of {', '.join(FOLDERS)}")
    parser.add_argument("--comment", required=True, help="what the case shows, in a sentence")
    parser.add_argument("--status", required=True, help="the status expected of every checker")
    parser.add_argument("--reason", default="", help="the reason expected")
    for field in FILES:
        parser.add_argument(f"--{field}", metavar="FILE", type=Path)
    parser.add_argument("--deployment", metavar="FORMULA[,...]", help="as `verale audit` takes it")
    parser.add_argument("--message", help="what the error has to say")
    for name in ("truth", "claim", "why"):
        parser.add_argument(f"--{name}", help=f"the field `{name}` of certificates/README.md")
    parser.add_argument("--dropped", type=int, help="the field `dropped` of certificates/README.md")
    options = parser.parse_args(arguments)
    entries = json.loads((folder / MANIFEST).read_bytes())
    where, _, own = options.name.partition("/")
    if where not in FOLDERS or not re.fullmatch(r"[A-Za-z0-9_-]+", own) or options.name in entries:
        parser.error(f"{options.name}: expected a new name, FOLDER/NAME")
    if options.head is None or (options.certificate is None) == (options.document is None):
        parser.error("expected --head, and either --certificate or --document")
    known = dict(line.split("  ") for line in reversed((folder / DIGESTS).read_text().splitlines()))
    entry: dict[str, Any] = {name: getattr(options, name) for name in ("status", "reason", "comment")}
    read: dict[str, bytes] = {}
    for field in FILES:
        if (path := getattr(options, field)) is not None:
            data = path.read_bytes()
            suffix = f".{where}.json" if field == "document" else _SUFFIXES.get(field, f".{field}.safetensors")
            to = options.name + (".png" if data[1:4] == b"PNG" else suffix)
            if field not in ("certificate", "document"):
                to = known.get(hashlib.sha256(data).hexdigest(), to)
            read[to] = data
            if field != "certificate":
                entry[field] = to
    entry |= {name: value for name in _OPTIONAL if (value := getattr(options, name)) is not None}
    if options.deployment is not None:
        entry["deployment"] = asdict(parse_deployment(options.deployment))
    lines = list(wrong(case_of(options.name, entry, read.__getitem__)))
    if lines:
        parser.exit(1, "".join(f"{line}\n" for line in [f"{options.name} is not added:", *lines]))
    entries = dict(sorted((entries | {options.name: entry}).items(), key=lambda e: FOLDERS.index(e[0].split("/")[0])))
    for to, data in read.items():
        if not (folder / to).exists():
            write_atomically(folder / to, data)
    text = ",\n".join(f" {json.dumps(name)}: {json.dumps(each)}" for name, each in entries.items())
    write_atomically(folder / MANIFEST, f"{{\n{text}\n}}\n".encode())
    write_atomically(folder / DIGESTS, "".join(f"{line}\n" for line in digests(folder)).encode())


if __name__ == "__main__":
    main(sys.argv[1:])
