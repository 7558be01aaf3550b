"""What `verale audit` says about certificates that somebody tampered with.

Run `make demo` first, then `.venv/bin/python examples/tampering.py verale-demo`. It writes each attack on the first
certificate of the demo to a temporary folder, and audits it with the command line, the network and its picture.
"""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from typing import Any

import verale
from verale.head import as_patches, evaluate

Record = dict[str, Any]


def attacks(demo: Path, folder: Path) -> Iterator[tuple[str, bytes, Path]]:
    """(name, certificate bytes, head) of each attack; a head that it needs is written into the folder."""
    head = demo / "head.safetensors"
    original = (demo / "certificates" / "000000.ale.json").read_bytes()

    def changed(change: Callable[[Record], None]) -> bytes:
        record = json.loads(original)
        change(record["predicate"])
        return json.dumps(record).encode()

    yield "untouched", original, head
    yield "truncated", original[: len(original) // 2], head
    yield "another head's", original, _other_head(demo, folder)
    yield "one statement removed", changed(lambda predicate: predicate["statements"].pop(0)), head
    yield "one end a billionth inside the true value", changed(lambda predicate: _narrow(predicate, demo)), head
    yield "class swapped", changed(_swap), head


def _other_head(demo: Path, folder: Path) -> Path:
    """The demo's head with one weight changed by one unit in the last place."""
    head = verale.Head.load(demo / "head.safetensors")
    weight = head.weight.clone()
    weight[0, 0] = weight[0, 0].nextafter(weight.new_tensor(inf))
    path = folder / "other-head.safetensors"
    verale.Head(weight, head.geometry, head.similarity, prototypes=head.prototypes, domain=head.domain).save(path)
    return path


def _narrow(predicate: Record, demo: Path) -> None:
    """Say of the first patch or prototype that it has a little more than it has."""
    statement = next(one for one in predicate["statements"] if "prototype" in one)
    patches = as_patches(verale.load_latents(demo / "latents.safetensors")[:1])
    evaluation = evaluate(verale.Head.load(demo / "head.safetensors"), patches)
    values = evaluation.activations[0] if "patch" not in statement else evaluation.observables[0, statement["patch"]]
    statement["interval"] = [(float(values[statement["prototype"]]) + 1e-9).hex(), None]


def _swap(predicate: Record) -> None:
    margins = predicate["margins"]
    rival = (predicate["predicted"] + 1) % len(margins)
    margins[predicate["predicted"]], margins[rival] = copy.copy(margins[rival]), None
    predicate["predicted"] = rival


def main() -> None:
    demo = Path(sys.argv[1] if len(sys.argv) > 1 else "verale-demo")
    with tempfile.TemporaryDirectory() as folder:
        for name, data, head in attacks(demo, Path(folder)):
            path = Path(folder) / "certificate.ale.json"
            path.write_bytes(data)
            command = ["audit", str(path), "--head", str(head), "--network", str(demo / "network.safetensors")]
            command += ["--images", str(demo / "certificates" / "pictures")]
            done = subprocess.run([sys.executable, "-P", "-m", "verale", *command], capture_output=True, text=True)
            print(f"{name}: exit code {done.returncode}\n    {(done.stdout + done.stderr).strip()}")


if __name__ == "__main__":
    main()
