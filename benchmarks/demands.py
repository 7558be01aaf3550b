"""Files of less than 1 MB that keep the reading busy.

    python -m benchmarks.demands [--kernel mpmath] [--limit SECONDS]

Mostly every statement is needed, so that the proof of minimality runs to its end.

The table has seconds of processor time and the peak memory of a process, its start included. Exit code 12 means that
the limit ended the proof.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support import files

from benchmarks import limits
from benchmarks.environment import describe, listed
from verale.checker import Auditor
from verale.checker.limit import LIMIT
from verale.checker.options import KERNELS

__all__ = ["DEMANDS", "Answer", "answer", "main"]

_PROBE = """
import sys, time
from verale.checker import Auditor
with open(sys.argv[1], "rb") as c, open(sys.argv[2], "rb") as h, open(sys.argv[3], "rb") as z:
    head, certificate, latents = h.read(), c.read(), z.read() or None
verdict = Auditor(head, latents, sys.argv[4], limit=float(sys.argv[5])).check(certificate, minimality=True)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]
print(verdict.line("c"))
print(verdict.exit_code, time.process_time(), peak)
"""
_SOFTMAX = {"geometry": files.SOFTMAX, "similarity": files.IDENTITY, "domain": files.domain(None, None)}
_COSINE = {"geometry": files.cosine(2.0**-20), "similarity": files.IDENTITY}


@dataclass(frozen=True)
class Answer(limits.Answer):
    """The answer, with the bytes of all files."""

    size: int


def _head(
    count: int, depth: int, classes: int, active: int, bias: Sequence[float], entries: Sequence[float], **parts: Any
) -> bytes:
    """A head: what activates the first prototypes speaks for class 1 alone."""
    columns = count + ("readout" in parts)
    weight = array("f", bytes(4 * classes * columns))
    weight[columns : columns + active] = array("f", [1.0] * active)
    tensors = {"weight": ("F32", [classes, columns], weight.tobytes())}
    if entries:
        dtype = "F64" if min(map(abs, entries)) < 1e-40 else "F32"
        tensors["prototypes"] = dtype, [count, depth], array("d" if dtype == "F64" else "f", entries).tobytes()
    if bias:
        tensors["bias"] = "F64", [classes], array("d", bias).tobytes()
    return files.safetensors(tensors, {"verale.head": json.dumps(files.description(**parts))})


def _demand(
    count: int,
    depth: int,
    stated: int,
    each: int,
    interval: tuple[float, float],
    paradigm: str = "projection",
    classes: int = 2,
    patches: int | None = None,
    image: bool = False,
    extreme: float | None = None,
    **parts: Any,
) -> Callable[[], tuple[bytes, bytes, bytes]]:
    """Head, certificate and latents. There are `each` statements about each of `stated` patches.

    Args:
        extreme: the first number of the prototypes, to lengthen the integers of all.
    """

    def build() -> tuple[bytes, bytes, bytes]:
        generator = random.Random(1)
        softmax = parts.get("geometry") == files.SOFTMAX
        entries = [] if softmax else [generator.uniform(0.25, 0.75) for _ in range(count * depth)]
        if extreme is not None:
            entries[0] = extreme
        ends, places = [float(end).hex() for end in interval], stated if patches is None else patches
        pairs = [{"patch": i, "prototype": j, "interval": ends} for i in range(stated) for j in range(each)]
        pooled = [{"prototype": j, "interval": ends} for j in range(each)]
        statements = pooled if paradigm == "top_k" else pairs
        latents, subject = b"", []
        if image:
            values = array("d", [generator.random() for _ in range(places * depth)]).tobytes()
            latents = files.safetensors({"latents": ("F64", [1, places, depth], values)})
            digest = hashlib.sha256(f"verale.latents.v1 {places} {depth}\n".encode() + values).hexdigest()
            subject = [{"name": "latents", "digest": {"sha256": digest}}]

        def certified(head: bytes) -> bytes:
            document = json.loads(
                limits.certificate(head, statements, paradigm=paradigm, patches=places,
                            margins=[None] + [(5e-324).hex()] * (classes - 1))
            )  # fmt: skip
            document["subject"] += subject
            minimal = ["minimality"] * (paradigm not in ("triangle", "hypersphere"))
            document["predicate"]["claims"] = ["entailment", *["instance"] * image, *minimal]
            return files.encode(document)

        def head(bias: Sequence[float]) -> bytes:
            return _head(count, depth, classes, each, bias, entries, **parts)

        if image or "readout" in parts or extreme is not None:
            data = head([])
            return data, certified(data), latents
        # Class 1 barely loses, and only with every statement. All others lose by less, whatever is stated.
        rival = (
            Auditor(head([0.0] * classes), None, "arb", limit=10**9).check(certified(head([0.0] * classes))).margins[1]
        )
        least = -float(rival or 0)
        least += abs(least) * 1e-9 + 1e-6
        data = head([least, 0.0] + [math.nextafter(least, 0) - 1e-12] * (classes - 2))
        return data, certified(data), latents

    return build


def _chain(count: int) -> dict[str, Any]:
    absent, present = [*range(1, count), -1], [-2 - node for node in range(count)]
    return {"kind": "soft_tree", "absent": absent, "present": present}


_FAR, _SMALL = (0.5, 4.0), (0.0, 1e-4)
DEMANDS: dict[str, Callable[[], tuple[bytes, bytes, bytes]]] = {
    "projection, 6 wide statements about a patch": _demand(1000, 64, 1, 6, _FAR),
    "projection, 4 about each of 4 patches, cosine": _demand(600, 64, 4, 4, (0.3, 0.3), **_COSINE),
    "projection, 55 patches": _demand(400, 16, 55, 1, (0.5, 0.5)),
    "triangle, 20 statements about a patch": _demand(400, 64, 1, 20, _FAR, "triangle"),
    "hypersphere, 10 about each of 8 patches": _demand(400, 64, 8, 10, _FAR, "hypersphere"),
    "max_minus_mean, 122 patches": _demand(200, 8, 122, 1, _FAR, pooling={"kind": "max_minus_mean"}),
    "max_minus_mean_distance, 122 patches": _demand(200, 8, 122, 1, _FAR, pooling={"kind": "max_minus_mean_distance"}),
    "top_mean of 40, 95 patches": _demand(300, 8, 95, 1, _FAR, pooling={"kind": "top_mean", "k": 40}),
    "top_k, 3900 statements": _demand(4000, 2, 1, 3900, (2.0, 3.0), "top_k"),
    "simplex, 10 about each of 62 patches": _demand(600, 600, 62, 10, _SMALL, "simplex", **_SOFTMAX),
    "assignment, 20 about each of 46 patches": _demand(300, 300, 46, 20, _SMALL, "assignment", **_SOFTMAX),
    "2000 rivals, all but one proved": _demand(60, 40, 1, 14, _FAR, classes=2000),
    "an image of 100,000 patches": _demand(70, 1, 1, 1, (0.0, 100.0), patches=100_000, image=True),
    "masses that 1280 bits decide": _demand(250, 250, 250, 1, (5e-324, 0.9), "simplex", image=True, **_SOFTMAX),
    "1800 prototypes, one of them 5e-324": _demand(1800, 1, 1, 1, _FAR, extreme=5e-324),
    "a soft tree of 6000 nodes, 20 classes": _demand(
        6000, 1, 1, 1, _FAR, classes=20, readout=_chain(6000), similarity={"kind": "exponential"}
    ),
}
"""Head, certificate and latents (empty where there are none) by name."""


def answer(folder: Path, name: str, kernel: str, limit: float = LIMIT) -> Answer:
    """The checker's answer to one demand."""
    head, document, latents = DEMANDS[name]()
    paths = [folder / "certificate", folder / "head", folder / "latents"]
    for path, data in zip(paths, (document, head, latents), strict=True):
        path.write_bytes(data)
    command = [sys.executable, "-c", _PROBE, *map(str, paths), kernel, str(limit)]
    line, last = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    code, seconds, peak = last.split()
    size = len(head) + len(document) + len(latents)
    return Answer(int(code), line, float(seconds), int(peak) / 1024, size)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.demands", description="The checker's longest proofs.")
    parser.add_argument("--kernel", choices=KERNELS, default="arb", help="the arithmetic (default: arb)")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of processor time (default: %(default)s)")
    options = parser.parse_args(arguments)
    print("\n".join(listed(describe())), end="\n\n")
    print("| files | kB | exit code | s | MB |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in DEMANDS:
            result = answer(Path(folder), name, options.kernel, options.limit)
            row = [name, f"{result.size / 1000:.0f}", str(result.code)]
            row += [f"{result.seconds:.2f}", f"{result.megabytes:.0f}"]
            print(f"| {' | '.join(row)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
