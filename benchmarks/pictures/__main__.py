"""How far explanations from the picture go: networks from the demonstration to a ResNet-50, one page of results.

    python -m benchmarks.pictures measure --data DATA --runs RUNS --state STATE --networks demo,mnist --pictures 50
    python -m benchmarks.pictures page --state STATE --out benchmarks/results/pictures.md

DATA is the folder of the data, with `published/` and `cifar10.zip`; RUNS that of `benchmarks.cifar10`. Each
network is explained in three ways: from the latents that float32 gives on this machine; from the picture, in real
arithmetic; and from the picture, in float32 in any order of sums. Every certificate is audited in a process without
torch. STATE keeps what was measured: the same command continues. The exit code of `page` is 1 if a certificate was not
proved.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch

from benchmarks.environment import describe
from benchmarks.pictures.networks import NETWORKS, write
from benchmarks.pictures.page import WAYS, page
from verale.paradigms import READABLE

__all__ = ["main"]

LONGEST = 250
"""Pictures that one process explains."""


def main() -> int:
    """Run one stage."""
    parser = argparse.ArgumentParser(prog="benchmarks.pictures", description="How far explanations from pictures go.")
    parser.add_argument("stage", choices=("measure", "page"))
    parser.add_argument("--state", type=Path, required=True, help="folder for what was measured")
    parser.add_argument("--data", type=Path, help="folder of the data")
    parser.add_argument("--runs", type=Path, help="folder of CaBRNet's runs on CIFAR-10")
    parser.add_argument("--networks", default=",".join(NETWORKS), help="comma separated (default all)")
    parser.add_argument("--ways", default=",".join(WAYS), help="comma separated (default all)")
    parser.add_argument("--pictures", type=int, default=50, help="evenly spaced ones, or as many as there are")
    parser.add_argument("--traced", type=int, default=1, help="pictures of which each layer's box is measured (1)")
    parser.add_argument("--paradigm", default=READABLE, help=f"of the explanations (default {READABLE})")
    parser.add_argument("--kernel", default="arb", help="that audits (default arb)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--out", type=Path, help="file for the page")
    args = parser.parse_args()
    names = args.networks.split(",")
    if unknown := set(names) - set(NETWORKS):
        parser.error(f"unknown networks {', '.join(sorted(unknown))}, expected some of {', '.join(NETWORKS)}")
    torch.set_num_threads(1)
    if args.stage == "page":
        text, proved = page(args.state, [name for name in names if (args.state / name).is_dir()])
        print(text)
        if args.out:
            args.out.write_text(text, encoding="utf-8")
        return 0 if proved else 1
    for name in names:
        folder = args.state / name
        if not (folder / "subject.json").is_file():
            write(NETWORKS[name](args.data, args.runs, args.pictures), folder)
        for way in args.ways.split(","):
            measure(folder, way, args)
    return 0


def measure(folder: Path, way: str, args: argparse.Namespace) -> None:
    """Explain and audit all pictures of a network in one way, in `args.jobs` processes at once."""
    count = json.loads((folder / "subject.json").read_text())["pictures"]
    (folder / way).mkdir(exist_ok=True)
    facts = describe() | {"processes at once": str(args.jobs), "paradigm": args.paradigm, "kernel": args.kernel}
    (folder / way / "machine.json").write_text(json.dumps(facts))
    size = max(1, min(LONGEST, -(-count // args.jobs)))

    def explained_and_audited(start: int) -> None:
        given = [str(folder), way, str(start), str(min(count, start + size))]
        _run("explaining", [*given, args.paradigm])
        _run("auditing", [*given, args.kernel, str(args.traced)])

    done = {int(path.stem.removeprefix("audited-")) for path in (folder / way).glob("audited-*.jsonl")}
    with ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(explained_and_audited, [start for start in range(0, count, size) if start not in done]))
    print(f"{folder.name}, {way}: {count} pictures", file=sys.stderr, flush=True)


def _run(module: str, given: list[str]) -> None:
    one = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    subprocess.run([sys.executable, "-m", f"benchmarks.pictures.{module}", *given], env=os.environ | one, check=True)


if __name__ == "__main__":
    sys.exit(main())
