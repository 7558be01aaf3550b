"""Networks and pictures of less than 1 MB that keep the checker busy, or that it refuses: what they ask for is not
bounded by what is read.

    python -m benchmarks.demands_of_pictures [--kernel mpmath] [--limit SECONDS] [WORD...]

tries all, or those with a word in their names. The table has seconds of processor time and the peak memory of a
process, its start included. Exit code 12 means that the limit ended the proof.
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
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from support import files

from benchmarks import limits
from benchmarks.demands import Answer
from benchmarks.environment import describe, listed
from verale.checker.limit import LIMIT
from verale.checker.options import KERNELS

__all__ = ["DEMANDS", "Demand", "Drawn", "answer", "main", "png"]

_PROBE = """
import sys, time
from verale.checker import Auditor
head, certificate, network, picture = (open(path, "rb").read() for path in sys.argv[1:5])
verdict = Auditor(head, None, sys.argv[5], network, picture, limit=float(sys.argv[6])).check(certificate)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]
print(verdict.line("c"))
print(verdict.exit_code, time.process_time(), peak)
"""
_HUGE = 2.0**1022
_CODES = {"F32": "f", "F64": "d"}


@dataclass(frozen=True)
class Demand:
    """The bytes of a head, a certificate, a network and a picture; and how the certificate says that it computes."""

    head: bytes
    certificate: bytes
    network: bytes
    picture: bytes
    arithmetic: str

    @property
    def files(self) -> tuple[bytes, bytes, bytes, bytes]:
        """All of them."""
        return self.head, self.certificate, self.network, self.picture


def png(shape: tuple[int, int, int], filters: int = 4) -> bytes:
    """A PNG file of a black picture, which compresses to almost nothing, all rows with one filter."""
    channels, rows, columns = shape
    line, compressor = bytes([filters]) + bytes(channels * columns), zlib.compressobj(9)
    stream = b"".join(compressor.compress(line) for _ in range(rows)) + compressor.flush()

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", columns, rows, 8, {1: 0, 3: 2}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", stream) + chunk(b"IEND", b"")


class Drawn:
    """A network file, layer by layer; each reads the one before it unless it says otherwise."""

    def __init__(self, shape: tuple[int, int, int], std: float = 1.0) -> None:
        self.shape = shape
        self._input = {"shape": shape, "mean": [(0.0).hex()] * shape[0], "std": [std.hex()] * shape[0]}
        self._layers: list[dict[str, Any]] = []
        self._tensors: dict[str, tuple[str, list[int], bytes]] = {}

    def add(self, kind: str, *inputs: str, times: int = 1, **fields: Any) -> Drawn:
        """Layers without weights."""
        for _ in range(times):
            last = self._layers[-1]["name"] if self._layers else "picture"
            name = f"{len(self._layers):x}"
            self._layers.append({"name": name, "kind": kind, "inputs": list(inputs) or [last], **fields})
        return self

    def conv(self, sizes: list[int], weights: Sequence[float], dtype: str = "F32", times: int = 1, groups: int = 1,
             padding: int = 0, stride: int = 1) -> Drawn:  # fmt: skip
        """Convolutions by weights of these sizes."""
        for _ in range(times):
            self.add("conv2d", stride=[stride] * 2, padding=[padding] * 2, dilation=[1, 1], groups=groups)
            name = f"{self._layers[-1]['name']}.weight"
            self._tensors[name] = dtype, sizes, array(_CODES[dtype], weights).tobytes()
        return self

    def pool(self, kind: str, kernel: int, padding: int = 0) -> Drawn:
        """A pooling at every place."""
        return self.add(kind, kernel=[kernel] * 2, stride=[1, 1], padding=[padding] * 2)

    def file(self) -> bytes:
        """Its bytes."""
        text = json.dumps({"version": 1, "input": self._input, "layers": self._layers}, separators=(",", ":"))
        return files.safetensors(self._tensors, {"verale.network": text})


def _demand(network: Drawn, patches: int = 1, arithmetic: str = "real", picture: bytes | None = None) -> Demand:
    """A head of latents of one coordinate, and a certificate of a black picture."""
    head = files.head([[1.0], [0.0]], [[0.5]], [1.0, 0.0])
    data = network.file()
    statement = files.patch_statement(0, 0, 0.0, 2.0**40)
    document = json.loads(limits.certificate(head, [statement], patches=patches, margins=[None, (5e-324).hex()]))
    line = "verale.picture.v1 {} {} {}\n".format(*network.shape).encode()
    digests = {
        "network": hashlib.sha256(data).hexdigest(),
        "picture": hashlib.sha256(line + bytes(prod(network.shape))).hexdigest(),
    }
    document["subject"] += [{"name": name, "digest": {"sha256": digest}} for name, digest in digests.items()]
    document["predicate"] |= {"claims": ["entailment", "picture"], "arithmetic": arithmetic}
    seen = png(network.shape) if picture is None else picture
    return Demand(head, files.encode(document), data, seen, arithmetic)


def _huge(count: int) -> Drawn:
    return Drawn((1, 1, 1)).conv([1, 1, 1, 1], [_HUGE], "F64", times=count)


def _turns(count: int) -> Drawn:
    network = Drawn((1, 1, 1))
    for _ in range(count):
        network.conv([1, 1, 1, 1], [_HUGE], "F64").add("tanh")
    return network


def _one_row(count: int, channels: int) -> Drawn:
    """Numbers grow and the mean of the weights does not: one row has all."""
    network = Drawn((1, 1, 1)).conv([channels, 1, 1, 1], [1.0] * channels)
    weights = [_HUGE] + [0.0] * (channels**2 - 1)
    network.conv([channels, channels, 1, 1], weights, "F64", times=count).add("relu", times=100)
    return network.conv([1, channels, 1, 1], [1.0] * channels).add("sigmoid")


def _spread(huge: int, weights: int) -> Drawn:
    """Weights of all sizes, on a grid that is made fine by huge ones."""
    source = random.Random(1)
    values = [source.uniform(0.5, 1) * 2.0 ** source.randrange(-1070, 1000) for _ in range(weights)]
    network = _huge(huge).conv([weights, 1, 1, 1], values, "F64")
    return network.conv([1, weights, 1, 1], [0.0] * weights).add("sigmoid")


def _columns(*layers: Callable[[Drawn], Drawn], channels: int) -> Drawn:
    network = Drawn((1, 1, 1)).conv([channels, 1, 1, 1], [1.0] * channels)
    for layer in layers:
        network = layer(network)
    return network.conv([1, channels, 1, 1], [0.0] * channels)


def _last_is_black(count: int) -> bytes:
    """A tensor file of pictures of three bytes, all of them others, of which the last one is black."""
    values = b"".join(number.to_bytes(3, "big") for number in reversed(range(count)))
    return files.safetensors({"pictures": ("U8", [count, 3, 1, 1], values)})


DEMANDS: dict[str, Callable[[], Demand]] = {
    "150 convolutions by 2^1022, then 150 sigmoids": lambda: _demand(_huge(150).add("sigmoid", times=150)),
    "50 convolutions by 2^1022, then 300 sigmoids": lambda: _demand(_huge(50).add("sigmoid", times=300)),
    "90 convolutions by 2^1022, a tanh after each": lambda: _demand(_turns(90)),
    "1500 convolutions by 2^1022": lambda: _demand(_huge(1500)),
    "600 convolutions by 2^1022, then 500 leaky relus": lambda: _demand(
        _huge(600).add("leaky_relu", times=500, slope=(0.1).hex())
    ),
    "one row of 2^1022 among 20, 80 times": lambda: _demand(_one_row(80, 20)),
    "55,000 weights of all sizes": lambda: _demand(_spread(0, 55_000)),
    "12,000 weights of all sizes behind 10 of 2^1022": lambda: _demand(_spread(10, 12_000)),
    "a picture divided by 2^-1074": lambda: _demand(Drawn((1, 1, 1), 5e-324).add("sigmoid")),
    "30,000 groups, 6 times": lambda: _demand(
        _columns(lambda n: n.conv([30_000, 1, 1, 1], [1.0] * 30_000, times=6, groups=30_000), channels=30_000)
    ),
    "110,000 channels of one entry": lambda: _demand(_columns(channels=110_000)),
    "7 relus of 774,400 entries": lambda: _demand(Drawn((1, 880, 880)).add("relu", times=7), patches=880**2),
    "a sum of 4000 inputs of 7000 entries": lambda: _demand(
        Drawn((1, 70, 100)).add("add", *["picture"] * 4000), patches=7000
    ),
    "averages over 18 x 18": lambda: _demand(Drawn((1, 100, 100)).pool("avg_pool2d", 18, 9), patches=101**2),
    "maxima over 2048 x 2048": lambda: _demand(Drawn((1, 3000, 1)).pool("max_pool2d", 2048, 1024)),
    "a kernel of 50 x 50": lambda: _demand(Drawn((1, 130, 130)).conv([1, 1, 50, 50], [0.5] * 2500), patches=81**2),
    "4000 relus of 40 entries": lambda: _demand(Drawn((1, 8, 5)).add("relu", times=4000), patches=40),
    "12 sigmoids of 12,000 entries, float32": lambda: _demand(
        Drawn((1, 100, 120)).add("sigmoid", times=12), patches=12_000, arithmetic="float32"
    ),
    "a sum of 4000 inputs of 7000 entries, float32": lambda: _demand(
        Drawn((1, 70, 100)).add("add", *["picture"] * 4000), patches=7000, arithmetic="float32"
    ),
    "a picture of 2364 x 2364 in 21 kB": lambda: _demand(
        Drawn((3, 2364, 2364)).conv([1, 3, 1, 1], [1.0] * 3, stride=4096)
    ),
    "a picture of 1,900,000 bytes in 3 kB": lambda: _demand(
        Drawn((1, 1000, 1900)).conv([1, 1, 1, 1], [1.0], stride=4096)
    ),
    "a picture of 8,388,608 rows": lambda: _demand(
        Drawn((1, 2**23, 2)).conv([1, 1, 1, 1], [1.0], stride=4096), patches=2048
    ),
    "320,000 pictures of three bytes": lambda: _demand(
        Drawn((3, 1, 1)).conv([1, 3, 1, 1], [1.0] * 3), picture=_last_is_black(320_000)
    ),
}
"""Demands by name."""


def answer(folder: Path, name: str, kernel: str, limit: float = LIMIT) -> Answer:
    """The checker's answer to one demand."""
    demand = DEMANDS[name]()
    paths = [folder / part for part in ("head", "certificate", "network", "picture")]
    for path, data in zip(paths, demand.files, strict=True):
        path.write_bytes(data)
    command = [sys.executable, "-c", _PROBE, *map(str, paths), kernel, str(limit)]
    line, last = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    code, seconds, peak = last.split()
    return Answer(int(code), line, float(seconds), int(peak) / 1024, sum(map(len, demand.files)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.demands_of_pictures", description="Demanding networks.")
    parser.add_argument("--kernel", choices=KERNELS, default="arb", help="the arithmetic (default: arb)")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of processor time (default: %(default)s)")
    parser.add_argument("words", nargs="*", metavar="WORD", help="of the names of those to try")
    asked = parser.parse_args(arguments)
    print("\n".join(listed(describe())), end="\n\n")
    print("| files | kB | exit code | s | MB |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in DEMANDS:
            if asked.words and not any(word in name for word in asked.words):
                continue
            result = answer(Path(folder), name, asked.kernel, asked.limit)
            row = [name, f"{result.size / 1000:.0f}", str(result.code), f"{result.seconds:.2f}"]
            row.append(f"{result.megabytes:.0f}")
            print(f"| {' | '.join(row)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
