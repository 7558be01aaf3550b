"""Explain and audit with the verale that PYTHONPATH names; `benchmarks.against` runs it once for each tree.

    python source_tree.py FOLDER OPTIONS

FOLDER holds `head.safetensors` and `latents.safetensors`. OPTIONS is a JSON object: `paradigm`, `order`, `tolerance`
and `digits` of the search, `batch`, and `kernel`. Digits or a kernel that are null are the tree's default; a tree that
knows no digits has exact numbers. The first image is explained once before anything counts. After that each line of the
standard input asks for the next batch; after the last one the first comes again. Each answer is a line of JSON.

It imports nothing but verale and torch, because that verale may be of another commit.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import safetensors.torch
import torch

import verale
from verale.certificate import Certificate
from verale.checker import Auditor
from verale.head import Head
from verale.search import SearchOptions
from verale.search.explain import explain_batches

__all__ = ["answers", "processor_seconds"]


def processor_seconds() -> float:
    """Processor seconds of this process and of those it started and has waited for, or, on Linux, that still run."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system + sum(map(_seconds_of, _children("self")))


def _children(process: str) -> Iterator[str]:
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        for child in file.read_text().split():
            yield child
            yield from _children(child)


def _seconds_of(process: str) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def answers(folder: Path, options: dict[str, Any]) -> Iterator[Any]:
    """First where verale lies and the processor seconds until the first image was explained, with all imports; then,
    batch by batch, for ever, a list with one object an image."""
    torch.set_num_threads(1)
    data, latents = (folder / "head.safetensors").read_bytes(), (folder / "latents.safetensors").read_bytes()
    head, images = Head.from_bytes(data), safetensors.torch.load(latents)["latents"]
    known = {field.name for field in dataclasses.fields(SearchOptions)}
    digits = {"digits": options["digits"]} if options["digits"] is not None and "digits" in known else {}
    search = SearchOptions(
        options["paradigm"], options["order"], options["tolerance"], batch=options["batch"], **digits
    )
    first = [result for batch in explain_batches(head, images[:1], search) for result in batch]
    yield {"verale": verale.__file__, "cold_seconds": processor_seconds()}
    auditor = Auditor(data, latents, *([] if options["kernel"] is None else [options["kernel"]]))
    for result in first:
        if isinstance(result, Certificate):
            auditor.check(result.to_bytes())  # pays for what is computed once a head
    while True:
        batches = explain_batches(head, images, search)
        while True:
            begin = processor_seconds()
            results = next(batches, None)
            seconds = processor_seconds() - begin
            if results is None:
                break
            yield [_measured(result, seconds / len(results), auditor) for result in results]


def _measured(result: Any, seconds: float, auditor: Auditor) -> dict[str, Any]:
    if not isinstance(result, Certificate):
        return {"explain_seconds": seconds, "reason": result.reason}
    certificate = result.to_bytes()
    begin = processor_seconds()
    verdict = auditor.check(certificate)
    return {
        "explain_seconds": seconds,
        "audit_seconds": processor_seconds() - begin,
        "size": result.size,
        "minimal": result.minimal,
        "proved": verdict.status.value == "PROVED",
        "reason": verdict.message,
        "sha256": hashlib.sha256(certificate).hexdigest(),
    }


def main() -> None:
    """Answer each line of the standard input."""
    for answer in answers(Path(sys.argv[1]), json.loads(sys.argv[2])):
        print(json.dumps(answer), flush=True)
        if not sys.stdin.readline():
            break


if __name__ == "__main__":
    main()
