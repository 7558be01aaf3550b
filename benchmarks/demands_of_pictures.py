"""Networks and pictures of less than 1 MB that keep the checker busy: the work is not bounded by what is read.

    python -m benchmarks.demands_of_pictures [--kernel mpmath]

The table has steps (`verale.checker.network.price`, and those of reading the picture), seconds of processor time and
the peak memory of a process, its start included. Exit code 12 means that the limit refused the proof, or ended it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import struct
import subprocess
import sys
import tempfile
import zlib
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import limits
from benchmarks.demands import Answer
from benchmarks.environment import describe, listed
from verale.checker.kernel import CHOICES
from verale.soundness.independent import files

__all__ = ["DEMANDS", "Demand", "answer", "main", "png"]

Demand = tuple[bytes, bytes, bytes, bytes]
"""A head, a certificate, a network and a picture."""
_PROBE = """
import resource, sys, time
from verale.checker import Auditor
from verale.checker.limit import LIMIT
head, certificate, network, picture = (open(path, "rb").read() for path in sys.argv[1:5])
kernel, limit = sys.argv[5], int(sys.argv[6]) or LIMIT
start = time.process_time()
try:
    auditor = Auditor(head, None, kernel, limit, network, picture)
    verdict = auditor.check(certificate)
    line, code = verdict.line("c"), verdict.exit_code
    steps = 0
    if kernel in auditor._plain:
        enclosure = auditor._plain[kernel].keywords["enclosure"]
        seen = auditor._pictures.find(json_digest) if False else next(iter(auditor._pictures._kept.values()), None)
        steps = (0 if seen is None else seen.steps) + enclosure("real").steps
