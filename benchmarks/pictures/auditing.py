"""Audit the certificates of some pictures in a process without torch; run by `benchmarks.pictures`.

    python -m benchmarks.pictures.auditing FOLDER WAY START STOP KERNEL TRACED

Of the first TRACED pictures of all it also writes how wide each layer's box is.
"""

from __future__ import annotations

import json
import re
import sys
import time
from math import fsum, sqrt
from pathlib import Path
from statistics import median
from typing import Any

from verale.checker import Auditor
from verale.checker.errors import UnprovedError
from verale.checker.network.enclosure import Enclosure
from verale.checker.network.functions import Ends
from verale.checker.options import load_arithmetic
from verale.checker.read.formats import read_tensors
from verale.checker.read.network_file import TENSORS, Layer, read_network
from verale.checker.read.pictures import Picture

__all__ = ["Traced", "main", "peak_memory"]


class Traced(Enclosure):
    """Keeps of each layer how wide its box is: half the width of an entry, over the root of the mean square of the
    layer's entries; the greatest of all, and the median. And how long all layers take together, in seconds."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.widths: list[dict[str, Any]] = []
        self.seconds = 0.0
        self._depth: dict[str, int] = {}

    def _given(self, layer: Layer, read: list[Ends]) -> Ends:
        begin = time.process_time()
        given = super()._given(layer, read)
        self.seconds += time.process_time() - begin
        before = max(self._depth.get(name, 0) for name in layer.inputs)
        self._depth[layer.name] = depth = before + (layer.kind in TENSORS)
        unit = 2.0**-self.bits
        entries = list(zip(given.lower, given.upper, strict=True))
        size = sqrt(fsum(((low + high) / 2 * unit) ** 2 for low, high in entries) / len(entries))
        halves = [(high - low) / 2 * unit for low, high in entries]
        self.widths.append(
            {
                "name": layer.name,
                "kind": layer.kind,
                "depth": depth,
                "entries": len(entries),
                "size": size,
                "most": max(halves) / size,
                "median": median(halves) / size,
            }
        )
        return given


def peak_memory() -> int:
    """The most bytes that this process has had in memory."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return 0 if found is None else int(found[1]) * 1024


def main(folder: Path, way: str, start: int, stop: int, kernel: str, traced: int) -> None:
    """Write a line for each certificate, and the widths."""
    files = {name: (folder / f"{name}.safetensors").read_bytes() for name in ("head", "network", "pictures", "latents")}
    about = (
        {"latents": files["latents"]} if way == "latents" else {each: files[each] for each in ("network", "pictures")}
    )
    auditor = Auditor(files["head"], kernel=kernel, **about)  # type: ignore[arg-type]
    with (folder / way / f"audited-{start:06}.jsonl").open("w") as lines:
        for number in range(start, stop):
            path = folder / way / f"{number:06}.ale.json"
            row: dict[str, Any] = {"image": number}
            if path.is_file():
                begin = time.process_time()
                verdict = auditor.check(path.read_bytes())
                row |= {"seconds": time.process_time() - begin, "status": verdict.status.value}
                row |= {"message": verdict.message, "memory": peak_memory()}
                if verdict.claims.get("instance" if way == "latents" else "picture") != "proved":
                    row["status"] = f"{verdict.status.value}, but of entailment alone"
            if way != "latents" and number < traced:
                row |= _traced(
                    files["network"], files["pictures"], way, number, "mpmath" if kernel == "mpmath" else "arb"
                )
            lines.write(json.dumps(row) + "\n")


def _traced(network: bytes, pictures: bytes, way: str, number: int, kernel: str) -> dict[str, Any]:
    """How wide the layers' boxes are, and the seconds of the enclosure alone."""
    given = read_network(network)
    tensor = read_tensors(pictures)[1]["pictures"]
    size = len(tensor.data) // tensor.shape[0]
    picture = Picture(given.shape, bytes(tensor.data[number * size : (number + 1) * size]))
    found = Traced(given, load_arithmetic(kernel), way)
    try:
        found.latents(picture)
    except UnprovedError as error:
        return {"widths": found.widths, "bits": found.bits, "stopped": str(error)}
    return {"widths": found.widths, "bits": found.bits, "enclose": found.seconds}


if __name__ == "__main__":
    _folder, _way, _start, _stop, _kernel, _pictures = sys.argv[1:]
    main(Path(_folder), _way, int(_start), int(_stop), _kernel, int(_pictures))
