"""Certificates and heads that demand huge resources, and the time and memory that the checker takes to answer.

    python -m benchmarks.limits

Each is checked in a process of its own. Its processor time and peak resident memory include the start of the
interpreter (about 0.1 s and 32 MB). Exit code 3 means that the file only looks like an attack: the checker answers it
in full.
"""

from __future__ import annotations

import hashlib
import json
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.environment import describe, listed
from verale.checker.limit import LIMIT

MOST = 10**18 - 1
SMALLEST, GREATEST = (5e-324).hex(), (1.7976931348623157e308).hex()
_LARGEST = 8 * 2**20
_PROBE = """
import sys, time
from verale.checker.__main__ import main
code = main(sys.argv[1:])
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]
print(code, time.process_time(), peak)
"""


@dataclass(frozen=True)
class Answer:
    """Exit code, verdict line or error message, processor seconds, and peak memory in MB."""

    code: int
    line: str
    seconds: float
    megabytes: float


def head(count: int = 2, depth: int = 2, classes: int = 2, dtype: str = "f", fill: float = 0.5, **parts: Any) -> bytes:
    """A head with weights of 1 and -1, and prototypes with the given entries."""
    description = {
        "version": 1,
        "geometry": {"kind": "euclidean"},
        "domain": {"lower": "0x0p+0", "upper": "0x1p+0"},
        "similarity": {"kind": "log_ratio", "epsilon": "0x1p-10"},
        "pooling": {"kind": "max"},
        "labels": None,
    } | parts
    leaves = "readout" in parts
    softmax = description["geometry"] == {"kind": "softmax"}
    sizes = {"weight": [classes, count + leaves]} | ({} if softmax else {"prototypes": [count, depth]})
    header: dict[str, Any] = {"__metadata__": {"verale.head": json.dumps(description)}}
    body = b""
    for name, (rows, columns) in sizes.items():
        entries = [fill, 1.0] * (rows * columns) if name == "prototypes" else [1.0, -1.0] * (rows * columns)
        data = struct.pack(f"<{rows * columns}{dtype}", *entries[: rows * columns])
        offsets = [len(body), len(body) + len(data)]
        header[name] = {"dtype": {"f": "F32", "d": "F64"}[dtype], "shape": [rows, columns], "data_offsets": offsets}
        body += data
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def certificate(data: bytes, statements: list[Any] | None = None, **changes: Any) -> bytes:
    """A certificate of the head with these bytes."""
    predicate = {
        "predicted": 0,
        "paradigm": "projection",
        "patches": 1,
        "statements": statements or [],
        "margins": [None, SMALLEST],
        "claims": ["entailment", "minimality"],
        "hints": {},
        "generator": {"name": "", "version": ""},
    } | changes
    subject = [{"name": "head", "digest": {"sha256": hashlib.sha256(data).hexdigest()}}]
    return json.dumps({"_type": "urn:verale:certificate:v1", "subject": subject, "predicate": predicate}).encode()


def spatial(patches: int, prototypes: int, interval: tuple[str, str] = ("0x0p+0", "0x0p+0")) -> list[Any]:
    """Statements about every pair of so many patches and prototypes."""
    return [
        {"patch": patch, "prototype": prototype, "interval": interval}
        for patch in range(patches)
        for prototype in range(prototypes)
    ]


def _large(content: Callable[[int], bytes]) -> Callable[[], tuple[bytes, bytes]]:
    return lambda: (content(_LARGEST), head())


def _patches(**parts: Any) -> Callable[[], tuple[bytes, bytes]]:
    data = head(**parts)
    return lambda: (certificate(data, patches=MOST, paradigm="top_k"), data)


def _stated(data: bytes, statements: list[Any], **changes: Any) -> tuple[bytes, bytes]:
    return certificate(data, statements, **changes), data


def _framed(header: dict[str, Any] | bytes, length: int | None = None) -> tuple[bytes, bytes]:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return certificate(b""), struct.pack("<Q", len(text) if length is None else length) + text + bytes(8)


def _tree() -> tuple[bytes, bytes]:
    count = 50_000
    absent, present = [*range(1, count), -1], [-2 - node for node in range(count)]
    data = head(count, 1, similarity={"kind": "exponential"},
                readout={"kind": "soft_tree", "absent": absent, "present": present})  # fmt: skip
    return certificate(data), data


def _prices(count: int) -> tuple[bytes, bytes]:
    data = head(2, geometry={"kind": "softmax"}, similarity={"kind": "identity"})
    prices = [{"rival": 1, "prototypes": list(range(count)), "prices": [GREATEST] * count}]
    return certificate(data, paradigm="assignment", hints={"prices": prices}), data