except Exception as error:
    line, code, steps = f"{type(error).__name__}: {error}", 9, 0
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]
own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(line)
print(code, time.process_time() - start, peak, steps)
"""
_HUGE = 2.0**1022


def png(shape: tuple[int, int, int], filters: int = 4, level: int = 9) -> bytes:
    """A PNG file of a picture that compresses to almost nothing, all rows with one filter."""
    channels, rows, columns = shape
    line = bytes([filters]) + bytes(channels * columns)
    compressor = zlib.compressobj(level)
    stream = b"".join(compressor.compress(line) for _ in range(rows)) + compressor.flush()

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", columns, rows, 8, {1: 0, 3: 2}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", stream) + chunk(b"IEND", b"")


class _Network:
    """A network file, layer by layer; each reads the one before it unless it says otherwise."""

    def __init__(self, shape: tuple[int, int, int], mean: float = 0.0, std: float = 1.0) -> None:
        self.shape = shape
        self._input = {"shape": shape, "mean": [mean.hex()] * shape[0], "std": [std.hex()] * shape[0]}
        self._layers: list[dict[str, Any]] = []
        self._tensors: dict[str, tuple[str, list[int], bytes]] = {}
        self.last = "picture"

    def add(self, kind: str, *inputs: str, **fields: Any) -> _Network:
        name = f"{len(self._layers):x}"
        self._layers.append({"name": name, "kind": kind, "inputs": list(inputs) or [self.last], **fields})
        self.last = name
        return self

    def conv(self, sizes: list[int], weights: Sequence[float], dtype: str = "F32", bias: float | None = None,
             groups: int = 1, padding: int = 0, stride: int = 1, dilation: int = 1) -> _Network:  # fmt: skip
        self.add("conv2d", stride=[stride] * 2, padding=[padding] * 2, dilation=[dilation] * 2, groups=groups)
        code = {"F32": "f", "F64": "d"}[dtype]
        self._tensors[f"{self.last}.weight"] = dtype, sizes, array(code, weights).tobytes()
        if bias is not None:
            self._tensors[f"{self.last}.bias"] = "F64", sizes[:1], array("d", [bias] * sizes[0]).tobytes()
        return self

    def linear(self, rows: int, columns: int, weights: Sequence[float], dtype: str = "F32") -> _Network:
        self.add("linear")
        self._tensors[f"{self.last}.weight"] = dtype, [rows, columns], array({"F32": "f", "F64": "d"}[dtype], weights).tobytes()
        return self

    def pool(self, kind: str, kernel: int, stride: int, padding: int = 0) -> _Network:
        return self.add(kind, kernel=[kernel] * 2, stride=[stride] * 2, padding=[padding] * 2)

    def file(self) -> bytes:
        described = {"version": 1, "input": self._input, "layers": self._layers}
        text = json.dumps(described, separators=(",", ":"))
        return files.safetensors(self._tensors, {"verale.network": text})


def _demand(network: _Network, depth: int = 1, patches: int = 1, statements: list[Any] | None = None,
            paradigm: str = "projection", arithmetic: str = "real", picture: bytes | None = None, **parts: Any) -> Demand:  # fmt: skip
    """A head that reads what a network gives, and a certificate of a black picture."""
    head = files.head([[1.0], [0.0]], [[0.5] * depth], [1.0, 0.0], dtype="F32", **parts)
    data = network.file()
    stated = statements if statements is not None else [files.patch_statement(0, 0, 0.0, 2.0**40)]
    document = json.loads(limits.certificate(head, stated, paradigm=paradigm, patches=patches))
    line = "verale.picture.v1 {} {} {}\n".format(*network.shape).encode()
    size = network.shape[0] * network.shape[1] * network.shape[2]
    digests = {"network": hashlib.sha256(data).hexdigest(), "picture": hashlib.sha256(line + bytes(size)).hexdigest()}
    document["subject"] += [{"name": name, "digest": {"sha256": digest}} for name, digest in digests.items()]
    document["predicate"] |= {"claims": ["entailment", "picture"], "arithmetic": arithmetic}
    document["predicate"]["margins"] = [None, (5e-324).hex()]
    return head, files.encode(document), data, picture if picture is not None else png(network.shape)


def _chain(count: int, sigmoids: int, weight: float = _HUGE, kind: str = "sigmoid") -> _Network:
    network = _Network((1, 1, 1))
    for _ in range(count):
        network.conv([1, 1, 1, 1], [weight], "F64")
    for _ in range(sigmoids):
        network.add(kind)
    return network


def _turns(count: int, kind: str) -> _Network:
    network = _Network((1, 1, 1))
    for _ in range(count):
        network.conv([1, 1, 1, 1], [_HUGE], "F64").add(kind)
    return network


def _one_row(count: int, channels: int, kind: str, entries: int = 1) -> _Network:
    """Values grow and the mean of the weights does not: one row has all."""
    network = _Network((1, entries, 1)).conv([channels, 1, 1, 1], [1.0] * channels)
    for _ in range(count):
        weights = [0.0] * channels**2
        weights[0] = float(channels)
        network.conv([channels, channels, 1, 1], weights)
    for _ in range(20):
        network.add(kind)
    return network.conv([1, channels, 1, 1], [1.0] * channels)


def _spread(chain: int, weights: int) -> _Network:
    """Weights of all sizes, on a grid that is made fine by huge ones."""
    network = _Network((1, 1, 1))
    for _ in range(chain):
        network.conv([1, 1, 1, 1], [_HUGE], "F64")
    source = random.Random(1)
    values = [source.uniform(0.5, 1) * 2.0 ** source.randrange(-1070, 1000) for _ in range(weights)]
    network.conv([weights, 1, 1, 1], values, "F64")
    return network.conv([1, weights, 1, 1], [1.0] * weights)


def _groups(channels: int, layers: int) -> _Network:
    network = _Network((1, 1, 1)).conv([channels, 1, 1, 1], [1.0] * channels)
    for _ in range(layers):
        network.conv([channels, 1, 1, 1], [1.0] * channels, groups=channels)
    return network.conv([1, channels, 1, 1], [1.0] * channels)


def _wide(rows: int, columns: int, *layers: Callable[[_Network], object]) -> _Network:
    network = _Network((1, rows, columns))
    for layer in layers:
        layer(network)
    return network.add("flatten").conv([1], []) if False else network


DEMANDS: dict[str, Callable[[], Demand]] = {
    "150 convolutions by 2^1022, then 150 sigmoids": lambda: _demand(_chain(150, 150)),
    "40 convolutions by 2^1022, then 400 tanh": lambda: _demand(_chain(40, 400, kind="tanh")),
    "150 convolutions by 2^1022, a tanh after each": lambda: _demand(_turns(150, "tanh")),
    "2000 convolutions by 2^1022": lambda: _demand(_chain(2000, 0)),
    "1000 convolutions by 2^1022, then 1000 leaky relus": lambda: _demand(_leaky(1000, 1000)),
    "rows of weights of which one grows": lambda: _demand(_one_row(60, 60, "sigmoid")),
    "60,000 weights of all sizes": lambda: _demand(_spread(0, 60_000)),
    "60,000 weights of all sizes behind 60 of 2^1022": lambda: _demand(_spread(60, 60_000)),
    "a picture divided by 2^-1074": lambda: _demand(_Network((1, 1, 1), 1.0, 5e-324).add("sigmoid")),
    "30,000 groups, 7 times": lambda: _demand(_groups(30_000, 6)),
    "2 million entries, relu": lambda: _demand(_Network((1, 1448, 1448)).add("relu"), patches=1448**2),
    "a sum of 4000 inputs of 2000 entries": lambda: _demand(
        _Network((1, 50, 40)).add("add", *["picture"] * 4000), patches=2000
    ),
    "a maximum over 4096 x 4096, padded": lambda: _demand(
        _Network((1, 3000, 1)).pool("max_pool2d", 2048, 1, 1024), patches=1
    ),
    "averages over 60 x 60": lambda: _demand(_Network((1, 100, 100)).pool("avg_pool2d", 60, 1, 30), patches=101**2),
    "4000 relus of 40 entries": lambda: _demand(_relus(4000, (1, 8, 5)), patches=40),
    "a kernel of 400 x 400": lambda: _demand(_Network((1, 500, 500)).conv([1, 1, 400, 400], [0.5] * 160_000), patches=101**2),
    "60,000 channels of one entry": lambda: _demand(
        _Network((1, 1, 1)).conv([60_000, 1, 1, 1], [0.5] * 60_000).conv([1, 60_000, 1, 1], [0.5] * 60_000)
    ),
    "padding of 4096, stride of 1": lambda: _demand(_Network((1, 1, 1)).conv([1, 1, 1, 1], [1.0], padding=500), patches=1001**2),
    "a picture of 2364 x 2364 in 21 kB": lambda: _demand(
        _Network((3, 2364, 2364)).conv([1, 3, 1, 1], [1.0] * 3, stride=4096)
    ),
    "a picture of 2048 x 8192, grey": lambda: _demand(
        _Network((1, 2048, 8192)).conv([1, 1, 1, 1], [1.0], stride=4096), patches=2
    ),
    "a picture of 8388608 x 2": lambda: _demand(_Network((1, 2**23, 2)).conv([1, 1, 1, 1], [1.0], stride=4096), patches=2048),
}
"""Head, certificate, network and picture by name."""


def _leaky(count: int, leaky: int) -> _Network:
    network = _chain(count, 0)
    for _ in range(leaky):
        network.add("leaky_relu", slope=(0.1).hex())
    return network


def _relus(count: int, shape: tuple[int, int, int]) -> _Network:
    network = _Network(shape)
    for _ in range(count):
        network.add("relu")
    return network


def answer(folder: Path, name: str, kernel: str, limit: int = 0) -> Answer:
    """The checker's answer to one demand."""
    pieces = DEMANDS[name]()
    paths = [folder / part for part in ("head", "certificate", "network", "picture")]
    for path, data in zip(paths, pieces, strict=True):
        path.write_bytes(data)
    command = [sys.executable, "-c", _PROBE, *map(str, paths), kernel, str(limit)]
    line, last = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    code, seconds, peak, steps = last.split()
    return Answer(int(code), line, float(seconds), int(peak) / 1024, int(steps), sum(map(len, pieces)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.demands_of_pictures", description="Networks and pictures.")
    parser.add_argument("--kernel", choices=CHOICES, default="arb", help="the arithmetic (default: arb)")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args(arguments)
    print("\n".join(listed(describe())), end="\n\n")
    print("| files | kB | exit code | 10^6 steps | s | ns a step | MB |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in DEMANDS:
            if asked.names and not any(each in name for each in asked.names):
                continue
            result = answer(Path(folder), name, asked.kernel, asked.limit)
            each = result.seconds / result.steps * 1e9 if result.steps else 0
            row = [name, f"{result.size / 1000:.0f}", str(result.code), f"{result.steps / 1e6:.1f}"]
            row += [f"{result.seconds:.2f}", f"{each:.0f}", f"{result.megabytes:.0f}"]
            print(f"| {' | '.join(row)} |", result.line[-150:], flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