ATTACKS: dict[str, tuple[int, Callable[[], tuple[bytes, bytes]]]] = {
    "100 MB of [": (5, lambda: (b"[" * 10**8, head())),
    "8 MiB of [": (5, _large(lambda n: b"[" * n)),
    "8 MiB of [],": (5, _large(lambda n: b'{"a":[' + b"[]," * (n // 3 - 3))),
    '8 MiB of ""': (5, _large(lambda n: b'""' * (n // 2))),
    "8 MiB of digits": (5, _large(lambda n: b'{"a":' + b"9" * (n - 6) + b"}")),
    "8 MiB of text, an emoji, a lone surrogate": (
        5,
        _large(lambda n: b'{"a":"' + b"x" * (n - 40) + "\N{GRINNING FACE}\\ud800".encode() + b'"}'),
    ),
    "8 MiB of escapes": (5, _large(lambda n: b'{"a":"' + b"\\n" * (n // 2 - 20) + b'\\ud800"}')),
    "130,000 empty objects in extensions": (
        5,
        lambda: (b'{"extensions":{"a":[' + b",".join([b'{"":0}'] * 130_000) + b"]}}", head()),
    ),
    "an exponent of 9999": (5, lambda: _stated(head(), spatial(1, 1, ("0x0p+0", "0x1p+9999")))),
    "patches 10^18 - 1": (3, _patches()),
    "the same, top_mean of 10^18 - 1": (3, _patches(pooling={"kind": "top_mean", "k": MOST})),
    "the same, max_minus_mean": (3, _patches(pooling={"kind": "max_minus_mean"})),
    "the same, max_minus_mean_distance": (3, _patches(pooling={"kind": "max_minus_mean_distance"})),
    "ends from 0x1p-1074 to 0x1.fffffffffffffp+1023": (
        3,
        lambda: _stated(head(), spatial(1, 2, (SMALLEST, GREATEST))),
    ),
    "epsilon 0x1p-1074 under log_ratio": (3, _patches(similarity={"kind": "log_ratio", "epsilon": SMALLEST})),
    "epsilon 0x1p-1074 under exp_distance": (3, _patches(similarity={"kind": "exp_distance", "epsilon": SMALLEST})),
    "100,000 prices": (5, lambda: _prices(100_000)),
    "2000 wide statements about one patch, P = 2000, D = 64": (
        12,
        lambda: _stated(head(2000, 64), spatial(1, 2000, ("0x0p+0", "0x1p+6"))),
    ),
    "20,000 patches stated, P = 2000, top_mean": (
        12,
        lambda: _stated(head(2000, 2, pooling={"kind": "top_mean", "k": 20_000}), spatial(20_000, 1), patches=20_000),
    ),
    "38,000 statements, P = 2000, D = 64": (12, lambda: _stated(head(2000, 64), spatial(19, 2000), patches=19)),
    "a header of 2^63 bytes": (9, lambda: _framed({}, 2**63)),
    "a header of 4 MiB of [": (9, lambda: _framed(b"{" + b"[" * (4 * 2**20 - 2))),
    "a shape of 10^17 to the 8th": (
        9,
        lambda: _framed({"weight": {"dtype": "F32", "shape": [10**17] * 8, "data_offsets": [0, 8]}}),
    ),
    "a shape of 10^17 by 0": (
        9,
        lambda: _framed({"weight": {"dtype": "F32", "shape": [10**17, 0], "data_offsets": [0, 0]}}),
    ),
    "a soft tree of 50,000 nodes, one below the other": (3, _tree),
    "a head of 1 MiB of 5e-324 and 1": (3, lambda: _stated(head(2**10, 2**7, dtype="d", fill=5e-324), [])),
}
"""Exit code, certificate and head by name. Those with code 3 get a full answer: they only look like attacks."""


def answer(folder: Path, name: str, limit: float = LIMIT) -> Answer:
    """The answer of the reading to one attack; by default the proved checker is asked before it."""
    files = [folder / "certificate", folder / "head"]
    for path, data in zip(files, ATTACKS[name][1](), strict=True):
        path.write_bytes(data)
    command = [sys.executable, "-c", _PROBE, str(files[0]), "--head", str(files[1]), "--minimality"]
    command += ["--kernel", "arb", "--limit", str(limit)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    *lines, last = (result.stderr + result.stdout).splitlines()
    code, seconds, peak = last.split()
    return Answer(int(code), " ".join(lines), float(seconds), int(peak) / 1024)


def answers() -> Iterator[tuple[str, Answer]]:
    """The checker's answers to all attacks, by name."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ATTACKS:
            yield name, answer(Path(folder), name)


def main() -> None:
    print("\n".join(listed(describe())), end="\n\n")
    print("| attack | exit code | s | MB |\n|---|---|---|---|")
    for name, result in answers():
        print(f"| {name} | {result.code} | {result.seconds:.2f} | {result.megabytes:.0f} |")


if __name__ == "__main__":
    main()
